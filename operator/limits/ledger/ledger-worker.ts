/** The thread that writes the ledger (ledger.ts), so that an fsync blocks no request. Each message is one transaction with one answer. */
import {DatabaseSync} from 'node:sqlite';
import {parentPort, workerData} from 'node:worker_threads';
import {banId, userOf} from '../bans.ts';
import type {BanChange, BackendState, RecordChange, StoredRecord} from '../backend.ts';
import type {TimeMark} from '../clock.ts';
import type {JournalBounds, JournalPage, JournalQuery, JournalRecord} from '../journal.ts';
import {JournalTables} from './journal-tables.ts';
import {type WindowRequest, type WindowGrant, grantAll, type WindowState as WindowHeld} from '../store.ts';
import {UsageTable} from './usage-table.ts';
import type {UsageCount, UsageRange} from '../usage.ts';

export type LedgerRequest =
  | {open: true}
  | {
      commit: {
        calls: (readonly WindowRequest[])[];
        bans: readonly BanChange[];
        records: readonly RecordChange[];
        usage: readonly UsageCount[];
        mark: TimeMark;
      };
    }
  | UsageRequest
  | {append: {records: readonly JournalRecord[]; nowMs: number; bounds: JournalBounds}}
  | {read: {query: JournalQuery; nowMs: number; bounds: JournalBounds}}
  | {close: true};

type UsageRequest = UsageRange & ({usageOf: string} | {usingNamespaces: {after: string; limit: number}});

/** `errcode` is SQLite's result code (sqlite.org/rescode.html), where it is SQLite that failed. */
export type LedgerAnswer =
  | {held: BackendState}
  | {grants: WindowGrant[][]}
  | {usage: UsageCount[]}
  | {namespaces: string[]}
  | {appended: true}
  | {page: JournalPage}
  | {error: {message: string; errcode?: number}};

/** Raised with every change that an older Doorplate cannot read. */
const schemaVersion = 2;

const schema = `
  CREATE TABLE IF NOT EXISTS windows (window TEXT PRIMARY KEY, ends INTEGER NOT NULL, taken INTEGER NOT NULL,
    returned INTEGER NOT NULL DEFAULT 0) STRICT;
  CREATE TABLE IF NOT EXISTS bans (hash TEXT PRIMARY KEY, until INTEGER NOT NULL, times INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS mark (only INTEGER PRIMARY KEY, at REAL NOT NULL, uptime REAL NOT NULL, boot TEXT) STRICT;
  CREATE TABLE IF NOT EXISTS records (name TEXT PRIMARY KEY, text TEXT NOT NULL, ends INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS record_groups (name TEXT PRIMARY KEY, "group" TEXT NOT NULL, ends INTEGER NOT NULL) STRICT;
  PRAGMA user_version = ${schemaVersion};
`;

/** The migration is one transaction: a crash during it leaves a usable version. */
const fromFirstVersion = `
  BEGIN;
  ALTER TABLE windows ADD COLUMN returned INTEGER NOT NULL DEFAULT 0;
  PRAGMA user_version = ${schemaVersion};
  COMMIT;
`;

const sweepEveryMs = 60_000;

interface MarkRow {
  at: number;
  uptime: number;
  boot: string | null;
}

/** `hash`: the id of a ban, which was a hash alone once. */
interface BanRow {
  hash: string;
  until: number;
  times: number;
}

interface RecordRow extends Omit<StoredRecord, 'group'> {
  group: string | null;
}

type Commit = Extract<LedgerRequest, {commit: unknown}>['commit'];

class LedgerFile {
  readonly #db: DatabaseSync;
  readonly usage: UsageTable;
  readonly journal: JournalTables;
  #sweptMs = 0;

  /**
   * Every commit is on disk when it returns: a write-ahead log with an fsync each
   * (sqlite.org/pragma.html#pragma_synchronous).
   */
  constructor(path: string) {
    this.#db = new DatabaseSync(path, {timeout: 2000});
    this.#db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    const {user_version: version} = this.#db.prepare('PRAGMA user_version').get() as {user_version: number};
    if (version > schemaVersion) throw new Error(`a newer Doorplate wrote it in format ${version}`);
    if (version === 1) this.#db.exec(fromFirstVersion);
    // A table that an older Doorplate does not know is none of its business.
    this.#db.exec(schema);
    this.usage = new UsageTable(this.#db);
    this.journal = new JournalTables(this.#db);
  }

  held(): BackendState {
    const windows = this.#db
      .prepare('SELECT window, ends AS endSeconds, taken, returned FROM windows')
      .all() as BackendState['windows'];
    const bans = (this.#db.prepare('SELECT hash, until, times FROM bans').all() as unknown as BanRow[]).map(
      ({hash: id, until: untilSeconds, times}) => ({...userOf(id), untilSeconds, times}),
    );
    const rows = this.#db
      .prepare('SELECT name, text, r.ends AS endsSeconds, "group" FROM records r LEFT JOIN record_groups USING (name)')
      .all() as unknown as RecordRow[];
    const records = rows.map(({group, ...record}) => ({...record, ...(group !== null && {group})}));
    const mark = this.#db.prepare('SELECT at, uptime, boot FROM mark').get() as MarkRow | undefined;
    return {
      windows,
      bans,
      records,
      mark: mark && {atMs: mark.at, uptimeMs: mark.uptime, bootId: mark.boot ?? undefined},
    };
  }

  commit({calls, bans, records, usage, mark}: Commit): WindowGrant[][] {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const grants = calls.map((claims) => this.#grant(claims));
      this.#changeBans(bans);
      this.#changeRecords(records);
      this.usage.add(usage);
      const {atMs, uptimeMs, bootId = null} = mark;
      this.#db.prepare('INSERT OR REPLACE INTO mark VALUES (1, ?, ?, ?)').run(atMs, uptimeMs, bootId);
      this.#sweep(atMs);
      this.#db.exec('COMMIT');
      return grants;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.usage.forget();
      throw error;
    }
  }

  close(): void {
    this.#db.close();
  }

  #grant(claims: readonly WindowRequest[]): WindowGrant[] {
    const read = this.#db.prepare('SELECT taken, returned FROM windows WHERE window = ?');
    const write = this.#db.prepare('INSERT OR REPLACE INTO windows VALUES (?, ?, ?, ?)');
    const held = claims.map(({window}) => (read.get(window) as WindowHeld | undefined) ?? {taken: 0, returned: 0});
    const grants = grantAll(claims, held);
    for (const [i, {window, endSeconds}] of claims.entries()) {
      const {taken, returned} = grants[i]!;
      write.run(window, endSeconds, taken, returned);
    }
    return grants;
  }

  #changeBans(changes: readonly BanChange[]): void {
    const remove = this.#db.prepare('DELETE FROM bans WHERE hash = ?');
    const save = this.#db.prepare('INSERT OR REPLACE INTO bans VALUES (?, ?, ?)');
    for (const change of changes) {
      if ('remove' in change) remove.run(banId(change.remove));
      else save.run(banId(change.save), change.save.untilSeconds, change.save.times);
    }
  }

  #changeRecords(changes: readonly RecordChange[]): void {
    const remove = this.#db.prepare('DELETE FROM records WHERE name = ?');
    const removeGroup = this.#db.prepare('DELETE FROM record_groups WHERE name = ?');
    const put = this.#db.prepare('INSERT OR REPLACE INTO records VALUES (?, ?, ?)');
    const putGroup = this.#db.prepare('INSERT OR REPLACE INTO record_groups VALUES (?, ?, ?)');
    for (const change of changes) {
      const name = 'remove' in change ? change.remove : change.put.name;
      removeGroup.run(name);
      if ('remove' in change) remove.run(name);
      else {
        const {text, endsSeconds, group} = change.put;
        put.run(name, text, endsSeconds);
        if (group !== undefined) putGroup.run(name, group, endsSeconds);
      }
    }
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptMs < sweepEveryMs) return;
    this.#sweptMs = nowMs;
    for (const table of ['windows', 'records', 'record_groups']) {
      this.#db.prepare(`DELETE FROM ${table} WHERE ends <= ?`).run(Math.floor(nowMs / 1000));
    }
  }
}

let file: LedgerFile | undefined;

function answer(request: LedgerRequest): LedgerAnswer | undefined {
  try {
    if ('close' in request) return end();
    file ??= new LedgerFile(workerData as string);
    return carryOut(file, request);
  } catch (error) {
    // The next request opens the file again, because the fault of the volume may be over then.
    try {
      file?.close();
    } catch {
      /* it is lost already */
    }
    file = undefined;
    const {message, errcode} = error as Error & {errcode?: number};
    return {error: {message, errcode}};
  }
}

function carryOut(ledger: LedgerFile, request: Exclude<LedgerRequest, {close: true}>): LedgerAnswer {
  if ('open' in request) return {held: ledger.held()};
  if ('commit' in request) return {grants: ledger.commit(request.commit)};
  if ('read' in request) {
    const {query, nowMs, bounds} = request.read;
    return {page: ledger.journal.read(query, nowMs, bounds)};
  }
  if ('usageOf' in request) return {usage: ledger.usage.of(request.usageOf, request)};
  if ('usingNamespaces' in request) {
    const {after, limit} = request.usingNamespaces;
    return {namespaces: ledger.usage.namespaces(after, limit)};
  }
  const {records, nowMs, bounds} = request.append;
  ledger.journal.append(records, nowMs, bounds);
  return {appended: true};
}

function end(): undefined {
  file?.close();
  parentPort!.close();
}

parentPort!.on('message', (request: LedgerRequest) => {
  const reply = answer(request);
  if (reply) parentPort!.postMessage(reply, []);
});
