import {afterEach, describe, expect, jest, test} from '@jest/globals';
import {array, assert, constant, integer, oneof, property, record} from 'fast-check';
import {Fifo} from '../../../../operator/kube/collections/fifo.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

/** The same, as slow as it is simple: each key is its own value. */
class List {
  #keys: number[] = [];

  get size(): number {
    return this.#keys.length;
  }

  push(key: number): void {
    if (!this.#keys.includes(key)) this.#keys.push(key);
  }

  take(key: number): number | undefined {
    const found = this.#keys.includes(key) ? key : undefined;
    this.#keys = this.#keys.filter((k) => k !== key);
    return found;
  }

  shift(): [number, number] | undefined {
    const first = this.#keys.shift();
    return first === undefined ? undefined : [first, first];
  }

  clear(): void {
    this.#keys = [];
  }
}

describe('a line of keys', () => {
  test('gives them in the order in which they came, with those gone that were taken out of the middle', () => {
    const line = new Fifo<string, number>();
    ['a', 'b', 'c'].forEach((key, i) => line.push(key, i));
    expect([line.take('b'), line.take('b'), line.has('b'), line.size]).toEqual([1, undefined, false, 2]);
    expect(line.shift()).toEqual(['a', 0]);
    line.push('b', 4);
    expect([line.shift(), line.shift(), line.shift()]).toEqual([['c', 2], ['b', 4], undefined]);
    line.push('a', 5);
    expect(line.shift()).toEqual(['a', 5]);
  });

  test('does as a list would, whatever is asked of it', () => {
    const key = integer({min: 0, max: 20});
    const step = oneof(
      {weight: 4, arbitrary: record({what: constant('push' as const), key})},
      {weight: 2, arbitrary: record({what: constant('take' as const), key})},
      {weight: 4, arbitrary: record({what: constant('shift' as const), key})},
      {weight: 1, arbitrary: record({what: constant('clear' as const), key})},
    );
    assert(
      property(array(step, {maxLength: 200}), (steps) => {
        const [line, list] = [new Fifo<number, number>(), new List()];
        for (const {what, key: k} of steps) expect([line[what](k, k), line.size]).toEqual([list[what](k), list.size]);
      }),
      {numRuns: 2000},
    );
  });

  test('is walked through once, however many are taken: each new walk would pass all that were taken before', () => {
    const line = new Fifo<number, number>();
    for (let i = 0; i < 1000; i++) line.push(i, i);
    const walks = jest.spyOn(Map.prototype, 'entries');
    for (let i = 0; i < 1000; i++) line.shift();
    expect(walks.mock.calls.length).toBeLessThanOrEqual(1);
  });
});
