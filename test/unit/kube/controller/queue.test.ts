import {describe, expect, test} from '@jest/globals';
import {Queue} from '../../../../operator/kube/controller/queue.ts';
import {settled, VirtualClock} from '../../../support/kube-clock.ts';

const backoff = {baseMs: 100, capMs: 1000, random: () => 0.5};

function make(): {queue: Queue; clock: VirtualClock; given: (string | undefined)[]; take: () => Promise<void>} {
  const clock = new VirtualClock();
  const queue = new Queue({clock, backoff});
  const given: (string | undefined)[] = [];
  const take = async (): Promise<void> => {
    void queue.get().then((key) => given.push(key));
    await settled();
  };
  return {queue, clock, given, take};
}

describe('what is urgent', () => {
  test('passes what waits already', async () => {
    const {queue, given, take} = make();
    for (const key of ['a', 'b', 'c']) queue.add(key);
    queue.add('z', {urgent: true});
    queue.add('b', {urgent: true});
    for (let i = 0; i < 4; i++) await take();
    expect(given).toEqual(['z', 'b', 'a', 'c']);
  });

  test('passes the others seven times in a row at most', async () => {
    const {queue, given, take} = make();
    queue.add('a');
    for (let i = 0; i < 10; i++) queue.add(`urgent ${i}`, {urgent: true});
    for (let i = 0; i < 11; i++) await take();
    expect(given.indexOf('a')).toBe(7);
  });

  test('is urgent still after a run that has failed, and no more after one that has not', async () => {
    const {queue, clock, given, take} = make();
    queue.add('z', {urgent: true});
    await take();
    queue.addBackoff('z');
    queue.done('z');
    queue.add('a');
    await clock.advance(1000);
    await take();
    expect(given).toEqual(['z', 'z']);
    queue.done('z');
    queue.add('z');
    await take();
    expect(given).toEqual(['z', 'z', 'a']);
  });
});

describe('what is due now', () => {
  test('keys leave in the order in which they came', async () => {
    const {queue, given, take} = make();
    for (const key of ['b', 'a', 'c']) queue.add(key);
    for (let i = 0; i < 3; i++) await take();
    expect(given).toEqual(['b', 'a', 'c']);
  });

  test('a key that is added three times is given out once', async () => {
    const {queue, given, take} = make();
    for (let i = 0; i < 3; i++) queue.add('a');
    expect(queue.depth).toBe(1);
    await take();
    await take();
    expect(given).toEqual(['a']);
  });

  test('a worker that waits already gets the key at once', async () => {
    const {queue, given, take} = make();
    await take();
    queue.add('a');
    await settled();
    expect(given).toEqual(['a']);
    expect(queue.depth).toBe(0);
  });

  test('adds during a run cause one rerun, after it', async () => {
    const {queue, given, take} = make();
    queue.add('a');
    await take();
    await take();
    for (let i = 0; i < 3; i++) queue.add('a');
    await settled();
    expect(given).toEqual(['a']);
    queue.done('a');
    await settled();
    expect(given).toEqual(['a', 'a']);
    queue.done('a');
    await take();
    expect(given).toEqual(['a', 'a']);
  });
});

describe('what is due later', () => {
  test.each([
    {first: 100, second: 300, due: 100},
    {first: 300, second: 100, due: 100},
  ])('of $first ms and $second ms the earlier wins', async ({first, second, due}) => {
    const {queue, clock, given, take} = make();
    queue.addAfter('a', first);
    queue.addAfter('a', second);
    await take();
    await clock.advance(due - 1);
    expect(given).toEqual([]);
    await clock.advance(1);
    expect(given).toEqual(['a']);
    queue.done('a');
    await take();
    await clock.advance(10_000);
    expect(given).toEqual(['a']);
  });

  test('an add uses up the appointment', async () => {
    const {queue, clock, given, take} = make();
    queue.addAfter('a', 500);
    queue.add('a');
    await take();
    queue.done('a');
    await take();
    await clock.advance(10_000);
    expect(given).toEqual(['a']);
  });

  test('a result that asks for a later run does not undo an add during the run', async () => {
    const {queue, given, take} = make();
    queue.add('a');
    await take();
    queue.add('a');
    queue.addAfter('a', 60_000);
    queue.done('a');
    await take();
    expect(given).toEqual(['a', 'a']);
  });

  test('an appointment that comes up during a run makes one rerun, after it', async () => {
    const {queue, clock, given, take} = make();
    queue.add('a');
    await take();
    queue.addAfter('a', 10);
    await clock.advance(50);
    await take();
    expect(given).toEqual(['a']);
    queue.done('a');
    await settled();
    expect(given).toEqual(['a', 'a']);
  });

  test('a time that no timer can hold is kept all the same', async () => {
    const {queue, clock, given, take} = make();
    const days60 = 60 * 24 * 3600 * 1000;
    queue.addAfter('a', days60);
    await take();
    await clock.advance(days60 - 1);
    expect(given).toEqual([]);
    await clock.advance(1);
    expect(given).toEqual(['a']);
  });

  test('zero and what is no number mean now', async () => {
    const {queue, given, take} = make();
    queue.addAfter('a', 0);
    queue.addAfter('b', Number.NaN);
    await take();
    await take();
    expect(given).toEqual(['a', 'b']);
  });

  test('ten thousand changes of mind about one key leave one timer', async () => {
    const {queue, clock, given, take} = make();
    for (let ms = 20_000; ms > 10_000; ms--) queue.addAfter('a', ms);
    expect(clock.pending).toBe(1);
    await take();
    await clock.advance(10_001);
    expect(given).toEqual(['a']);
  });
});

describe('back-off', () => {
  test('grows by key up to the cap, and starts anew after a success', () => {
    const {queue} = make();
    const waits = (key: string, times: number): number[] => Array.from({length: times}, () => queue.addBackoff(key));
    expect(waits('a', 6)).toEqual([75, 150, 300, 600, 750, 750]);
    expect(waits('b', 1)).toEqual([75]);
    queue.forget('a');
    expect(waits('a', 2)).toEqual([75, 150]);
  });

  test('waits at least as long as the server asked', () => {
    const {queue} = make();
    expect(queue.addBackoff('a', 5000)).toBe(5000);
  });

  test('an add does not wait for it', async () => {
    const {queue, given, take} = make();
    queue.addBackoff('a');
    queue.add('a');
    await take();
    expect(given).toEqual(['a']);
  });
});

describe('the end', () => {
  test('shutdown sends waiting workers home, gives nothing out and takes nothing in', async () => {
    const {queue, clock, given, take} = make();
    await take();
    queue.addAfter('later', 10);
    queue.shutdown();
    queue.add('a');
    queue.addAfter('b', 5);
    await take();
    await clock.advance(100);
    expect(given).toEqual([undefined, undefined]);
    expect(clock.pending).toBe(0);
  });

  test('drain waits for every key that is being worked on, and no rerun follows', async () => {
    const {queue, given, take} = make();
    queue.add('a');
    queue.add('b');
    queue.add('waiting');
    await take();
    await take();
    queue.add('a');
    let drained = false;
    void queue.drain().then(() => (drained = true));
    queue.done('a');
    await settled();
    expect(drained).toBe(false);
    queue.done('b');
    await settled();
    expect(drained).toBe(true);
    await take();
    expect(given).toEqual(['a', 'b', undefined]);
  });
});
