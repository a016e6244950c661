/** The limits on every answer of the API: headers, refusals, bans. */
import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {accounts} from '../../operator/resources/resources.ts';
import {makeToken} from '../../operator/domain/api-key.ts';
import {eventually, patienceMs} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';
import type {Answer, Ask} from '../support/http-client.ts';
import {withFreshMinute} from '../support/fresh-minute.ts';

let world: ApiWorld;
beforeAll(async () => {
  world = await ApiWorld.start({
    withoutKey: {requestsPerMinute: 100_000},
    // Three minutes of strikes are tried on a clock that is moved.
    bans: {strikes: 1},
  });
});
afterAll(async () => {
  await world?.stop();
});

const nowSeconds = (): number => Date.now() / 1000;

/** The five headers of the limit, each well-formed, on the answer to a request that was sent at that time. */
function expectLimitHeaders(headers: Record<string, unknown>, sentSeconds: number): void {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(headers[`x-ratelimit-${name}`]),
  );
  expect({
    limit: limit! > 0,
    remaining: remaining! >= 0 && remaining! <= limit!,
    reset: reset! > sentSeconds - 1 && reset! <= nowSeconds() + 86_400,
  }).toEqual({limit: true, remaining: true, reset: true});
  // What costs no plan has no day.
  expect(headers['ratelimit-policy']).toMatch(/^"[a-z]+-minute";q=\d+;w=60(, "[a-z]+-day";q=\d+;w=86400)?$/);
  expect(headers.ratelimit).toMatch(/^"[a-z]+-minute";r=\d+;t=\d+(, "[a-z]+-day";r=\d+;t=\d+)?$/);
}

const isProblem = ({status, headers, body}: Answer): boolean =>
  headers['content-type'] === 'application/problem+json' &&
  /^https:\/\/doorplate\.dev\/problems\/[a-z-]+$/.test(body.type) &&
  body.status === status &&
  body.title !== '' &&
  body.detail !== '';

const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.split('\r\n\r\n')[0]!.matchAll(/^([\w-]+): (.*)$/gm)].map((match) => [
      match[1]!.toLowerCase(),
      match[2]!.trim(),
    ]),
  );

describe('The headers of the limit', () => {
  let key: string;
  beforeAll(async () => {
    await world.tenant('headers', 'huge');
    key = await world.key('headers', 'ci', {scopes: ['domains:read', 'domains:write']});
    await world.project('headers', 'docs');
  });

  test.each<[string, number, string, Ask]>([
    ['an answer', 200, '/v1/projects', {}],
    ['the answer to HEAD', 200, '/v1/projects', {method: 'HEAD'}],
    ['a query that is not valid', 400, '/v1/projects?limit=0', {}],
    ['a path that cannot be decoded', 400, '/v1/projects/%zz', {}],
    ['a body that is no JSON', 400, '/v1/projects/docs/domains', {method: 'POST', body: '{'}],
    ['no key', 401, '/v1/projects', {key: ''}],
    ['a wrong key', 401, '/v1/projects', {key: makeToken({namespace: 'headers', name: 'ci'})}],
    ['a scope that is missing', 403, '/v1/keys', {}],
    ['a path that is not there', 404, '/nowhere', {}],
    ['a path that is not there, without a key', 404, '/nowhere', {key: ''}],
    ['a project that is not there', 404, '/v1/projects/none', {}],
    ['another method', 405, '/v1/projects', {method: 'DELETE'}],
    ['a method that nobody uses', 405, '/v1/account', {method: 'PROPFIND'}],
    [
      'a body that is too large',
      413,
      '/v1/projects/docs/domains',
      {method: 'POST', body: {hostname: 'a'.repeat(20_000)}},
    ],
    [
      'a body of another type',
      415,
      '/v1/projects/docs/domains',
      {method: 'POST', body: 'x', headers: {'content-type': 'text/plain'}},
    ],
    ['the description', 200, '/openapi.json', {key: ''}],
    ['the reference page', 200, '/docs', {key: ''}],
    ['the page of a problem', 200, '/problems/rate-limited', {key: ''}],
  ])('are on %s (%i)', async (_, status, path, ask) => {
    const sentSeconds = nowSeconds();
    const answer = await world.ask(path, {key, ...ask, ...(ask.key === '' && {key: undefined})});
    expect(answer.status).toBe(status);
    expectLimitHeaders(answer.headers, sentSeconds);
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(isProblem(answer)).toBe(status >= 400);
  });

  test.each([
    ['no HTTP', 400, 'hello\r\n\r\n'],
    ['headers of 40 KB', 431, `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`],
    ['no Host', 400, 'GET /v1/projects HTTP/1.1\r\nConnection: close\r\n\r\n'],
    [
      'an expectation that nobody knows',
      401,
      'GET /v1/projects HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nConnection: close\r\n\r\n',
    ],
    ['two lengths', 400, 'POST /v1/keys HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  ])('are on the answer to %s (%i)', async (_, status, bytes) => {
    const sentSeconds = nowSeconds();
    const said = await world.raw(bytes);
    expect(said).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expectLimitHeaders(headersOf(said), sentSeconds);
  });

  test('a method that is not allowed is answered with those that are', async () => {
    expect((await world.ask('/v1/projects', {key, method: 'DELETE'})).headers.allow).toBe('GET, HEAD');
  });
});

/** Sends so many requests of a key, one after the other. */
async function drain(key: string, count: number, path = '/v1/projects'): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let i = 0; i < count; i++) answers.push(await world.ask(path, {key}));
  return answers;
}

describe('The quota of a plan', () => {
  test('is counted down request by request, shared by all keys of the account, and then refused with Retry-After', async () => {
    const tenant = withFreshMinute('free');
    await world.tenant(tenant, 'free');
    const [one, two] = [await world.key(tenant, 'one'), await world.key(tenant, 'two')];
    const used = (await world.ask('/v1/account', {key: one})).body.usage.minute.used as number;
    const answers = [...(await drain(one, 30 - used)), ...(await drain(two, 30))];
    expect(answers.map((a) => a.status)).toEqual(answers.map(() => 200));
    expect(answers.map((a) => Number(a.headers['x-ratelimit-remaining']))).toEqual(
      answers.map((_, i) => 60 - used - 1 - i),
    );

    const refused = await world.ask('/v1/projects', {key: one});
    expect(refused).toMatchObject({status: 429, body: {type: 'https://doorplate.dev/problems/rate-limited'}});
    const [reset, wait] = [Number(refused.headers['x-ratelimit-reset']), Number(refused.headers['retry-after'])];
    expect(refused.headers).toMatchObject({'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0'});
    expect(nowSeconds() + wait).toBeGreaterThanOrEqual(reset - 1);

    // What a client needs to see or to stop it does not use the plan's quota.
    const account = await world.ask('/v1/account', {key: one});
    expect(account).toMatchObject({
      status: 200,
      body: {plan: 'free', usage: {minute: {limit: 60, used: 60, remaining: 0, reset}}},
      headers: {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(reset),
        'ratelimit-policy': '"plan-minute";q=60;w=60, "plan-day";q=1000;w=86400, "account-minute";q=60;w=60',
      },
    });
    expect((await world.ask('/v1/keys/two', {key: two, method: 'DELETE'})).status).toBe(204);
  });

  test('is that of a changed plan within a second, and the requests made before still count', async () => {
    const tenant = 'grower';
    await world.tenant(tenant, 'free');
    const key = await world.key(tenant, 'ci');
    await drain(key, 5);
    await world.client.patch(accounts, tenant, {spec: {planRef: {name: 'pro'}}}, {type: 'merge'});
    const account = await eventually(
      'the new plan counts',
      async () => {
        const {body} = await world.ask('/v1/account', {key});
        return body.plan === 'pro' && body;
      },
      patienceMs,
      50,
    );
    expect(account.usage).toMatchObject({minute: {limit: 300}, day: {used: 5}});
  });

  test("that was agreed on the account takes precedence over the plan's, and a cap of a key applies below both", async () => {
    await world.tenant('agreed', 'pro', {requestsPerMinute: 5000, requestsPerDay: 100_000});
    const [key, capped] = [
      await world.key('agreed', 'ci'),
      await world.key('agreed', 'capped', {rateLimit: {requestsPerMinute: 3, requestsPerDay: 3}}),
    ];
    expect((await world.ask('/v1/account', {key})).body.rateLimit).toEqual({
      requestsPerMinute: 5000,
      requestsPerDay: 100_000,
    });
    const answers = await drain(capped, 4);
    expect(answers.map((a) => a.status)).toEqual([200, 200, 200, 429]);
    expect(answers.at(-1)?.headers['ratelimit-policy']).toBe(
      '"plan-minute";q=5000;w=60, "plan-day";q=100000;w=86400, "key-capped-minute";q=3;w=60, "key-capped-day";q=3;w=86400',
    );
    expect((await world.ask('/v1/projects', {key})).status).toBe(200);
  });
});

describe('A ban', () => {
  test('hits the key that goes on, ends its event streams, says when it is over, and spares the other keys of the account', async () => {
    await world.tenant('hasty', 'huge', {requestsPerMinute: 1000, requestsPerDay: 1000});
    const [hasty, patient] = [await world.key('hasty', 'hasty'), await world.key('hasty', 'patient')];
    await world.project('hasty', 'docs');
    const stream = await eventually('a stream is open', async () => {
      const response = await fetch(`http://127.0.0.1:${world.port}/v1/projects/docs/events`, {
        headers: {authorization: `Bearer ${hasty}`},
      });
      return response.status === 200 && response;
    });
    const streamEnded = stream.text().then(() => true);
    await world.client.patch(
      accounts,
      'hasty',
      // Much is left of the day: a ban for a day that is used up ends with it, and this test may run before midnight.
      {spec: {rateLimit: {requestsPerMinute: 1, requestsPerDay: 1000}}},
      {type: 'merge'},
    );
    await eventually(
      'the key is banned',
      async () => {
        const answers = await Promise.all(Array.from({length: 20}, () => world.ask('/v1/projects', {key: hasty})));
        return answers.some(({status, body}) => status === 429 && body.type.endsWith('key-banned'));
      },
      patienceMs,
      50,
    );
    const bannedMs = performance.now();
    expect(await Promise.race([streamEnded, sleep(30_000, false, {ref: false})])).toBe(true);
    console.log(
      `the stream ended ${Math.round(performance.now() - bannedMs)} ms after the first answer that told of the ban`,
    );
    const banned = await world.ask('/v1/account', {key: hasty});
    expect(banned).toMatchObject({
      status: 429,
      body: {type: 'https://doorplate.dev/problems/key-banned'},
      headers: {'x-ratelimit-remaining': '0'},
    });
    const [reset, wait] = [Number(banned.headers['x-ratelimit-reset']), Number(banned.headers['retry-after'])];
    expect(Math.abs(reset - nowSeconds() - wait)).toBeLessThan(3);
    expect(wait).toBeGreaterThan(14 * 60);
    const other = await world.ask('/v1/projects', {key: patient});
    expect(other.body.type).toBe('https://doorplate.dev/problems/rate-limited');
  });

  test('is not imposed for 50 simultaneous requests at the limit', async () => {
    await world.tenant('burst', 'huge', {requestsPerMinute: 10, requestsPerDay: 1000});
    const key = await world.key('burst', 'ci');
    const answers = await Promise.all(Array.from({length: 50}, () => world.ask('/v1/projects', {key})));
    expect(answers.filter((a) => a.status === 200).length).toBeGreaterThanOrEqual(10);
    expect((await world.ask('/v1/account', {key})).status).toBe(200);
  });
});

describe('Without a valid key', () => {
  test('requests count against the address; a valid key from the same address is not affected, and X-Forwarded-For of untrusted addresses is ignored', async () => {
    const strict = await ApiWorld.start({withoutKey: {requestsPerMinute: 5}});
    try {
      await strict.tenant('acme');
      const key = await strict.key('acme', 'ci');
      const statuses: number[] = [];
      for (let i = 0; i < 8; i++)
        statuses.push((await strict.ask('/v1/projects', {headers: {'x-forwarded-for': `203.0.113.${i}`}})).status);
      expect(statuses.slice(0, 5).every((s) => s === 401 || s === 429)).toBe(true);
      expect(statuses.slice(5)).toEqual([429, 429, 429]);
      expect((await strict.ask('/v1/projects', {key})).status).toBe(200);
    } finally {
      await strict.stop();
    }
  });
});
