import {beforeEach, describe, expect, test} from '@jest/globals';
import {Breaker} from '../../../../operator/kube/writes/breaker.ts';
import {ApiError, NoAnswerError} from '../../../../operator/kube/errors.ts';
import {configMaps, namespaces} from '../../../support/kube-api.ts';
import {VirtualClock} from '../../../support/kube-clock.ts';

const failure = (status: number, message: string) => new ApiError({status, body: JSON.stringify({message})});
const timeout = failure(500, 'the webhook does not answer');

let clock: VirtualClock;
let breaker: Breaker;
/** What was sent, in order. */
let sent: string[];
beforeEach(() => {
  clock = new VirtualClock();
  breaker = new Breaker(clock);
  sent = [];
});

/** Begins a write that ends after a time, with an error where one is given. Resolves with what its writer hears. */
function write(name: string, afterMs: number, error?: Error, resource = configMaps): Promise<string> {
  const written = breaker.run(resource, async () => {
    sent.push(name);
    await new Promise<void>((resolve) => clock.setTimeout(resolve, afterMs));
    if (error) throw error;
    return 'written';
  });
  return written.catch((e: Error) => e.message);
}

/** Writes of ConfigMaps hang. */
async function hang(): Promise<void> {
  const first = write('first', 30_000, timeout);
  await clock.advance(30_000);
  expect(await first).toBe('request: 500: the webhook does not answer');
  sent = [];
}

describe('While writes of a kind hang until they fail', () => {
  beforeEach(hang);

  test('one is tried at a time; the others hear at once why they were not', async () => {
    const probe = write('a', 30_000, timeout);
    expect(await write('b', 0)).toBe(
      'ConfigMap: not tried while another write of this kind waits for an answer: 500: the webhook does not answer',
    );
    await clock.advance(30_000);
    await probe;
    const next = write('c', 30_000, timeout);
    await clock.advance(30_000);
    await next;
    expect(sent).toEqual(['a', 'c']);
  });

  test('those of other kinds are all tried', async () => {
    void write('a', 30_000, timeout);
    const others = [write('b', 10, undefined, namespaces), write('c', 10, undefined, namespaces)];
    await clock.advance(10);
    expect(await Promise.all(others)).toEqual(['written', 'written']);
  });

  test.each([
    ['is done', undefined],
    ['is refused', failure(422, 'no')],
    ['meets another version', failure(409, 'no')],
    ['fails', failure(500, 'no')],
  ])('all go on when one %s in time', async (_, error) => {
    const probe = write('a', 100, error);
    await clock.advance(100);
    await probe;
    const both = [write('b', 10), write('c', 10)];
    await clock.advance(10);
    expect(await Promise.all(both)).toEqual(['written', 'written']);
  });

  test('one that gets no answer, as none would, says nothing about them: another is tried', async () => {
    const probe = write('a', 100, new NoAnswerError('PATCH', new Error('refused')));
    await clock.advance(100);
    await probe;
    void write('b', 30_000, timeout);
    await write('c', 0);
    expect(sent).toEqual(['a', 'b']);
  });

  test('those that began before that was known end as they do, and no second one is tried for them', async () => {
    breaker = new Breaker(clock);
    const early = write('early', 30_000, timeout);
    const late = write('late', 40_000, timeout);
    await clock.advance(30_000);
    await early;
    void write('a', 30_000, timeout);
    await clock.advance(10_000);
    await late;
    await write('b', 0);
    expect(sent).toEqual(['early', 'late', 'a']);
  });
});

test('A write that fails in time keeps no other from being tried', async () => {
  const first = write('first', 4_999, timeout);
  await clock.advance(4_999);
  await first;
  void write('a', 10);
  void write('b', 10);
  expect(sent).toEqual(['first', 'a', 'b']);
});
