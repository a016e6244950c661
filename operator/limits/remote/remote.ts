/**
 * The main thread's limits if the authorizer has a thread of its own. The authorizer's thread keeps the limits, so that its decisions
 * need no message. The main thread calls it for each request of the API, so that both threads count in one pool:
 *
 *   main thread: RemoteLimits                      the authorizer's thread: LocalLimits
 *     take, look, lookUp, refused, lift ------------- call ----> limiter, bans, store
 *     records, usage, journal ----------------------- call ----> store
 *     a copy of the bans                         <--- when a key's bans change
 *     clock, metrics                             <--- Beat: once a second
 */
import type {Registry} from 'prom-client';
import {type Ban, type BanRules, Bans, defaultBanRules, type KeyUser, type RefusalFacts} from '../bans.ts';
import type {StoredRecord} from '../backend.ts';
import type {ThreadCall} from './calls.ts';
import type {JournalQuery, JournalRecord} from '../journal.ts';
import type {Limiter} from '../limiter.ts';
import {addressLimiter, type Limits, type LocalLimits} from '../limits.ts';
import {limitMetrics} from '../metrics.ts';
import type {RecordStore} from '../records.ts';
import {type UsageCount, UsageCounter, type UsageRange} from '../usage.ts';
import type {Pool} from '../verdict.ts';

/** The methods that the main thread calls. */
export const limitMethods = ({limiter, bans, records, usage, journal}: LocalLimits) => ({
  allBans: () => bans.all(),
  take: (pools: readonly Pool[]) => limiter.take(pools),
  look: (pools: readonly Pool[]) => limiter.look(pools),
  lookUp: (pools: readonly Pool[]) => limiter.lookUp(pools),
  refused: (user: KeyUser, facts: RefusalFacts) => bans.refused(user, facts),
  lift: (hash: string) => bans.lift(hash),
  getRecord: (name: string) => records.get(name),
  putRecord: (record: StoredRecord, nowMs: number) => records.put(record, nowMs),
  claimRecord: (record: StoredRecord, nowMs: number) => records.claim(record, nowMs),
  takeRecord: (name: string) => records.take(name),
  listRecords: (kind: string, group: string) => records.list(kind, group),
  addUsage: (counts: readonly UsageCount[], batch: string) => usage.add(counts, batch),
  usageOf: (namespaceUID: string, range: UsageRange) => usage.of(namespaceUID, range),
  usingNamespaces: (range: UsageRange, after: string, limit: number) => usage.namespaces(range, after, limit),
  addToJournal: (record: JournalRecord) => journal.add(record),
  readJournal: (query: JournalQuery) => journal.read(query),
});
type LimitMethods = ReturnType<typeof limitMethods>;

/** State of the limits that the main thread gets once a second. */
export interface Beat {
  /** How far trusted time (Unix ms) is ahead of {@link monotonicMs}: however late a message is read, the time is right. */
  aheadMs: number;
  decisions: {admitted: number; refused: number};
  storeIsDown: boolean;
  storeFailures: number;
  bansBegun: number;
  usageLost: number;
  journaled: {written: number; lost: number};
}

/** Milliseconds of the monotonic clock, which all threads of a process share. */
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export const beatOf = ({clock, figures}: LocalLimits): Beat => ({
  aheadMs: clock.nowMs() - monotonicMs(),
  decisions: figures.decisions(),
  storeIsDown: figures.storeIsDown(),
  storeFailures: figures.storeFailures(),
  bansBegun: figures.bansBegun(),
  usageLost: figures.usageLost(),
  journaled: figures.journaled(),
});

export interface RemoteLimitsOptions {
  call: ThreadCall<LimitMethods>;
  /** The current state; later states come through `follow` and `changeBans`. */
  beat: Beat;
  allBans: readonly Ban[];
  rules: Partial<BanRules> | undefined;
  registry: Registry;
  /** Ends the other thread. */
  stop: () => Promise<void>;
}

export class RemoteLimits implements Limits {
  readonly clock: Limits['clock'];
  readonly limiter: Limits['limiter'];
  readonly addresses: Limiter;
  readonly bans: Limits['bans'];
  readonly records: RecordStore;
  readonly usage: UsageCounter;
  readonly journal: Limits['journal'];
  readonly stop: () => Promise<void>;
  /** A copy. Strikes are counted by the other thread alone. */
  readonly #bans: Bans;
  #beat: Beat;

  constructor({call, beat, allBans, rules, registry, stop}: RemoteLimitsOptions) {
    this.#beat = beat;
    const nowMs = (): number => this.#beat.aheadMs + monotonicMs();
    const clock = {nowMs, offsetMs: () => Date.now() - nowMs()};
    const bans = new Bans({clock, rules: {...defaultBanRules, ...rules}});
    bans.replaceAll(allBans);
    this.clock = clock;
    this.#bans = bans;
    this.addresses = addressLimiter(clock);
    this.limiter = {
      take: (pools) => call('take', pools),
      look: (pools) => call('look', pools),
      lookUp: (pools) => call('lookUp', pools),
    };
    this.bans = {
      until: (user) => bans.until(user),
      of: (hash) => bans.of(hash),
      onChange: (handler) => bans.onChange(handler),
      refused: (user, facts) => call('refused', user, facts),
      lift: (hash) => {
        bans.lift(hash);
        void call('lift', hash);
      },
    };
    this.records = {
      get: (name) => call('getRecord', name),
      put: (record, atMs) => call('putRecord', record, atMs),
      claim: (record, atMs) => call('claimRecord', record, atMs),
      take: (name) => call('takeRecord', name),
      list: (kind, group) => call('listRecords', kind, group),
    };
    this.usage = new UsageCounter({
      store: {
        addUsage: (counts, batch) => call('addUsage', counts, batch),
        usageOf: (namespaceUID, range) => call('usageOf', namespaceUID, range),
        usingNamespaces: (range, after, limit) => call('usingNamespaces', range, after, limit),
      },
      now: nowMs,
    });
    this.usage.start();
    this.journal = {
      add: (record) => void call('addToJournal', record),
      read: (query) => call('readJournal', query),
    };
    this.stop = async () => {
      await this.usage.stop();
      await stop();
    };
    limitMetrics(registry, {
      decisions: () => this.#beat.decisions,
      storeIsDown: () => this.#beat.storeIsDown,
      storeFailures: () => this.#beat.storeFailures,
      bansBegun: () => this.#beat.bansBegun,
      activeBans: () => bans.active(),
      clockOffsetMs: () => clock.offsetMs(),
      usageLost: () => this.#beat.usageLost + this.usage.lost,
      journaled: () => this.#beat.journaled,
    });
  }

  follow(beat: Beat): void {
    this.#beat = beat;
  }

  changeBans(hash: string, bans: readonly Ban[]): void {
    this.#bans.replace(hash, bans);
  }
}
