/** Longest run of work before timers and I/O get a turn, ms. */
const longestMs = 10;

/**
 * Yields the event loop to timers and I/O between pieces of work. A reconcile that sends no request waits only for resolved
 * promises. Thousands of such reconciles in a queue would run to the end before any timer fires or any answer is read. In that time
 * the lease would expire. All workers of a process share one instance.
 *
 * Each turn of the event loop resumes one waiting worker, until that worker waits for an answer or `longestMs` has passed. So the
 * work between two turns is limited to `longestMs` plus one reconcile, for any number of workers.
 */
export class Turns {
  readonly #now: () => number;
  /** Time of the last turn of timers and I/O. */
  #last: number;
  readonly #waiting: (() => void)[] = [];

  /** `now`: monotonic, in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#last = now();
  }

  /**
   * Await this between two pieces of work. Returns at once, or waits until timers and I/O have had a turn and this caller is next.
   */
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

/** The shared instance of this process. */
export const processTurns = new Turns();
