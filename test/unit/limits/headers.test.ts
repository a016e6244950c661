import {describe, expect, test} from '@jest/globals';
import {banHeaders, limitHeaders} from '../../../operator/limits/headers.ts';
import type {CallerQuota} from '../../../operator/limits/verdict.ts';

const standing = (minuteRemaining: number, dayRemaining: number, rest: Partial<CallerQuota> = {}): CallerQuota => ({
  policy: 'plan',
  minuteLimit: 60,
  minuteRemaining,
  minuteEnd: 1060,
  dayLimit: 1000,
  dayRemaining,
  dayEnd: 2000,
  nowSeconds: 1000,
  ...rest,
});

describe('what a client is told', () => {
  test('of two windows, the one with fewest left', () => {
    expect(limitHeaders(standing(59, 12))).toEqual({
      'x-ratelimit-limit': 1000,
      'x-ratelimit-remaining': 12,
      'x-ratelimit-reset': 2000,
      'ratelimit-policy': '"plan-minute";q=60;w=60, "plan-day";q=1000;w=86400',
      ratelimit: '"plan-minute";r=59;t=60, "plan-day";r=12;t=1000',
    });
    expect(limitHeaders(standing(11, 12))).toMatchObject({
      'x-ratelimit-limit': 60,
      'x-ratelimit-remaining': 11,
      'x-ratelimit-reset': 1060,
    });
  });

  test('of two windows with as many left, the one that ends later', () => {
    expect(limitHeaders(standing(7, 7))['x-ratelimit-reset']).toBe(2000);
    expect(limitHeaders(standing(7, 7, {minuteEnd: 1060, dayEnd: 1030}))['x-ratelimit-reset']).toBe(1060);
  });

  test('on a refusal, the exhausted window that ends last, and the wait', () => {
    expect(limitHeaders({...standing(0, 0), exhausted: 'day', retryAfterSeconds: 1031})).toEqual({
      'x-ratelimit-limit': 1000,
      'x-ratelimit-remaining': 0,
      'x-ratelimit-reset': 2000,
      'retry-after': 1031,
      'ratelimit-policy': '"plan-minute";q=60;w=60, "plan-day";q=1000;w=86400',
      ratelimit: '"plan-minute";r=0;t=60, "plan-day";r=0;t=1031',
    });
    expect(limitHeaders({...standing(0, 5), exhausted: 'minute', retryAfterSeconds: 60})).toMatchObject({
      'x-ratelimit-limit': 60,
      'x-ratelimit-reset': 1060,
      'retry-after': 60,
      ratelimit: '"plan-minute";r=0;t=60, "plan-day";r=5;t=1000',
    });
  });

  test('of several pools, the tightest window, and the policies of each', () => {
    const {nowSeconds: _, ...plan} = standing(59, 12);
    const key = {...plan, policy: 'key-ci', minuteLimit: 5, minuteRemaining: 0, minuteEnd: 1030, dayLimit: undefined};
    const tightest = standing(0, 12, {
      minuteLimit: 5,
      minuteEnd: 1030,
      each: [plan, {...key, dayRemaining: undefined}],
    });
    expect(limitHeaders({...tightest, exhausted: 'minute', retryAfterSeconds: 30})).toEqual({
      'x-ratelimit-limit': 5,
      'x-ratelimit-remaining': 0,
      'x-ratelimit-reset': 1030,
      'retry-after': 30,
      'ratelimit-policy': '"plan-minute";q=60;w=60, "plan-day";q=1000;w=86400, "key-ci-minute";q=5;w=60',
      ratelimit: '"plan-minute";r=59;t=60, "plan-day";r=12;t=1000, "key-ci-minute";r=0;t=30',
    });
  });

  test('when banned: nothing left until the end of the ban', () => {
    expect(banHeaders(1900, standing(60, 1000))).toEqual({
      'x-ratelimit-limit': 60,
      'x-ratelimit-remaining': 0,
      'x-ratelimit-reset': 1900,
      'retry-after': 900,
      'ratelimit-policy': '"plan-minute";q=60;w=60, "plan-day";q=1000;w=86400',
      ratelimit: '"plan-minute";r=0;t=900, "plan-day";r=0;t=900',
    });
  });
});
