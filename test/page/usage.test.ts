/** The requests of each key on the page "Plan and usage". */
import {readFile} from 'node:fs/promises';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {expectAccessible} from '../support/page-checks.ts';
import {PageWorld} from '../support/page-world.ts';

const scopes = ['domains:read', 'usage:read'];
let world: PageWorld;
beforeAll(async () => {
  world = await PageWorld.start();
  await world.api.tenant('acme');
});
afterAll(async () => {
  await world?.stop();
});
afterAll(() => {
  expect(world.wrong).toEqual([]);
});

test('A customer sees how many requests each key made, and downloads them by day and scope', async () => {
  const backend = await world.api.key('acme', 'backend', {scopes: [...scopes, 'keys:write']});
  const ci = await world.api.key('acme', 'ci', {scopes: ['domains:read']});
  for (let i = 0; i < 3; i++) await world.api.ask('/v1/projects', {key: ci});
  const link = async (granted: readonly string[]) =>
    (await world.api.ask('/v1/sessions', {key: backend, method: 'POST', body: {scopes: granted}})).body.url as string;

  const {page} = await world.visitor();
  await page.goto(await link(scopes));
  await page.getByRole('button', {name: 'Sign in'}).click();
  await page.getByRole('link', {name: 'Plan and usage'}).click();
  const table = page.getByRole('region', {name: 'Requests by key'});
  await table.getByRole('row', {name: /^ci /}).waitFor();
  // Making a key sends one request for the account by it.
  expect(await table.getByRole('row').allTextContents()).toEqual(['KeyTodayTotal', 'ci44', 'backend22']);
  await expectAccessible(page, 'usage-of-keys');

  const file = page.waitForEvent('download');
  await page.getByRole('link', {name: 'Download by day and permission (CSV)'}).click();
  const download = await file;
  expect(download.suggestedFilename()).toMatch(/^usage-acme-\d{4}-\d\d-\d\d-\d{4}-\d\d-\d\d\.csv$/);
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
  expect(lines[0]).toBe('day,key,scope,requests');
  expect(lines.slice(1).map((line) => line.replace(/^[\d-]{10},/, ''))).toEqual([
    'backend,any,1',
    'backend,keys:write,1',
    'ci,any,1',
    'ci,domains:read,3',
  ]);
});

test('A session without the scope usage:read shows the plan alone', async () => {
  const {page} = await world.signedIn('acme', {scopes: ['domains:read']});
  await page.getByRole('link', {name: 'Plan and usage'}).click();
  await page.getByRole('heading', {name: 'Requests to the API'}).waitFor();
  expect(await page.getByRole('heading', {name: 'Requests by key'}).count()).toBe(0);
});
