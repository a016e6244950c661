/** When both quotas (page and plan) are exhausted, the page reports it and resumes without a reload. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import type {Page} from 'playwright-core';
import {withFreshMinuteOfPage} from '../support/fresh-minute.ts';
import {expectAccessible} from '../support/page-checks.ts';
import {PageWorld} from '../support/page-world.ts';

let world: PageWorld;
beforeAll(async () => {
  world = await PageWorld.start();
});
afterAll(async () => {
  await world?.stop();
});
afterAll(() => {
  expect(world.wrong).toEqual([]);
});

const ask = "fetch('/v1/account').then(({status}) => status)";

/** Asks until the page's requests of this minute are used up, and looks; again where the minute ended between the two. */
async function untilRefused(page: Page, look: (attempt: number) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const fifty = `Promise.all(Array.from({length: 50}, () => ${ask}))`;
    await page.evaluate(`(async () => { while (!(await ${fifty}).includes(429)); })()`);
    try {
      return await look(attempt);
    } catch (error) {
      if (attempt === 5 || (await page.evaluate(ask)) === 429) throw error;
    }
  }
}

test('The page that has used up its own requests of a minute says so at each action, warns that it may be out of date, and goes on without a reload in the next minute', async () => {
  const namespace = withFreshMinuteOfPage('busy');
  // Beyond the page's own requests the plan pays, which has none.
  await world.api.tenant(namespace, 'pro', {requestsPerMinute: 1, requestsPerDay: 1});
  await world.project(namespace, 'docs');
  await world.api.domain(namespace, 'docs', {primary: 'docs.example.com'});
  await world.say(namespace, 'docs', [{hostname: 'docs.example.com', state: 'Wrong', observed: ['as it was']}]);
  const {context, page} = await world.signedIn(namespace, {project: 'docs'});
  await page.getByText('as it was').waitFor();
  const said = page.locator('.connection');
  await untilRefused(page, async (attempt) => {
    await page.getByRole('button', {name: 'Verify docs.example.com'}).click();
    await page
      .getByRole('alert')
      .getByText(/^Too many requests\. Try again in \d+ seconds?\.$/)
      .waitFor({timeout: 15_000});
    await world.say(namespace, 'docs', [
      {hostname: 'docs.example.com', state: 'Wrong', observed: [`as it is ${attempt}`]},
    ]);
    await said
      .locator('p')
      .waitFor({timeout: 15_000})
      .catch(() => {});
    expect(await said.textContent()).toBe(
      'Too many requests this minute. This page may show old data until the next minute.',
    );
  });
  await expectAccessible(page, 'over-the-page-quota', {folded: true});

  const opened = await context.newPage();
  await untilRefused(page, async () => {
    await opened.goto('/projects/docs');
    await opened
      .getByRole('alert')
      .getByText(/Try again in \d+ seconds?\. This page tries again automatically\.$/)
      .waitFor({timeout: 15_000});
  });
  await expectAccessible(opened, 'opened-over-the-page-quota');

  // The next minute: it comes within one, however long others wait for what they look for.
  for (const each of [page, opened]) await each.getByText('as it is').waitFor({timeout: 120_000});
  await page.getByText('Too many requests this minute.').waitFor({state: 'detached'});
  await page.getByRole('alert').waitFor({state: 'detached'});
  await page.getByRole('button', {name: 'Remove docs.example.com'}).click();
  await page.getByRole('dialog').getByRole('button', {name: 'Remove'}).click();
  for (const each of [page, opened]) await each.getByText('No domain yet').waitFor();
});
