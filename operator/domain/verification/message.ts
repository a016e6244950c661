/** Until when resolvers may repeat an old answer, in a message that is told more than once. */

import type {Refuted, Unknown} from './method.ts';
import {minuteOf} from '../times.ts';

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
  const seconds = verdict.kind === 'Refuted' ? Math.min(verdict.oldAnswerSeconds ?? 0, longestRepeatSeconds) : 0;
  if (seconds < 60) return verdict.message;
  const until = new Date(Math.ceil((at + seconds * 1000) / 60_000) * 60_000).toISOString();
  const sameDay = until.slice(0, 10) === new Date(at).toISOString().slice(0, 10);
  return `${verdict.message}${clock.begin}${sameDay ? `${until.slice(11, 16)} UTC` : minuteOf(until)}.`;
}

/** Whether a message says what a verdict says, apart from until when resolvers may repeat the old answer. */
export const sameBesidesTime = (
  before: {reason: string; message: string},
  {reason, message}: {reason: string; message: string},
) =>
  before.reason === reason &&
  (before.message === message ||
    (before.message.startsWith(message + clock.begin) && before.message.endsWith(clock.end)));
