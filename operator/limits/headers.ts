/**
 * The headers that tell a client where it stands, on every response: the three X-RateLimit ones, and beside them those of the IETF's
 * draft-ietf-httpapi-ratelimit-headers-10 (structured fields, RFC 9651), to which each window is a quota policy.
 */
import type {PoolStanding, CallerQuota} from './verdict.ts';
import type {WindowName} from '../api/windows.ts';
import {isTighter, lengthSeconds} from './window.ts';

/** A verdict is one: on a refusal it says which window is exhausted, of several the one that ends last, and how long to wait. */
export type LimitsTold = CallerQuota & {exhausted?: WindowName; retryAfterSeconds?: number};

/** Values by name. A number is written by whoever sends it. */
export type HeaderValues = Record<string, string | number>;

/**
 * Header names in lower case. The three X-RateLimit ones show the tightest window of all pools; the draft's list every pool, as
 * `POLICY-minute` and `POLICY-day`. Each request needs this, so texts that change once a second or less often are cached, no closure is
 * allocated for a request with one pool, and the windows are spelled out: a loop over them takes 50 ns more.
 */
export function limitHeaders(told: LimitsTold): HeaderValues {
  const {minuteLimit, minuteRemaining, minuteEnd, dayLimit, dayRemaining, dayEnd, each} = told;
  const isDay = dayLimit !== undefined && showsDay(told, dayRemaining!, dayEnd!);
  return withWait(told, {
    'x-ratelimit-limit': isDay ? dayLimit : minuteLimit,
    'x-ratelimit-remaining': isDay ? dayRemaining! : minuteRemaining,
    'x-ratelimit-reset': isDay ? dayEnd! : minuteEnd,
    'ratelimit-policy': each ? each.map(policiesOf).join(', ') : policiesOf(told),
    ratelimit: each ? remainingTexts(each, told) : remainingText(told, told),
  });
}

const remainingTexts = (pools: readonly PoolStanding[], told: LimitsTold): string =>
  pools.map((pool) => remainingText(pool, told)).join(', ');

function policiesOf({policy, minuteLimit, dayLimit}: PoolStanding): string {
  const texts = textsOf(policy);
  return dayLimit === undefined ? texts.minutePolicy(minuteLimit) : texts.policies(minuteLimit)(dayLimit);
}

function remainingText(pool: PoolStanding, told: LimitsTold): string {
  const {policy, minuteRemaining, minuteEnd, dayRemaining, dayEnd} = pool;
  const texts = textsOf(policy);
  const ofMinute = `${texts.minuteName}${minuteRemaining}`;
  const minuteWait = wait('minute', minuteEnd, told);
  if (dayRemaining === undefined || dayEnd === undefined) return `${ofMinute}${untilReset(minuteWait)}`;
  return `${ofMinute}${texts.untilDay(minuteWait)}${dayRemaining}${untilReset(wait('day', dayEnd, told))}`;
}

/** Both headers of a request that is charged to one pool, and is about others: those of all. */
export const withPool = (about: CallerQuota, charged: CallerQuota): CallerQuota => ({
  ...about,
  each: [...(about.each ?? [about]), ...(charged.each ?? [charged])],
});

function withWait({retryAfterSeconds}: LimitsTold, headers: HeaderValues): HeaderValues {
  if (retryAfterSeconds !== undefined) headers['retry-after'] = retryAfterSeconds;
  return headers;
}

/** The exhausted window, or the one with the fewest left; ties go to the later reset. */
const showsDay = ({exhausted, minuteRemaining, minuteEnd}: LimitsTold, dayRemaining: number, dayEnd: number): boolean =>
  exhausted === undefined
    ? isTighter(dayRemaining, dayEnd, {remaining: minuteRemaining, endSeconds: minuteEnd})
    : exhausted === 'day';

/** Caches what is made of a number, for so many numbers. Consecutive requests mostly need the same text. */
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

/** Caches the texts of a minute's seconds. Pools have minutes of their own, so the last text is rarely the next one. */
function keptOfMinute(make: (seconds: number) => string): (seconds: number) => string {
  const known: string[] = [];
  return (seconds) => (seconds > minuteSeconds ? make(seconds) : (known[seconds] ??= make(seconds)));
}

/** The parts of the texts of one policy. */
const makeTexts = (policy: string) => {
  // A further window does not compile until this file has it.
  const names = {minute: `"${policy}-minute"`, day: `"${policy}-day"`} satisfies Record<WindowName, string>;
  const minutePolicy = kept((perMinute) => `${names.minute};q=${perMinute};w=${minuteSeconds}`);
  return {
    minuteName: `${names.minute};r=`,
    untilDay: keptOfMinute((seconds) => `;t=${seconds}, ${names.day};r=`),
    minutePolicy,
    policies: kept((perMinute) =>
      kept((perDay) => `${minutePolicy(perMinute)}, ${names.day};q=${perDay};w=${daySeconds}`),
    ),
  };
};
const textsByPolicy = new Map<string, ReturnType<typeof makeTexts>>();
const mostPolicies = 1000;
let last = {policy: '', texts: makeTexts('')};

function textsOf(policy: string): ReturnType<typeof makeTexts> {
  if (policy === last.policy) return last.texts;
  let texts = textsByPolicy.get(policy);
  if (!texts) {
    if (textsByPolicy.size >= mostPolicies) textsByPolicy.clear();
    textsByPolicy.set(policy, (texts = makeTexts(policy)));
  }
  last = {policy, texts};
  return texts;
}

const untilReset = kept((seconds) => `;t=${seconds}`);

/** The headers of an answer to a banned key: nothing remains until the ban ends, whatever its windows have left. */
export function banHeaders(untilSeconds: number, standing: CallerQuota): HeaderValues {
  const none = <T extends PoolStanding>(pool: T): T => ({
    ...pool,
    minuteRemaining: 0,
    minuteEnd: untilSeconds,
    ...(pool.dayLimit !== undefined && {dayRemaining: 0, dayEnd: untilSeconds}),
  });
  return limitHeaders({
    ...none(standing),
    ...(standing.each && {each: standing.each.map(none)}),
    retryAfterSeconds: secondsUntil(untilSeconds, standing),
  });
}

const secondsUntil = (thenSeconds: number, {nowSeconds}: CallerQuota): number => Math.max(0, thenSeconds - nowSeconds);

/** The draft requires the same time in the reset of the exhausted window and in Retry-After. */
const wait = (name: WindowName, endSeconds: number, told: LimitsTold): number =>
  told.retryAfterSeconds !== undefined && told.exhausted === name && endOf(name, told) === endSeconds
    ? told.retryAfterSeconds
    : secondsUntil(endSeconds, told);

const endOf = (name: WindowName, {minuteEnd, dayEnd}: CallerQuota): number | undefined =>
  name === 'day' ? dayEnd : minuteEnd;
