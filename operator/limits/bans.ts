/**
 * Bans of keys that continue to send although every answer is 429. The number of refusals counts: programs that share a key and wait as
 * told get few refusals in total. A program that does not wait gets many, minute after minute.
 *
 *   a minute in which more was refused than twice the requests per minute ---> a strike
 *   (the last 20 s of a window do not count: clocks of clients are ahead)
 *   3 strikes in minutes that follow one another ----------------------------> banned: 15 min, doubling to 24 h
 *        ^                                                                            |
 *        +--- none in a minute: strikes are forgotten                  forgotten a quiet day after its end
 *
 * Strikes and bans are of a key as it is used from one network: what one machine does ends no other's service. A key is known by the
 * SHA-256 of its token: to make its object again does not help, another key of the tenant is not harmed.
 */

export interface BanRules {
  /** Bans may be switched off: then nobody is struck, and who is banned is let in. */
  enabled: boolean;
  /** A minute with more refusals than so many times the requests per minute is a strike. */
  refusedPerMinute: number;
  /** Nor is it one with so many refusals or fewer, however small the limit is. */
  refusedAtLeast: number;
  /** So many strikes in minutes that follow one another begin a ban. */
  strikes: number;
  firstBanMs: number;
  longestBanMs: number;
  /** Time after the end of a key's last ban until its bans are forgotten. The next ban is then a first ban. */
  forgottenAfterMs: number;
}

export const defaultBanRules: Readonly<BanRules> = {
  enabled: true,
  refusedPerMinute: 2,
  refusedAtLeast: 120,
  strikes: 3,
  firstBanMs: 15 * 60_000,
  longestBanMs: 24 * 3_600_000,
  forgottenAfterMs: 24 * 3_600_000,
};

/** A key as it is used from one network. `hash`: SHA-256 of the token, hex. `network`: as `networkOf` names it. */
export interface KeyUser {
  hash: string;
  network: string;
}

/** The last ban of a key in a network, whether it still lasts or not. */
export interface Ban extends KeyUser {
  /** Unix seconds. */
  untilSeconds: number;
  /** How many bans without a quiet day in between, this one included. */
  times: number;
}

/** Under what a ban is kept: no two share it. */
export const banId = ({hash, network}: KeyUser): string => `${hash} ${network}`;

/** The key that an id of a ban stands for. */
export function userOf(id: string): KeyUser {
  const [hash = '', network = ''] = id.split(' ');
  return {hash, network};
}

/** Where bans outlive the process. Neither call throws, or is waited for. */
export interface BanStore {
  saveBan(ban: Ban): void;
  removeBan(user: KeyUser): void;
}

/** The strikes that a refused caller is shown. */
export interface Strikes {
  /** In minutes that follow one another, this one included. */
  strikes: number;
  /** So many are a ban. */
  strikesToBan: number;
}

const spanMs = 60_000;

/** The refusals of a user in a minute. The minute begins with the first refusal, and again with the first refusal after it. */
interface Refused {
  sinceMs: number;
  count: number;
  /** This minute is a strike already. */
  isStruck: boolean;
  /** Strikes in consecutive minutes up to this one. */
  strikes: number;
}

export interface BansOptions {
  /** The trusted clock. */
  clock: {nowMs(): number};
  rules?: Readonly<BanRules>;
  store?: BanStore;
  /** Users with a ban, and users who were refused, of which something is kept: so many of each. */
  atMost?: number;
}

/** How a limiter refused. */
export interface RefusalFacts {
  /** Requests per minute. */
  minuteLimit: number;
  /** In how many seconds the exhausted window ends; absent: in more than {@link skewSeconds}. */
  endsInSeconds?: number;
  /** Present if a window longer than a minute is exhausted: when the client was told that it ends (Unix seconds). */
  windowOverSeconds?: number;
}

/**
 * Clocks of clients may be so many seconds ahead. A client that waits until X-RateLimit-Reset by such a clock asks too early, and is
 * refused until the window ends; these refusals are no strikes.
 */
export const skewSeconds = 20;

export class Bans {
  readonly #clock: {nowMs(): number};
  readonly #rules: Readonly<BanRules>;
  readonly #store: BanStore | undefined;
  readonly #atMost: number;
  readonly #bans = new Map<string, Ban>();
  /** The ids of the bans of each key. */
  readonly #ofHash = new Map<string, Set<string>>();
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

  /** Users of whom something is kept. */
  get size(): {bans: number; refused: number} {
    return {bans: this.#bans.size, refused: this.#refused.size};
  }

  /** The last ban of each user, whether it still lasts or not. */
  all(): Ban[] {
    return [...this.#bans.values()];
  }

  /** How many are banned now. */
  active(): number {
    const nowMs = this.#clock.nowMs();
    return this.#rules.enabled ? [...this.#bans.values()].filter((ban) => ban.untilSeconds * 1000 > nowMs).length : 0;
  }

  /** Until when this key is banned in this network (Unix seconds), else undefined. */
  until(user: KeyUser): number | undefined {
    const ban = this.#bans.get(banId(user));
    return ban && this.#rules.enabled && ban.untilSeconds * 1000 > this.#clock.nowMs() ? ban.untilSeconds : undefined;
  }

  /** The bans of this key that last, in whatever networks. */
  of(hash: string): Ban[] {
    const ids = this.#ofHash.get(hash);
    return ids ? [...ids].map((id) => this.#bans.get(id)!).filter((ban) => this.until(ban) !== undefined) : [];
  }

  /** A request was refused by the limiter. Resulting strikes; undefined where bans are switched off, or one lasts. */
  refused(
    user: KeyUser,
    {minuteLimit, endsInSeconds = Infinity, windowOverSeconds}: RefusalFacts,
  ): Strikes | undefined {
    const {enabled, strikes: strikesToBan, refusedPerMinute, refusedAtLeast} = this.#rules;
    if (!enabled || this.until(user) !== undefined) return undefined;
    const id = banId(user);
    const refused = this.#minuteOf(id);
    if (endsInSeconds > skewSeconds) refused.count++;
    if (!refused.isStruck && refused.count > Math.max(refusedAtLeast, refusedPerMinute * minuteLimit)) {
      refused.isStruck = true;
      refused.strikes++;
    }
    const {strikes} = refused;
    if (strikes >= strikesToBan) {
      this.#refused.delete(id);
      this.#ban(user, windowOverSeconds);
    }
    return {strikes, strikesToBan};
  }

  /** Ends the bans of a key and forgets the ones before them: for the platform. */
  lift(hash: string): void {
    const ids = this.#ofHash.get(hash) ?? [];
    for (const id of this.#refused.keys()) if (userOf(id).hash === hash) this.#refused.delete(id);
    if (this.#ofHash.delete(hash)) {
      for (const id of ids) {
        this.#bans.delete(id);
        this.#store?.removeBan(userOf(id));
      }
      this.#tell(hash);
    }
  }

  /**
   * Calls the handler with a key when a ban begins, changes or is lifted, here or in another replica. The end of a ban causes no call: read
   * it from `until`.
   */
  onChange(handler: (hash: string) => void): void {
    this.#handlers.push(handler);
  }

  /** Takes over what a store holds; what it no longer holds is lifted. */
  replaceAll(bans: Iterable<Ban>): void {
    const now = new Map([...bans].map((ban) => [banId(ban), ban]));
    const before = [...this.#bans.values()];
    for (const ban of before) if (!now.has(banId(ban))) this.#change(ban, undefined);
    for (const ban of now.values()) this.#change(ban, ban);
    this.#bound();
  }

  /** Takes over what another thread holds of one key; what it no longer holds is lifted. */
  replace(hash: string, bans: readonly Ban[]): void {
    const now = new Set(bans.map(banId));
    for (const id of this.#ofHash.get(hash) ?? []) if (!now.has(id)) this.#change(userOf(id), undefined);
    for (const ban of bans) this.#change(ban, ban);
    this.#forget(this.#clock.nowMs());
  }

  #change(user: KeyUser, ban: Ban | undefined): void {
    const known = this.#bans.get(banId(user));
    if (ban ? known?.untilSeconds === ban.untilSeconds && known.times === ban.times : known === undefined) return;
    if (ban) this.#set(ban);
    else this.#drop(banId(user));
    this.#tell(user.hash);
  }

  /** The refusals in the current minute. */
  #minuteOf(id: string): Refused {
    const nowMs = this.#clock.nowMs();
    const known = this.#refused.get(id);
    if (known && nowMs < known.sinceMs + spanMs) return known;
    const follows = known?.isStruck === true && nowMs < known.sinceMs + 2 * spanMs;
    const refused = {sinceMs: nowMs, count: 0, isStruck: false, strikes: follows ? known.strikes : 0};
    // The one whose minute began first is forgotten first.
    this.#refused.delete(id);
    this.#refused.set(id, refused);
    if (this.#refused.size > this.#atMost) this.#refused.delete(this.#refused.keys().next().value!);
    return refused;
  }

  /** A ban for the day's quota does not reach into the next day: it ends at the time that Retry-After reports to other clients. */
  #ban(user: KeyUser, windowOverSeconds = Infinity): void {
    const {firstBanMs, longestBanMs, forgottenAfterMs} = this.#rules;
    const nowMs = this.#clock.nowMs();
    const last = this.#bans.get(banId(user));
    const times = last && nowMs < last.untilSeconds * 1000 + forgottenAfterMs ? last.times + 1 : 1;
    const lengthMs = Math.min(firstBanMs * 2 ** (times - 1), longestBanMs);
    const untilSeconds = Math.min(Math.ceil((nowMs + lengthMs) / 1000), windowOverSeconds);
    const ban = {...user, untilSeconds, times};
    this.begun++;
    this.#set(ban);
    this.#forget(nowMs);
    this.#store?.saveBan(ban);
    this.#tell(user.hash);
  }

  /** Bans are few and begin rarely, so each beginning checks all of them. */
  #forget(nowMs: number): void {
    for (const [id, ban] of this.#bans) {
      if (ban.untilSeconds * 1000 + this.#rules.forgottenAfterMs > nowMs) continue;
      this.#drop(id);
      this.#store?.removeBan(ban);
    }
    this.#bound();
  }

  /** Takes a ban in, as the newest. */
  #set(ban: Ban): void {
    const id = banId(ban);
    this.#bans.delete(id);
    this.#bans.set(id, ban);
    this.#ofHash.set(ban.hash, (this.#ofHash.get(ban.hash) ?? new Set()).add(id));
  }

  #drop(id: string): void {
    this.#bans.delete(id);
    const {hash} = userOf(id);
    const ids = this.#ofHash.get(hash);
    ids?.delete(id);
    if (ids?.size === 0) this.#ofHash.delete(hash);
  }

  #bound(): void {
    while (this.#bans.size > this.#atMost) this.#drop(this.#bans.keys().next().value!);
  }

  #tell(hash: string): void {
    for (const handler of this.#handlers) handler(hash);
  }
}
