import {describe, expect, test} from '@jest/globals';
import {nextRecheck} from '../../../operator/domain/schedule.ts';
import {jitter} from '../../../operator/domain/world.ts';
import {hours, minutes, policy, seconds, t0} from '../../support/world.ts';

const every = policy.recheckIntervalMs;
const names = Array.from({length: 200}, (_, i) => `n${i}.example.com`);

/** Leaders that start at these times. Each leads until `downMs` before the next one starts. `early`: the jitter of each check. */
interface Leaders {
  starts: readonly number[];
  downMs?: number;
  early?: number;
}

function checksOf(hostname: string, {starts, downMs = 0, early = 0}: Leaders): number[] {
  const checks: number[] = [];
  const by = (from: number, due: number) => due - early * (due - from);
  starts.slice(0, -1).forEach((startedAt, i) => {
    const ends = starts[i + 1]! - downMs;
    let at = by(startedAt, nextRecheck({startedAt, policy}, hostname));
    while (at < ends) {
      checks.push(at);
      at = by(at, nextRecheck({startedAt, policy}, hostname, at));
    }
  });
  return checks;
}

const startsEvery = (ms: number, count: number) => Array.from({length: count}, (_, i) => t0 + i * ms);

/** The longest time without a check of any hostname, ms, from the first start to the last one. */
function longestGap(leaders: Leaders): number {
  const {starts} = leaders;
  const gaps = names.flatMap((name) => {
    const times = [starts[0]!, ...checksOf(name, leaders), starts.at(-1)!];
    return times.slice(1).map((at, i) => at - times[i]!);
  });
  return Math.max(...gaps);
}

describe('The regular check of a verified hostname', () => {
  describe.each([
    ['exact', 0],
    ['a little early', jitter / 2],
    ['as early as it may be', jitter - 0.001],
  ])('that is %s', (_name, early) => {
    test.each([
      ['never', 1000 * hours],
      ['every 5 hours', 5 * hours],
      ['every 3 hours', 3 * hours],
      ['every 20 minutes', 20 * minutes],
    ])('is made once in each interval when the leader restarts %s', (_, ms) => {
      const starts = startsEvery(ms, Math.ceil((4 * 24 * hours) / ms) + 1);
      expect(longestGap({starts, early})).toBeLessThanOrEqual(every);
    });

    test('is made at most 1.25 times in each interval while the leader stays', () => {
      const starts = [t0, t0 + 100 * every];
      const most = Math.max(...names.map((name) => checksOf(name, {starts, early}).length));
      expect(most).toBeLessThanOrEqual(126);
    });
  });

  test('is caught up when no leader runs at its time: each restart takes 10 minutes, every 5 hours', () => {
    const downMs = 10 * minutes;
    expect(longestGap({starts: startsEvery(5 * hours, 20), downMs})).toBeLessThanOrEqual(every + 2 * downMs);
  });

  test('is made within half an interval after a start, however long no leader ran', () => {
    const waits = names.map((name) => nextRecheck({startedAt: t0, policy}, name) - t0);
    expect(Math.max(...waits)).toBeLessThanOrEqual(every / 2);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(0);
  });

  test('causes no burst at a start: each tenth of half a period has its share of the hostnames', () => {
    const many = Array.from({length: 10_000}, (_, i) => `n${i}.example.com`);
    const tenth = (every * (1 - jitter)) / 20;
    const tenths = many.map((name) => Math.floor((nextRecheck({startedAt: t0, policy}, name) - t0) / tenth));
    const counts = Array.from({length: 10}, (_, i) => tenths.filter((each) => each === i).length);
    expect(Math.max(...counts)).toBeLessThan(1.2 * 1000);
    expect(Math.min(...counts)).toBeGreaterThan(0.8 * 1000);
  });

  test('stays at its time of the period after a requested check', () => {
    const [name] = names as [string];
    const first = nextRecheck({startedAt: t0, policy}, name, t0);
    expect(nextRecheck({startedAt: t0, policy}, name, first - 2 * hours)).toBe(first);
    expect(nextRecheck({startedAt: t0, policy}, name, first + 3 * seconds)).toBe(first + every * (1 - jitter));
  });
});
