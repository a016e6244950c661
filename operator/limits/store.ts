/** Where windows are counted: what a store promises, and the rule by which every store grants. */

/** A request for part of a window. */
export interface WindowRequest {
  /** See `windowKey`. */
  window: string;
  /** Unix seconds; the store may forget the window then. */
  endSeconds: number;
  /** Total number of requests that the window admits. */
  limit: number;
  /** So many are taken if there are as many. */
  want: number;
  /** Unless each claim of a call gets its least, none gets anything. 0 or 1. */
  least: number;
  /** The last so many of the window are granted one by one: a claim that reaches into them gets its least. Default: 0. */
  singly?: number;
  /** Requests that are known as taken and given back, for a store that has lost its state. */
  known?: number;
  knownReturned?: number;
  /** Requests that were granted while the store was unavailable and are counted now. Negative: granted requests that were not used. */
  owed?: number;
}

export interface WindowGrant {
  granted: number;
  /**
   * Requests of the window that all processes have been granted, including this grant, and how many of them were given back. Both only
   * grow, so the higher of two reports is the later one.
   */
  taken: number;
  returned: number;
  /** Whether the store could not be asked. `taken` is then a local estimate, and may fall when the store is available again. */
  provisional?: boolean;
}

/** Counts windows. Never rejects: what stands behind it may fail, the request that waits must not. */
export interface WindowStore {
  /** So many processes count here. Absent: one. */
  readonly replicas?: number;
  /** A grant for each claim, in order. It resolves when the grants are durable. `nowMs`: Unix ms, by the trusted clock. */
  reserve(claims: readonly WindowRequest[], nowMs: number): WindowGrant[] | Promise<WindowGrant[]>;
  /** The used part of a window as far as this process knows: taken and not given back. */
  taken(window: string): number;
  /** Gives back granted requests of these windows that were not used. */
  giveBack(unused: readonly Unused[]): void;
}

/** The unused part of a window that a process gives back. The window is named as in a {@link WindowRequest}. */
export interface Unused extends Pick<WindowRequest, 'window' | 'endSeconds'> {
  count: number;
}

/** A window that another process has changed: the higher of two reports is the later one. */
export interface Heard extends WindowState {
  window: string;
}

/** The stored state of a window. */
export type WindowState = Pick<WindowGrant, 'taken' | 'returned'>;

/**
 * The rule: each claim gets what it wants, or as much as is left; but if one cannot get its least, none gets anything, so that no minute
 * is used up for a day that has nothing left. `held` says what was held before, in the order of the claims.
 */
export function grantAll(claims: readonly WindowRequest[], held: readonly WindowState[]): WindowGrant[] {
  const before = claims.map(({known = 0, knownReturned = 0, owed = 0}, i) => ({
    taken: Math.max(held[i]!.taken, known) + Math.max(owed, 0),
    returned: Math.max(held[i]!.returned, knownReturned) + Math.max(-owed, 0),
  }));
  const left = claims.map(({limit}, i) => limit - (before[i]!.taken - before[i]!.returned));
  const enough = claims.every((claim, i) => left[i]! >= claim.least);
  return claims.map((claim, i) => {
    const {taken, returned} = before[i]!;
    const {want, least, limit, singly = 0} = claim;
    const most = singly > 0 ? Math.max(least, limit - taken - singly) : want;
    const granted = enough ? Math.max(0, Math.min(want, most, left[i]!)) : 0;
    return {granted, taken: taken + granted, returned};
  });
}

type Window = WindowState & {endSeconds: number};

const nothingHeld: WindowState = {taken: 0, returned: 0};

const sweepEveryMs = 60_000;

/**
 * Windows in memory. Holds at most `atMost` windows, and at least the most recently used half of them. Strangers can make pools
 * (addresses), so those need a store of their own.
 */
export class MemoryStore implements WindowStore {
  /** Recently used windows, and older ones. When the recent ones fill half of the store, all older ones are dropped. */
  #recent = new Map<string, Window>();
  #older = new Map<string, Window>();
  readonly #atMost: number;
  #sweptMs = 0;

  constructor({atMost = 1_000_000}: {atMost?: number} = {}) {
    this.#atMost = atMost;
  }

  get size(): number {
    return this.#recent.size + this.#older.size;
  }

  taken(window: string): number {
    const {taken, returned} = this.#held(window) ?? nothingHeld;
    return taken - returned;
  }

  reserve(claims: readonly WindowRequest[], nowMs: number): WindowGrant[] {
    this.#sweep(nowMs);
    const grants = grantAll(
      claims,
      claims.map((claim) => this.#held(claim.window) ?? nothingHeld),
    );
    for (const [i, {window, endSeconds}] of claims.entries()) {
      const {taken, returned} = grants[i]!;
      this.#older.delete(window);
      this.#recent.set(window, {endSeconds, taken, returned});
      if (this.#recent.size < this.#atMost / 2) continue;
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    return grants;
  }

  giveBack(unused: readonly Unused[]): void {
    for (const {window, count} of unused) {
      const held = this.#held(window);
      if (held) held.returned += count;
    }
  }

  #held(window: string): Window | undefined {
    return this.#recent.get(window) ?? this.#older.get(window);
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptMs < sweepEveryMs) return;
    this.#sweptMs = nowMs;
    for (const windows of [this.#recent, this.#older])
      for (const [window, {endSeconds}] of windows) if (endSeconds * 1000 <= nowMs) windows.delete(window);
  }
}
