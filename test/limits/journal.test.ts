/** The journal where it is kept: in memory, in the ledger, and in Valkey (a real redis-server). */
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {DatabaseSync} from 'node:sqlite';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {spawn} from 'node:child_process';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import {TrustedClock} from '../../operator/limits/clock.ts';
import {
  BackgroundJournal,
  bytesOf,
  defaultJournalBounds,
  type Journal,
  type JournalBounds,
  type JournalQuery,
  type JournalRecord,
  mostScanned,
} from '../../operator/limits/journal.ts';
import {memoryJournal} from '../../operator/limits/ledger/journal-tables.ts';
import {Ledger} from '../../operator/limits/ledger/ledger.ts';
import {Valkey} from '../../operator/limits/valkey/valkey.ts';
import {Redis} from '../support/redis.ts';

let redis: Redis;
let folder: string;
let opened: {close(): Promise<void>}[];
let prefixes = 0;

beforeAll(async () => {
  redis = await Redis.start();
});
afterAll(async () => {
  await redis?.kill();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-journal-'));
  opened = [];
});
afterEach(async () => {
  for (const each of opened) await each.close();
  rmSync(folder, {recursive: true});
});

const openLedger = (journal: JournalBounds): Ledger => {
  const ledger = new Ledger({path: join(folder, 'ledger.db'), clock: new TrustedClock(), journal});
  opened.push(ledger);
  return ledger;
};

const openValkey = async (journal: JournalBounds, prefix = `journal-${prefixes++}`): Promise<Journal> => {
  const valkey = new Valkey({url: redis.url, prefix, journal});
  opened.push(valkey);
  await valkey.open();
  return valkey.journal;
};

const stores: [string, (bounds: JournalBounds) => Journal | Promise<Journal>][] = [
  ['in memory', memoryJournal],
  ['in the ledger', openLedger],
  ['in Valkey', openValkey],
];

const record = (text: string, more: Partial<JournalRecord> = {}): JournalRecord => ({
  tenant: 'acme',
  namespace: 'uid-1',
  text,
  ...more,
});
const many = (count: number, more: Partial<JournalRecord> = {}): JournalRecord[] =>
  Array.from({length: count}, (_, i) => record(String(i), more));

const padded = (count: number, more: Partial<JournalRecord> = {}): JournalRecord[] =>
  many(count, more).map((each) => ({...each, text: each.text.padStart(100)}));

const texts = async (journal: Journal, more: Partial<JournalQuery> = {}): Promise<string[]> =>
  (await journal.read({tenant: 'acme', namespace: 'uid-1', limit: 500, ...more}, Date.now())).records.map(
    ({text}) => text,
  );

/** All pages: their texts, and how many pages there were. */
async function all(journal: Journal, more: Partial<JournalQuery>): Promise<{texts: string[]; pages: number}> {
  const found: string[] = [];
  let [after, pages]: [string | undefined, number] = [undefined, 0];
  do {
    const query = {tenant: 'acme', namespace: 'uid-1', limit: 500, ...more, ...(after !== undefined && {after})};
    const page = await journal.read(query, Date.now());
    found.push(...page.records.map(({text}) => text));
    after = page.next;
    pages++;
  } while (after !== undefined);
  return {texts: found, pages};
}

describe.each(stores)('A journal %s', (_, open) => {
  test('shows records newest first, page by page, each once', async () => {
    const journal = await open(defaultJournalBounds);
    for (const text of ['a', 'b', 'c']) await journal.append([record(text)], Date.now());
    await journal.append([record('d'), record('e')], Date.now());
    expect(await all(journal, {limit: 2})).toEqual({texts: ['e', 'd', 'c', 'b', 'a'], pages: 3});
  });

  test('shows a namespace its own records only, also of the same tenant', async () => {
    const journal = await open(defaultJournalBounds);
    const others = [record('namespace', {namespace: 'uid-2'}), record('tenant', {tenant: 'other'})];
    await journal.append([record('mine'), ...others], Date.now());
    expect(await texts(journal)).toEqual(['mine']);
    expect(await texts(journal, {namespace: 'uid-2'})).toEqual(['namespace']);
    expect(await texts(journal, {tenant: 'other'})).toEqual(['tenant']);
    expect(await texts(journal, {tenant: 'other', namespace: 'uid-2'})).toEqual([]);
  });

  test('shows the records of a project, and of a span of time', async () => {
    const journal = await open(defaultJournalBounds);
    await journal.append([record('old', {project: 'docs'})], Date.now());
    await sleep(20);
    const since = Date.now();
    await journal.append([record('docs', {project: 'docs'}), record('shop', {project: 'shop'}), record('key')], since);
    await sleep(20);
    const until = Date.now();
    await journal.append([record('new', {project: 'docs'})], until);
    expect(await texts(journal, {project: 'docs'})).toEqual(['new', 'docs', 'old']);
    expect(await texts(journal, {sinceMs: since, untilMs: until})).toEqual(['key', 'shop', 'docs']);
    expect(await texts(journal, {project: 'docs', sinceMs: since})).toEqual(['new', 'docs']);
    expect(await texts(journal, {untilMs: -62_167_219_200_000})).toEqual([]);
    expect(await texts(journal, {sinceMs: -62_167_219_200_000, untilMs: 253_402_300_799_999})).toHaveLength(5);
    expect(await all(journal, {untilMs: until, limit: 2})).toEqual({texts: ['key', 'shop', 'docs', 'old'], pages: 2});
    const {records} = await journal.read({tenant: 'acme', namespace: 'uid-1', limit: 1}, Date.now());
    expect(Math.abs(records[0]!.atMs - until)).toBeLessThan(10_000);
  });

  test('reads through a bounded number of records for a page', async () => {
    const journal = await open(defaultJournalBounds);
    await journal.append([record('first', {project: 'docs'})], Date.now());
    for (let i = 0; i < 2 * mostScanned; i += 500) await journal.append(many(500), Date.now());
    expect(await texts(journal, {project: 'docs'})).toEqual([]);
    expect(await all(journal, {project: 'docs'})).toEqual({texts: ['first'], pages: 3});
  });

  test('keeps so many records of a tenant: its oldest are deleted, and none of another tenant', async () => {
    const journal = await open({...defaultJournalBounds, recordsPerTenant: 3});
    await journal.append(many(3, {tenant: 'other'}), Date.now());
    for (let i = 0; i < 3; i++) await journal.append(many(5), Date.now());
    expect(await texts(journal)).toEqual(['4', '3', '2']);
    expect(await texts(journal, {tenant: 'other'})).toEqual(['2', '1', '0']);
  });

  test('keeps so many bytes: the oldest records of the largest tenant are deleted', async () => {
    const size = bytesOf(record('0'.padStart(100)));
    const journal = await open({...defaultJournalBounds, bytes: 10 * size});
    await journal.append(padded(3, {tenant: 'tiny'}), Date.now());
    await journal.append(padded(30), Date.now());
    expect((await texts(journal)).length).toBe(7);
    await journal.append(padded(2, {tenant: 'tiny'}), Date.now());
    expect([(await texts(journal)).map(Number), (await texts(journal, {tenant: 'tiny'})).map(Number)]).toEqual([
      [29, 28, 27, 26, 25],
      [1, 0, 2, 1, 0],
    ]);
  });

  test('deletes what is past the retention, also of tenants that write nothing more', async () => {
    const journal = await open({...defaultJournalBounds, retentionMs: 1500});
    await journal.append([record('old')], Date.now());
    await journal.append([record('other', {tenant: 'other'})], Date.now());
    await sleep(2000);
    await journal.append([record('new')], Date.now());
    expect(await texts(journal)).toEqual(['new']);
    await sleep(2000);
    expect(await texts(journal)).toEqual([]);
    await journal.append([], Date.now());
    expect(await kept()).toBe(0);
  });
});

/** Records that the ledger of this test or the server holds, whatever is shown of them. */
async function kept(): Promise<number> {
  const [first] = opened;
  if (first instanceof Ledger) {
    const db = new DatabaseSync(join(folder, 'ledger.db'), {readOnly: true});
    const {n} = db.prepare('SELECT count(*) AS n FROM journal').get() as {n: number};
    db.close();
    return n;
  }
  if (!first) return 0;
  return (await keysOf(`journal-${prefixes - 1}`)).length;
}

/** Keys of the journal, but for the sum of its bytes. */
async function keysOf(prefix: string): Promise<string[]> {
  const {createClient} = await import('@redis/client');
  const client = createClient({url: redis.url});
  await client.connect();
  const keys = await client.keys(`{${prefix}}:journal:*`);
  client.destroy();
  return keys.filter((key) => !key.endsWith(':bytes'));
}

test('A journal in the ledger is read by the next process, and quota by an older Doorplate', async () => {
  const first = openLedger(defaultJournalBounds);
  await first.append([record('kept')], Date.now());
  await first.close();
  opened = [];
  expect(await texts(openLedger(defaultJournalBounds))).toEqual(['kept']);
  const db = new DatabaseSync(join(folder, 'ledger.db'), {readOnly: true});
  expect(db.prepare('PRAGMA user_version').get()).toEqual({user_version: 2});
  db.close();
});

test('What an append has written survives a kill', async () => {
  const path = join(folder, 'ledger.db');
  const child = fileURLToPath(new URL('../support/journal-child.ts', import.meta.url));
  const running = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', child, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let written = '';
  running.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
  });
  await new Promise((resolve) => running.once('close', resolve));
  const answered = written.trim().split('\n').length;
  expect(running.signalCode).toBe('SIGKILL');
  expect(answered).toBeGreaterThanOrEqual(20);
  const {texts: found} = await all(openLedger(defaultJournalBounds), {});
  expect(found.map(Number).toReversed().slice(0, answered)).toEqual(Array.from({length: answered}, (_, i) => i));
});

test('In the ledger, a journal that cannot be written fails no reservation of quota', async () => {
  const ledger = openLedger(defaultJournalBounds);
  await ledger.open();
  const db = new DatabaseSync(join(folder, 'ledger.db'), {timeout: 30_000});
  db.exec('DROP TABLE journal_sizes');
  const claim = {window: 'w', endSeconds: Math.ceil(Date.now() / 1000) + 3600, limit: 100, want: 1, least: 1};
  const [appended, reserved] = await Promise.allSettled([
    ledger.append([record('lost')], Date.now()),
    ledger.reserve([claim]),
  ]);
  expect([appended.status, reserved.status]).toEqual(['rejected', 'fulfilled']);
  db.close();
});

test('Two replicas write into one journal in Valkey, and its bounds hold for both', async () => {
  const bounds = {...defaultJournalBounds, recordsPerTenant: 50};
  const prefix = `journal-${prefixes++}`;
  const both = await Promise.all([openValkey(bounds, prefix), openValkey(bounds, prefix)]);
  await Promise.all(Array.from({length: 40}, (_, i) => both[i % 2]!.append(many(2), Date.now())));
  expect([(await texts(both[0]!)).length, (await texts(both[1]!)).length]).toEqual([50, 50]);
});

describe('Records that are written in the background', () => {
  const failing: Journal = {
    append: async () => {
      throw new Error('down');
    },
    read: async () => ({records: []}),
  };

  test('of a journal that fails are counted as lost, and reported', async () => {
    const lost: string[] = [];
    const journal = new BackgroundJournal({
      journal: failing,
      now: Date.now,
      onLost: (records, error) => lost.push(...records.map(({text}) => `${text} ${error.message}`)),
    });
    journal.add(record('a'));
    journal.add(record('b'));
    await journal.stop();
    expect({lost, counted: [journal.written, journal.lost]}).toEqual({lost: ['a down', 'b down'], counted: [0, 2]});
  });

  test('are bounded while a journal is silent, and written when it answers', async () => {
    const {promise: silence, resolve: speak} = Promise.withResolvers<void>();
    const written: string[] = [];
    const journal = new BackgroundJournal({
      journal: {
        ...failing,
        append: async (records) => {
          await silence;
          written.push(...records.map(({text}) => text));
        },
      },
      now: Date.now,
      onLost: () => {},
    });
    for (const each of many(5000)) journal.add(each);
    expect([journal.written, journal.lost]).toEqual([0, 3999]);
    speak();
    await journal.stop();
    expect([journal.written, written.length, written.at(-1)]).toEqual([1001, 1001, '1000']);
  });
});
