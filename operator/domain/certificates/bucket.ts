/**
 * Token buckets, as the CA limits orders (GCRA, the generic cell rate algorithm; Let's Encrypt: letsencrypt.org/docs/rate-limits). The
 * state of a bucket is one time: when it is full again if nothing more is taken.
 *
 *   tokens = (perMs - (max(full, now) - now)) / refill            taking one at a time: full = max(full, time) + refill
 *
 * A token whose time is not known yet counts as taken now. A later time never leads to a lower state, so the bucket never has more tokens
 * than the CA's.
 */

/** A bucket that holds at most `limit` tokens (1 or more), and regains one every `perMs / limit`. */
export interface Limit {
  limit: number;
  perMs: number;
}

/** What was taken from one bucket for each limit. Times in ms since the epoch. */
export interface Taken {
  /** When each bucket is full again, after the tokens that were taken at known times. */
  readonly full: readonly number[];
  /** Number of tokens whose time is not known yet. */
  readonly unheard: number;
}

const refillMs = ({limit, perMs}: Limit): number => perMs / limit;

/** When a bucket is full again after one more token was taken. Times never decrease from one call to the next. */
export const fullAfter = (full: number, time: number, limit: Limit): number => Math.max(full, time) + refillMs(limit);

/** What was taken at these times since `since`, before which nothing is known. Infinity: the time is not known yet. */
export function takenAt(times: readonly number[], limits: readonly Limit[], since: number): Taken {
  const known = times.filter((t) => t < Infinity).toSorted((a, b) => a - b);
  return {
    full: limits.map((l) => known.reduce((full, time) => fullAfter(full, time, l), emptyAt(since, l))),
    unheard: times.length - known.length,
  };
}

/** When a bucket that was empty is full. */
export const emptyAt = (time: number, {perMs}: Limit): number => time + perMs;

/** When a bucket is full that is empty until a time, and has one token then. */
export const fullIfOneAt = (time: number, limit: Limit): number => time + limit.perMs - refillMs(limit);

/** When a bucket has `tokens` tokens if nothing more is taken, from `now`. */
const hasAt = (full: number, tokens: number, limit: Limit, now: number): number =>
  // Whole milliseconds, and none for a full bucket.
  Math.max(now, Math.ceil(Math.max(full, now) + tokens * refillMs(limit) - limit.perMs - 1e-6));

/** Number of tokens for each limit. */
type Tokens = (limit: Limit) => number;
const one: Tokens = () => 1;

/** The first time from `now` at which the buckets have these tokens. Infinity: not while the times of so many others are unknown. */
export const roomAt = ({full, unheard}: Taken, limits: readonly Limit[], now: number, tokens = one): number =>
  Math.max(
    now,
    ...limits.map((l, i) => (unheard + tokens(l) > l.limit ? Infinity : hasAt(full[i]!, unheard + tokens(l), l, now))),
  );

/** The time at which the last of `tokens` is taken, if an order takes each token without delay. */
export const lastOf = ({full, unheard}: Taken, limits: readonly Limit[], now: number, tokens: Tokens): number =>
  Math.max(now, ...limits.map((l, i) => hasAt(full[i]!, unheard + tokens(l), l, now)));

/** Number of tokens in the emptiest bucket, 0 or more. */
export const leftOf = ({full, unheard}: Taken, limits: readonly Limit[], now: number): number =>
  Math.max(0, Math.min(...limits.map((l, i) => tokensIn(full[i]!, l, now) - unheard)));

/** Number of tokens in a bucket. */
const tokensIn = (full: number, {limit, perMs}: Limit, now: number): number =>
  full <= now ? limit : Math.max(0, Math.floor(limit - ((full - now) * limit) / perMs + 1e-6));
