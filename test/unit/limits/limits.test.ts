import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {afterEach, beforeEach, expect, test} from '@jest/globals';
import {pino} from 'pino';
import {Registry} from 'prom-client';
import {type LocalLimits, type LimitsStore, startLimits} from '../../../operator/limits/limits.ts';

const user = {hash: 'a'.repeat(64), network: '192.0.2.1'};
const pool = {id: 'tenant:acme', quota: {requestsPerMinute: 100_000, requestsPerDay: 1000}};
let folder: string;
let running: LocalLimits[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-limits-'));
  running = [];
});

afterEach(async () => {
  for (const limits of running) await limits.stop();
  rmSync(folder, {recursive: true});
});

async function start(store: LimitsStore): Promise<{limits: LocalLimits; registry: Registry; lines: string[]}> {
  const registry = new Registry();
  const lines: string[] = [];
  const log = pino({base: undefined}, {write: (line) => lines.push((JSON.parse(line) as {msg: string}).msg)});
  // A ban by the first strike: the seconds of a whole one are tried elsewhere, on virtual time.
  // The ledger may be slow on a busy disk: what is tried here is what it keeps.
  const limits = await startLimits({
    store,
    registry,
    log,
    storeTimeoutMs: 300_000,
    bans: {strikes: 1},
  });
  running.push(limits);
  return {limits, registry, lines};
}

test('a restart in the middle of a day and of a ban: what was used is used, and the ban stands', async () => {
  const store: LimitsStore = {kind: 'Ledger', path: join(folder, 'ledger.db')};
  const first = await start(store);
  for (let i = 0; i < 400; i++) await first.limits.limiter.take([pool]);
  while (first.limits.bans.until(user) === undefined) first.limits.bans.refused(user, {minuteLimit: 1});
  await first.limits.stop();
  const second = await start(store);
  const {dayRemaining} = second.limits.limiter.look([pool]);
  // What was reserved and not used was given back.
  expect(dayRemaining).toBe(600);
  expect(second.limits.bans.until(user)).toBe(first.limits.bans.until(user));
  expect(second.lines).toEqual(['quota is reserved in its store']);
});

test('metrics tell decisions, bans, the store and the clock, and no tenant', async () => {
  const {limits, registry} = await start({kind: 'Ledger', path: join(folder, 'ledger.db')});
  const small = {...pool, quota: {requestsPerMinute: 2, requestsPerDay: 1000}};
  for (let i = 0; i < 5; i++) await limits.limiter.take([small]);
  while (limits.bans.until(user) === undefined) limits.bans.refused(user, {minuteLimit: 1});
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('doorplate_'));
  expect(lines.map((line) => line.replace(/(clock_offset_seconds) .*/, '$1'))).toEqual([
    'doorplate_limit_decisions_total{result="admitted"} 2',
    'doorplate_limit_decisions_total{result="refused"} 3',
    'doorplate_limits_store_up 1',
    'doorplate_limits_store_failures_total 0',
    'doorplate_bans_total 1',
    'doorplate_bans_active 1',
    'doorplate_clock_offset_seconds',
    'doorplate_usage_lost_total 0',
    'doorplate_audit_records_total{result="written"} 0',
    'doorplate_audit_records_total{result="lost"} 0',
  ]);
});

test.each([
  ['without a volume', {kind: 'Memory'} as const, /quota is in memory only: a restart/],
  [
    'with a ledger that cannot be opened',
    {kind: 'Ledger', path: '/nowhere/ledger.db'} as const,
    /quota is in memory only, until/,
  ],
])('%s every request is decided all the same, and the log and a metric say so', async (_, store, message) => {
  const {limits, registry, lines} = await start(store);
  let admitted = 0;
  for (let i = 0; i < 1500; i++) if ((await limits.limiter.take([pool])).allowed) admitted++;
  expect({admitted, lines}).toEqual({admitted: 1000, lines: [expect.stringMatching(message)]});
  expect(await registry.metrics()).toContain('doorplate_limits_store_up 0');
});

const collect = (): void => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
};

test('requests from 200,000 networks keep 48 MiB at most, and the last of them cost no more than the first', async () => {
  const {limits} = await start({kind: 'Memory'});
  /** CPU time of requests from so many networks, in microseconds. */
  const flood = (from: number, to: number): number => {
    const before = process.cpuUsage();
    for (let i = from; i < to; i++)
      void limits.addresses.take([{id: `address:2001:db8:${i.toString(16)}::/64`, quota: {requestsPerMinute: 60}}]);
    const used = process.cpuUsage(before);
    return used.user + used.system;
  };
  collect();
  const before = process.memoryUsage().heapUsed;
  const first = flood(0, 50_000);
  flood(50_000, 150_000);
  const last = flood(150_000, 200_000);
  collect();
  const heldMiB = (process.memoryUsage().heapUsed - before) / 2 ** 20;
  console.log(`${Math.round(heldMiB)} MiB; CPU of the first 50,000 ${first} us, of the last ${last} us`);
  expect({heldMiB: heldMiB < 48, slower: last > 2.5 * first}).toEqual({
    heldMiB: true,
    slower: false,
  });
  expect(limits.addresses.look([pool]).minuteRemaining).toBe(100_000);
});
