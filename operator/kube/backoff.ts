export interface Backoff {
  /** Upper bound of the first wait. */
  baseMs: number;
  /** Upper bound of every wait. */
  capMs: number;
  /** In [0, 1); `Math.random` by default. */
  random?: () => number;
}

/**
 * The wait in ms after the `failures`-th failure in a row (1, 2, ...). It doubles from `baseMs` to `capMs`. The upper half of the
 * wait is random, so that callers that failed together do not retry together.
 */
export function backoffMs(failures: number, {baseMs, capMs, random = Math.random}: Backoff): number {
  const bound = Math.min(capMs, baseMs * 2 ** Math.min(Math.max(failures - 1, 0), 40));
  return bound / 2 + (bound / 2) * random();
}
