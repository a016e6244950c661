import {sleep} from '../kube/clock.ts';
import type {EventRecord} from '../kube/writes/events.ts';
import type {PreflightWorld} from './question.ts';
import {type Answered, askAll} from './questions.ts';

/** After a failure, and then twice as long each time, up to the longest. */
const [firstPauseMs, longestPauseMs] = [60_000, 3_600_000];

interface PreflightOptions {
  world: PreflightWorld;
  /** Resolves when the edge's addresses are known, as far as they can be. */
  ready: Promise<void>;
  /** Tells of a question that fails now, and did not before. */
  tell: (answer: Answered) => void;
  /** {@link askAll}, or a stand-in. */
  ask?: typeof askAll;
  pauseMs?: number;
  /** Between questions that repeat, while nothing fails. */
  repeatMs?: number;
}

/**
 * Asks when an operator begins to lead, and again while anything fails. Once nothing does, it asks only questions that repeat, each
 * hour. It holds nothing up.
 */
export class Preflight {
  readonly #options: PreflightOptions;
  readonly #stop = new AbortController();
  #answers: readonly Answered[] = [];

  constructor(options: PreflightOptions) {
    this.#options = options;
  }

  /** Results by question: whether the check succeeded. Unknown results are left out. */
  *known(): Iterable<readonly [question: string, ok: boolean]> {
    for (const {name, outcome} of this.#answers) if (outcome !== 'unknown') yield [name, outcome === 'ok'];
  }

  begin(): void {
    void this.#options.ready.then(() => this.#keepAsking());
  }

  stop(): void {
    this.#stop.abort();
  }

  async #keepAsking(): Promise<void> {
    const {repeatMs = longestPauseMs} = this.#options;
    const {signal} = this.#stop;
    while (!signal.aborted) {
      await this.#askUntilWell();
      while (!signal.aborted && this.#isWell) {
        await sleep(repeatMs, signal);
        if (!signal.aborted) await this.#ask('Repeated');
      }
    }
  }

  async #askUntilWell(): Promise<void> {
    const {pauseMs = firstPauseMs} = this.#options;
    const {signal} = this.#stop;
    for (let pause = pauseMs; !signal.aborted; pause = Math.min(2 * pause, longestPauseMs)) {
      await this.#ask();
      if (this.#isWell) return;
      await sleep(pause, signal);
    }
  }

  get #isWell(): boolean {
    return failed(this.#answers).length === 0;
  }

  async #ask(only?: 'Repeated'): Promise<void> {
    const {world, tell, ask = askAll} = this.#options;
    const answers = await ask(world, this.#stop.signal, only);
    // A result that arrives while the process ends is ignored.
    if (this.#stop.signal.aborted) return;
    const before = failed(this.#answers).map(({name}) => name);
    const kept = this.#answers.filter(({name}) => !answers.some((answer) => answer.name === name));
    this.#answers = [...kept, ...answers];
    for (const answer of failed(answers)) if (!before.includes(answer.name)) tell(answer);
  }
}

const failed = (answers: readonly Answered[]): Answered[] => answers.filter(({outcome}) => outcome === 'failed');

/** The Event for a question that failed. */
export const eventOfAnswer = ({asked, seen, remedy}: Answered): Omit<EventRecord, 'regarding'> => ({
  type: 'Warning',
  reason: 'PreflightFailed',
  action: 'Start',
  note: `${asked} No: ${seen}${/[.?]$/.test(seen) ? '' : '.'} ${remedy}`,
});
