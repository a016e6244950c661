/** Where windows are counted: what a store promises, and the rule by which every store grants. */

/** What is asked of one window. */
export interface Claim {
  /** See `windowKey`. */
  window: string;
  /** Unix seconds; the store may forget the window then. */
  endSeconds: number;
  /** So many may be taken from the window in all. */
  limit: number;
  /** So many are taken if there are as many. */
  want: number;
  /** Unless each claim of a call gets its least, none gets anything. 0 or 1. */
  least: number;
  /** What is known to be taken already: for a store that has lost what it held. */
  known?: number;
  /** What was granted while the store could not be asked, to be counted now. */
  owed?: number;
}

export interface Grant {
  granted: number;
  /** What has been taken from the window by everybody, with this grant. */
  taken: number;
  /** The store could not be asked: `taken` is what may be said without it, and may sink when it can be asked again. */
  provisional?: boolean;
}

/** Counts windows. Never rejects: what stands behind it may fail, the request that waits must not. */
export interface Store {
  /** A grant for each claim, in order: at once, or when it is durable. `nowMs`: Unix ms, by the trusted clock. */
  reserve(claims: readonly Claim[], nowMs: number): Grant[] | Promise<Grant[]>;
  /** What is taken from a window as far as this process knows. */
  taken(window: string): number;
}

/**
 * The rule: each claim gets what it wants, or as much as is left; but if one cannot get its least, none gets anything, so that no minute
 * is used up for a day that has nothing left. `taken` holds what was taken before, in the order of the claims.
 */
export function grantAll(claims: readonly Claim[], taken: readonly number[]): Grant[] {
  const before = claims.map((claim, i) => Math.max(taken[i]!, claim.known ?? 0) + (claim.owed ?? 0));
  const enough = claims.every((claim, i) => claim.limit - before[i]! >= claim.least);
  return claims.map((claim, i) => {
    const granted = enough ? Math.max(0, Math.min(claim.want, claim.limit - before[i]!)) : 0;
    return {granted, taken: before[i]! + granted};
  });
}

const sweepEveryMs = 60_000;

/**
 * Windows in memory. Holds `atMost` windows that have not ended; beyond that it forgets the one that was asked for least recently, so
 * pools that strangers can make (addresses) must have a store of their own.
 */
export class MemoryStore implements Store {
  readonly #windows = new Map<string, {endSeconds: number; taken: number}>();
  readonly #atMost: number;
  #sweptMs = 0;

  constructor({atMost = 1_000_000}: {atMost?: number} = {}) {
    this.#atMost = atMost;
  }

  get size(): number {
    return this.#windows.size;
  }

  taken(window: string): number {
    return this.#windows.get(window)?.taken ?? 0;
  }

  reserve(claims: readonly Claim[], nowMs: number): Grant[] {
    this.#sweep(nowMs);
    const grants = grantAll(
      claims,
      claims.map((claim) => this.taken(claim.window)),
    );
    for (const [i, {window, endSeconds}] of claims.entries()) {
      this.#windows.delete(window);
      this.#windows.set(window, {endSeconds, taken: grants[i]!.taken});
    }
    while (this.#windows.size > this.#atMost) this.#windows.delete(this.#windows.keys().next().value!);
    return grants;
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptMs < sweepEveryMs) return;
    this.#sweptMs = nowMs;
    for (const [window, {endSeconds}] of this.#windows) if (endSeconds * 1000 <= nowMs) this.#windows.delete(window);
  }
}
