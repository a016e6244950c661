/** For so long at most work goes on before timers and I/O have a turn, ms. */
const longestMs = 10;

/**
 * Turns of the event loop for other work. Reconciles that send nothing wait only for resolved promises: a queue of thousands would run to
 * its end before any timer fires or any answer is read, and a lease would be lost by then. All reconciles of a process share one instance.
 *
 * With each turn, one waiting reconcile continues until it waits for an answer or its time is over. The work between two turns is therefore
 * `longestMs` plus one reconcile, however many workers exist.
 */
export class Turns {
  readonly #now: () => number;
  /** Time of the last turn for other work. */
  #last: number;
  readonly #waiting: (() => void)[] = [];

  /** `now`: monotonic, in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#last = now();
  }

  /** Await it between two pieces of work. It resolves at once, or after other work and earlier callers have had their turns. */
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
