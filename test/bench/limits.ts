/**
 * ROW=limits: P9, the CPU that a decision takes beside @fastify/rate-limit; P10, what a million requests are
 * admitted.
 */
import {execFile} from 'node:child_process';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {pino} from 'pino';
import {Registry} from 'prom-client';
import {blockOf} from '../../operator/limits/counter.ts';
import type {Pool} from '../../operator/limits/verdict.ts';
import {type Limits, type LimitsStore, startLimits} from '../../operator/limits/limits.ts';
import {Redis} from '../support/redis.ts';
import {type BenchContext, median, printTable, type Row} from './table.ts';

const subject = fileURLToPath(new URL('./limits-subject.ts', import.meta.url));
/** How many headers each tells: with `refused` Retry-After, too. */
const what = {decision: {ours: 0, peer: 0}, admitted: {ours: 5, peer: 3}, refused: {ours: 6, peer: 4}} as const;
const rounds = 5;
const million = 1_000_000;
const limit = 100_000;

/** In nanoseconds a request. Fastify's keeping of the headers that each tells is taken off, and shown: it is no limiter's. */
async function cpu({say}: BenchContext, folder: string): Promise<boolean> {
  const lines = [
    [
      'CPU ns a request, medians',
      'memory',
      'ledger',
      '@fastify/rate-limit',
      'ledger / @fastify',
      'headers kept by fastify',
      'with these',
    ],
  ];
  const kept: boolean[] = [];
  for (const [each, headers] of Object.entries(what)) {
    const who = ['memory', 'ledger', 'fastify-rate-limit', String(headers.ours), String(headers.peer)];
    const figures = new Map<string, number[]>(who.map((name) => [name, []]));
    for (let round = 1; round <= rounds; round++) {
      for (const name of figures.keys()) {
        const args = ['--disable-warning=ExperimentalWarning', subject, name, each, folder];
        const {stdout} = await promisify(execFile)(process.execPath, args, {timeout: 300_000});
        figures.get(name)!.push((JSON.parse(stdout) as {nsPerRequest: number}).nsPerRequest);
      }
      say(
        `${each}, round ${round} of ${rounds}: ${[...figures].map(([name, ns]) => `${name} ${ns.at(-1)!.toFixed(0)}`).join(', ')}`,
      );
    }
    const [memory = 0, ledger = 0, peer = 0, ofOurs = 0, ofPeers = 0] = who.map((name) => median(figures.get(name)!));
    const ratio = (ledger - ofOurs) / (peer - ofPeers);
    const cells = [memory - ofOurs, ledger - ofOurs, peer - ofPeers].map((ns) => ns.toFixed(0));
    lines.push([
      each,
      ...cells,
      `${ratio.toFixed(2)} ×`,
      `${ofOurs.toFixed(0)}, ${ofPeers.toFixed(0)}`,
      `${(ledger / peer).toFixed(2)} ×`,
    ]);
    kept.push(ratio <= 0.5);
  }
  printTable(lines);
  return kept.every(Boolean);
}

/** A million requests to these replicas, 1,000 at once. What was admitted. */
async function admitted(replicas: readonly Limits[], pool: Pool): Promise<number> {
  let count = 0;
  for (let sent = 0; sent < million; sent += 1000) {
    const turn = (i: number): Limits => replicas[i % replicas.length]!;
    const verdicts = await Promise.all(Array.from({length: 1000}, (_, i) => turn(i).limiter.take([pool])));
    for (const verdict of verdicts) if (verdict.allowed) count++;
  }
  return count;
}

/** Of a day: it does not end in between, unless this runs at midnight UTC. */
const pool: Pool = {id: 'tenant:acme', quota: {requestsPerMinute: 10 * million, requestsPerDay: limit}};

async function overAdmission(name: string, stores: readonly LimitsStore[]): Promise<{cells: string[]; over: number}> {
  const log = pino({level: 'silent'});
  const replicas = await Promise.all(stores.map((store) => startLimits({store, registry: new Registry(), log})));
  const count = await admitted(replicas, pool);
  for (const each of replicas) await each.stop();
  return {cells: [name, String(limit), String(count), String(count - limit)], over: count - limit};
}

export const run: Row = async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'doorplate-bench-'));
  const redis = await Redis.start();
  try {
    const cheap = await cpu(context, folder);
    const valkey = {kind: 'Valkey' as const, url: redis.url, replicas: 2};
    const memory = await overAdmission('one replica, memory', [{kind: 'Memory'}]);
    const ledger = await overAdmission('one replica, ledger', [{kind: 'Ledger', path: join(folder, 'over.db')}]);
    const two = await overAdmission('two replicas, a real redis-server', [valkey, valkey]);
    printTable([['a million requests', 'limit', 'admitted', 'over'], memory.cells, ledger.cells, two.cells]);
    const exact = memory.over === 0 && ledger.over === 0 && Math.abs(two.over) <= 2 * blockOf(limit);
    const well = cheap && exact;
    const promise = "a decision at most 0.5 × the peer's CPU; none too many on one node, a block each on two";
    context.say(`limits: ${well ? 'reached' : 'MISSED'}: ${promise}`);
    return well;
  } finally {
    await redis.kill();
    await rm(folder, {recursive: true});
  }
};
