/** The page in English and German. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import type {Page} from 'playwright-core';
import {de, german} from '../../dashboard/src/texts/de.ts';
import {customerTexts} from '../../operator/domain/reasons/customer.ts';
import {english} from '../../operator/domain/reasons/texts/en.ts';
import {expectSeen} from '../support/page-checks.ts';
import {followLink, PageWorld} from '../support/page-world.ts';

let world: PageWorld;
beforeAll(async () => {
  world = await PageWorld.start();
  await world.api.tenant('acme', 'pro');
  await world.project('acme', 'docs');
  await world.api.domain('acme', 'docs', {primary: 'docs.example.com'});
  await world.say('acme', 'docs', [
    {hostname: 'docs.example.com', reason: 'DNSDrifted', phase: 'Live', servedUntil: '2026-11-29T06:00:00Z'},
  ]);
});
afterAll(async () => {
  await world?.stop();
});
afterAll(() => {
  expect(world.wrong).toEqual([]);
});

/** Names and compressed sizes of the scripts that the page loads from now on. */
function scriptsOf(page: Page): Promise<{name: string; bytes: number}>[] {
  const scripts: Promise<{name: string; bytes: number}>[] = [];
  page.on('response', (response) => {
    if (!response.url().endsWith('.js')) return;
    const name = new URL(response.url()).pathname;
    scripts.push(
      response
        .request()
        .sizes()
        .then((sizes) => ({name, bytes: sizes.responseBodySize})),
    );
  });
  return scripts;
}

const titleIn = (language = english): string =>
  customerTexts({hostname: 'docs.example.com', reason: 'DNSDrifted'}, {language}).title;

test('A browser in German shows German texts and local times, in less than 100 KB of scripts', async () => {
  const {page} = await world.visitor({locale: 'de-AT', timezoneId: 'Europe/Vienna'});
  const scripts = scriptsOf(page);
  await followLink(page, await world.link('acme', {project: 'docs'}));
  await expectSeen(page.getByRole('heading', {name: titleIn(german)}));
  expect(await page.evaluate('document.documentElement.lang')).toBe('de');
  await expectSeen(page.getByText('29.11.2026, 07:00', {exact: true}));
  const {body} = customerTexts(
    {hostname: 'docs.example.com', reason: 'DNSDrifted', servedUntil: '2026-11-29T06:00:00Z'},
    {language: german, timeZone: 'Europe/Vienna', locale: 'de-AT'},
  );
  expect(body).toContain('07:00');
  await expectSeen(page.getByText(body, {exact: true}));
  await expectSeen(page.getByRole('button', {name: `${de.add.add}`, exact: true}));
  const bytes = (await Promise.all(scripts)).reduce((sum, script) => sum + script.bytes, 0);
  console.log(`scripts of the first view in German: ${(bytes / 1024).toFixed(1)} KB`);
  expect(bytes).toBeLessThan(100 << 10);
});

test('A browser in another language shows English, and loads no other language', async () => {
  const {page} = await world.visitor({locale: 'fr-FR'});
  const scripts = scriptsOf(page);
  await followLink(page, await world.link('acme', {project: 'docs'}));
  await expectSeen(page.getByRole('heading', {name: titleIn()}));
  expect(await page.evaluate('document.documentElement.lang')).toBe('en');
  const names = (await Promise.all(scripts)).map(({name}) => name);
  expect(names.filter((name) => name.startsWith('/assets/de-'))).toEqual([]);
  expect(names.filter((name) => name.startsWith('/assets/en-'))).toHaveLength(1);
});

test('The switch in the header changes the language at once, keeps the focus, and is kept for the next visit', async () => {
  const {page} = await world.signedIn('acme', {project: 'docs'});
  await page.getByRole('heading', {name: 'Domains'}).waitFor();
  await page.getByLabel('Domain', {exact: true}).fill('next.example.com');
  await page.getByLabel('Language').focus();
  await page.getByLabel('Language').selectOption('Deutsch');
  await expectSeen(page.getByRole('heading', {name: titleIn(german)}));
  /** The language of the next request to a path. Earlier requests of the page may still be in English. */
  const languageOf = async (path: string, act: () => Promise<unknown>): Promise<string | undefined> => {
    const [request] = await Promise.all([page.waitForRequest(`**${path}`), act()]);
    return request.headers()['accept-language'];
  };
  expect(await page.evaluate('document.activeElement.className')).toBe('language');
  // The input stays.
  expect(await page.getByLabel(de.add.domain, {exact: true}).inputValue()).toBe('next.example.com');
  const add = page.getByRole('button', {name: de.add.add, exact: true});
  expect(await languageOf('/v1/projects/docs/domains', () => add.click())).toBe('de');
  await expectSeen(page.getByRole('heading', {name: 'next.example.com'}));
  expect(await languageOf('/v1/projects/docs/domains', () => page.goto('/projects/docs'))).toBe('de');
  await expectSeen(page.getByRole('heading', {name: titleIn(german)}));
});
