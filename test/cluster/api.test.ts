/** The API as its users have it: through the edge, on the whole cluster, with the operator beside it. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type {ApiKey} from '../../operator/api/foreign.ts';
import {apiKeys} from '../../operator/resources/resources.ts';
import {hashToken, makeToken} from '../../operator/domain/api-key.ts';
import {acmeRoot, api, apply, eventually, fetchEdge, kubectl, sh} from '../../cluster/cluster.ts';
import {ask, makeKey} from '../../cluster/demo-api.ts';
import {Tenant} from '../support/tenant.ts';
import {turn} from '../support/turn.ts';

let tenant: Tenant;
beforeAll(async () => {
  tenant = await Tenant.create('api');
});
afterAll(async () => {
  await tenant?.remove();
});

const keyOf = (name: string): Promise<ApiKey | undefined> => api().get(apiKeys, `${tenant.namespace}/${name}`);
const reasonOf = async (name: string): Promise<string | undefined> =>
  (await keyOf(name))?.status?.conditions?.find((c) => c.type === 'Ready')?.reason;

test("a hostname is added, proven, goes Live, becomes the primary's redirect, and is removed, by HTTP alone", async () => {
  const key = await makeKey(tenant.namespace, 'ci', 'domains:read', 'domains:write');
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  const domains = '/v1/projects/web/domains';
  const added = await ask(domains, {method: 'POST', key, body: {hostname: www}});
  expect([added.status, added.json.phase]).toEqual([201, 'AwaitingVerification']);
  expect(added.json.records).toEqual([
    expect.objectContaining({type: 'CNAME', name: 'www', zone: tenant.zone, value: tenant.target, ttl: 3600}),
  ]);
  await ask(domains, {method: 'POST', key, body: {hostname: old}});
  await tenant.records({www: tenant.proof, old: tenant.proof});
  expect((await ask(`${domains}/${www}/verify`, {method: 'POST', key})).status).toBe(202);
  await eventually('both are Live', async () =>
    (await ask(domains, {key})).json.hosts.every((h: {phase: string}) => h.phase === 'Live'),
  );
  const ca = await acmeRoot();
  expect((await fetchEdge(`https://${www}/`, {ca})).status).toBe(200);
  expect(await fetchEdge(`https://${old}/a?b`, {ca})).toMatchObject({status: 301, location: `https://${www}/a?b`});

  const swapped = await ask(`${domains}/${old}/make-primary`, {method: 'POST', key});
  expect(swapped.json.domains).toEqual({primary: old, redirects: [{from: www, to: old, status: 301}]});
  await eventually(
    'they have changed places',
    async () => (await fetchEdge(`https://${www}/`, {ca})).location === `https://${old}/`,
  );
  expect((await ask(`${domains}/${www}`, {method: 'DELETE', key})).status).toBe(204);
  await eventually('its traffic has stopped', async () => (await fetchEdge(`https://${www}/`)).status === 404);
  expect((await ask(`${domains}/${old}`, {method: 'DELETE', key})).status).toBe(204);
  await eventually('nothing is left', async () => (await tenant.get('web')) === undefined);
});

/** Restarts of the API's containers, and whether each container is ready. */
async function containersOfApi(): Promise<{restarts: number; ready: boolean}> {
  const template = '{range .items[*].status.containerStatuses[*]}{.restartCount} {.ready}{"\\n"}{end}';
  const selector = ['-n', 'doorplate-system', '-l', 'app.kubernetes.io/component=api'];
  const rows = (await kubectl(['get', 'pods', ...selector, '-o', `jsonpath=${template}`])).trim().split('\n');
  return {
    restarts: rows.reduce((sum, row) => sum + Number(row.split(' ')[0]), 0),
    ready: rows.every((row) => row.endsWith(' true')),
  };
}

/** The API's own answer. The edge itself answers, without JSON, while it knows no ready Pod of the API. */
const askReady: typeof ask = (path, options) => eventually('the API answers', () => ask(path, options));

/**
 * A key of one request a minute that keeps sending until it is banned, and its status says so: by the values of the chart that is after three
 * minutes of more than 120 refusals each.
 */
async function banKey(name: string) {
  const token = makeToken({namespace: tenant.namespace, name});
  await apply([
    {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'ApiKey',
      metadata: {namespace: tenant.namespace, name},
      spec: {
        hashes: [{sha256: hashToken(token)}],
        scopes: ['domains:read'],
        rateLimit: {requestsPerMinute: 1, requestsPerDay: 1000},
      },
    },
  ]);
  const banned = await eventually(
    'it is banned',
    async () => {
      const replies = await Promise.all(Array.from({length: 40}, () => ask('/v1/projects', {key: token})));
      return replies.find(({status, json}) => status === 429 && json.type.endsWith('/key-banned'));
    },
    undefined,
    2000, // On a busy machine 40 requests take many seconds.
  );
  await eventually('its status says so', async () => (await reasonOf(name)) === 'KeyBanned');
  return {token, banned};
}

describe('A key', () => {
  let hasty: Promise<Awaited<ReturnType<typeof banKey>>>;
  beforeAll(() => {
    hasty = banKey('hasty');
    hasty.catch(() => {});
  });

  test('that has expired says so, in status and to who sends it', async () => {
    const token = makeToken({namespace: tenant.namespace, name: 'old'});
    await apply([
      {
        apiVersion: 'doorplate.dev/v1alpha1',
        kind: 'ApiKey',
        metadata: {namespace: tenant.namespace, name: 'old'},
        spec: {hashes: [{sha256: hashToken(token)}], scopes: ['domains:read'], expireTime: '2026-01-01T00:00:00Z'},
      },
    ]);
    await eventually('its status says so', async () => (await reasonOf('old')) === 'KeyExpired');
    expect((await ask('/v1/projects', {key: token})).json.type).toBe('https://doorplate.dev/problems/key-expired');
    const columns = await kubectl(['get', 'apikeys', '-n', tenant.namespace]);
    expect(columns).toMatch(/old .*False\s+KeyExpired/);
  });

  test('that goes on over its limit is banned, and that and what was used outlive the process', async () => {
    const {token, banned} = await hasty;
    expect(Number(banned.headers['retry-after'])).toBeGreaterThan(14 * 60);
    const key = await makeKey(tenant.namespace, 'counted', 'domains:read');
    for (let i = 0; i < 30; i++) await ask('/v1/projects', {key});
    const used = async (): Promise<number> => (await ask('/v1/account', {key})).json.usage.day.used as number;
    const before = await used();
    // Who clicks on the page meanwhile would be told that it is away.
    const endTurn = await turn();
    try {
      const {restarts} = await containersOfApi();
      await sh('cluster/ctl.sh', ['kill-container', 'doorplate-system', 'app.kubernetes.io/component=api']);
      // A restarted container may answer before the kubelet withdraws its Pod, which becomes ready again later.
      await eventually('the API is ready again', async () => {
        const now = await containersOfApi();
        return now.restarts > restarts && now.ready;
      });
      const after = await eventually('the API is back', used, undefined, 500);
      expect(after).toBeGreaterThanOrEqual(before);
      expect((await askReady('/v1/projects', {key: token})).json.type).toBe(
        'https://doorplate.dev/problems/key-banned',
      );
    } finally {
      endTurn();
    }
  });

  test('that is banned is so when it is deleted and made again, until the platform lets it in', async () => {
    const {token} = await hasty;
    const {spec} = (await keyOf('hasty'))!;
    await kubectl(['delete', 'apikey', '-n', tenant.namespace, 'hasty']);
    await apply([
      {
        apiVersion: 'doorplate.dev/v1alpha1',
        kind: 'ApiKey',
        metadata: {namespace: tenant.namespace, name: 'hasty'},
        spec,
      },
    ]);
    await eventually('it is banned still', async () => (await reasonOf('hasty')) === 'KeyBanned');

    await kubectl([
      'annotate',
      'apikey',
      '-n',
      tenant.namespace,
      'hasty',
      `doorplate.dev/lift-ban=${new Date().toISOString()}`,
    ]);
    await eventually('it is let in again', async () => (await reasonOf('hasty')) === 'KeyUsable');
    const again = await askReady('/v1/account', {key: token});
    expect(again.status).toBe(200);
  });
});
