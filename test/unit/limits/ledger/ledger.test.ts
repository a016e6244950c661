import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {DatabaseSync} from 'node:sqlite';
import {fileURLToPath} from 'node:url';
import {afterEach, beforeEach, describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {TrustedClock} from '../../../../operator/limits/clock.ts';
import {FallbackStore} from '../../../../operator/limits/fallback.ts';
import {Ledger} from '../../../../operator/limits/ledger/ledger.ts';
import {blockOf} from '../../../../operator/limits/counter.ts';
import {Limiter} from '../../../../operator/limits/limiter.ts';
import {type WindowRequest, MemoryStore} from '../../../../operator/limits/store.ts';
import {noonMs, VirtualTime} from '../../../support/limits-time.ts';

let folder: string;
let opened: FallbackStore[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-ledger-'));
  opened = [];
});

afterEach(async () => {
  for (const store of opened) await store.stop();
  rmSync(folder, {recursive: true});
});

interface Opened {
  store: FallbackStore;
  ledger: Ledger;
  time: VirtualTime;
  clock: TrustedClock;
  errors: string[];
  bans: string[];
}

async function open({path = join(folder, 'ledger.db'), time = new VirtualTime(), retryMs = 20} = {}): Promise<Opened> {
  const clock = new TrustedClock(time);
  const ledger = new Ledger({path, clock});
  const errors: string[] = [];
  const bans: string[] = [];
  const store = new FallbackStore({
    backend: ledger,
    retryMs,
    timeoutMs: 30_000,
    onDown: (error) => errors.push(error.message),
    onOpen: (held) => {
      bans.push(...held.bans.map((ban) => ban.hash));
      if (held.mark) clock.goOnFrom(held.mark);
    },
  });
  opened.push(store);
  await store.start();
  return {store, ledger, time, clock, errors, bans};
}

const end = noonMs / 1000 + 3600;
const claim = (window: string, want: number, limit = 100, least = 1): WindowRequest => ({
  window,
  endSeconds: end,
  limit,
  want,
  least,
});

/** Waits for what must come, a minute at most. */
async function until(fine: () => boolean): Promise<void> {
  const latest = performance.now() + 60_000;
  while (!fine() && performance.now() < latest) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(fine()).toBe(true);
}

describe('the ledger', () => {
  test('grants as a store in memory does, whatever is asked', async () => {
    const {store} = await open();
    const memory = new MemoryStore();
    const claims = fc.uniqueArray(
      fc.record({
        window: fc.constantFrom('a', 'b', 'c'),
        want: fc.nat(30),
        limit: fc.nat(100),
        least: fc.nat(1),
        endSeconds: fc.constant(end),
      }),
      {minLength: 1, selector: (each) => each.window},
    );
    await fc.assert(
      fc.asyncProperty(claims, async (each) => {
        expect(await store.reserve(each, noonMs)).toEqual(memory.reserve(each, noonMs));
      }),
    );
  });

  test('knows after a restart what was taken, and of bans', async () => {
    const first = await open();
    await first.store.reserve([claim('w', 30)], noonMs);
    first.store.saveBan({hash: 'a', network: 'n', untilSeconds: end, times: 1});
    first.store.saveBan({hash: 'b', network: 'n', untilSeconds: end, times: 1});
    first.store.removeBan({hash: 'b', network: 'n'});
    await first.store.stop();
    const second = await open();
    expect({taken: second.store.taken('w'), bans: second.bans}).toEqual({taken: 30, bans: ['a']});
    expect(await second.store.reserve([claim('w', 100)], noonMs)).toEqual([{granted: 70, taken: 100, returned: 0}]);
  });

  test('of an older Doorplate is read, and knows from then on what was given back', async () => {
    const path = join(folder, 'ledger.db');
    const older = new DatabaseSync(path);
    older.exec(`
      CREATE TABLE windows (window TEXT PRIMARY KEY, ends INTEGER NOT NULL, taken INTEGER NOT NULL) STRICT;
      INSERT INTO windows VALUES ('w', ${end}, 40);
      PRAGMA user_version = 1;
    `);
    older.close();
    const first = await open({path});
    expect(await first.store.reserve([claim('w', 30)], noonMs)).toEqual([{granted: 30, taken: 70, returned: 0}]);
    first.store.giveBack([{window: 'w', endSeconds: end, count: 20}]);
    await first.store.stop();
    const second = await open({path});
    expect(second.store.taken('w')).toBe(50);
    expect(await second.store.reserve([claim('w', 100)], noonMs)).toEqual([{granted: 50, taken: 120, returned: 20}]);
  });

  test('answers when what it granted is on disk, and not before', async () => {
    const {store, errors} = await open();
    await store.reserve([claim('w', 1)], noonMs);
    const other = new DatabaseSync(join(folder, 'ledger.db'), {timeout: 30_000});
    other.exec('BEGIN IMMEDIATE');
    // Nothing can be written now: the ledger must say so, and never "granted".
    const grants = await store.reserve([claim('w', 5)], noonMs);
    expect({grants, errors}).toEqual({
      grants: [{granted: 5, taken: 6, returned: 0, provisional: true}],
      errors: [expect.stringMatching(/cannot be written: database is locked\. Another process writes to it/)],
    });
    expect(other.prepare('SELECT taken FROM windows').all()).toEqual([{taken: 1}]);
    other.exec('COMMIT');
    await until(() => !store.isDown);
    expect(other.prepare('SELECT taken FROM windows').all()).toEqual([{taken: 6}]);
    other.close();
  });

  test('an fsync, or a wait for a lock, does not stop the event loop', async () => {
    const {store} = await open();
    const other = new DatabaseSync(join(folder, 'ledger.db'), {timeout: 30_000});
    other.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const timer = setInterval(() => {
      turns++;
    }, 5);
    const grants = Promise.resolve(store.reserve([claim('w', 5)], noonMs));
    await until(() => turns === 20);
    other.exec('COMMIT');
    clearInterval(timer);
    expect(await grants).toEqual([{granted: 5, taken: 5, returned: 0}]);
    other.close();
  });

  test('writes all that came while it was writing as one', async () => {
    const {store} = await open();
    await Promise.all(Array.from({length: 2000}, (_, i) => store.reserve([claim(`w${i % 10}`, 1, 1000)], noonMs)));
    const pages = statSync(join(folder, 'ledger.db-wal')).size / 4096;
    // A commit writes at least one page: 2000 of them would be more.
    expect(pages).toBeLessThan(100);
  });

  test('writes what was asked for before it closes', async () => {
    const ledger = new Ledger({path: join(folder, 'ledger.db'), clock: new TrustedClock(new VirtualTime())});
    await ledger.open();
    const answers = Promise.allSettled([1, 2, 3].map((want) => ledger.reserve([claim('w', want)])));
    await ledger.close();
    expect((await answers).map((answer) => answer.status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
  });

  test('removes windows that have ended', async () => {
    const {store, time} = await open();
    await store.reserve([claim('ends', 1)], noonMs);
    time.pass(3_601_000);
    await store.reserve([{...claim('lasts', 1), endSeconds: end + 7200}], time.wall);
    const other = new DatabaseSync(join(folder, 'ledger.db'), {timeout: 30_000});
    expect(other.prepare('SELECT window FROM windows').all()).toEqual([{window: 'lasts'}]);
    other.close();
  });

  test('time goes on after a restart from where it was, though the clock was set', async () => {
    for (const jump of [-50, 50].map((hours) => hours * 3_600_000)) {
      const path = join(folder, `${jump}.db`);
      const {store, time} = await open({path});
      await store.reserve([claim('w', 1)], noonMs);
      await store.stop();
      time.pass(10_000);
      time.jump(jump);
      time.monotonic = 0;
      expect(Math.abs((await open({path, time})).clock.nowMs() - (noonMs + 10_000))).toBeLessThanOrEqual(10);
    }
  });
});

function writeNewer(path: string): void {
  const newer = new DatabaseSync(path);
  newer.exec('PRAGMA user_version = 99');
  newer.close();
}

describe('a ledger that cannot be opened', () => {
  test.each<[string, (path: string) => void, RegExp]>([
    [
      'in a folder that is not there',
      (path) => rmSync(dirname(path), {recursive: true}),
      /The folder is missing, or this user may not write/,
    ],
    [
      'that is another file',
      (path) => writeFileSync(path, 'no database. '.repeat(100)),
      /The file is not a ledger: move it/,
    ],
    ['that a newer Doorplate wrote', writeNewer, /a newer Doorplate wrote it in format 99\. Move the file away/],
  ])('%s: the error says what to do, once, and quota is counted all the same', async (_, make, message) => {
    const path = join(folder, 'below', 'ledger.db');
    mkdirSync(dirname(path));
    make(path);
    const {store, errors} = await open({path});
    const limiter = new Limiter({clock: new TrustedClock(new VirtualTime()), store});
    const pool = {id: 'tenant:acme', quota: {requestsPerMinute: 60, requestsPerDay: 1000}};
    let admitted = 0;
    for (let i = 0; i < 100; i++) if ((await limiter.take([pool])).allowed) admitted++;
    expect({admitted, errors}).toEqual({admitted: 60, errors: [expect.stringMatching(message)]});
  });
});

const child = fileURLToPath(new URL('../../../support/limits-child.ts', import.meta.url));

test('its thread is found in the bundle that the image holds', () => {
  const bundle = fileURLToPath(new URL('../../../../cluster/bundle.sh', import.meta.url));
  const [out, admitted] = [join(folder, 'app'), join(folder, 'admitted')];
  execFileSync(bundle, [out, child]);
  execFileSync(process.execPath, [join(out, 'main.js'), join(folder, 'ledger.db'), '50', admitted]);
  expect(statSync(admitted).size).toBe(50);
});

test('a process that is killed again and again admits no more than the limit in all, and loses a block each time at most', async () => {
  const path = join(folder, 'ledger.db');
  const limit = 4000;
  const file = join(folder, 'admitted');
  writeFileSync(file, '');
  const admitted = (): number => statSync(file).size;
  /** Resolves with its exit code, null when it was killed. It kills itself: a parent may look too late. */
  const run = (killAfter: number | null): Promise<number | null> =>
    new Promise((resolve, reject) => {
      const args = ['--disable-warning=ExperimentalWarning', child, path, String(limit), file, String(killAfter ?? '')];
      const running = spawn(process.execPath, args, {stdio: 'inherit'});
      running.on('error', reject);
      running.on('close', resolve);
    });
  const kills = 5;
  for (let kill = 0; kill < kills; kill++) expect(await run(100 + 70 * kill)).toBeNull();
  expect(await run(null)).toBe(0);
  expect(admitted()).toBeLessThanOrEqual(limit);
  // Besides the block, the one that was admitted and not yet written down.
  expect(admitted()).toBeGreaterThanOrEqual(limit - kills * (blockOf(limit) + 1));
});
