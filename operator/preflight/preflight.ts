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
}

/** Asks when an operator begins to lead, and again while anything fails; once nothing does, never again. It holds nothing up. */
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
    void this.#options.ready.then(() => this.#askUntilWell());
  }

  stop(): void {
    this.#stop.abort();
  }

  async #askUntilWell(): Promise<void> {
    const {world, tell, ask = askAll, pauseMs = firstPauseMs} = this.#options;
    const {signal} = this.#stop;
    for (let pause = pauseMs; !signal.aborted; pause = Math.min(2 * pause, longestPauseMs)) {
      const answers = await ask(world, signal);
      // A result that arrives while the process ends is ignored.
      if (signal.aborted) return;
      const before = failed(this.#answers).map(({name}) => name);
      this.#answers = answers;
      for (const answer of failed(answers)) if (!before.includes(answer.name)) tell(answer);
      if (failed(answers).length === 0) return;
      await sleep(pause, signal);
    }
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
