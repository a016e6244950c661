import {describe, expect, test} from '@jest/globals';
import {banHeaders, limitHeaders} from '../../../operator/limits/headers.ts';
import type {WindowState} from '../../../operator/limits/limiter.ts';

const minute = (remaining: number, resetAtSeconds = 1060, limit = 60): WindowState => ({
  name: 'minute',
  limit,
  remaining,
  resetAtSeconds,
  lengthSeconds: 60,
});
const day = (remaining: number, resetAtSeconds = 2000, limit = 1000): WindowState => ({
  name: 'day',
  limit,
  remaining,
  resetAtSeconds,
  lengthSeconds: 86_400,
});

describe('what a client is told', () => {
  test('of two windows, the one with fewest left', () => {
    const windows = [minute(59), day(12)];
    expect(limitHeaders({windows, nowSeconds: 1000.25})).toEqual({
      'x-ratelimit-limit': 1000,
      'x-ratelimit-remaining': 12,
      'x-ratelimit-reset': 2000,
      'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      ratelimit: '"minute";r=59;t=60, "day";r=12;t=1000',
    });
    expect(limitHeaders({windows: [minute(11), day(12)], nowSeconds: 1000})).toMatchObject({
      'x-ratelimit-limit': 60,
      'x-ratelimit-remaining': 11,
      'x-ratelimit-reset': 1060,
    });
  });

  test('of two windows with as many left, the one that ends later', () => {
    for (const windows of [
      [minute(7), day(7)],
      [day(7), minute(7)],
    ]) {
      expect(limitHeaders({windows, nowSeconds: 1000})['x-ratelimit-reset']).toBe(2000);
    }
  });

  test('on a refusal, the exhausted window that ends last, and the wait', () => {
    const windows = [minute(0), day(0)];
    expect(limitHeaders({windows, exhausted: windows[1]!, retryAfterSeconds: 1031, nowSeconds: 1000})).toEqual({
      'x-ratelimit-limit': 1000,
      'x-ratelimit-remaining': 0,
      'x-ratelimit-reset': 2000,
      'retry-after': 1031,
      'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      ratelimit: '"minute";r=0;t=60, "day";r=0;t=1031',
    });
    const ofMinute = {windows: [minute(0), day(5)], exhausted: minute(0), retryAfterSeconds: 60, nowSeconds: 1000};
    expect(limitHeaders(ofMinute)).toMatchObject({
      'x-ratelimit-limit': 60,
      'x-ratelimit-reset': 1060,
      'retry-after': 60,
      ratelimit: '"minute";r=0;t=60, "day";r=5;t=1000',
    });
  });

  test('of several pools, one minute and one day: the tighter of each', () => {
    const windows = [minute(50, 1060, 60), day(900), minute(9, 1030, 10), day(950, 2000, 5000)];
    expect(limitHeaders({windows, nowSeconds: 1000})).toEqual({
      'x-ratelimit-limit': 10,
      'x-ratelimit-remaining': 9,
      'x-ratelimit-reset': 1030,
      'ratelimit-policy': '"minute";q=10;w=60, "day";q=1000;w=86400',
      ratelimit: '"minute";r=9;t=30, "day";r=900;t=1000',
    });
  });

  test('when banned: nothing left until the end of the ban', () => {
    expect(banHeaders(1900, [minute(60), day(1000)], 1000.5)).toEqual({
      'x-ratelimit-limit': 60,
      'x-ratelimit-remaining': 0,
      'x-ratelimit-reset': 1900,
      'retry-after': 900,
      'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      ratelimit: '"minute";r=0;t=900, "day";r=0;t=900',
    });
  });
});
