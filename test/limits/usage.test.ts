/** Usage, in each of the three places where it is kept. */
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import {TrustedClock} from '../../operator/limits/clock.ts';
import {Ledger} from '../../operator/limits/ledger/ledger.ts';
import {
  dayMs,
  dayOf,
  MemoryUsage,
  mostSeries,
  otherKeys,
  type Usage,
  type UsageCount,
  UsageCounter,
  type UsageStore,
  usageDays,
} from '../../operator/limits/usage.ts';
import {Valkey} from '../../operator/limits/valkey/valkey.ts';
import {Redis} from '../support/redis.ts';

let redis: Redis;
let folder: string;
let closers: (() => Promise<void>)[];
let prefixes = 0;
beforeAll(async () => {
  redis = await Redis.start();
});
afterAll(async () => {
  await redis.kill();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-usage-'));
  closers = [];
});
afterEach(async () => {
  for (const close of closers) await close();
  rmSync(folder, {recursive: true});
});

const noon = Date.UTC(2026, 5, 15, 12);
const today = dayOf(noon);
const everything = {since: today - 100, until: today + 5};

async function openLedger(): Promise<Ledger> {
  const ledger = new Ledger({path: join(folder, 'ledger.sqlite'), clock: new TrustedClock()});
  await ledger.open();
  closers.push(() => ledger.close());
  return ledger;
}

const stores: Record<string, () => Promise<UsageStore>> = {
  memory: async () => new MemoryUsage(),
  ledger: openLedger,
  Valkey: async () => {
    const valkey = new Valkey({url: redis.url, prefix: `usage-${prefixes++}`});
    await valkey.open();
    closers.push(() => valkey.close());
    return valkey.usage;
  },
};

const acme: Omit<Usage, 'scope'> = {namespaceUID: 'uid-acme', namespace: 'acme', account: 'acme-inc', key: 'ci'};
const count = (more: Partial<UsageCount> = {}): UsageCount => ({
  ...acme,
  scope: 'domains:read',
  day: today,
  requests: 1,
  ...more,
});
/** A count as `KEY SCOPE DAY REQUESTS`, the day relative to today. */
const shown = (counts: readonly UsageCount[]): string[] =>
  counts.map(({key, scope, day, requests}) => `${key} ${scope} ${day - today} ${requests}`).toSorted();

/** A counter on a clock that is set. */
function counter(store: UsageStore, failures: Error[] = []) {
  const clock = {nowMs: noon};
  const usage = new UsageCounter({store, now: () => clock.nowMs, onFailure: (error) => failures.push(error)});
  const key = {};
  return {
    clock,
    usage,
    request: (scope = 'domains:read', holder: object = key) => usage.count(holder, scope, () => acme),
  };
}

describe.each(Object.entries(stores))('In %s', (_, open) => {
  test('requests are counted by key, scope and day', async () => {
    const {clock, usage, request} = counter(await open());
    request();
    request();
    request('keys:write');
    await usage.store();
    request();
    clock.nowMs += dayMs;
    request();
    // The object of a key changes with its status.
    request('domains:read', {});
    expect(shown(await usage.of('uid-acme', everything))).toEqual([
      'ci domains:read 0 3',
      'ci domains:read 1 2',
      'ci keys:write 0 1',
    ]);
    expect(shown(await usage.of('uid-acme', {since: today + 1, until: today + 1}))).toEqual(['ci domains:read 1 2']);
  });

  test('a namespace shows nothing of another, nor of one of the same name before it', async () => {
    const store = await open();
    await store.addUsage([count(), count({namespaceUID: 'uid-other', namespace: 'other', requests: 7})], 'one');
    expect(shown(await store.usageOf('uid-other', everything))).toEqual(['ci domains:read 0 7']);
    expect(await store.usageOf('uid-acme-2', everything)).toEqual([]);
  });

  test('all namespaces are found, page by page', async () => {
    const store = await open();
    const uids = ['a', 'b', 'c', 'd', 'e'];
    await store.addUsage(
      uids.map((namespaceUID) => count({namespaceUID})),
      'one',
    );
    const range = {since: today - 40, until: today};
    expect(await store.usingNamespaces(range, '', 2)).toEqual(['a', 'b']);
    expect(await store.usingNamespaces(range, 'b', 2)).toEqual(['c', 'd']);
    expect(await store.usingNamespaces(range, 'd', 2)).toEqual(['e']);
  });

  test('beyond 500 keys and scopes of a day the rest is counted together, and nothing is lost', async () => {
    const store = await open();
    const keys = Array.from({length: mostSeries + 20}, (__, i) => count({key: `key-${i}`, requests: 2}));
    for (let i = 0; i < keys.length; i += 100) await store.addUsage(keys.slice(i, i + 100), `batch-${i}`);
    // One that is counted separately still is.
    await store.addUsage([count({key: 'key-0'}), count({namespaceUID: 'uid-other'})], 'last');
    const counts = await store.usageOf('uid-acme', everything);
    expect(counts).toHaveLength(mostSeries + 1);
    expect(shown(counts.filter(({key}) => [otherKeys, 'key-0'].includes(key)))).toEqual([
      `${otherKeys}  0 40`,
      'key-0 domains:read 0 3',
    ]);
    expect(shown(await store.usageOf('uid-other', everything))).toEqual(['ci domains:read 0 1']);
  });
});

describe('The ledger', () => {
  test('keeps usage when its process dies, and forgets days that are too old', async () => {
    const ledger = await openLedger();
    await ledger.addUsage([count({day: today - usageDays + 1}), count({day: today - usageDays})]);
    await ledger.addUsage([count()]);
    const after = await openLedger();
    expect(shown(await after.usageOf('uid-acme', everything))).toEqual([
      `ci domains:read ${1 - usageDays} 1`,
      'ci domains:read 0 1',
    ]);
  });
});

describe('Valkey', () => {
  test('counts a batch once, however often it is sent', async () => {
    const store = await stores.Valkey!();
    await store.addUsage([count()], 'same');
    await store.addUsage([count()], 'same');
    await store.addUsage([count()], 'another');
    expect(shown(await store.usageOf('uid-acme', everything))).toEqual(['ci domains:read 0 2']);
  });
});

describe('A store that fails', () => {
  test('gets every request later, once', async () => {
    const memory = new MemoryUsage();
    let isDown = true;
    const batches: string[] = [];
    const failing: UsageStore = {
      addUsage: async (counts, batch) => {
        batches.push(batch);
        if (isDown) throw new Error('down');
        await memory.addUsage(counts);
      },
      usageOf: (uid, range) => memory.usageOf(uid, range),
      usingNamespaces: (...args) => memory.usingNamespaces(...args),
    };
    const failures: Error[] = [];
    const {usage, request} = counter(failing, failures);
    request();
    await expect(usage.store()).rejects.toThrow('down');
    request();
    await expect(usage.of('uid-acme', everything)).rejects.toThrow('down');
    isDown = false;
    request();
    expect(shown(await usage.of('uid-acme', everything))).toEqual(['ci domains:read 0 3']);
    // The failed batch may have been counted, so the same batch is sent again.
    expect(new Set(batches.slice(0, 3)).size).toBe(1);
    expect(failures).toHaveLength(2);
  });
});
