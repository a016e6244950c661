/** What a caller is told: where its pools stand, and whether its request is admitted. */
import {type Counter, remainingOf} from './counter.ts';
import {hashBelow, isTighter, type WindowName} from './window.ts';

/** `requestsPerDay` absent: the minute alone counts. */
export interface Quota {
  requestsPerMinute: number;
  requestsPerDay?: number;
}

/** The pools that a request is charged to: the tenant's pool, and the key's own cap if it has one. Ids are opaque, like `tenant:acme`. */
export interface Pool {
  id: string;
  quota: Quota;
  /** Name of the policy in headers for clients: letters, digits, `.`, `-`. Default: `requests`. */
  policy?: string;
}

/** Where one pool stands. Ends are Unix seconds by the trusted clock. The day is undefined if the pool counts no days. */
export interface PoolStanding {
  policy: string;
  minuteLimit: number;
  /** Requests that would still be admitted in this minute, if no other request came. */
  minuteRemaining: number;
  minuteEnd: number;
  dayLimit: number | undefined;
  dayRemaining: number | undefined;
  dayEnd: number | undefined;
}

/** Where a caller stands: of all its pools the tighter minute and the tighter day. Flat, because each request makes one. */
export interface CallerQuota extends PoolStanding {
  /** When this was so: whole Unix seconds, by the trusted clock. */
  nowSeconds: number;
  /** Of several pools, each one. */
  each?: readonly PoolStanding[];
}

/** `exhausted`: of the exhausted windows the one that ends last. */
export type QuotaRefusal = CallerQuota & {allowed: false; exhausted: WindowName; retryAfterSeconds: number};
export type QuotaVerdict = (CallerQuota & {allowed: true}) | QuotaRefusal;

/** Clients that wait for the end of a day retry at different seconds, within so many. */
export const dayJitterSeconds = 60;

/** The windows of a pool that count now. */
export interface Windows {
  minute: Counter;
  day: Counter | undefined;
}

/** An exhausted window. */
export interface ExhaustedWindow {
  counter: Counter;
  pool: Pool;
}

export const later = (spent: ExhaustedWindow | undefined, counter: Counter, pool: Pool): ExhaustedWindow =>
  spent && spent.counter.endSeconds >= counter.endSeconds ? spent : {counter, pool};

type Admission = CallerQuota & {allowed: true};

const admissionBy = (
  {policy = 'requests', quota: {requestsPerMinute, requestsPerDay}}: Pool,
  {minute, day}: Windows,
  nowSeconds: number,
): Admission => ({
  allowed: true,
  policy,
  minuteLimit: requestsPerMinute,
  minuteRemaining: remainingOf(minute, requestsPerMinute),
  minuteEnd: minute.endSeconds,
  dayLimit: requestsPerDay,
  dayRemaining: day && requestsPerDay !== undefined ? remainingOf(day, requestsPerDay) : undefined,
  dayEnd: requestsPerDay === undefined ? undefined : day?.endSeconds,
  nowSeconds,
});

/** The answer to an admitted request. */
export function admission(pools: readonly Pool[], states: readonly Windows[], nowMs: number): Admission {
  const nowSeconds = Math.floor(nowMs / 1000);
  const told = admissionBy(pools[0]!, states[0]!, nowSeconds);
  // A closure in this function would cost every request an allocation.
  return pools.length === 1 ? told : withEach(told, pools, states);
}

function withEach(told: Admission, pools: readonly Pool[], states: readonly Windows[]): Admission {
  told.each = pools.map((pool, i) => admissionBy(pool, states[i]!, told.nowSeconds));
  for (let i = 1; i < pools.length; i++) tighten(told, pools[i]!.quota, states[i]!);
  return told;
}

function tighten(told: CallerQuota, {requestsPerMinute, requestsPerDay}: Quota, {minute, day}: Windows): void {
  const ofMinute = remainingOf(minute, requestsPerMinute);
  const {minuteRemaining, minuteEnd, dayRemaining, dayEnd} = told;
  if (isTighter(ofMinute, minute.endSeconds, {remaining: minuteRemaining, endSeconds: minuteEnd})) {
    told.minuteLimit = requestsPerMinute;
    told.minuteRemaining = ofMinute;
    told.minuteEnd = minute.endSeconds;
  }
  if (!day || requestsPerDay === undefined) return;
  const ofDay = remainingOf(day, requestsPerDay);
  if (
    dayRemaining === undefined ||
    dayEnd === undefined ||
    isTighter(ofDay, day.endSeconds, {remaining: dayRemaining, endSeconds: dayEnd})
  ) {
    told.dayLimit = requestsPerDay;
    told.dayRemaining = ofDay;
    told.dayEnd = day.endSeconds;
  }
}

/** Told to wait for the exhausted window that ends last: what ends before leaves the other one exhausted. */
export function refusal(
  pools: readonly Pool[],
  states: readonly Windows[],
  {counter, pool}: ExhaustedWindow,
  nowMs: number,
): QuotaRefusal {
  const {name, endSeconds} = counter;
  const jitter = name === 'day' ? hashBelow(`${endSeconds}:${pool.id}`, dayJitterSeconds + 1) : 0;
  const told = admission(pools, states, nowMs);
  const retryAfterSeconds = endSeconds - told.nowSeconds + jitter;
  return {...told, allowed: false, exhausted: name, retryAfterSeconds};
}
