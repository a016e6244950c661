/** Usage: what each key requested, for the tenant and for the platform's invoices. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {eventually} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';
import {type Ended, kubectlDoorplate} from '../support/cli.ts';
import type {Answer} from '../support/http-client.ts';
import {makeServiceAccount, tokenOf} from '../support/service-account.ts';

let world: ApiWorld;
let invoices: string;
let backend: string;
const read = ['domains:read', 'usage:read'];
beforeAll(async () => {
  world = await ApiWorld.start({withoutKey: {requestsPerMinute: 100_000}}, {rbac: true});
  for (const name of ['platform', 'acme', 'other']) await world.tenant(name, 'pro');
  await world.namespace('alone');
  const keys = {apiGroups: ['doorplate.dev'], resources: ['apikeys'], verbs: ['get', 'list']};
  await makeServiceAccount(world.client, {namespace: 'platform', name: 'invoices'}, [keys], 'all');
  await makeServiceAccount(world.client, {namespace: 'platform', name: 'backend'}, [keys], ['acme']);
  invoices = await tokenOf(world.client, {namespace: 'platform', name: 'invoices'}, 'doorplate');
  backend = await tokenOf(world.client, {namespace: 'platform', name: 'backend'}, 'doorplate');
});
afterAll(async () => {
  await world?.stop();
});

const usageOf = (key: string, query = ''): Promise<Answer> => world.ask(`/v1/usage${query}`, {key});
interface Row {
  key: string;
  scope: string;
  requests: number;
}
/** Without what making a key asks: whether it is known. */
const rows = ({body}: Answer): Row[] =>
  (body.items as Row[]).filter(({scope}) => scope !== 'any').map(({key, scope, requests}) => ({key, scope, requests}));

describe('A tenant', () => {
  test('sees the requests of each key, a restart later too, and nobody else sees them', async () => {
    const ci = await world.key('acme', 'ci', {scopes: ['domains:read']});
    const reader = await world.key('acme', 'reader', {scopes: read});
    const stranger = await world.key('other', 'reader', {scopes: read});
    for (let i = 0; i < 3; i++) await world.ask('/v1/projects', {key: ci});
    // Refused: it has no such scope.
    expect((await usageOf(ci)).status).toBe(403);
    expect(rows(await usageOf(reader))).toEqual([
      {key: 'ci', scope: 'domains:read', requests: 3},
      {key: 'reader', scope: 'usage:read', requests: 1},
    ]);
    await world.stopRole();
    await world.startRole();
    await eventually('the API knows all', async () => (await usageOf(reader)).status === 200);
    expect(rows(await usageOf(reader))).toContainEqual({key: 'ci', scope: 'domains:read', requests: 3});
    expect(rows(await usageOf(stranger))).toEqual([{key: 'reader', scope: 'usage:read', requests: 1}]);
    const asked = await world.ask('/v1/usage', {key: backend, headers: {'doorplate-namespace': 'acme'}});
    expect(rows(asked)).toContainEqual({key: 'ci', scope: 'domains:read', requests: 3});
  });

  test('gets a file for a spreadsheet', async () => {
    const key = await world.key('acme', 'sheet', {scopes: read});
    const today = new Date().toISOString().slice(0, 10);
    const {status, headers, body} = await usageOf(key, '?format=csv');
    expect({status, type: headers['content-type'], name: headers['content-disposition']}).toEqual({
      status: 200,
      type: 'text/csv; charset=utf-8',
      name: expect.stringMatching(/^attachment; filename="usage-acme-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv"$/),
    });
    const [head, ...lines] = (body as string).split('\r\n');
    expect(head).toBe('day,key,scope,requests');
    expect(lines).toContain(`${today},sheet,usage:read,1`);
    expect(lines.at(-1)).toBe('');
  });

  test.each([
    ['?since=2026-02-30', 'since'],
    ['?since=2026-03-02&until=2026-03-01', 'must not be after'],
    ['?since=2026-01-01&until=2026-03-01', 'at most 30 days before'],
    ['?format=xml', 'format'],
  ])('is told what is wrong with %s', async (query, message) => {
    const key = await world.key('acme', 'wrong', {scopes: read});
    const {status, body} = await usageOf(key, query);
    expect({status, detail: body.detail}).toEqual({status: 400, detail: expect.stringContaining(message)});
  });
});

const all = (key: string, query = ''): Promise<Answer> => world.ask(`/v1/usage/all${query}`, {key});

const printed = (...more: string[]): Promise<Ended> =>
  kubectlDoorplate({credentials: world.server.credentials, namespace: 'acme'}, [
    'usage',
    '--url',
    `http://127.0.0.1:${world.port}`,
    '--service-account',
    'platform/invoices',
    ...more,
  ]);

describe('The platform', () => {
  test('reads the sums of all namespaces, page by page', async () => {
    const alone = await world.key('alone', 'ci', {scopes: ['domains:read']});
    await world.ask('/v1/projects', {key: alone});
    const found: object[] = [];
    for (let after: string | null = ''; after !== null;) {
      const {status, body} = await all(invoices, `?limit=1${after && `&after=${after}`}`);
      expect(status).toBe(200);
      expect(new Set((body.items as {namespace: string}[]).map(({namespace}) => namespace)).size).toBeLessThan(2);
      found.push(...(body.items as object[]));
      after = body.next as string | null;
    }
    expect(found).toContainEqual({namespace: 'alone', account: null, key: 'ci', scope: 'domains:read', requests: 1});
    expect(found).toContainEqual({namespace: 'acme', account: 'acme', key: 'ci', scope: 'domains:read', requests: 3});
  });

  test('writes its invoices with kubectl doorplate usage', async () => {
    const sums = await printed('-A', '-o', 'csv');
    expect(sums).toMatchObject({code: 0, told: ''});
    expect(sums.out.split('\n')[0]).toBe('account,namespace,key,scope,requests');
    expect(sums.out.split('\n')).toEqual(
      expect.arrayContaining([
        'acme,acme,ci,domains:read,3',
        ',alone,ci,domains:read,1',
        'other,other,reader,usage:read,1',
      ]),
    );
    const today = new Date().toISOString().slice(0, 10);
    expect((await printed()).out).toMatch(
      new RegExp(`^DAY +KEY +SCOPE +REQUESTS\n(.*\n)*${today} +ci +domains:read +3\n`),
    );
    expect(await printed('--since', '2026-13-01')).toMatchObject({code: 1, told: expect.stringContaining('since')});
    expect(await printed('--service-account', 'platform/backend', '-A')).toMatchObject({
      code: 1,
      told: expect.stringContaining('may list apikeys.doorplate.dev in all namespaces'),
    });
    expect(await printed('--service-account', 'platform/nobody')).toMatchObject({
      code: 1,
      told: expect.stringContaining('there is no ServiceAccount platform/nobody'),
    });
    expect(await printed('--url', 'http://127.0.0.1:1')).toMatchObject({
      code: 1,
      told: expect.stringContaining('--url'),
    });
  });

  test('alone reads them', async () => {
    const key = await world.key('acme', 'curious', {scopes: read});
    expect((await all(key)).status).toBe(403);
    expect((await all(backend)).status).toBe(403);
    expect((await all('')).status).toBe(401);
    expect((await all('dp_acme.ci_wrong')).status).toBe(401);
  });
});
