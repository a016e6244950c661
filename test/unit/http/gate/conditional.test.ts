/** Conditional reads: what a 304 costs, and what it never gives away. The gate and the limiter are the real ones; no Kubernetes is asked. */
import type {AddressInfo} from 'node:net';
import {afterAll, beforeAll, beforeEach, expect, test} from '@jest/globals';
import type {FastifyInstance} from 'fastify';
import {pino} from 'pino';
import {z} from 'zod';
import type {ApiKey} from '../../../../operator/api/foreign.ts';
import {makeToken} from '../../../../operator/domain/api-key.ts';
import {Gate} from '../../../../operator/http/gate/gate.ts';
import {Problem} from '../../../../operator/http/problems.ts';
import {makeServer} from '../../../../operator/http/server.ts';
import {Bans, defaultBanRules} from '../../../../operator/limits/bans.ts';
import {Limiter} from '../../../../operator/limits/limiter.ts';
import {type Answer, type Ask, ask as askAt} from '../../../support/http-client.ts';
import {apiKeyOf, planOf} from '../../../support/plans-and-keys.ts';

const clock = {nowMs: () => Date.parse('2026-11-22T12:00:00Z')};
const plan = planOf('small', {requestsPerMinute: 20, requestsPerDay: 1000}, {allowed: true, maxHostnamesPerProject: 1});
const keys = new Map<string, ApiKey>();
const makeKey = (namespace: string, spec: Partial<ApiKey['spec']> = {}, name = 'ci'): string => {
  const token = makeToken({namespace, name});
  keys.set(`${namespace}/${name}`, apiKeyOf(namespace, name, token, spec));
  return token;
};
const bans = new Bans({clock, rules: {...defaultBanRules, refusedAtLeast: 10, strikes: 1}});

let server: FastifyInstance;
/** What the path `/v1/thing` shows. */
let shown = 0;
/** How often a handler ran. */
let handled = 0;
beforeAll(async () => {
  server = await makeServer({
    log: pino({level: 'silent'}),
    gate: new Gate({
      limiter: new Limiter({clock}),
      local: new Limiter({clock}),
      now: clock.nowMs,
      findKey: (name) => keys.get(name),
      bans,
      tenantOf: (namespace) => ({account: namespace, namespaceUID: 'u', plan}),
      addressQuota: {requestsPerMinute: 1000},
      serviceAccountQuota: {requestsPerMinute: 3, requestsPerDay: 100},
      used: () => {},
      refused: () => {},
      letThrough: () => {},
      serviceAccounts: {
        audience: 'doorplate',
        remembered: () => ({username: 'system:serviceaccount:platform:backend'}),
        wasGood: () => true,
        may: async () => true,
        recognise: async () => null,
      },
    }),
    trustedProxies: [],
    ready: () => true,
    routes: (app) => {
      const config = {scope: 'domains:read', hasETag: true} as const;
      app.get('/v1/thing', {config, schema: {hide: true}}, async () => {
        handled++;
        return {shown};
      });
      app.get('/v1/versioned', {config, schema: {hide: true}}, async (_, reply) =>
        reply.header('etag', '"u.3"').send({shown}),
      );
      app.get('/v1/secret', {config: {...config, scope: 'keys:write'}, schema: {hide: true}}, async () => ({shown}));
      app.get('/v1/missing', {config, schema: {hide: true}}, async () => {
        throw new Problem('not-found', 'There is none.');
      });
      app.get('/v1/plain', {config: {scope: 'domains:read'}, schema: {hide: true}}, async () => ({shown}));
      app.get(
        '/v1/checked',
        {config, schema: {hide: true, querystring: z.strictObject({n: z.string()})}},
        async () => ({shown}),
      );
    },
  });
  await server.listen({port: 0, host: '127.0.0.1'});
});
afterAll(async () => {
  await server.close();
});
beforeEach(() => {
  shown = handled = 0;
});

const ask = (path: string, question?: Ask): Promise<Answer> =>
  askAt((server.server.address() as AddressInfo).port, path, question);
const read = (key: string, tag?: string, path = '/v1/thing'): Promise<Answer> =>
  ask(path, {key, headers: tag === undefined ? {} : {'if-none-match': tag}});
/** Sends reads one after the other. */
async function reads(count: number, key: string, tag: string, path?: string): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let i = 0; i < count; i++) answers.push(await read(key, tag, path));
  return answers;
}
const statuses = (answers: readonly Answer[]): Record<number, number> =>
  Object.fromEntries([...Map.groupBy(answers, ({status}) => status)].map(([status, of]) => [status, of.length]));
const tagOf = ({headers: {etag}}: Answer): string => etag!;
/** Requests left in each window, by policy. */
const left = ({headers}: Answer): Record<string, number> =>
  Object.fromEntries(
    [...String(headers.ratelimit).matchAll(/"([^"]+)";r=(\d+)/g)].map(([, name, count]) => [name, Number(count)]),
  );

test('an answer has a weak ETag of what it shows, whoever asks and however the limit stands', async () => {
  const first = await read(makeKey('tags'));
  expect(first).toMatchObject({status: 200, headers: {'cache-control': 'private, no-cache'}});
  expect(tagOf(first)).toMatch(/^W\/"[\w-]{20,}"$/);
  expect(tagOf(await read(makeKey('others')))).toBe(tagOf(first));
  shown = 1;
  expect(tagOf(await read(makeKey('tags')))).not.toBe(tagOf(first));
});

test('a tag for If-Match is part of the weak one', async () => {
  const answer = await read(makeKey('versions'), undefined, '/v1/versioned');
  expect(tagOf(answer)).toMatch(/^W\/"u\.3\.[\w-]{20,}"$/);
  shown = 1;
  expect(tagOf(await read(makeKey('versions'), undefined, '/v1/versioned'))).not.toBe(tagOf(answer));
});

test.each<[string, (tag: string) => string, number]>([
  ['the tag', (tag) => tag, 304],
  ['the tag as a strong one', (tag) => tag.slice(2), 304],
  ['a list with the tag', (tag) => `"a,b", W/"c",${tag}`, 304],
  ['any tag', () => ' * ', 304],
  ['another tag', () => 'W/"other"', 200],
  ['no list of tags', (tag) => tag.replaceAll('"', ''), 200],
  ['a tag that contains the tag', (tag) => `"${tag.replaceAll('"', '')}"`, 200],
])('If-None-Match with %s', async (what, header, status) => {
  const key = makeKey(`forms-${what.replaceAll(' ', '-')}`);
  const tag = tagOf(await read(key));
  const answer = await read(key, header(tag));
  expect(answer).toMatchObject({status, headers: {etag: tag, 'cache-control': 'private, no-cache'}});
  expect(answer.body).toEqual(status === 304 ? '' : {shown: 0});
  expect(answer.headers['content-length']).toBe(status === 304 ? undefined : '11');
});

test('HEAD is answered as GET', async () => {
  const key = makeKey('heads');
  const tag = tagOf(await ask('/v1/thing', {key, method: 'HEAD'}));
  const answer = await ask('/v1/thing', {key, method: 'HEAD', headers: {'if-none-match': tag}});
  expect(answer).toMatchObject({status: 304, headers: {etag: tag}, body: ''});
});

test('a 304 is charged to the pool of conditional reads alone, and says where the plan stands', async () => {
  const key = makeKey('pollers');
  const tag = tagOf(await read(key));
  const answers = await reads(100, key, tag);
  expect(statuses(answers)).toEqual({304: 100});
  expect(left(answers.at(-1)!)).toEqual({'plan-minute': 19, 'plan-day': 999, 'conditional-minute': 100});
  expect(answers.at(-1)!.headers).toMatchObject({
    'x-ratelimit-limit': '20',
    'x-ratelimit-remaining': '19',
    'ratelimit-policy': '"plan-minute";q=20;w=60, "plan-day";q=1000;w=86400, "conditional-minute";q=200;w=60',
  });
  expect(left(await read(key))).toEqual({'plan-minute': 18, 'plan-day': 998});
});

test('a read of what has changed is charged to the plan too, and refused without its body when the plan has nothing left', async () => {
  const key = makeKey('changes');
  const answers = await reads(25, key, '"made-up"');
  expect(statuses(answers)).toEqual({200: 20, 429: 5});
  expect(left(answers[0]!)).toEqual({'plan-minute': 19, 'plan-day': 999, 'conditional-minute': 199});
  expect(answers.at(-1)).toMatchObject({
    headers: {'content-type': 'application/problem+json', 'cache-control': 'no-store', 'x-ratelimit-remaining': '0'},
    body: {type: 'https://doorplate.dev/problems/rate-limited', strikes: 0},
  });
  expect(answers.at(-1)!.headers).toHaveProperty('retry-after');
  expect(answers.at(-1)!.headers).not.toHaveProperty('etag');
  // What is current costs no plan.
  expect(await read(key, tagOf(answers[0]!))).toMatchObject({status: 304, headers: {'x-ratelimit-remaining': '0'}});
  expect((await read(key)).status).toBe(429);
});

test.each([
  ['a project that is not there', '/v1/missing', 404],
  ['a scope that is missing', '/v1/secret', 403],
  ['a query that is not valid', '/v1/checked', 400],
])('%s is charged to the plan', async (_, path, status) => {
  const key = makeKey(`errors-${status}`);
  const answers = await reads(21, key, '*', path);
  expect(statuses(answers)).toEqual({[status]: 20, 429: 1});
});

test('a path without an ETag charges the plan whatever it is asked', async () => {
  const key = makeKey('plain');
  const answer = await read(key, '*', '/v1/plain');
  expect(answer).toMatchObject({status: 200, headers: {'cache-control': 'no-store'}});
  expect(left(answer)).toEqual({'plan-minute': 19, 'plan-day': 999});
  expect(answer.headers).not.toHaveProperty('etag');
});

test('conditional reads have ten times the minute of the plan, for all keys of a tenant together', async () => {
  const [one, two] = [makeKey('busy'), makeKey('busy', {}, 'two')];
  const answers = [...(await reads(150, one, '*')), ...(await reads(55, two, '*'))];
  expect(statuses(answers)).toEqual({304: 200, 429: 5});
  expect(handled).toBe(200);
  expect(answers.at(-1)!.headers).toMatchObject({'x-ratelimit-limit': '200', 'x-ratelimit-remaining': '0'});
  expect(answers.at(-1)!.headers).toHaveProperty('retry-after');
});

test('a key with a cap has ten times its cap, and a read of what has changed is charged to the cap', async () => {
  const [capped, other] = [
    makeKey('capped', {rateLimit: {requestsPerMinute: 2, requestsPerDay: 100}}),
    makeKey('capped', {}, 'other'),
  ];
  expect(statuses(await reads(3, capped, '"made-up"'))).toEqual({200: 2, 429: 1});
  expect(statuses(await reads(18, capped, '*'))).toEqual({304: 17, 429: 1});
  expect((await read(other, '*')).status).toBe(304);
});

test('a banned key stays banned', async () => {
  // By this clock the minute of its pool has 54 s left: in the last 20 no refusal counts.
  const key = makeKey('impatient');
  await reads(61, key, '"made-up"');
  expect(await read(key, '*')).toMatchObject({
    status: 429,
    body: {type: 'https://doorplate.dev/problems/key-banned'},
  });
});

test('a 304 is charged to a ServiceAccount as any other answer', async () => {
  const headers = {'if-none-match': '*', 'doorplate-namespace': 'acme'};
  const answers: Answer[] = [];
  for (let i = 0; i < 4; i++) answers.push(await ask('/v1/thing', {key: 'eyJh.a.good', headers}));
  expect(statuses(answers)).toEqual({304: 3, 429: 1});
});
