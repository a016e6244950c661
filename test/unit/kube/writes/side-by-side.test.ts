import {describe, expect, test} from '@jest/globals';
import {ApiError, NoAnswerError, WriteRefusedError} from '../../../../operator/kube/errors.ts';
import {doAll, settleAll} from '../../../../operator/kube/writes/side-by-side.ts';
import {settled} from '../../../support/kube-clock.ts';

const numbers = Array.from({length: 50}, (_, i) => i);

describe('Work on many items', () => {
  test('is begun in their order, eight at once', async () => {
    const begun: number[] = [];
    const [running, most] = [new Set<number>(), {size: 0}];
    const doubled = await doAll(numbers, async (i) => {
      begun.push(i);
      running.add(i);
      most.size = Math.max(most.size, running.size);
      await settled();
      running.delete(i);
      return 2 * i;
    });
    expect(doubled).toEqual(numbers.map((i) => 2 * i));
    expect(begun).toEqual(numbers);
    expect(most.size).toBe(8);
  });

  test('that fails is told when the last of it has ended, so that nothing is written after it', async () => {
    const {promise: slow, resolve: end} = Promise.withResolvers<void>();
    let told: unknown;
    const all = doAll(['fails', 'slow', 'fails later'], async (item) => {
      if (item === 'slow') return slow;
      throw new Error(item);
    }).catch((error: Error) => (told = error.message));
    await settled();
    expect(told).toBeUndefined();
    end();
    await all;
    expect(told).toBe('fails');
  });

  test('of which one fails goes on with the others', async () => {
    const outcomes = await settleAll(numbers, async (i) => {
      if (i === 3) throw new ApiError({status: 500, body: 'no'});
    });
    expect(outcomes.map(({status}) => status)).toEqual(numbers.map((i) => (i === 3 ? 'rejected' : 'fulfilled')));
  });

  test.each<[string, Error]>([
    ['no answer came', new NoAnswerError('PATCH', new Error('reset'))],
    ['the process no longer leads', new WriteRefusedError('PATCH', new Error('lost'))],
    ['the API server asks to wait', new ApiError({status: 429, body: ''})],
    ['the API server cannot serve', new ApiError({status: 503, body: ''})],
  ])('of which one fails because %s begins nothing more', async (_, error) => {
    const begun: number[] = [];
    const all = doAll(numbers, async (i) => {
      begun.push(i);
      await settled();
      if (i === 0) throw error;
    });
    await expect(all).rejects.toBe(error);
    expect(begun.length).toBeLessThanOrEqual(2 * 8);
  });
});
