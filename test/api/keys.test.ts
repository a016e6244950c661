/** API keys through the API: made, shown once, rotated, revoked. */
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, jest, test} from '@jest/globals';
import {apiKeys} from '../../operator/controllers/resources.ts';
import {hashToken} from '../../operator/domain/api-key.ts';
import {timestamp} from '../../operator/domain/times.ts';
import {eventually, patienceMs} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';

let world: ApiWorld;
let admin: string;
beforeAll(async () => {
  world = await ApiWorld.start();
  await world.tenant('acme', 'huge');
  admin = await world.key('acme', 'admin');
});
afterAll(async () => {
  await world?.stop();
});

const statusOf = async (key: string): Promise<number> => (await world.ask('/v1/projects', {key})).status;

describe('A key', () => {
  test('is created, shown once, and stored as a hash', async () => {
    const wanted = {name: 'ci', scopes: ['domains:read'], expires: '2099-01-01T00:00:00+01:00'};
    const made = await world.ask('/v1/keys', {key: admin, method: 'POST', body: wanted});
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: 'ci',
        scopes: ['domains:read'],
        expires: '2098-12-31T23:00:00Z',
        token: expect.stringMatching(/^dp_acme\.ci_/),
      },
    });
    expect(await statusOf(made.body.token)).toBe(200);
    expect(JSON.stringify(await world.client.get(apiKeys, 'acme/ci'))).not.toContain(made.body.token.slice(-49));
    expect(await world.ask('/v1/keys', {key: admin, method: 'POST', body: wanted})).toMatchObject({
      status: 200,
      body: {name: 'ci', token: null},
    });
    expect(
      await world.ask('/v1/keys', {key: admin, method: 'POST', body: {...wanted, scopes: ['domains:write']}}),
    ).toMatchObject({status: 409, body: {type: 'https://doorplate.dev/problems/key-exists'}});
  });

  test('that the rules of its kind refuse is refused in their words, all of them', async () => {
    const rateLimit = {requestsPerMinute: 60, requestsPerDay: 6};
    const body = {name: 'odd', scopes: ['domains:read'], rateLimit};
    expect(await world.ask('/v1/keys', {key: admin, method: 'POST', body})).toMatchObject({
      status: 422,
      body: {
        title: 'The platform refuses this',
        detail: 'requestsPerDay must be at least requestsPerMinute: fewer would be used up within a minute',
      },
    });
  });

  test("can't give a scope that it lacks to a new or a rotated key", async () => {
    const maker = await world.key('acme', 'maker', {scopes: ['keys:write', 'domains:read']});
    expect(
      await world.ask('/v1/keys', {key: maker, method: 'POST', body: {name: 'more', scopes: ['domains:write']}}),
    ).toMatchObject({status: 403, body: {scope: 'domains:write'}});
    expect(await world.ask('/v1/keys/admin/rotate', {key: maker, method: 'POST', body: {}})).toMatchObject({
      status: 403,
      body: {scope: 'domains:write'},
    });
  });

  test('that is rotated has a new token that works, the previous one until its end, and no third one', async () => {
    const first = await world.key('acme', 'turning', {scopes: ['domains:read']});
    const rotate = (overlapSeconds: number) =>
      world.ask('/v1/keys/turning/rotate', {key: admin, method: 'POST', body: {overlapSeconds}});
    const second = (await rotate(3600)).body.token as string;
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
    const third = (await rotate(5)).body.token as string;
    expect([await statusOf(first), await statusOf(second), await statusOf(third)]).toEqual([401, 200, 200]);
    await eventually('the older token ends', async () => (await statusOf(second)) === 401, patienceMs, 100);
    expect((await world.ask('/v1/projects', {key: second})).body.type).toBe(
      'https://doorplate.dev/problems/key-expired',
    );
    const fourth = (await rotate(0)).body.token as string;
    expect([await statusOf(third), await statusOf(fourth)]).toEqual([401, 200]);
    expect((await world.client.get(apiKeys, 'acme/turning'))?.spec.hashes).toEqual([{sha256: hashToken(fourth)}]);
  });

  test('that has ended by the system’s clock is refused, and its status says so, also where that clock was set right while the API ran', async () => {
    const storage = {path: await mkdtemp(join(tmpdir(), 'doorplate-ledger-'))};
    await world.stopRole();
    const rightMs = Date.now;
    const behind = jest.spyOn(Date, 'now').mockImplementation(() => rightMs() - 2 * 3_600_000);
    try {
      await world.startRole({storage});
    } finally {
      behind.mockRestore();
    }
    const key = await world.key('acme', 'ending', {expireTime: timestamp(Date.now() + 3_600_000)});
    const expireTime = timestamp(Date.now() - 1000);
    await world.client.patch(apiKeys, 'acme/ending', {spec: {expireTime}}, {type: 'merge'});
    await eventually('the API knows its end', async () =>
      (await world.ask('/v1/keys', {key: admin})).body.items.some(
        (each: {expires: string}) => each.expires === expireTime,
      ),
    );
    expect(await world.ask('/v1/projects', {key})).toMatchObject({
      status: 401,
      body: {type: 'https://doorplate.dev/problems/key-expired'},
    });
    await eventually('its status says so', async () =>
      (await world.client.get(apiKeys, 'acme/ending'))?.status?.conditions?.some(({reason}) => reason === 'KeyExpired'),
    );
    await world.stopRole();
    await world.startRole();
    await rm(storage.path, {recursive: true, force: true});
  });

  test('that is rotated twice at the same time: every token that was returned works, and a request that comes too late is told so', async () => {
    await world.key('acme', 'contested');
    const answers = await Promise.all(
      [1, 2].map(() => world.ask('/v1/keys/contested/rotate', {key: admin, method: 'POST', body: {}})),
    );
    const tokens = answers.filter((a) => a.status === 200).map((a) => a.body.token as string);
    expect(answers.filter((a) => ![200, 412].includes(a.status))).toEqual([]);
    expect(tokens.length).toBeGreaterThan(0);
    for (const token of tokens) expect(await statusOf(token)).toBe(200);
  });

  test('revokes itself without any scope, and others with keys:write', async () => {
    const [own, other] = [
      await world.key('acme', 'own', {scopes: ['domains:read']}),
      await world.key('acme', 'other', {scopes: ['domains:read']}),
    ];
    expect((await world.ask('/v1/keys/other', {key: own, method: 'DELETE'})).status).toBe(403);
    expect((await world.ask('/v1/keys/own', {key: own, method: 'DELETE'})).status).toBe(204);
    expect((await world.ask('/v1/keys/other', {key: admin, method: 'DELETE'})).status).toBe(204);
    for (const key of [own, other])
      await eventually('it is refused', async () => (await statusOf(key)) === 401, patienceMs, 20);
  });

  test("that Git owns can't be changed by the API", async () => {
    await world.client.applyPatch(
      apiKeys,
      {
        apiVersion: 'doorplate.dev/v1alpha1',
        kind: 'ApiKey',
        metadata: {namespace: 'acme', name: 'git'},
        spec: {hashes: [{sha256: 'a'.repeat(64)}], scopes: ['domains:read']},
      },
      {fieldManager: 'flux', force: true},
    );
    await eventually('the API knows it', async () =>
      (await world.ask('/v1/keys', {key: admin})).body.items.some((k: {name: string}) => k.name === 'git'),
    );
    for (const [method, path] of [
      ['POST', '/v1/keys/git/rotate'],
      ['DELETE', '/v1/keys/git'],
    ] as const) {
      expect(await world.ask(path, {key: admin, method, body: method === 'POST' ? {} : undefined})).toMatchObject({
        status: 409,
        body: {manager: 'flux'},
      });
    }
  });

  test('has in its status when it was last used, to the hour', async () => {
    const key = await world.key('acme', 'seen');
    expect(await statusOf(key)).toBe(200);
    const {status} = await eventually('it is told', async () => {
      const found = await world.client.get(apiKeys, 'acme/seen');
      return found?.status?.lastUsedTime !== undefined && found;
    });
    expect(status).toMatchObject({
      lastUsedTime: expect.stringMatching(/T\d\d:00:00/),
      conditions: [{type: 'Ready', status: 'True'}],
    });
  });

  test('appears in no line of the log', async () => {
    const key = await world.key('acme', 'logged');
    await world.ask('/v1/projects', {key});
    await world.ask('/v1/projects', {key: `${key.slice(0, -1)}!`});
    await world.ask(`/v1/${key}`, {key});
    const secret = key.slice(key.lastIndexOf('_') + 1, -1);
    expect(world.log.length).toBeGreaterThan(3);
    expect(world.log.filter((line) => line.includes(secret))).toEqual([]);
  });
});
