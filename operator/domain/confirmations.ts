/** Confirms a bad result by later results: one bad result may be a blip. */

export interface Confirmations {
  /** Time of the first bad result, ms since the epoch. */
  since: number;
  /** Number of confirmations so far. */
  confirmed: number;
  /** Time of the last confirmation; without one, of the first bad result. */
  lastAt: number;
}

/**
 * Counts the confirmations in a series of bad results. A result confirms the first one if it comes at least `afterMs[n]` after it, where n
 * is the number of confirmations before. `series`: the bad results since the last good one, the newest last, with times in ms since the
 * epoch. Undefined for an empty series.
 */
export function confirmationsIn(
  series: readonly {at: number}[],
  afterMs: readonly number[],
): Confirmations | undefined {
  const [first, ...others] = series;
  if (!first) return undefined;
  const counted = {since: first.at, confirmed: 0, lastAt: first.at};
  for (const {at} of others)
    if (counted.confirmed < afterMs.length && at >= first.at + afterMs[counted.confirmed]!) {
      counted.confirmed++;
      counted.lastAt = at;
    }
  return counted;
}

/** Whether all confirmations are complete. */
export const isConfirmed = ({confirmed}: Confirmations, afterMs: readonly number[]): boolean =>
  confirmed >= afterMs.length;
