/**
 * Bans of keys that go on asking after a refusal. A strike is a refused request that came before the time which an earlier refusal told
 * it to wait for. So who waits is never struck, and neither is who had requests under way:
 *
 * first refusal ---- 2 s ----> strikes, one a second at most ---- 10 within a minute ----> banned: 15 min, doubling to 24 h
 *        ^                             |                                                        |
 *        +----- came when it was told to                                forgotten a quiet day after its end
 *
 * A key is known by the SHA-256 of its token: to make its object again does not help, another key of the tenant is not harmed.
 */

export interface BanRules {
  /** Bans may be switched off: then nobody is struck, and who is banned is let in. */
  enabled: boolean;
  /** After the first refusal was sent, requests may still be under way for so long. */
  graceMs: number;
  /** One strike in such a span at most. */
  strikeEveryMs: number;
  /** So many strikes within the span begin a ban. */
  strikes: number;
  withinMs: number;
  firstBanMs: number;
  longestBanMs: number;
  /** So long after the end of its last ban a key's bans are forgotten: the next one is a first one. */
  forgottenAfterMs: number;
}

export const defaultBanRules: Readonly<BanRules> = {
  enabled: true,
  graceMs: 2000,
  strikeEveryMs: 1000,
  strikes: 10,
  withinMs: 60_000,
  firstBanMs: 15 * 60_000,
  longestBanMs: 24 * 3_600_000,
  forgottenAfterMs: 24 * 3_600_000,
};

/** The last ban of a key, whether it still lasts or not. */
export interface Ban {
  hash: string;
  /** Unix seconds. */
  untilSeconds: number;
  /** How many bans without a quiet day in between, this one included. */
  times: number;
}

/** Where bans outlive the process. Neither call throws, or is waited for. */
export interface BanStore {
  saveBan(ban: Ban): void;
  removeBan(hash: string): void;
}

/**
 * A client counts the seconds of its wait by a clock of its own, and ours may run slower by as much while it is corrected (clock.ts): who
 * comes by less than this part of its wait too early is on time.
 */
const clientDrift = 0.002;

/** What a refused key has done since its first refusal. */
interface Refused {
  firstMs: number;
  /** From when on it is on time. */
  onTimeMs: number;
  /** Unix ms, ascending; at most `strikes`. */
  strikes: number[];
}

export interface BansOptions {
  /** The trusted clock. */
  clock: {nowMs(): number};
  rules?: Readonly<BanRules>;
  store?: BanStore;
  /** Keys with a ban, and keys that were refused, of which something is kept: so many of each. */
  atMost?: number;
}

export class Bans {
  readonly #clock: {nowMs(): number};
  readonly #rules: Readonly<BanRules>;
  readonly #store: BanStore | undefined;
  readonly #atMost: number;
  readonly #bans = new Map<string, Ban>();
  readonly #refused = new Map<string, Refused>();
  readonly #handlers: ((hash: string) => void)[] = [];
  /** Bans that began here. */
  begun = 0;

  constructor({clock, rules = defaultBanRules, store, atMost = 100_000}: BansOptions) {
    this.#clock = clock;
    this.#rules = rules;
    this.#store = store;
    this.#atMost = atMost;
  }

  /** Keys of which something is kept. */
  get size(): {bans: number; refused: number} {
    return {bans: this.#bans.size, refused: this.#refused.size};
  }

  /** The last ban of each key, whether it still lasts or not. */
  all(): Ban[] {
    return [...this.#bans.values()];
  }

  /** How many are banned now. */
  active(): number {
    const nowMs = this.#clock.nowMs();
    return this.#rules.enabled ? [...this.#bans.values()].filter((ban) => ban.untilSeconds * 1000 > nowMs).length : 0;
  }

  /** Until when this key is banned (Unix seconds), else undefined. */
  until(hash: string): number | undefined {
    const ban = this.#bans.get(hash);
    return ban && this.#rules.enabled && ban.untilSeconds * 1000 > this.#clock.nowMs() ? ban.untilSeconds : undefined;
  }

  /**
   * A request of this key was refused by the limiter and told to wait until then (Unix seconds; the end of the exhausted window, which is
   * never after Retry-After). True when this began a ban.
   */
  refused(hash: string, toldUntilSeconds: number): boolean {
    if (!this.#rules.enabled || this.until(hash) !== undefined) return false;
    const nowMs = this.#clock.nowMs();
    const known = this.#refused.get(hash);
    // The least recently refused is forgotten first.
    this.#refused.delete(hash);
    const onTimeMs = nowMs + (toldUntilSeconds * 1000 - nowMs) * (1 - clientDrift);
    if (!known || nowMs >= known.onTimeMs) {
      this.#refused.set(hash, {firstMs: nowMs, onTimeMs, strikes: known?.strikes ?? []});
      this.#bound(this.#refused);
      return false;
    }
    this.#refused.set(hash, known);
    known.onTimeMs = onTimeMs;
    if (!this.#strikes(known, nowMs)) return false;
    this.#refused.delete(hash);
    this.#ban(hash, nowMs);
    return true;
  }

  /** Ends the ban and forgets the ones before it: for the platform. */
  lift(hash: string): void {
    this.#refused.delete(hash);
    if (!this.#bans.delete(hash)) return;
    this.#store?.removeBan(hash);
    this.#tell(hash);
  }

  /** Called when a ban begins, changes or is lifted, here or in another replica; not at its end, which `until` tells. */
  onChange(handler: (hash: string) => void): void {
    this.#handlers.push(handler);
  }

  /** Takes over what a store holds; what it no longer holds is lifted. */
  replaceAll(bans: Iterable<Ban>): void {
    const now = new Map([...bans].map((ban) => [ban.hash, ban]));
    const before = [...this.#bans.values()];
    for (const {hash} of before) if (!now.has(hash)) this.#change(hash, undefined);
    for (const ban of now.values()) this.#change(ban.hash, ban);
    this.#bound(this.#bans);
  }

  #change(hash: string, ban: Ban | undefined): void {
    const known = this.#bans.get(hash);
    if (ban ? known?.untilSeconds === ban.untilSeconds && known.times === ban.times : known === undefined) return;
    if (ban) this.#bans.set(hash, ban);
    else this.#bans.delete(hash);
    this.#tell(hash);
  }

  /** Counts a strike, unless it is too early for one; true when it was the last. */
  #strikes(known: Refused, nowMs: number): boolean {
    const {graceMs, strikeEveryMs, strikes, withinMs} = this.#rules;
    if (nowMs - known.firstMs < graceMs || nowMs - (known.strikes.at(-1) ?? -Infinity) < strikeEveryMs) return false;
    known.strikes = [...known.strikes.filter((at) => nowMs - at < withinMs), nowMs];
    return known.strikes.length >= strikes;
  }

  #ban(hash: string, nowMs: number): void {
    const {firstBanMs, longestBanMs, forgottenAfterMs} = this.#rules;
    const last = this.#bans.get(hash);
    const times = last && nowMs < last.untilSeconds * 1000 + forgottenAfterMs ? last.times + 1 : 1;
    const lengthMs = Math.min(firstBanMs * 2 ** (times - 1), longestBanMs);
    const ban = {hash, untilSeconds: Math.ceil((nowMs + lengthMs) / 1000), times};
    this.begun++;
    this.#bans.delete(hash);
    this.#bans.set(hash, ban);
    this.#forget(nowMs);
    this.#store?.saveBan(ban);
    this.#tell(hash);
  }

  /** Bans are few, and begin rarely: then all of them are looked at. */
  #forget(nowMs: number): void {
    for (const {hash, untilSeconds} of this.#bans.values()) {
      if (untilSeconds * 1000 + this.#rules.forgottenAfterMs > nowMs) continue;
      this.#bans.delete(hash);
      this.#store?.removeBan(hash);
    }
    this.#bound(this.#bans);
  }

  #bound(map: Map<string, unknown>): void {
    while (map.size > this.#atMost) map.delete(map.keys().next().value!);
  }

  #tell(hash: string): void {
    for (const handler of this.#handlers) handler(hash);
  }
}
