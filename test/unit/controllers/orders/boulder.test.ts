/** Our budgets beside a model of Let's Encrypt's, over random histories. */
import {afterEach, beforeEach, expect, test} from '@jest/globals';
import {OrderQueue} from '../../../../operator/controllers/orders/order-queue.ts';
import type {Budgets, Order} from '../../../../operator/domain/certificates/budget.ts';
import {spentBy} from '../../../../operator/domain/certificates/budget.ts';
import type {OrderRequest} from '../../../../operator/domain/certificates/issuance.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {Boulder} from '../../../support/boulder.ts';
import {SimulatedClock} from '../../../support/simulated-clock.ts';
import {minutes, seconds, t0} from '../../../support/world.ts';

const histories = Number(process.env.HISTORIES ?? 1_000);
const firstSeed = Number(process.env.SEED ?? 0);

/** With few orders for the account, or so many that the registered domains are scarce. */
const budgetsOf = (seed: number): Budgets => ({
  account: [{limit: seed % 2 === 0 ? 8 : 40, perMs: 80 * minutes}],
  registeredDomain: [{limit: 4, perMs: 200 * minutes}],
  certificates: [{limit: 3, perMs: 300 * minutes}],
  authorizations: [{limit: 3, perMs: 60 * minutes}],
  failures: [{limit: 2, perMs: 60 * minutes}],
  countRenewals: false,
});
const bucketOf = ([l]: readonly {limit: number; perMs: number}[]) => ({burst: l!.limit, periodMs: l!.perMs});
const limitsOf = (budgets: Budgets) => ({
  newOrdersPerAccount: bucketOf(budgets.account),
  certificatesPerDomain: bucketOf(budgets.registeredDomain),
  certificatesPerNames: bucketOf(budgets.certificates),
  failedAuthorizations: bucketOf(budgets.authorizations),
});

/** Mulberry32, a small generator with a seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

let clock: SimulatedClock;
beforeEach(() => {
  clock = new SimulatedClock(t0);
});
afterEach(() => {
  clock.stop();
});

interface Outcome {
  refused: string[];
  granted: number;
  /** Time in which hostnames waited for a bucket, and the part of it in which the CA's bucket was full and regained nothing, ms. */
  waited: Record<string, number>;
  unused: Record<string, number>;
}

function history(seed: number, outcome: Outcome): void {
  const next = random(seed);
  const pick = (n: number) => Math.floor(next() * n);
  const budgets = budgetsOf(seed);
  const boulder = new Boulder(limitsOf(budgets));
  const holders = new Map<string, string>();
  let queue: OrderQueue;
  /** Orders without an end, and requests that wait, by hostname. */
  const under = new Map<string, Order | undefined>();
  const waiting = new Map<string, OrderRequest>();
  const start = () => {
    queue = new OrderQueue({
      issuer: 'letsencrypt',
      budgets,
      unheardAfterMs: 30 * minutes,
      tenantOf: (hostname) => holders.get(hostname),
    });
    queue.onChange((owner) => take(owner));
  };
  const restart = () => {
    const before = queue;
    before.stop();
    start();
    for (const hostname of holders.keys()) queue.recall(hostname, before.orders(hostname));
    for (const [hostname, order] of under) {
      if (order) queue.observe(hostname, hostname, order, true);
      else queue.standing(hostname, holders.get(hostname)!, {hostname, certificate: hostname, since: clock.now});
    }
    for (const [hostname, request] of waiting) queue.enter(hostname, holders.get(hostname)!, request);
    for (const [hostname, request] of waiting) {
      queue.keep(hostname, holders.get(hostname)!, [request]);
      take(hostname);
    }
  };
  const take = (hostname: string) => {
    const tenant = holders.get(hostname)!;
    if (under.has(hostname) || queue.grant(hostname)?.kind !== 'Granted') return;
    under.set(hostname, undefined);
    waiting.delete(hostname);
    outcome.granted++;
    const ends = pick(10);
    clock.after(pick(5) * seconds, () => {
      const domain = hostname.slice(hostname.indexOf('.') + 1);
      const refusal = boulder.newOrder(hostname, domain, clock.now);
      if (refusal !== undefined) outcome.refused.push(`${seed} ${refusal}`);
      const order: Order = {at: timestamp(clock.now), outcome: 'Pending', issuer: 'letsencrypt'};
      under.set(hostname, order);
      queue.observe(hostname, hostname, order, true);
      queue.keep(hostname, tenant, []);
      clock.after((1 + pick(30)) * seconds, () => {
        under.delete(hostname);
        const endedAt = timestamp(clock.now);
        if (ends < 7) boulder.issue(hostname, domain, clock.now);
        else boulder.fail(hostname, clock.now);
        queue.observe(hostname, hostname, {...order, outcome: ends < 7 ? 'Issued' : 'Failed', endedAt}, true);
      });
    });
  };
  const want = (hostname: string) => {
    const tenant = `t${pick(3)}`;
    if (under.has(hostname)) return;
    holders.set(hostname, tenant);
    const spent = spentBy(queue.orders(hostname), budgets, {now: clock.now, tenant});
    if (spent) return;
    const request: OrderRequest = {hostname, certificate: hostname, state: 'Wanted', since: clock.now};
    waiting.set(hostname, request);
    queue.keep(hostname, tenant, [request]);
    take(hostname);
  };
  const note = (of: string, isFull: boolean) => {
    outcome.waited[of] = (outcome.waited[of] ?? 0) + minutes;
    if (isFull) outcome.unused[of] = (outcome.unused[of] ?? 0) + minutes;
  };
  /** Passes a minute. Notes which hostnames wait, and whether the CA's bucket is full meanwhile. */
  const minute = () => {
    clock.pass(minutes);
    const domains = new Set<string>();
    let isAccountFull: boolean | undefined;
    for (const hostname of waiting.keys()) {
      const kind = queue.grant(hostname)?.kind;
      if (kind === 'Queued') isAccountFull = boulder.isFull('account', clock.now);
      if (kind === 'Exhausted') domains.add(hostname.slice(hostname.indexOf('.') + 1));
    }
    const fulls = [...domains].map((domain) => boulder.isFull(`domain ${domain}`, clock.now));
    if (isAccountFull !== undefined) note('account', isAccountFull);
    // Where the account is waited for, the room of a domain is of no use.
    else for (const isFull of fulls) note('domain', isFull);
  };
  start();
  for (let i = 0; i < 30; i++) {
    for (let n = pick(4); n > 0; n--) want(`h${pick(6)}.d${pick(4)}example.com`);
    for (let n = pick(8); n > 0; n--) minute();
    if (pick(15) === 0) restart();
  }
  queue!.stop();
}

test(`over ${histories} random histories, no order is granted that the CA refuses, and at most 5 % of its capacity is unused`, () => {
  const outcome: Outcome = {refused: [], granted: 0, waited: {}, unused: {}};
  for (let seed = firstSeed; seed < firstSeed + histories; seed++) history(seed, outcome);
  expect(outcome.refused).toEqual([]);
  expect(outcome.granted).toBeGreaterThan(10 * histories);
  for (const bucket of ['account', 'domain']) {
    expect(outcome.waited[bucket]).toBeGreaterThan(histories * minutes);
    expect((outcome.unused[bucket] ?? 0) / outcome.waited[bucket]!).toBeLessThan(0.05);
  }
  if (process.env.HISTORIES) console.log(outcome);
});
