import type {Backend, BanChange, BackendState} from '../../operator/limits/backend.ts';
import {type Ban, banId} from '../../operator/limits/bans.ts';
import {
  type WindowRequest,
  type WindowGrant,
  MemoryStore,
  type WindowStore,
  type Unused,
} from '../../operator/limits/store.ts';

/**
 * A store that answers when the test lets it, as a disk or a network does. It counts as MemoryStore does, when it
 * answers.
 */
export class SlowStore implements WindowStore {
  readonly memory = new MemoryStore();
  readonly asked: {claims: readonly WindowRequest[]; answer: () => void}[] = [];

  reserve(claims: readonly WindowRequest[], nowMs: number): Promise<WindowGrant[]> {
    return new Promise((resolve) => {
      this.asked.push({claims, answer: () => resolve(this.memory.reserve(claims, nowMs))});
    });
  }

  taken(window: string): number {
    return this.memory.taken(window);
  }

  giveBack(unused: readonly Unused[]): void {
    this.memory.giveBack(unused);
  }

  /** Answers what has been asked, and what that leads to, until nothing is open. */
  async answerAll(): Promise<void> {
    while (this.asked.length > 0) {
      this.asked.shift()!.answer();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** A store that answers every question in the next turn of the event loop. */
export class SoonStore implements WindowStore {
  readonly memory = new MemoryStore();

  async reserve(claims: readonly WindowRequest[], nowMs: number): Promise<WindowGrant[]> {
    await Promise.resolve();
    return this.memory.reserve(claims, nowMs);
  }

  taken(window: string): number {
    return this.memory.taken(window);
  }

  giveBack(unused: readonly Unused[]): void {
    this.memory.giveBack(unused);
  }
}

/**
 * A backend that counts in memory and fails, or is silent, when the test says so. A fake: it stands for disks and
 * networks.
 */
export class FailingBackend implements Backend {
  readonly memory = new MemoryStore();
  readonly bans = new Map<string, Ban>();
  held: BackendState = {windows: [], bans: [], records: []};
  state: 'works' | 'fails' | 'is silent' | 'answers later' | 'counts, and its answer is lost' = 'works';
  calls = 0;
  /** What it has not answered yet, and does in order when it is asked the next time that it works. */
  readonly #later: (() => void)[] = [];

  open(): Promise<BackendState> {
    return this.#answer(() => this.held);
  }

  reserve(claims: readonly WindowRequest[], nowMs: number): Promise<WindowGrant[]> {
    return this.#answer(() => this.memory.reserve(claims, nowMs));
  }

  changeBans(changes: readonly BanChange[]): Promise<void> {
    return this.#answer(() => {
      for (const change of changes) {
        if ('save' in change) this.bans.set(banId(change.save), change.save);
        else this.bans.delete(banId(change.remove));
      }
    });
  }

  async close(): Promise<void> {}

  async #answer<T>(answer: () => T): Promise<T> {
    this.calls++;
    if (this.state === 'is silent') return await new Promise<T>(() => {});
    if (this.state === 'answers later')
      return await new Promise<T>((resolve) => {
        this.#later.push(() => resolve(answer()));
      });
    for (const answerNow of this.#later.splice(0)) answerNow();
    if (this.state === 'fails') throw new Error('the disk is full');
    const answered = answer();
    if (this.state !== 'works') throw new Error('connection lost');
    return answered;
  }
}
