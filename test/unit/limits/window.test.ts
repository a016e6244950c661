import {describe, expect, test} from '@jest/globals';
import {lengthSeconds, minutePhase, windowEnd, windowKey} from '../../../operator/limits/window.ts';
import {noonMs} from '../../support/limits-time.ts';

describe('windows', () => {
  test('a day ends at midnight UTC', () => {
    expect(windowEnd(lengthSeconds.day, 0, noonMs)).toBe(Date.UTC(2026, 10, 23) / 1000);
    expect(windowEnd(lengthSeconds.day, 0, Date.UTC(2026, 10, 23) - 1)).toBe(Date.UTC(2026, 10, 23) / 1000);
  });

  test('the instant at which a window ends belongs to the next one', () => {
    expect(windowEnd(lengthSeconds.day, 0, Date.UTC(2026, 10, 23))).toBe(Date.UTC(2026, 10, 24) / 1000);
    expect(windowEnd(60, 17, 1_000_000_000_000)).toBeGreaterThan(1_000_000_000);
    const end = windowEnd(60, 17, 1_000_000_000_000);
    expect(windowEnd(60, 17, end * 1000 - 1)).toBe(end);
    expect(windowEnd(60, 17, end * 1000)).toBe(end + 60);
  });

  test("a minute ends at the second that the pool's id gives", () => {
    for (const phase of [0, 1, 30, 59]) {
      const end = windowEnd(60, phase, noonMs);
      expect({second: end % 60, ahead: end - noonMs / 1000}).toEqual({second: phase, ahead: phase || 60});
    }
  });

  test('phases are whole seconds, the same at every start, and spread over the minute', () => {
    const counts = Array.from({length: 60}, () => 0);
    for (let i = 0; i < 6000; i++) counts[minutePhase(`tenant:t${i}`)]!++;
    expect(minutePhase('tenant:acme')).toBe(minutePhase('tenant:acme'));
    expect({fewest: Math.min(...counts) > 50, most: Math.max(...counts) < 160}).toEqual({fewest: true, most: true});
  });

  test('no two windows have the same key', () => {
    const ends = [6, 60, 600].flatMap((end) => ['a', 'b', '0:a'].map((id) => ({end, id})));
    const keys = ends.flatMap(({end, id}) => [windowKey('minute', end, id), windowKey('day', end, id)]);
    expect(new Set(keys).size).toBe(18);
  });
});
