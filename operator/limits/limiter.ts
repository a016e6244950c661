/** Admits or refuses requests. Each request is charged to each window of its pools. README.md has a drawing. */
import {claimOf, type Counter, runsLowEarly, singlyOf, standing, unheardOf} from './counter.ts';
import {type WindowRequest, type WindowGrant, type Heard, MemoryStore, type WindowStore, type Unused} from './store.ts';
import {
  admission,
  later,
  type Pool,
  type Quota,
  refusal,
  type ExhaustedWindow,
  type CallerQuota,
  type PoolCounters,
  type QuotaVerdict,
} from './verdict.ts';
import {lengthSeconds, partsOfKey, phaseOf, windowEnd, windowKey} from './window.ts';
import {type CountedWindow, settings, windows} from '../api/windows.ts';

interface PoolState extends PoolCounters {
  id: string;
  /** The quota of the last request. */
  quota: Quota | undefined;
  /** In the order of {@link windows}. Absent: the pool has not counted in that window yet. */
  counters: (Counter | undefined)[];
  /** When the first of them ends (Unix seconds). */
  endSeconds: number;
  refill?: Promise<void>;
  /** Asked for since the hand passed it. */
  recent: boolean;
}

/** A question to the store about a counter. */
interface CounterRequest {
  counter: Counter;
  claim: WindowRequest;
  /** Size of the reservation if it is granted. */
  block: number;
}

export interface LimiterOptions {
  /** The trusted clock. */
  clock: {nowMs(): number};
  store?: WindowStore;
  /** Pools held at once; one that is forgotten gives back what it had reserved, and what it used is known to the store. */
  atMost?: number;
}

export class Limiter {
  readonly #clock: {nowMs(): number};
  readonly #store: WindowStore;
  readonly #atMost: number;
  readonly #pools = new Map<string, PoolState>();
  /** Goes round all pools, from where it was left the last time. */
  #hand = this.#pools.entries();
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
  take(pools: readonly Pool[]): QuotaVerdict | Promise<QuotaVerdict> {
    const nowMs = this.#clock.nowMs();
    const states = this.#states(pools, nowMs);
    const verdict = this.#decide(pools, states, nowMs, false);
    if (verdict) return verdict;
    const refill = this.#refill(states, nowMs);
    if (refill) return this.#wait(pools, refill);
    // A store that answers at once leaves nothing to wait for.
    return this.#decide(pools, states, nowMs, true) ?? this.#wait(pools);
  }

  /** A caller's quota as far as this process knows, without a charge. */
  look(pools: readonly Pool[]): CallerQuota {
    const nowMs = this.#clock.nowMs();
    return admission(pools, this.#states(pools, nowMs), nowMs);
  }

  /** The same after a question to the store, so that the use by other processes counts. Never rejects. */
  async lookUp(pools: readonly Pool[]): Promise<CallerQuota> {
    let nowMs = this.#clock.nowMs();
    let states = this.#states(pools, nowMs);
    for (let underWay = refillOf(states); underWay; underWay = refillOf(states)) {
      await underWay;
      nowMs = this.#clock.nowMs();
      states = this.#states(pools, nowMs);
    }
    const asked = countersOf(states).map((counter): CounterRequest => {
      const {key: window, endSeconds, quota: limit} = counter;
      return {counter, claim: {window, endSeconds, limit, want: 0, least: 0}, block: counter.block};
    });
    await this.#reserve(states, asked, nowMs, false);
    return this.look(pools);
  }

  /** Takes back the charge of one request that was admitted at that time, in each window that has not ended since. */
  undo(pools: readonly Pool[], {nowSeconds}: CallerQuota): void {
    for (const {id} of pools) {
      for (const counter of this.#pools.get(id)?.counters ?? [])
        if (counter && counter.endSeconds - lengthSeconds[counter.name] <= nowSeconds) {
          counter.left++;
          this.#know(counter, counter.limit, {window: counter.key, taken: counter.taken, returned: 0}, 0);
        }
    }
  }

  /** Gives back what is reserved and not used, at the end of an orderly stop: nothing may be taken any more. Never rejects. */
  async giveBack(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((state) => state.refill));
    for (const state of this.#pools.values()) this.#store.giveBack(unusedOf(state));
    this.#pools.clear();
  }

  async #wait(pools: readonly Pool[], refill?: Promise<void>): Promise<QuotaVerdict> {
    for (;;) {
      await refill;
      const nowMs = this.#clock.nowMs();
      const states = this.#states(pools, nowMs);
      const verdict = this.#decide(pools, states, nowMs, true);
      if (verdict) return verdict;
      refill = this.#refill(states, nowMs);
    }
  }

  /**
   * Decides and charges; undefined if the store must be asked first. The count of a window never falls, so an exhausted window stays
   * exhausted. A provisional answer is asked for once more (`asked`).
   */
  #decide(
    pools: readonly Pool[],
    states: readonly PoolState[],
    nowMs: number,
    asked: boolean,
  ): QuotaVerdict | undefined {
    let mustAsk = false;
    let spent: ExhaustedWindow | undefined;
    for (let i = 0; i < pools.length; i++) {
      const pool = pools[i]!;
      for (let counter = states[i]!.first; counter; counter = counter.next) {
        const stands = standing(counter, counter.quota, asked);
        if (stands === 'MustAsk') mustAsk = true;
        else if (stands === 'Spent') spent = later(spent, counter, pool);
      }
    }
    if (spent) {
      this.decisions.refused++;
      return refusal(pools, states, spent, nowMs);
    }
    if (mustAsk) return undefined;
    let runsLow = false;
    for (let i = 0; i < states.length; i++) {
      for (let counter = states[i]!.first; counter; counter = counter.next) {
        counter.left--;
        runsLow ||= runsLowEarly(counter, counter.quota);
      }
    }
    this.decisions.admitted++;
    const verdict = admission(pools, states, nowMs);
    if (runsLow && !refillOf(states)) this.#refill(states, nowMs, false);
    return verdict;
  }

  /**
   * Asks the store for counters that run out, one question per pool at a time. Returns a promise if the caller must wait for the answer.
   */
  #refill(states: readonly PoolState[], nowMs: number, isWaiting = true): Promise<void> | undefined {
    const underWay = refillOf(states);
    if (underWay) return underWay;
    const asked = countersOf(states).flatMap((counter): CounterRequest[] => {
      // Nothing is reserved ahead where little is left.
      const claim = isWaiting || !counter.low ? claimOf(counter, counter.quota) : undefined;
      return claim ? [{counter, claim, block: claim.want + counter.left}] : [];
    });
    return asked.length > 0 ? this.#reserve(states, asked, nowMs, isWaiting) : undefined;
  }

  #reserve(
    states: readonly PoolState[],
    asked: readonly CounterRequest[],
    nowMs: number,
    isWaiting: boolean,
  ): Promise<void> | undefined {
    const apply = (grants: readonly WindowGrant[]): void => {
      for (const [i, {counter, claim, block}] of asked.entries()) {
        const {granted, taken, returned, provisional = false} = grants[i]!;
        if (granted > 0) counter.block = block;
        counter.left += granted;
        counter.provisional = provisional;
        this.#know(counter, claim.limit, {window: counter.key, taken, returned}, isWaiting ? 1 : 0);
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

  /** Takes over a change by another process, so that `Remaining` counts it. */
  hear(heard: Heard): void {
    const parts = partsOfKey(heard.window);
    const state = parts && this.#pools.get(parts.poolId);
    const counter = state?.counters.find((each) => each?.name === parts?.name);
    if (!state || !counter || counter.endSeconds !== parts.endSeconds || counter.provisional) return;
    this.#know(counter, counter.limit, heard, state.refill ? 1 : 0);
  }

  /** Takes over the state of a window. If little is left, the reservation but for `keep` is given back, for any process to use. */
  #know(counter: Counter, limit: number, {taken, returned}: Heard, keep: number): void {
    const {replicas} = counter;
    counter.limit = limit;
    counter.taken = taken - returned;
    counter.low = !counter.provisional && limit - taken <= singlyOf(limit, replicas);
    counter.unheard = counter.low ? 0 : unheardOf(taken, limit, replicas);
    const count = counter.left - keep;
    if (!counter.low || count <= 0) return;
    const {key: window, endSeconds} = counter;
    counter.left = keep;
    counter.taken -= count;
    this.#store.giveBack([{window, endSeconds, count}]);
    void this.#store.reserve([{window, endSeconds, limit, want: 0, least: 0}], this.#clock.nowMs());
  }

  #states(pools: readonly Pool[], nowMs: number): PoolState[] {
    // Most requests have one pool, and every request creates this array, so it has no spare capacity.
    const states = [this.#current(pools[0]!, nowMs)];
    for (let i = 1; i < pools.length; i++) states.push(this.#current(pools[i]!, nowMs));
    return states;
  }

  /** A pool's state with the windows of now. */
  #current({id, quota}: Pool, nowMs: number): PoolState {
    let state = this.#pools.get(id);
    if (!state) {
      if (this.#pools.size >= this.#atMost) this.#forget();
      const counters = windows.map(() => undefined);
      state = {id, quota: undefined, counters, first: undefined, endSeconds: 0, refill: undefined, recent: true};
      this.#pools.set(id, state);
    }
    state.recent = true;
    if (state.quota !== quota || nowMs >= state.endSeconds * 1000) this.#renew(state, quota, nowMs);
    return state;
  }

  /** Takes over a quota, and begins each window that has ended. */
  #renew(state: PoolState, quota: Quota, nowMs: number): void {
    const {id, counters} = state;
    let next: Counter | undefined;
    let firstEnd = Infinity;
    for (let i = windows.length - 1; i >= 0; i--) {
      const limit = quota[settings[i]!];
      // Without a limit the shortest window admits nothing.
      if (limit === undefined && i > 0) continue;
      let counter = counters[i];
      if (!counter || nowMs >= counter.endSeconds * 1000)
        counters[i] = counter = this.#counter(windows[i]!, id, nowMs, counter);
      counter.quota = limit!;
      counter.next = next;
      next = counter;
      firstEnd = Math.min(firstEnd, counter.endSeconds);
    }
    state.quota = quota;
    state.first = next;
    state.endSeconds = firstEnd;
  }

  #counter(window: CountedWindow, id: string, nowMs: number, before?: Counter): Counter {
    const {name} = window;
    const phase = before ? before.phase : phaseOf(window, id);
    const endSeconds = windowEnd(lengthSeconds[name], phase, nowMs);
    const key = windowKey(name, endSeconds, id);
    return {
      name,
      phase,
      endSeconds,
      key,
      taken: this.#store.taken(key),
      left: 0,
      // A pool that was busy in the previous window begins with half of its block.
      block: before && before.endSeconds + lengthSeconds[name] === endSeconds ? before.block >> 1 : 0,
      provisional: false,
      low: false,
      unheard: 0,
      limit: 0,
      replicas: this.#store.replicas ?? 1,
      quota: 0,
      next: undefined,
    };
  }

  /**
   * Drops one pool: the next one without a request since the last round (the clock algorithm). A request marks only its own pools, so
   * the work for each request is constant on average.
   */
  #forget(): void {
    for (;;) {
      const {value, done} = this.#hand.next();
      if (done) {
        this.#hand = this.#pools.entries();
        continue;
      }
      const [id, state] = value;
      if (state.recent) {
        state.recent = false;
        continue;
      }
      this.#pools.delete(id);
      return this.#store.giveBack(unusedOf(state));
    }
  }
}

const refillOf = (states: readonly PoolState[]): Promise<void> | undefined =>
  states.find((state) => state.refill !== undefined)?.refill;

/** The counters of the windows that count. */
function countersOf(states: readonly PoolState[]): Counter[] {
  const all: Counter[] = [];
  for (const {first} of states) for (let counter = first; counter; counter = counter.next) all.push(counter);
  return all;
}

const unusedOf = ({counters}: PoolState): Unused[] =>
  counters.flatMap((counter) =>
    counter && counter.left > 0 ? {window: counter.key, endSeconds: counter.endSeconds, count: counter.left} : [],
  );
