/** The platform's own API behind Envoy and nginx, by the files of examples/limit-your-api; two replicas count in one redis-server. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {setTimeout as sleep} from 'node:timers/promises';
import {Authorizers, through} from '../support/authorizers.ts';
import type {Passed} from '../support/authorizers.ts';
import {withFreshMinute} from '../support/fresh-minute.ts';
import {startEnvoy, startNginx} from '../support/proxies.ts';
import type {Proxy} from '../support/proxies.ts';

let all: Authorizers;
let key: string;
const proxies = new Map<string, Proxy>();
beforeAll(async () => {
  all = await Authorizers.start();
  const open = {...all.wiring, failOpen: true};
  const starts = {
    Envoy: startEnvoy(all.wiring),
    nginx: startNginx(all.wiring),
    'Envoy that fails open': startEnvoy(open),
    'nginx that fails open': startNginx(open),
  };
  await Promise.all(Object.entries(starts).map(async ([name, proxy]) => void proxies.set(name, await proxy)));
  await all.world.tenant('acme', 'huge');
  key = await makeKey('acme', 'ci');
});
afterAll(async () => {
  for (const proxy of proxies.values()) await proxy.stop();
  await all?.stop();
});

async function makeKey(
  namespace: string,
  name: string,
  scopes: string[] = ['reports:read', 'domains:read'],
): Promise<string> {
  const token = await all.world.key(namespace, name, {scopes});
  await all.knows(token);
  return token;
}

const spoofed = {
  'x-doorplate-namespace': 'victim',
  'X-Doorplate-Account': 'victim',
  'x-doorplate-plan': 'enterprise',
  'x-doorplate-key': 'root',
  'x-doorplate-scopes': 'all:all',
};
const ask = (
  proxy: string,
  {
    token = key,
    path = '/reports/1?x=1',
    headers = {},
    method = 'GET',
  }: {token?: string; path?: string; headers?: object; method?: string} = {},
): Promise<Passed> =>
  through(proxies.get(proxy)!.url, path, {...(token !== '' && {authorization: `Bearer ${token}`}), ...headers}, method);
const identity = ({reached}: Passed): Record<string, unknown> =>
  Object.fromEntries(Object.entries(reached!.headers).filter(([name]) => name.startsWith('x-doorplate')));
const limitNames = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit', 'ratelimit-policy'];
const expectLimits = ({headers}: Passed): void => expect(limitNames.filter((name) => !headers.get(name))).toEqual([]);
const typeOf = ({status, body}: Passed): [number, string | undefined] => [
  status,
  (body?.type as string | undefined)?.split('/').at(-1),
];

describe.each(['Envoy', 'nginx'])('An API that knows nothing of Doorplate, behind %s,', (proxy) => {
  test('answers with the headers of the limit, and gets to know who asks, whatever the client says of itself', async () => {
    const answer = await ask(proxy, {headers: spoofed});
    expect(answer).toMatchObject({status: 200, reached: {method: 'GET', url: '/reports/1?x=1'}});
    expectLimits(answer);
    expect(identity(answer)).toEqual({
      'x-doorplate-namespace': 'acme',
      'x-doorplate-account': 'acme',
      'x-doorplate-plan': 'huge',
      'x-doorplate-key': 'ci',
      'x-doorplate-scopes': 'reports:read domains:read',
    });
  });

  test.each(['POST', 'DELETE', 'PATCH', 'OPTIONS'])('answers to %s too', async (method) => {
    expect(await ask(proxy, {method})).toMatchObject({status: 200, reached: {method}});
  });

  test('gets no name of an account where the namespace has none, though the client sends one', async () => {
    const name = `free-${proxy.toLowerCase()}`;
    await all.world.namespace(name);
    const answer = await ask(proxy, {token: await makeKey(name, 'ci'), headers: spoofed});
    expect(identity(answer)).toEqual({
      'x-doorplate-namespace': name,
      'x-doorplate-plan': 'free',
      'x-doorplate-key': 'ci',
      'x-doorplate-scopes': 'reports:read domains:read',
    });
  });

  test('is not reached without a key, with a wrong one, and without the scope', async () => {
    const other = await makeKey('acme', `other-${proxy.toLowerCase()}`, ['domains:read']);
    const before = all.service.requests;
    const refused = [
      await ask(proxy, {token: ''}),
      await ask(proxy, {token: `${key}x`}),
      await ask(proxy, {token: other}),
    ];
    expect(refused.map(typeOf)).toEqual([
      [401, 'credentials-missing'],
      [401, 'credentials-wrong'],
      [403, 'scope-missing'],
    ]);
    for (const answer of refused) expectLimits(answer);
    expect(refused.map((a) => a.headers.get('content-type'))).toEqual(refused.map(() => 'application/problem+json'));
    expect(all.service.requests).toBe(before);
  });

  test('is not reached when the plan is used up: 429 with Retry-After, of both replicas together', async () => {
    const name = withFreshMinute(`small-${proxy.toLowerCase()}`);
    await all.world.tenant(name, 'free');
    const token = await makeKey(name, 'ci');
    const answers: Passed[] = [];
    while (answers.at(-1)?.status !== 429 && answers.length < 100) answers.push(await ask(proxy, {token}));
    const refused = answers.at(-1)!;
    expect(typeOf(refused)).toEqual([429, 'rate-limited']);
    expectLimits(refused);
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    expect(Date.now() / 1000 + Number(refused.headers.get('retry-after'))).toBeGreaterThan(
      Number(refused.headers.get('x-ratelimit-reset')) - 2,
    );
    // Of 60, a block of 3 of each replica more or less; two were asked for beforehand.
    expect(Math.abs(answers.length - 1 - 58)).toBeLessThanOrEqual(6);
  });
});

/** Requests through both proxies until the work is done; the statuses of those that were not answered well. */
async function during(work: () => Promise<void>): Promise<{asked: number; failed: string[]}> {
  const over = new AbortController();
  const result = {asked: 0, failed: [] as string[]};
  const client = async (proxy: string): Promise<void> => {
    while (!over.signal.aborted) {
      const {status} = await ask(proxy);
      result.asked++;
      if (status !== 200) result.failed.push(`${proxy}: ${status}`);
      await sleep(10);
    }
  };
  const clients = ['Envoy', 'nginx', 'Envoy', 'nginx'].map(client);
  await work();
  over.abort();
  await Promise.all(clients);
  return result;
}

describe('While something goes,', () => {
  test('one after the other is replaced, and no request fails', async () => {
    const {asked, failed} = await during(async () => {
      for (const replica of all.replicas) {
        await replica.signal('SIGTERM');
        await replica.start();
      }
    });
    console.log(`${asked} requests while both replicas were replaced`);
    expect(asked).toBeGreaterThan(50);
    expect(failed).toEqual([]);
  });

  test('one is killed: what it had not answered is asked of the other', async () => {
    const {asked, failed} = await during(async () => {
      await all.replicas[0]!.signal('SIGKILL');
      await sleep(1000);
    });
    await all.replicas[0]!.start();
    expect(asked).toBeGreaterThan(20);
    expect(failed).toEqual([]);
  });

  test('Valkey is silent, and comes back: each replica counts for itself meanwhile', async () => {
    const {asked, failed} = await during(async () => {
      all.redis.freeze();
      await sleep(3000);
      all.redis.resume();
      await sleep(1500);
    });
    expect(asked).toBeGreaterThan(50);
    expect(failed).toEqual([]);
  });

  describe.each([
    ['are silent', 'SIGSTOP'],
    ['have gone', 'SIGKILL'],
  ] as const)('and where all %s,', (_, signal) => {
    beforeAll(async () => {
      for (const replica of all.replicas) await replica.signal(signal);
    });
    afterAll(async () => {
      for (const replica of all.replicas) await (signal === 'SIGSTOP' ? replica.signal('SIGCONT') : replica.start());
    });

    test.each(['Envoy', 'nginx'])('%s fails closed: 503, and the API is not reached', async (proxy) => {
      const [before, began] = [all.service.requests, performance.now()];
      expect((await ask(proxy)).status).toBe(503);
      console.log(`${proxy}: ${Math.round(performance.now() - began)} ms`);
      expect(all.service.requests).toBe(before);
    });

    test.each(['Envoy that fails open', 'nginx that fails open'])(
      '%s lets requests in, and nobody’s name with them',
      async (proxy) => {
        const answer = await ask(proxy, {headers: spoofed});
        expect(answer.status).toBe(200);
        expect(identity(answer)).toEqual({});
      },
    );
  });
});

test('What needs no key is not asked for', async () => {
  const answer = await ask('Envoy', {token: '', path: '/healthz', headers: spoofed});
  expect([answer.status, identity(answer)]).toEqual([200, {}]);
});
