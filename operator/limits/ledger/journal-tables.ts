/** The journal in SQLite: tables of the ledger, or of a database in memory. */
import type {DatabaseSync} from 'node:sqlite';
import {
  bytesOf,
  type Journal,
  type JournalBounds,
  type JournalPage,
  type JournalQuery,
  type JournalRecord,
  mostDeleted,
  mostScanned,
} from '../journal.ts';

/**
 * `id`: Unix ms × 1000, counted up where records share a millisecond. `journal_sizes` holds the sums of each tenant's records, which
 * triggers keep.
 */
const schema = `
  CREATE TABLE IF NOT EXISTS journal (id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, namespace TEXT NOT NULL, project TEXT,
    bytes INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS journal_of_tenant ON journal (tenant, id);
  CREATE TABLE IF NOT EXISTS journal_sizes (tenant TEXT PRIMARY KEY, records INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS journal_largest ON journal_sizes (bytes);
  CREATE TRIGGER IF NOT EXISTS journal_added AFTER INSERT ON journal BEGIN
    INSERT INTO journal_sizes VALUES (NEW.tenant, 1, NEW.bytes)
      ON CONFLICT DO UPDATE SET records = records + 1, bytes = bytes + excluded.bytes;
  END;
  CREATE TRIGGER IF NOT EXISTS journal_deleted AFTER DELETE ON journal BEGIN
    UPDATE journal_sizes SET records = records - 1, bytes = bytes - OLD.bytes WHERE tenant = OLD.tenant;
    DELETE FROM journal_sizes WHERE tenant = OLD.tenant AND records <= 0;
  END;
`;

const idsPerMs = 1000;

interface JournalRow {
  id: number;
  namespace: string;
  project: string | null;
  text: string;
}

export class JournalTables {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    db.exec(schema);
  }

  /** One transaction. */
  append(records: readonly JournalRecord[], nowMs: number, bounds: JournalBounds): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const insert = this.#db.prepare('INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?)');
      const {last} = this.#db.prepare('SELECT coalesce(max(id), 0) AS last FROM journal').get() as {last: number};
      const first = Math.max(last + 1, Math.floor(nowMs) * idsPerMs);
      for (const [i, record] of records.entries()) {
        const {tenant, namespace, project = null, text} = record;
        insert.run(first + i, tenant, namespace, project, bytesOf(record), text);
      }
      this.#prune(new Set(records.map(({tenant}) => tenant)), nowMs, bounds);
      this.#db.exec('COMMIT');
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  read(
    {tenant, namespace, project, sinceMs = 0, untilMs = Infinity, after, limit}: JournalQuery,
    nowMs: number,
    {retentionMs}: JournalBounds,
  ): JournalPage {
    const from = Math.ceil(Math.max(sinceMs, nowMs - retentionMs)) * idsPerMs;
    const to = Math.min(Math.ceil(untilMs) * idsPerMs, Number(after ?? Infinity), Number.MAX_SAFE_INTEGER);
    const rows = this.#db
      .prepare(
        'SELECT id, namespace, project, text FROM journal WHERE tenant = ? AND id >= ? AND id < ? ORDER BY id DESC LIMIT ?',
      )
      .all(tenant, from, to, mostScanned) as unknown as JournalRow[];
    const matching = rows.filter(
      (row) => row.namespace === namespace && (project === undefined || row.project === project),
    );
    const shown = matching.slice(0, limit);
    const last = matching.length > limit ? shown.at(-1) : rows.length === mostScanned ? rows.at(-1) : undefined;
    return {
      records: shown.map(({id, text}) => ({atMs: Math.floor(id / idsPerMs), text})),
      ...(last && {next: String(last.id)}),
    };
  }

  #prune(tenants: ReadonlySet<string>, nowMs: number, {retentionMs, recordsPerTenant, bytes}: JournalBounds): void {
    let left = mostDeleted;
    const expired = this.#db.prepare(
      'DELETE FROM journal WHERE id IN (SELECT id FROM journal WHERE id < ? ORDER BY id LIMIT ?)',
    );
    left -= Number(expired.run(Math.floor(nowMs - retentionMs) * idsPerMs, left).changes);
    const oldest = this.#db.prepare(
      'DELETE FROM journal WHERE id IN (SELECT id FROM journal WHERE tenant = ? ORDER BY id LIMIT ?) RETURNING bytes',
    );
    const count = this.#db.prepare('SELECT records FROM journal_sizes WHERE tenant = ?');
    for (const tenant of tenants) {
      const {records} = (count.get(tenant) ?? {records: 0}) as {records: number};
      const tooMany = Math.min(left, records - recordsPerTenant);
      if (tooMany > 0) left -= oldest.all(tenant, tooMany).length;
    }
    const sum = this.#db.prepare('SELECT coalesce(sum(bytes), 0) AS total FROM journal_sizes');
    const largest = this.#db.prepare('SELECT tenant FROM journal_sizes ORDER BY bytes DESC LIMIT 1');
    for (let {total} = sum.get() as {total: number}; total > bytes && left > 0; left--) {
      const {tenant} = largest.get() as {tenant: string};
      total -= (oldest.get(tenant, 1) as {bytes: number}).bytes;
    }
  }
}

/** A journal that ends with the process. */
export async function memoryJournal(bounds: JournalBounds): Promise<Journal> {
  // Loaded here only: it prints a warning, and the thread of the ledger does not.
  const sqlite = await import('node:sqlite');
  const tables = new JournalTables(new sqlite.DatabaseSync(':memory:'));
  return {
    append: async (records, nowMs) => tables.append(records, nowMs, bounds),
    read: async (query, nowMs) => tables.read(query, nowMs, bounds),
  };
}
