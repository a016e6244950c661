import {afterEach, beforeEach, describe, expect, jest, test} from '@jest/globals';
import * as fc from 'fast-check';
import type {Looked} from '../../../../operator/controllers/probes/observer.ts';
import type {FairQueueOptions} from '../../../../operator/controllers/probes/fair-queue.ts';
import {Observer} from '../../../../operator/controllers/probes/observer.ts';

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

/** A look for an owner, who is a tenant of its own unless told otherwise. */
const due = (owner: string, key: string, question: string, at: number, tenant = owner) =>
  observer.due({key: owner, tenant}, key, question, at);

/** Of a question `hostname ...`: looks at one hostname are made together. */
const subject = (question: string) => question.split(' ')[0]!;

const begin = (question: string, signal: AbortSignal) =>
  new Promise<string>((resolve, reject) => {
    const look: Running = {
      question,
      at: Date.now(),
      signal,
      open: true,
      answer: (result) => {
        look.open = false;
        resolve(result);
      },
      fail: (error) => {
        look.open = false;
        reject(error);
      },
    };
    running.push(look);
  });

function make(
  seats = 10,
  queue: FairQueueOptions = {seats, share: seats, spare: 0},
  mayBegin = () => Date.now(),
): void {
  observer = new Observer({
    look: (questions, signal) => questions.map((question) => begin(question, signal)),
    onError: (error, question) => errors.push([error, question]),
    subject,
    mayBegin,
    queue,
  });
  observer.onChange((owner) => results.push(owner));
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
    due('a', 'k', 'q', start + 1000);
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
    due('a', 'k', 'q', start - 5000);
    await settle();
    expect(begun()).toEqual(['q +0']);
  });

  test('is made once, however often it is asked for', async () => {
    for (let i = 0; i < 5; i++) due('a', 'k', 'q', start + 100);
    await jest.advanceTimersByTimeAsync(10_000);
    for (let i = 0; i < 5; i++) due('a', 'k', 'q', start + 100);
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
    for (const at of times) due('a', 'k', 'q', start + at);
    await jest.advanceTimersByTimeAsync(5000);
    expect(begun()).toEqual([`q +${expected}`]);
  });

  test('is never later than promised, and at most a fifth of the wait sooner', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.999);
    due('a', 'k', 'q', start + 1000);
    await jest.advanceTimersByTimeAsync(799);
    expect(open()).toEqual([]);
    await jest.advanceTimersByTimeAsync(3);
    expect(open()).toEqual(['q']);
  });

  test('of one key does not touch those of others, and owners may have the same keys', async () => {
    due('a', 'k', 'a-k', start);
    due('a', 'l', 'a-l', start);
    due('b', 'k', 'b-k', start);
    await settle();
    expect(open()).toEqual(['a-k', 'a-l', 'b-k']);
    await answer('b-k');
    expect([observer.latest('a', 'k'), observer.latest('b', 'k')?.result]).toEqual([undefined, 'seen b-k']);
    expect(results).toEqual(['b']);
  });

  test('that is due in weeks sets no endless loop of timers', async () => {
    due('a', 'k', 'q', start + 60 * 86_400_000);
    await jest.advanceTimersByTimeAsync(86_400_000);
    expect(begun()).toEqual([]);
  });
});

describe('A look that throws', () => {
  test('is reported and leaves no result, and the next one waits 5 s however soon it is due', async () => {
    due('a', 'k', 'q', start);
    await settle();
    await answer('q', 'first');
    due('a', 'k', 'q', start);
    await settle();
    running.at(-1)!.fail(new Error('no'));
    await settle();
    expect(observer.latest('a', 'k')?.result).toBe('first');
    expect(errors).toEqual([[new Error('no'), 'q']]);
    expect(results).toEqual(['a', 'a']);
    due('a', 'k', 'q', start);
    await jest.advanceTimersByTimeAsync(4999);
    expect(running).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun().at(-1)).toBe('q +5000');
  });

  test('repeatedly is made at most every 4 s, jitter included', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.999);
    for (let i = 0; i < 60; i++) {
      due('a', 'k', 'q', Date.now());
      await settle();
      running.find((r) => r.open)?.fail(new Error('no'));
      await jest.advanceTimersByTimeAsync(1000);
    }
    expect(running.length).toBeLessThanOrEqual(15);
    expect(running.length).toBeGreaterThanOrEqual(10);
  });

  test('delays no other, and a success ends the pause', async () => {
    due('a', 'k', 'bad', start);
    due('a', 'l', 'good', start);
    await settle();
    running[0]!.fail(new Error('no'));
    await answer('good');
    expect(results).toEqual(['a', 'a']);
    due('a', 'k', 'bad', start);
    await jest.advanceTimersByTimeAsync(5000);
    await answer('bad');
    due('a', 'k', 'bad', Date.now());
    await settle();
    expect(open()).toEqual(['bad']);
  });
});

describe('Looks at once', () => {
  test('are as many as allowed, the others follow in order', async () => {
    make(2);
    for (const key of ['1', '2', '3', '4']) due('a', key, key, start);
    await settle();
    expect(open()).toEqual(['1', '2']);
    await answer('2');
    expect(open()).toEqual(['1', '3']);
    running[0]!.fail(new Error('no'));
    await settle();
    expect(open()).toEqual(['3', '4']);
  });

  test('that were forgotten while they waited are not made, and are made once when they are asked for again', async () => {
    make(1);
    due('a', '1', '1', start);
    due('a', '2', 'old', start);
    await settle();
    observer.forget('a', new Set(['1']));
    due('a', '2', 'new', start);
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
          if (step.do === 'due') due('a', step.key, step.key, Date.now() + step.at);
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

describe('Looks of several tenants', () => {
  const fair = {seats: 4, share: 2, spare: 3};

  test('take turns: who comes last begins before the rest of those who asked for many', async () => {
    make(0, fair);
    for (const tenant of ['a', 'b', 'c'])
      for (let i = 0; i < 500; i++) due(`${tenant}${i}`, 'k', `${tenant}-${i}`, start, tenant);
    await settle();
    due('d', 'k', 'd', start);
    await settle();
    // It has nothing under way: there is a seat for that.
    expect(open()).toEqual(['a-0', 'a-1', 'a-2', 'a-3', 'b-0', 'c-0', 'd']);
  });

  test('leave the line when they are forgotten', async () => {
    make(0, {seats: 1, share: 1, spare: 0});
    due('a', 'k', 'a', start);
    await settle();
    for (const owner of ['b', 'c']) due(owner, 'k', owner, start);
    await settle();
    observer.forget('b');
    await answer('a');
    expect(open()).toEqual(['c']);
  });
});

describe('Looks whose rate is used up', () => {
  /** The next may begin at this time. */
  let free: number;
  beforeEach(() => {
    free = start + 5000;
    make(10, undefined, () => Math.max(Date.now(), free));
  });

  test('wait for it, however soon they are asked for again', async () => {
    due('a', 'k', 'q', start);
    await settle();
    free = start + 60_000;
    due('a', 'k', 'q', start - 1000);
    await jest.advanceTimersByTimeAsync(4999);
    expect(begun()).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun()).toEqual(['q +5000']);
  });

  test('are made with another at the same hostname that may begin, and are not made when they are forgotten', async () => {
    due('a', 'k', 'host a', start);
    due('c', 'k', 'other', start);
    await jest.advanceTimersByTimeAsync(1000);
    free = 0;
    due('b', 'k', 'host b', start);
    observer.forget('c');
    await settle();
    expect(begun()).toEqual(['host b +1000', 'host a +1000']);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(running).toHaveLength(2);
  });
});

describe('Looks at one hostname', () => {
  test('that wait are made together, by one seat, each with its own question and result', async () => {
    make(1);
    due('a', 'k', 'other', start);
    await settle();
    due('b', 'k', 'host b', start);
    due('c', 'k', 'host c', start);
    await settle();
    expect(open()).toEqual(['other']);
    await answer('other');
    expect(open()).toEqual(['host b', 'host c']);
    await answer('host c');
    expect([observer.latest('b', 'k'), observer.latest('c', 'k')?.result]).toEqual([undefined, 'seen host c']);
    await answer('host b');
    expect(observer.latest('b', 'k')?.result).toBe('seen host b');
  });

  test('are made together where one could have been due by now, jitter counted, and not sooner', async () => {
    const later = start + 10_000;
    jest.spyOn(Math, 'random').mockReturnValue(0);
    due('a', 'k', 'host a', later);
    await jest.advanceTimersByTimeAsync(7_999);
    due('b', 'k', 'host b', 0);
    await settle();
    await answer('host b');
    expect(begun()).toEqual(['host b +7999']);
    await jest.advanceTimersByTimeAsync(1);
    due('b', 'k', 'host b', 0);
    await settle();
    expect(begun().slice(1)).toEqual(['host b +8000', 'host a +8000']);
  });

  test('do not wait for one that is under way already: what it saw may be older', async () => {
    due('a', 'k', 'host a', start);
    await jest.advanceTimersByTimeAsync(1000);
    due('b', 'k', 'host b', start);
    await settle();
    expect(begun()).toEqual(['host a +0', 'host b +1000']);
  });

  test('go on while anybody waits for one of them', async () => {
    make(1);
    due('z', 'k', 'other', start);
    await settle();
    for (const owner of ['a', 'b']) due(owner, 'k', `host ${owner}`, start);
    await settle();
    await answer('other');
    observer.forget('a');
    expect(running.at(-1)!.signal.aborted).toBe(false);
    observer.forget('b');
    expect(running.at(-1)!.signal.aborted).toBe(true);
  });
});

describe('What is kept', () => {
  test('is not looked at while it waits, for its time or in line, and what is known of it stays', async () => {
    make(1);
    due('a', 'k', 'q', start);
    due('b', 'k', 'next', start);
    await settle();
    observer.keep('b', 'k');
    await answer('q');
    due('a', 'k', 'q', start + 1000);
    observer.keep('a', 'k');
    await jest.advanceTimersByTimeAsync(5000);
    expect([open(), observer.latest('a', 'k')?.result]).toEqual([[], 'seen q']);
  });

  test('is looked at to the end, where that has begun', async () => {
    due('a', 'k', 'q', start);
    await settle();
    observer.keep('a', 'k');
    await answer('q');
    expect(observer.latest('a', 'k')?.result).toBe('seen q');
  });
});

describe('What is forgotten', () => {
  test('is not looked at, and nothing is known of it; what is kept stays', async () => {
    due('a', '1', '1', start);
    due('a', '2', '2', start);
    await settle();
    await answer('1');
    await answer('2');
    due('a', '1', '1', start + 1000);
    due('a', '2', '2', start + 1000);
    observer.forget('a', new Set(['2']));
    expect([observer.latest('a', '1'), observer.latest('a', '2')?.result]).toEqual([undefined, 'seen 2']);
    await jest.advanceTimersByTimeAsync(2000);
    expect(open()).toEqual(['2']);
    observer.forget('a');
    expect(observer.latest('a', '2')).toBeUndefined();
  });

  test('while it is being looked at stays forgotten when the answer comes', async () => {
    due('a', 'k', 'q', start);
    await settle();
    observer.forget('a');
    await answer('q');
    expect(observer.latest('a', 'k')).toBeUndefined();
  });

  test('while it is being looked at is aborted, nobody is told, and its seat is free when it has ended', async () => {
    make(1);
    due('a', 'k', 'q', start);
    due('b', 'k', 'next', start);
    await settle();
    observer.forget('a');
    expect(running[0]!.signal.aborted).toBe(true);
    expect(open()).toEqual(['q']);
    running[0]!.fail(new Error('aborted'));
    await settle();
    expect([open(), results, errors]).toEqual([['next'], [], []]);
  });

  test('while it is being looked at, and asked for again, is looked at anew', async () => {
    due('a', 'k', 'q', start);
    await settle();
    observer.forget('a');
    due('a', 'k', 'q', start);
    await settle();
    expect(running.map((r) => r.signal.aborted)).toEqual([true, false]);
    running[0]!.answer('old');
    running[1]!.answer('new');
    await settle();
    expect(observer.recent('a', 'k').map((l) => l.result)).toEqual(['new']);
  });
});

describe('The stop', () => {
  test('aborts the looks under way, drops the rest, and nobody is called any more', async () => {
    make(1);
    due('a', '1', '1', start);
    due('a', '2', '2', start);
    due('a', '3', '3', start + 1000);
    await settle();
    observer.stop();
    expect(running[0]!.signal.aborted).toBe(true);
    running[0]!.fail(new Error('aborted'));
    due('a', '4', '4', start);
    await jest.advanceTimersByTimeAsync(10_000);
    expect([begun(), results, errors]).toEqual([['1 +0'], [], []]);
    expect(jest.getTimerCount()).toBe(0);
  });
});

test('Thousands of looks that are due some time have one timer', async () => {
  for (let i = 999; i >= 0; i--) due('a', `k${i}`, `q${i}`, start + 1000 + 7 * i);
  expect(jest.getTimerCount()).toBe(1);
  await jest.advanceTimersByTimeAsync(1000);
  expect([begun(), jest.getTimerCount()]).toEqual([['q0 +1000'], 1]);
  observer.forget('a');
  expect(jest.getTimerCount()).toBe(0);
});

/** Observations of one subject in succession, with these results. */
async function lookedAt(answers: string[][], remembers?: () => boolean) {
  const looks = [...answers];
  const every = new Observer<string, string[]>({
    look: () => [Promise.resolve(looks.shift()!)],
    onError: () => {},
    subject,
    ...(remembers && {remembers}),
    queue: {seats: 1, share: 1, spare: 0},
  });
  for (const i of answers.keys()) {
    every.due({key: 'owner', tenant: 'tenant'}, 'key', 'question', start + 1000 * i);
    await jest.advanceTimersByTimeAsync(1000);
  }
  return every;
}

test('Of results only the newest is kept, where nobody asks how they came one after the other', async () => {
  const every = await lookedAt([['one'], ['two'], ['three']]);
  expect(every.recent('owner', 'key').map((l) => l.result)).toEqual([['three']]);
  every.stop();
});

test('A result that equals the one before is kept once, with a time of its own', async () => {
  const every = await lookedAt([['one'], ['one'], ['two']], () => true);
  const [first, second, third] = every.recent('owner', 'key');
  expect([first, second, third].map((l) => [l?.result, l && l.at - start])).toEqual([
    [['one'], 0],
    [['one'], 1000],
    [['two'], 2000],
  ]);
  expect(second?.result).toBe(first?.result);
  every.stop();
});

test('a sample of the questions that match is asked at once, each of them with the same chance', async () => {
  make();
  const names = Array.from({length: 20}, (_, i) => `h${i}`);
  for (const name of names) due('owner', name, name, start + 3_600_000);
  due('owner', 'other', 'other', start + 3_600_000);
  expect(observer.sample(3, (question) => question.startsWith('h'))).toBe(20);
  await settle();
  expect(open()).toHaveLength(3);
  expect(open().filter((question) => !names.includes(question))).toEqual([]);
  expect(observer.sample(3, () => false)).toBe(0);
});

test('A result from before the clock was set back is unknown, and the next look is made at once', async () => {
  due('a', 'k', 'q', start);
  await settle();
  await answer('q');
  jest.setSystemTime(start - 3_600_000);
  expect(observer.latest('a', 'k')).toBeUndefined();
  due('a', 'k', 'q', start - 3_600_000);
  await settle();
  expect(begun()).toEqual(['q +0', 'q +-3600000']);
});
