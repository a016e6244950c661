import {afterEach, beforeEach, describe, expect, jest, test} from '@jest/globals';
import * as fc from 'fast-check';
import type {Looked} from '../../../operator/controllers/observer.ts';
import {Observer} from '../../../operator/controllers/observer.ts';

/** A look that the test answers. */
interface Running {
  question: string;
  at: number;
  signal: AbortSignal;
  answer: (result: string) => void;
  fail: (error: Error) => void;
  open: boolean;
}

let running: Running[];
let results: string[];
let errors: [unknown, string][];
let observer: Observer<string, string>;

const start = Date.parse('2026-03-01T12:00:00Z');
const open = () => running.filter((r) => r.open).map((r) => r.question);
const begun = () => running.map((r) => `${r.question} +${r.at - start}`);
const settle = () => jest.advanceTimersByTimeAsync(0);

async function answer(question: string, result = `seen ${question}`): Promise<void> {
  running.find((r) => r.open && r.question === question)!.answer(result);
  await settle();
}

function make(concurrency = 10): void {
  observer = new Observer({
    look: (question, signal) =>
      new Promise((resolve, reject) => {
        const one: Running = {
          question,
          at: Date.now(),
          signal,
          open: true,
          answer: (result) => {
            one.open = false;
            resolve(result);
          },
          fail: (error) => {
            one.open = false;
            reject(error);
          },
        };
        running.push(one);
      }),
    onResult: (owner) => results.push(owner),
    onError: (error, question) => errors.push([error, question]),
    concurrency,
  });
}

beforeEach(() => {
  jest.useFakeTimers({now: start});
  jest.spyOn(Math, 'random').mockReturnValue(0);
  [running, results, errors] = [[], [], []];
  make();
});
afterEach(() => {
  observer.stop();
  jest.restoreAllMocks();
  jest.useRealTimers();
});

describe('A look', () => {
  test('begins when it is due, and its result is kept with the time at which it began', async () => {
    observer.due('a', 'k', 'q', start + 1000);
    await jest.advanceTimersByTimeAsync(999);
    expect(open()).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun()).toEqual(['q +1000']);
    expect(observer.latest('a', 'k')).toBeUndefined();
    await jest.advanceTimersByTimeAsync(500);
    await answer('q', 'seen');
    expect(observer.latest('a', 'k')).toEqual({result: 'seen', at: start + 1000} satisfies Looked<string>);
    expect(results).toEqual(['a']);
  });

  test('that is overdue begins at once', async () => {
    observer.due('a', 'k', 'q', start - 5000);
    await settle();
    expect(begun()).toEqual(['q +0']);
  });

  test('is made once, however often it is asked for', async () => {
    for (let i = 0; i < 5; i++) observer.due('a', 'k', 'q', start + 100);
    await jest.advanceTimersByTimeAsync(10_000);
    for (let i = 0; i < 5; i++) observer.due('a', 'k', 'q', start + 100);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(begun()).toEqual(['q +100']);
    await answer('q');
    await jest.advanceTimersByTimeAsync(10_000);
    expect(begun()).toEqual(['q +100']);
  });

  test.each([
    [[1000, 300, 700], 300],
    [[300, 1000], 300],
    [[0, 1000], 0],
  ])('of several due times %j takes the earliest', async (times, expected) => {
    for (const at of times) observer.due('a', 'k', 'q', start + at);
    await jest.advanceTimersByTimeAsync(5000);
    expect(begun()).toEqual([`q +${expected}`]);
  });

  test('is never later than promised, and at most a fifth of the wait sooner', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.999);
    observer.due('a', 'k', 'q', start + 1000);
    await jest.advanceTimersByTimeAsync(799);
    expect(open()).toEqual([]);
    await jest.advanceTimersByTimeAsync(3);
    expect(open()).toEqual(['q']);
  });

  test('of one key does not touch those of others, and owners may have the same keys', async () => {
    observer.due('a', 'k', 'a k', start);
    observer.due('a', 'l', 'a l', start);
    observer.due('b', 'k', 'b k', start);
    await settle();
    expect(open()).toEqual(['a k', 'a l', 'b k']);
    await answer('b k');
    expect([observer.latest('a', 'k'), observer.latest('b', 'k')?.result]).toEqual([undefined, 'seen b k']);
    expect(results).toEqual(['b']);
  });

  test('weeks ahead is no endless loop of timers', async () => {
    observer.due('a', 'k', 'q', start + 60 * 86_400_000);
    await jest.advanceTimersByTimeAsync(86_400_000);
    expect(begun()).toEqual([]);
  });
});

describe('A look that throws', () => {
  test('counts as none, is told of, and the next waits 5 s however soon it is due: no hot loop', async () => {
    observer.due('a', 'k', 'q', start);
    await settle();
    await answer('q', 'first');
    observer.due('a', 'k', 'q', start);
    await settle();
    running.at(-1)!.fail(new Error('no'));
    await settle();
    expect(observer.latest('a', 'k')?.result).toBe('first');
    expect(errors).toEqual([[new Error('no'), 'q']]);
    expect(results).toEqual(['a', 'a']);
    observer.due('a', 'k', 'q', start);
    await jest.advanceTimersByTimeAsync(4999);
    expect(running).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun().at(-1)).toBe('q +5000');
  });

  test('again and again is made at most every 4 s, jitter and all', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.999);
    for (let i = 0; i < 60; i++) {
      observer.due('a', 'k', 'q', Date.now());
      await settle();
      running.find((r) => r.open)?.fail(new Error('no'));
      await jest.advanceTimersByTimeAsync(1000);
    }
    expect(running.length).toBeLessThanOrEqual(15);
    expect(running.length).toBeGreaterThanOrEqual(10);
  });

  test('harms no other, and once one succeeds the pause is over', async () => {
    observer.due('a', 'k', 'bad', start);
    observer.due('a', 'l', 'good', start);
    await settle();
    running[0]!.fail(new Error('no'));
    await answer('good');
    expect(results).toEqual(['a', 'a']);
    observer.due('a', 'k', 'bad', start);
    await jest.advanceTimersByTimeAsync(5000);
    await answer('bad');
    observer.due('a', 'k', 'bad', Date.now());
    await settle();
    expect(open()).toEqual(['bad']);
  });
});

describe('Looks at once', () => {
  test('are as many as allowed, the others follow in order', async () => {
    make(2);
    for (const key of ['1', '2', '3', '4']) observer.due('a', key, key, start);
    await settle();
    expect(open()).toEqual(['1', '2']);
    await answer('2');
    expect(open()).toEqual(['1', '3']);
    running[0]!.fail(new Error('no'));
    await settle();
    expect(open()).toEqual(['3', '4']);
  });

  test('of what was forgotten while it waited are not made, and asked for anew are made once', async () => {
    make(1);
    observer.due('a', '1', '1', start);
    observer.due('a', '2', 'old', start);
    await settle();
    observer.forget('a', new Set(['1']));
    observer.due('a', '2', 'new', start);
    await settle();
    await answer('1');
    expect(open()).toEqual(['new']);
    await answer('new');
    expect(begun()).toEqual(['1 +0', 'new +0']);
    expect(open()).toEqual([]);
  });

  test('whatever is asked, answered and forgotten: never more than allowed, never two of one key', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({
          do: fc.constant('due' as const),
          key: fc.constantFrom('1', '2', '3', '4', '5'),
          at: fc.integer({min: 0, max: 50}),
        }),
        fc.record({do: fc.constantFrom('answer' as const, 'fail' as const), pick: fc.nat()}),
        fc.record({do: fc.constant('wait' as const), ms: fc.integer({min: 0, max: 6000})}),
      ),
      {maxLength: 40},
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        running = [];
        make(3);
        for (const step of all) {
          if (step.do === 'due') observer.due('a', step.key, step.key, Date.now() + step.at);
          else if (step.do === 'wait') await jest.advanceTimersByTimeAsync(step.ms);
          else {
            const pending = running.filter((r) => r.open);
            const one = pending[step.pick % Math.max(1, pending.length)];
            if (step.do === 'answer') one?.answer('x');
            else one?.fail(new Error('no'));
            await settle();
          }
          expect(open().length).toBeLessThanOrEqual(3);
          expect(new Set(open()).size).toBe(open().length);
        }
        observer.stop();
      }),
      {numRuns: 50},
    );
  });
});

describe('What is forgotten', () => {
  test('is not looked at, and nothing is known of it; what is kept stays', async () => {
    observer.due('a', '1', '1', start);
    observer.due('a', '2', '2', start);
    await settle();
    await answer('1');
    await answer('2');
    observer.due('a', '1', '1', start + 1000);
    observer.due('a', '2', '2', start + 1000);
    observer.forget('a', new Set(['2']));
    expect([observer.latest('a', '1'), observer.latest('a', '2')?.result]).toEqual([undefined, 'seen 2']);
    await jest.advanceTimersByTimeAsync(2000);
    expect(open()).toEqual(['2']);
    observer.forget('a');
    expect(observer.latest('a', '2')).toBeUndefined();
  });

  test('while it is being looked at stays forgotten when the answer comes', async () => {
    observer.due('a', 'k', 'q', start);
    await settle();
    observer.forget('a');
    await answer('q');
    expect(observer.latest('a', 'k')).toBeUndefined();
  });
});

describe('The stop', () => {
  test('aborts the looks under way, drops the rest, and nobody is called any more', async () => {
    make(1);
    observer.due('a', '1', '1', start);
    observer.due('a', '2', '2', start);
    observer.due('a', '3', '3', start + 1000);
    await settle();
    observer.stop();
    expect(running[0]!.signal.aborted).toBe(true);
    running[0]!.fail(new Error('aborted'));
    observer.due('a', '4', '4', start);
    await jest.advanceTimersByTimeAsync(10_000);
    expect([begun(), results, errors]).toEqual([['1 +0'], [], []]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
