/** The whole way with nothing but a keyboard. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import type {Page} from 'playwright-core';
import {eventually, patienceMs} from '../../cluster/cluster.ts';
import {customerTexts} from '../../operator/domain/reasons/customer.ts';
import {english} from '../../operator/domain/reasons/texts/en.ts';
import {expectSeen} from '../support/page-checks.ts';
import {PageWorld} from '../support/page-world.ts';

let world: PageWorld;
beforeAll(async () => {
  world = await PageWorld.start();
  await world.api.tenant('acme', 'pro');
  await world.project('acme', 'docs');
});
afterAll(async () => {
  await world?.stop();
});
afterAll(() => {
  expect(world.wrong).toEqual([]);
});

const focused = (page: Page): Promise<string> =>
  page.evaluate(
    '(e => e === document.body ? "" : (e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.textContent).replace(/\\s+/g, " ").trim())(document.activeElement)',
  );

/** Presses Tab until what is so called has the focus, which must be seen. */
async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = [];
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press('Tab');
    const at = await focused(page);
    passed.push(at);
    if (at === name) break;
  }
  expect(passed).toContain(name);
  expect([name, await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')]).toEqual([name, 'solid']);
}

test('A person without a mouse signs in, opens a project, adds a domain, verifies it, and removes it', async () => {
  const key = await world.key('acme');
  const {page} = await world.visitor();
  await page.goto('/');
  await page.getByRole('heading', {name: 'Sign in'}).waitFor();
  await tabTo(page, 'Skip to content');
  await tabTo(page, 'API key');
  await page.keyboard.type(key);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', {name: 'Projects'}).waitFor();
  await tabTo(page, 'docs');
  await page.keyboard.press('Enter');
  const heading = page.getByRole('heading', {name: 'Domains'});
  await heading.waitFor();
  // Who listens hears where they have come to.
  await eventually('the heading has the focus', async () => (await focused(page)) === 'Domains', patienceMs, 50);
  await tabTo(page, 'Domain');
  await page.keyboard.type('docs.example.com');
  await page.keyboard.press('Enter');
  await eventually('it is written', () => world.read('acme', 'docs'));
  await world.say('acme', 'docs', [{hostname: 'docs.example.com'}]);
  await page.getByRole('heading', {name: 'DNS record is missing'}).waitFor();
  await tabTo(page, 'Copy Name of the CNAME record of docs.example.com');
  await tabTo(page, 'Copy Value of the CNAME record of docs.example.com');
  await tabTo(page, 'Verify docs.example.com');
  await page.keyboard.press('Space');
  await eventually(
    'it is asked for',
    async () => (await world.read('acme', 'docs'))?.metadata.annotations?.['doorplate.dev/requestedAt'] !== undefined,
  );
  await world.say('acme', 'docs', [{hostname: 'docs.example.com'}]);
  await page.getByRole('button', {name: 'Verify docs.example.com'}).waitFor();

  await tabTo(page, 'Remove docs.example.com');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  // What cannot be taken back is not what Enter does.
  await eventually('the way back has the focus', async () => (await focused(page)) === 'Cancel', patienceMs, 50);
  await page.keyboard.press('Escape');
  await dialog.waitFor({state: 'detached'});
  await eventually(
    'the focus is where it was',
    async () => (await focused(page)) === 'Remove docs.example.com',
    patienceMs,
    50,
  );
  await page.keyboard.press('Enter');
  await dialog.waitFor();
  const inside = new Set<string>();
  for (let i = 0; i < 6; i++) {
    await page.keyboard.press('Tab');
    inside.add(await focused(page));
  }
  inside.delete('');
  expect([...inside].toSorted()).toEqual(['Cancel', 'Remove']);
  await tabTo(page, 'Remove');
  await page.keyboard.press('Enter');
  await page.getByText('No domain yet').waitFor();
  expect(await focused(page)).not.toBe('');
});

test('A person who does not see the page is told what has become of each action, and keeps their place', async () => {
  await world.project('acme', 'heard');
  await world.api.domain('acme', 'heard', {primary: 'heard.example.com'});
  await world.say('acme', 'heard', [{hostname: 'heard.example.com'}]);
  const {page} = await world.signedIn('acme', {project: 'heard'});
  const expectTold = (what: string) => expectSeen(page.getByRole('status').getByText(what, {exact: true}));
  const expectFocus = async (name: string): Promise<void> => {
    await eventually('the focus is there', async () => (await focused(page)) === name, patienceMs / 6, 50).catch(
      () => {},
    );
    expect(await focused(page)).toBe(name);
  };
  await page.getByRole('heading', {name: 'heard.example.com'}).waitFor();
  await tabTo(page, 'Domain');
  await page.keyboard.type('next.example.com');
  await tabTo(page, 'Add domain');
  await page.keyboard.press('Space');
  await expectTold('next.example.com was added.');
  await expectFocus('Add domain');
  await world.say('acme', 'heard', [{hostname: 'heard.example.com'}, {hostname: 'next.example.com'}]);

  const requested = async () =>
    (await world.read('acme', 'heard'))?.metadata.annotations?.['doorplate.dev/requestedAt'];
  for (const reason of ['RecordMissing', 'RecordMissing', 'TargetMismatch']) {
    const before = await requested();
    await tabTo(page, 'Verify next.example.com');
    await page.keyboard.press('Space');
    await expectFocus('Checking … next.example.com');
    // An operator answers what it has read.
    await eventually('the check is asked for', async () => (await requested()) !== before);
    await world.say('acme', 'heard', [{hostname: 'heard.example.com'}, {hostname: 'next.example.com', reason}]);
    const {body} = customerTexts({hostname: 'next.example.com', reason}, {language: english});
    await expectTold(`next.example.com: Awaiting verification. ${body}`);
    await expectFocus('Verify next.example.com');
    await page.keyboard.press('Shift+Tab');
  }

  await tabTo(page, 'Make main domain next.example.com');
  await page.keyboard.press('Space');
  await eventually(
    'it is written',
    async () => (await world.read('acme', 'heard'))?.spec.primary === 'next.example.com',
  );
  await world.say('acme', 'heard', [{hostname: 'next.example.com'}, {hostname: 'heard.example.com'}]);
  await expectTold('next.example.com is the main domain.');
  await page.getByRole('button', {name: 'Make main domain heard.example.com'}).waitFor();
  await expectFocus('next.example.com');
});
