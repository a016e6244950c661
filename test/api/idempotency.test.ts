/** Requests with an `Idempotency-Key`: what is sent again is made once, and answered again to who sent it. */
import {randomUUID} from 'node:crypto';
import {mkdtemp, readdir, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {DatabaseSync} from 'node:sqlite';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {apiKeys} from '../../operator/resources/resources.ts';
import {hashToken} from '../../operator/domain/api-key.ts';
import {eventually} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';
import type {Answer} from '../support/http-client.ts';
import {buildPage} from '../support/page-world.ts';

let world: ApiWorld;
let key: string;
let storage: {path: string};
beforeAll(async () => {
  buildPage();
  storage = {path: await mkdtemp(join(tmpdir(), 'doorplate-ledger-'))};
  world = await ApiWorld.start({storage, page: {enabled: true, linksByKeys: true}});
  await world.tenant('acme', 'huge');
  await world.project('acme', 'docs');
  key = await world.key('acme', 'admin');
  // Before the API has seen the Account, another quota counts.
  await eventually('the API knows the plan', async () => (await world.ask('/v1/account', {key})).body.plan === 'huge');
});
afterAll(async () => {
  await world?.stop();
  await rm(storage.path, {recursive: true, force: true});
});

const post = (path: string, body: object, id: string, more: {key?: string; headers?: object} = {}): Promise<Answer> =>
  world.ask(path, {method: 'POST', key, body, ...more, headers: {'idempotency-key': id, ...more.headers}});
const typeOf = ({body}: Answer): string => String(body.type).replace(/.*\//, '');
const shown = ({status, body, headers: {location, etag}}: Answer): object => ({status, body, location, etag});
const hashesOf = async (name: string): Promise<number | undefined> =>
  (await world.client.get(apiKeys, `acme/${name}`))?.spec.hashes.length;

describe('A request that is sent again with its Idempotency-Key', () => {
  test('makes one key, and has its token in both answers', async () => {
    const [id, wanted] = [randomUUID(), {name: 'once', scopes: ['domains:read']}];
    const first = await post('/v1/keys', wanted, id);
    expect(first).toMatchObject({status: 201, body: {token: expect.stringMatching(/^dp_acme[.]once_/)}});
    const second = await post('/v1/keys', wanted, id);
    expect(shown(second)).toEqual(shown(first));
    expect([first.headers['idempotency-replayed'], second.headers['idempotency-replayed']]).toEqual([
      undefined,
      'true',
    ]);
    expect(Number(second.headers['x-ratelimit-remaining'])).toBe(Number(first.headers['x-ratelimit-remaining']) - 1);
  });

  test('rotates a key once, also when it sends the token of before', async () => {
    const own = await world.key('acme', 'turning');
    const [path, id] = ['/v1/keys/turning/rotate', randomUUID()];
    const first = await post(path, {overlapSeconds: 3600}, id, {key: own});
    const second = await post(path, {overlapSeconds: 3600}, id, {key: own});
    expect(shown(second)).toEqual(shown(first));
    expect((await world.client.get(apiKeys, 'acme/turning'))?.spec.hashes[0]?.sha256).toBe(hashToken(first.body.token));
  });

  test('adds one hostname, with the same headers', async () => {
    const [path, id] = ['/v1/projects/docs/domains', randomUUID()];
    const first = await post(path, {hostname: 'www.once.example'}, id);
    const second = await post(path, {hostname: 'www.once.example'}, id);
    expect(shown(second)).toEqual(shown(first));
    expect(second).toMatchObject({status: 201, headers: {location: expect.stringContaining('www.once.example')}});
    expect((await post(path, {hostname: 'www.once.example'}, randomUUID())).status).toBe(409);
  });

  test('outlives the process', async () => {
    const [id, wanted] = [randomUUID(), {name: 'kept', scopes: ['domains:read']}];
    const first = await post('/v1/keys', wanted, id);
    await world.stopRole();
    await world.startRole({storage, page: {enabled: true, linksByKeys: true}});
    const second = await eventually('the API knows the key', async () => {
      const answer = await post('/v1/keys', wanted, id);
      return answer.status === 201 && answer;
    });
    expect(shown(second)).toEqual(shown(first));
  });

  test('is made again where it failed', async () => {
    const [id, wanted] = [randomUUID(), {name: 'late', scopes: ['domains:read']}];
    await world.key('acme', 'late');
    expect((await post('/v1/keys', wanted, id)).status).toBe(409);
    expect((await world.ask('/v1/keys/late', {key, method: 'DELETE'})).status).toBe(204);
    expect((await post('/v1/keys', wanted, id)).status).toBe(201);
  });

  test('while the first is being answered is told to wait, and makes nothing', async () => {
    const [id, wanted] = [randomUUID(), {name: 'racing', scopes: ['domains:read']}];
    const answers = await Promise.all(Array.from({length: 5}, () => post('/v1/keys', wanted, id)));
    const made = answers.filter(({headers}) => headers['idempotency-replayed'] === undefined);
    expect(made.filter(({status}) => status === 201).length).toBe(1);
    for (const answer of made.filter(({status}) => status !== 201)) {
      expect([answer.status, typeOf(answer)]).toEqual([409, 'request-running']);
      expect(answer.headers['retry-after']).toBe('1');
    }
  });

  test('but with another body is refused', async () => {
    const id = randomUUID();
    await post('/v1/keys', {name: 'first', scopes: ['domains:read']}, id);
    const other = await post('/v1/keys', {name: 'second', scopes: ['domains:read']}, id);
    expect([other.status, typeOf(other)]).toEqual([422, 'idempotency-key-reused']);
    expect(await hashesOf('second')).toBeUndefined();
  });

  test('by another key, on another path or in another namespace is another request', async () => {
    const id = randomUUID();
    await world.tenant('beside', 'huge');
    const [other, beside] = [await world.key('acme', 'other'), await world.key('beside', 'admin')];
    await post('/v1/keys', {name: 'mine', scopes: ['domains:read']}, id);
    expect((await post('/v1/keys', {name: 'theirs', scopes: ['domains:read']}, id, {key: other})).status).toBe(201);
    expect((await post('/v1/keys', {name: 'mine', scopes: ['domains:read']}, id, {key: beside})).status).toBe(201);
    expect((await post('/v1/keys/mine/rotate', {}, id)).status).toBe(200);
  });
});

test('What is kept holds no token, neither the new one nor the one that it was asked by', async () => {
  const {body} = await post('/v1/keys', {name: 'secret', scopes: ['domains:read']}, 'a-guessable-key');
  const files = await readdir(storage.path);
  const bytes = await Promise.all(files.map((file) => readFile(join(storage.path, file), 'latin1')));
  const all = bytes.join('');
  expect(all).toContain('idempotency:');
  for (const token of [body.token as string, key]) {
    expect(all).not.toContain(token.slice(-49));
    expect(all).not.toContain(token);
  }
});

/** How many answers and running requests the ledger holds. */
function kept(): number {
  const db = new DatabaseSync(join(storage.path, 'ledger.sqlite'), {readOnly: true});
  const {n} = db.prepare("SELECT count(*) AS n FROM records WHERE name LIKE 'idempotency:%'").get() as {n: number};
  db.close();
  return n;
}

test('What was kept for a key that is revoked is deleted', async () => {
  const own = await world.key('acme', 'leaving');
  const before = kept();
  await post('/v1/keys', {name: 'left', scopes: ['domains:read']}, randomUUID(), {key: own});
  expect(kept()).toBe(before + 1);
  await world.ask('/v1/keys/leaving', {key, method: 'DELETE'});
  for (const end = performance.now() + 30_000; kept() !== before && performance.now() < end;) await sleep(50);
  expect(kept()).toBe(before);
});

test('The page is told that it was done: of a session no answer is kept', async () => {
  const headers = {host: 'localhost:9', origin: 'http://localhost:9'};
  const link = await world.ask('/v1/sessions', {
    method: 'POST',
    key,
    body: {scopes: ['domains:read', 'keys:write']},
    headers: {host: headers.host},
  });
  const signedIn = await world.ask('/session', {
    method: 'POST',
    body: {link: new URL(link.body.url as string).hash.slice(1), confirmed: true},
    headers,
  });
  const cookie = signedIn.headers['set-cookie']![0]!.split(';')[0]!;
  const [id, wanted] = [randomUUID(), {name: 'by-page', scopes: ['domains:read']}];
  const by = {key: undefined as never, headers: {...headers, cookie}};
  expect(await post('/v1/keys', wanted, id, by)).toMatchObject({status: 201, body: {madeBy: 'Page'}});
  const again = await post('/v1/keys', wanted, id, by);
  expect([again.status, typeOf(again)]).toEqual([409, 'request-done']);
});

test.each(['', 'a'.repeat(256)])('An Idempotency-Key that is none is refused (%#)', async (id) => {
  const answer = await post('/v1/keys', {name: 'never', scopes: ['domains:read']}, id);
  expect(answer).toMatchObject({status: 400, body: {errors: [{field: 'headers.idempotency-key'}]}});
});

test('A tenant has so many of them in a minute', async () => {
  await world.tenant('many', 'huge');
  await world.project('many', 'docs');
  const own = await world.key('many', 'admin');
  const path = '/v1/projects/docs/domains/www.none.example/verify';
  const answers: number[] = [];
  for (let i = 0; i < 250 && answers.at(-1) !== 429; i++)
    answers.push((await post(path, {}, `k${i}`, {key: own})).status);
  expect(answers.length).toBeGreaterThan(120);
  expect(answers.at(-1)).toBe(429);
});
