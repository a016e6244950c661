import {beforeEach, describe, expect, test} from '@jest/globals';
import {OrderQueues} from '../../../../operator/controllers/orders/order-queues.ts';
import type {Order} from '../../../../operator/domain/certificates/budget.ts';
import type {OrderRequest} from '../../../../operator/domain/certificates/issuance.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {days, hours, minutes, policy, t0} from '../../../support/world.ts';

const usual = policy.issuers[0].budgets;
/** Two orders at once, and another each 30 minutes. */
const small = {...usual, account: [{limit: 2, perMs: hours}]};
let now: number;
let queues: OrderQueues;
beforeEach(() => {
  now = t0;
  queues = make();
});

const make = () =>
  new OrderQueues({
    issuers: [
      {name: 'first', budgets: small},
      {name: 'second', budgets: usual},
    ],
    unheardAfterMs: 30 * minutes,
    tenantOf: () => 'acme',
    now: () => now,
  });

const request = (name: string, issuer?: string): OrderRequest => ({
  hostname: `${name}.example.com`,
  certificate: `acme/${name}`,
  issuer,
  state: 'Wanted',
  since: now,
});
const ask = (name: string, issuer?: string) => {
  queues.keep(`acme/${name}`, 'acme', [request(name, issuer)]);
  return queues.grant(`acme/${name}`, issuer)?.kind;
};
const issued = (at: number, issuer?: string): Order => ({
  at: timestamp(at),
  outcome: 'Issued',
  endedAt: timestamp(at + 1000),
  ...(issuer !== undefined && {issuer}),
});

describe('Each issuer', () => {
  test('has a budget of its own, and a request without an issuer is for the first', () => {
    expect([ask('a'), ask('b', 'first'), ask('c', 'first'), ask('d', 'second'), ask('e', 'second')]).toEqual([
      'Granted',
      'Granted',
      'Queued',
      'Granted',
      'Granted',
    ]);
    expect([...queues.waiting()]).toEqual([
      {issuer: 'first', waiting: 1},
      {issuer: 'second', waiting: 0},
    ]);
    expect([...queues.account()].map(({issuer, used}) => [issuer, used])).toEqual([
      ['first', 2],
      ['second', 2],
    ]);
  });

  test('answers for its own requests alone', () => {
    ask('a', 'second');
    expect([queues.grant('acme/a', 'first'), queues.grant('acme/a', 'second')]).toEqual([undefined, {kind: 'Granted'}]);
    expect(queues.grant('acme/a')).toEqual({kind: 'Granted'});
  });

  test('loses a request that goes to another, and has its token back', () => {
    ask('a', 'first');
    ask('b', 'first');
    expect(ask('c', 'first')).toBe('Queued');
    expect(ask('a', 'second')).toBe('Granted');
    expect(queues.grant('acme/a', 'first')).toBeUndefined();
    expect(queues.grant('acme/c', 'first')).toEqual({kind: 'Granted'});
  });

  test('says when it would take an order', () => {
    expect(queues.expectedAt('first', 'acme', request('a'))).toBeLessThanOrEqual(now);
    ask('a', 'first');
    ask('b', 'first');
    expect(queues.expectedAt('first', 'acme', request('a'))).toBeLessThanOrEqual(now);
    expect(queues.expectedAt('first', 'acme', request('c'))).toBeGreaterThanOrEqual(now + 30 * minutes);
    expect(queues.expectedAt('second', 'acme', request('c'))).toBeLessThanOrEqual(now);
    expect(queues.expectedAt('former', 'acme', request('c'))).toBe(Infinity);
    ask('c', 'first');
    expect(queues.expectedAt('first', 'acme', request('c'))).toBeGreaterThanOrEqual(now + 30 * minutes);
  });
});

describe('An order', () => {
  test('counts for its issuer, and is remembered with the others of the hostname', () => {
    queues.observe('acme/a', 'a.example.com', issued(t0 - 2 * hours, 'second'), true);
    queues.observe('acme/a', 'a.example.com', issued(t0 - minutes), true);
    queues.recall('a.example.com', [issued(t0 - 3 * hours, 'former')]);
    expect(queues.orders('a.example.com').map(({at, issuer}) => [at, issuer])).toEqual([
      [timestamp(t0 - 3 * hours), 'former'],
      [timestamp(t0 - 2 * hours), 'second'],
      [timestamp(t0 - minutes), undefined],
    ]);
    expect([...queues.account()].map(({used}) => used)).toEqual([1, 0]);
    now += 30 * days;
    expect(queues.orders('a.example.com')).toHaveLength(3);
  });

  test('is no renewal if another issuer gave the hostname its certificates', () => {
    const order: Order = {at: timestamp(t0), outcome: 'Pending', issuer: 'first', renewal: true};
    queues.observe('acme/a', 'a.example.com', order, true);
    expect([...queues.account()].map(({used}) => used)).toEqual([0, 0]);
    queues.observe('acme/b', 'b.example.com', issued(t0 - minutes, 'second'), true);
    queues.observe('acme/b', 'b.example.com', order, true);
    expect([...queues.account()].map(({used}) => used)).toEqual([1, 0]);
    queues.observe('acme/c', 'c.example.com', issued(t0 - minutes, 'first'), true);
    queues.observe('acme/c', 'c.example.com', order, true);
    expect([...queues.account()].map(({used}) => used)).toEqual([2, 0]);
  });

  test('of an issuer that is removed takes no place', () => {
    for (let n = 0; n < 5; n++) queues.recall(`h${n}.example.com`, [issued(t0 - 1000 * n, 'former')]);
    expect([ask('a', 'first'), ask('b', 'first')]).toEqual(['Granted', 'Granted']);
  });
});
