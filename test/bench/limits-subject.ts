/**
 * One measurement of ROW=limits in a process of its own: `node limits-subject.ts WHO WHAT FOLDER`, for 100 tenants in
 * turn. WHO: memory, ledger, fastify-rate-limit, or a number: what the loop takes, and fastify's reply to keep so many
 * headers. WHAT: `decision` alone, `admitted` (a decision and its headers, as the hook of fastify does it), `refused`
 * (the same, where nothing is left). Prints CPU time a request, all threads together.
 */
import {join} from 'node:path';
import rateLimit from '@fastify/rate-limit';
import fastify from 'fastify';
import {pino} from 'pino';
import {Registry} from 'prom-client';
import {limitHeaders} from '../../operator/limits/headers.ts';
import type {QuotaVerdict} from '../../operator/limits/verdict.ts';
import {type LimitsStore, startLimits} from '../../operator/limits/limits.ts';

interface Request {
  tenant: string;
  routeOptions: object;
}

/** Keeps headers as fastify's Reply does (lib/reply.js). */
class Reply {
  kept: Record<string, unknown> = {};

  header(name: string, value: unknown): this {
    this.kept[name.toLowerCase()] = value;
    return this;
  }

  headers(all: Record<string, unknown>): this {
    for (const name of Object.keys(all)) this.header(name, all[name]);
    return this;
  }
}

type Hook = (request: Request, reply: Reply) => unknown;

const [who, what, folder = ''] = process.argv.slice(2);
const nobody = Number.isInteger(Number(who));
const requests = 2_000_000;
const perMinute = what === 'refused' ? 1 : 1_000_000;
const tenants = Array.from({length: 100}, (_, i) => `tenant:${i}`);

/** What to answer a refused request is the API's business; the peer throws an error. */
function tell(verdict: QuotaVerdict, reply: Reply): boolean {
  reply.headers(limitHeaders(verdict));
  return verdict.allowed;
}

async function ours(): Promise<Hook> {
  const path = join(folder, `${process.pid}.db`);
  const store: LimitsStore = who === 'ledger' ? {kind: 'Ledger', path} : {kind: 'Memory'};
  const {limiter} = await startLimits({store, registry: new Registry(), log: pino({level: 'silent'})});
  const quota = {requestsPerMinute: perMinute, requestsPerDay: 100_000_000};
  const pools = new Map(tenants.map((id) => [id, [{id, quota}]]));
  if (what === 'decision') return (request) => limiter.take(pools.get(request.tenant)!);
  return (request, reply) => {
    const verdict = limiter.take(pools.get(request.tenant)!);
    return verdict instanceof Promise ? verdict.then((decided) => tell(decided, reply)) : tell(verdict, reply);
  };
}

async function peer(): Promise<Hook> {
  const app = fastify();
  await app.register(rateLimit, {global: false, cache: 10_000});
  const options = {max: perMinute, timeWindow: 60_000, keyGenerator: (request: unknown) => (request as Request).tenant};
  return (what === 'decision' ? app.createRateLimit(options) : app.rateLimit(options)) as unknown as Hook;
}

/** How many were refused. */
async function run(hook: Hook, count: number): Promise<number> {
  let refused = 0;
  for (let i = 0; i < count; i++) {
    const reply = new Reply();
    try {
      const answer = hook({tenant: tenants[i % 100]!, routeOptions: {}}, reply);
      if ((answer instanceof Promise ? await answer : answer) === false) refused++;
    } catch {
      refused++;
    }
    const told = reply.kept['x-ratelimit-remaining'] !== undefined || what === 'decision' || nobody;
    if (!told) throw new Error('headers are missing');
  }
  return refused;
}

/** The names of the peer's come first, then ours beside them. */
const headers = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'retry-after',
  'ratelimit-policy',
  'ratelimit',
];

/** Keeps so many headers, in turn those of some requests, and decides nothing. */
function keeper(count: number): Hook {
  const told = Array.from({length: 1000}, (_, i) =>
    Object.fromEntries(headers.slice(0, count).map((name) => [name, `${name} ${i}`])),
  );
  let next = 0;
  return (_, reply) => void reply.headers(told[next++ % told.length]!);
}

const hook = nobody ? keeper(Number(who)) : await (who === 'fastify-rate-limit' ? peer() : ours());
await run(hook, requests / 5);
// What else the machine does falls on some of the rounds: the least is what it takes.
let nsPerRequest = Infinity;
for (let round = 0; round < 5; round++) {
  const before = process.cpuUsage();
  const refused = await run(hook, requests / 5);
  if (!nobody && refused > 0 !== (what === 'refused')) throw new Error(`${refused} of ${requests / 5} were refused`);
  const {user, system} = process.cpuUsage(before);
  nsPerRequest = Math.min(nsPerRequest, ((user + system) * 1000) / (requests / 5));
}
console.log(JSON.stringify({nsPerRequest}));
process.exit(0);
