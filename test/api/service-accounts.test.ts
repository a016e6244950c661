/** The platform's own programs: each comes with its ServiceAccount's token, and does what Kubernetes' roles allow it. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {eventually, patienceMs} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';
import type {Answer, Ask} from '../support/http-client.ts';
import {buildPage} from '../support/page-world.ts';
import {makeServiceAccount, resigned, roleBindings, serviceAccounts, tokenOf} from '../support/service-account.ts';

const backend = {namespace: 'platform', name: 'backend'};
const reader = {namespace: 'platform', name: 'reader'};
const perMinute = 400;
let world: ApiWorld;
let token: string;
let reading: string;
beforeAll(async () => {
  buildPage();
  world = await ApiWorld.start(
    {
      page: {enabled: true},
      withoutKey: {requestsPerMinute: 100_000},
      perServiceAccount: {requestsPerMinute: perMinute, requestsPerDay: 10_000},
    },
    {rbac: true},
  );
  for (const name of ['platform', 'acme', 'other']) {
    await world.tenant(name, 'pro');
    await world.project(name, 'docs');
  }
  const all = [{apiGroups: ['doorplate.dev'], resources: ['customdomains', 'apikeys'], verbs: ['*']}];
  await makeServiceAccount(world.client, backend, all, ['acme']);
  await makeServiceAccount(
    world.client,
    reader,
    [{apiGroups: ['doorplate.dev'], resources: ['customdomains'], verbs: ['get']}],
    ['acme'],
  );
  token = await tokenOf(world.client, backend, 'doorplate');
  reading = await tokenOf(world.client, reader, 'doorplate');
  await eventually('the API knows all', async () => (await ask('/v1/projects')).body.items?.length === 1);
});
afterAll(async () => {
  await world?.stop();
});

const ask = (
  path: string,
  {namespace = 'acme', key = token, ...options}: Ask & {namespace?: string} = {},
): Promise<Answer> =>
  world.ask(path, {key, ...options, headers: {...(namespace !== '' && {'doorplate-namespace': namespace})}});
const typeOf = ({status, body}: Answer): [number, string | undefined] => [
  status,
  (body.type as string | undefined)?.split('/').at(-1),
];

describe('A ServiceAccount with rights in a namespace', () => {
  test('can do there what a key with all scopes can, on a quota of its own', async () => {
    const before = (await ask('/v1/account')).body.usage.minute.used as number;
    const read = await ask('/v1/projects/docs');
    expect(read).toMatchObject({status: 200, body: {name: 'docs'}, headers: {'x-ratelimit-limit': String(perMinute)}});
    expect((await ask('/v1/projects/docs/domains', {method: 'POST', body: {hostname: 'www.example.com'}})).status).toBe(
      201,
    );
    expect((await ask('/v1/projects/docs/domains/www.example.com/verify', {method: 'POST'})).status).toBe(202);
    expect((await ask('/v1/projects/docs/domains/www.example.com', {method: 'DELETE'})).status).toBe(204);
    const account = await ask('/v1/account');
    expect(account).toMatchObject({
      status: 200,
      body: {account: 'acme', namespace: 'acme', plan: 'pro', key: null, usage: {minute: {limit: 300}}},
    });
    // None of these requests is the tenant's. The tenant's minute may be over by now, and the own one too.
    expect(account.body.usage.minute.used).toBeLessThanOrEqual(before);
    expect(Number(account.headers['x-ratelimit-remaining'])).toBeLessThan(perMinute);
  });

  test('creates the first key of a tenant, with any scope, and revokes it', async () => {
    const made = await ask('/v1/keys', {
      method: 'POST',
      body: {name: 'first', scopes: ['domains:read', 'reports:read']},
    });
    expect(made).toMatchObject({status: 201, body: {token: expect.stringMatching(/^dp_acme\.first_/)}});
    const key = made.body.token as string;
    expect((await world.ask('/v1/projects', {key})).status).toBe(200);
    expect((await ask('/v1/keys/first', {method: 'DELETE'})).status).toBe(204);
  });

  test("creates a link that signs a customer in to the page of that namespace; one without the right can't", async () => {
    const made = await ask('/v1/sessions', {method: 'POST', body: {scopes: ['domains:read'], project: 'docs'}});
    expect(made.status).toBe(201);
    const {host, hash} = new URL(made.body.url as string);
    const opened = await world.ask('/session', {
      method: 'POST',
      body: {link: hash.slice(1), confirmed: true},
      headers: {host, origin: `http://${host}`},
    });
    expect(opened).toMatchObject({
      status: 200,
      body: {namespace: 'acme', scopes: ['domains:read'], project: 'docs', key: null},
    });
    for (const without of [{namespace: 'other'}, {key: reading}]) {
      expect((await ask('/v1/sessions', {method: 'POST', body: {}, ...without})).status).toBe(404);
    }
  });

  test('is refused without a valid name of a namespace', async () => {
    for (const namespace of ['', '../acme', 'acme/docs']) {
      expect(await ask('/v1/projects', {namespace})).toMatchObject({
        status: 400,
        body: {errors: [{field: 'headers.doorplate-namespace'}]},
      });
    }
  });

  test('gets for another namespace, and for what it has no right to, the same answer as for one that does not exist', async () => {
    const [other, none] = [
      await ask('/v1/projects/docs', {namespace: 'other'}),
      await ask('/v1/projects/docs', {namespace: 'absent'}),
    ];
    expect([typeOf(other), typeOf(none)]).toEqual([
      [404, 'not-found'],
      [404, 'not-found'],
    ]);
    expect(JSON.stringify(other.body).replaceAll('other', '')).toBe(JSON.stringify(none.body).replaceAll('absent', ''));
    const tried = [
      await ask('/v1/projects/docs', {key: reading}),
      await ask('/v1/projects/docs/domains', {key: reading, method: 'POST', body: {hostname: 'www.example.com'}}),
      await ask('/v1/projects/docs/domains/www.example.com/make-primary', {key: reading, method: 'POST'}),
      await ask('/v1/projects/docs/domains/www.example.com', {key: reading, method: 'DELETE'}),
      await ask('/v1/keys', {key: reading}),
      await ask('/v1/keys/first', {key: reading, method: 'DELETE'}),
    ];
    expect(tried.map((a) => a.status)).toEqual([200, 404, 404, 404, 404, 404]);
    // Not the words for a hostname or a key that is missing: the right is.
    expect(tried.slice(1).filter((a) => !/may not (create|update|get|delete)/.test(a.body.detail))).toEqual([]);
  });

  test('is answered with limit headers, and 429 when its quota is used up', async () => {
    const own = {namespace: 'platform', name: 'hasty'};
    await makeServiceAccount(world.client, own, [], []);
    const key = await tokenOf(world.client, own, 'doorplate');
    const answers: Answer[] = [];
    // Some at once: one after the other, a slow machine needs more than the minute.
    while (answers.length <= 5 * perMinute && answers.at(-1)?.status !== 429)
      answers.push(...(await Promise.all(Array.from({length: 20}, () => ask('/v1/projects', {key})))));
    expect(answers.at(-1)).toMatchObject({
      status: 429,
      headers: {'x-ratelimit-remaining': '0', 'retry-after': expect.any(String)},
    });
    expect(answers.filter((a) => a.headers['x-ratelimit-limit'] !== String(perMinute))).toEqual([]);
    expect((await ask('/v1/projects')).status).toBe(200);
  });

  test("of the tenant itself uses the tenant's plan", async () => {
    const own = {namespace: 'acme', name: 'own'};
    await makeServiceAccount(
      world.client,
      own,
      [{apiGroups: ['doorplate.dev'], resources: ['customdomains'], verbs: ['get']}],
      ['acme'],
    );
    const key = await tokenOf(world.client, own, 'doorplate');
    const used = async (): Promise<number> => (await ask('/v1/account')).body.usage.day.used as number;
    const before = await used();
    expect((await ask('/v1/projects', {key})).headers).toMatchObject({'x-ratelimit-limit': '300'});
    expect(await used()).toBe(before + 1);
  });

  test("lists and ends sessions of that namespace; one without the right can't", async () => {
    expect(await ask('/v1/sessions')).toMatchObject({
      status: 200,
      body: {items: [{subject: null, madeBy: 'ServiceAccount platform/backend'}]},
    });
    const {id} = (await ask('/v1/sessions')).body.items[0] as {id: string};
    for (const without of [{namespace: 'other'}, {key: reading}]) {
      expect((await ask('/v1/sessions', without)).status).toBe(404);
      expect((await ask(`/v1/sessions/${id}`, {method: 'DELETE', ...without})).status).toBe(404);
      expect((await ask('/v1/sessions?subject=ann', {method: 'DELETE', ...without})).status).toBe(404);
    }
    expect((await ask(`/v1/sessions/${id}`, {method: 'DELETE'})).status).toBe(204);
    expect((await ask('/v1/sessions')).body.items).toEqual([]);
  });

  test("in a namespace of the tenant creates no link for it: it is not the platform's", async () => {
    const own = {namespace: 'acme', name: 'linking'};
    const rules = [{apiGroups: ['doorplate.dev'], resources: ['apikeys'], verbs: ['create']}];
    await makeServiceAccount(world.client, own, rules, ['acme']);
    const key = await tokenOf(world.client, own, 'doorplate');
    const refused = await ask('/v1/sessions', {key, method: 'POST', body: {}});
    expect([typeOf(refused), refused.status]).toEqual([[403, 'links-by-keys-off'], 403]);
  });

  test('follows the events of a project', async () => {
    const sent = new AbortController();
    const response = await fetch(`http://127.0.0.1:${world.port}/v1/projects/docs/events`, {
      headers: {authorization: `Bearer ${token}`, 'doorplate-namespace': 'acme'},
      signal: sent.signal,
    });
    const {value} = await response.body!.pipeThrough(new TextDecoderStream()).getReader().read();
    expect([response.status, value]).toEqual([200, expect.stringContaining('retry: ')]);
    sent.abort();
  });
});

describe('A token is refused', () => {
  test.each<[string, () => string | Promise<string>]>([
    ['that was made for another audience', () => tokenOf(world.client, backend, 'https://kubernetes.default.svc')],
    [
      'that was altered to be for this audience',
      async () => {
        const [head, , signature] = (await tokenOf(world.client, backend, 'other')).split('.');
        return `${head}.${token.split('.')[1]}.${signature}`;
      },
    ],
    // For a minute Kubernetes takes it for a difference of clocks.
    ['that has expired', () => resigned(token, {exp: Math.floor(Date.now() / 1000) - 120}, world.server.dir)],
    [
      'of a ServiceAccount that is not there',
      () =>
        resigned(
          token,
          {
            sub: 'system:serviceaccount:acme:absent',
            'kubernetes.io': {namespace: 'acme', serviceaccount: {name: 'absent', uid: 'u'}},
          },
          world.server.dir,
        ),
    ],
    ['that is not signed', () => 'eyJhbGciOiJub25lIn0.eyJhdWQiOiJkb29ycGxhdGUifQ.AAAA'],
  ])('%s: 401, with the headers of the address', async (_, make) => {
    const refused = await ask('/v1/projects', {key: await make()});
    expect(typeOf(refused)).toEqual([401, 'credentials-wrong']);
    expect(refused.headers).toMatchObject({
      'x-ratelimit-limit': '100000',
      'www-authenticate': 'Bearer realm="doorplate"',
    });
  });

  test('within ten seconds after its right or its ServiceAccount is deleted; no log line has a token', async () => {
    await world.client.delete(roleBindings, 'acme/backend');
    await world.client.delete(serviceAccounts, 'platform/reader');
    const began = Date.now();
    await eventually('the right is gone', async () => (await ask('/v1/projects')).status === 404, patienceMs, 200);
    await eventually(
      'the account is gone',
      async () => (await ask('/v1/projects', {key: reading})).status === 401,
      patienceMs,
      200,
    );
    console.log(`refused ${Date.now() - began} ms after both were gone`);
    expect(world.log.some((line) => line.includes('system:serviceaccount:platform:backend'))).toBe(true);
    expect(world.log.filter((line) => line.includes(token.split('.')[2]!))).toEqual([]);
  });
});

test('While the API server is away the answer says so, and no token is refused', async () => {
  const fresh = await tokenOf(world.client, backend, 'doorplate');
  await world.server.kill('kube-apiserver');
  try {
    const answer = await ask('/v1/projects', {key: fresh});
    expect(typeOf(answer)).toEqual([503, 'unavailable']);
    expect(answer.headers).toMatchObject({'retry-after': expect.any(String), 'x-ratelimit-limit': '100000'});
  } finally {
    await world.server.startApi();
  }
});
