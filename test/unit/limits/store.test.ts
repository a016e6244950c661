import {describe, expect, test} from '@jest/globals';
import {type Claim, MemoryStore} from '../../../operator/limits/store.ts';
import {noonMs} from '../../support/limits-time.ts';

const endSeconds = noonMs / 1000 + 60;
const minute = (least: number): Claim => ({window: 'minute', endSeconds, limit: 60, want: 3, least});
const day = (least: number): Claim => ({window: 'day', endSeconds, limit: 10, want: 10, least});

describe('what a store grants', () => {
  test('nothing is taken from a minute for a day that has nothing left', () => {
    const store = new MemoryStore();
    store.reserve([day(1)], noonMs);
    expect(store.reserve([minute(1), day(1)], noonMs)).toEqual([
      {granted: 0, taken: 0},
      {granted: 0, taken: 10},
    ]);
  });

  test('what is there, where less is left than is wanted', () => {
    const store = new MemoryStore();
    store.reserve([{...day(1), want: 8}], noonMs);
    expect(store.reserve([minute(1), day(1)], noonMs)).toEqual([
      {granted: 3, taken: 3},
      {granted: 2, taken: 10},
    ]);
  });

  test('a window that is not needed yet keeps nobody from another', () => {
    const store = new MemoryStore();
    store.reserve([day(1)], noonMs);
    expect(store.reserve([minute(1), day(0)], noonMs)).toEqual([
      {granted: 3, taken: 3},
      {granted: 0, taken: 10},
    ]);
  });

  test('nothing beyond what is known to be taken, or owed, though it has not seen it', () => {
    const store = new MemoryStore();
    expect(store.reserve([{...day(1), known: 5, owed: 2}], noonMs)).toEqual([{granted: 3, taken: 10}]);
  });
});
