import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {answer} from '../../../operator/redirector/table.ts';
import type {RedirectRule} from '../../../operator/redirector/table.ts';

const table = new Map<string, RedirectRule>(
  [
    {host: 'old.example.com', to: 'docs.example.com', status: 301},
    {host: 'tmp.example.com', to: 'docs.example.com', status: 302},
    {host: 'post.example.com', to: 'docs.example.com', status: 307},
    {host: 'docs.example.com', to: 'docs.example.com', status: 308},
  ].map((rule) => [rule.host, rule as RedirectRule]),
);

const get = (url: string, host: string | undefined = 'old.example.com', forwardedProto?: string) =>
  answer(table, {host, url, forwardedProto});

test('A redirect is complete: status, Location, a short text with its length, and no cache gives it without asking again', () => {
  expect(get('/a?b=c')).toEqual({
    status: 301,
    headers: {
      location: 'https://docs.example.com/a?b=c',
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '18',
      'cache-control': 'public, max-age=0, must-revalidate',
      doorplate: 'redirector',
    },
    body: 'Moved Permanently\n',
  });
});

test.each([
  ['old.example.com', 301, 'public, max-age=0, must-revalidate'],
  ['tmp.example.com', 302, 'no-store'],
  ['post.example.com', 307, 'no-store'],
  ['docs.example.com', 308, 'public, max-age=0, must-revalidate'],
])('%s redirects by exactly %i', (host, status, cacheControl) => {
  expect(get('/', host)).toMatchObject({status, headers: {'cache-control': cacheControl}});
});

test.each([
  ['OLD.Example.COM', 301],
  ['old.example.com:8080', 301],
  ['old.example.com.', 301],
  ['old.example.com.:443', 301],
  ['old.example.com:', 301],
  ['old.example.com..', 404],
  ['old.example.org', 404],
  ['xold.example.com', 404],
  ['[::1]:80', 404],
  ['', 404],
  [undefined, 404],
])('Host %j gets %i', (host, status) => {
  expect(answer(table, {host, url: '/', forwardedProto: 'https'}).status).toBe(status);
});

test.each([
  ['/', '/'],
  ['/a/b/../c//d?x=1&y=%20%2F&z=a+b', '/a/b/../c//d?x=1&y=%20%2F&z=a+b'],
  ['/?', '/?'],
  ['//evil.example/x', '//evil.example/x'],
  ['/\\evil.example', '/\\evil.example'],
  ['/@evil.example', '/@evil.example'],
  ['http://evil.example/x?y', '/x?y'],
  ['https://evil.example', '/'],
  ['http://evil.example?q', '/?q'],
  ['*', '/'],
  ['', '/'],
  ['evil.example:443', '/'],
  ['.evil.example/', '/'],
  ['@evil.example/', '/'],
  ['?q', '/'],
  ['/a\r\nSet-Cookie: x=y', '/a%0D%0ASet-Cookie:%20x=y'],
  ['/caf\u00e9', '/caf%E9'],
  ['/\u20ac', '/%E2%82%AC'],
])('the request target %j leads to https://docs.example.com%s', (url, path) => {
  expect(get(url).headers['location']).toBe(`https://docs.example.com${path}`);
});

test('Whatever the target, Location stays on the primary and is one line', () => {
  const target = fc.oneof(
    fc.string({unit: 'binary'}),
    fc.string().map((text) => `/${text}`),
    fc.webUrl(),
  );
  fc.assert(
    fc.property(target, (url) => {
      const {location} = get(url).headers;
      if (location === undefined) return;
      expect(new URL(location).origin).toBe('https://docs.example.com');
      expect(location).toMatch(/^https:\/\/docs\.example\.com\/[\x21-\x7e]*$/);
    }),
    {numRuns: 2000},
  );
});

describe('A challenge of ACME', () => {
  test.each([
    '/.well-known/acme-challenge/token',
    '/.well-known/acme-challenge/',
    '/.well-known/acme-challenge',
    '/.well-known/acme-challenge?x',
    '/.well-known/acme-challenge/a/b',
    '/.well-known/acme-challenge/../x',
    '/%2ewell-known/acme-challenge/t',
    '/.well-known%2Facme-challenge/t',
    '/.well-known/acme%2dchallenge/t',
    '/%252Ewell-known/acme-challenge/t',
    '//.well-known//acme-challenge//t',
    '/./.well-known/./acme-challenge/t',
    '/x/../.well-known/acme-challenge/t',
    '/x/%2e%2e/.well-known/acme-challenge/t',
    '/.WELL-KNOWN/ACME-Challenge/t',
    '/.well-known\\acme-challenge/t',
    'http://old.example.com/.well-known/acme-challenge/t',
  ])('at %s is never redirected', (url) => {
    for (const host of ['old.example.com', 'docs.example.com', 'unknown.example.com']) {
      for (const proto of ['http', 'https']) {
        const response = get(url, host, proto);
        expect([response.status, response.headers['content-type'], response.headers['cache-control']]).toEqual([
          404,
          'text/plain; charset=utf-8',
          'no-store',
        ]);
        expect(response.headers['location']).toBeUndefined();
      }
    }
  });

  test.each([
    '/.well-known/security.txt',
    '/.well-known/acme-challenges',
    '/x/.well-known/acme-challenge/t',
    '/?/.well-known/acme-challenge/',
    '/.well-known',
    '/acme-challenge/x',
    '/%',
    '/%zz',
    '/%E0%A4%A',
    '/a%00b',
  ])('is not what %s asks for', (url) => {
    expect(get(url)).toMatchObject({status: 301, headers: {location: `https://docs.example.com${url}`}});
  });
});

describe('A host that redirects to itself', () => {
  test.each(['https', 'HTTPS', 'https, http', ' https '])('is stopped where it came by %j', (proto) => {
    const response = get('/x', 'docs.example.com:443', proto);
    expect([response.status, response.headers['location']]).toEqual([421, undefined]);
  });

  test.each(['http', undefined, '', 'http, https'])('goes to https where it came by %j', (proto) => {
    expect(get('/x', 'docs.example.com', proto)).toMatchObject({
      status: 308,
      headers: {location: 'https://docs.example.com/x'},
    });
  });

  test('is stopped only by the same host', () => {
    expect(get('/x', 'old.example.com', 'https').status).toBe(301);
  });
});
