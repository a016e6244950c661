/** Who did it: every change is a line of the log and a record of `GET /v1/audit`, and nothing of a secret is in either. */
import {randomUUID} from 'node:crypto';
import {mkdtemp, readdir, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type {AuditRecord} from '../../operator/http/audit.ts';
import {eventually} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';
import type {Answer, Ask} from '../support/http-client.ts';
import {buildPage} from '../support/page-world.ts';
import {makeServiceAccount, tokenOf} from '../support/service-account.ts';

let world: ApiWorld;
let key: string;
let storage: {path: string};
let backend: string;
const client = '203.0.113.7';
const scopes = ['domains:read', 'domains:write', 'keys:write', 'audit:read'];
const settings = (): object => ({storage, page: {enabled: true, linksByKeys: true}, trustedProxies: ['127.0.0.1']});
beforeAll(async () => {
  buildPage();
  storage = {path: await mkdtemp(join(tmpdir(), 'doorplate-ledger-'))};
  world = await ApiWorld.start(settings(), {rbac: true});
  for (const name of ['acme', 'other', 'platform']) {
    await world.tenant(name, 'huge');
    await world.project(name, 'docs');
  }
  key = await world.key('acme', 'admin', {scopes});
  const account = {namespace: 'platform', name: 'backend'};
  const all = [{apiGroups: ['doorplate.dev'], resources: ['customdomains', 'apikeys'], verbs: ['*']}];
  await makeServiceAccount(world.client, account, all, ['acme']);
  backend = await tokenOf(world.client, account, 'doorplate');
  await eventually('the API knows the plan', async () => (await world.ask('/v1/account', {key})).body.plan === 'huge');
});
afterAll(async () => {
  await world?.stop();
  await rm(storage.path, {recursive: true, force: true});
});

const ask = (path: string, {headers, ...more}: Ask = {}): Promise<Answer> =>
  world.ask(path, {key, ...more, headers: {'x-forwarded-for': client, ...headers}});
const domains = '/v1/projects/docs/domains';
const change = (method: string, path: string, body?: object, more: Ask = {}): Promise<Answer> =>
  ask(path, {method, ...(body && {body}), ...more});

interface Page {
  items: AuditRecord[];
  next: string | null;
  missing: string;
}
const read = async (query = '', more: Ask = {}): Promise<Page> => (await ask(`/v1/audit${query}`, more)).body as Page;

/** The records of requests as soon as there are so many, or else those that exist after a while. Newest first. */
async function recordsOf(answers: readonly Answer[], count = answers.length): Promise<AuditRecord[]> {
  const ids = new Set(answers.map(({headers}) => headers['x-request-id'] as string));
  for (const end = performance.now() + 30_000; ; await sleep(50)) {
    const found = (await read('?limit=500')).items.filter(({requestId}) => ids.has(requestId));
    if (found.length >= count || performance.now() > end) return found;
  }
}

/** The lines of the log's audit stream. */
const stream = (): {level: number; record: Omit<AuditRecord, 'time'>}[] =>
  world.log.filter((line) => line.includes('"stream":"audit"')).map((line) => JSON.parse(line));

const redirect = (to: string, status: number): object => ({role: 'RedirectSource', redirect: {to, status}});
const cookieOf = ({headers}: Answer): string => headers['set-cookie']![0]!.split(';')[0]!;
const names = ({items}: Page): (string | null)[] => items.map(({hostname}) => hostname);
const who = {actor: {kind: 'ApiKey', name: 'admin', subject: null}, address: client, namespace: 'acme'};
const ofDocs = {...who, project: 'docs', key: null};

describe('Each change of hostnames', () => {
  test('is a record: who, from where, what, before and after', async () => {
    const answers = [
      await change('POST', domains, {hostname: 'WWW.First.example'}),
      await change('POST', domains, {hostname: 'second.example'}),
      await change('PUT', `${domains}/second.example`, {status: 302}),
      await change('POST', `${domains}/second.example/make-primary`),
      await change('POST', `${domains}/www.first.example/verify`),
      await change('POST', `${domains}/www.first.example/reissue`),
      await change('DELETE', `${domains}/www.first.example`),
      await change('DELETE', `${domains}/second.example`),
    ];
    expect(answers.map(({status}) => status)).toEqual([201, 201, 200, 200, 202, 202, 204, 204]);
    const [first, second] = ['www.first.example', 'second.example'];
    const expected = [
      {action: 'hostname.add', hostname: first, before: null, after: {role: 'Primary'}},
      {action: 'hostname.add', hostname: second, before: null, after: redirect(first, 301)},
      {action: 'hostname.put', hostname: second, before: redirect(first, 301), after: redirect(first, 302)},
      {action: 'hostname.make-primary', hostname: second, before: redirect(first, 302), after: {role: 'Primary'}},
      {action: 'hostname.verify', hostname: first, before: null, after: null},
      {action: 'hostname.reissue', hostname: first, before: null, after: null},
      {action: 'hostname.remove', hostname: first, before: redirect(second, 302), after: null},
      {action: 'hostname.remove', hostname: second, before: {role: 'Primary'}, after: null},
    ].map((each, i) => ({...ofDocs, ...each, requestId: answers[i]!.headers['x-request-id']}));
    const records = await recordsOf(answers);
    expect(records.toReversed()).toEqual(expected.map((each) => ({...each, time: expect.any(String)})));
    for (const {time} of records) expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(60_000);
    const ids = new Set(answers.map(({headers}) => headers['x-request-id']));
    expect(stream().filter(({record}) => ids.has(record.requestId))).toMatchObject(
      expected.map((record) => ({level: 30, msg: 'changed', record})),
    );
  });

  test('that changes nothing, fails, is tried out or is replayed is none', async () => {
    const again = {headers: {'idempotency-key': randomUUID()}};
    const made = await change('POST', domains, {hostname: 'third.example'}, again);
    const others = [
      await change('POST', domains, {hostname: 'third.example'}, again),
      await change('POST', domains, {hostname: 'third.example'}),
      await change('POST', `${domains}?dryRun=true`, {hostname: 'fourth.example'}),
      await change('PUT', `${domains}/third.example`, {}),
      await change('POST', `${domains}/third.example/make-primary`),
      await change('DELETE', `${domains}/fourth.example`),
    ];
    expect(others.map(({status}) => status)).toEqual([201, 409, 200, 200, 200, 404]);
    const last = await change('DELETE', `${domains}/third.example`);
    const records = await recordsOf([made, last]);
    expect(records.map(({action}) => action)).toEqual(['hostname.remove', 'hostname.add']);
    const ids = [made, ...others, last].map(({headers}) => headers['x-request-id']);
    const lines = stream().filter(({record}) => ids.includes(record.requestId));
    expect(lines.map(({record}) => record.action)).toEqual(['hostname.add', 'hostname.remove']);
  });
});

test('Each change of keys is a record, without a token or a hash', async () => {
  const made = await change('POST', '/v1/keys', {name: 'ci', scopes: ['domains:read', 'keys:write']});
  const child = await change('POST', '/v1/keys', {name: 'child', scopes: ['domains:read']}, {key: made.body.token});
  const same = await change('POST', '/v1/keys', {name: 'ci', scopes: ['domains:read', 'keys:write']});
  expect([made.status, child.status, same.status]).toEqual([201, 201, 200]);
  await eventually('the API knows the keys', async () => (await ask('/v1/keys')).body.items.length === 3);
  const rotated = await change('POST', '/v1/keys/ci/rotate', {overlapSeconds: 3600});
  const revoked = await change('DELETE', '/v1/keys/ci?descendants=true');
  const records = await recordsOf([made, child, rotated, revoked], 5);
  const state = {scopes: ['domains:read', 'keys:write'], expires: null, rateLimit: null};
  const [none, overlap] = [{previousTokenExpires: null}, {previousTokenExpires: expect.stringMatching(/Z$/)}];
  expect(records.toReversed()).toMatchObject([
    {...who, action: 'key.create', key: 'ci', project: null, hostname: null, before: null, after: {...state, ...none}},
    {actor: {kind: 'ApiKey', name: 'ci'}, action: 'key.create', key: 'child', before: null},
    {...who, action: 'key.rotate', key: 'ci', before: {...state, ...none}, after: {...state, ...overlap}},
    {...who, action: 'key.revoke', key: 'child', after: null},
    {...who, action: 'key.revoke', key: 'ci', before: {...state, ...overlap}, after: null},
  ]);
  const files = await readdir(storage.path);
  const kept = (await Promise.all(files.map((file) => readFile(join(storage.path, file), 'latin1')))).join('');
  const written = kept + world.log.join('');
  expect(written).toContain('key.create');
  for (const token of [made.body.token, child.body.token, rotated.body.token, key] as string[])
    expect(written).not.toContain(token.slice(-49));
  expect(JSON.stringify([records, stream()])).not.toMatch(/[0-9a-f]{64}/);
});

describe('The page', () => {
  const host = 'localhost:9';
  const own = {host, origin: `http://${host}`};
  const signIn = async (headers: Record<string, string> = {}): Promise<{made: Answer; opened: Answer}> => {
    const made = await change('POST', '/v1/sessions', {project: 'docs'}, {headers: {host}});
    const link = new URL(made.body.url as string).hash.slice(1);
    const opened = await change(
      'POST',
      '/session',
      {link, confirmed: true},
      {key: undefined as never, headers: {...own, ...headers}},
    );
    return {made, opened};
  };

  test('has records of links, sign-ins, changes and sign-outs, without a secret', async () => {
    const {made, opened} = await signIn();
    const cookie = cookieOf(opened);
    const by = {key: undefined as never, headers: {...own, cookie}};
    const added = await change('POST', domains, {hostname: 'page.example'}, by);
    const second = await signIn({cookie});
    const out = await change('DELETE', '/session', undefined, {
      key: undefined as never,
      headers: {...own, cookie: cookieOf(second.opened)},
    });
    expect([made, opened, added, out].map(({status}) => status)).toEqual([201, 200, 201, 204]);
    const page = {actor: {kind: 'Page', name: 'admin', subject: null}, address: client, namespace: 'acme'};
    const granted = {scopes: ['domains:read', 'domains:write'], subject: null};
    const records = await recordsOf([made, opened, added, second.opened, out], 6);
    expect(records.toReversed()).toMatchObject([
      {...who, action: 'link.create', project: 'docs', before: null, after: granted},
      {...page, action: 'session.start', before: null, after: granted},
      {...page, action: 'hostname.add', project: 'docs', hostname: 'page.example'},
      {...page, action: 'session.end', before: granted, after: null},
      {...page, action: 'session.start'},
      {...page, action: 'session.end'},
    ]);
    for (const secret of [cookie.split('=')[1]!, new URL(made.body.url as string).hash.slice(1)])
      expect(JSON.stringify([records, stream()])).not.toContain(secret);
    await change('DELETE', `${domains}/page.example`);
  });

  test('has no record of a sign-out without a session', async () => {
    const out = await change('DELETE', '/session', undefined, {
      key: undefined as never,
      headers: {...own, cookie: `__Host-doorplate=${'A'.repeat(43)}`},
    });
    expect(out.status).toBe(204);
    expect(stream().filter(({record}) => record.requestId === out.headers['x-request-id'])).toEqual([]);
  });
});

describe('GET /v1/audit', () => {
  test('shows a namespace its own changes only', async () => {
    const theirs = await world.key('other', 'admin', {scopes});
    const [mine, other] = [
      await change('POST', domains, {hostname: 'mine.example'}),
      await change('POST', domains, {hostname: 'theirs.example'}, {key: theirs}),
    ];
    expect((await recordsOf([mine])).map(({hostname}) => hostname)).toEqual(['mine.example']);
    for (const end = performance.now() + 5000; performance.now() < end; await sleep(50))
      if ((await read('', {key: theirs})).items.length > 0) break;
    expect((await read('', {key: theirs})).items.map(({hostname}) => hostname)).toEqual(['theirs.example']);
    expect((await read('?limit=500')).items.map(({requestId}) => requestId)).not.toContain(
      other.headers['x-request-id'],
    );
    await change('DELETE', `${domains}/mine.example`);
  });

  test('needs the scope audit:read, which no key hands out without having it', async () => {
    const without = await world.key('acme', 'without', {scopes: ['domains:read', 'keys:write']});
    expect(await ask('/v1/audit', {key: without})).toMatchObject({status: 403, body: {scope: 'audit:read'}});
    const more = await change('POST', '/v1/keys', {name: 'more', scopes: ['audit:read']}, {key: without});
    expect(more).toMatchObject({status: 403, body: {scope: 'audit:read'}});
  });

  test('shows pages, a project, and a span of time', async () => {
    await world.project('acme', 'shop');
    const shop = '/v1/projects/shop/domains';
    await eventually('the API knows the project', async () => (await ask(shop)).status === 200);
    const answers = [await change('POST', shop, {hostname: 'a.shop.example'})];
    const since = (await recordsOf(answers))[0]!.time;
    answers.push(await change('POST', shop, {hostname: 'b.shop.example'}));
    answers.push(await change('POST', domains, {hostname: 'c.docs.example'}));
    expect(answers.map(({status}) => status)).toEqual([201, 201, 201]);
    const [c, b] = await recordsOf(answers);
    expect(names(await read('?project=shop'))).toEqual(['b.shop.example', 'a.shop.example']);
    const first = await read('?project=shop&limit=1');
    expect([names(first), names(await read(`?project=shop&limit=1&after=${first.next}`))]).toEqual([
      ['b.shop.example'],
      ['a.shop.example'],
    ]);
    const span = `since=${since}&until=${c!.time}`;
    expect(names(await read(`?${span}`))).toEqual(['b.shop.example', 'a.shop.example']);
    expect(names(await read(`?since=${b!.time}`))).toEqual(['c.docs.example', 'b.shop.example']);
    await change('DELETE', `${domains}/c.docs.example`);
  });

  test.each(['?since=yesterday', '?until=1', '?limit=0', '?after=x', '?projekt=docs'])('refuses %s', async (query) => {
    expect((await ask(`/v1/audit${query}`)).status).toBe(400);
  });

  test('says that changes by kubectl and GitOps are missing', async () => {
    expect((await read()).missing).toMatch(/no changes by kubectl and GitOps/);
  });
});

describe('A program of the platform', () => {
  const inAcme = {'doorplate-namespace': 'acme'};

  test('is named, and its address is nowhere', async () => {
    const added = await change('POST', domains, {hostname: 'program.example'}, {key: backend, headers: inAcme});
    expect(added.status).toBe(201);
    const [record] = await recordsOf([added]);
    expect(record).toMatchObject({
      actor: {kind: 'ServiceAccount', name: 'platform/backend', subject: null},
      address: null,
      hostname: 'program.example',
    });
    expect(JSON.stringify(stream().at(-1))).not.toContain(client);
    await change('DELETE', `${domains}/program.example`);
  });

  test('reads the records if it may create keys, and not if it may read them only', async () => {
    expect((await ask('/v1/audit', {key: backend, headers: inAcme})).status).toBe(200);
    const reader = {namespace: 'platform', name: 'reader'};
    const rights = [{apiGroups: ['doorplate.dev'], resources: ['customdomains', 'apikeys'], verbs: ['get']}];
    await makeServiceAccount(world.client, reader, rights, ['acme']);
    const token = await tokenOf(world.client, reader, 'doorplate');
    await eventually(
      'the reader may read',
      async () => (await ask('/v1/keys', {key: token, headers: inAcme})).status === 200,
    );
    expect((await ask('/v1/audit', {key: token, headers: inAcme})).status).toBe(404);
  });
});

test('A record outlives the process', async () => {
  const added = await change('POST', domains, {hostname: 'kept.example'});
  await world.stopRole();
  await world.startRole(settings());
  await eventually('the API knows the key', async () => (await ask('/v1/account')).status === 200);
  expect((await recordsOf([added])).map(({hostname}) => hostname)).toEqual(['kept.example']);
});

test('A record is shown until the end of the retention, which is a value', async () => {
  const added = await change('POST', domains, {hostname: 'short.example'});
  expect((await recordsOf([added])).map(({hostname}) => hostname)).toEqual(['short.example']);
  await world.stopRole();
  await world.startRole({...settings(), audit: {retention: '1ms'}});
  await eventually('the API knows the key', async () => (await ask('/v1/account')).status === 200);
  expect((await read()).items).toEqual([]);
});

test('A journal that cannot be written delays and fails no change: the log has it', async () => {
  await world.stopRole();
  await world.startRole({...settings(), storage: {path: '/nowhere'}});
  await eventually('the API knows the key', async () => (await ask('/v1/account')).status === 200);
  const since = world.log.length;
  const added = await change('POST', domains, {hostname: 'lost.example'});
  expect(added.status).toBe(201);
  expect(stream().at(-1)).toMatchObject({record: {...ofDocs, hostname: 'lost.example'}});
  for (const end = performance.now() + 5000; performance.now() < end; await sleep(50))
    if (world.log.slice(since).some((line) => line.includes('GET /v1/audit'))) break;
  expect(world.log.slice(since).join('')).toContain('changes are missing from GET /v1/audit; this log has them');
  expect(await ask('/v1/audit')).toMatchObject({status: 503, headers: {'retry-after': '2'}});
});
