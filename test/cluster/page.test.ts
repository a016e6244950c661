/** The page as its users have it: in Chromium, through the edge with TLS, on the whole cluster, with the operator and a real DNS behind it. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import type {Browser, Page} from 'playwright-core';
import {acmeRoot, env, eventually, fetchEdge, patienceMs} from '../../cluster/cluster.ts';
import {makeLink} from '../../cluster/demo-api.ts';
import {launch} from '../support/page-world.ts';
import {Tenant} from '../support/tenant.ts';
import {turn} from '../support/turn.ts';

let tenant: Tenant;
let browser: Browser;
let shown: Page | undefined;
let passed = false;
let endTurn: (() => void) | undefined;
beforeAll(async () => {
  // Every name leads to the edge, whose certificates are of an ACME CA that no browser knows.
  [tenant, browser] = await Promise.all([
    Tenant.create('page'),
    launch([`--host-resolver-rules=MAP * ${env().edgeHttps}`]),
  ]);
  // Another file kills the API.
  endTurn = await turn();
});
afterAll(async () => {
  // What a failed test was looking at.
  if (!passed && shown) console.log(`the page shows:\n${await shown.locator('body').innerText()}`);
  endTurn?.();
  await browser?.close();
  await tenant?.remove();
});

const card = (page: Page, hostname: string) => page.locator(`[data-hostname="${hostname}"]`);
const phase = (page: Page, hostname: string, words: string): Promise<void> =>
  card(page, hostname).locator('.badge').getByText(words, {exact: true}).waitFor();
const add = async (page: Page, hostname: string): Promise<void> => {
  await page.getByLabel('Domain', {exact: true}).fill(hostname);
  await page.getByRole('button', {name: 'Add domain'}).click();
  await card(page, hostname).waitFor();
};

test('a domain is added, verified by its record, goes live, gets a redirect, changes places with it, and is removed, in one browser without a reload', async () => {
  const context = await browser.newContext({ignoreHTTPSErrors: true});
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  shown = page;
  const wrong: string[] = [];
  context.on('weberror', (error) => {
    wrong.push(String(error.error()));
    console.log(`in the page: ${error.error()}`);
  });
  const loads: string[] = [];
  page.on('load', () => {
    loads.push(page.url());
  });
  await page.goto(await makeLink(tenant.namespace, {project: 'web'}));
  // No page of the platform led to the link.
  await page.getByRole('button', {name: /^Sign in to /}).click();
  await page.getByRole('heading', {name: 'Domains'}).waitFor();
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({name: '__Host-doorplate', httpOnly: true, secure: true, sameSite: 'Lax', path: '/'});

  const [www, old] = [tenant.host('www'), tenant.host('old')];
  await add(page, www);
  await phase(page, www, 'Awaiting verification');
  await card(page, www).getByText('Nothing', {exact: true}).waitFor();
  expect(await card(page, www).locator('.form dd').allTextContents()).toContain(tenant.target);
  await tenant.records({www: tenant.proof, old: tenant.proof});
  await card(page, www)
    .getByRole('button', {name: `Verify ${www}`})
    .click();
  await phase(page, www, 'Live');
  const ca = await acmeRoot();
  expect((await fetchEdge(`https://${www}/`, {ca})).status).toBe(200);

  await add(page, old);
  await phase(page, old, 'Live');
  await card(page, old).getByText(`Redirects to ${www}`).waitFor();
  expect(await fetchEdge(`https://${old}/a?b`, {ca})).toMatchObject({status: 301, location: `https://${www}/a?b`});

  await card(page, old)
    .getByRole('button', {name: `Make main domain ${old}`})
    .click();
  await card(page, www).getByText(`Redirects to ${old}`).waitFor();
  await eventually(
    'they have changed places',
    async () => (await fetchEdge(`https://${www}/`, {ca})).location === `https://${old}/`,
  );

  for (const hostname of [www, old]) {
    await card(page, hostname)
      .getByRole('button', {name: `Remove ${hostname}`})
      .click();
    await page.getByRole('dialog').getByRole('button', {name: 'Remove'}).click();
    await card(page, hostname).waitFor({state: 'detached'});
    await eventually('its traffic has stopped', async () => (await fetchEdge(`https://${hostname}/`)).status === 404);
  }
  await page.getByText('No domain yet').waitFor();
  expect(loads).toHaveLength(1);
  expect(wrong).toEqual([]);
  passed = true;
});
