/** What the page does while things go wrong around it, and how it is kept up to date. */
import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type {Route} from 'playwright-core';
import {customDomains} from '../../operator/resources/resources.ts';
import {eventually, patienceMs} from '../../cluster/cluster.ts';
import {followLink, PageWorld} from '../support/page-world.ts';
import {expectAccessible, expectSeen, speak} from '../support/page-checks.ts';

let world: PageWorld;
beforeAll(async () => {
  world = await PageWorld.start();
  await world.api.tenant('acme', 'pro');
  await world.project('acme', 'docs');
  await world.api.domain('acme', 'docs', {primary: 'docs.example.com'});
  await say('as it was');
});
afterAll(async () => {
  await world?.stop();
});
afterAll(() => {
  expect(world.wrong).toEqual([]);
});

const isListOfProjects = ({pathname}: URL): boolean => pathname === '/v1/projects';
/** Has the page show a text as the record that DNS has. */
const say = (text: string) =>
  world.say('acme', 'docs', [{hostname: 'docs.example.com', state: 'Wrong', observed: [text]}]);

describe('Two browsers on one project', () => {
  test('each shows what is changed in the other, without a reload', async () => {
    const [one, two] = await Promise.all([
      world.signedIn('acme', {project: 'docs'}),
      world.signedIn('acme', {project: 'docs'}),
    ]);
    await one.page.getByLabel('Domain', {exact: true}).fill('shared.example.com');
    await one.page.getByRole('button', {name: 'Add domain'}).click();
    await two.page.getByRole('heading', {name: 'shared.example.com'}).waitFor();
    await two.page.getByRole('button', {name: 'Remove shared.example.com'}).click();
    await two.page.getByRole('dialog').getByRole('button', {name: 'Remove'}).click();
    await one.page.getByRole('heading', {name: 'shared.example.com'}).waitFor({state: 'detached'});
    expect((await world.read('acme', 'docs'))?.spec.redirects).toBeUndefined();
  });
});

describe('The tabs of one browser', () => {
  test('share one event stream, which the next takes over when the first closes', async () => {
    await say('for all tabs');
    const {context, page} = await world.visitor();
    let streams = 0;
    context.on('request', (request) => {
      if (request.url().endsWith('/v1/events')) streams++;
    });
    await followLink(page, await world.link('acme', {project: 'docs'}));
    await page.getByText('for all tabs').waitFor();
    const tabs = await Promise.all(
      [1, 2, 3].map(async () => {
        const tab = await context.newPage();
        await tab.goto('/projects/docs');
        await tab.getByText('for all tabs').waitFor();
        return tab;
      }),
    );
    await say('told to one, seen in all');
    for (const tab of [page, ...tabs]) await tab.getByText('told to one, seen in all').waitFor();
    expect(streams).toBe(1);
    await page.close();
    await eventually('another tab reads the stream', async () => streams === 2, patienceMs, 50);
    await say('after the first has gone');
    for (const tab of tabs) await tab.getByText('after the first has gone').waitFor();
    expect(streams).toBe(2);
  });
});

describe('The page', () => {
  test('shows what is changed while its first answer is on its way', async () => {
    await world.project('acme', 'slow');
    const [{page}, {page: beside}] = await Promise.all([
      world.signedIn('acme', {project: 'docs'}),
      world.signedIn('acme', {project: 'slow'}),
    ]);
    await expectSeen(beside.getByText('No domain yet'));
    const answered = Promise.withResolvers<void>();
    const delivered = Promise.withResolvers<void>();
    const hold = async (route: Route) => {
      const response = await route.fetch();
      answered.resolve();
      await delivered.promise;
      await route.fulfill({response});
    };
    await page.route('**/v1/projects/slow/domains', hold, {times: 1});
    await page.goto('/projects/slow');
    await answered.promise;
    // An event of this change comes when the stream is open, and so does one that tells that it is.
    await page.waitForTimeout(2000);
    await world.api.domain('acme', 'slow', {primary: 'slow.example.com'});
    await expectSeen(beside.getByRole('heading', {name: 'slow.example.com'}));
    await page.waitForTimeout(1000);
    delivered.resolve();
    await expectSeen(page.getByRole('heading', {name: 'slow.example.com'}));
  });

  test('asks seldom while changes come faster than answers, and shows them as they are', async () => {
    await world.api.tenant('hectic', 'pro');
    await world.project('hectic', 'docs');
    const {page} = await world.signedIn('hectic');
    await page.getByText('No domain yet').waitFor();
    let asked = 0;
    await page.route(isListOfProjects, async (route) => {
      asked++;
      await sleep(1000);
      // One that was begun anew meanwhile is there no more.
      await route.continue().catch(() => {});
    });
    await world.api.domain('hectic', 'docs', {primary: 'docs.example.com'});
    let changes = 0;
    const seen = new AbortController();
    const change = async (): Promise<void> => {
      while (changes < 60 || !seen.signal.aborted) {
        const metadata = {annotations: {change: String(changes++)}};
        await world.api.client.patch(customDomains, 'hectic/docs', {metadata}, {type: 'merge'});
      }
    };
    const changing = Promise.all([1, 2, 3, 4].map(change));
    try {
      await expectSeen(page.getByText('docs.example.com'));
    } finally {
      seen.abort();
      await changing;
    }
    await world.api.domain('hectic', 'docs', {primary: 'last.example.com'});
    await expectSeen(page.getByText('last.example.com'));
    console.log(`${changes} changes, ${asked} requests`);
    expect(asked).toBeLessThan(changes / 2);
    await page.unrouteAll({behavior: 'ignoreErrors'});
  });

  test('shows every project, of which the API tells in parts', async () => {
    await world.api.tenant('many', 'pro');
    for (const name of ['first', 'second', 'third']) await world.project('many', name);
    const {page} = await world.signedIn('many');
    // So that three are as many as 1,500.
    await page.route(isListOfProjects, (route) =>
      route.continue({url: route.request().url().replace('limit=500', 'limit=1')}),
    );
    await page.reload();
    await expectSeen(page.getByRole('link', {name: 'third'}));
    expect(await page.getByRole('main').getByRole('link').allTextContents()).toEqual(['first', 'second', 'third']);
    await page.unrouteAll();
  });

  test('goes on by itself after a restart of the API: it says that the API is away, and misses no change', async () => {
    await say('before');
    const {page} = await world.signedIn('acme', {project: 'docs'});
    await page.getByText('before', {exact: true}).waitFor();
    // Texts that are not loaded yet cannot be loaded while the API is away.
    for (const code of ['de', 'en'] as const) await speak(page, code);
    await world.restart(async () => {
      await page.getByText('The connection was lost.').waitFor();
      await expectAccessible(page, 'connection-lost', {folded: true});
      await say('meanwhile');
    });
    await page.getByText('meanwhile', {exact: true}).waitFor();
    await page.getByText('The connection was lost.').waitFor({state: 'detached'});
    await page.getByRole('button', {name: 'Verify docs.example.com'}).click();
    await eventually(
      'it is asked for',
      async () => (await world.read('acme', 'docs'))?.metadata.annotations?.['doorplate.dev/requestedAt'] !== undefined,
    );
  });

  test('that is opened while the API is away says so, and opens when it is back', async () => {
    const {page} = await world.signedIn('acme', {project: 'docs'});
    // The document is there still; the API behind it answers nothing.
    await page.route(
      (url) => url.pathname === '/session' || url.pathname.startsWith('/v1/'),
      (route) => route.abort(),
    );
    await page.reload();
    await page.getByRole('alert').getByText('The server cannot be reached.').waitFor();
    await expectAccessible(page, 'unreachable');
    await page.unrouteAll();
    await page.getByRole('heading', {name: 'Domains'}).waitFor();
  });

  test('takes a 404 of the edge, which has no route to the API for a moment, for the server being away', async () => {
    const {page} = await world.signedIn('acme', {project: 'docs'});
    await page.getByRole('heading', {name: 'docs.example.com'}).waitFor();
    let asked = 0;
    await page.route('**/v1/projects/**', (route) => {
      asked++;
      return route.fulfill({status: 404, contentType: 'text/plain', body: '404 page not found'});
    });
    await say('after a moment without a route');
    await eventually('it asks again', async () => asked > 4, patienceMs / 10, 50).catch(() => {});
    expect(asked).toBeGreaterThan(4);
    await page.unrouteAll();
    await expectSeen(page.getByText('after a moment without a route'));
  });

  test('says so while it is offline, and is up to date soon after', async () => {
    await say('online');
    const {context, page} = await world.signedIn('acme', {project: 'docs'});
    await page.getByText('online', {exact: true}).waitFor();
    for (const code of ['de', 'en'] as const) await speak(page, code);
    await context.setOffline(true);
    await page.getByText('You are offline.').waitFor();
    await expectAccessible(page, 'offline', {folded: true});
    await context.setOffline(false);
    await page.getByText('You are offline.').waitFor({state: 'detached'});
    await say('online again');
    await page.getByText('online again').waitFor();
  });

  test('never does what was cancelled while it was offline', async () => {
    await world.project('acme', 'kept');
    await world.api.domain('acme', 'kept', {primary: 'kept.example.com'});
    const {context, page} = await world.signedIn('acme', {project: 'kept'});
    const removals: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'DELETE') removals.push(request.url());
    });
    await page.getByRole('button', {name: 'Remove kept.example.com'}).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await context.setOffline(true);
    await dialog.getByRole('button', {name: 'Remove'}).click();
    const refusal = dialog.getByRole('alert').getByText('You are offline.');
    await refusal.waitFor().catch(() => {});
    const isSaid = await refusal.isVisible();
    const whileOffline = removals.length;
    await dialog.getByRole('button', {name: 'Cancel'}).click();
    await dialog.waitFor({state: 'detached'});
    await context.setOffline(false);
    await world.api.domain('acme', 'kept', {
      primary: 'kept.example.com',
      redirects: [{from: 'next.example.com', status: 301}],
    });
    await expectSeen(page.getByRole('heading', {name: 'next.example.com'}));
    expect({isSaid, later: removals.slice(whileOffline)}).toEqual({isSaid: true, later: []});
    expect((await world.read('acme', 'kept'))?.spec.primary).toBe('kept.example.com');
  });

  test('loads a script that could not be had while the API was away, once it is back', async () => {
    const {page, wrong} = await world.signedIn('acme', {project: 'docs'});
    const asked: string[] = [];
    page.on('request', (request) => {
      if (/dialog-.*\.js$/.test(request.url())) asked.push(request.url());
    });
    const remove = page.getByRole('button', {name: 'Remove docs.example.com'});
    await remove.waitFor();
    await world.restart(async () => {
      await remove.click();
      // More often than it asks a server that is there.
      await eventually('it has asked again and again', async () => asked.length > 5, patienceMs / 5, 50).catch(
        () => {},
      );
    });
    expect(asked.length).toBeGreaterThan(5);
    await page.getByRole('dialog').getByRole('button', {name: 'Cancel'}).click();
    await page.getByRole('heading', {name: 'docs.example.com'}).waitFor();
    expect(wrong).toEqual([]);
  });

  test('says that a script cannot be loaded, as after a new release, and offers to reload', async () => {
    const {page, wrong} = await world.signedIn('acme', {project: 'docs'});
    await page.route('**/assets/dialog-*.js', (route) => route.fulfill({status: 404}));
    await page.getByRole('button', {name: 'Remove docs.example.com'}).click();
    await expectSeen(page.getByRole('alert').getByText('A part of this page could not be loaded'));
    await expectAccessible(page, 'a-part-is-missing');
    // The browser tells of the failed load; it is shown, and nothing else went wrong.
    expect(wrong.splice(0).filter((each) => !each.includes('dynamically imported module'))).toEqual([]);
    await page.unrouteAll();
    await page.getByRole('button', {name: 'Reload'}).click();
    await page.getByRole('heading', {name: 'docs.example.com'}).waitFor();
  });

  test('shows placeholders while it loads, of the size of what follows', async () => {
    const {page} = await world.signedIn('acme');
    const waiting = Promise.withResolvers<void>();
    await page.route('**/domains', async (route) => {
      await waiting.promise;
      await route.continue();
    });
    await page.goto('/projects/docs');
    await page.getByText('Loading').waitFor({state: 'attached'});
    await expectAccessible(page, 'loading');
    waiting.resolve();
    await page.getByRole('heading', {name: 'docs.example.com'}).waitFor();
  });

  test('does not shift while it loads (cumulative layout shift under 0.05)', async () => {
    const {page} = await world.signedIn('acme');
    await page.addInitScript(
      `globalThis.shift = 0; new PerformanceObserver(list => { for (const e of list.getEntries()) shift += e.value; }).observe({type: 'layout-shift', buffered: true})`,
    );
    await page.goto('/projects/docs');
    await page.getByRole('heading', {name: 'docs.example.com'}).waitFor();
    await page.waitForTimeout(500);
    expect(await page.evaluate('shift')).toBeLessThan(0.05);
  });

  test('loads less than 100 KB of script for the first view, compressed', async () => {
    const {page} = await world.visitor();
    const scripts: Promise<number>[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('.js'))
        scripts.push(
          response
            .request()
            .sizes()
            .then((s) => s.responseBodySize),
        );
    });
    await followLink(page, await world.link('acme', {project: 'docs'}));
    await page.getByRole('heading', {name: 'docs.example.com'}).waitFor();
    const bytes = (await Promise.all(scripts)).reduce((a, b) => a + b, 0);
    console.log(`scripts of the first view: ${(bytes / 1024).toFixed(1)} KB`);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(100 << 10);
  });
});
