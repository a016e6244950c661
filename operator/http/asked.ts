import {Problem} from './problems.ts';

/** Longest wait of a request for the store of records. */
const answerWithinMs = 2000;

/** The answer of the store. If it fails or takes too long, rejects with `unavailable`: that says nothing about the record. */
export async function asked<T>(answer: Promise<T>, detail: string): Promise<T> {
  const {promise: silence, reject} = Promise.withResolvers<never>();
  const timer = setTimeout(reject, answerWithinMs, new Error('no answer'));
  try {
    return await Promise.race([answer, silence]);
  } catch {
    throw new Problem('unavailable', detail, {headers: {'retry-after': '2'}});
  } finally {
    clearTimeout(timer);
  }
}
