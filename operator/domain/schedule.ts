/** When DNS and the edge are looked at next. All times in ms since the epoch. */
import type {Hostname} from './hostname.ts';
import type {EarlierChecks, Policy, World} from './world.ts';

/** Between a check and the next one that somebody asks for. */
const shortestCheckMs = 10_000;

/** A hostname that is removed and added again, in whatever object of its tenant, has its first check at once so often. */
const mostAnew = 4;

/**
 * Time of the next automatic check while waiting, according to the schedule and the time waited so far; undefined when the schedule is
 * over. Time from before the hostname was added again counts, but does not end the schedule earlier.
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

/** A requested check runs at once, but not within the minimum pause after the last check. */
export const soonest = (scheduled: number, isAsked: boolean, lastCheck: number | undefined, now: number): number =>
  isAsked ? Math.min(scheduled, Math.max(now, (lastCheck ?? -Infinity) + shortestCheckMs)) : scheduled;

/**
 * When a proven host counts as last checked after a start, or after a standby has taken over: spread over the interval before it, so
 * that re-checks do not come all at once.
 */
export function lastCheckBefore(world: World, hostname: Hostname): number {
  let hash = 0;
  for (let i = 0; i < hostname.length; i++) hash = (hash * 31 + hostname.charCodeAt(i)) % 1_000_003;
  return world.startedAt - Math.floor((hash / 1_000_003) * world.policy.recheckIntervalMs);
}

const hour = 3_600_000;

/**
 * When what cert-manager says of an attempt that does not end is read again: a cause may show late, and change. The longer it
 * takes, the more rarely.
 */
export const nextReading = (began: number, lastRead: number): number =>
  lastRead + Math.min(hour, Math.max(10_000, (lastRead - began) / 2));

/** How long until the edge is looked at again: soon at first, then every 15 s. */
export const nextEdgeLook = (since: number, last: number | undefined, now: number) =>
  last === undefined ? now : last + Math.min(15_000, Math.max(250, (last - since) / 2));
