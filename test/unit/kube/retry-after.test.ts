import {describe, expect, test} from '@jest/globals';
import {ApiError, retryAfterMs} from '../../../operator/kube/errors.ts';
import {secondsToWait} from '../../../operator/kube/retry-after.ts';

const now = Date.parse('1994-11-06T08:48:37Z');

describe('Retry-After', () => {
  test.each<[string, string | null | undefined, number | undefined]>([
    ['a number of seconds', '120', 120],
    ['a number with blanks around it', ' 7 ', 7],
    ['a date', 'Sun, 06 Nov 1994 08:49:37 GMT', 60],
    ['a date in the form of RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT', 60],
    ['a date in the form of asctime', 'Sun Nov  6 08:49:37 1994', 60],
    ['a date that has passed', 'Sun, 06 Nov 1994 08:00:00 GMT', 0],
    ['no header', undefined, undefined],
    ['no header of fetch', null, undefined],
    ['nothing', '', undefined],
    ['a negative number', '-1', undefined],
    ['a fraction', '1.5', undefined],
    ['a word', 'soon', undefined],
    ['a date that does not exist', 'Sun, 99 Nov 1994 99:49:37 GMT', undefined],
    ['a date in another form', '1994-11-06T08:49:37Z', undefined],
  ])('of %s', (_, header, seconds) => {
    expect(secondsToWait(header, now)).toBe(seconds);
  });

  test('with a date makes the client of Kubernetes wait until then, and the message names the seconds', () => {
    const error = new ApiError({
      status: 503,
      body: 'away',
      retryAfter: new Date(Date.now() + 3_600_000).toUTCString(),
    });
    expect(retryAfterMs(error)).toBeGreaterThan(3_500_000);
    expect(retryAfterMs(error)).toBeLessThanOrEqual(3_601_000);
    expect(error.message).toMatch(/ \(asks to wait 3[56]\d\d s\)$/);
  });

  test('that cannot be read leaves the wait of the Status', () => {
    const body = JSON.stringify({details: {retryAfterSeconds: 2}});
    expect(retryAfterMs(new ApiError({status: 429, body, retryAfter: 'soon'}))).toBe(2000);
    expect(retryAfterMs(new ApiError({status: 429, body, retryAfter: '5'}))).toBe(5000);
  });
});
