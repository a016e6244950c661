/** What the proxies of the platform's own APIs are told, by HTTP and by gRPC. Who has which key is a fake's to say here. */
import {Client, credentials, status} from '@grpc/grpc-js';
import type {ServiceError} from '@grpc/grpc-js';
import {request as httpRequest} from 'node:http';
import type {IncomingHttpHeaders} from 'node:http';
import {afterAll, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import {pino} from 'pino';
import {Authorizer, identityHeaders} from '../../../operator/authorize/authorizer.ts';
import {envoyServer} from '../../../operator/authorize/envoy.ts';
import {checkPath, readResponse, writeRequest} from '../../../operator/authorize/envoy-protocol.ts';
import type {CheckRequest, CheckResponse} from '../../../operator/authorize/envoy-protocol.ts';
import {authorizeServer} from '../../../operator/authorize/http.ts';
import type {KeyCaller} from '../../../operator/http/gate/caller.ts';
import {Problem} from '../../../operator/http/problems.ts';
import {raw} from '../../support/http-client.ts';

const limits = {'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '59', 'x-ratelimit-reset': '1795348861'};
const caller = (account?: string): KeyCaller => ({
  kind: 'key',
  hash: 'h',
  network: '192.0.2.1',
  namespace: 'acme',
  pools: [],
  tenant: {account, namespaceUID: 'u', plan: {missing: {reason: 'PlanNotFound', message: ''}}},
  key: {
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'ApiKey',
    metadata: {namespace: 'acme', name: 'ci'},
    spec: {hashes: [], scopes: ['reports:read', 'a:b']},
  },
});

const seen: {authorization: string | undefined; address: string}[] = [];
const refusals: Record<string, Problem> = {
  limited: new Problem('rate-limited', 'All are used.', {headers: {'retry-after': '7'}}),
  unknown: new Problem('credentials-wrong', 'Not valid.'),
  away: new Problem('unavailable', 'Away.'),
};
/** Scopes of the requests that were counted for usage. */
const counted: string[] = [];
let ready = true;
const authorizer = new Authorizer({
  ready: () => ready,
  log: pino({level: 'silent'}),
  letThrough: (_, scope) => counted.push(scope),
  gate: {
    headersFor: () => limits,
    async passKey(asked, tell) {
      seen.push(asked);
      tell(limits);
      const problem = refusals[asked.authorization ?? 'unknown'];
      if (problem) throw problem;
      if (asked.authorization === 'broken') throw new Error('secret');
      return caller(asked.authorization === 'alone' ? undefined : 'acme-inc');
    },
  },
});
const http = authorizeServer({authorizer, port: 0, trustedProxies: ['127.0.0.1', '::1', '10.0.0.0/8']});
const grpc = envoyServer({authorizer, port: 0});
let client: Client;
beforeAll(async () => {
  await Promise.all([http.start(), grpc.start()]);
  client = new Client(`127.0.0.1:${grpc.port()}`, credentials.createInsecure());
});
afterAll(async () => {
  client.close();
  await Promise.all([http.stop(), grpc.stop()]);
});
beforeEach(() => {
  ready = true;
  seen.length = 0;
  counted.length = 0;
});

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

function ask(
  path: string,
  {
    method = 'GET',
    headers = {authorization: 'good'},
    body,
  }: {method?: string; headers?: Record<string, string>; body?: string} = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    httpRequest({port: http.port(), host: '127.0.0.1', method, path, agent: false, headers}, (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => {
          text += chunk;
        })
        .on('end', () => resolve({status: response.statusCode!, headers: response.headers, body: text}));
    })
      .on('error', reject)
      .end(body);
  });
}

const check = (
  headers: Record<string, string>,
  contextExtensions: Record<string, string> = {scope: 'reports:read'},
): Promise<CheckResponse> =>
  new Promise((resolve, reject) => {
    const message: CheckRequest = {
      attributes: {
        source: {address: {socketAddress: {address: '192.0.2.7'}}},
        request: {http: {headers}},
        contextExtensions,
      },
    };
    client.makeUnaryRequest(checkPath, writeRequest, readResponse, message, (error: ServiceError | null, response) => {
      if (error) reject(error);
      else resolve(response!);
    });
  });

const identity = (headers: IncomingHttpHeaders): unknown[] => identityHeaders.map((name) => headers[name]);

describe('By HTTP', () => {
  test('usage counts what was let through, and no refusal', async () => {
    await ask('/authorize/reports:read/');
    await ask('/authorize/reports:write/');
    await ask('/authorize/reports:read/', {headers: {authorization: 'limited'}});
    expect(counted).toEqual(['reports:read']);
  });

  test('who was let in is named, what is not known is empty, and to be taken away', async () => {
    const known = await ask('/authorize/reports:read/any/path?q=1');
    expect([known.status, identity(known.headers)]).toEqual([200, ['acme', 'acme-inc', '', 'ci', 'reports:read a:b']]);
    expect(known.headers).toMatchObject({
      ...limits,
      'x-envoy-auth-headers-to-remove': 'x-doorplate-plan',
      'x-doorplate-status': '200',
    });
    expect(
      (await ask('/authorize/reports:read/', {headers: {authorization: 'alone'}})).headers[
        'x-envoy-auth-headers-to-remove'
      ],
    ).toBe('x-doorplate-account,x-doorplate-plan');
  });

  test.each<[string, number]>([
    ['unknown', 401],
    ['limited', 429],
    ['away', 503],
    ['broken', 500],
  ])('a refusal (%s: %i) names nobody, and has the headers of the limit', async (authorization, expected) => {
    const answer = await ask('/authorize/reports:read/', {headers: {authorization, 'x-doorplate-key': 'root'}});
    expect([answer.status, answer.headers['x-doorplate-status'], identity(answer.headers)]).toEqual([
      expected,
      String(expected),
      identityHeaders.map(() => ''),
    ]);
    expect(answer.headers).toMatchObject({
      ...limits,
      'content-type': 'application/problem+json',
      'x-doorplate-problem': (JSON.parse(answer.body) as {type: string}).type,
    });
    expect(answer.body).not.toContain('secret');
  });

  test('the scope is that of the path, and nothing that a client sends changes it', async () => {
    for (const [path, expected] of [
      ['/authorize/reports:read/', 200],
      ['/authorize/reports:write/', 403],
      ['/authorize/any/', 200],
      ['/authorize/reports:write/../reports:read/', 403],
      ['/authorize/reports:write/?scope=reports:read', 403],
      ['/authorize/reports:read', 200],
    ] as const)
      expect([
        path,
        (
          await ask(path, {
            headers: {authorization: 'good', 'x-doorplate-scopes': 'reports:write', scope: 'reports:read'},
          })
        ).status,
      ]).toEqual([path, expected]);
    seen.length = 0;
    for (const path of [
      '/',
      '/authorize/',
      '/authorize/reports',
      '/authorize/%72eports:read/',
      '/other/authorize/reports:read/',
      '/authorize/*/',
    ]) {
      const answer = await ask(path);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.headers).toMatchObject(limits);
    }
    expect(seen).toEqual([]);
  });

  test.each(['POST', 'HEAD', 'OPTIONS', 'PROPFIND'])(
    '%s is answered as any other, without a look at its body or path',
    async (method) => {
      expect(
        (await ask('/authorize/reports:read/%zz', {method, ...(method === 'POST' && {body: 'x'.repeat(100_000)})}))
          .status,
      ).toBe(200);
    },
  );

  test.each<[string, number, string]>([
    ['limited', 403, '429'],
    ['unknown', 401, '401'],
    ['away', 503, '503'],
    ['good', 200, '200'],
  ])(
    'for nginx, which passes on little, a refusal is 403 beside its status (%s: %i)',
    async (authorization, shown, meant) => {
      const answer = await ask('/authorize/reports:read/', {headers: {authorization, 'doorplate-refuse-with': '403'}});
      expect([answer.status, answer.headers['x-doorplate-status']]).toEqual([shown, meant]);
    },
  );

  test.each<[string, number, RegExp, string]>([
    ['what is no HTTP', 400, /not a valid HTTP request/, 'hello\r\n\r\n'],
    ['no Host', 400, /no header `Host`/, 'GET /authorize/any/ HTTP/1.1\r\nConnection: close\r\n\r\n'],
    [
      'headers of 70 KB',
      431,
      /at most 64 KiB together/,
      `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`,
    ],
    [
      'an expectation that nobody knows',
      404,
      /The path must be \/authorize/,
      'GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nConnection: close\r\n\r\n',
    ],
  ])('%s is answered with a problem and the limit (%i)', async (_, code, detail, bytes) => {
    const [head = '', body = ''] = (await raw(http.port(), bytes)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${code} `));
    expect(head.toLowerCase()).toContain('\r\ncontent-type: application/problem+json');
    expect(Object.entries(limits).filter(([name, value]) => !head.includes(`\r\n${name}: ${value}`))).toEqual([]);
    expect(JSON.parse(body).detail).toMatch(detail);
  });

  test('X-Forwarded-For is believed of trusted proxies, back to the first stranger', async () => {
    for (const forwarded of [
      '203.0.113.9',
      '198.51.100.1, 203.0.113.9',
      '198.51.100.1, 203.0.113.9, 10.1.2.3',
      '10.1.2.3',
    ]) {
      await ask('/authorize/any/', {headers: {'x-forwarded-for': forwarded}});
    }
    expect(seen.map((s) => s.address)).toEqual(['203.0.113.9', '203.0.113.9', '203.0.113.9', '10.1.2.3']);
  });

  test('while the process starts nobody is told that their key is wrong', async () => {
    ready = false;
    expect(await ask('/authorize/reports:read/')).toMatchObject({
      status: 503,
      headers: {...limits, 'retry-after': '2'},
    });
    expect(seen).toEqual([]);
  });
});

const pairs = (options: {header: {key: string; value: string}; appendAction: unknown}[]): object =>
  Object.fromEntries(options.map(({header, appendAction}) => [header.key, [header.value, appendAction]]));
/** As Envoy names it: HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD. */
const overwriting = 2;

describe('By gRPC', () => {
  test('who was let in is named over whatever the client sent, what is not known is taken away, and the client gets the limit', async () => {
    const {okResponse, status: said} = await check({authorization: 'alone'});
    expect(said.code).toBe(status.OK);
    expect(pairs(okResponse!.headers)).toEqual({
      'x-doorplate-namespace': ['acme', overwriting],
      'x-doorplate-key': ['ci', overwriting],
      'x-doorplate-scopes': ['reports:read a:b', overwriting],
    });
    expect(okResponse!.headersToRemove).toEqual(['x-doorplate-account', 'x-doorplate-plan']);
    expect(pairs(okResponse!.responseHeadersToAdd)).toEqual(
      Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, [value, overwriting]])),
    );
    expect(seen).toEqual([{authorization: 'alone', address: '192.0.2.7'}]);
  });

  test('a refusal has its status, its headers and its body', async () => {
    const {deniedResponse, status: said} = await check({authorization: 'limited'});
    expect([said.code, deniedResponse!.status.code]).toEqual([status.PERMISSION_DENIED, 429]);
    expect(pairs(deniedResponse!.headers)).toMatchObject({
      'retry-after': ['7', overwriting],
      'x-ratelimit-limit': ['60', overwriting],
      'content-type': ['application/problem+json', overwriting],
    });
    expect(JSON.parse(deniedResponse!.body)).toMatchObject({type: 'https://doorplate.dev/problems/rate-limited'});
  });

  test.each<[string, Record<string, string>]>([
    ['no scope', {}],
    ['what is none', {scope: 'reports'}],
  ])('a route that is set up with %s lets nobody in', async (_, extensions) => {
    expect((await check({authorization: 'good', scope: 'reports:read'}, extensions)).deniedResponse?.status.code).toBe(
      500,
    );
  });

  test('while the process starts the call fails, so that another replica is asked', async () => {
    ready = false;
    await expect(check({authorization: 'good'})).rejects.toMatchObject({code: status.UNAVAILABLE});
  });
});
