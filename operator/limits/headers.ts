/**
 * The headers that tell a client where it stands, on every response: the three X-RateLimit ones, and beside them
 * those of
 * the IETF's draft-ietf-httpapi-ratelimit-headers-10 (structured fields, RFC 9651), to which each window is a quota
 * policy.
 */
import type {WindowState} from './limiter.ts';
import {lengthSeconds} from './window.ts';

/** A verdict is one. */
export interface LimitsTold {
  /** A minute and a day at least. */
  windows: readonly WindowState[];
  /** On a refusal: the exhausted window that ends last, and how long to wait. */
  exhausted?: WindowState;
  retryAfterSeconds?: number;
  /** Unix seconds by the trusted clock, when the windows were looked at. */
  nowSeconds: number;
}

/** Values by name. A number is written by whoever sends it. */
export type Told = Record<string, string | number>;

/**
 * Header names in lower case. The windows of several pools are told as one minute and one day: the tighter of each.
 * Every request waits for this: what changes once a second, or less often, is not written anew each time.
 */
export function limitHeaders(told: LimitsTold): Told {
  let minute: WindowState | undefined;
  let day: WindowState | undefined;
  for (const window of told.windows) {
    if (window.name === 'minute') minute = minute ? tighter(minute, window) : window;
    else day = day ? tighter(day, window) : window;
  }
  return written(told, minute!, day!);
}

function written(told: LimitsTold, minute: WindowState, day: WindowState): Told {
  const shown = told.exhausted ?? tighter(minute, day);
  const headers: Told = {
    'x-ratelimit-limit': shown.limit,
    'x-ratelimit-remaining': shown.remaining,
    'x-ratelimit-reset': shown.resetAtSeconds,
    'ratelimit-policy': policies(minute.limit)(day.limit),
    ratelimit: `"minute";r=${minute.remaining}${untilMinute(wait(minute, told))}${day.remaining}${untilDay(wait(day, told))}`,
  };
  if (told.retryAfterSeconds !== undefined) headers['retry-after'] = told.retryAfterSeconds;
  return headers;
}

/** What is made of a number is kept, for so many numbers. Mostly it is the one of the request before. */
function kept<T>(make: (n: number) => T, atMost = 1000): (n: number) => T {
  const known = new Map<number, T>();
  let last = 0;
  let ofLast = make(last);
  return (n) => {
    if (n === last) return ofLast;
    let made = known.get(n);
    if (made === undefined) {
      if (known.size >= atMost) known.clear();
      known.set(n, (made = make(n)));
    }
    last = n;
    return (ofLast = made);
  };
}

const {minute: minuteSeconds, day: daySeconds} = lengthSeconds;
const policies = kept((perMinute) =>
  kept((perDay) => `"minute";q=${perMinute};w=${minuteSeconds}, "day";q=${perDay};w=${daySeconds}`),
);
const untilMinute = kept((seconds) => `;t=${seconds}, "day";r=`);
const untilDay = kept((seconds) => `;t=${seconds}`);

/** The headers of an answer to a banned key: nothing remains until the ban ends, whatever its windows have left. */
export function banHeaders(untilSeconds: number, windows: readonly WindowState[], nowSeconds: number): Told {
  const banned = windows.map((window) => ({...window, remaining: 0, resetAtSeconds: untilSeconds}));
  return limitHeaders({windows: banned, nowSeconds, retryAfterSeconds: secondsUntil(untilSeconds, nowSeconds)});
}

const secondsUntil = (thenSeconds: number, nowSeconds: number): number =>
  Math.max(0, Math.ceil(thenSeconds - nowSeconds));

/** The draft wants the reset and Retry-After to be the same point in time, where both are told. */
function wait({name, resetAtSeconds}: WindowState, {exhausted, retryAfterSeconds, nowSeconds}: LimitsTold): number {
  const told = exhausted?.name === name && exhausted.resetAtSeconds === resetAtSeconds;
  return told && retryAfterSeconds !== undefined ? retryAfterSeconds : secondsUntil(resetAtSeconds, nowSeconds);
}

/** The one with the fewest left; ties go to the later reset. */
function tighter(a: WindowState, b: WindowState): WindowState {
  if (a.remaining !== b.remaining) return a.remaining < b.remaining ? a : b;
  return b.resetAtSeconds > a.resetAtSeconds ? b : a;
}
