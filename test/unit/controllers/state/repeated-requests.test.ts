import {beforeEach, describe, expect, test} from '@jest/globals';
import {RepeatedRequests} from '../../../../operator/controllers/state/repeated-requests.ts';
import type {IssuedRequest} from '../../../../operator/domain/certificates/certificate.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {minutes, t0} from '../../../support/world.ts';

let told: (now: IssuedRequest | undefined, before: IssuedRequest | undefined) => void;
let now: number;
let reported: string[];
let repeated: RepeatedRequests;
let made: number;
beforeEach(() => {
  [now, reported, made] = [t0, [], 0];
  const requests = {onChange: (handler: typeof told) => void (told = handler)};
  repeated = new RepeatedRequests(requests, {report: (certificate) => reported.push(certificate), now: () => now});
});

/** A request that was created so long before t0, ms. */
const request = (agoMs = 0, {name = 'docs', namespace = 'acme', owner = 'uid-1'} = {}): IssuedRequest => ({
  metadata: {
    name: `${name}-${++made}`,
    namespace,
    uid: `uid-request-${made}`,
    creationTimestamp: timestamp(t0 - agoMs),
    ...(name !== '' && {annotations: {'cert-manager.io/certificate-name': name}}),
    ownerReferences: [{apiVersion: 'cert-manager.io/v1', kind: 'Certificate', name, uid: owner}],
  },
});
const appear = (...requests: IssuedRequest[]): void => {
  for (const each of requests) told(each, undefined);
};

describe('A Certificate counts', () => {
  test('with three requests within an hour, and is reported once', () => {
    appear(request(50 * minutes), request(10 * minutes));
    expect([repeated.count(), reported]).toEqual([0, []]);
    appear(request());
    expect([repeated.count(), reported]).toEqual([1, ['acme/docs']]);
    appear(request(), request());
    expect([repeated.count(), reported]).toEqual([1, ['acme/docs']]);
  });

  test('also if cert-manager has deleted the earlier requests', () => {
    for (let i = 0; i < 3; i++) {
      const each = request();
      appear(each);
      told(undefined, each);
    }
    expect([repeated.count(), reported]).toEqual([1, ['acme/docs']]);
  });

  test('also if it was deleted and created again: the CA counts names, and not objects', () => {
    appear(request(), request(0, {owner: 'uid-2'}), request(0, {owner: 'uid-3'}));
    expect(repeated.count()).toBe(1);
  });

  test('until the first of the three is an hour old', () => {
    appear(request(59 * minutes), request(), request());
    expect(repeated.count()).toBe(1);
    now = t0 + minutes;
    expect(repeated.count()).toBe(0);
  });

  test('again, and is reported again, when that repeats later', () => {
    appear(request(), request(), request());
    now = t0 + 60 * minutes;
    expect(repeated.count()).toBe(0);
    appear(...[0, 1, 2].map(() => request(-60 * minutes)));
    expect([repeated.count(), reported]).toEqual([1, ['acme/docs', 'acme/docs']]);
  });

  test('beside others', () => {
    const all = ['a', 'b'].flatMap((name) => [0, 1, 2].map(() => request(0, {name})));
    appear(...all, request(), request());
    expect([repeated.count(), reported]).toEqual([2, ['acme/a', 'acme/b']]);
  });
});

describe('A Certificate does not count', () => {
  test('with one request that changes: each counts once', () => {
    const one = request();
    appear(one);
    for (let i = 0; i < 5; i++) told({...one, waiting: 'pending'}, one);
    appear(one);
    expect(repeated.count()).toBe(0);
  });

  test('with requests that are older than an hour, also when a process starts among them', () => {
    appear(request(), request(), request(60 * minutes), request(600 * minutes));
    expect(repeated.count()).toBe(0);
  });

  test('with requests of a Certificate of the same name in another namespace', () => {
    appear(request(), request(), request(0, {namespace: 'globex'}));
    expect(repeated.count()).toBe(0);
  });

  test('with requests that name no Certificate, or no time', () => {
    appear(...[0, 1, 2].map(() => request(0, {name: ''})));
    appear(...[0, 1, 2].map(() => ({metadata: {...request().metadata, creationTimestamp: undefined}}) as never));
    expect([repeated.count(), reported]).toEqual([0, []]);
  });
});

test('What is older than an hour is forgotten, and counts again for nothing', () => {
  appear(request(59 * minutes), request(), request(58 * minutes));
  now = t0 + 30 * minutes;
  expect(repeated.count()).toBe(0);
  now = t0 + 61 * minutes;
  appear(request(-61 * minutes), request(-61 * minutes));
  expect([repeated.count(), reported]).toEqual([0, ['acme/docs']]);
});
