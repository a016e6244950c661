/** Login CSRF: a sign-in that replaces a session, or that another site started, needs the consent of the person. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {ApiWorld} from '../support/api-role.ts';
import type {Answer} from '../support/http-client.ts';
import {buildPage} from '../support/page-world.ts';

const platform = 'https://www.example.com';
let world: ApiWorld;
let [acme, evil] = ['', ''];
const page = {enabled: true, linksByKeys: true, returnOrigins: [platform, 'https://cloud.example.com:443']};
beforeAll(async () => {
  buildPage();
  world = await ApiWorld.start({page});
  for (const name of ['acme', 'evil']) await world.tenant(name, 'pro');
  await world.namespace('acme-test', {'doorplate.dev/account': 'acme'});
  [acme, evil] = [await world.key('acme', 'backend'), await world.key('evil', 'backend')];
});
afterAll(async () => {
  await world?.stop();
});

const own = {host: 'localhost:9', origin: 'http://localhost:9'};
const typeOf = ({body}: Answer): string => String(body.type).replace(/.*\//, '');
const makeLink = (key: string, body: object = {}): Promise<Answer> =>
  world.ask('/v1/sessions', {method: 'POST', key, body, headers: {host: own.host}});
const link = async (key: string, body: object = {}): Promise<string> =>
  new URL((await makeLink(key, body)).body.url as string).hash.slice(1);
const signIn = (body: object, cookie = ''): Promise<Answer> =>
  world.ask('/session', {method: 'POST', body, headers: {...own, cookie}});
const cookieOf = ({headers}: Answer): string => headers['set-cookie']![0]!.split(';')[0]!;
const whoIs = async (cookie: string): Promise<Answer> => world.ask('/session', {headers: {...own, cookie}});
/** A session, as a `Cookie` header. */
const session = async (key: string, body: object = {}): Promise<string> =>
  cookieOf(await signIn({link: await link(key, body), confirmed: true}));

describe('A sign-in in a browser that has a session', () => {
  test('of another account changes nothing until it is confirmed, and the link can still be used', async () => {
    const before = await session(acme, {subject: 'ann@acme.example'});
    const theirs = await link(evil, {subject: 'mallory'});
    const asked = await signIn({link: theirs, referrer: `${platform}/`}, before);
    expect(asked).toMatchObject({
      status: 409,
      body: {
        type: expect.stringMatching(/confirmation-needed$/),
        current: {account: 'acme', namespace: 'acme', subject: 'ann@acme.example'},
        next: {account: 'evil', namespace: 'evil', subject: 'mallory'},
      },
    });
    expect(asked.headers['set-cookie']).toBeUndefined();
    expect(await whoIs(before)).toMatchObject({status: 200, body: {namespace: 'acme', subject: 'ann@acme.example'}});
    const opened = await signIn({link: theirs, confirmed: true}, before);
    expect(opened).toMatchObject({status: 200, body: {account: 'evil', namespace: 'evil', subject: 'mallory'}});
    expect((await whoIs(before)).status).toBe(401);
  });

  test.each([
    ['of another user', {subject: 'ann'}, {subject: 'bob'}],
    ['of no user', {subject: 'ann'}, {}],
  ])('by a link %s of the same namespace needs to be confirmed', async (_, first, next) => {
    const before = await session(acme, first);
    const asked = await signIn({link: await link(acme, next), referrer: platform}, before);
    expect([asked.status, typeOf(asked)]).toEqual([409, 'confirmation-needed']);
    expect((await whoIs(before)).status).toBe(200);
  });

  test('by a key of another namespace needs to be confirmed, also of the same account', async () => {
    const before = await session(acme);
    const other = await world.key('acme-test', 'ci');
    const asked = await signIn({key: other}, before);
    expect(asked).toMatchObject({
      status: 409,
      body: {
        current: {account: 'acme', namespace: 'acme', subject: null},
        next: {account: 'acme', namespace: 'acme-test', subject: null},
      },
    });
    expect(await whoIs(before)).toMatchObject({status: 200});
    expect(await signIn({key: other, confirmed: true}, before)).toMatchObject({body: {namespace: 'acme-test'}});
  });

  test('of the same user and namespace needs no confirmation, from anywhere', async () => {
    const before = await session(acme, {subject: 'ann'});
    expect((await signIn({link: await link(acme, {subject: 'ann'})}, before)).status).toBe(200);
    expect((await whoIs(before)).status).toBe(401);
  });
});

describe('A sign-in in a browser without a session', () => {
  test.each([
    ['another site', 'https://evil.example/'],
    ['a site beside', 'https://www.example.com.evil.example/'],
    ['another port', `${platform}:8443/`],
    ['another scheme', 'http://www.example.com/'],
    ['a page that hides itself', ''],
    ['what is no URL', 'www.example.com'],
  ])('by a link from %s needs to be confirmed', async (_, referrer) => {
    const theirs = await link(evil);
    const asked = await signIn({link: theirs, referrer});
    expect(asked).toMatchObject({status: 409, body: {current: null, next: {account: 'evil', namespace: 'evil'}}});
    expect(asked.headers['set-cookie']).toBeUndefined();
    expect((await signIn({link: theirs, referrer, confirmed: true})).status).toBe(200);
  });

  test.each([`${platform}/acme/domains?x`, 'https://cloud.example.com/'])(
    'by a link from a page of the platform (%s) needs no confirmation',
    async (referrer) => {
      expect((await signIn({link: await link(acme), referrer})).status).toBe(200);
    },
  );

  test('by a key that is typed in needs no confirmation', async () => {
    expect((await signIn({key: acme})).status).toBe(200);
  });
});

describe('A link', () => {
  test.each(['https://evil.example/', 'https://www.example.com@evil.example/', 'https://www.example.com:8443/'])(
    'that leads back to %s is refused, with what to do',
    async (returnUrl) => {
      expect(await makeLink(acme, {returnUrl})).toMatchObject({
        status: 400,
        body: {
          type: expect.stringMatching(/invalid-input$/),
          errors: [{field: 'body.returnUrl', message: expect.stringMatching(/api\.page\.returnOrigins/)}],
        },
      });
    },
  );

  test.each([`${platform}/acme`, 'https://cloud.example.com/acme'])('may lead back to %s', async (returnUrl) => {
    expect((await makeLink(acme, {returnUrl})).status).toBe(201);
  });

  test.each([
    ['is too long', 'a'.repeat(201)],
    ['is empty', ''],
    ['has a line break', 'a\nb'],
    ['has an escape sequence', 'a\u001b[31m'],
    ['turns the direction of the text', 'a\u202eb'],
    ['has invisible characters', 'a\u200bb'],
  ])('with a subject that %s is refused', async (_, subject) => {
    expect(await makeLink(acme, {subject})).toMatchObject({status: 400, body: {errors: [{field: 'body.subject'}]}});
  });

  test('has a subject of any printable characters', async () => {
    const subject = 'Ann O’Hara <ann@acme.example> "日本語" 🚪';
    expect(await whoIs(await session(acme, {subject}))).toMatchObject({body: {subject}});
  });
});

describe('By default', () => {
  beforeAll(async () => {
    await world.stopRole();
    await world.startRole({page: {enabled: true}});
  });

  test('a key makes no link, and the refusal says who does', async () => {
    const refused = await makeLink(acme);
    expect(refused).toMatchObject({
      status: 403,
      body: {
        type: expect.stringMatching(/links-by-keys-off$/),
        detail: expect.stringMatching(/backend.*api\.page\.linksByKeys/),
      },
    });
  });

  test('each sign-in by a link from another page needs to be confirmed', async () => {
    await world.stopRole();
    await world.startRole({page: {enabled: true, linksByKeys: true}});
    expect(await makeLink(acme, {returnUrl: platform})).toMatchObject({status: 400});
    expect((await signIn({link: await link(acme), referrer: `${platform}/`})).status).toBe(409);
  });
});
