/** What the CA says with an error is heeded: its limits, and errors of its own. */
import {afterEach, beforeEach, describe, expect, jest, test} from '@jest/globals';
import {OrderQueue} from '../../../../operator/controllers/orders/order-queue.ts';
import type {Budgets, Order} from '../../../../operator/domain/certificates/budget.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {days, hours, minutes, policy, seconds, t0} from '../../../support/world.ts';

let queue: OrderQueue;
function start(change: Partial<Budgets> = {}): void {
  queue = new OrderQueue({
    issuer: 'letsencrypt',
    budgets: {...policy.issuers[0].budgets, ...change},
    unheardAfterMs: 30 * minutes,
    tenantOf: () => 'acme',
  });
}
beforeEach(() => {
  jest.useFakeTimers({now: t0});
  start();
});
afterEach(() => {
  queue.stop();
  jest.useRealTimers();
});
const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

const nameOf = (name: string) => `www.${name}.example`;
const want = (name: string, hostname = nameOf(name)): void => {
  queue.keep(name, 'acme', [{hostname, certificate: name, state: 'Wanted', since: Date.now()}]);
};
const kinds = (...names: string[]) => names.map((name) => queue.grant(name)?.kind).join(' ');
/** The request of a Certificate ends. */
const ends = (name: string, order: Partial<Order>, hostname = nameOf(name)): void => {
  const at = timestamp(Date.now());
  queue.observe(name, hostname, {at, outcome: 'Failed', endedAt: at, ...order}, true);
  queue.keep(name, 'acme', []);
};
const fail = (name: string): void => {
  want(name);
  ends(name, {cause: 'Authority'});
};
const below = (name: string) => `${name}.shared.example`;
const inSeconds = (s: number) => timestamp(t0 + s * seconds);

describe('A limit of the CA that is reached before ours, because others order by the same account or for the same domain', () => {
  test('of the account delays all orders until the time that the CA has named, and paces them from then on', async () => {
    want('a');
    ends('a', {cause: 'AccountLimit', refusedUntil: inSeconds(90)});
    for (const name of ['a', 'b', 'c']) want(name);
    await pass(89 * seconds);
    expect(kinds('a', 'b', 'c')).toBe('Queued Queued Queued');
    await pass(seconds);
    expect(kinds('a', 'b', 'c')).toBe('Granted Queued Queued');
    // Three hundred in three hours.
    ends('a', {outcome: 'Issued'});
    await pass(37 * seconds);
    expect(kinds('b', 'c')).toBe('Granted Queued');
  });

  test('of a registered domain delays the hostnames below it alone', async () => {
    want('a', below('a'));
    ends('a', {cause: 'RegisteredDomainLimit', refusedUntil: inSeconds(3600)}, below('a'));
    want('b', below('b'));
    want('c');
    expect(kinds('b', 'c')).toBe('Exhausted Granted');
    await pass(hours);
    expect(kinds('b')).toBe('Granted');
  });

  test('is remembered by claims, across a restart', async () => {
    want('a');
    ends('a', {cause: 'AccountLimit', refusedUntil: inSeconds(90)});
    const remembered = queue.orders(nameOf('a'));
    queue.stop();
    start();
    queue.recall(nameOf('a'), remembered);
    want('b');
    expect(kinds('b')).toBe('Queued');
    await pass(90 * seconds);
    expect(kinds('b')).toBe('Granted');
  });

  test('takes no token of the account for the refused order', () => {
    start({account: [{limit: 1, perMs: hours}]});
    want('a');
    ends('a', {cause: 'CertificatesLimit', refusedUntil: inSeconds(3600)});
    want('b');
    expect(kinds('b')).toBe('Granted');
  });
});

describe('An error of the CA itself', () => {
  test('delays all orders by one minute, then two, then four, and an order that succeeds ends the wait', async () => {
    for (const wait of [1, 2, 4]) {
      fail(`failing${wait}`);
      want(`next${wait}`);
      await pass(wait * minutes - seconds);
      expect(kinds(`next${wait}`)).toBe('Queued');
      await pass(seconds);
      expect(kinds(`next${wait}`)).toBe('Granted');
      queue.keep(`next${wait}`, 'acme', []);
      await pass(seconds);
    }
    want('served');
    ends('served', {outcome: 'Issued'});
    fail('last');
    want('after');
    await pass(minutes);
    expect(kinds('after')).toBe('Granted');
  });

  test('counts once for all orders that were under way', async () => {
    for (const name of ['a', 'b', 'c']) want(name);
    const began = timestamp(t0);
    await pass(10 * seconds);
    for (const name of ['a', 'b', 'c']) ends(name, {cause: 'Authority', at: began});
    want('d');
    await pass(minutes);
    expect(kinds('d')).toBe('Granted');
  });

  test('is the reason that the answer names', async () => {
    fail('a');
    want('b');
    expect(queue.grant('b')).toMatchObject({kind: 'Queued', caFailed: true, expectedAt: t0 + 2 * minutes});
    await pass(minutes);
    expect(queue.grant('b')).toEqual({kind: 'Granted'});
  });

  test('delays renewals, too', async () => {
    queue.recall(nameOf('a'), [
      {at: timestamp(t0 - days), outcome: 'Issued', endedAt: timestamp(t0 - days), issuer: 'letsencrypt'},
    ]);
    fail('b');
    want('a');
    expect(kinds('a')).toBe('Queued');
  });
});

describe('A renewal of a hostname without a Certificate', () => {
  const had: Order = {at: timestamp(t0 - 9 * days), outcome: 'Issued', endedAt: timestamp(t0 - 9 * days)};
  const spent: Partial<Budgets> = {
    account: [{limit: 1, perMs: 90 * days}],
    registeredDomain: [{limit: 1, perMs: hours}],
  };

  test('waits for no budget of the account or of the registered domain', () => {
    start(spent);
    want('first');
    for (const name of ['a', 'b']) queue.recall(nameOf(name), [{...had, issuer: 'letsencrypt'}]);
    for (const name of ['a', 'b', 'new']) want(name);
    expect(kinds('a', 'b', 'new')).toBe('Granted Granted Queued');
  });

  test('waits like all others if the CA counts renewals, or if another CA issued the certificate', () => {
    for (const [change, issuer] of [
      [{countRenewals: true}, 'letsencrypt'],
      [{}, 'other'],
    ] as const) {
      start({...spent, ...change});
      want('first');
      queue.recall(nameOf('a'), [{...had, issuer}]);
      want('a');
      expect(kinds('a')).toBe('Queued');
    }
  });
});
