import {describe, expect, test} from '@jest/globals';
import {CheckTimes} from '../../../../operator/controllers/state/check-times.ts';
import {nextWaitingCheck} from '../../../../operator/domain/schedule.ts';
import {hours, minutes, policy, seconds, t0} from '../../../support/world.ts';

const hostname = 'docs.example.com';

describe('The times of checks', () => {
  test('are of a tenant and a hostname: when they began, the last of them, how often one was the first of a new entry', () => {
    const checks = new CheckTimes();
    checks.note('acme', hostname, t0, true);
    checks.note('acme', hostname, t0 + minutes, false);
    checks.note('acme', hostname, t0 + 2 * minutes, true);
    const now = t0 + 3 * minutes;
    expect(checks.of('acme', hostname, now)).toEqual({since: t0, last: t0 + 2 * minutes, anew: 1});
    expect(checks.of('other', hostname, now)).toBeUndefined();
    expect(checks.of('acme', 'www.example.com', now)).toBeUndefined();
  });

  test('are forgotten an hour after the last', () => {
    const checks = new CheckTimes();
    checks.note('acme', hostname, t0, true);
    expect(checks.of('acme', hostname, t0 + hours - 1)).toBeDefined();
    expect(checks.of('acme', hostname, t0 + hours)).toBeUndefined();
    checks.note('acme', hostname, t0 + hours, true);
    expect(checks.of('acme', hostname, t0 + hours)).toEqual({since: t0 + hours, last: t0 + hours, anew: 0});
  });

  test('are remembered of so many hostnames, those that were checked last', () => {
    const checks = new CheckTimes(2);
    for (const name of ['a.test', 'b.test', 'a.test', 'c.test']) checks.note('acme', name, t0, true);
    expect(['a.test', 'b.test', 'c.test'].map((name) => checks.of('acme', name, t0) !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
  });
});

/** How many checks are made in this time of a hostname that is added anew so often. */
function checksIn(timeMs: number, addedEveryMs: number): number {
  const checks = new CheckTimes();
  let [made, addedAt, checkedAt] = [0, t0, undefined as number | undefined];
  for (let now = t0; now < t0 + timeMs; now += seconds) {
    if (now - addedAt >= addedEveryMs) [addedAt, checkedAt] = [now, undefined];
    const at = nextWaitingCheck(policy, addedAt, checkedAt, now, checks.of('acme', hostname, now));
    if (at === undefined || at > now) continue;
    checks.note('acme', hostname, now, checkedAt === undefined);
    checkedAt = now;
    made++;
  }
  return made;
}

describe('A hostname that is removed and added again and again', () => {
  test.each([1, 7, 20, 90, 600])('every %s s has four checks more in a day than one that stays', (every) => {
    const stays = checksIn(24 * hours, Infinity);
    const edited = checksIn(24 * hours, every * seconds);
    expect(stays).toBeGreaterThan(300);
    expect(edited).toBeLessThanOrEqual(stays + 4);
  });

  test('has its first check at once, four times', () => {
    expect(checksIn(5 * seconds, seconds)).toBe(5);
    expect(checksIn(15 * seconds, seconds)).toBe(5);
  });
});
