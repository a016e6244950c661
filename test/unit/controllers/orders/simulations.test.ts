/** Whole platforms in simulated time, at Let's Encrypt's limits: how long a newcomer waits, and what its message says. */
import {afterEach, beforeEach, describe, expect, test} from '@jest/globals';
import {OrderQueue} from '../../../../operator/controllers/orders/order-queue.ts';
import type {OrderGrant} from '../../../../operator/domain/certificates/budget.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {SimulatedClock} from '../../../support/simulated-clock.ts';
import {days, minutes, policy, seconds, t0} from '../../../support/world.ts';

/** Time from a grant until the CA has the order, and until it has issued. */
const toOrder = 2 * seconds;
const toIssue = 20 * seconds;

class Platform {
  readonly queue: OrderQueue;
  readonly #granted = new Map<string, number>();
  readonly #tenants = new Map<string, string>();

  constructor() {
    this.queue = new OrderQueue({
      issuer: 'letsencrypt',
      budgets: policy.issuers[0].budgets,
      unheardAfterMs: 30 * minutes,
      tenantOf: (hostname) => this.#tenants.get(hostname),
    });
    this.queue.onChange((owner) => this.#take(owner));
  }

  /** A tenant wants the first certificate of a hostname. */
  want(tenant: string, hostname: string): void {
    this.#tenants.set(hostname, tenant);
    const request = {hostname, certificate: `${tenant}/${hostname}`, state: 'Wanted' as const, since: Date.now()};
    this.queue.keep(hostname, tenant, [request]);
    this.#take(hostname);
  }

  /** cert-manager renews a certificate. */
  renew(tenant: string, hostname: string): void {
    this.#tenants.set(hostname, tenant);
    this.#order(hostname, `${tenant}/${hostname}`, Date.now(), true);
  }

  answer(hostname: string): OrderGrant | undefined {
    return this.queue.grant(`${this.#tenants.get(hostname)}/${hostname}`);
  }

  /** When it was granted, ms since the epoch. */
  grantedAt(hostname: string): number | undefined {
    return this.#granted.get(hostname);
  }

  get granted(): number {
    return this.#granted.size;
  }

  #take(hostname: string): void {
    if (this.answer(hostname)?.kind !== 'Granted' || this.#granted.has(hostname)) return;
    this.#granted.set(hostname, Date.now());
    setTimeout(() => {
      this.#order(hostname, `${this.#tenants.get(hostname)}/${hostname}`, Date.now(), false);
      this.queue.keep(hostname, this.#tenants.get(hostname)!, []);
    }, toOrder);
  }

  #order(hostname: string, certificate: string, at: number, renewal: boolean): void {
    const order = {at: timestamp(at), ...(renewal && {renewal: true as const})};
    this.queue.observe(certificate, hostname, {...order, outcome: 'Pending'}, true);
    setTimeout(() => {
      this.queue.observe(certificate, hostname, {...order, outcome: 'Issued', endedAt: timestamp(Date.now())}, true);
    }, toIssue);
  }
}

let platform: Platform;
let clock: SimulatedClock;
beforeEach(() => {
  clock = new SimulatedClock(t0);
  platform = new Platform();
});
afterEach(() => {
  platform.queue.stop();
  clock.stop();
});
const pass = (ms: number) => clock.pass(ms);

describe('A newcomer waits', () => {
  test.each([
    [500, 90],
    [250, 45],
    [40, 6],
  ])('not at all below a domain where %i hostnames renew certificates of %i days', (count, life) => {
    const every = (life * days * 2) / 3;
    for (let i = 0; i < count; i++) {
      const renew = () => {
        platform.renew('acme', `h${i}.example.com`);
        setTimeout(renew, every);
      };
      setTimeout(renew, (every * i) / count);
    }
    pass(90 * days);
    platform.want('acme', 'new.example.com');
    expect(platform.answer('new.example.com')).toEqual({kind: 'Granted'});
  });

  test('not at all while 10,000 hostnames that moved in at full speed renew in the same rhythm', () => {
    for (let i = 0; i < 10_000; i++) platform.want(`t${i % 100}`, `www.customer${i}.example`);
    pass(5 * days);
    expect(platform.granted).toBe(10_000);
    for (let i = 0; i < 10_000; i++) {
      const at = platform.grantedAt(`www.customer${i}.example`)! + 60 * days;
      setTimeout(() => platform.renew(`t${i % 100}`, `www.customer${i}.example`), at - Date.now());
    }
    pass(57 * days);
    platform.want('new', 'www.new.example');
    expect(platform.answer('www.new.example')).toEqual({kind: 'Granted'});
  });

  test('at most a minute after the burst of another tenant', () => {
    for (let i = 0; i < 600; i++) platform.want('large', `www.large${i}.example`);
    pass(seconds);
    const waits = [];
    for (let i = 0; i < 50; i++) {
      const asked = Date.now();
      platform.want(`new${i}`, `www.new${i}.example`);
      pass(minutes);
      waits.push((platform.grantedAt(`www.new${i}.example`) ?? Infinity) - asked);
    }
    expect(Math.max(...waits)).toBeLessThanOrEqual(minutes);
  });
});

test('The expected time in the message is right within a factor of two', () => {
  const told: {hostname: string; at: number; expected: number}[] = [];
  for (let i = 0; i < 2000; i++) {
    const hostname = i % 3 === 0 ? `h${i}.shared.example` : `www.h${i}.example`;
    platform.want(`t${i % 20}`, hostname);
    const answer = platform.answer(hostname);
    const expected = answer?.kind === 'Queued' ? answer.expectedAt : answer?.kind === 'Exhausted' ? answer.until : 0;
    if (expected > 0) told.push({hostname, at: Date.now(), expected});
    pass(seconds);
  }
  pass(200 * days);
  const ratios = told
    .map(({hostname, at, expected}) => ({
      said: expected - at,
      was: (platform.grantedAt(hostname) ?? Infinity) - at,
    }))
    // Messages have whole minutes.
    .filter(({said}) => said > 2 * minutes)
    .map(({said, was}) => was / said);
  expect(ratios.length).toBeGreaterThan(1_500);
  expect(Math.min(...ratios)).toBeGreaterThan(0.5);
  expect(Math.max(...ratios)).toBeLessThan(2);
});
