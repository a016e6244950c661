/** The parts of this folder put together, as a role of the image needs them. */
import type {Logger} from 'pino';
import type {Registry} from 'prom-client';
import {type Ban, type BanRules, Bans, defaultBanRules, type KeyUser, type RefusalFacts, type Strikes} from './bans.ts';
import {TrustedClock} from './clock.ts';
import {type FallbackOptions, FallbackStore} from './fallback.ts';
import {BackgroundJournal, defaultJournalBounds, type Journal, type JournalBounds} from './journal.ts';
import {Ledger} from './ledger/ledger.ts';
import {Limiter} from './limiter.ts';
import {type LimitFigures, limitMetrics} from './metrics.ts';
import {HeldRecords, type RecordStore} from './records.ts';
import {type Heard, MemoryStore} from './store.ts';
import {MemoryUsage, UsageCounter, type UsageStore} from './usage.ts';
import type {Pool, CallerQuota, QuotaVerdict} from './verdict.ts';

/** Store of quota and bans beyond the process. `Memory`: no store. */
export type LimitsStore =
  | {kind: 'Memory'}
  | {kind: 'Ledger'; path: string}
  | {kind: 'Valkey'; url: string; replicas: number; prefix?: string};

export interface LimitsOptions {
  store: LimitsStore;
  bans?: Partial<BanRules>;
  journal?: JournalBounds;
  /** Without an answer for so long a store counts as down; by default 2 s for a ledger, 1 s for Valkey. */
  storeTimeoutMs?: number;
  log: Logger;
  registry: Registry;
}

/** The limits, kept in this thread ({@link LocalLimits}) or in another thread of the process (remote/remote.ts). */
export interface Limits {
  clock: {nowMs(): number; offsetMs(): number};
  /** For tenants and keys: what a pool used outlives the process. */
  limiter: {
    take(pools: readonly Pool[]): QuotaVerdict | Promise<QuotaVerdict>;
    look(pools: readonly Pool[]): CallerQuota | Promise<CallerQuota>;
    lookUp(pools: readonly Pool[]): Promise<CallerQuota>;
  };
  /** For addresses: in memory alone and of this thread alone, and few there, since strangers can make as many pools as they like. */
  addresses: Limiter;
  bans: Pick<Bans, 'until' | 'of' | 'lift' | 'onChange'> & {
    refused(user: KeyUser, facts: RefusalFacts): Strikes | undefined | Promise<Strikes | undefined>;
  };
  /** Sessions and the like, where quota is kept too. */
  records: RecordStore;
  /** Requests of each key, scope and day. */
  usage: Pick<UsageCounter, 'count' | 'of' | 'namespaces'>;
  /** Who changed what. */
  journal: Pick<BackgroundJournal, 'add' | 'read'>;
  stop(): Promise<void>;
}

export interface LocalLimits extends Limits {
  clock: TrustedClock;
  limiter: Limiter;
  bans: Bans;
  usage: UsageCounter;
  journal: BackgroundJournal;
  figures: LimitFigures;
}

/** Some 30 MB of pools and their windows. */
const mostAddressPools = 50_000;
export const addressLimiter = (clock: {nowMs(): number}): Limiter =>
  new Limiter({clock, store: new MemoryStore({atMost: 2 * mostAddressPools}), atMost: mostAddressPools});

/** Never rejects because of a store: without it quota is counted in memory, which the log and a metric say. */
export async function startLimits({
  store: where,
  bans: rules,
  journal: journalBounds = defaultJournalBounds,
  storeTimeoutMs,
  log,
  registry,
}: LimitsOptions): Promise<LocalLimits> {
  const clock = new TrustedClock();
  const {store, records, ...stores} = await makeStore(where, {
    clock,
    log,
    storeTimeoutMs,
    journalBounds,
    bans: () => bans,
    limiter: () => limiter,
  });
  const kept = store instanceof FallbackStore ? store : undefined;
  const bans = new Bans({clock, store: kept, rules: {...defaultBanRules, ...rules}});
  const limiter = new Limiter({clock, store});
  if (kept) await kept.start();
  else log.warn('quota is in memory only: a restart resets the quota of every tenant and ends all bans');
  const {usage, journal} = inBackground(stores, {clock, log});
  const figures: LimitFigures = {
    decisions: () => limiter.decisions,
    storeIsDown: () => kept?.isDown ?? true,
    storeFailures: () => kept?.failures ?? 0,
    bansBegun: () => bans.begun,
    activeBans: () => bans.active(),
    clockOffsetMs: () => clock.offsetMs(),
    usageLost: () => usage.lost,
    journaled: () => ({written: journal.written, lost: journal.lost}),
  };
  limitMetrics(registry, figures);
  return {
    figures,
    clock,
    limiter,
    addresses: addressLimiter(clock),
    bans,
    records,
    usage,
    journal,
    stop: async () => {
      await limiter.giveBack();
      await usage.stop();
      await journal.stop();
      await kept?.stop();
    },
  };
}

/** Writes that happen shortly after the fact. */
function inBackground(
  stores: Pick<Stores, 'usage' | 'journal'>,
  {clock, log}: Pick<LimitsParts, 'clock' | 'log'>,
): Pick<LocalLimits, 'usage' | 'journal'> {
  const now = (): number => clock.nowMs();
  const usage = new UsageCounter({
    store: stores.usage,
    now,
    onFailure: (error) => log.warn({err: error}, 'usage cannot be stored now; Doorplate stores it later'),
  });
  usage.start();
  const journal = new BackgroundJournal({
    journal: stores.journal,
    now,
    onLost: (lost, error) =>
      log.error({err: error, records: lost.length}, 'changes are missing from GET /v1/audit; this log has them'),
  });
  return {usage, journal};
}

interface Stores {
  store: FallbackStore | MemoryStore;
  records: RecordStore;
  usage: UsageStore;
  journal: Journal;
}

interface LimitsParts {
  clock: TrustedClock;
  log: Logger;
  storeTimeoutMs: number | undefined;
  journalBounds: JournalBounds;
  bans: () => Bans;
  limiter: () => Limiter;
}

async function makeStore(
  where: LimitsStore,
  {clock, log, storeTimeoutMs, journalBounds, bans, limiter}: LimitsParts,
): Promise<Stores> {
  if (where.kind === 'Memory')
    return {
      store: new MemoryStore(),
      records: new HeldRecords({clock}),
      usage: new MemoryUsage(),
      journal: await (await import('./ledger/journal-tables.ts')).memoryJournal(journalBounds),
    };
  const onBans = (read: Ban[] | undefined): void => {
    if (read) bans().replaceAll(store.withChanges(read));
    // It has lost them: this process has not.
    else for (const ban of bans().all()) store.saveBan(ban);
  };
  const onWindow = (changed: Heard): void => {
    const heard = store.hear(changed);
    if (heard) limiter().hear(heard);
  };
  const {records, usage, journal, ...behind} = await makeBackend(where, {clock, journalBounds, onBans, onWindow});
  const store: FallbackStore = new FallbackStore({
    ...behind,
    ...(storeTimeoutMs !== undefined && {timeoutMs: storeTimeoutMs}),
    onOpen: (held) => {
      // A ledger that is opened late must not set time back under what is counted already.
      if (held.mark && (store.failures === 0 || held.mark.atMs > clock.nowMs())) clock.goOnFrom(held.mark);
      const offsetSeconds = Math.round(clock.offsetMs() / 1000);
      if (offsetSeconds !== 0)
        log.warn({offsetSeconds}, 'the clock was set since the last start: the limits do not use it');
      onBans(held.bans);
      if (records instanceof HeldRecords) records.load(held.records);
    },
    onDown: (error) => log.error({err: error}, 'quota is in memory only, until its store answers again'),
    onUp: () => log.info({store: where.kind}, 'quota is reserved in its store'),
  });
  return {store, records, usage, journal};
}

type Behind = Pick<FallbackOptions, 'backend' | 'replicas' | 'timeoutMs'> &
  Pick<Stores, 'records' | 'usage' | 'journal'>;

async function makeBackend(
  where: Exclude<LimitsStore, {kind: 'Memory'}>,
  {
    clock,
    journalBounds,
    onBans,
    onWindow,
  }: Pick<LimitsParts, 'clock' | 'journalBounds'> & {
    onBans: (bans: Ban[] | undefined) => void;
    onWindow: (changed: Heard) => void;
  },
): Promise<Behind> {
  if (where.kind === 'Ledger') {
    const backend = new Ledger({path: where.path, clock, journal: journalBounds});
    const records = new HeldRecords({clock, write: (changes) => backend.changeRecords(changes)});
    return {backend, records, usage: backend, journal: backend, replicas: 1, timeoutMs: 2000};
  }
  // Loaded where it is used only: its client is large.
  const {Valkey} = await import('./valkey/valkey.ts');
  const backend = new Valkey({
    ...where,
    journal: journalBounds,
    onBans,
    onWindow,
    onTime: (...time) => clock.follow(...time),
  });
  const {usage, journal} = backend;
  return {backend, records: backend, usage, journal, replicas: where.replicas, timeoutMs: 1000};
}
