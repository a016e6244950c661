import {type ApiError, isOfAll, isOfOne} from '../errors.ts';

/** Maximum number of parallel writes of one reconcile, so that other reconciles get connections between them. */
const atOnce = 8;

/**
 * Runs `work` on all items, as Promise.allSettled does, but at most `atOnce` in parallel. Items start in order. After an error that
 * every other item would also get (`isOfAll`), no further item starts. Resolves when no work is running, with the outcomes of all
 * started items.
 */
export async function settleAll<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const outcomes: Promise<R>[] = [];
  let goesOn = true;
  const next = async (): Promise<void> => {
    while (goesOn && outcomes.length < items.length) {
      const outcome = work(items[outcomes.length]!);
      outcomes.push(outcome);
      try {
        await outcome;
      } catch (error) {
        if (isOfAll(error)) goesOn = false;
      }
    }
  };
  await Promise.all(Array.from({length: atOnce}, next));
  return Promise.allSettled(outcomes);
}

/**
 * Returns the first failure if every failure concerns a single item (`isOfOne`). Otherwise throws the first error that concerns
 * more.
 */
export function failureOf(outcomes: readonly PromiseSettledResult<unknown>[]): ApiError | undefined {
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  const ofMore = errors.find((error) => !isOfOne(error));
  if (ofMore !== undefined) throw ofMore;
  return errors.find(isOfOne);
}

/** Like `settleAll`, but with the result of Promise.all: throws the first error, after all running work has ended. */
export async function doAll<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const outcomes = await settleAll(items, work);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
}
