import {beforeEach, describe, expect, test} from '@jest/globals';
import {CaProgress} from '../../../../operator/controllers/orders/ca-progress.ts';
import type {IssuedRequest} from '../../../../operator/domain/certificates/certificate.ts';
import {minutes, seconds} from '../../../support/world.ts';

let now: number;
let progress: CaProgress;
beforeEach(() => {
  now = 0;
  progress = new CaProgress(() => now);
});

type State = Pick<IssuedRequest, 'awaitsCa' | 'signing' | 'ordered'>;
const sent: State = {awaitsCa: true};
const pending: State = {ordered: true};
const signing: State = {ordered: true, awaitsCa: true, signing: true};

const request = (uid: string, state: State, issuer = 'first'): IssuedRequest => ({
  metadata: {name: uid, namespace: 'acme', uid, resourceVersion: '1'},
  issuerRef: {name: issuer},
  ...state,
});

describe('The CA of an issuer has stalled', () => {
  test.each([
    ['has not taken', sent],
    ['does not sign', signing],
  ])('if it %s an order for two minutes', (_, state) => {
    progress.note(request('a', state));
    now = 2 * minutes - 1;
    progress.note(request('a', state));
    expect(progress.isStalled('first')).toBe(false);
    now = 2 * minutes;
    expect(['first', 'second'].map((issuer) => progress.isStalled(issuer))).toEqual([true, false]);
  });

  test('if it has signed nothing for two minutes since it took the order', () => {
    progress.note(request('a', sent));
    now = minutes;
    progress.note(request('a', signing));
    now = 2 * minutes;
    expect(progress.isStalled('first')).toBe(false);
    now = 3 * minutes;
    expect(progress.isStalled('first')).toBe(true);
  });
});

describe('The CA of an issuer has not stalled', () => {
  test('while it answers for other orders', () => {
    progress.note(request('a', sent));
    progress.note(request('b', sent));
    now = 90 * seconds;
    progress.note(request('b', pending));
    now = 3 * minutes;
    expect(progress.isStalled('first')).toBe(false);
    now = 90 * seconds + 2 * minutes;
    expect(progress.isStalled('first')).toBe(true);
  });

  test('while it waits for the customer', () => {
    progress.note(request('a', pending));
    now = 10 * minutes;
    expect(progress.isStalled('first')).toBe(false);
  });

  test('when the request is gone, which is no answer for others', () => {
    for (const uid of ['a', 'b']) progress.note(request(uid, sent));
    now = 2 * minutes;
    progress.forget(request('a', sent));
    expect(progress.isStalled('first')).toBe(true);
    progress.forget(request('b', sent));
    expect(progress.isStalled('first')).toBe(false);
  });
});
