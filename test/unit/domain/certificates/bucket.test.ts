import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import type {Limit} from '../../../../operator/domain/certificates/bucket.ts';
import {fullAfter, lastOf, leftOf, roomAt, takenAt} from '../../../../operator/domain/certificates/bucket.ts';

const limitsArbitrary = fc.array(
  fc.record({limit: fc.integer({min: 1, max: 6}), perMs: fc.integer({min: 1, max: 5000})}),
  {minLength: 1, maxLength: 3},
);

/** A bucket that is filled drop by drop. */
class Drops {
  readonly #limit: Limit;
  #tokens: number;
  #at = 0;

  constructor(limit: Limit, tokens = limit.limit) {
    this.#limit = limit;
    this.#tokens = tokens;
  }

  tokens(now: number): number {
    const {limit, perMs} = this.#limit;
    this.#tokens = Math.min(limit, this.#tokens + ((now - this.#at) * limit) / perMs);
    this.#at = now;
    return this.#tokens;
  }

  take(now: number): void {
    this.#tokens = this.tokens(now) - 1;
  }
}

/** Of the rounding to milliseconds, and of sums. */
const tolerance = (limit: Limit) => limit.limit / limit.perMs + 1e-6;

describe('A token bucket', () => {
  test('never lacks a token when each order waits for room, and has room at the first millisecond with one', () => {
    fc.assert(
      fc.property(limitsArbitrary, fc.array(fc.nat({max: 3000}), {maxLength: 60}), (limits, pauses) => {
        const buckets = limits.map((l) => new Drops(l));
        const times: number[] = [];
        let now = 0;
        for (const pause of pauses) {
          const asked = now + pause;
          now = roomAt(takenAt(times, limits, -1e6), limits, asked);
          const lacks = limits.map((l, i) => 1 - buckets[i]!.tokens(now) - tolerance(l));
          expect(Math.max(...lacks)).toBeLessThanOrEqual(0);
          // A millisecond earlier, one bucket had fewer tokens.
          const excess = limits.map((l, i) => buckets[i]!.tokens(now) - 1 - 2 * tolerance(l));
          expect(now > asked ? Math.min(...excess) : -1).toBeLessThan(0);
          for (const bucket of buckets) bucket.take(now);
          times.push(now);
        }
      }),
    );
  });

  test('counts as empty before the time of which nothing is known', () => {
    const limit = {limit: 5, perMs: 100};
    expect(leftOf(takenAt([], [limit], 0), [limit], 0)).toBe(0);
    expect(leftOf(takenAt([], [limit], 0), [limit], 60)).toBe(3);
    expect(leftOf(takenAt([], [limit], 0), [limit], 100)).toBe(5);
  });

  test('has no room while the times of so many are not known, whenever it is asked', () => {
    const limits = [{limit: 2, perMs: 10}];
    for (const now of [0, 5, 1000]) {
      expect(roomAt(takenAt([Infinity, Infinity], limits, -100), limits, now)).toBe(Infinity);
      expect(roomAt(takenAt([Infinity], limits, -100), limits, now)).toBe(now);
    }
  });

  test('never has more tokens for a time that is not known than for any time that it may have been', () => {
    fc.assert(
      fc.property(
        limitsArbitrary,
        fc.array(fc.nat({max: 5000}), {maxLength: 10}),
        fc.nat({max: 5000}),
        (limits, times, at) => {
          const now = 5000;
          const unknown = leftOf(takenAt([...times, Infinity], limits, -1e6), limits, now);
          expect(unknown).toBeLessThanOrEqual(leftOf(takenAt([...times, at], limits, -1e6), limits, now));
        },
      ),
    );
  });

  test('predicts when each of those that wait has its turn, if every order is made at its turn', () => {
    fc.assert(
      fc.property(
        limitsArbitrary,
        fc.array(fc.nat({max: 4000}), {maxLength: 10}),
        fc.integer({min: 1, max: 20}),
        (limits, times, place) => {
          const taken = takenAt(times, limits, -1e6);
          const told = lastOf(taken, limits, 4000, () => place);
          let full = [...taken.full];
          let at = 4000;
          for (let i = 0; i < place; i++) {
            at = roomAt({full, unheard: 0}, limits, at);
            full = full.map((f, n) => fullAfter(f, at, limits[n]!));
          }
          // Each turn is rounded up to a millisecond.
          expect(at - told).toBeGreaterThanOrEqual(0);
          expect(at - told).toBeLessThanOrEqual(place);
        },
      ),
    );
  });
});
