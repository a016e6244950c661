/** For so long at most work goes on before timers and I/O have a turn, ms. */
const longestMs = 10;

/**
 * Turns of the event loop for everybody else. Reconciles that send nothing wait for nothing but resolved promises: a queue of
 * thousands of them would run to its end before any timer rings or any answer is read, and by then a lease is lost. All that works
 * in a process shares one of these.
 *
 * Of those who wait one goes on with each turn, until that one waits for an answer or its time is over: so the work between two turns
 * is that of `longestMs`, and of one reconcile, however many workers there are.
 */
export class Turns {
  readonly #now: () => number;
  /** When the others had their last turn. */
  #last: number;
  readonly #waiting: (() => void)[] = [];

  /** `now`: monotonic, in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#last = now();
  }

  /** To be waited for between two pieces of work: not at all, or until it is one's own turn after that of the others. */
  async mine(): Promise<void> {
    if (this.#now() - this.#last < longestMs) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(this.#next);
    });
  }

  #next = (): void => {
    this.#last = this.#now();
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#next);
  };
}

/** Those of this process. */
export const processTurns = new Turns();
