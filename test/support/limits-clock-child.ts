/**
 * Limits with their ledger, or with Valkey, in a process whose clock a test sets: `node limits-clock-child.ts LEDGER|URL`. Answers each
 * line on stdin
 * with a line of JSON: `take N` asks for N requests, `strike` gets a key banned if it is not, `look` only looks.
 */
import {createInterface} from 'node:readline';
import {pino} from 'pino';
import {Registry} from 'prom-client';
import {startLimits} from '../../operator/limits/limits.ts';

const user = {hash: 'a'.repeat(64), network: '192.0.2.1'};
const [, , where = '', perMinute = '100000', id = 'tenant:acme'] = process.argv;
const pool = {id, quota: {requestsPerMinute: Number(perMinute), requestsPerDay: 1000}};
const limits = await startLimits({
  storeTimeoutMs: 300_000,
  store: where.startsWith('redis:') ? {kind: 'Valkey', url: where, replicas: 2} : {kind: 'Ledger', path: where},
  registry: new Registry(),
  log: pino({level: 'silent'}),
  bans: {strikes: 1},
});

const {bans, clock} = limits;

function strike(): void {
  while (bans.until(user) === undefined) bans.refused(user, {minuteLimit: 1});
}

for await (const line of createInterface({input: process.stdin})) {
  const [word, count = '0'] = line.split(' ');
  let admitted = 0;
  for (let i = 0; i < Number(count); i++) if ((await limits.limiter.take([pool])).allowed) admitted++;
  if (word === 'strike') strike();
  const {dayRemaining, dayEnd} = limits.limiter.look([pool]);
  const answer = {
    admitted,
    remaining: dayRemaining,
    resetAtSeconds: dayEnd,
    bannedUntil: bans.until(user) ?? null,
    clockSeconds: Date.now() / 1000,
    trustedSeconds: clock.nowMs() / 1000,
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await limits.stop();
