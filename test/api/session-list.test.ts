/** The platform lists and ends sessions of the page, by id and by its own name for the user. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {eventually} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';
import type {Answer, Ask} from '../support/http-client.ts';
import {buildPage} from '../support/page-world.ts';

let world: ApiWorld;
let [key, other] = ['', ''];
const settings = {page: {enabled: true, linksByKeys: true, sessionLifetime: '30m'}};
beforeAll(async () => {
  buildPage();
  world = await ApiWorld.start(settings);
  for (const name of ['acme', 'rival']) await world.tenant(name, 'pro');
  [key, other] = [await world.key('acme', 'backend'), await world.key('rival', 'backend')];
});
afterAll(async () => {
  await world?.stop();
});

const own = {host: 'localhost:9', origin: 'http://localhost:9'};
const makeLink = async (body: object = {}, by = key): Promise<string> => {
  const made = await world.ask('/v1/sessions', {method: 'POST', key: by, body, headers: {host: own.host}});
  return new URL(made.body.url as string).hash.slice(1);
};
const signIn = (link: string): Promise<Answer> =>
  world.ask('/session', {method: 'POST', body: {link, confirmed: true}, headers: own});
/** A session, as a `Cookie` header. */
const session = async (subject?: string, by = key): Promise<string> =>
  (await signIn(await makeLink({subject}, by))).headers['set-cookie']![0]!.split(';')[0]!;
const withCookie = (path: string, cookie: string, more: Ask = {}): Promise<Answer> =>
  world.ask(path, {...more, headers: {...own, cookie}});
const isIn = async (cookie: string): Promise<boolean> => (await withCookie('/session', cookie)).status === 200;
interface Listed {
  id: string;
  subject: string | null;
}
const list = async (query = '', by = key): Promise<Listed[]> =>
  (await world.ask(`/v1/sessions${query}`, {key: by})).body.items as Listed[];
const endAll = (subject: string, by = key): Promise<Answer> =>
  world.ask(`/v1/sessions?subject=${encodeURIComponent(subject)}`, {key: by, method: 'DELETE'});

describe('Sessions', () => {
  test('are listed with their user, their maker, begin and end, by an id that lets nobody in', async () => {
    const cookie = await session('ann@acme.example');
    const [listed, ...more] = await list(`?subject=${encodeURIComponent('ann@acme.example')}`);
    expect([listed, more]).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{64}$/),
        subject: 'ann@acme.example',
        madeBy: 'ApiKey backend',
        scopes: ['domains:read', 'domains:write'],
        started: expect.any(String),
        ends: expect.any(String),
      },
      [],
    ]);
    const {started, ends} = listed as unknown as {started: string; ends: string};
    expect(Date.parse(ends) - Date.parse(started)).toBe(30 * 60_000);
    expect(JSON.stringify(listed)).not.toContain(cookie.split('=')[1]);
    expect(await isIn(`__Host-doorplate=${listed!.id}`)).toBe(false);
  });

  test('of another namespace are neither listed nor ended', async () => {
    const theirs = await session('ann', other);
    expect((await list('', other)).length).toBe(1);
    const [{id = ''} = {}] = await list('', other);
    expect((await list()).filter((each) => each.id === id)).toEqual([]);
    expect((await world.ask(`/v1/sessions/${id}`, {key, method: 'DELETE'})).status).toBe(404);
    expect((await endAll('ann')).body).toEqual({ended: 0});
    expect(await isIn(theirs)).toBe(true);
  });

  test('need the scope keys:write', async () => {
    const few = await world.key('acme', 'few', {scopes: ['domains:read', 'domains:write']});
    for (const [path, method] of [
      ['/v1/sessions', 'GET'],
      ['/v1/sessions?subject=ann', 'DELETE'],
      [`/v1/sessions/${'a'.repeat(64)}`, 'DELETE'],
    ] as const)
      expect(await world.ask(path, {key: few, method})).toMatchObject({status: 403, body: {scope: 'keys:write'}});
  });

  test('are listed page by page, and after a restart', async () => {
    const cookies = [await session('paged'), await session('paged'), await session('paged')];
    await world.stopRole();
    await world.startRole(settings);
    await eventually('it is ready', async () => (await world.ask('/v1/account', {key})).status === 200);
    const all = await list('?subject=paged');
    expect(all.length).toBe(cookies.length);
    const first = (await world.ask('/v1/sessions?subject=paged&limit=2', {key})).body;
    const rest = (await world.ask(`/v1/sessions?subject=paged&limit=2&after=${first.next}`, {key})).body;
    expect([...first.items, ...rest.items]).toEqual(all);
    expect(rest.next).toBeNull();
  });
});

describe('Ending sessions', () => {
  test('by id ends that session and its event stream, and no other', async () => {
    const stays = await session('by-id');
    const before = await list('?subject=by-id');
    const ended = await session('by-id');
    const [{id = ''} = {}] = (await list('?subject=by-id')).filter((each) => each.id !== before[0]!.id);
    const streamed = withCookie('/v1/events', ended);
    expect(await isIn(ended)).toBe(true);
    expect((await world.ask(`/v1/sessions/${id}`, {key, method: 'DELETE'})).status).toBe(204);
    expect([await isIn(ended), await isIn(stays)]).toEqual([false, true]);
    expect((await withCookie('/session', ended)).body).toMatchObject({cause: 'Ended'});
    expect((await streamed).status).toBe(200);
    expect((await world.ask(`/v1/sessions/${id}`, {key, method: 'DELETE'})).status).toBe(404);
  });

  test('by user ends all of that user, their event streams and unused links, and nobody else', async () => {
    const [first, second, bob] = [await session('leaver'), await session('leaver'), await session('bob')];
    const link = await makeLink({subject: 'leaver'});
    const streams = [withCookie('/v1/events', first), withCookie('/v1/events', second)];
    expect(await isIn(first)).toBe(true);
    expect(await endAll('leaver')).toMatchObject({status: 200, body: {ended: 2}});
    expect([await isIn(first), await isIn(second), await isIn(bob)]).toEqual([false, false, true]);
    expect((await signIn(link)).status).toBe(401);
    for (const stream of streams) expect((await stream).status).toBe(200);
    expect(await list('?subject=leaver')).toEqual([]);
  });

  test.each(['', '?subject=', '?subject=a%0ab', '?all=true'])('of no user (%j) is refused', async (query) => {
    expect((await world.ask(`/v1/sessions${query}`, {key, method: 'DELETE'})).status).toBe(400);
  });
});

test('The log line of a change that the page makes names the user', async () => {
  await world.project('acme', 'docs');
  const cookie = await session('ann "the admin" <ann@acme.example>');
  await withCookie('/v1/projects/docs/domains/none.example.com/verify', cookie, {method: 'POST'});
  const lines = world.log.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter(({route}) => String(route).endsWith('/verify'))).toMatchObject([
    {session: 'acme', subject: 'ann "the admin" <ann@acme.example>'},
  ]);
});

/** The header of the document and of an asset. */
const hsts = async (api: object): Promise<unknown[]> => {
  await world.stopRole();
  await world.startRole({...api, page: {...settings.page, ...('page' in api ? (api.page as object) : {})}});
  await eventually('it is ready', async () => (await world.ask('/')).status === 200);
  const {body, headers} = await world.ask('/');
  const [, asset = ''] = /(?:src|href)="(\/assets\/[^"]+)"/.exec(body as string) ?? [];
  return [headers, (await world.ask(asset)).headers].map((each) => each['strict-transport-security']);
};

test('The page’s answers demand HTTPS where it has a hostname, unless that is switched off', async () => {
  const host = {host: 'domains.example.com', trustedProxies: ['10.0.0.0/8']};
  expect(await hsts(host)).toEqual(['max-age=31536000', 'max-age=31536000']);
  expect(await hsts({...host, page: {strictTransportSecurity: false}})).toEqual([undefined, undefined]);
  expect(await hsts({})).toEqual([undefined, undefined]);
});
