import {describe, expect, test} from '@jest/globals';
import {caErrorOf} from '../../../../operator/domain/certificates/ca-error.ts';

/** As cert-manager 1.20 and 1.21 write it in a CertificateRequest. */
const failed = (why: string): string =>
  `Failed to wait for order resource "docs-1-2" to become ready: order is in ${why}`;
const refused = (detail: string, {status = 429, type = 'rateLimited', doing = 'create Order'} = {}): string =>
  failed(`"errored" state: Failed to ${doing}: ${status} urn:ietf:params:acme:error:${type}: ${detail}`);
const retry = 'retry after 2026-03-01 12:00:30 UTC: see https://letsencrypt.org/docs/rate-limits/';
const retryAt = Date.UTC(2026, 2, 1, 12, 0, 31);

describe("An error of the CA's own", () => {
  test.each([
    [
      'the orders of the account',
      `too many new orders (300) from this account in the last 3h0m0s, ${retry}`,
      'AccountLimit',
    ],
    [
      'the certificates of a registered domain',
      `too many certificates (50) already issued for "example.com" in the last 168h0m0s, ${retry}`,
      'RegisteredDomainLimit',
    ],
    [
      'the certificates of a hostname',
      `too many certificates (5) already issued for this exact set of identifiers in the last 168h0m0s, ${retry}`,
      'CertificatesLimit',
    ],
    [
      'the failures of a hostname',
      `too many failed authorizations (5) for "docs.example.com" in the last 1h0m0s, ${retry}`,
      'AuthorizationsLimit',
    ],
    ['orders, in words that are not known', `slow down, ${retry}`, 'Authority'],
  ])("Let's Encrypt limits %s", (_, detail, cause) => {
    expect(caErrorOf(refused(detail))).toEqual({cause, retryAt});
    expect(caErrorOf(refused(`Error creating new order :: ${detail}`))).toEqual({cause, retryAt});
  });

  test('an answer that is not of the ACME server', () => {
    expect(caErrorOf(failed('"errored" state: Failed to create Order: 429 : <html>slow down</html>'))).toEqual({
      cause: 'Authority',
    });
  });

  test('a limit without a time delays the CA if it is of many hostnames', () => {
    expect(caErrorOf(refused('too many new orders (300) from this account in the last 3h0m0s'))).toEqual({
      cause: 'Authority',
    });
    expect(caErrorOf(refused('too many failed authorizations (5) for "docs.example.com"'))).toEqual({
      cause: 'AuthorizationsLimit',
    });
  });

  test('a limit without a time, and an internal error at the end of an order', () => {
    expect(caErrorOf(refused('Service busy; retry later.'))).toEqual({cause: 'Authority'});
    expect(
      caErrorOf(refused('Error finalizing order', {status: 400, type: 'serverInternal', doing: 'finalize Order'})),
    ).toEqual({cause: 'Authority'});
  });

  test.each([
    ['a failed challenge', failed('"invalid" state: ')],
    ['a name that the CA refuses', refused('policy forbids it', {status: 400, type: 'rejectedIdentifier'})],
    [
      'a hostname that the CA has paused',
      refused(
        'Your account is temporarily prevented from requesting certificates for docs.example.com and possibly others.',
      ),
    ],
    [
      "the words of a customer's server",
      refused(
        'Invalid response: "429 urn:ietf:params:acme:error:rateLimited: too many new orders (1) from this account"',
        {
          status: 403,
          type: 'unauthorized',
        },
      ),
    ],
    ['words without the beginning', '429 urn:ietf:params:acme:error:rateLimited: slow down'],
  ])('is not %s', (_, text) => {
    expect(caErrorOf(text)).toBeUndefined();
  });
});
