/** The budgets of one hostname that several tenants have had, beside the CA's own bucket. */
import {describe, expect, test} from '@jest/globals';
import {fullAfter} from '../../../../operator/domain/certificates/bucket.ts';
import type {Order} from '../../../../operator/domain/certificates/budget.ts';
import {memoryMs, mergeOrders, spentBy} from '../../../../operator/domain/certificates/budget.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {days, hours, minutes, policy, t0} from '../../../support/world.ts';

const [{budgets}] = policy.issuers;
const room = (orders: readonly Order[], tenant: string, now: number) =>
  spentBy(orders, budgets, {now, tenant})?.until ?? now;

const former = (order: Partial<Order>, agoMs: number): Order => ({
  at: timestamp(t0 - agoMs),
  outcome: 'Issued',
  endedAt: timestamp(t0 - agoMs + minutes),
  tenant: 'former',
  ...order,
});

describe('A hostname that its former tenant has burnt', () => {
  test.each<[string, Order[]]>([
    ['four certificates', [1, 2, 3, 4].map((n) => former({}, n * hours))],
    [
      'attempts that were given up',
      [1, 2, 3, 4, 5, 6].map((n) => former({outcome: 'Pending', superseded: true}, n * hours)),
    ],
    ['failures', [1, 2].map((n) => former({outcome: 'Failed'}, n * 5 * minutes))],
    [
      'failures of the CA',
      [1, 2, 3, 4, 5, 6].map((n) => former({outcome: 'Failed', cause: 'Authority'}, n * 5 * minutes)),
    ],
  ])('with %s has room for another tenant at once', (_, orders) => {
    expect(room(orders, 'next', t0)).toBe(t0);
  });

  test('two tenants that alternate never take more than the CA gives, and the reserved one comes back after 34 hours', () => {
    const [limit] = budgets.certificates;
    let orders: Order[] = [];
    let full = -Infinity;
    const waits: number[] = [];
    for (let [now, turn] = [t0, 0]; now < t0 + 60 * days; turn++) {
      const tenant = turn % 2 === 0 ? 'one' : 'two';
      const at = room(orders, tenant, now);
      waits.push(at - now);
      // The CA's own bucket has a token.
      expect(Math.max(full, at) - at + limit!.perMs / limit!.limit).toBeLessThanOrEqual(limit!.perMs);
      full = fullAfter(full, at + 1000, limit!);
      orders = mergeOrders(
        orders,
        [{at: timestamp(at), outcome: 'Issued', endedAt: timestamp(at + 1000), tenant}],
        memoryMs(budgets),
        at,
      );
      now = at + hours;
    }
    // At most 5 % of what the CA gives is left.
    expect(waits.length).toBeGreaterThan(0.95 * ((60 * days) / (limit!.perMs / limit!.limit)));
  });
});
