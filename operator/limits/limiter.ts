/** Admits or refuses requests: each is charged to the minute and the day of one or more pools. README.md draws how. */
import {type Claim, type Grant, MemoryStore, type Store} from './store.ts';
import {hashBelow, isTighter, lengthSeconds, minutePhase, windowEnd, windowKey, type WindowName} from './window.ts';

export interface Quota {
  requestsPerMinute: number;
  requestsPerDay: number;
}

/** What a request is charged to: the tenant's pool, and the key's own cap where it has one. Ids are opaque, as `tenant:acme`. */
export interface Pool {
  id: string;
  quota: Quota;
}

/**
 * Where a caller stands: of all its pools the tighter minute and the tighter day. Flat, as every request makes one. Ends are Unix seconds
 * by the trusted clock.
 */
export interface Standing {
  minuteLimit: number;
  /** Requests that would still be admitted in this minute, if nobody else asked. */
  minuteRemaining: number;
  minuteEnd: number;
  dayLimit: number;
  dayRemaining: number;
  dayEnd: number;
  /** When this was so: whole Unix seconds, by the trusted clock. */
  nowSeconds: number;
}

/** `exhausted`: of the exhausted windows the one that ends last. */
export type Refusal = Standing & {allowed: false; exhausted: WindowName; retryAfterSeconds: number};
export type Verdict = (Standing & {allowed: true}) | Refusal;

/** At most so much of a window is reserved and not yet used: what a crash loses. */
export const blockShare = 0.05;
export const blockOf = (limit: number): number => Math.max(1, Math.floor(limit * blockShare));

/** Who had to wait for a day's end does not come back in the same second as everybody else. */
export const dayJitterSeconds = 60;

/** One window of a pool, as far as this process is concerned. */
interface Counter {
  name: WindowName;
  endSeconds: number;
  key: string;
  /** By everybody, with what this process has reserved. */
  taken: number;
  /** Reserved by this process and not used yet. */
  left: number;
  provisional: boolean;
}

interface PoolState {
  id: string;
  phase: number;
  minute: Counter;
  day: Counter;
  refill?: Promise<void>;
  /** Asked for since the last look for what to forget. */
  recent: boolean;
}

/** What the store is asked about a counter. */
interface Asked {
  counter: Counter;
  claim: Claim;
}

export interface LimiterOptions {
  /** The trusted clock. */
  clock: {nowMs(): number};
  store?: Store;
  /** Pools held at once; one that is forgotten gives up what it had reserved, and what it used is known to the store. */
  atMost?: number;
}

export class Limiter {
  readonly #clock: {nowMs(): number};
  readonly #store: Store;
  readonly #atMost: number;
  readonly #pools = new Map<string, PoolState>();
  /** Since the start. */
  readonly decisions = {admitted: 0, refused: 0};

  constructor({clock, store = new MemoryStore(), atMost = 100_000}: LimiterOptions) {
    this.#clock = clock;
    this.#store = store;
    this.#atMost = atMost;
  }

  /**
   * Charges one request to every pool, or to none. Answers at once where what is reserved has room, or where it is known that
   * nothing is left; else when the store has answered. Never throws, never rejects.
   */
  take(pools: readonly Pool[]): Verdict | Promise<Verdict> {
    const nowMs = this.#clock.nowMs();
    const states = this.#states(pools, nowMs);
    const verdict = this.#decide(pools, states, nowMs, false);
    if (verdict) return verdict;
    const refill = this.#refill(pools, states, nowMs);
    if (refill) return this.#wait(pools, refill);
    // A store that answers at once leaves nothing to wait for.
    return this.#decide(pools, states, nowMs, true) ?? this.#wait(pools);
  }

  /** Where a caller stands as far as this process knows, without charging. */
  look(pools: readonly Pool[]): Standing {
    const nowMs = this.#clock.nowMs();
    return admission(pools, this.#states(pools, nowMs), nowMs);
  }

  /** The same when the store has been asked: what other processes have used counts too. Never rejects. */
  async lookUp(pools: readonly Pool[]): Promise<Standing> {
    let nowMs = this.#clock.nowMs();
    let states = this.#states(pools, nowMs);
    for (let underWay = refillOf(states); underWay; underWay = refillOf(states)) {
      await underWay;
      nowMs = this.#clock.nowMs();
      states = this.#states(pools, nowMs);
    }
    const asked: Asked[] = [];
    for (const [i, {quota}] of pools.entries()) {
      for (const counter of [states[i]!.minute, states[i]!.day]) {
        const {key: window, endSeconds} = counter;
        asked.push({counter, claim: {window, endSeconds, limit: limitOf(quota, counter.name), want: 0, least: 0}});
      }
    }
    await this.#reserve(states, asked, nowMs);
    return this.look(pools);
  }

  async #wait(pools: readonly Pool[], refill?: Promise<void>): Promise<Verdict> {
    for (;;) {
      await refill;
      const nowMs = this.#clock.nowMs();
      const states = this.#states(pools, nowMs);
      const verdict = this.#decide(pools, states, nowMs, true);
      if (verdict) return verdict;
      refill = this.#refill(pools, states, nowMs);
    }
  }

  /**
   * The verdict, and the charge; undefined when the store must be asked first. What is taken never sinks in a window, so an
   * exhausted one is known to be; only a provisional answer is asked for again, once (`asked`).
   */
  #decide(pools: readonly Pool[], states: readonly PoolState[], nowMs: number, asked: boolean): Verdict | undefined {
    let mustAsk = false;
    let spent: Spent | undefined;
    for (let i = 0; i < pools.length; i++) {
      const pool = pools[i]!;
      const {minute, day} = states[i]!;
      const ofMinute = standing(minute, pool.quota.requestsPerMinute, asked);
      const ofDay = standing(day, pool.quota.requestsPerDay, asked);
      mustAsk ||= ofMinute === 'MustAsk' || ofDay === 'MustAsk';
      if (ofMinute === 'Spent') spent = later(spent, minute, pool);
      if (ofDay === 'Spent') spent = later(spent, day, pool);
    }
    if (spent) {
      this.decisions.refused++;
      return refusal(pools, states, spent, nowMs);
    }
    if (mustAsk) return undefined;
    let runsLow = false;
    for (let i = 0; i < pools.length; i++) {
      const state = states[i]!;
      state.minute.left--;
      state.day.left--;
      runsLow ||= state.refill === undefined && wants(state, pools[i]!.quota);
    }
    this.decisions.admitted++;
    const verdict = admission(pools, states, nowMs);
    // The next block is asked for while half of this one is left, so that requests rarely wait.
    if (runsLow) this.#refill(pools, states, nowMs);
    return verdict;
  }

  /** Asks the store for what runs out. A promise when the answer has to be waited for; one question per pool at a time. */
  #refill(pools: readonly Pool[], states: readonly PoolState[], nowMs: number): Promise<void> | undefined {
    const underWay = refillOf(states);
    if (underWay) return underWay;
    const asked: Asked[] = [];
    for (const [i, pool] of pools.entries()) {
      for (const counter of [states[i]!.minute, states[i]!.day]) {
        const claim = claimOf(counter, limitOf(pool.quota, counter.name));
        if (claim) asked.push({counter, claim});
      }
    }
    return this.#reserve(states, asked, nowMs);
  }

  #reserve(states: readonly PoolState[], asked: readonly Asked[], nowMs: number): Promise<void> | undefined {
    const apply = (grants: readonly Grant[]): void => {
      for (const [i, {counter}] of asked.entries()) {
        counter.left += grants[i]!.granted;
        counter.taken = grants[i]!.taken;
        counter.provisional = grants[i]!.provisional ?? false;
      }
    };
    const answer = this.#store.reserve(
      asked.map(({claim}) => claim),
      nowMs,
    );
    if (Array.isArray(answer)) {
      apply(answer);
      return undefined;
    }
    const applied = async (): Promise<void> => {
      const grants = await answer;
      for (const state of states) state.refill = undefined;
      apply(grants);
    };
    const refill = applied();
    for (const state of states) state.refill = refill;
    return refill;
  }

  #states(pools: readonly Pool[], nowMs: number): PoolState[] {
    // Most have one pool, and every request makes this array: it has no room that is not used.
    const states = [this.#current(pools[0]!.id, nowMs)];
    for (let i = 1; i < pools.length; i++) states.push(this.#current(pools[i]!.id, nowMs));
    return states;
  }

  /** A pool's state with the windows of now. */
  #current(id: string, nowMs: number): PoolState {
    let state = this.#pools.get(id);
    if (!state) {
      if (this.#pools.size >= this.#atMost) this.#forget();
      const phase = minutePhase(id);
      const minute = this.#counter('minute', phase, id, nowMs);
      state = {id, phase, minute, day: this.#counter('day', 0, id, nowMs), recent: true};
      this.#pools.set(id, state);
      return state;
    }
    state.recent = true;
    if (nowMs >= state.minute.endSeconds * 1000) state.minute = this.#counter('minute', state.phase, id, nowMs);
    if (nowMs >= state.day.endSeconds * 1000) state.day = this.#counter('day', 0, id, nowMs);
    return state;
  }

  #counter(name: WindowName, phase: number, id: string, nowMs: number): Counter {
    const endSeconds = windowEnd(lengthSeconds[name], phase, nowMs);
    const key = windowKey(name, endSeconds, id);
    return {
      name,
      endSeconds,
      key,
      taken: this.#store.taken(key),
      left: 0,
      provisional: false,
    };
  }

  /** Makes room for one: the first that nobody asked for since it was last passed over (the clock algorithm). */
  #forget(): void {
    for (const [id, state] of this.#pools) {
      this.#pools.delete(id);
      if (!state.recent) return;
      state.recent = false;
      this.#pools.set(id, state);
    }
  }
}

const refillOf = (states: readonly PoolState[]): Promise<void> | undefined =>
  states.find((state) => state.refill !== undefined)?.refill;

/** An exhausted window. */
interface Spent {
  counter: Counter;
  pool: Pool;
}

const later = (spent: Spent | undefined, counter: Counter, pool: Pool): Spent =>
  spent && spent.counter.endSeconds >= counter.endSeconds ? spent : {counter, pool};

function standing(counter: Counter, limit: number, asked: boolean): 'HasRoom' | 'MustAsk' | 'Spent' {
  // What is no limit admits nothing.
  if (counter.taken - counter.left < limit) return counter.left === 0 ? 'MustAsk' : 'HasRoom';
  return counter.provisional && !asked ? 'MustAsk' : 'Spent';
}

const limitOf = ({requestsPerMinute, requestsPerDay}: Quota, name: WindowName): number =>
  name === 'minute' ? requestsPerMinute : requestsPerDay;

const runsOut = (counter: Counter, limit: number): boolean =>
  counter.left <= blockOf(limit) / 2 && (counter.taken < limit || counter.provisional);

const wants = (state: PoolState, quota: Quota): boolean =>
  runsOut(state.minute, quota.requestsPerMinute) || runsOut(state.day, quota.requestsPerDay);

function claimOf(counter: Counter, limit: number): Claim | undefined {
  if (!runsOut(counter, limit)) return undefined;
  const {key: window, endSeconds, left} = counter;
  return {window, endSeconds, limit, want: blockOf(limit) - left, least: left === 0 ? 1 : 0};
}

const remainingOf = ({taken, left}: Counter, limit: number): number => Math.max(0, limit - (taken - left));

/** What is told to whoever is admitted. */
function admission(pools: readonly Pool[], states: readonly PoolState[], nowMs: number): Standing & {allowed: true} {
  const {minute, day} = states[0]!;
  const {requestsPerMinute, requestsPerDay} = pools[0]!.quota;
  const told = {
    allowed: true as const,
    minuteLimit: requestsPerMinute,
    minuteRemaining: remainingOf(minute, requestsPerMinute),
    minuteEnd: minute.endSeconds,
    dayLimit: requestsPerDay,
    dayRemaining: remainingOf(day, requestsPerDay),
    dayEnd: day.endSeconds,
    nowSeconds: Math.floor(nowMs / 1000),
  };
  for (let i = 1; i < pools.length; i++) tighten(told, pools[i]!.quota, states[i]!);
  return told;
}

function tighten(told: Standing, {requestsPerMinute, requestsPerDay}: Quota, {minute, day}: PoolState): void {
  const ofMinute = remainingOf(minute, requestsPerMinute);
  const {minuteRemaining, minuteEnd, dayRemaining, dayEnd} = told;
  if (isTighter(ofMinute, minute.endSeconds, {remaining: minuteRemaining, endSeconds: minuteEnd})) {
    told.minuteLimit = requestsPerMinute;
    told.minuteRemaining = ofMinute;
    told.minuteEnd = minute.endSeconds;
  }
  const ofDay = remainingOf(day, requestsPerDay);
  if (isTighter(ofDay, day.endSeconds, {remaining: dayRemaining, endSeconds: dayEnd})) {
    told.dayLimit = requestsPerDay;
    told.dayRemaining = ofDay;
    told.dayEnd = day.endSeconds;
  }
}

/** Told to wait for the exhausted window that ends last: what ends before leaves the other one exhausted. */
function refusal(pools: readonly Pool[], states: readonly PoolState[], {counter, pool}: Spent, nowMs: number): Refusal {
  const {name, endSeconds} = counter;
  const jitter = name === 'day' ? hashBelow(`${endSeconds}:${pool.id}`, dayJitterSeconds + 1) : 0;
  const told = admission(pools, states, nowMs);
  const retryAfterSeconds = endSeconds - told.nowSeconds + jitter;
  return {...told, allowed: false, exhausted: name, retryAfterSeconds};
}
