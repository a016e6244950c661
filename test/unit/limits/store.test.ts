import {describe, expect, test} from '@jest/globals';
import {type WindowRequest, MemoryStore} from '../../../operator/limits/store.ts';
import {noonMs} from '../../support/limits-time.ts';

const endSeconds = noonMs / 1000 + 60;
const minute = (least: number): WindowRequest => ({window: 'minute', endSeconds, limit: 60, want: 3, least});
const day = (least: number): WindowRequest => ({window: 'day', endSeconds, limit: 10, want: 10, least});

describe('what a store grants', () => {
  test('nothing is taken from a minute for a day that has nothing left', () => {
    const store = new MemoryStore();
    store.reserve([day(1)], noonMs);
    expect(store.reserve([minute(1), day(1)], noonMs)).toEqual([
      {granted: 0, taken: 0, returned: 0},
      {granted: 0, taken: 10, returned: 0},
    ]);
  });

  test('what is there, where less is left than is wanted', () => {
    const store = new MemoryStore();
    store.reserve([{...day(1), want: 8}], noonMs);
    expect(store.reserve([minute(1), day(1)], noonMs)).toEqual([
      {granted: 3, taken: 3, returned: 0},
      {granted: 2, taken: 10, returned: 0},
    ]);
  });

  test('one by one, where a claim reaches into what is granted singly', () => {
    const store = new MemoryStore();
    const granted = Array.from({length: 4}, () => store.reserve([{...day(1), want: 4, singly: 5}], noonMs)[0]!.granted);
    expect(granted).toEqual([4, 1, 1, 1]);
    expect(store.reserve([{...day(0), want: 4, singly: 5}], noonMs)[0]!.granted).toBe(0);
  });

  test('a window that is not needed yet keeps nobody from another', () => {
    const store = new MemoryStore();
    store.reserve([day(1)], noonMs);
    expect(store.reserve([minute(1), day(0)], noonMs)).toEqual([
      {granted: 3, taken: 3, returned: 0},
      {granted: 0, taken: 10, returned: 0},
    ]);
  });

  test('nothing beyond what is known to be taken, or owed, though it has not seen it', () => {
    const store = new MemoryStore();
    expect(store.reserve([{...day(1), known: 5, owed: 2}], noonMs)).toEqual([{granted: 3, taken: 10, returned: 0}]);
  });

  test('what was given back is there again, also for one who knows of more taken and of less given back', () => {
    const store = new MemoryStore();
    store.reserve([day(1)], noonMs);
    store.giveBack([{window: 'day', endSeconds, count: 3}]);
    const [late] = store.reserve([{...day(1), want: 1, known: 10, knownReturned: 0}], noonMs);
    expect(late).toEqual({granted: 1, taken: 11, returned: 3});
    const [told] = store.reserve([{...day(1), want: 1, owed: -1}], noonMs);
    expect(told).toEqual({granted: 1, taken: 12, returned: 4});
    expect(store.taken('day')).toBe(8);
  });
});
