/** Times in the format of status, and in the format for people. */
import type {Condition} from '../api/rules.ts';
import {cut} from '../api/rules.ts';

/** RFC 3339 without fractions, as Kubernetes writes times. */
export const timestamp = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Greatest difference between the clocks of two processes that is tolerated, ms. */
export const skewMs = 60_000;

/**
 * The time of a past event, as stored (RFC 3339). A time in the future counts as now: the process that stored it had a clock that ran
 * ahead, and everything that counts from the event would wait for as long.
 */
export const pastTime = <T extends string | undefined>(time: T, now: number): T | string =>
  time !== undefined && Date.parse(time) > now + skewMs ? timestamp(now) : time;

/** An RFC 3339 time for people: `2026-03-08 13:00 UTC`. */
export const minuteOf = (time: string) => `${time.slice(0, 16).replace('T', ' ')} UTC`;

/** A time for people, rounded up to the minute. It always has the date, so that the text does not change as the time comes near. */
export const moment = (ms: number) => minuteOf(wholeMinute(ms));

/** The same time, RFC 3339. */
export const wholeMinute = (ms: number) => timestamp(Math.ceil(ms / 60_000) * 60_000);

/** A time span for people. */
export const span = (ms: number) =>
  ms < 120_000
    ? `${Math.round(ms / 1000)} seconds`
    : ms < 7_200_000
      ? `${Math.round(ms / 60_000)} minutes`
      : ms < 172_800_000
        ? `${Math.round(ms / 3_600_000)} hours`
        : `${Math.round(ms / 86_400_000)} days`;

/** Length of the longest message in characters, as in the schema. */
export const longestMessage = 2048;

/** A condition without its times. */
export interface TimelessCondition {
  type: string;
  status: Condition['status'];
  reason: string;
  message: string;
}

/** Adds times to conditions: `lastTransitionTime` changes only when `status` changes (api-conventions). */
export function withTimes(
  claims: readonly TimelessCondition[],
  previous: readonly Condition[],
  generation: number,
  now: number,
): Condition[] {
  return claims.map((claim) => {
    const before = previous.find((c) => c.type === claim.type);
    return {
      ...claim,
      message: cut(claim.message, longestMessage),
      observedGeneration: generation,
      lastTransitionTime: before?.status === claim.status ? pastTime(before.lastTransitionTime, now) : timestamp(now),
    };
  });
}
