/**
 * The headers that tell a client where it stands, on every response: the three X-RateLimit ones, and beside them those of the IETF's
 * draft-ietf-httpapi-ratelimit-headers-10 (structured fields, RFC 9651), to which each window is a quota policy.
 */
import type {PoolStanding, CallerQuota} from './verdict.ts';
import {isTighter, lengthSeconds} from './window.ts';
import {endIn, limitIn, remainingIn, setStanding, shortestWindow, type WindowName, windows} from '../api/windows.ts';

/** A verdict is one: on a refusal it says which window is exhausted, of several the one that ends last, and how long to wait. */
export type LimitsTold = CallerQuota & {exhausted?: WindowName; retryAfterSeconds?: number};

/** Values by name. A number is written by whoever sends it. */
export type HeaderValues = Record<string, string | number>;

/**
 * Header names in lower case. The three X-RateLimit ones show the tightest window of all pools; the draft's list every pool, as
 * `POLICY-minute` and `POLICY-day`. Each request needs this, so texts that change once a second or less often are cached,
 * and no closure is allocated for a request with one pool.
 */
export function limitHeaders(told: LimitsTold): HeaderValues {
  const {each, exhausted = tightestOf(told)} = told;
  return withWait(told, {
    'x-ratelimit-limit': limitIn(told, exhausted)!,
    'x-ratelimit-remaining': remainingIn(told, exhausted)!,
    'x-ratelimit-reset': endIn(told, exhausted)!,
    'ratelimit-policy': each ? each.map(policiesOf).join(', ') : policiesOf(told),
    ratelimit: each ? remainingTexts(each, told) : remainingText(told, told),
  });
}

const remainingTexts = (pools: readonly PoolStanding[], told: LimitsTold): string =>
  pools.map((pool) => remainingText(pool, told)).join(', ');

function policiesOf(standing: PoolStanding): string {
  let {policies} = textsOf(standing.policy);
  for (let i = 0; i < windows.length; i++) {
    const limit = limitIn(standing, windows[i]!.name);
    if (limit !== undefined) policies = policies.and[i]!(limit);
  }
  return policies.text;
}

function remainingText(standing: PoolStanding, told: LimitsTold): string {
  const {start, between} = textsOf(standing.policy);
  let text = `${start}${remainingIn(standing, shortestWindow)!}`;
  let seconds = wait(shortestWindow, endIn(standing, shortestWindow)!, told);
  for (let i = 1; i < windows.length; i++) {
    const {name} = windows[i]!;
    const remaining = remainingIn(standing, name);
    if (remaining === undefined) continue;
    text = `${text}${between[i]!(seconds)}${remaining}`;
    seconds = wait(name, endIn(standing, name)!, told);
  }
  return `${text}${untilReset(seconds)}`;
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

/** The window with the fewest left; ties go to the later reset. */
function tightestOf(standing: PoolStanding): WindowName {
  let tightest: WindowName = shortestWindow;
  let remaining = remainingIn(standing, tightest)!;
  let endSeconds = endIn(standing, tightest)!;
  for (let w = 1; w < windows.length; w++) {
    const {name} = windows[w]!;
    const left = remainingIn(standing, name);
    const end = endIn(standing, name);
    if (left === undefined || end === undefined || !isTighter(left, end, {remaining, endSeconds})) continue;
    tightest = name;
    remaining = left;
    endSeconds = end;
  }
  return tightest;
}

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

const shortestSeconds = lengthSeconds[shortestWindow];

/** Caches the texts of a minute's seconds. Pools have minutes of their own, so the last text is rarely the next one. */
function keptOfMinute(make: (seconds: number) => string): (seconds: number) => string {
  const known: string[] = [];
  return (seconds) => (seconds > shortestSeconds ? make(seconds) : (known[seconds] ??= make(seconds)));
}

/** The policies of a pool's first windows. */
interface PolicyTexts {
  text: string;
  /** By the place of a further window: its policy added, with that limit. */
  and: readonly ((limit: number) => PolicyTexts)[];
}

const policyTexts = (policy: string, text: string, from: number): PolicyTexts => ({
  text,
  and: windows.map(({name}, w) =>
    kept((limit) =>
      w < from
        ? {text, and: []}
        : policyTexts(policy, `${text}${text && ', '}"${policy}-${name}";q=${limit};w=${lengthSeconds[name]}`, w + 1),
    ),
  ),
});

/** The parts of the texts of one policy. */
const makeTexts = (policy: string) => ({
  policies: policyTexts(policy, '', 0),
  start: `"${policy}-${shortestWindow}";r=`,
  between: windows.map(({name}) => keptOfMinute((seconds) => `;t=${seconds}, "${policy}-${name}";r=`)),
});
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
  const none = <T extends PoolStanding>(pool: T): T => {
    const told = {...pool};
    for (const {name} of windows) {
      const limit = limitIn(pool, name);
      if (limit !== undefined) setStanding(told, name, limit, 0, untilSeconds);
    }
    return told;
  };
  return limitHeaders({
    ...none(standing),
    ...(standing.each && {each: standing.each.map(none)}),
    retryAfterSeconds: secondsUntil(untilSeconds, standing),
  });
}

const secondsUntil = (thenSeconds: number, {nowSeconds}: CallerQuota): number => Math.max(0, thenSeconds - nowSeconds);

/** The draft requires the same time in the reset of the exhausted window and in Retry-After. */
const wait = (name: WindowName, endSeconds: number, told: LimitsTold): number =>
  told.retryAfterSeconds !== undefined && told.exhausted === name && endIn(told, name) === endSeconds
    ? told.retryAfterSeconds
    : secondsUntil(endSeconds, told);
