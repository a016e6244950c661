import {type ApiError, isOfAll, isOfOne} from './errors.ts';

/** So many writes of one reconcile are under way at once: others have their turn between them. */
const atOnce = 8;

/**
 * Does work on all items, side by side and begun in their order, as Promise.allSettled does; but a few at once, and after an error
 * that each of the others would meet as well (`isOfAll`) nothing more is begun. Resolves when nothing of it runs any more, with
 * the outcome of what was begun.
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

/** The first failure among outcomes if each failure concerns a single item (`isOfOne`). Throws the first error that concerns more. */
export function failureOf(outcomes: readonly PromiseSettledResult<unknown>[]): ApiError | undefined {
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  const ofMore = errors.find((error) => !isOfOne(error));
  if (ofMore !== undefined) throw ofMore;
  return errors.find(isOfOne);
}

/** As `settleAll`, but with what Promise.all gives: throws the first error, but only when nothing of it runs any more. */
export async function doAll<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const outcomes = await settleAll(items, work);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
}
