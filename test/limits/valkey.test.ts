import {afterAll, afterEach, beforeAll, describe, expect, test} from '@jest/globals';
import {createClient} from '@redis/client';
import * as fc from 'fast-check';
import {pino} from 'pino';
import {Registry} from 'prom-client';
import type {Bans} from '../../operator/limits/bans.ts';
import {blockOf} from '../../operator/limits/counter.ts';
import type {Pool} from '../../operator/limits/verdict.ts';
import {type LocalLimits, startLimits} from '../../operator/limits/limits.ts';
import {MemoryStore} from '../../operator/limits/store.ts';
import {Valkey} from '../../operator/limits/valkey/valkey.ts';
import {freePort} from '../support/free-ports.ts';
import {patience} from '../support/patience.ts';
import {Redis} from '../support/redis.ts';
import {SwallowingProxy} from '../support/swallowing-proxy.ts';

let redis: Redis;
let started: {limits: LocalLimits; registry: Registry}[] = [];
let prefixes = 0;

beforeAll(async () => {
  redis = await Redis.start();
});

afterEach(async () => {
  for (const {limits} of started) await limits.stop();
  started = [];
});

afterAll(async () => {
  await redis.kill();
});

/** Three minutes of strikes are not needed here. */
const atOnce = {strikes: 1};

/** Replicas that share a part of the server that nobody else has. A busy machine's answer that is late is waited for, unless told otherwise. */
async function replicas(
  count: number,
  {prefix = `test-${prefixes++}`, storeTimeoutMs = 60_000}: {prefix?: string; storeTimeoutMs?: number | undefined} = {},
): Promise<LocalLimits[]> {
  for (let i = 0; i < count; i++) {
    const registry = new Registry();
    const store = {kind: 'Valkey' as const, url: redis.url, replicas: count, prefix};
    const log = pino({level: 'silent'});
    started.push({registry, limits: await startLimits({store, registry, bans: atOnce, log, storeTimeoutMs})});
  }
  return started.slice(-count).map((each) => each.limits);
}

const metric = async (name: string): Promise<(number | undefined)[]> =>
  Promise.all(started.map(async ({registry}) => (await registry.getSingleMetric(name)!.get()).values[0]?.value));

/** Of a window that does not end while a test runs: the day is long, and a minute admits more. */
const pool = (id: string, requestsPerDay: number): Pool => ({
  id: `tenant:${id}`,
  quota: {requestsPerMinute: 1_000_000, requestsPerDay},
});

async function admitted(limits: LocalLimits, pools: readonly Pool[], requests: number): Promise<number> {
  const verdicts = await Promise.all(Array.from({length: requests}, () => limits.limiter.take(pools)));
  return verdicts.filter((verdict) => verdict.allowed).length;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Waits for what must come, a minute at most. */
async function until(fine: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + patience(60_000);
  while (!(await fine()) && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await fine()).toBe(true);
}

const bothUp = async (): Promise<boolean> => (await metric('doorplate_limits_store_up')).every((value) => value === 1);

describe('two replicas', () => {
  test('together admit exactly the limit', async () => {
    const both = await replicas(2);
    const counts = await Promise.all(both.map((each) => admitted(each, [pool('a', 1000)], 3000)));
    expect(sum(counts)).toBe(1000);
    expect(both.map((each) => each.limiter.decisions)).toEqual(
      counts.map((count) => ({admitted: count, refused: 3000 - count})),
    );
  });

  test('use up the block that one of them still has when the other has none', async () => {
    const [a, b] = await replicas(2);
    const acme = pool('a', 1000);
    expect(await admitted(a!, [acme], 1)).toBe(1);
    const rest = await admitted(b!, [acme], 2000);
    expect(rest).toBeGreaterThanOrEqual(1000 - blockOf(1000) - 1);
    expect(rest + 1 + (await admitted(a!, [acme], 2000))).toBe(1000);
  });

  test('take nothing from the minute when the day is used up', async () => {
    const [a, b] = await replicas(2);
    const small: Pool = {id: 'tenant:a', quota: {requestsPerMinute: 1_000_000, requestsPerDay: 10}};
    await admitted(a!, [small], 20);
    await admitted(b!, [small], 20);
    // What was taken for the ten requests is a block of each replica's at most.
    const {minuteLimit, minuteRemaining} = b!.limiter.look([small]);
    expect(minuteLimit - minuteRemaining).toBeLessThanOrEqual(blockOf(1_000_000) + 10);
  });
});

describe('a server that is killed', () => {
  test('fails no request: each replica admits its share, a metric reports it, and the server is used again when it is back', async () => {
    const both = await replicas(2);
    const acme = pool('a', 1000);
    expect(sum(await Promise.all(both.map((each) => admitted(each, [acme], 100))))).toBe(200);
    await redis.kill();
    const counts = await Promise.all(both.map((each) => admitted(each, [acme], 2000)));
    expect(counts).toEqual([400, 400]);
    expect(await metric('doorplate_limits_store_up')).toEqual([0, 0]);
    expect(await metric('doorplate_limits_store_failures_total')).toEqual([1, 1]);
    // It comes back empty: what the replicas know is counted all the same, but for the other's last block, of which one may not know.
    await redis.start();
    await until(bothUp);
    expect(sum(await Promise.all(both.map((each) => admitted(each, [acme], 500))))).toBeLessThanOrEqual(
      2 * blockOf(1000),
    );
  });

  test('under load: two replicas admit too much by a block each at most', async () => {
    const both = await replicas(2);
    const acme = pool('a', 20_000);
    let killed = false;
    const load = async (each: LocalLimits): Promise<number> => {
      let count = 0;
      for (let i = 0; i < 400; i++) {
        count += await admitted(each, [acme], 100);
        if (i === 40 && !killed) {
          killed = true;
          await redis.kill();
        }
        if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return count;
    };
    const total = sum(await Promise.all(both.map(load)));
    await redis.start();
    await until(bothUp);
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThanOrEqual(20_000 + 2 * blockOf(20_000));
  });
});

/** Starts with the server at this URL, and gives the lines of the log. */
async function logOf(url: string): Promise<string[]> {
  const lines: string[] = [];
  const log = pino({}, {write: (line: string) => void lines.push(line)});
  const registry = new Registry();
  started.push({registry, limits: await startLimits({store: {kind: 'Valkey', url, replicas: 1}, registry, log})});
  return lines;
}

describe('a server that cannot be asked is told in the log with its cause, and without the password', () => {
  test.each([
    ['the password is missing', 'NOAUTH', () => redis.url.replace(/:[^:@]*@/, '')],
    ['the password is wrong', 'WRONGPASS', () => redis.url.replace('@', 'x@')],
    ['nothing listens', 'ECONNREFUSED', async () => redis.url.replace(/\d+$/, String(await freePort()))],
  ])('%s: %s', async (_, cause, of) => {
    const url = await of();
    const lines = await logOf(url);
    await until(() => lines.some((line) => line.includes(cause)));
    expect(lines.join('')).not.toContain(new URL(redis.url).password);
  });

  test('it has gone away: ECONNREFUSED', async () => {
    const lines = await logOf(redis.url);
    await redis.kill();
    const told = () => lines.filter((line) => line.includes('ECONNREFUSED')).length;
    await until(async () => {
      await admitted(started.at(-1)!.limits, [pool('away', 1000)], 1000);
      return told() > 0;
    });
    expect(told()).toBe(1);
    await redis.start();
  });
});

test('a server that falls silent without closing the connection is connected to anew, and used again', async () => {
  const proxy = await SwallowingProxy.start(redis.port);
  try {
    const url = redis.url.replace(/\d+$/, String(proxy.port));
    const registry = new Registry();
    const store = {kind: 'Valkey' as const, url, replicas: 1, prefix: 'swallowed'};
    const log = pino({level: 'silent'});
    const limits = await startLimits({store, registry, log, storeTimeoutMs: 1000});
    started.push({registry, limits});
    const acme = pool('a', 1000);
    expect(await admitted(limits, [acme], 100)).toBe(100);
    proxy.swallow();
    const since = performance.now();
    // No request waits for longer than the store may be silent, and none fails.
    expect(await admitted(limits, [acme], 400)).toBe(400);
    await until(async () => proxy.connections > 1 && (await bothUp()));
    console.log(`used again ${Math.round(performance.now() - since)} ms after it was swallowed`);
    await limits.records.put(record('after'), Date.now());
    expect(await limits.records.get('after')).toBe('of after');
    expect(await admitted(limits, [acme], 1000)).toBeLessThanOrEqual(500);
  } finally {
    await proxy.stop();
  }
});

test.each([
  ['a node of a cluster', 'cluster-enabled yes'],
  ['a replica', 'replicaof 127.0.0.1 1'],
])('%s is refused, and the log says what to do', async (what, configuration) => {
  const other = await Redis.start(configuration);
  try {
    const lines = await logOf(other.url);
    await until(() => lines.some((line) => line.includes(`valkey.url names ${what}`)));
    expect(lines.join('')).toContain('name one server, or an address that always leads to the primary');
  } finally {
    await other.kill();
  }
});

test('a server that hangs delays no request for long, and is used again when it answers', async () => {
  const [a] = await replicas(1, {storeTimeoutMs: 1000});
  const acme = pool('a', 1000);
  expect(await admitted(a!, [acme], 100)).toBe(100);
  redis.freeze();
  expect(await admitted(a!, [acme], 400)).toBe(400);
  redis.resume();
  await until(bothUp);
  const rest = await admitted(a!, [acme], 1000);
  // What was on its way when it hung was counted and not used.
  expect(rest).toBeLessThanOrEqual(500);
  expect(rest).toBeGreaterThanOrEqual(500 - blockOf(1000));
});

const hash = 'a'.repeat(64);
const user = {hash, network: '192.0.2.1'};

/** A key that does not care. Bans begin by the first strike here. */
function strike(bans: Bans): void {
  while (bans.until(user) === undefined) bans.refused(user, {minuteLimit: 1});
}

describe('bans', () => {
  test('of one replica apply in the other, and either can lift them', async () => {
    const [a, b] = await replicas(2);
    const told: string[] = [];
    b!.bans.onChange((each) => told.push(each));
    strike(a!.bans);
    await until(() => b!.bans.until(user) !== undefined);
    expect({same: b!.bans.until(user) === a!.bans.until(user), told}).toEqual({same: true, told: [hash]});
    b!.bans.lift(hash);
    await until(() => a!.bans.until(user) === undefined);
    expect(await metric('doorplate_bans_active')).toEqual([0, 0]);
  });

  test('still apply when the server is killed and comes back empty', async () => {
    const [a, b] = await replicas(2, {prefix: 'killed'});
    strike(a!.bans);
    await until(() => b!.bans.until(user) !== undefined);
    await redis.kill();
    expect(b!.bans.until(user)).toBeDefined();
    await redis.start();
    await until(bothUp);
    const [late] = await replicas(1, {prefix: 'killed'});
    await until(() => late!.bans.until(user) !== undefined);
    expect([a, b].map((each) => each!.bans.until(user))).toEqual([late!.bans.until(user), late!.bans.until(user)]);
  });
});

test('the script grants what the store in memory grants, for random requests', async () => {
  const valkey = new Valkey({url: redis.url, prefix: 'model'});
  await valkey.open();
  const memory = new MemoryStore();
  const end = Math.ceil(Date.now() / 1000) + 3600;
  const claims = fc.uniqueArray(
    fc.record({
      window: fc.constantFrom('a', 'b', 'c'),
      want: fc.nat(30),
      limit: fc.nat(100),
      least: fc.nat(1),
      singly: fc.nat(20),
      endSeconds: fc.constant(end),
      known: fc.nat(20),
      knownReturned: fc.nat(5),
      owed: fc.integer({min: -2, max: 2}),
    }),
    {minLength: 1, selector: (each) => each.window},
  );
  try {
    await fc.assert(
      fc.asyncProperty(claims, async (each) => {
        expect(await valkey.reserve(each, Date.now())).toEqual(memory.reserve(each, Date.now()));
      }),
    );
  } finally {
    await valkey.close();
  }
});

const record = (name: string, seconds = 60) => ({
  name,
  text: `of ${name}`,
  endsSeconds: Math.floor(Date.now() / 1000) + seconds,
});

describe('Records of several replicas', () => {
  test('are shared, and of several that take one only one gets it', async () => {
    const [one, two] = await replicas(2);
    await one!.records.put(record('a'), Date.now());
    expect(await two!.records.get('a')).toBe('of a');
    const taken = await Promise.all([one, two, one, two].map((each) => each!.records.take('a')));
    expect(taken.filter((text) => text !== undefined)).toEqual(['of a']);
    expect(await one!.records.get('a')).toBeUndefined();
    const claimed = await Promise.all(
      [one, two, one, two].map((each) => each!.records.claim(record('claimed'), Date.now())),
    );
    expect(claimed.filter((there) => there === undefined).length).toBe(1);
    expect(claimed.filter((there) => there === 'of claimed').length).toBe(3);
  });

  test('of a group are listed by every replica until they end or are taken, and the list ends with the last one', async () => {
    const [one, two] = await replicas(2);
    const put = (name: string, seconds: number, group = 'g'): Promise<void> =>
      one!.records.put({...record(name, seconds), group}, Date.now());
    await put('kind:long', 60);
    await put('kind:taken', 50);
    await put('kind:short', 1);
    await put('kind:other', 60, 'h');
    await put('other:long', 60);
    const names = async (): Promise<string[]> =>
      (await two!.records.list('kind', 'g')).map(({name, text}) => `${name} ${text}`).toSorted();
    expect(await names()).toEqual(['kind:long of kind:long', 'kind:short of kind:short', 'kind:taken of kind:taken']);
    await two!.records.take('kind:taken');
    await until(async () => (await names()).length === 1);
    expect(await names()).toEqual(['kind:long of kind:long']);
    const client = await createClient({url: redis.url}).connect();
    const keys = await client.keys('*group:kind:*');
    const spans = await Promise.all(keys.map((key) => client.ttl(key)));
    client.destroy();
    expect(spans.map((seconds) => seconds > 50 && seconds <= 60)).toEqual([true, true]);
  });

  test('expire', async () => {
    const [one] = await replicas(1);
    await one!.records.put(record('short', 1), Date.now());
    expect(await one!.records.get('short')).toBe('of short');
    await until(async () => (await one!.records.get('short')) === undefined);
  });

  test('are not reported as gone while the server is away', async () => {
    const [one] = await replicas(1);
    await one!.records.put(record('kept'), Date.now());
    await redis.kill();
    await expect(one!.records.get('kept')).rejects.toBeInstanceOf(Error);
    await redis.start();
  });
});
