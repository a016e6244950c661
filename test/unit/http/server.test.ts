/** The server around the paths: who may pass, what every answer carries, what is not HTTP. Nothing of Kubernetes is asked here. */
import {connect} from 'node:net';
import type {AddressInfo, Socket} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type {FastifyInstance} from 'fastify';
import {pino} from 'pino';
import {z} from 'zod';
import type {ApiKey} from '../../../operator/api/foreign.ts';
import {hashToken, makeToken} from '../../../operator/domain/api-key.ts';
import {Gate} from '../../../operator/http/gate/gate.ts';
import type {GateDeps} from '../../../operator/http/gate/gate.ts';
import {Problem} from '../../../operator/http/problems.ts';
import {makeServer} from '../../../operator/http/server.ts';
import type {ServiceAccount} from '../../../operator/http/gate/service-accounts.ts';
import {Bans} from '../../../operator/limits/bans.ts';
import {Limiter} from '../../../operator/limits/limiter.ts';
import {ApiError, NoAnswerError} from '../../../operator/kube/errors.ts';
import {type Answer, type Ask, ask as askAt, raw} from '../../support/http-client.ts';
import {patience} from '../../support/patience.ts';
import {apiKeyOf, planOf} from '../../support/plans-and-keys.ts';

const log = pino({level: 'silent'});
const clock = {nowMs: () => Date.parse('2026-11-22T12:00:00Z')};
const plan = planOf('small', {requestsPerMinute: 20, requestsPerDay: 1000}, {allowed: true, maxHostnamesPerProject: 1});

const tokens = new Map<string, string>();
const keys = new Map<string, ApiKey>();
function makeKey(namespace: string, name: string, spec: Partial<ApiKey['spec']> = {}): string {
  const token = makeToken({namespace, name});
  keys.set(`${namespace}/${name}`, apiKeyOf(namespace, name, token, spec));
  tokens.set(name, token);
  return token;
}

const remembered = new Map<string, ServiceAccount | null>();
const bans = new Bans({clock});
/** Seconds that tenants were banned until, by what they were banned under. */
const refusedAs: string[] = [];
const gateDeps: GateDeps = {
  limiter: new Limiter({clock}),
  local: new Limiter({clock}),
  now: clock.nowMs,
  findKey: (name) => keys.get(name),
  bans: {
    until: (user) => bans.until(user),
    refused: (user, facts) => {
      refusedAs.push(user.hash);
      return bans.refused(user, facts);
    },
  },
  tenantOf: (namespace) => ({account: namespace, namespaceUID: 'u', plan}),
  addressQuota: {requestsPerMinute: 1000},
  used: () => {},
  refused: () => {},
  letThrough: () => {},
  serviceAccountQuota: {requestsPerMinute: 3, requestsPerDay: 100},
  sessions: {
    wasGood: () => false,
    find: async () => {
      throw new Problem('unavailable', 'Sessions cannot be looked up now.', {headers: {'retry-after': '2'}});
    },
  },
  // What the API server says of tokens is tried in test/api/service-accounts.test.ts.
  serviceAccounts: {
    audience: 'doorplate',
    remembered: (token) => remembered.get(token),
    wasGood: () => false,
    may: async () => true,
    async recognise(token) {
      remembered.set(token, token.endsWith('.good') ? {username: 'system:serviceaccount:platform:backend'} : null);
      return remembered.get(token)!;
    },
  },
};

let server: FastifyInstance;
let ready = true;
let boom: unknown;
beforeAll(async () => {
  server = await makeServer({
    log,
    gate: new Gate(gateDeps),
    trustedProxies: ['127.0.0.1'],
    ready: () => ready,
    answerReadWithinMs: 2000,
    routes: (app) => {
      app.get('/thing', {config: {scope: 'domains:read'}}, async () => ({fine: true}));
      app.post('/thing', {config: {scope: 'domains:read'}, schema: {body: z.strictObject({n: z.int()})}}, async () => ({
        fine: true,
      }));
      app.get('/write', {config: {scope: 'domains:write'}}, async () => ({fine: true}));
      for (const method of ['POST', 'DELETE'])
        app.route({
          method,
          url: '/bodiless',
          config: {scope: 'any', ownQuota: true},
          handler: async () => ({fine: true}),
        });
      app.get('/own', {config: {scope: 'any', ownQuota: true}}, async () => ({fine: true}));
      app.get('/large', {config: {scope: 'any', ownQuota: true}}, async () => 'x'.repeat(64 << 20));
      app.get('/boom', {config: {scope: 'any'}}, async () => {
        throw boom;
      });
    },
  });
  await server.listen({port: 0, host: '127.0.0.1'});
});
afterAll(async () => {
  await server.close();
});

const port = (): number => (server.server.address() as AddressInfo).port;

const ask = (path: string, question?: Ask): Promise<Answer> => askAt(port(), path, question);

/** What is left of the quota of whoever the header says. */
const remaining = async (forwarded: string): Promise<number> =>
  Number((await ask('/nowhere', {headers: {'x-forwarded-for': forwarded}})).headers['x-ratelimit-remaining']);
const toldEnd = async (path: string, key: string): Promise<unknown[]> => {
  const {status, headers} = await ask(path, {key});
  return [status, headers['doorplate-key-expires']];
};
const typeOf = ({body}: Answer): string | undefined =>
  (body as {type?: string}).type?.replace('https://doorplate.dev/problems/', '');
const limitNames = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit', 'ratelimit-policy'];

describe('Every answer carries the headers of the limit and an id:', () => {
  const key = makeKey('headers', 'headers', {scopes: ['domains:read']});
  test.each<[string, number, string | undefined, string, Parameters<typeof ask>[1]]>([
    ['an answer', 200, undefined, '/own', {key}],
    ['a body that is not valid', 400, 'invalid-input', '/thing', {key, method: 'POST', body: '{"n": "x"}'}],
    ['a body that is no JSON', 400, 'malformed-request', '/thing', {key, method: 'POST', body: '{'}],
    ['a path that cannot be decoded', 400, 'malformed-request', '/%zz', {key}],
    ['no key', 401, 'credentials-missing', '/thing', {}],
    ['a wrong key', 401, 'credentials-wrong', '/thing', {key: makeToken({namespace: 'headers', name: 'headers'})}],
    ['a scope that is missing', 403, 'scope-missing', '/write', {key}],
    ['a path that is not there', 404, 'not-found', '/nowhere', {}],
    ['another method', 405, 'method-not-allowed', '/thing', {key, method: 'PATCH'}],
    ['a method that nobody uses', 405, 'method-not-allowed', '/thing', {key, method: 'PROPFIND'}],
    ['a method that must have a body', 405, 'method-not-allowed', '/thing', {key, method: 'QUERY'}],
    [
      'a body that is too large',
      413,
      'body-too-large',
      '/thing',
      {key, method: 'POST', body: JSON.stringify({n: 'x'.repeat(20_000)})},
    ],
    [
      'a body of another type',
      415,
      'media-type',
      '/thing',
      {key, method: 'POST', body: 'x', headers: {'content-type': 'text/plain'}},
    ],
  ])('%s (%i)', async (_, status, type, path, options) => {
    const answer = await ask(path, options);
    expect([answer.status, status < 400 ? undefined : typeOf(answer)]).toEqual([status, type]);
    expect(limitNames.filter((name) => answer.headers[name] === undefined)).toEqual([]);
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each<[string, number, string | undefined, string]>([
    ['what is no HTTP', 400, 'malformed-request', 'hello\r\n\r\n'],
    ['no Host', 400, 'malformed-request', 'GET /thing HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['no Host, and HTTP/1.0', 404, 'not-found', 'GET /nowhere HTTP/1.0\r\n\r\n'],
    [
      'an expectation that nobody knows',
      404,
      'not-found',
      'GET /nowhere HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nConnection: close\r\n\r\n',
    ],
    [
      'headers of 40 KB',
      431,
      'headers-too-large',
      `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`,
    ],
  ])('%s (%i)', async (_, status, type, bytes) => {
    const [head = '', body = ''] = (await raw(port(), bytes)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const names = head.toLowerCase();
    expect([...limitNames, 'x-request-id'].filter((name) => !names.includes(`\r\n${name}: `))).toEqual([]);
    expect(body).toContain(`https://doorplate.dev/problems/${type}"`);
  });

  test.each<[string, number, string, unknown]>([
    ['an error of ours', 500, 'internal-error', new Error('secret')],
    ['an error of Kubernetes', 502, 'kubernetes-failed', new ApiError({status: 403, body: '{"message":"secret"}'})],
    [
      'a quota of Kubernetes that is reached',
      403,
      'quota-reached',
      new ApiError({
        status: 403,
        body: '{"reason":"Forbidden","message":"apikeys \\"secret\\" is forbidden: exceeded quota: doorplate, requested: 1, used: 50, limited: 50"}',
      }),
    ],
    ['a Kubernetes that does not answer', 503, 'unavailable', new NoAnswerError('GET /secret', new Error('secret'))],
    [
      'a rule of Kubernetes that refuses',
      422,
      'refused',
      new ApiError({
        status: 422,
        body: '{"reason":"Invalid","details":{"causes":[{"message":"Invalid value: \\"x\\": must be a hostname"}]}}',
      }),
    ],
  ])('%s (%i), without a word about the inside', async (_, status, type, error) => {
    boom = error;
    const answer = await ask('/boom', {key: makeKey('booms', 'booms')});
    expect([answer.status, typeOf(answer)]).toEqual([status, type]);
    expect(limitNames.filter((name) => answer.headers[name] === undefined)).toEqual([]);
    expect(answer.headers['retry-after'] !== undefined).toBe(status === 502 || status === 503);
    expect(JSON.stringify(answer.body)).not.toContain('secret');
  });

  test('and while nobody can say whose session it is (503)', async () => {
    const answer = await ask('/own', {headers: {cookie: '__Host-doorplate=x'}});
    expect([answer.status, typeOf(answer), answer.headers['retry-after']]).toEqual([503, 'unavailable', '2']);
    expect(limitNames.filter((name) => answer.headers[name] === undefined)).toEqual([]);
  });

  test('and while the process starts (503)', async () => {
    ready = false;
    const answer = await ask('/own', {key});
    ready = true;
    expect([answer.status, typeOf(answer), answer.headers['retry-after']]).toEqual([503, 'unavailable', '2']);
    expect(limitNames.filter((name) => answer.headers[name] === undefined)).toEqual([]);
  });
});

test('Headers that are too large are answered with the limit and what to do', async () => {
  const answer = await raw(port(), `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`);
  expect(answer).toMatch(/"detail":"[^"]+ at most 16 KiB together\. Shorten the query/);
});

const corsOf = ({headers}: Answer): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control'));

describe('A browser on another site', () => {
  const preflight = {origin: 'https://app.example.com', 'access-control-request-method': 'GET'};

  test('asks in vain whether it may send a request, and is told why and what to do', async () => {
    const answer = await ask('/thing', {method: 'OPTIONS', headers: preflight});
    expect([answer.status, typeOf(answer), answer.headers.allow]).toEqual([
      405,
      'method-not-allowed',
      'GET, HEAD, POST',
    ]);
    expect(answer.body.detail).toMatch(/^This API sends no CORS headers.+Call the API from your own server/);
    expect(corsOf(answer)).toEqual([]);
  });

  test('may read no answer to a request that needs no such question', async () => {
    const answer = await ask('/own', {key: makeKey('cors', 'cors'), headers: preflight});
    expect([answer.status, corsOf(answer)]).toEqual([200, []]);
  });

  test('is not named to a program that asks for the methods of a path', async () => {
    expect((await ask('/thing', {method: 'OPTIONS'})).body.detail).toBe('This path accepts GET, HEAD, POST.');
  });
});

describe('What the rules of Kubernetes refuse is told in their own words,', () => {
  test.each([
    [
      'a hostname',
      '"192.0.2.1": ',
      'must be a hostname, not an IP address: create a DNS name for the address and use that name',
    ],
    ['a text with a quote and a colon', String.raw`"a \": b": `, 'must be a hostname: give another'],
    ['an object, which is not shown', '', 'the two hashes are the same: remove one of them'],
    ['a number', '-1: ', 'must be a port number from 1 to 65535, or the name: one of the Service’s ports'],
  ])('all of them and without the value: %s', async (_, value, words) => {
    const causes = [{message: `Invalid value: ${value}${words}`}];
    boom = new ApiError({status: 422, body: JSON.stringify({reason: 'Invalid', details: {causes}})});
    const {status, body} = await ask('/boom', {key: makeKey('rules', 'rules')});
    expect([status, (body as {detail: string}).detail]).toEqual([422, words]);
  });
});

describe('A path that takes no body', () => {
  test.each<[string, string, Record<string, string>, string]>([
    ['JSON without a body', 'DELETE', {'content-type': 'application/json'}, ''],
    ['JSON without a body', 'POST', {'content-type': 'application/json'}, ''],
    ['an empty form', 'POST', {'content-type': 'application/x-www-form-urlencoded', 'content-length': '0'}, ''],
    ['a body that is no JSON', 'POST', {'content-type': 'application/json', 'content-length': '1'}, '{'],
    [
      'a type that nobody knows',
      'POST',
      {'content-type': 'a/b', 'transfer-encoding': 'chunked'},
      '1\r\nx\r\n0\r\n\r\n',
    ],
  ])('does not mind %s (%s)', async (_, method, headers, body) => {
    const key = makeKey('bodiless', 'bodiless');
    const sent = {host: 'a', authorization: `Bearer ${key}`, connection: 'close', ...headers};
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`);
    const answer = await raw(port(), `${method} /bodiless HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('A client that does not read its answer', () => {
  test('is cut after a while', async () => {
    const key = makeKey('slow', 'slow');
    const socket = connect(port(), '127.0.0.1').pause();
    socket.on('error', () => {}).write(`GET /large HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    const held = await new Promise<Socket>((resolve) => {
      server.server.once('connection', resolve);
    });
    const cut = new Promise<boolean>((resolve) => {
      held.once('close', () => resolve(true));
    });
    expect(await Promise.race([cut, sleep(patience(60_000), false, {ref: false})])).toBe(true);
    socket.destroy();
  });
});

describe('The gate', () => {
  test('refuses when the plan is used up, by whichever key, and says until when; the own quota goes on', async () => {
    const [one, two] = [makeKey('shared', 'one'), makeKey('shared', 'two')];
    const answers: Answer[] = [];
    for (let i = 0; i < 21; i++) answers.push(await ask('/thing', {key: i % 2 === 0 ? one : two}));
    expect(answers.map((a) => a.status)).toEqual([...Array.from({length: 20}, () => 200), 429]);
    expect(answers.slice(0, 20).map((a) => Number(a.headers['x-ratelimit-remaining']))).toEqual(
      Array.from({length: 20}, (_, i) => 19 - i),
    );
    const refused = answers.at(-1)!;
    expect(Number(refused.headers['x-ratelimit-reset'])).toBeLessThanOrEqual(
      clock.nowMs() / 1000 + Number(refused.headers['retry-after']),
    );
    expect((await ask('/own', {key: one})).status).toBe(200);
  });

  test('tells the bans which token was refused, not which tenant', async () => {
    refusedAs.length = 0;
    const key = makeKey('struck', 'struck', {rateLimit: {requestsPerMinute: 1, requestsPerDay: 1}});
    await ask('/thing', {key});
    expect((await ask('/thing', {key})).status).toBe(429);
    expect(refusedAs).toEqual([hashToken(key)]);
  });

  test('says until when a token is accepted, on refusals too, in UTC', async () => {
    const [ends, sooner] = ['2027-01-31T02:00:00+02:00', '2026-12-01T00:00:00Z'];
    const key = makeKey('ending', 'ending', {expireTime: ends});
    const old = makeToken({namespace: 'ending', name: 'ending'});
    keys.get('ending/ending')!.spec.hashes.push({sha256: hashToken(old), expireTime: sooner});
    expect(await toldEnd('/thing', key)).toEqual([200, '2027-01-31T00:00:00Z']);
    expect(await toldEnd('/thing', old)).toEqual([200, sooner]);
    expect(await toldEnd('/write', key)).toEqual([403, '2027-01-31T00:00:00Z']);
    for (let i = 0; i < 20; i++) await ask('/thing', {key});
    expect(await toldEnd('/thing', key)).toEqual([429, '2027-01-31T00:00:00Z']);
    expect(await toldEnd('/thing', makeKey('endless', 'endless'))).toEqual([200, undefined]);
  });

  test('charges an address for each token that is not valid, beside its other requests, and a ServiceAccount for each request', async () => {
    const from = {'x-forwarded-for': '203.0.113.50', 'doorplate-namespace': 'acme'};
    const first = await remaining('203.0.113.50');
    const answers: Answer[] = [];
    for (const key of ['eyJ.a.good', 'eyJ.a.good', 'eyJ.a.good', 'eyJ.a.good', 'eyJ.a.bad', 'eyJ.a.bad']) {
      answers.push(await ask('/thing', {key: key.replace('eyJ', 'eyJh'), headers: from}));
    }
    expect(answers.map(({status}) => status)).toEqual([200, 200, 200, 429, 401, 401]);
    expect(answers.map(({headers}) => Number(headers['x-ratelimit-remaining']))).toEqual([2, 1, 0, 0, 999, 998]);
    expect(await remaining('203.0.113.50')).toBe(first - 1);
  });

  test('charges what cannot be parsed, and a path that cannot be decoded, to whoever sent it', async () => {
    const at = port();
    const left = async (): Promise<number> => Number((await ask('/nowhere')).headers['x-ratelimit-remaining']);
    const first = await left();
    for (const bytes of ['hello\r\n\r\n', 'GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'])
      expect(await raw(at, bytes)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await left()).toBe(first - 3);
    const key = makeKey('decoding', 'decoding');
    const answer = await ask('/%zz', {key});
    expect([answer.status, answer.headers['x-ratelimit-limit'], answer.headers['x-ratelimit-remaining']]).toEqual([
      400,
      '20',
      '19',
    ]);
    for (let i = 0; i < 19; i++) await ask('/%zz', {key});
    expect((await ask('/%zz', {key})).status).toBe(429);
  });

  test('refuses a request with two Host headers, and a key that names another namespace', async () => {
    expect(await raw(port(), 'GET /nowhere HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 /,
    );
    const key = makeKey('home', 'home');
    const naming = (namespace: string): Promise<Answer> =>
      ask('/thing', {key, headers: {'doorplate-namespace': namespace}});
    expect((await naming('home')).status).toBe(200);
    expect(await naming('elsewhere')).toMatchObject({
      status: 404,
      body: {detail: expect.stringContaining('elsewhere')},
    });
  });

  test('counts a client by its address, also where its proxy appends a port', async () => {
    const first = await remaining('203.0.113.77:1000');
    expect(await remaining('203.0.113.78:1000')).toBe(first);
    expect(await remaining('203.0.113.77:2000')).toBe(first - 1);
  });

  test('believes X-Forwarded-For of a trusted proxy only as far as the last stranger', async () => {
    const first = await remaining('203.0.113.9');
    expect(await remaining('198.51.100.1, 203.0.113.9')).toBe(first - 1);
    expect(await remaining('2001:db8::1')).toBe(first);
    expect(await remaining('2001:db8::2')).toBe(first - 1);
  });
});
