import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import type {Limit, Order} from '../../../../operator/domain/certificates/budget.ts';
import {expectedAt, mergeOrders, orderTimes, roomAt, spentBy} from '../../../../operator/domain/certificates/budget.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {days, hours, minutes, policy, t0} from '../../../support/world.ts';

const limitsArbitrary = fc.array(
  fc.record({limit: fc.integer({min: 1, max: 6}), perMs: fc.integer({min: 1, max: 5000})}),
  {minLength: 1, maxLength: 3},
);

/** The most that fall into any span of a limit's length. */
const densest = (times: readonly number[], {perMs}: Limit) =>
  Math.max(0, ...times.map((t) => times.filter((u) => u >= t && u < t + perMs).length));

describe('A window', () => {
  test('is never exceeded in any span of its length when each order waits for room, however many are wanted', () => {
    fc.assert(
      fc.property(limitsArbitrary, fc.array(fc.nat({max: 3000}), {maxLength: 60}), (limits, pauses) => {
        const made: number[] = [];
        let now = 0;
        for (const pause of pauses) {
          now = roomAt(orderTimes(made), limits, now + pause);
          made.push(now);
        }
        for (const limit of limits) expect(densest(made, limit)).toBeLessThanOrEqual(limit.limit);
      }),
    );
  });

  test('has room at the earliest time possible: a moment sooner would exceed a limit', () => {
    fc.assert(
      fc.property(limitsArbitrary, fc.array(fc.nat({max: 8000}), {maxLength: 30}), (limits, times) => {
        const made: number[] = [];
        for (const t of times.toSorted((a, b) => a - b)) if (roomAt(orderTimes(made), limits, t) === t) made.push(t);
        const now = Math.max(0, ...made);
        const room = roomAt(orderTimes(made), limits, now);
        expect(room === now || limits.some((l) => densest([...made, room - 1], l) > l.limit)).toBe(true);
      }),
    );
  });

  test('has no room while the time of an order that fills it is not known', () => {
    expect(roomAt(orderTimes([Infinity, Infinity]), [{limit: 2, perMs: 10}], 0)).toBe(Infinity);
    expect(roomAt(orderTimes([Infinity]), [{limit: 2, perMs: 10}], 0)).toBe(0);
  });

  test('predicts the exact time at which an order in line is made, if every order is made at its turn', () => {
    fc.assert(
      fc.property(
        limitsArbitrary.map((l) => l.slice(0, 1)),
        fc.array(fc.nat({max: 4000}), {maxLength: 10}),
        fc.integer({min: 1, max: 20}),
        (limits, times, place) => {
          const made: number[] = [];
          for (const t of times.toSorted((a, b) => a - b)) if (roomAt(orderTimes(made), limits, t) === t) made.push(t);
          const now = Math.max(0, ...made);
          const told = expectedAt(place, orderTimes(made), limits, now);
          let at = now;
          for (let i = 0; i < place; i++) {
            at = roomAt(orderTimes(made), limits, at);
            made.push(at);
          }
          expect(told).toBe(at);
        },
      ),
    );
  });
});

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
  const {budgets} = policy;
  const rows: [string, Order[], {of: 'failures' | 'certificates'; until: number} | undefined][] = [
    ['has room at first', [], undefined],
    ['has room after one failure', [failed(minutes)], undefined],
    [
      'is spent by two failures in an hour, until the first is an hour old',
      [failed(40 * minutes), failed(minutes)],
      {of: 'failures', until: t0 + 20 * minutes},
    ],
    [
      'counts an hour from the failure, not from the order',
      [failed(59 * minutes), failed(minutes)],
      {of: 'failures', until: t0 + minutes},
    ],
    ['has room when the first failure is an hour old', [failed(hours), failed(minutes)], undefined],
    [
      'is spent by three failures in a day',
      [failed(20 * hours), failed(10 * hours), failed(2 * hours)],
      {of: 'failures', until: t0 + 4 * hours},
    ],
    [
      'is spent by four certificates in seven days',
      [issued(6 * days), issued(5 * days), issued(2 * days), issued(days)],
      {of: 'certificates', until: t0 + days},
    ],
    [
      'counts a certificate that is being ordered',
      [issued(6 * days), issued(5 * days), issued(2 * days), pending(minutes)],
      {of: 'certificates', until: t0 + days},
    ],
    [
      'does not count a failure as a certificate',
      [issued(6 * days), issued(5 * days), issued(2 * days), failed(minutes)],
      undefined,
    ],
    [
      'reports the limit that lasts longer where two are spent',
      [
        issued(4 * days),
        issued(4 * days - minutes),
        issued(2 * days),
        issued(days),
        failed(2 * minutes),
        failed(minutes),
      ],
      {of: 'certificates', until: t0 + 3 * days},
    ],
  ];
  test.each(rows)('%s', (_, orders, expected) => {
    const spent = spentBy(orders, budgets, t0);
    expect(spent && {of: spent.of, until: spent.until}).toEqual(expected);
  });
});

describe('The memory of orders', () => {
  const {budgets} = policy;
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
      expect(mergeOrders([one], [other], budgets, t0)).toEqual([explained]);
    }
  });

  test('is sorted by time, bounded, and without orders that no budget counts any more', () => {
    const many = Array.from({length: 100}, (_, i): Order => ({at: timestamp(t0 - i * minutes), outcome: 'Issued'}));
    const kept = mergeOrders(many, [{at: timestamp(t0 - 8 * days), outcome: 'Failed'}], budgets, t0);
    expect(kept).toHaveLength(32);
    expect(kept.at(-1)?.at).toBe(timestamp(t0));
    expect(kept).toEqual(kept.toSorted((a, b) => (a.at < b.at ? -1 : 1)));
    expect(mergeOrders([{at: timestamp(t0 - 8 * days), outcome: 'Failed'}], [], budgets, t0)).toEqual([]);
  });
});
