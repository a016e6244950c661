/**
 * The embedded ledger: an SQLite file on a volume, for one replica. A worker thread writes it. All that was asked for while the last
 * commit ran is one transaction and one fsync; an answer is given when it is on disk.
 */
import {Worker} from 'node:worker_threads';
import type {Backend, BanChange, BackendState, RecordChange} from '../backend.ts';
import type {TrustedClock} from '../clock.ts';
import {
  defaultJournalBounds,
  type Journal,
  type JournalBounds,
  type JournalPage,
  type JournalQuery,
  type JournalRecord,
} from '../journal.ts';
import type {LedgerAnswer, LedgerRequest} from './ledger-worker.ts';
import type {WindowRequest, WindowGrant} from '../store.ts';
import type {UsageCount, UsageRange, UsageStore} from '../usage.ts';

/** The ledger cannot be opened or written; the message says what to do. */
export class LedgerError extends Error {
  override name = 'LedgerError';
}

/** Remedies by SQLite's primary result code (sqlite.org/rescode.html). */
const remedies: Readonly<Record<number, string>> = {
  5: 'Another process writes to it. Only one replica may use a volume.',
  8: 'The volume is read-only, or this user may not write to it: check securityContext.fsGroup.',
  10: 'The volume fails: check the Events of its PersistentVolumeClaim and the log of the node.',
  11: 'The file is damaged: move it away and restart. Quota and bans then start from zero.',
  13: 'The volume is full: enlarge it.',
  14: "The folder is missing, or this user may not write to it: check the volume's mount and securityContext.fsGroup.",
  26: 'The file is not a ledger: move it away and restart. Quota and bans then start from zero.',
};
const otherRemedy = 'Move the file away and restart if this continues. Quota and bans then start from zero.';

/** As it stands here in development; the image's bundle has it beside itself, compiled (cluster/image.sh). */
const workerUrl = new URL(`./ledger-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

interface WaitingRequest {
  claims: readonly WindowRequest[];
  bans: readonly BanChange[];
  records: readonly RecordChange[];
  usage: readonly UsageCount[];
  resolve: (grants: WindowGrant[]) => void;
  reject: (error: Error) => void;
}

export class Ledger implements Backend, UsageStore, Journal {
  readonly #path: string;
  readonly #clock: TrustedClock;
  readonly #bounds: JournalBounds;
  #worker: Worker | undefined;
  #waiting: WaitingRequest[] = [];
  /** Settles when the worker is free. */
  #turn: Promise<unknown> = Promise.resolve();
  /** The question that the worker works on. */
  #asked: {resolve: (answer: LedgerAnswer) => void; reject: (error: Error) => void} | undefined;
  /** Resolves when all requested writes are done. */
  #committing: Promise<void> | undefined;

  constructor(p: {path: string; clock: TrustedClock; journal?: JournalBounds}) {
    this.#path = p.path;
    this.#clock = p.clock;
    this.#bounds = p.journal ?? defaultJournalBounds;
  }

  async open(): Promise<BackendState> {
    const answer = await this.#ask({open: true});
    if (!('held' in answer)) throw this.#error('opened', answer);
    return answer.held;
  }

  reserve(claims: readonly WindowRequest[]): Promise<WindowGrant[]> {
    return this.#commit({claims});
  }

  async changeBans(changes: readonly BanChange[]): Promise<void> {
    await this.#commit({bans: changes});
  }

  async changeRecords(changes: readonly RecordChange[]): Promise<void> {
    await this.#commit({records: changes});
  }

  /** A commit that failed has counted nothing, so no batch id is needed. */
  async addUsage(usage: readonly UsageCount[]): Promise<void> {
    await this.#commit({usage});
  }

  async usageOf(namespaceUID: string, range: UsageRange): Promise<UsageCount[]> {
    const answer = await this.#ask({usageOf: namespaceUID, ...range});
    if (!('usage' in answer)) throw this.#error('read', answer);
    return answer.usage;
  }

  async usingNamespaces(range: UsageRange, after: string, limit: number): Promise<string[]> {
    const answer = await this.#ask({usingNamespaces: {after, limit}, ...range});
    if (!('namespaces' in answer)) throw this.#error('read', answer);
    return answer.namespaces;
  }

  async append(records: readonly JournalRecord[], nowMs: number): Promise<void> {
    const answer = await this.#ask({append: {records, nowMs, bounds: this.#bounds}});
    if (!('appended' in answer)) throw this.#error('written', answer);
  }

  async read(query: JournalQuery, nowMs: number): Promise<JournalPage> {
    const answer = await this.#ask({read: {query, nowMs, bounds: this.#bounds}});
    if (!('page' in answer)) throw this.#error('read', answer);
    return answer.page;
  }

  /** Waits for what is being written. */
  async close(): Promise<void> {
    await this.#committing;
    await this.#turn;
    const worker = this.#worker;
    if (!worker) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.ref();
    worker.postMessage({close: true} satisfies LedgerRequest, []);
    await ended;
  }

  #commit({
    claims = [],
    bans = [],
    records = [],
    usage = [],
  }: Partial<Omit<WaitingRequest, 'resolve' | 'reject'>>): Promise<WindowGrant[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({claims, bans, records, usage, resolve, reject});
      this.#committing ??= this.#commitAll();
    });
  }

  async #commitAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      const calls = group.map(({claims}) => claims);
      try {
        const bans = group.flatMap((each) => each.bans);
        const records = group.flatMap((each) => each.records);
        const usage = group.flatMap((each) => each.usage);
        const answer = await this.#ask({commit: {calls, bans, records, usage, mark: this.#clock.mark()}});
        if (!('grants' in answer)) throw this.#error('written', answer);
        for (const [i, {resolve}] of group.entries()) resolve(answer.grants[i]!);
      } catch (error) {
        for (const {reject} of group) reject(error as Error);
      }
    }
    this.#committing = undefined;
  }

  /** Asks one question at a time, in order. The error of one question does not fail another. */
  #ask(request: LedgerRequest): Promise<LedgerAnswer> {
    const answer = this.#turn.then(() => this.#askNow(request));
    this.#turn = answer.catch(() => {});
    return answer;
  }

  #askNow(request: LedgerRequest): Promise<LedgerAnswer> {
    return new Promise((resolve, reject) => {
      this.#asked = {resolve, reject};
      this.#started().postMessage(request, []);
    });
  }

  #started(): Worker {
    if (this.#worker) return this.#worker;
    const execArgv = ['--disable-warning=ExperimentalWarning'];
    const worker = new Worker(workerUrl, {name: 'ledger', workerData: this.#path, execArgv});
    // It keeps no process alive that has nothing else to do.
    worker.unref();
    worker.on('message', (answer: LedgerAnswer) => this.#asked?.resolve(answer));
    const ended = (cause?: Error): void => {
      if (this.#worker === worker) this.#worker = undefined;
      this.#asked?.reject(new LedgerError(`the thread that writes the ledger ${this.#path} has ended`, {cause}));
    };
    worker.on('error', (error) => ended(error as Error));
    worker.on('exit', () => ended());
    this.#worker = worker;
    return worker;
  }

  #error(done: 'opened' | 'written' | 'read', answer: LedgerAnswer): LedgerError {
    const {message, errcode} = 'error' in answer ? answer.error : {message: 'nonsense', errcode: undefined};
    const remedy = remedies[(errcode ?? 0) & 0xff] ?? otherRemedy;
    return new LedgerError(`the ledger ${this.#path} cannot be ${done}: ${message}. ${remedy}`);
  }
}
