/** Times of the next DNS checks and edge probes. All times in ms since the epoch. */
import type {Hostname} from './hostnames/hostname.ts';
import type {EarlierChecks, Policy, World} from './world.ts';
import {jitter} from './world.ts';

/** Shortest time between a check and a requested next check, ms. */
const shortestCheckMs = 10_000;

/** How often a hostname that is removed and added again, in any object of its tenant, gets an immediate first check. */
const mostAnew = 4;

/**
 * The next automatic check while waiting, by the schedule's step for the time waited so far; undefined after the wait has expired. Time
 * waited before the hostname was added again also counts for the step, but does not bring the expiry forward.
 */
export function nextWaitingCheck(
  policy: Policy,
  addedAt: number,
  lastCheck: number | undefined,
  now: number,
  earlier?: EarlierChecks,
): number | undefined {
  if (now >= addedAt + policy.verificationExpiresAfterMs) return undefined;
  if (lastCheck === undefined && (earlier === undefined || earlier.anew < mostAnew)) return now;
  const last = lastCheck ?? earlier?.last ?? now;
  let end = Math.min(addedAt, earlier?.since ?? addedAt);
  let every = policy.recheckIntervalMs;
  for (const step of policy.waitSchedule) {
    end += step.forMs;
    every = step.everyMs;
    if (last < end) break;
  }
  return last + every;
}

/** A requested check runs at once, but not sooner than {@link shortestCheckMs} after the last one. */
export const soonest = (scheduled: number, isAsked: boolean, lastCheck: number | undefined, now: number): number =>
  isAsked ? Math.min(scheduled, Math.max(now, (lastCheck ?? -Infinity) + shortestCheckMs)) : scheduled;

/** The position of a hostname in a span of time, from 0 to 1: by a hash of its name. It spreads checks of many hostnames over the span. */
export function spreadOf(hostname: Hostname): number {
  let hash = 0;
  for (let i = 0; i < hostname.length; i++) hash = (hash * 31 + hostname.charCodeAt(i)) % 1_000_003;
  return hash / 1_000_003;
}

/**
 * The next regular check of a verified hostname, ms since the epoch. `last`: its last check by this process; undefined: none so far.
 *
 * Each hostname has a fixed time in every period, which no start moves. A check that is early by {@link jitter} counts for the time that
 * follows. The period is shorter than the interval by the jitter, so no gap between two checks is longer than the interval.
 *
 * A check that was due up to half a period before a start may be missed. Its second due time mirrors the first one: 10 minutes before the
 * start become 10 minutes after it. So a start at most doubles the rate of checks for half a period, and catches up without a burst.
 */
export function nextRecheck(
  {startedAt, policy}: Pick<World, 'startedAt' | 'policy'>,
  hostname: Hostname,
  last?: number,
): number {
  const interval = policy.recheckIntervalMs;
  const period = interval * (1 - jitter);
  const from = last ?? startedAt;
  const since = (from - Math.floor(spreadOf(hostname) * period)) % period;
  const left = period - since;
  if (last === undefined) return from + Math.min(since, left);
  return from + (left > interval * jitter ? left : left + period);
}

const hour = 3_600_000;

/**
 * When to read cert-manager's messages about an unfinished attempt again: a cause may appear late, and change. Reads become rarer with
 * the attempt's age.
 */
export const nextReading = (began: number, lastRead: number): number =>
  lastRead + Math.min(hour, Math.max(10_000, (lastRead - began) / 2));

/** Time of the next edge probe: frequent at first, then every 15 s. */
export const nextEdgeLook = (since: number, last: number | undefined, now: number) =>
  last === undefined ? now : last + Math.min(15_000, Math.max(250, (last - since) / 2));
