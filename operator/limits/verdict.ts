/** What a caller is told: where its pools stand, and whether its request is admitted. */
import {type Counter, remainingOf} from './counter.ts';
import {endsForAll, hashBelow, isTighter} from './window.ts';
import {
  endIn,
  remainingIn,
  setStanding,
  type WindowLimits,
  type WindowName,
  type WindowStandings,
} from '../api/windows.ts';

export type Quota = WindowLimits;

/** The pools that a request is charged to: the tenant's pool, and the key's own cap if it has one. Ids are opaque, like `tenant:acme`. */
export interface Pool {
  id: string;
  quota: Quota;
  /** Name of the policy in headers for clients: letters, digits, `.`, `-`. Default: `requests`. */
  policy?: string;
}

/** Where one pool stands. */
export interface PoolStanding extends WindowStandings {
  policy: string;
}

/** Where a caller stands: of all its pools the tightest of each window. Flat, because each request makes one. */
export interface CallerQuota extends PoolStanding {
  /** When this was so: whole Unix seconds, by the trusted clock. */
  nowSeconds: number;
  /** Of several pools, each one. */
  each?: readonly PoolStanding[] | undefined;
}

/** `exhausted`: of the exhausted windows the one that ends last. */
export type QuotaRefusal = CallerQuota & {allowed: false; exhausted: WindowName; retryAfterSeconds: number};
export type QuotaVerdict = (CallerQuota & {allowed: true}) | QuotaRefusal;

/** Clients that wait for the end of a window that all pools share retry at different seconds, within so many. */
const jitterSeconds = 60;

/** The counters of the windows in which a pool counts. */
export interface PoolCounters {
  /** The shortest window's counter. The others follow by `next`. */
  first: Counter | undefined;
}

/** An exhausted window. */
export interface ExhaustedWindow {
  counter: Counter;
  pool: Pool;
}

export const later = (spent: ExhaustedWindow | undefined, counter: Counter, pool: Pool): ExhaustedWindow =>
  spent && spent.counter.endSeconds >= counter.endSeconds ? spent : {counter, pool};

type Admission = CallerQuota & {allowed: true};

/** A verdict before it is known whether the request is admitted. */
type Undecided = CallerQuota & {allowed: boolean; exhausted?: WindowName; retryAfterSeconds?: number};

/**
 * Spells out all fields of admissions and refusals. So the functions that read verdicts see objects of one shape, which takes less time
 * than several shapes.
 */
const noStandings = (policy: string, nowSeconds: number): Undecided => ({
  allowed: true,
  policy,
  minuteLimit: 0,
  minuteRemaining: 0,
  minuteEnd: 0,
  dayLimit: undefined,
  dayRemaining: undefined,
  dayEnd: undefined,
  nowSeconds,
  each: undefined,
  exhausted: undefined,
  retryAfterSeconds: undefined,
});

function standingBy({policy = 'requests'}: Pool, {first}: PoolCounters, nowSeconds: number): Undecided {
  const told = noStandings(policy, nowSeconds);
  for (let counter = first; counter; counter = counter.next) {
    const {name, quota, endSeconds} = counter;
    setStanding(told, name, quota, remainingOf(counter, quota), endSeconds);
  }
  return told;
}

/** The answer to an admitted request. */
export const admission = (pools: readonly Pool[], states: readonly PoolCounters[], nowMs: number): Admission =>
  undecided(pools, states, nowMs) as Admission;

function undecided(pools: readonly Pool[], states: readonly PoolCounters[], nowMs: number): Undecided {
  const nowSeconds = Math.floor(nowMs / 1000);
  const told = standingBy(pools[0]!, states[0]!, nowSeconds);
  // A closure in this function would cost every request an allocation.
  return pools.length === 1 ? told : withEach(told, pools, states);
}

function withEach(told: Undecided, pools: readonly Pool[], states: readonly PoolCounters[]): Undecided {
  told.each = pools.map((pool, i) => standingBy(pool, states[i]!, told.nowSeconds));
  for (let i = 1; i < pools.length; i++) tighten(told, states[i]!);
  return told;
}

function tighten(told: CallerQuota, {first}: PoolCounters): void {
  for (let counter = first; counter; counter = counter.next) {
    const {name, quota, endSeconds} = counter;
    const remaining = remainingOf(counter, quota);
    const before = remainingIn(told, name);
    if (before === undefined || isTighter(remaining, endSeconds, {remaining: before, endSeconds: endIn(told, name)!}))
      setStanding(told, name, quota, remaining, endSeconds);
  }
}

/** Told to wait for the exhausted window that ends last: what ends before leaves the other one exhausted. */
export function refusal(
  pools: readonly Pool[],
  states: readonly PoolCounters[],
  {counter, pool}: ExhaustedWindow,
  nowMs: number,
): QuotaRefusal {
  const {name, endSeconds} = counter;
  const jitter = endsForAll[name] ? hashBelow(`${endSeconds}:${pool.id}`, jitterSeconds + 1) : 0;
  const told = undecided(pools, states, nowMs);
  told.allowed = false;
  told.exhausted = name;
  told.retryAfterSeconds = endSeconds - told.nowSeconds + jitter;
  return told as QuotaRefusal;
}
