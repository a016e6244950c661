/**
 * The headers that tell a client where it stands, on every response: the three X-RateLimit ones, and beside them those of the IETF's
 * draft-ietf-httpapi-ratelimit-headers-10 (structured fields, RFC 9651), to which each window is a quota policy.
 */
import type {Standing} from './limiter.ts';
import {isTighter, lengthSeconds, type WindowName} from './window.ts';

/** A verdict is one: on a refusal it says which window is exhausted, of several the one that ends last, and how long to wait. */
export type LimitsTold = Standing & {exhausted?: WindowName; retryAfterSeconds?: number};

/** Values by name. A number is written by whoever sends it. */
export type Told = Record<string, string | number>;

/**
 * Header names in lower case. Every request waits for this: what changes once a second, or less often, is not written anew each
 * time.
 */
export function limitHeaders(told: LimitsTold): Told {
  const {minuteLimit, minuteRemaining, minuteEnd, dayLimit, dayRemaining, dayEnd} = told;
  const ofMinute = untilMinute(wait('minute', minuteEnd, told));
  if (dayLimit === undefined || dayRemaining === undefined || dayEnd === undefined)
    return withWait(told, {
      'x-ratelimit-limit': minuteLimit,
      'x-ratelimit-remaining': minuteRemaining,
      'x-ratelimit-reset': minuteEnd,
      'ratelimit-policy': minutePolicy(minuteLimit),
      ratelimit: `"minute";r=${minuteRemaining}${ofMinute}`,
    });
  const isDay = showsDay(told, dayRemaining, dayEnd);
  const ofDay = untilDay(wait('day', dayEnd, told));
  return withWait(told, {
    'x-ratelimit-limit': isDay ? dayLimit : minuteLimit,
    'x-ratelimit-remaining': isDay ? dayRemaining : minuteRemaining,
    'x-ratelimit-reset': isDay ? dayEnd : minuteEnd,
    'ratelimit-policy': policies(minuteLimit)(dayLimit),
    ratelimit: `"minute";r=${minuteRemaining}${ofMinute}, "day";r=${dayRemaining}${ofDay}`,
  });
}

function withWait({retryAfterSeconds}: LimitsTold, headers: Told): Told {
  if (retryAfterSeconds !== undefined) headers['retry-after'] = retryAfterSeconds;
  return headers;
}

/** The exhausted window, or the one with the fewest left; ties go to the later reset. */
const showsDay = ({exhausted, minuteRemaining, minuteEnd}: LimitsTold, dayRemaining: number, dayEnd: number): boolean =>
  exhausted === undefined
    ? isTighter(dayRemaining, dayEnd, {remaining: minuteRemaining, endSeconds: minuteEnd})
    : exhausted === 'day';

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
const minutePolicy = kept((perMinute) => `"minute";q=${perMinute};w=${minuteSeconds}`);
const policies = kept((perMinute) => kept((perDay) => `${minutePolicy(perMinute)}, "day";q=${perDay};w=${daySeconds}`));
const untilMinute = kept((seconds) => `;t=${seconds}`);
const untilDay = kept((seconds) => `;t=${seconds}`);

/** The headers of an answer to a banned key: nothing remains until the ban ends, whatever its windows have left. */
export function banHeaders(untilSeconds: number, standing: Standing): Told {
  return limitHeaders({
    ...standing,
    minuteRemaining: 0,
    minuteEnd: untilSeconds,
    ...(standing.dayLimit !== undefined && {dayRemaining: 0, dayEnd: untilSeconds}),
    retryAfterSeconds: secondsUntil(untilSeconds, standing),
  });
}

const secondsUntil = (thenSeconds: number, {nowSeconds}: Standing): number => Math.max(0, thenSeconds - nowSeconds);

/** The draft wants the reset and Retry-After to be the same point in time, where both are told. */
const wait = (name: WindowName, endSeconds: number, told: LimitsTold): number =>
  told.exhausted === name && told.retryAfterSeconds !== undefined
    ? told.retryAfterSeconds
    : secondsUntil(endSeconds, told);
