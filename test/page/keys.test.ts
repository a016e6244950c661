/** API keys on the page: made, shown once, rotated, revoked. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import type {Page} from 'playwright-core';
import {apiKeys} from '../../operator/resources/resources.ts';
import {eventually, patienceMs} from '../../cluster/cluster.ts';
import {expectAccessible, expectSeen} from '../support/page-checks.ts';
import {PageWorld} from '../support/page-world.ts';

let world: PageWorld;
beforeAll(async () => {
  world = await PageWorld.start();
  await world.api.tenant('acme', 'pro');
});
afterAll(async () => {
  await world?.stop();
});
afterAll(() => {
  expect(world.wrong).toEqual([]);
});

const works = async (key: string): Promise<boolean> => (await world.api.ask('/v1/account', {key})).status === 200;

/** The key that the dialog shows, which is then put away. */
async function shown(page: Page, name: string): Promise<string> {
  const dialog = page.getByRole('dialog', {name: `The key ${name}`});
  const key = (await dialog.locator('.token code').textContent())!;
  await dialog.getByRole('button', {name: 'Done'}).click();
  await dialog.waitFor({state: 'detached'});
  expect(await page.content()).not.toContain(key);
  return key;
}

test('A key is created, shown once, rotated and revoked; a change of one that Git owns is refused with a message', async () => {
  const {page} = await world.signedIn('acme', {scopes: ['domains:read', 'domains:write', 'keys:write']});
  await page.getByRole('link', {name: 'API keys'}).click();
  await page.getByRole('heading', {name: 'backend'}).waitFor();
  await page.getByLabel('Name').fill('ci');
  await page.getByLabel('domains:write').check();
  await page.getByRole('button', {name: 'Create key'}).click();
  await page.getByText('It is shown only once.').waitFor();
  await expectAccessible(page, 'key-shown', {folded: true});
  const first = await shown(page, 'ci');
  expect(await works(first)).toBe(true);
  expect((await world.api.client.get(apiKeys, 'acme/ci'))?.spec).toMatchObject({
    scopes: ['domains:read', 'domains:write'],
    expireTime: expect.stringMatching(/^20/),
  });

  await page.getByRole('button', {name: 'Replace ci'}).click();
  await page.getByLabel('The old value works').selectOption('0');
  await expectAccessible(page, 'key-rotate', {folded: true});
  await page.getByRole('dialog').getByRole('button', {name: 'Replace'}).click();
  await page.getByRole('dialog', {name: 'The key ci'}).waitFor();
  const second = await shown(page, 'ci');
  await eventually('the one of before is refused', async () => !(await works(first)), patienceMs, 50);
  expect(await works(second)).toBe(true);

  await page.getByRole('button', {name: 'Revoke ci'}).click();
  await page.getByRole('dialog').getByRole('button', {name: 'Revoke'}).click();
  await page.getByRole('heading', {name: 'ci', exact: true}).waitFor({state: 'detached'});
  expect(await works(second)).toBe(false);

  await world.api.client.applyPatch(
    apiKeys,
    {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'ApiKey',
      metadata: {namespace: 'acme', name: 'git'},
      spec: {hashes: [{sha256: 'a'.repeat(64)}], scopes: ['domains:read']},
    },
    {fieldManager: 'flux', force: true},
  );
  await page.getByRole('button', {name: 'Revoke git'}).click();
  await page.getByRole('dialog').getByRole('button', {name: 'Revoke'}).click();
  await page.getByRole('alert').getByText('This is managed in a configuration outside this page.').waitFor();
  await page.getByRole('dialog').getByRole('button', {name: 'Cancel'}).click();
  await expectAccessible(page, 'keys');
});

test('A key that was rotated is rotated again only after its page says that the previous token ends now', async () => {
  const first = await world.api.key('acme', 'twice', {scopes: ['domains:read']});
  const {page} = await world.signedIn('acme', {scopes: ['domains:read', 'keys:write']});
  await page.getByRole('link', {name: 'API keys'}).click();
  const rotate = async (says: boolean): Promise<string> => {
    await page.getByRole('button', {name: 'Replace twice'}).click();
    const dialog = page.getByRole('dialog', {name: 'Replace twice?'});
    await dialog.getByText('The key gets a new value').waitFor();
    expect(await dialog.getByText('or until you replace the key again.').count()).toBe(says ? 1 : 0);
    if (says) await expectAccessible(page, 'key-rotate-again', {folded: true});
    await dialog.getByRole('button', {name: 'Replace'}).click();
    return shown(page, 'twice');
  };
  const second = await rotate(false);
  expect([await works(first), await works(second)]).toEqual([true, true]);
  const third = await rotate(true);
  await eventually('the first token is refused', async () => !(await works(first)), patienceMs, 50);
  expect([await works(second), await works(third)]).toEqual([true, true]);
});

test('A key that is there already is told as such, with the way to a new token', async () => {
  const {page} = await world.signedIn('acme', {scopes: ['domains:read', 'keys:write']});
  await page.getByRole('link', {name: 'API keys'}).click();
  const make = async (): Promise<void> => {
    await page.getByLabel('Name').fill('same');
    await page.getByLabel('Expires').selectOption('Never');
    await page.getByRole('button', {name: 'Create key'}).click();
  };
  await make();
  await shown(page, 'same');
  await make();
  await expectSeen(page.getByText('You already have the key same. Replace it to get a new one.'));
  await expectAccessible(page, 'key-there-already');
});

test('The new token of the key that one is signed in by stays shown when the session ends with the old one', async () => {
  const {page} = await world.visitor();
  await page.goto('/keys');
  await page.getByLabel('API key').fill(await world.api.key('acme', 'own', {scopes: ['keys:write']}));
  await page.getByRole('button', {name: 'Sign in'}).click();
  await page.getByRole('button', {name: 'Replace own'}).click();
  await page.getByLabel('The old value works').selectOption('0');
  await page.getByRole('dialog').getByRole('button', {name: 'Replace'}).click();
  await page.getByText('The API key behind your session was revoked or replaced.').waitFor();
  await expectSeen(page.getByRole('dialog', {name: 'The key own'}));
  await expectAccessible(page, 'key-shown-after-the-session', {folded: true});
  const token = await shown(page, 'own');
  expect(await works(token)).toBe(true);
  await page.getByLabel('API key').fill(token);
  await page.getByRole('button', {name: 'Sign in'}).click();
  await page.getByRole('button', {name: 'Replace own'}).waitFor();
});

test('Who may make keys and read no domains begins at the keys, which are kept up to date', async () => {
  const {page} = await world.signedIn('acme', {scopes: ['keys:write'], project: 'docs'});
  await expectSeen(page.getByRole('heading', {name: 'API keys'}));
  expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual([
    'API keys',
    'Plan and usage',
  ]);
  await page.getByRole('heading', {name: 'backend'}).waitFor();
  await world.api.key('acme', 'elsewhere');
  await expectSeen(page.getByRole('heading', {name: 'elsewhere'}));
  expect(await page.locator('.connection').textContent()).toBe('');
  expect(await page.getByRole('alert').count()).toBe(0);
  await page.goto('/');
  await page.getByRole('heading', {name: 'API keys'}).waitFor();
});
