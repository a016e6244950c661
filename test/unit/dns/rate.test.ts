import {expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {Rate} from '../../../operator/dns/rate.ts';

const times = (rate: Rate, key: string, count: number, now: number) =>
  Array.from({length: count}, () => rate.next(key, now));

test('So many at once, then one after the other; after a while as many at once again', () => {
  const rate = new Rate({perSecond: 10, burst: 3});
  expect(times(rate, 'a', 5, 1000)).toEqual([1000, 1000, 1000, 1100, 1200]);
  expect(times(rate, 'a', 4, 5000)).toEqual([5000, 5000, 5000, 5100]);
});

test('A slot that is not free is not reserved', () => {
  const rate = new Rate({perSecond: 10, burst: 3});
  const taken = (now: number) => Array.from({length: 50}, () => rate.take('a', now)).filter(Boolean).length;
  expect([taken(1000), taken(1099), taken(1100), taken(1300), taken(5000)]).toEqual([3, 0, 1, 2, 3]);
});

test('Each key has its own', () => {
  const rate = new Rate({perSecond: 1, burst: 1});
  expect([rate.next('a', 0), rate.next('b', 0), rate.next('a', 0)]).toEqual([0, 0, 1000]);
});

test('In no time more than the burst and what the rate adds in it', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(60), {minLength: 10, maxLength: 100}), (gaps) => {
      const rate = new Rate({perSecond: 10, burst: 4});
      let now = 0;
      const places = gaps.map((gap) => rate.next('a', (now += gap))).toSorted((a, b) => a - b);
      const tooMany = places.filter((from, i) => {
        const fifth = places[i + 4];
        return fifth !== undefined && fifth - from < 100 - 1e-6;
      });
      expect(tooMany).toEqual([]);
    }),
  );
});

test('Keys whose bucket is empty are forgotten', () => {
  const rate = new Rate({perSecond: 1, burst: 1});
  for (let i = 0; i < 5000; i++) rate.next(`key ${i}`, i * 10);
  expect(rate.size).toBeLessThanOrEqual(1001);
});
