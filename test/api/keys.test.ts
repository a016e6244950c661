/** API keys through the API: made, shown once, rotated, revoked. */
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, jest, test} from '@jest/globals';
import {apiKeys} from '../../operator/resources/resources.ts';
import {hashToken} from '../../operator/domain/api-key.ts';
import {timestamp} from '../../operator/domain/times.ts';
import {eventually, patienceMs} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';
import type {Answer} from '../support/http-client.ts';

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
        title: 'The platform refuses the request',
        detail: 'requestsPerDay must be at least requestsPerMinute: a lower limit would be used up within a minute',
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
    const rotate = (overlapSeconds: number, more: object = {}) =>
      world.ask('/v1/keys/turning/rotate', {key: admin, method: 'POST', body: {overlapSeconds, ...more}});
    const second = (await rotate(3600)).body.token as string;
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
    const third = (await rotate(5, {dropPrevious: true})).body.token as string;
    expect([await statusOf(first), await statusOf(second), await statusOf(third)]).toEqual([401, 200, 200]);
    await eventually('the older token ends', async () => (await statusOf(second)) === 401, patienceMs, 100);
    expect((await world.ask('/v1/projects', {key: second})).body.type).toBe(
      'https://doorplate.dev/problems/key-expired',
    );
    const fourth = (await rotate(0)).body.token as string;
    expect([await statusOf(third), await statusOf(fourth)]).toEqual([401, 200]);
    expect((await world.client.get(apiKeys, 'acme/turning'))?.spec.hashes).toEqual([{sha256: hashToken(fourth)}]);
  });

  test('that was rotated is not rotated by a retry: the previous token works until the time that the answer names', async () => {
    const first = await world.key('acme', 'retried', {scopes: ['domains:read']});
    const rotate = (): Promise<Answer> =>
      world.ask('/v1/keys/retried/rotate', {key: admin, method: 'POST', body: {overlapSeconds: 3600}});
    const {body} = await rotate();
    const until = body.previousTokenExpires as string;
    expect(Date.parse(until) - Date.now()).toBeGreaterThan(3_500_000);
    expect(await rotate()).toMatchObject({
      status: 409,
      body: {type: 'https://doorplate.dev/problems/rotation-under-way', until},
    });
    expect([await statusOf(first), await statusOf(body.token)]).toEqual([200, 200]);
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
    expect(answers.filter((a) => ![200, 409, 412].includes(a.status))).toEqual([]);
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
        body: {manager: "your platform's configuration"},
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

const exceeds = {status: 403, body: {type: 'https://doorplate.dev/problems/exceeds-caller'}};
const ownScopes = ['keys:write', 'domains:read'];
const inHours = (hours: number): string => timestamp(Date.now() + hours * 3_600_000);
const make = (by: string, body: object): Promise<Answer> => world.ask('/v1/keys', {key: by, method: 'POST', body});
const revoke = (name: string, by: string): Promise<Answer> =>
  world.ask(`/v1/keys/${name}`, {key: by, method: 'DELETE'});
const rotate = (name: string, by: string): Promise<Answer> =>
  world.ask(`/v1/keys/${name}/rotate`, {key: by, method: 'POST', body: {}});

describe('What a key makes', () => {
  test('expires no later than itself, and with it where nothing is said', async () => {
    const expireTime = inHours(2);
    const brief = await world.key('acme', 'brief', {scopes: ownScopes, expireTime});
    expect(await make(brief, {name: 'brief-1', scopes: ownScopes})).toMatchObject({
      status: 201,
      body: {expires: expireTime, madeBy: 'ApiKey brief'},
    });
    expect(await make(brief, {name: 'brief-2', scopes: ownScopes, expires: inHours(3)})).toMatchObject(exceeds);
    expect(await make(brief, {name: 'brief-3', scopes: ownScopes, expires: inHours(1)})).toMatchObject({status: 201});
    expect(await make(brief, {name: 'brief-4', scopes: ownScopes, expires: inHours(-1)})).toMatchObject({
      status: 400,
      body: {errors: [{field: 'body.expires'}]},
    });
  });

  test('counts in its cap, with the keys that those make, also when it is gone', async () => {
    const name = 'capped';
    const capped = await world.key('acme', name, {
      scopes: ownScopes,
      rateLimit: {requestsPerMinute: 8, requestsPerDay: 8},
    });
    const {uid} = (await world.client.get(apiKeys, `acme/${name}`))!.metadata;
    const child = await make(capped, {
      name: `${name}-1`,
      scopes: ownScopes,
      rateLimit: {requestsPerMinute: 99, requestsPerDay: 99},
    });
    const grandchild = await make(child.body.token, {name: `${name}-2`, scopes: ownScopes});
    expect([child.status, grandchild.status]).toEqual([201, 201]);
    expect((await world.client.get(apiKeys, `acme/${name}-2`))?.spec.madeBy).toMatchObject({
      by: `ApiKey ${name}-1`,
      keys: [{name: `${name}-1`}, {name, uid, rateLimit: {requestsPerMinute: 8}}],
    });
    expect((await world.ask(`/v1/keys/${name}`, {key: capped, method: 'DELETE'})).status).toBe(204);
    const statuses: number[] = [];
    for (let i = 0; i < 8; i++) statuses.push(await statusOf(grandchild.body.token));
    // Two of the eight have made keys.
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429]);
    expect(await statusOf(child.body.token)).toBe(429);
  });

  test('is at most the eighth in its line', async () => {
    let token = admin;
    const answers: number[] = [];
    for (let i = 0; i < 9; i++) {
      const made = await make(token, {name: `line-${i}`, scopes: ['keys:write']});
      answers.push(made.status);
      token = (made.body.token as string | undefined) ?? token;
    }
    expect(answers).toEqual([...Array.from({length: 8}, () => 201), 403]);
  });

  test('is revoked with it where that is asked for, and else stays', async () => {
    const root = await world.key('acme', 'root', {scopes: ownScopes});
    const child = (await make(root, {name: 'root-1', scopes: ownScopes})).body.token as string;
    const grandchild = (await make(child, {name: 'root-2', scopes: ownScopes})).body.token as string;
    expect((await world.ask('/v1/keys/root-1', {key: root, method: 'DELETE'})).status).toBe(204);
    expect(await statusOf(grandchild)).toBe(200);
    expect((await world.ask('/v1/keys/root?descendants=true', {key: root, method: 'DELETE'})).status).toBe(204);
    for (const key of [root, grandchild])
      await eventually('it is refused', async () => (await statusOf(key)) === 401, patienceMs, 20);
  });
});

describe('A key that can do more', () => {
  test('is neither revoked nor rotated by one that can do less, expires sooner, or has a cap', async () => {
    const strong = await world.key('acme', 'strong');
    const few = await world.key('acme', 'few', {scopes: ownScopes});
    for (const does of [revoke, rotate])
      expect(await does('strong', few)).toMatchObject({status: 403, body: {scope: 'domains:write'}});
    await world.key('acme', 'lasting', {scopes: ownScopes});
    const brief = await world.key('acme', 'ends', {scopes: ownScopes, expireTime: timestamp(Date.now() + 3_600_000)});
    const capped = await world.key('acme', 'slow', {
      scopes: ownScopes,
      rateLimit: {requestsPerMinute: 60, requestsPerDay: 600},
    });
    for (const by of [brief, capped])
      for (const does of [revoke, rotate]) expect(await does('lasting', by)).toMatchObject(exceeds);
    expect(await statusOf(strong)).toBe(200);
    // It made that one.
    await world.ask('/v1/keys', {key: capped, method: 'POST', body: {name: 'slow-1', scopes: ownScopes}});
    expect((await rotate('slow-1', capped)).status).toBe(200);
    expect((await revoke('slow-1', capped)).status).toBe(204);
  });

  test('is not rotated by its own previous token', async () => {
    const previous = await world.key('acme', 'turned', {scopes: ownScopes});
    const {token} = (await rotate('turned', previous)).body;
    const again = {key: previous, method: 'POST', body: {dropPrevious: true}} as const;
    expect(await world.ask('/v1/keys/turned/rotate', again)).toMatchObject(exceeds);
    expect((await world.ask('/v1/keys/turned/rotate', {...again, key: token})).status).toBe(200);
  });
});
