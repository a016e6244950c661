export interface RateOptions {
  perSecond: number;
  /** Most questions at once after a pause. */
  burst: number;
}

/** Number of keys behind their rate. More keys exist only while more are in use at once. */
const manyKeys = 1000;

/** So many a second for each key, as a leaky bucket (the generic cell rate algorithm of ITU-T I.371). Pure: times in ms are given. */
export class Rate {
  readonly #everyMs: number;
  readonly #burst: number;
  /** By key: when its bucket is empty again. */
  readonly #emptyAt = new Map<string, number>();
  #sweepAt = manyKeys;

  constructor({perSecond, burst}: RateOptions) {
    this.#everyMs = 1000 / perSecond;
    this.#burst = burst;
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#emptyAt.size;
  }

  /** Takes the next place for a key; returns when it may be used, now or later. */
  next(key: string, now: number): number {
    const emptyAt = Math.max(now, this.#emptyAt.get(key) ?? now);
    this.#emptyAt.set(key, emptyAt + this.#everyMs);
    if (this.#emptyAt.size > this.#sweepAt) this.#sweep(now);
    return Math.max(now, emptyAt - (this.#burst - 1) * this.#everyMs);
  }

  /** Keys with an empty bucket are as new ones. */
  #sweep(now: number): void {
    for (const [key, emptyAt] of this.#emptyAt) if (emptyAt <= now) this.#emptyAt.delete(key);
    this.#sweepAt = Math.max(manyKeys, 2 * this.#emptyAt.size);
  }
}
