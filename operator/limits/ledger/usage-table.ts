/** Usage (usage.ts) in the ledger. A first table has the keys and scopes, a second table the requests per day: about 15 bytes a row. */
import type {DatabaseSync} from 'node:sqlite';
import {mostSeries, otherKeys, type Usage, type UsageCount, type UsageRange, usageDays} from '../usage.ts';

const schema = `
  CREATE TABLE IF NOT EXISTS usage_series (id INTEGER PRIMARY KEY, namespace_uid TEXT NOT NULL, namespace TEXT NOT NULL,
    account TEXT NOT NULL, key TEXT NOT NULL, scope TEXT NOT NULL, UNIQUE (namespace_uid, account, key, scope)) STRICT;
  CREATE TABLE IF NOT EXISTS usage (series INTEGER NOT NULL, day INTEGER NOT NULL, requests INTEGER NOT NULL,
    PRIMARY KEY (series, day)) STRICT, WITHOUT ROWID;
`;

export class UsageTable {
  readonly #db: DatabaseSync;
  /** Rows of a namespace on the day `#day`, by UID. */
  readonly #rows = new Map<string, number>();
  #day = 0;

  constructor(db: DatabaseSync) {
    this.#db = db;
    db.exec(schema);
  }

  /** To be called in a transaction. */
  add(counts: readonly UsageCount[]): void {
    for (const count of counts) {
      if (count.day > this.#day) this.#begin(count.day);
      this.#add(count);
    }
  }

  /** To be called after a rollback. */
  forget(): void {
    this.#rows.clear();
  }

  of(namespaceUID: string, {since, until}: UsageRange): UsageCount[] {
    const rows = this.#db.prepare(`
      SELECT namespace_uid AS namespaceUID, namespace, account, key, scope, day, requests
      FROM usage_series JOIN usage ON series = id WHERE namespace_uid = ? AND day BETWEEN ? AND ?`);
    return rows.all(namespaceUID, since, until) as unknown as UsageCount[];
  }

  namespaces(after: string, limit: number): string[] {
    const rows = this.#db.prepare(
      'SELECT DISTINCT namespace_uid AS uid FROM usage_series WHERE namespace_uid > ? ORDER BY namespace_uid LIMIT ?',
    );
    return (rows.all(after, limit) as {uid: string}[]).map(({uid}) => uid);
  }

  #begin(day: number): void {
    this.#day = day;
    this.#rows.clear();
    this.#db.prepare('DELETE FROM usage WHERE day <= ?').run(day - usageDays);
    this.#db.exec('DELETE FROM usage_series WHERE id NOT IN (SELECT series FROM usage)');
  }

  #add(count: UsageCount): void {
    const {namespaceUID, day, requests} = count;
    const series = this.#seriesOf(count);
    const {changes} = this.#db
      .prepare('UPDATE usage SET requests = requests + ? WHERE series = ? AND day = ?')
      .run(requests, series ?? -1, day);
    if (changes > 0) return;
    const rows = this.#rowsOf(namespaceUID, day);
    if (rows >= mostSeries && count.key !== otherKeys) return this.#add({...count, key: otherKeys, scope: ''});
    if (day === this.#day) this.#rows.set(namespaceUID, rows + 1);
    this.#db.prepare('INSERT INTO usage VALUES (?, ?, ?)').run(series ?? this.#newSeries(count), day, requests);
  }

  #seriesOf({namespaceUID, account, key, scope}: Usage): number | undefined {
    const row = this.#db
      .prepare('SELECT id FROM usage_series WHERE namespace_uid = ? AND account = ? AND key = ? AND scope = ?')
      .get(namespaceUID, account, key, scope) as {id: number} | undefined;
    return row?.id;
  }

  #newSeries({namespaceUID, namespace, account, key, scope}: Usage): number {
    const {lastInsertRowid} = this.#db
      .prepare('INSERT INTO usage_series (namespace_uid, namespace, account, key, scope) VALUES (?, ?, ?, ?, ?)')
      .run(namespaceUID, namespace, account, key, scope);
    return Number(lastInsertRowid);
  }

  #rowsOf(namespaceUID: string, day: number): number {
    // Counts of the day before may come after midnight.
    const known = day === this.#day ? this.#rows.get(namespaceUID) : undefined;
    return known ?? this.#countRows(namespaceUID, day);
  }

  #countRows(namespaceUID: string, day: number): number {
    const row = this.#db
      .prepare(
        'SELECT count(*) AS rows FROM usage_series JOIN usage ON series = id WHERE namespace_uid = ? AND day = ?',
      )
      .get(namespaceUID, day) as {rows: number};
    return row.rows;
  }
}
