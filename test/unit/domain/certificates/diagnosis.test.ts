import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {culprit, quotes} from '../../../../operator/domain/certificates/diagnosis.ts';
import {quote} from '../../../../operator/domain/text.ts';

const challenge = (reason: string, state = 'pending') => ({
  said: [
    {kind: 'Challenge' as const, name: 'docs-1-2-3', state, reason},
    {kind: 'Order' as const, name: 'docs-1-2', state: 'pending', reason: ''},
  ],
});

describe('What cert-manager says', () => {
  test('is quoted whole: the request, the Challenge with its reason, the Order with its state', () => {
    expect(
      quotes(
        'Waiting on certificate issuance from order acme/docs-1-2: "pending"',
        challenge("Waiting for HTTP-01 challenge propagation: wrong status code '404', expected '200'"),
      ),
    ).toBe(
      'cert-manager reports: CertificateRequest: Waiting on certificate issuance from order acme/docs-1-2: "pending". ' +
        "Challenge docs-1-2-3 is pending: Waiting for HTTP-01 challenge propagation: wrong status code '404', expected '200'. Order docs-1-2 is pending.",
    );
    expect(quotes(undefined, {said: [{kind: 'Order', name: 'x', state: '', reason: ''}]})).toBe(
      'cert-manager reports: Order x is new.',
    );
    expect(quotes(undefined, {said: []})).toBe('');
  });

  test('is one line of printable ASCII of bounded length, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({unit: 'binary', maxLength: 3000}), (text) => {
        expect(quote(text)).toMatch(/^[\x20-\x7e]{0,400}$/);
      }),
    );
    expect(quote('a\n\tb\u001b[2J\u00e4')).toBe('a b\\027[2J\\195\\164');
  });

  test('is quoted without the token and the key authorisation of a challenge', () => {
    const token = 'LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0';
    const thumbprint = '9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI';
    expect(
      quote(
        `failed to perform self check GET request 'http://docs.example.com/.well-known/acme-challenge/${token}': EOF`,
      ),
    ).toBe("failed to perform self check GET request 'http://docs.example.com/.well-known/acme-challenge/...': EOF");
    expect(quote(`did not get expected response "${token}.${thumbprint}" when querying endpoint`)).toBe(
      'did not get expected response "..." when querying endpoint',
    );
  });

  test('tells why it could not be read', () => {
    expect(quotes(undefined, {said: [], unreadable: 'orders.acme.cert-manager.io is forbidden'})).toBe(
      'cert-manager reports: The Order and the Challenge could not be read: orders.acme.cert-manager.io is forbidden.',
    );
  });
});

describe('Who must act', () => {
  const rows: [string, string, string][] = [
    [
      'pods "cm-acme-http-solver-x" is forbidden: exceeded quota: full, requested: pods=1, used: pods=1, limited: pods=1',
      'Platform',
      'quota',
    ],
    ['pods "cm-acme-http-solver-x" is forbidden: violates PodSecurity "restricted:latest"', 'Platform', 'admission'],
    [
      'Error accepting challenge: 400 urn:ietf:params:acme:error:malformed: Unable to update challenge :: authorization must be pending',
      'Platform',
      'A fresh attempt shows it',
    ],
    [
      'Error accepting challenge: 400 urn:ietf:params:acme:error:malformed: Cannot update challenge with status invalid, only status pending.',
      'Platform',
      'did not keep the reason',
    ],
    ["Waiting for HTTP-01 challenge propagation: wrong status code '504', expected '200'", 'Platform', 'NetworkPolicy'],
    [
      "Waiting for HTTP-01 challenge propagation: wrong status code '404', expected '200'",
      'Platform',
      'rule of the edge',
    ],
    [
      // cert-manager 1.20
      'Waiting for HTTP-01 challenge propagation: did not get expected response when querying endpoint, expected "..." but got: <html>',
      'Platform',
      'rule of the edge',
    ],
    [
      // cert-manager 1.21
      'Waiting for HTTP-01 challenge propagation: did not get expected response "..." when querying endpoint',
      'Platform',
      'rule of the edge',
    ],
    [
      'Waiting for HTTP-01 challenge propagation: failed to perform self check GET request \'http://x/\': Get "http://x/": dial tcp 192.0.2.1:80: connect: connection refused',
      'Platform',
      'port 80',
    ],
    [
      "failed to perform self check GET request 'http://x/': dial tcp: lookup x on 10.96.0.10:53: no such host",
      'Customer',
      'DNS',
    ],
    [
      'Error accepting authorization: acme: authorization error for x: 400 urn:ietf:params:acme:error:connection: 192.0.2.1: Timeout during connect',
      'Platform',
      'port 80',
    ],
    [
      'Error accepting authorization: acme: authorization error for x: 400 urn:ietf:params:acme:error:dns: DNS problem: NXDOMAIN looking up A',
      'Customer',
      'DNS',
    ],
    [
      'Error accepting authorization: acme: authorization error for x: 403 urn:ietf:params:acme:error:caa: CAA record for x prevents issuance',
      'Customer',
      'CAA',
    ],
    [
      'Error accepting authorization: acme: authorization error for x: 403 urn:ietf:params:acme:error:unauthorized: Invalid response',
      'Platform',
      'rule of the edge',
    ],
    [
      'Failed to create Order: 429 urn:ietf:params:acme:error:rateLimited: too many certificates already issued',
      'CertificateAuthority',
      'Wait until',
    ],
    [
      'Failed to create Order: 400 urn:ietf:params:acme:error:rejectedIdentifier: The ACME server refuses to issue a certificate for this domain name',
      'Customer',
      'another hostname',
    ],
    [
      'Failed to finalize Order: 500 urn:ietf:params:acme:error:serverInternal: oops',
      'CertificateAuthority',
      'internal error',
    ],
  ];
  test.each(rows)('%s', (reason, by, what) => {
    expect(culprit(undefined, challenge(reason))).toMatchObject({by, what: expect.stringContaining(what)});
    expect(culprit(reason, undefined)).toMatchObject({by});
  });

  test('is told by the Challenge rather than by who only repeats that it failed', () => {
    expect(culprit('429', challenge('dial tcp: lookup x: no such host'))).toMatchObject({by: 'Customer'});
  });

  test('is not told by words that say nothing', () => {
    expect(culprit('order is in "invalid" state:', challenge(''))).toBeUndefined();
  });
});
