export interface RateOptions {
  perSecond: number;
  /** Maximum number at once, after an idle time. */
  burst: number;
}

/** Number of keys at which idle keys are first removed. Above this number only active keys are kept. */
const manyKeys = 1000;

/**
 * Limits the rate per key, as a leaky bucket (the generic cell rate algorithm of ITU-T I.371). Pure: callers pass the time in ms.
 */
export class Rate {
  readonly #everyMs: number;
  readonly #burst: number;
  /** By key: the time at which its bucket is empty again. */
  readonly #emptyAt = new Map<string, number>();
  #sweepAt = manyKeys;

  constructor({perSecond, burst}: RateOptions) {
    this.#everyMs = 1000 / perSecond;
    this.#burst = burst;
  }

  /** Number of remembered keys. */
  get size(): number {
    return this.#emptyAt.size;
  }

  /** Reserves the next slot for a key. Returns the time at which it may be used, now or later. */
  next(key: string, now: number): number {
    const emptyAt = Math.max(now, this.#emptyAt.get(key) ?? now);
    this.#emptyAt.set(key, emptyAt + this.#everyMs);
    if (this.#emptyAt.size > this.#sweepAt) this.#sweep(now);
    return Math.max(now, emptyAt - (this.#burst - 1) * this.#everyMs);
  }

  /** Removes keys with an empty bucket, which are equivalent to new keys. */
  #sweep(now: number): void {
    for (const [key, emptyAt] of this.#emptyAt) if (emptyAt <= now) this.#emptyAt.delete(key);
    this.#sweepAt = Math.max(manyKeys, 2 * this.#emptyAt.size);
  }
}
