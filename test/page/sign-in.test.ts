/** Signing in to the page, as a person does: by the platform's link, by a key, and no more by either when it is over. */
import {createServer} from 'node:http';
import type {Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {apiKeys} from '../../operator/resources/resources.ts';
import type {Page} from 'playwright-core';
import {eventually, patienceMs} from '../../cluster/cluster.ts';
import {followLink, PageWorld} from '../support/page-world.ts';
import type {Visitor} from '../support/page-world.ts';
import {expectAccessible, expectSeen} from '../support/page-checks.ts';

let world: PageWorld;
/** Sites with one link each: of the platform, and of an attacker. Both are other sites than localhost. */
const sites: Server[] = [];
let [platform, foreign] = ['', ''];
let shown = '';
async function site(): Promise<string> {
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end(`<a href="${shown}">Domains</a>`),
  );
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  sites.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
/** Clicks a link on a site. */
async function click(page: Page, origin: string, link: string): Promise<void> {
  shown = link;
  await page.goto(origin);
  await page.getByRole('link', {name: 'Domains'}).click();
}

beforeAll(async () => {
  [platform, foreign] = [await site(), await site()];
  // Three minutes of strikes are tried on a clock that is moved: test/unit/limits/bans.test.ts.
  world = await PageWorld.start({returnOrigins: ['https://cloud.example.com', platform]}, {bans: {strikes: 1}});
  await world.api.tenant('acme', 'pro');
  await world.project('acme', 'docs');
  await world.api.tenant('other', 'pro');
  await world.project('other', 'theirs');
});
afterAll(async () => {
  await world?.stop();
  for (const server of sites) server.close();
});
// Whatever a test did: nothing was blocked, and no script failed.
afterAll(() => {
  expect(world.wrong).toEqual([]);
});

describe('The platform’s link', () => {
  test('followed from another site signs in, opens the project, and leads back to the platform', async () => {
    const link = await world.link('acme', {returnUrl: 'https://cloud.example.com/acme', project: 'docs'});
    const {page} = await world.visitor();
    await click(page, platform, link);
    await page.getByRole('heading', {name: 'Domains'}).waitFor();
    expect(page.url()).toBe(`${world.origin}/projects/docs`);
    expect(await page.getByRole('link', {name: /Back to Example Cloud/}).getAttribute('href')).toBe(
      'https://cloud.example.com/acme',
    );
    await page.reload();
    await page.getByRole('heading', {name: 'Domains'}).waitFor();
  });

  test('is refused the second time with a message, and its secret does not stay in the address bar', async () => {
    const link = await world.link('acme');
    const {page: first} = await world.visitor();
    await followLink(first, link);
    await first.getByRole('heading', {name: 'Projects'}).waitFor();
    const {page: second} = await world.visitor();
    await second.goto(link);
    await second.getByRole('alert').getByText('This link was used before').waitFor();
    expect(second.url()).toBe(`${world.origin}/sign-in`);
    await expectAccessible(second, 'used-link');
  });

  test('of another user signs every tab of the browser in as that user', async () => {
    const {context, page} = await world.signedIn('acme');
    const next = await context.newPage();
    await followLink(next, await world.link('other'));
    await next.getByRole('button', {name: 'Sign in to other'}).click();
    await next.getByRole('link', {name: 'theirs'}).waitFor();
    await page.getByRole('link', {name: 'theirs'}).waitFor();
    expect(await page.getByRole('link', {name: 'docs'}).count()).toBe(0);
  });
});

const namespaceOf = (page: Page): Promise<string> =>
  page.evaluate(async () => ((await (await fetch('/session')).json()) as {namespace: string}).namespace);

describe('A link on another site', () => {
  test('leaves the session as it is: the page shows both accounts and asks, and "stay" changes nothing', async () => {
    const {page} = await world.signedIn('acme', {subject: 'ann@acme.example', project: 'docs'});
    await click(page, foreign, await world.link('other', {subject: 'mallory@other.example'}));
    await expectSeen(page.getByRole('heading', {name: 'Sign in as someone else?'}));
    expect(await page.getByRole('definition').allTextContents()).toEqual([
      'other',
      'mallory@other.example',
      'acme',
      'ann@acme.example',
    ]);
    expect(await namespaceOf(page)).toBe('acme');
    await expectAccessible(page, 'another-account');
    await page.getByRole('button', {name: 'Stay in acme'}).click();
    await expectSeen(page.getByRole('link', {name: 'docs'}));
    expect(await namespaceOf(page)).toBe('acme');
  });

  test('signs in only after a click when nobody is signed in, and "cancel" signs nobody in', async () => {
    const link = await world.link('other');
    const {page} = await world.visitor();
    await click(page, foreign, link);
    await expectSeen(page.getByRole('heading', {name: 'Sign in to other?'}));
    await expectAccessible(page, 'link-of-another-site');
    await page.getByRole('button', {name: 'Cancel'}).click();
    await expectSeen(page.getByLabel('API key'));
    await click(page, foreign, link);
    await page.getByRole('button', {name: 'Sign in to other'}).click();
    await expectSeen(page.getByRole('link', {name: 'theirs'}));
  });

  test('that changes only what is behind the # of an open page is asked about, whatever page led there first', async () => {
    const {page} = await world.visitor();
    await page.goto('/sign-in', {referer: `${platform}/`});
    await page.getByLabel('API key').waitFor();
    await page.evaluate(`location.assign(${JSON.stringify(new URL(await world.link('other')).hash)})`);
    await expectSeen(page.getByRole('heading', {name: 'Sign in to other?'}));
  });
});

test('The header always shows the account and the user, and the project of the page', async () => {
  await world.api.namespace('acme-staging', {'doorplate.dev/account': 'acme'});
  await world.project('acme-staging', 'docs');
  const {page} = await world.signedIn('acme-staging', {
    subject: 'ann@acme.example',
    scopes: ['domains:read', 'keys:write'],
    returnUrl: `${platform}/acme`,
  });
  for (const place of ['Projects', 'API keys', 'Plan and usage']) {
    await page.getByRole('link', {name: place, exact: true}).click();
    await page.getByRole('heading', {name: place}).waitFor();
    expect(await page.getByRole('banner').getByRole('definition').allTextContents()).toEqual([
      'acme',
      'ann@acme.example',
    ]);
  }
  await page.goto('/projects/docs');
  await page.getByRole('heading', {name: 'Domains'}).waitFor();
  expect(await page.getByRole('banner').getByRole('definition').allTextContents()).toEqual([
    'acme',
    'docs',
    'ann@acme.example',
  ]);
  await expectAccessible(page, 'whose');
});

describe('A link that fails', () => {
  test('says so to who is signed in as somebody else, who goes on as that only by choice', async () => {
    const link = await world.link('other');
    const {page: first} = await world.visitor();
    await followLink(first, link);
    await first.getByRole('link', {name: 'theirs'}).waitFor();
    const {page} = await world.signedIn('acme');
    const isKnown = page.waitForResponse((r) => r.url().endsWith('/session') && r.request().method() === 'GET');
    await page.route('**/session', async (route) => {
      // The page knows who was signed in before it hears of the link.
      if (route.request().method() === 'POST') await isKnown;
      await route.continue();
    });
    await page.goto(link);
    await expectSeen(page.getByRole('alert').getByText('This link was used before'));
    expect(await page.getByRole('heading').allTextContents()).toEqual(['Sign in']);
    await expectAccessible(page, 'used-link-of-another');
    await page.unrouteAll();
    await page.getByRole('button', {name: 'Continue as acme'}).click();
    await page.getByRole('link', {name: 'docs'}).waitFor();
    expect(page.url()).toBe(`${world.origin}/`);
  });

  test('for a moment is tried again by itself, and signs in', async () => {
    const {page} = await world.visitor();
    const away = {
      status: 503,
      headers: {'content-type': 'application/problem+json', 'retry-after': '1'},
      body: JSON.stringify({
        type: 'https://example.com/unavailable',
        detail: 'Sessions cannot be looked up now. Try again.',
      }),
    };
    let [tried, isAway] = [0, true];
    await page.route('**/session', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      tried++;
      return isAway ? route.fulfill(away) : route.continue();
    });
    await followLink(page, await world.link('acme'));
    await expectSeen(
      page.getByRole('alert').getByText('The service is currently unavailable. This page tries again automatically.'),
    );
    await expectAccessible(page, 'link-tried-again');
    isAway = false;
    await expectSeen(page.getByRole('heading', {name: 'Projects'}));
    expect(tried).toBeGreaterThan(1);
    await page.unrouteAll();
  });
});

/** Somebody who was going to a project, and types a key in. */
async function typed(key: string): Promise<Visitor> {
  const visitor = await world.visitor();
  await visitor.page.goto('/projects/docs');
  await visitor.page.getByLabel('API key').fill(key);
  await visitor.page.getByRole('button', {name: 'Sign in'}).click();
  return visitor;
}

/** The type of the problem with which a page's own request by a key is answered. */
const askFrom = (page: Page, key: string): Promise<string> =>
  page.evaluate(async (token) => {
    const answer = await fetch('/v1/projects', {headers: {authorization: `Bearer ${token}`}});
    return answer.ok ? '' : ((await answer.json()) as {type: string}).type.replace(/.*[/]/, '');
  }, key);

describe('A key', () => {
  test('that is typed in signs in and opens the page that was asked for; the browser keeps nothing of it', async () => {
    const key = await world.key('acme');
    const {page} = await typed(key);
    await page.getByRole('heading', {name: 'Domains'}).waitFor();
    expect(page.url()).toBe(`${world.origin}/projects/docs`);
    expect(await page.evaluate('JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])')).toBe(
      '[{},{},""]',
    );
  });

  test.each([
    ['misspelled', undefined, 'The API key is not valid'],
    ['expired', {expireTime: '2026-01-01T00:00:00Z'}, 'The API key has expired'],
  ])('that is %s is refused with a message', async (name, spec, words) => {
    const key = spec ? await makeKeyWith(name, spec) : 'dp_acme.backend_x';
    const {page} = await typed(key);
    await page.getByRole('alert').getByText(words).waitFor();
    await expectAccessible(page, `key-${name}`);
  });

  test('that is banned is refused with the end of the ban, and so is the session that it opened', async () => {
    await world.api.tenant('hasty', 'pro');
    const key = await world.api.key('hasty', 'ci', {
      rateLimit: {requestsPerMinute: 1, requestsPerDay: 1000},
      scopes: ['domains:read', 'keys:write'],
    });
    const {page: open} = await typed(key);
    await open.getByRole('button', {name: 'Sign out'}).waitFor();
    await eventually(
      'it is banned',
      // By the browser: a ban is of the network that the requests come from.
      async () => (await Promise.all(Array.from({length: 20}, () => askFrom(open, key)))).includes('key-banned'),
      patienceMs,
      50,
    );
    await open.getByText('The API key behind your session is blocked for a while').waitFor();
    await expectAccessible(open, 'session-of-a-banned-key');
    const {page} = await typed(key);
    await page.getByRole('alert').getByText('This API key is blocked for a while').waitFor();
  });

  test('that is revoked ends the session that it opened within a second, with the reason', async () => {
    const key = await world.api.key('acme', 'brief');
    const {page} = await typed(key);
    await page.getByRole('heading', {name: 'Domains'}).waitFor();
    await world.api.client.delete(apiKeys, 'acme/brief');
    await page.getByText('The API key behind your session was revoked or replaced.').waitFor();
    expect(await page.getByRole('heading').allTextContents()).toEqual(['Sign in']);
  });
});

test('A session that a key of the account ends says so on the open page', async () => {
  const {page} = await world.signedIn('acme', {subject: 'ann', project: 'docs'});
  await page.getByRole('heading', {name: 'Domains'}).waitFor();
  const key = await world.api.key('acme', 'ender', {scopes: ['keys:write']});
  expect(await world.api.ask('/v1/sessions?subject=ann', {key, method: 'DELETE'})).toMatchObject({body: {ended: 1}});
  await expectSeen(
    page.getByRole('status').getByText('The platform or an API key of your account ended your session.'),
  );
  await expectAccessible(page, 'session-ended-by-a-key');
});

test('Signing out that fails says so, and works when it is tried again', async () => {
  const {page} = await world.signedIn('acme');
  await page.route('**/session', (route) =>
    route.fulfill({
      status: 503,
      contentType: 'application/problem+json',
      body: JSON.stringify({
        type: 'https://example.com/unavailable',
        detail: 'Sessions cannot be looked up now. Try again.',
      }),
    }),
  );
  await page.getByRole('button', {name: 'Sign out'}).click();
  await expectSeen(page.getByRole('alert').getByText('The service is currently unavailable. Try again.'));
  await expectAccessible(page, 'not-signed-out');
  await page.unrouteAll();
  await page.getByRole('button', {name: 'Sign out'}).click();
  await page.getByRole('heading', {name: 'Sign in'}).waitFor();
});

test('Signing out signs every tab out', async () => {
  const {context, page} = await world.signedIn('acme');
  const other = await context.newPage();
  await other.goto('/projects/docs');
  await other.getByRole('heading', {name: 'Domains'}).waitFor();
  await page.getByRole('button', {name: 'Sign out'}).click();
  await page.getByRole('heading', {name: 'Sign in'}).waitFor();
  await other.getByRole('heading', {name: 'Sign in'}).waitFor();
  await expectAccessible(page, 'signed-out');
});

async function makeKeyWith(name: string, spec: object): Promise<string> {
  const key = await world.api.key('acme', name);
  await world.api.client.patch(apiKeys, `acme/${name}`, {spec}, {type: 'merge'});
  await eventually(
    'the API knows',
    async () => (await world.api.ask('/v1/account', {key})).status === 401,
    patienceMs,
    20,
  );
  return key;
}
