import {describe, expect, test} from '@jest/globals';
import type {Order, SpentBudget} from '../../../../operator/domain/certificates/budget.ts';
import {
  isRenewal,
  memoryMs,
  mergeOrders,
  spentBy,
  toRemember,
} from '../../../../operator/domain/certificates/budget.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {days, hours, minutes, policy, seconds, t0} from '../../../support/world.ts';

const failed = (agoMs: number): Order => ({
  at: timestamp(t0 - agoMs - minutes),
  outcome: 'Failed',
  endedAt: timestamp(t0 - agoMs),
});
const issued = (agoMs: number): Order => ({
  at: timestamp(t0 - agoMs),
  outcome: 'Issued',
  endedAt: timestamp(t0 - agoMs + minutes),
});
const pending = (agoMs: number): Order => ({at: timestamp(t0 - agoMs), outcome: 'Pending'});

describe('The budget of a hostname', () => {
  const [{budgets}] = policy.issuers;
  type Spent = {of: SpentBudget['of']; until: number};
  const rows: [string, Order[], Spent | undefined][] = [
    ['has room at first', [], undefined],
    ['has room after one failure', [failed(minutes)], undefined],
    [
      'is spent by two failures in a short time, until the first token is back after half an hour',
      [failed(minutes), failed(minutes)],
      {of: 'failures', until: t0 + 29 * minutes},
    ],
    [
      'counts from the failure, not from the order',
      [failed(20 * minutes), failed(minutes)],
      {of: 'failures', until: t0 + 10 * minutes},
    ],
    [
      'is spent by three failures, until the first token is back after eight hours',
      [failed(3 * hours), failed(2 * hours), failed(hours)],
      {of: 'failures', until: t0 + 5 * hours},
    ],
    ['counts no failure of the CA itself', [failed(2 * minutes), {...failed(minutes), cause: 'Authority'}], undefined],
    [
      "waits longer after each of several errors of the CA in a row, because the hostname may be the CA's problem",
      [3, 2, 1].map((n) => ({...failed(n * minutes), cause: 'Authority'})),
      {of: 'authority', until: t0 + 3 * minutes},
    ],
    [
      'waits no longer after an error of the CA and a failure of another kind',
      [{...failed(4 * minutes), cause: 'Authority'}, {...failed(3 * minutes), cause: 'Authority'}, failed(minutes)],
      undefined,
    ],
    [
      'is spent until the time that the CA has named, for certificates',
      [{...failed(minutes), cause: 'CertificatesLimit', refusedUntil: timestamp(t0 + 5 * hours)}],
      {of: 'certificates', until: t0 + 5 * hours},
    ],
    [
      'is spent until the time that the CA has named, for failures of all tenants',
      [{...failed(minutes), tenant: 'former', cause: 'AuthorizationsLimit', refusedUntil: timestamp(t0 + hours)}],
      {of: 'authorizations', until: t0 + hours},
    ],
    [
      'has room if the CA has refused an order by a limit of the account',
      [{...failed(minutes), cause: 'AccountLimit', refusedUntil: timestamp(t0 + hours)}],
      undefined,
    ],
    ['counts no failure of a former tenant', [failed(minutes), {...failed(minutes), tenant: 'former'}], undefined],
    [
      "is spent by the CA's five failures of all tenants, until its token is back after twelve minutes",
      [1, 2, 3, 4, 5].map((n) => ({...failed(n * seconds), tenant: `former${n}`})),
      {of: 'authorizations', until: t0 + 12 * minutes - 5 * seconds},
    ],
    [
      'is spent by four certificates of one tenant, and has the fifth for another',
      [issued(4 * hours), issued(3 * hours), issued(2 * hours), issued(hours)],
      {of: 'certificates', until: t0 + (7 * days) / 5 - 4 * hours + minutes},
    ],
    [
      'gives the fifth certificate to a tenant that had none',
      [4, 3, 2, 1].map((n) => ({...issued(n * hours), tenant: 'former'})),
      undefined,
    ],
    [
      'is spent by five certificates of other tenants',
      [5, 4, 3, 2, 1].map((n) => ({...issued(n * hours), tenant: 'former'})),
      {of: 'certificates', until: t0 + (7 * days) / 5 - 5 * hours + minutes},
    ],
    [
      'counts a certificate that is being ordered',
      [issued(4 * hours), issued(3 * hours), issued(2 * hours), pending(minutes)],
      {of: 'certificates', until: t0 + (7 * days) / 5 - 4 * hours + minutes},
    ],
    [
      'counts no attempt whose request was deleted before the CA signed',
      [issued(4 * hours), issued(3 * hours), ...[5, 4, 3].map((n) => ({...pending(n * minutes), superseded: true}))],
      undefined,
    ],
    [
      'reports the limit that lasts longer where two are spent',
      [issued(4 * hours), issued(3 * hours), issued(2 * hours), issued(hours), failed(minutes), failed(minutes)],
      {of: 'certificates', until: t0 + (7 * days) / 5 - 4 * hours + minutes},
    ],
  ];
  test.each(rows)('%s', (_, orders, expected) => {
    const spent = spentBy(orders, budgets, {now: t0, tenant: 'acme'});
    expect(spent && {of: spent.of, until: spent.until}).toEqual(expected);
  });
});

describe('A renewal', () => {
  const before = issued(60 * days);
  test.each<[string, Order[], string | undefined, boolean]>([
    ['has a certificate before it', [before], 'le', true],
    ['has one of the last 120 days', [issued(121 * days)], 'le', false],
    ['has one that was issued, not only ordered', [pending(60 * days), failed(60 * days)], 'le', false],
    ['has one of the same issuer', [{...before, issuer: 'other'}], 'le', false],
    ['has one of the same issuer', [{...before, issuer: 'le'}], 'le', true],
  ])('%s', (_, orders, issuer, expected) => {
    expect(isRenewal(orders, issuer, t0)).toBe(expected);
  });
});

describe('The memory of orders', () => {
  const [{budgets}] = policy.issuers;
  const begun: Order = {at: timestamp(t0 - hours), outcome: 'Pending'};
  const ended: Order = {...begun, outcome: 'Failed', endedAt: timestamp(t0 - minutes)};

  test('has an order once, with how it ended and its message, whichever source came first', () => {
    const explained = {...ended, message: 'connection refused'};
    for (const [one, other] of [
      [begun, explained],
      [explained, begun],
      [ended, explained],
      [explained, ended],
    ] as const) {
      expect(mergeOrders([one], [other], memoryMs(budgets), t0)).toEqual([explained]);
    }
  });

  test('is sorted by time, bounded, and without orders that no budget counts any more', () => {
    const many = Array.from({length: 100}, (_, i): Order => ({at: timestamp(t0 - i * minutes), outcome: 'Issued'}));
    const kept = mergeOrders(many, [{at: timestamp(t0 - 15 * days), outcome: 'Failed'}], memoryMs(budgets), t0);
    expect(kept).toHaveLength(32);
    expect(kept.at(-1)?.at).toBe(timestamp(t0));
    expect(kept).toEqual(kept.toSorted((a, b) => (a.at < b.at ? -1 : 1)));
    expect(mergeOrders([{at: timestamp(t0 - 15 * days), outcome: 'Failed'}], [], memoryMs(budgets), t0)).toEqual([]);
  });

  test('keeps the newest certificate of each issuer for as long as it makes the next order a renewal', () => {
    const [old, newer, other] = [issued(100 * days), issued(90 * days), {...issued(95 * days), issuer: 'other'}];
    expect(mergeOrders([old, newer, other, failed(80 * days)], [], memoryMs(budgets), t0)).toEqual([other, newer]);
    expect(mergeOrders([newer], [], memoryMs(budgets), t0 + 31 * days)).toEqual([]);
  });
});

describe('What a claim must record', () => {
  test('includes that an order was superseded', () => {
    const [known, now] = [pending(minutes), {...pending(minutes), superseded: true as const}];
    expect(toRemember([known], [known], undefined)).toBeUndefined();
    expect(toRemember([now], [known], undefined)).toEqual([now]);
  });
});

test('A limit of one certificate has an end while its order is under way', () => {
  const budgets = {...policy.issuers[0].budgets, certificates: [{limit: 1, perMs: 7 * days}]};
  const spent = spentBy([pending(hours)], budgets, {now: t0, tenant: 'acme'});
  expect(spent).toMatchObject({of: 'certificates', until: t0 - hours + 7 * days});
});
