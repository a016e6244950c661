/**
 * How long to wait before one looks again, ms, after so long a wait already: a tenth of it. Who waits long finds out a tenth later, and
 * does not keep the API server busy meanwhile, which others wait for.
 */
export const nextLookMs = (waitedMs: number, {leastMs = 20, mostMs = 500} = {}): number =>
  Math.min(Math.max(leastMs, waitedMs / 10), mostMs);
