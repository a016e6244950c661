/**
 * How many requests were admitted: of each key, for each scope, on each day (UTC). They are counted in memory and stored every half
 * minute, so that counting costs a request next to nothing. A process that dies without warning loses what it had not stored.
 */
import {randomUUID} from 'node:crypto';
import {byText} from '../domain/text.ts';

/** The key that made requests, its owner, and the scope that the requests needed. */
export interface Usage {
  /** UID of the namespace. A later namespace of the same name does not get its usage. */
  namespaceUID: string;
  namespace: string;
  /** Name of the Account at that time; '' if there was none. */
  account: string;
  key: string;
  scope: string;
}

export interface UsageCount extends Usage {
  /** Days since 1970-01-01, UTC. */
  day: number;
  requests: number;
}

/** Both days are included. */
export interface UsageRange {
  since: number;
  until: number;
}

/** Each method rejects if the store gives no answer. */
export interface UsageStore {
  /** Adds the counts. If answers can be lost, the store counts a batch that is sent twice with the same id only once. */
  addUsage(counts: readonly UsageCount[], batch: string): Promise<void>;
  /** The counts of a namespace, in no order. */
  usageOf(namespaceUID: string, range: UsageRange): Promise<UsageCount[]>;
  /** UIDs of namespaces that may have counts in the range: the first `limit` after `after`, sorted. */
  usingNamespaces(range: UsageRange, after: string, limit: number): Promise<string[]>;
}

export const dayMs = 86_400_000;
/** Counts are kept for so many days. */
export const usageDays = 90;
/**
 * Most combinations of key and scope that are counted separately for a namespace and day, because a tenant can make any number of keys.
 * Further ones are counted together as {@link otherKeys}.
 */
export const mostSeries = 500;
/** No key has this name. */
export const otherKeys = '(other keys)';

export const dayOf = (ms: number): number => Math.floor(ms / dayMs);
/** YYYY-MM-DD. */
export const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);

const seriesOf = ({account, key, scope}: Usage): string => JSON.stringify([account, key, scope]);
const idOf = (count: UsageCount): string => `${count.day} ${count.namespaceUID} ${seriesOf(count)}`;

const storeEveryMs = 30_000;
const batchSize = 1000;
/** Most counts that wait for a store that does not answer. Further ones are lost. */
const mostWaiting = 100_000;

export class UsageCounter {
  readonly #store: UsageStore;
  readonly #now: () => number;
  readonly #onFailure: (error: Error) => void;
  /** Counts of the current day since the last collection, by holder and scope. */
  readonly #counted = new Map<object, Map<string, UsageCount>>();
  #dayEndsMs = 0;
  readonly #waiting = new Map<string, UsageCount>();
  #batch: {id: string; counts: readonly UsageCount[]} | undefined;
  #storing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Requests that were dropped because too many counts were waiting. */
  lost = 0;

  /** `now`: Unix ms, by the clock that limits go by. `onFailure` is called with each failure to store. */
  constructor({
    store,
    now,
    onFailure = () => {},
  }: {
    store: UsageStore;
    now: () => number;
    onFailure?: (error: Error) => void;
  }) {
    this.#store = store;
    this.#now = now;
    this.#onFailure = onFailure;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.store().catch(() => {}), storeEveryMs).unref();
  }

  /** Counts a request. `holder` identifies the key; `of` is called once for each holder and scope. */
  count(holder: object, scope: string, of: () => Omit<Usage, 'scope'>): void {
    const nowMs = this.#now();
    if (nowMs >= this.#dayEndsMs || nowMs < this.#dayEndsMs - dayMs) {
      this.#collect();
      this.#dayEndsMs = (dayOf(nowMs) + 1) * dayMs;
    }
    let ofHolder = this.#counted.get(holder);
    if (!ofHolder) this.#counted.set(holder, (ofHolder = new Map()));
    const count = ofHolder.get(scope);
    if (count) count.requests++;
    else ofHolder.set(scope, {...of(), scope, day: dayOf(nowMs), requests: 1});
  }

  /** Stores what was counted. Rejects if the store fails; the counts are then stored later. */
  async store(): Promise<void> {
    this.#collect();
    this.#storing ??= this.#storeAll().finally(() => {
      this.#storing = undefined;
    });
    await this.#storing;
  }

  /** Adds the counts of another counter of this store. */
  add(counts: readonly UsageCount[], batch: string): Promise<void> {
    return this.#store.addUsage(counts, batch);
  }

  /** The counts of a namespace, by day, key and scope. */
  async of(namespaceUID: string, range: UsageRange): Promise<UsageCount[]> {
    await this.store();
    const counts = await this.#store.usageOf(namespaceUID, range);
    return counts.toSorted((a, b) => a.day - b.day || byText(a.key, b.key) || byText(a.scope, b.scope));
  }

  /** See {@link UsageStore.usingNamespaces}. */
  async namespaces(range: UsageRange, after: string, limit: number): Promise<string[]> {
    await this.store();
    return this.#store.usingNamespaces(range, after, limit);
  }

  /** Stores what was counted, and ends the timer. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.store().catch(() => {});
  }

  #collect(): void {
    for (const count of [...this.#counted.values()].flatMap((scopes) => [...scopes.values()])) {
      const id = idOf(count);
      const waiting = this.#waiting.get(id);
      if (waiting) waiting.requests += count.requests;
      else if (this.#waiting.size < mostWaiting) this.#waiting.set(id, count);
      else this.lost += count.requests;
    }
    this.#counted.clear();
  }

  async #storeAll(): Promise<void> {
    try {
      while (this.#batch ?? this.#nextBatch()) {
        await this.#store.addUsage(this.#batch!.counts, this.#batch!.id);
        this.#batch = undefined;
      }
    } catch (error) {
      this.#onFailure(error as Error);
      throw error;
    }
  }

  #nextBatch(): object | undefined {
    if (this.#waiting.size === 0) return undefined;
    const counts = [...this.#waiting.entries()].slice(0, batchSize);
    for (const [id] of counts) this.#waiting.delete(id);
    this.#batch = {id: randomUUID(), counts: counts.map(([, count]) => count)};
    return this.#batch;
  }
}

/** Counts in memory. */
export class MemoryUsage implements UsageStore {
  /** Counts by namespace UID, by day, and by {@link seriesOf}. */
  readonly #counts = new Map<string, Map<number, Map<string, UsageCount>>>();

  async addUsage(counts: readonly UsageCount[]): Promise<void> {
    for (const count of counts) {
      const days = this.#counts.get(count.namespaceUID) ?? new Map<number, Map<string, UsageCount>>();
      this.#counts.set(count.namespaceUID, days);
      for (const day of days.keys()) if (day <= count.day - usageDays) days.delete(day);
      const series = days.get(count.day) ?? new Map<string, UsageCount>();
      days.set(count.day, series);
      addTo(series, count);
    }
  }

  async usageOf(namespaceUID: string, {since, until}: UsageRange): Promise<UsageCount[]> {
    return [...(this.#counts.get(namespaceUID) ?? [])]
      .filter(([day]) => day >= since && day <= until)
      .flatMap(([, series]) => [...series.values()].map((count) => ({...count})));
  }

  async usingNamespaces(_: UsageRange, after: string, limit: number): Promise<string[]> {
    return [...this.#counts.keys()]
      .filter((uid) => uid > after)
      .toSorted(byText)
      .slice(0, limit);
  }
}

function addTo(series: Map<string, UsageCount>, count: UsageCount): void {
  const id = seriesOf(count);
  const there = series.get(id);
  if (there) there.requests += count.requests;
  else if (series.size < mostSeries || count.key === otherKeys) series.set(id, {...count});
  else addTo(series, {...count, key: otherKeys, scope: ''});
}
