/** Signing in to the page: links, the session's cookie, and what another site can do with them, which is nothing. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {apiKeys} from '../../operator/resources/resources.ts';
import {hashToken} from '../../operator/domain/api-key.ts';
import {linkSeconds} from '../../operator/http/session/sessions.ts';
import {eventually, patienceMs} from '../../cluster/cluster.ts';
import {ApiWorld} from '../support/api-role.ts';
import type {Answer, Ask} from '../support/http-client.ts';
import {withFreshMinute} from '../support/fresh-minute.ts';
import {buildPage} from '../support/page-world.ts';

let world: ApiWorld;
let key: string;
const settings = {
  page: {enabled: true, linksByKeys: true, returnOrigins: ['https://cloud.example.com']},
};
beforeAll(async () => {
  buildPage();
  world = await ApiWorld.start(settings);
  await world.tenant('acme', 'pro');
  await world.project('acme', 'docs');
  key = await world.key('acme', 'backend');
});
afterAll(async () => {
  await world?.stop();
});

const host = 'localhost:9';
const own = {host, origin: `http://${host}`};
const typeOf = ({body}: Answer): string => String(body.type).replace(/.*\//, '');
const makeLink = (body: object = {}, by = key): Promise<Answer> =>
  world.ask('/v1/sessions', {method: 'POST', key: by, body, headers: {host}});
const tokenOf = (link: Answer): string => new URL(link.body.url as string).hash.slice(1);
const signIn = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  world.ask('/session', {method: 'POST', body: {confirmed: true, ...body}, headers: {...own, ...headers}});
const cookieOf = ({headers}: Answer): string => headers['set-cookie']![0]!.split(';')[0]!;
/** A session of its own, as a `Cookie` header. */
const session = async (body: object = {}, by = key): Promise<string> =>
  cookieOf(await signIn({link: tokenOf(await makeLink(body, by))}));
const ask = (path: string, cookie: string, {headers, ...more}: Ask = {}): Promise<Answer> =>
  world.ask(path, {...more, headers: {...own, cookie, ...headers}});

describe('A link', () => {
  test('is created by a key, has its secret behind the #, and opens a session of its namespace once', async () => {
    const made = await makeLink({
      scopes: ['domains:read'],
      returnUrl: 'https://cloud.example.com/acme',
      project: 'docs',
    });
    expect(made).toMatchObject({
      status: 201,
      body: {url: expect.stringMatching(/^http:\/\/localhost:9\/sign-in#[\w-]{43}$/)},
    });
    expect(Date.parse(made.body.expires) - Date.now()).toBeLessThanOrEqual(linkSeconds * 1000);
    const opened = await signIn({link: tokenOf(made)});
    expect(opened).toMatchObject({
      status: 200,
      body: {
        namespace: 'acme',
        scopes: ['domains:read'],
        returnUrl: 'https://cloud.example.com/acme',
        project: 'docs',
        key: 'backend',
      },
    });
    expect(opened.headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-doorplate=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax$/),
    ]);
    expect((await ask('/v1/projects', cookieOf(opened))).body.items).toMatchObject([{name: 'docs'}]);
    const again = await signIn({link: tokenOf(made)});
    expect([again.status, typeOf(again), again.headers['set-cookie']]).toEqual([401, 'link-used', undefined]);
  });

  test('that two follow at the same time opens one session', async () => {
    const link = tokenOf(await makeLink());
    const answers = await Promise.all([1, 2, 3, 4].map(() => signIn({link})));
    expect(answers.map((a) => a.status).toSorted()).toEqual([200, 401, 401, 401]);
  });

  test.each(['', 'x', 'A'.repeat(43), '../../etc', 'a'.repeat(100)])(
    'that was never created (%j) opens no session',
    async (link) => {
      const answer = await signIn({link});
      expect([answer.status, typeOf(answer)]).toEqual([401, 'link-used']);
    },
  );

  test.each([
    ['a script', {returnUrl: 'javascript:alert(1)'}],
    ['data', {returnUrl: 'data:text/html,x'}],
    ['no URL', {returnUrl: '//x'}],
    ['no scope', {scopes: []}],
    ['what is unknown', {namespace: 'other'}],
  ])('with %s is refused', async (_, body) => {
    const answer = await makeLink(body);
    expect(answer.status).toBe(400);
    // Whoever may lead back anywhere is refused as well.
    expect(answer.body.detail).not.toContain('returnOrigins');
  });

  test("gives no scope that its key lacks, and can't be created by a session of the page", async () => {
    const few = await world.key('acme', 'few', {scopes: ['keys:write', 'domains:read']});
    expect(await makeLink({scopes: ['domains:write']}, few)).toMatchObject({
      status: 403,
      body: {scope: 'domains:write'},
    });
    const cookie = await session({scopes: ['keys:write']});
    expect((await ask('/v1/sessions', cookie, {method: 'POST', body: {scopes: ['keys:write']}})).status).toBe(403);
  });

  test('of a deleted key opens no session', async () => {
    const short = await world.key('acme', 'short');
    const link = tokenOf(await makeLink({}, short));
    await world.client.delete(apiKeys, 'acme/short');
    await eventually(
      'the key is refused',
      async () => (await world.ask('/v1/account', {key: short})).status === 401,
      patienceMs,
      20,
    );
    const answer = await signIn({link});
    expect([answer.status, typeOf(answer)]).toEqual([401, 'session-ended']);
  });
});

test('A tenant that signs in over and over is told to wait, by key and by link alike; another tenant is not', async () => {
  await world.tenant('eager', 'huge');
  const theirs = await world.key('eager', 'ci');
  const links = async (): Promise<Answer> => {
    for (;;) {
      const answers = await Promise.all(Array.from({length: 20}, () => makeLink({}, theirs)));
      made += answers.filter(({status}) => status === 201).length;
      const refusal = answers.find(({status}) => status !== 201);
      if (refusal || made > 240) return refusal ?? answers[0]!;
    }
  };
  let made = 0;
  const refused = await links();
  expect(refused).toMatchObject({
    status: 429,
    body: {type: expect.stringMatching(/rate-limited$/), detail: expect.stringMatching(/All 120 sign-ins/)},
    headers: {'x-ratelimit-limit': '120', 'x-ratelimit-remaining': '0'},
  });
  // Two minutes at most: it may have begun at the end of one.
  expect(made).toBeLessThanOrEqual(240);
  await eventually('a key is refused in a minute in which links are', async () => {
    await links();
    return /sign-ins/.test(String((await signIn({key: theirs})).body.detail));
  });
  expect((await makeLink()).status).toBe(201);
});

describe('A session', () => {
  test("opened by a typed-in key has the key's scopes; the answer says whose it is, and never the key", async () => {
    const opened = await signIn({key});
    expect(opened.body).toMatchObject({
      namespace: 'acme',
      scopes: ['domains:read', 'domains:write', 'keys:write'],
      key: 'backend',
      returnUrl: null,
    });
    const who = await ask('/session', cookieOf(opened));
    expect(who).toMatchObject({status: 200, body: {namespace: 'acme'}});
    expect(JSON.stringify([opened.body, who.body])).not.toContain(key.slice(-49));
  });

  test.each([
    ['misspelled', 'dp_acme.backend_x', 'credentials-wrong'],
    ['empty', '', 'credentials-wrong'],
  ])('is not opened by a key that is %s', async (_, typed, type) => {
    const answer = await signIn({key: typed});
    expect([answer.status, typeOf(answer), answer.headers['set-cookie']]).toEqual([401, type, undefined]);
  });

  test('does what its scopes allow', async () => {
    const reader = await session({scopes: ['domains:read']});
    expect((await ask('/v1/projects/docs/domains', reader)).status).toBe(200);
    expect(
      await ask('/v1/projects/docs/domains', reader, {method: 'POST', body: {hostname: 'x.example.com'}}),
    ).toMatchObject({status: 403, body: {scope: 'domains:write'}});
    expect((await ask('/v1/keys', reader)).status).toBe(403);
  });

  test('gives access to its own namespace only', async () => {
    await world.tenant('rival', 'pro');
    await world.project('rival', 'secret');
    const cookie = await session();
    expect((await ask('/v1/projects/secret', cookie)).status).toBe(404);
    expect((await ask('/v1/projects', cookie, {headers: {'doorplate-namespace': 'rival'}})).status).toBe(404);
    expect((await ask('/v1/projects', cookie)).body.items).toMatchObject([{name: 'docs'}]);
  });

  test('is stored as a hash only, and survives a restart; one that was signed out does not', async () => {
    const [cookie, out] = [await session(), await session()];
    const gone = await ask('/session', out, {method: 'DELETE'});
    expect([gone.status, gone.headers['set-cookie']]).toEqual([
      204,
      [expect.stringMatching(/^__Host-doorplate=; .*Max-Age=0$/)],
    ]);
    const link = tokenOf(await makeLink());
    const used = tokenOf(await makeLink());
    await signIn({link: used});
    await world.stopRole();
    await world.startRole(settings);
    // It answers 503 until it has read what there is.
    await eventually('it is ready', async () => (await ask('/session', cookie)).status !== 503);
    expect((await ask('/session', cookie)).status).toBe(200);
    expect(typeOf(await ask('/session', out))).toBe('session-ended');
    expect((await signIn({link})).status).toBe(200);
    expect(typeOf(await signIn({link: used}))).toBe('link-used');
    expect(JSON.stringify(world.log)).not.toContain(cookie.split('=')[1]);
  });

  test('ends when somebody signs in as somebody else in the same browser', async () => {
    const before = await session();
    const after = await signIn({link: tokenOf(await makeLink())}, {cookie: before});
    expect([(await ask('/session', before)).status, (await ask('/session', cookieOf(after))).status]).toEqual([
      401, 200,
    ]);
  });

  test.each([
    ['is revoked', (name: string) => world.client.delete(apiKeys, `acme/${name}`), /revoked/],
    [
      'expires',
      (name: string) =>
        world.client.patch(apiKeys, `acme/${name}`, {spec: {expireTime: '2026-01-01T00:00:00Z'}}, {type: 'merge'}),
      /expired/,
    ],
    [
      'is rotated away',
      (name: string) =>
        world.client.patch(apiKeys, `acme/${name}`, {spec: {hashes: [{sha256: hashToken('other')}]}}, {type: 'merge'}),
      /revoked/,
    ],
  ])('ends within a second when its key %s, and so does its event stream', async (what, end, why) => {
    const name = `ends-${what.replace(/\W/g, '')}`;
    const theirs = await world.key('acme', name);
    const cookie = await session({}, theirs);
    const streamed = world.ask('/v1/events', {headers: {...own, cookie}});
    expect((await ask('/session', cookie)).status).toBe(200);
    await end(name);
    await eventually(
      'the key is refused',
      async () => (await world.ask('/v1/account', {key: theirs})).status === 401,
      patienceMs,
      20,
    );
    const answer = await ask('/session', cookie);
    expect(answer).toMatchObject({
      status: 401,
      body: {type: expect.stringMatching(/session-ended$/), detail: expect.stringMatching(why)},
    });
    expect((await streamed).status).toBe(200);
  });

  test('ends when its key may do less than before, and so do the event streams of both', async () => {
    const theirs = await world.key('acme', 'narrowed');
    const cookie = await session({}, theirs);
    const streams = [world.ask('/v1/events', {headers: {...own, cookie}}), world.ask('/v1/events', {key: theirs})];
    expect((await ask('/session', cookie)).status).toBe(200);
    await world.client.patch(apiKeys, 'acme/narrowed', {spec: {scopes: ['keys:read']}}, {type: 'merge'});
    await eventually(
      'the key may read no domains',
      async () => (await world.ask('/v1/projects', {key: theirs})).status === 403,
    );
    expect(await ask('/session', cookie)).toMatchObject({
      status: 401,
      body: {detail: expect.stringMatching(/fewer permissions/)},
    });
    for (const stream of streams) expect((await stream).status).toBe(200);
  });

  test('uses no requests of the plan, and works when these are used up', async () => {
    await world.tenant('drained', 'pro', {requestsPerMinute: 3, requestsPerDay: 3});
    await world.project('drained', 'docs');
    await world.domain('drained', 'docs', {primary: 'drained.example.com'});
    const theirs = await world.key('drained', 'backend');
    const cookie = cookieOf(await signIn({link: tokenOf(await makeLink({}, theirs))}));
    await eventually(
      'the plan is used up',
      async () => (await world.ask('/v1/projects', {key: theirs})).status === 429,
      patienceMs,
      1,
    );
    const account = await ask('/v1/account', cookie);
    expect(account.body).toMatchObject({key: null, usage: {day: {limit: 3, remaining: 0}}, plan: 'pro'});
    expect(account.headers).toMatchObject({
      'x-ratelimit-limit': '60',
      'ratelimit-policy': '"page-minute";q=60;w=60, "page-day";q=500;w=86400',
    });
    const removed = await ask('/v1/projects/docs/domains/drained.example.com', cookie, {method: 'DELETE'});
    expect(removed.status).toBe(204);
  });

  test('is no second plan for a program that signs in by a key, with headers as a browser has them; Remove works still', async () => {
    const tenant = withFreshMinute('greedy');
    await world.tenant(tenant, 'pro', {requestsPerMinute: 10, requestsPerDay: 10});
    await world.project(tenant, 'docs');
    await world.domain(tenant, 'docs', {primary: `${tenant}.example.com`});
    const theirs = await world.key(tenant, 'ci');
    const made = {'sec-fetch-site': 'same-origin'};
    const cookies: string[] = [];
    for (let i = 0; i < 5; i++) cookies.push(cookieOf(await signIn({key: theirs}, made)));
    const answers: Answer[] = [];
    for (let i = 0; i < 250; i++) answers.push(await ask('/v1/projects', cookies[i % 5]!, {headers: made}));
    const admitted = answers.filter(({status}) => status === 200).length;
    // The page's 60 of each of two minutes at most, and the plan's 10.
    expect(admitted).toBeGreaterThanOrEqual(70);
    expect(admitted).toBeLessThanOrEqual(130);
    expect(answers.find(({status}) => status === 429)).toMatchObject({
      body: {type: expect.stringMatching(/rate-limited$/)},
      headers: {'retry-after': expect.stringMatching(/^\d+$/), 'x-ratelimit-remaining': '0'},
    });
    const path = `/v1/projects/docs/domains/${tenant}.example.com`;
    expect((await ask(path, cookies[0]!, {method: 'DELETE'})).status).toBe(204);
    expect((await ask('/v1/keys/ci', cookies[1]!, {method: 'DELETE'})).status).toBe(204);
  });
});

describe('Another site', () => {
  test.each([
    ['without an Origin', {origin: ''}],
    ['of another origin', {origin: 'https://evil.example'}],
    ['of another scheme', {origin: `https://${host}`}],
    ['of another port', {origin: 'http://localhost:10'}],
    ['of no origin', {origin: 'null'}],
    ['that says it is cross-site', {'sec-fetch-site': 'cross-site'}],
    ['of the same site only', {'sec-fetch-site': 'same-site'}],
    ['that somebody typed', {'sec-fetch-site': 'none'}],
  ])('that sends a request %s is refused, whatever it would change', async (_, headers) => {
    const cookie = await session({scopes: ['domains:read', 'domains:write', 'keys:write']});
    for (const [method, path, body] of [
      ['POST', '/v1/projects/docs/domains', {hostname: 'evil.example.com'}],
      ['DELETE', '/v1/projects/docs/domains/x.example.com', undefined],
      ['POST', '/v1/keys', {name: 'evil', scopes: ['domains:read']}],
      ['POST', '/session', {key}],
      ['DELETE', '/session', undefined],
      ['GET', '/v1/projects', undefined],
    ] as const) {
      const answer = await ask(path, cookie, {method, body, headers});
      expect([path, answer.status, typeOf(answer)]).toEqual([path, 403, 'cross-site']);
      expect(answer.headers['ratelimit-policy']).toBe('"cross-site-minute";q=60;w=60');
    }
    expect((await ask('/session', cookie)).status).toBe(200);
  });

  test('may lead to the page by a link', async () => {
    const cookie = await session();
    for (const path of ['/', '/projects/docs', '/keys'])
      expect((await ask(path, cookie, {headers: {origin: '', 'sec-fetch-site': 'cross-site'}})).status).toBe(200);
  });

  test('can read no answer: none allows another origin, and a key needs no cookie', async () => {
    const cookie = await session();
    const answer = await ask('/v1/projects', cookie, {headers: {origin: 'https://evil.example'}});
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(
      (
        await world.ask('/v1/projects/docs/domains', {
          key,
          method: 'POST',
          body: {hostname: 'co.uk'},
          headers: {origin: 'https://evil.example'},
        })
      ).status,
    ).toBe(422);
  });
});

describe('The files of the page', () => {
  const limits = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

  test('need no session; the document may run no other scripts, and no site may frame it', async () => {
    for (const path of ['/', '/sign-in', '/projects/docs', '/keys', '/usage']) {
      const {status, headers, body} = await world.ask(path);
      expect([path, status, headers['content-type']]).toEqual([path, 200, 'text/html; charset=utf-8']);
      const policy = String(headers['content-security-policy']);
      expect(policy).toMatch(/default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'/);
      expect(policy).not.toMatch(/unsafe|\*|data:/);
      expect(body).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/);
      expect(limits.filter((name) => headers[name] === undefined)).toEqual([]);
    }
  });

  test('have names that change with their content, and are cached for ever; the document is revalidated each time', async () => {
    const {
      headers: {etag, 'cache-control': asked},
      body,
    } = await world.ask('/');
    expect(asked).toBe('no-cache');
    expect((await world.ask('/', {headers: {'if-none-match': etag!}})).status).toBe(304);
    const assets = [...body.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((m: RegExpMatchArray) => m[1]!);
    expect(assets.length).toBeGreaterThan(2);
    for (const asset of assets) {
      expect(asset).toMatch(/-[\w-]{8,}\.(js|css|svg)$/);
      const {status, headers} = await world.ask(asset, {headers: {'accept-encoding': 'gzip, br'}});
      expect([status, headers['cache-control'], headers['content-encoding']]).toEqual([
        200,
        'public, max-age=31536000, immutable',
        'br',
      ]);
      expect(limits.filter((name) => headers[name] === undefined)).toEqual([]);
    }
    expect((await world.ask('/assets/..%2f..%2fpackage.json')).status).toBe(404);
    expect((await world.ask('/assets/none.js')).status).toBe(404);
  });
});
