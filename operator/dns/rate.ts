import {setTimeout as sleep} from 'node:timers/promises';

export interface RateOptions {
  perSecond: number;
  /** Maximum number at once, after an idle time. */
  burst: number;
}

/** Default rate of questions to one authoritative server, from all checks. */
export const perServer = {perSecond: 500, burst: 1000};

/**
 * Default rate of questions to one recursive resolver, from all checks. It is less than half of what one replica of CoreDNS answers (5,000
 * a second: "Performance of managed CoreDNS", alibabacloud.com/help). A re-check of a Live hostname asks 3 questions, so 660 re-checks a
 * second fit: 14 million Live hostnames in 6 hours. Checks that find no record in a known zone ask the resolvers nothing, so that the CPU
 * alone limits them (1,000 a second of a core).
 */
export const perResolver = {perSecond: 2000, burst: 2000};

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

  /** Reserves the next slot for a key, not before `from` (default: now). Returns the time at which it may be used, now or later. */
  next(key: string, now: number, from = now): number {
    const emptyAt = Math.max(from, this.#emptyAt.get(key) ?? now);
    this.#emptyAt.set(key, emptyAt + this.#everyMs);
    if (this.#emptyAt.size > this.#sweepAt) this.#sweep(now);
    return Math.max(from, emptyAt - (this.#burst - 1) * this.#everyMs);
  }

  /** Takes a slot for a key if one is free now. Otherwise nothing is reserved. */
  take(key: string, now: number): boolean {
    const isFree = (this.#emptyAt.get(key) ?? now) - (this.#burst - 1) * this.#everyMs <= now;
    if (isFree) this.next(key, now);
    return isFree;
  }

  /** Removes keys with an empty bucket, which are equivalent to new keys. */
  #sweep(now: number): void {
    for (const [key, emptyAt] of this.#emptyAt) if (emptyAt <= now) this.#emptyAt.delete(key);
    this.#sweepAt = Math.max(manyKeys, 2 * this.#emptyAt.size);
  }
}

/** Resolves when the rate allows one more use of the key, or when the signal fires. */
export async function turn(rate: Rate, key: string, signal: AbortSignal): Promise<void> {
  const now = performance.now();
  const wait = rate.next(key, now) - now;
  if (wait > 0) await sleep(wait, undefined, {signal}).catch(() => {});
}
