/** Until when resolvers may repeat an old answer, in a message that is told more than once. */

import type {HostDetails, HostStatus} from '../../api/custom-domain.ts';
import type {Refuted, Unknown} from './method.ts';
import {printable} from '../text.ts';
import {minuteOf, wholeMinute} from '../times.ts';

/** BIND's and unbound's longest is a day or a week, whatever a record says. */
const longestRepeatSeconds = 7 * 86_400;

const clock = {begin: ' Resolvers may repeat the old answer until ', end: ' UTC.'};

/**
 * A verdict's message with its time: `... Resolvers may repeat the old answer until 14:32 UTC.` The time is fixed when the message is first
 * published. While the same facts are published (`before`), the message keeps its words, so that status does not change. `at`: time of the
 * check, ms since the epoch.
 */
export function messageAt(verdict: Refuted | Unknown, at: number, before?: {reason: string; message: string}): string {
  if (before && sameBesidesTime(before, verdict)) return before.message;
  const until = repeatedUntil(verdict, at);
  if (until === undefined) return verdict.message;
  const sameDay = until.slice(0, 10) === new Date(at).toISOString().slice(0, 10);
  return `${verdict.message}${clock.begin}${sameDay ? `${until.slice(11, 16)} UTC` : minuteOf(until)}.`;
}

/** Until when resolvers may repeat the old answer, rounded up to the minute; undefined: a minute at most, or unknown. */
function repeatedUntil(verdict: Refuted | Unknown, at: number): string | undefined {
  const seconds = verdict.kind === 'Refuted' ? Math.min(verdict.oldAnswerSeconds ?? 0, longestRepeatSeconds) : 0;
  return seconds < 60 ? undefined : wholeMinute(at + seconds * 1000);
}

/** {@link messageAt}, and its parts for the customer's texts. The time stays as long as the message does. */
export function saidAt(
  verdict: Refuted | Unknown,
  at: number,
  before?: Pick<HostStatus, 'reason' | 'message' | 'details'>,
): Pick<HostStatus, 'message' | 'details'> {
  const message = messageAt(verdict, at, before);
  const endTime = before && sameBesidesTime(before, verdict) ? before.details?.endTime : repeatedUntil(verdict, at);
  const {wildcard, behind} = verdict.kind === 'Refuted' ? verdict : {};
  const details: HostDetails = {
    ...verdict.details,
    ...(endTime !== undefined && {endTime}),
    ...(wildcard !== undefined && {wildcard: `*.${printable(wildcard)}`}),
    ...(behind !== undefined && {service: behind}),
  };
  return {message, ...(Object.keys(details).length > 0 && {details})};
}

/** Whether a message says what a verdict says, apart from until when resolvers may repeat the old answer. */
export const sameBesidesTime = (
  before: {reason: string; message: string},
  {reason, message}: {reason: string; message: string},
) =>
  before.reason === reason &&
  (before.message === message ||
    (before.message.startsWith(message + clock.begin) && before.message.endsWith(clock.end)));
