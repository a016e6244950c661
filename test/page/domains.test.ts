/** Project > Settings > Domains, in Chromium: what a customer sees and does. What the operator would say, the test writes into the status. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type {Page} from 'playwright-core';
import type {ZoneStatus} from '../../operator/api/custom-domain.ts';
import {recordsFor} from '../../operator/domain/verification/methods.ts';
import {contactSupport} from '../../operator/domain/reasons/texts/en/shared.ts';
import {sayRecords} from '../../operator/domain/verification/records.ts';
import {eventually, patienceMs} from '../../cluster/cluster.ts';
import {PageWorld} from '../support/page-world.ts';
import type {Said} from '../support/page-world.ts';
import {expectAccessible, expectSeen} from '../support/page-checks.ts';

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

/** A project of its own, opened by whoever may change it. */
async function open(name: string, options: {scopes?: string[]; namespace?: string} = {}): Promise<Page> {
  const {namespace = 'acme', scopes = ['domains:read', 'domains:write']} = options;
  await world.project(namespace, name);
  const {page} = await world.signedIn(namespace, {project: name, scopes});
  await page.getByRole('heading', {name: 'Domains'}).waitFor();
  return page;
}
/** An apex without records yet, as the operator says it. */
function atApex(hostname: string, zone: Omit<ZoneStatus, 'name'>): Said {
  const place = {apex: true, zone: {name: hostname, ...zone}};
  const records = recordsFor(
    {hostname, target: 'apex-acme-k3v9x2m4q7w1z.apps.platform.test', token: '5f0c8a9be1d24c77k3v9x2m4q7'},
    place,
    {edgeAddresses: ['192.0.2.1', '2001:db8::1']},
  );
  return {
    hostname,
    zone: place.zone,
    message: `${hostname} has no address. Create ${sayRecords(records, place)}.`,
    records: records.map(({type, name, value, note}) => ({type, name, value, note})),
  };
}
const card = (page: Page, hostname: string) => page.locator(`[data-hostname="${hostname}"]`);
const typed = (page: Page) => page.getByLabel('Domain', {exact: true});
const live = {
  phase: 'Live',
  reason: 'Serving',
  message: 'It is served with its own certificate.',
  waitingFor: 'Nobody',
  state: 'Found',
  verifiedAt: '2026-11-22T06:03:12Z',
  verifiedBy: 'CNAME',
  liveAt: '2026-11-22T06:03:57Z',
} as const;

describe('A domain', () => {
  test('is added, awaits its record, is verified, goes live, gets a redirect, changes places with it, and is removed, without a reload', async () => {
    const page = await open('docs');
    await page.getByText('No domain yet').waitFor();
    await expectAccessible(page, 'empty');
    await typed(page).fill('docs.example.com');
    await page.getByText('docs.example.com can be added. It becomes the main domain.').waitFor();
    await page.getByRole('button', {name: 'Add domain'}).click();
    await eventually('it is written', () => world.read('acme', 'docs'));
    await world.say('acme', 'docs', [{hostname: 'docs.example.com'}]);
    const docs = card(page, 'docs.example.com');
    await docs.getByText('Awaiting verification').waitFor();
    await docs.getByRole('heading', {name: 'DNS record is missing'}).waitFor();
    expect(await docs.locator('.form dt').allTextContents()).toEqual(['Type', 'Name', 'Value', 'TTL', 'Found now']);
    expect(await docs.locator('.form dd').allTextContents()).toEqual([
      'CNAME',
      'docs',
      'docs-acme-k3v9x2m4q7w1z.apps.platform.test',
      '3600',
      'Nothing',
    ]);
    expect(await docs.locator('.steps dt').allTextContents()).toEqual(['Next step', 'How long it takes']);
    await docs.getByText('Waiting for you').waitFor();
    await expectAccessible(page, 'awaiting');

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await docs.getByRole('button', {name: 'Copy Value of the CNAME record of docs.example.com'}).click();
    await docs.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('docs-acme-k3v9x2m4q7w1z.apps.platform.test');

    await docs.getByRole('button', {name: 'Copy instructions docs.example.com'}).click();
    await docs.getByText('Instructions copied').waitFor();
    const instructions = (await page.evaluate('navigator.clipboard.readText()')) as string;
    expect(instructions).toMatch(/^Connect the domain docs\.example\.com\n/);
    expect(instructions).toContain('Value: docs-acme-k3v9x2m4q7w1z.apps.platform.test');
    const link = await docs.getByRole('link', {name: 'Send these instructions docs.example.com'}).getAttribute('href');
    const mail = new URL(link!);
    expect([mail.protocol, mail.pathname, mail.searchParams.get('subject')]).toEqual([
      'mailto:',
      '',
      'Connect the domain docs.example.com',
    ]);
    expect(mail.searchParams.get('body')?.replaceAll('\r\n', '\n')).toBe(instructions);

    await docs.getByRole('button', {name: 'Verify docs.example.com'}).click();
    await docs.getByText('Checking …').waitFor();
    await eventually(
      'it is asked for',
      async () => (await world.read('acme', 'docs'))?.metadata.annotations?.['doorplate.dev/requestedAt'] !== undefined,
    );
    await world.say('acme', 'docs', [
      {
        hostname: 'docs.example.com',
        phase: 'Verified',
        reason: 'Issuing',
        message: 'The certificate is being issued.',
        waitingFor: 'CertificateAuthority',
        state: 'Found',
        verifiedAt: live.verifiedAt,
        verifiedBy: live.verifiedBy,
      },
    ]);
    await docs.getByRole('button', {name: 'Re-verify docs.example.com'}).waitFor();
    await docs.getByText('Waiting for the certificate authority (CA)').waitFor();
    await expectAccessible(page, 'verified');
    await world.say('acme', 'docs', [{hostname: 'docs.example.com', ...live}]);
    await docs.getByRole('link', {name: 'docs.example.com'}).waitFor();
    expect(
      await docs.getByRole('list', {name: 'History of docs.example.com'}).getByRole('listitem').allTextContents(),
    ).toEqual([
      'Added22 Nov 2026, 06:00',
      'Verified06:03after 3 mins 12 secswith its CNAME record',
      'Live06:03after 45 secs',
    ]);
    expect(await docs.getByRole('link', {name: 'docs.example.com'}).getAttribute('href')).toBe(
      'https://docs.example.com',
    );

    await typed(page).fill('old.example.com');
    await page.getByLabel('Redirect to the main domain').selectOption('308');
    await page.getByRole('button', {name: 'Add domain'}).click();
    await eventually(
      'it is written',
      async () => (await world.read('acme', 'docs'))?.spec.redirects?.[0]?.status === 308,
    );
    const redirecting = {
      hostname: 'old.example.com',
      ...live,
      reason: 'Redirecting',
      message: 'It redirects to docs.example.com.',
      redirect: {to: 'docs.example.com', status: 308},
    } as const;
    await world.say('acme', 'docs', [{hostname: 'docs.example.com', ...live}, redirecting]);
    await card(page, 'old.example.com').getByText('Redirects to docs.example.com').waitFor();
    await expectAccessible(page, 'live');

    await card(page, 'old.example.com').getByRole('button', {name: 'Make main domain old.example.com'}).click();
    await eventually(
      'they have changed places',
      async () => (await world.read('acme', 'docs'))?.spec.primary === 'old.example.com',
    );
    await world.say('acme', 'docs', [
      {hostname: 'old.example.com', ...live},
      {...redirecting, hostname: 'docs.example.com', redirect: {to: 'old.example.com', status: 308}},
    ]);
    await docs.getByText('Redirects to old.example.com').waitFor();

    await docs.getByRole('button', {name: 'Remove docs.example.com'}).click();
    const dialog = page.getByRole('dialog', {name: 'Remove docs.example.com?'});
    await dialog.getByText('Visitors who open docs.example.com get an error as soon as you remove it.').waitFor();
    // The records that the customer deletes afterwards.
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual([
      'CNAME docs → docs-acme-k3v9x2m4q7w1z.apps.platform.test',
    ]);
    await expectAccessible(page, 'remove', {folded: true});
    await dialog.getByRole('button', {name: 'Remove'}).click();
    await eventually(
      'it is written',
      async () => ((await world.read('acme', 'docs'))?.spec.redirects ?? []).length === 0,
    );
    await world.say('acme', 'docs', [{hostname: 'old.example.com', ...live}]);
    await docs.waitFor({state: 'detached'});
    await card(page, 'old.example.com').getByRole('button', {name: 'Remove old.example.com'}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Remove'}).click();
    await page.getByText('No domain yet').waitFor();
    expect(await world.read('acme', 'docs')).toBeUndefined();
  });

  test('shows a message of its own in every other state, and each view passes the accessibility checks', async () => {
    const page = await open('phases');
    const names = [
      'example.org',
      'refused.example.org',
      'stalled.example.org',
      'drifted.example.org',
      'expired.example.org',
      'leaving.example.org',
    ];
    const [primary = '', ...rest] = names;
    await world.api.domain('acme', 'phases', {primary, redirects: rest.map((from) => ({from, status: 301 as const}))});
    await world.say('acme', 'phases', [
      {
        hostname: 'example.org',
        reason: 'TXTMissing',
        message:
          "example.org has the edge's addresses, which do not verify it. Create TXT _doorplate-challenge -> 5f0c8a9be1d24c77 (TTL 3600) in the zone example.org.",
        records: [
          {type: 'ALIAS', name: '@', state: 'Found'},
          {type: 'TXT', name: '_doorplate-challenge', value: '5f0c8a9be1d24c77', state: 'Missing'},
        ],
      },
      {
        hostname: 'refused.example.org',
        phase: 'NotAccepted',
        reason: 'HostnameLimitReached',
        message: 'The plan allows 5 hostnames a project. Remove one, or upgrade.',
        records: [],
      },
      {
        hostname: 'stalled.example.org',
        phase: 'Verified',
        reason: 'IssuanceStalled',
        message: 'The certificate is absent 30 minutes after it was ordered.',
        waitingFor: 'Platform',
        state: 'Found',
        verifiedAt: live.verifiedAt,
        verifiedBy: live.verifiedBy,
      },
      {
        hostname: 'drifted.example.org',
        ...live,
        reason: 'DNSDrifted',
        message: 'drifted.example.org no longer names this project.',
        waitingFor: 'Customer',
        state: 'Wrong',
        observed: ['CNAME elsewhere.example.net'],
        servedUntil: '2026-11-29T06:00:00Z',
      },
      {
        hostname: 'expired.example.org',
        ...live,
        reason: 'CertificateExpired',
        message: 'The certificate expired at 2026-11-21T00:00:00Z.',
        waitingFor: 'Platform',
      },
      {
        hostname: 'leaving.example.org',
        ...live,
        phase: 'Removing',
        reason: 'Removing',
        message: 'It is being removed.',
      },
    ]);
    await card(page, 'leaving.example.org')
      .getByText('Visitors no longer reach your project at leaving.example.org.')
      .waitFor();
    expect(await page.locator('.badge').allTextContents()).toEqual([
      'Awaiting verification',
      'Not accepted',
      'Verified',
      'Live',
      'Live',
      'Removing',
    ]);
    await card(page, 'drifted.example.org').getByText('29 Nov 2026, 06:00', {exact: true}).waitFor();
    expect(await card(page, 'drifted.example.org').getByRole('list', {name: 'Found at drifted'}).textContent()).toBe(
      'CNAME elsewhere.example.net',
    );
    await card(page, 'example.org').getByText('Some providers call this type ANAME.').waitFor();
    expect(await card(page, 'leaving.example.org').getByRole('button').count()).toBe(0);
    await card(page, 'example.org').getByText('Confirmation record is missing').waitFor();
    const badges = await page.locator('.badge').all();
    expect(await Promise.all(badges.map((badge) => badge.getAttribute('data-tone')))).toEqual([
      'wait',
      'bad',
      'wait',
      'wait',
      'bad',
      'plain',
    ]);
    const shown = (hostname: string) => card(page, hostname).locator('.state > p, .steps dd').allTextContents();
    // The text about the state, the next step, and how long it takes.
    expect(await shown('expired.example.org')).toEqual([
      'The certificate of expired.example.org expired. Browsers show a warning to visitors.',
      'Contact support. You do not need to change anything.',
    ]);
    expect(await shown('leaving.example.org')).toEqual([
      'Visitors no longer reach your project at leaving.example.org.',
      contactSupport,
    ]);
    expect((await shown('example.org')).slice(1)).toEqual([
      'Create the records below at your DNS provider.',
      'Saved records are usually found within a few minutes.',
    ]);
    await expectAccessible(page, 'phases');
  });

  test('says before it is removed whether visitors get errors, whether it stays reserved, and which records to delete', async () => {
    const page = await open('leaving');
    const names = ['example.org', 'drifted.example.org', 'new.example.org'];
    const [primary = '', ...rest] = names;
    await world.api.domain('acme', 'leaving', {primary, redirects: rest.map((from) => ({from, status: 301 as const}))});
    const certificate = {name: 'one', notAfter: '2027-02-01T00:00:00Z'};
    await world.say('acme', 'leaving', [
      {hostname: 'example.org', ...live, certificate},
      {
        hostname: 'drifted.example.org',
        ...live,
        certificate,
        reason: 'DNSDrifted',
        message: 'drifted.example.org no longer names this project.',
        waitingFor: 'Customer',
        state: 'Wrong',
        servedUntil: '2026-11-29T06:00:00Z',
      },
      {hostname: 'new.example.org'},
    ]);
    await card(page, 'new.example.org').getByText('DNS record is missing').waitFor();
    const told: string[][] = [];
    for (const hostname of names) {
      await card(page, hostname)
        .getByRole('button', {name: `Remove ${hostname}`})
        .click();
      const dialog = page.getByRole('dialog', {name: `Remove ${hostname}?`});
      await dialog.waitFor();
      told.push(await dialog.getByRole('paragraph').allTextContents());
      if (hostname === 'new.example.org') await expectAccessible(page, 'remove-what-is-not-live', {folded: true});
      await dialog.getByRole('button', {name: 'Cancel'}).click();
      await dialog.waitFor({state: 'detached'});
    }
    const notKept = 'To add it again later, you must confirm it with DNS records again.';
    expect(told).toEqual([
      [
        'Visitors who open example.org get an error as soon as you remove it.',
        'We reserve the domain for your account for a while. You can add it again without a new check if its DNS records stay as they are.',
        'Afterwards, delete this DNS record at your DNS provider:',
      ],
      ['Visitors who open drifted.example.org get an error as soon as you remove it.', notKept],
      ['new.example.org is not live, so no visitors are affected.', notKept],
    ]);
  });

  test('without a subdomain shows its records in the words of its DNS provider, with a link to its help', async () => {
    const page = await open('without-www');
    const nameServers = ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'];
    const hosts = [
      atApex('example.net', {nameServers, provider: 'Cloudflare'}),
      atApex('example.com', {nameServers: ['ns51.domaincontrol.com', 'ns52.domaincontrol.com'], provider: 'GoDaddy'}),
      atApex('example.org', {nameServers: ['ns1.example.org', 'ns2.example.org', 'ns3.example.org']}),
      {hostname: 'www.example.net', zone: {name: 'example.net', nameServers, provider: 'Cloudflare'}},
    ];
    await world.api.domain('acme', 'without-www', {
      primary: 'example.net',
      redirects: hosts.slice(1).map(({hostname}) => ({from: hostname, status: 301 as const})),
    });
    await world.say('acme', 'without-www', hosts);
    const needed = (hostname: string) => card(page, hostname).locator('.records > p');
    await needed('www.example.net')
      .getByText('Create this record in the DNS settings of example.net, at Cloudflare.')
      .waitFor();
    expect(await needed('example.net').allTextContents()).toEqual([
      'Create these records in the DNS settings of example.net, at Cloudflare.',
      'How to add records at Cloudflare',
    ]);
    expect(
      await card(page, 'example.net').getByRole('link', {name: 'How to add records'}).getAttribute('href'),
    ).toMatch(/^https:\/\/developers\.cloudflare\.com\/dns\//);
    expect(await needed('example.org').allTextContents()).toEqual([
      'Create these records in the DNS settings of example.org, at your DNS provider (name servers ns1.example.org, ns2.example.org and 1 more).',
    ]);
    const types = (hostname: string) => card(page, hostname).locator('[data-field="type"] dd').allTextContents();
    expect(await types('example.net')).toEqual(['CNAME', 'TXT']);
    expect(await types('example.com')).toEqual(['A', 'AAAA', 'TXT']);
    expect(await types('example.org')).toEqual(['ALIAS', 'TXT']);
    const notes = (hostname: string) => card(page, hostname).locator('.form small').allTextContents();
    expect(await notes('example.net')).toEqual(['Cloudflare accepts this type here.']);
    expect(await notes('example.com')).toEqual(['GoDaddy has no type that leads to a name here, so use addresses.']);
    await expectAccessible(page, 'apex');
  });

  test('with the wrong DNS shows what is seen beside what is needed', async () => {
    const page = await open('wrong');
    await world.api.domain('acme', 'wrong', {primary: 'www.example.net'});
    await world.say('acme', 'wrong', [
      {
        hostname: 'www.example.net',
        reason: 'ConflictingRecord',
        state: 'Conflicting',
        observed: ['A 203.0.113.7', 'AAAA 2001:db8::7'],
      },
    ]);
    const host = card(page, 'www.example.net');
    await host.getByText('has other DNS records: A 203.0.113.7, AAAA 2001:db8::7.').waitFor();
    expect(await host.getByRole('list', {name: 'Found at www'}).getByRole('listitem').allTextContents()).toEqual([
      'A 203.0.113.7',
      'AAAA 2001:db8::7',
    ]);
    await expectAccessible(page, 'wrong-dns');
  });

  test.each([
    ['192.0.2.1', 'not an IP address'],
    ['https://docs.example.com', 'Leave out https://'],
    ['docs', 'Enter a domain such as'],
    ['co.uk', 'Many people register their domains under this name. Enter your own domain.'],
    ['x.apps.platform.test', 'This name belongs to this platform. Enter your own domain.'],
    ['xn--a.example', 'This domain has characters that domains cannot have.'],
    ['ＬＯＣＡＬ.ＬＯＣＡＬ', 'This name is reserved and does not work on the internet.'],
  ])('that is not valid (%s) is refused while it is typed, with the rule that it breaks', async (hostname, words) => {
    const page = await shared('typing');
    await typed(page).fill(hostname);
    await page.locator('#hostname-said').getByText(words).waitFor();
    expect(await typed(page).getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByRole('button', {name: 'Add domain'}).isDisabled()).toBe(true);
    if (hostname === 'co.uk') await expectAccessible(page, 'refused-while-typing');
    expect(await world.read('acme', 'typing')).toBeUndefined();
  });

  test('with an emoji can be added, in the form that the page names', async () => {
    const page = await shared('typing');
    await typed(page).fill('💩.example');
    await expectSeen(
      page.locator('#hostname-said').getByText('💩.example can be added. Most browsers show it as xn--ls8h.example.'),
    );
    await typed(page).fill('👨‍👩‍👧.example');
    await expectSeen(
      page
        .locator('#hostname-said')
        .getByText('Domains cannot have an emoji that combines several emoji. Choose another domain.'),
    );
  });

  test('that will not be accepted yet is told with the reason before it is added', async () => {
    await world.api.project('acme', 'undeployed');
    const {page} = await world.signedIn('acme', {project: 'undeployed'});
    await typed(page).fill('early.example.com');
    await expectSeen(
      page.locator('#hostname-said').getByText('The project of this domain does not exist or has no address yet.'),
    );
    expect(await page.locator('#hostname-said').textContent()).not.toContain('can be added');
    await expectAccessible(page, 'not-accepted-yet');
  });

  test('that the project already has is refused before it is added', async () => {
    const page = await open('twice');
    await world.api.domain('acme', 'twice', {primary: 'twice.example.com'});
    await world.say('acme', 'twice', [{hostname: 'twice.example.com', ...live}]);
    await card(page, 'twice.example.com').waitFor();
    await typed(page).fill('TWICE.example.com');
    await page.locator('#hostname-said').getByText('Your project already has this domain.').waitFor();
    expect(await page.getByRole('button', {name: 'Add domain'}).isDisabled()).toBe(true);
  });

  test('that is typed while another is being added stays, and the outcome of the other is told', async () => {
    const page = await open('typist');
    const released = Promise.withResolvers<void>();
    await page.route('**/domains', async (route) => {
      await released.promise;
      await route.continue();
    });
    await typed(page).fill('first.example.com');
    await page.getByRole('button', {name: 'Add domain'}).click();
    await page.getByRole('button', {name: 'Adding …'}).waitFor();
    await typed(page).fill('second.example.com');
    released.resolve();
    await card(page, 'first.example.com').waitFor();
    await page.getByRole('button', {name: 'Add domain'}).waitFor();
    expect(await typed(page).inputValue()).toBe('second.example.com');
    await page.unrouteAll();

    const refused = Promise.withResolvers<void>();
    await page.route('**/domains', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await refused.promise;
      return route.fulfill({
        status: 409,
        contentType: 'application/problem+json',
        body: JSON.stringify({type: 'https://example.com/changed', detail: 'Somebody else has added it.'}),
      });
    });
    await page.getByRole('button', {name: 'Add domain'}).click();
    await page.getByRole('button', {name: 'Adding …'}).waitFor();
    await typed(page).fill('third.example.com');
    refused.resolve();
    await expectSeen(page.getByRole('alert').getByText('Somebody else has added it.'));
    expect(await typed(page).inputValue()).toBe('third.example.com');
    await typed(page).fill('fourth.example.com');
    await page.getByRole('alert').waitFor({state: 'detached'});
    await page.unrouteAll();
  });

  test('whose record the browser does not copy has the value selected, and is told so in words', async () => {
    const page = await open('framed');
    await world.api.domain('acme', 'framed', {primary: 'framed.example.com'});
    await world.say('acme', 'framed', [{hostname: 'framed.example.com'}]);
    // As in a frame that the platform's page has not let write there.
    await page.evaluate(
      "navigator.clipboard.writeText = () => Promise.reject(new DOMException('not allowed', 'NotAllowedError'))",
    );
    const host = card(page, 'framed.example.com');
    await host.getByRole('button', {name: 'Copy Value of the CNAME record of framed.example.com'}).click();
    const words = host.getByText('Not copied. The text is selected now. Copy it by hand.');
    await expectSeen(words);
    expect((await words.boundingBox())!.width).toBeGreaterThan(50);
    expect(await page.evaluate('getSelection().toString()')).toBe('framed-acme-k3v9x2m4q7w1z.apps.platform.test');
    await expectAccessible(page, 'not-copied');
  });

  test('with markup in its name, message or records shows the markup as text', async () => {
    const page = await open('markup');
    const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    await world.api.domain('acme', 'markup', {primary: 'markup.example.com'});
    await world.say('acme', 'markup', [
      {hostname: 'markup.example.com', message: evil, state: 'Wrong', observed: [`TXT "${evil}"`]},
    ]);
    await card(page, 'markup.example.com').getByText(`TXT "${evil}"`, {exact: true}).waitFor();
    expect(await card(page, 'markup.example.com').locator('img, script').count()).toBe(0);
    await typed(page).fill(evil);
    await page.locator('#hostname-said').getByText('Enter a domain such as').waitFor();
    expect(await page.title()).toBe('Domains · Example Cloud');
  });
});

const pages = new Map<string, Promise<Page>>();
/** One page for tests that change nothing. */
const shared = (name: string): Promise<Page> => {
  const page = pages.get(name) ?? open(name);
  pages.set(name, page);
  return page;
};

describe('The offered actions', () => {
  test('are Verify and a new certificate where Git owns the domains, and the page names no tool of the platform', async () => {
    const page = await open('git');
    await world.api.domain('acme', 'git', {primary: 'git.example.com'}, 'argocd-controller');
    await world.say('acme', 'git', [{hostname: 'git.example.com', ...live}]);
    await page.getByText('These domains are managed in a configuration outside this page.').waitFor();
    // What is said of it may come after it.
    await card(page, 'git.example.com').getByRole('button', {name: 'Re-verify git.example.com'}).waitFor();
    expect(await page.getByRole('main').getByRole('button').allTextContents()).toEqual([
      'Re-verify git.example.com',
      'Get a new certificate git.example.com',
    ]);
    expect(await typed(page).count()).toBe(0);
    await expectAccessible(page, 'managed-elsewhere');
  });

  test('include a new certificate, after a question that says what happens, and it is on its way until the edge presents it', async () => {
    const page = await open('leaked');
    await world.api.domain('acme', 'leaked', {primary: 'leaked.example.com'});
    await world.say('acme', 'leaked', [{hostname: 'leaked.example.com', ...live}]);
    const leaked = card(page, 'leaked.example.com');
    await leaked.getByRole('button', {name: 'Get a new certificate leaked.example.com'}).click();
    const dialog = page.getByRole('dialog', {name: 'Get new certificates?'});
    await dialog.getByText('Visitors notice nothing.').waitFor();
    await expectAccessible(page, 'reissue');
    await dialog.getByRole('button', {name: 'Get new certificates'}).click();
    await leaked.getByRole('button', {name: 'Getting new certificates … leaked.example.com'}).waitFor();
    const {metadata} = (await world.read('acme', 'leaked'))!;
    expect(metadata.annotations?.['doorplate.dev/reissueRequestedAt']).toMatch(/^\d{4}-/);
    await world.say('acme', 'leaked', [{hostname: 'leaked.example.com', ...live}]);
    await leaked.getByRole('button', {name: 'Get a new certificate leaked.example.com'}).waitFor();
  });

  test('are none without the scope', async () => {
    const page = await open('reader', {scopes: ['domains:read']});
    await page.getByText('You can view these domains, but you cannot change them.').waitFor();
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    expect(await page.getByRole('link', {name: 'API keys'}).count()).toBe(0);
  });

  test('are those that the plan allows, and the page says which plan allows more', async () => {
    await world.api.plan(
      'business',
      {requestsPerMinute: 1000, requestsPerDay: 100_000},
      {allowed: true, maxHostnamesPerProject: 50},
    );
    await world.api.tenant('small', 'free');
    const page = await open('docs', {namespace: 'small'});
    await page
      .getByText('The plan free does not include your own domains. The plan pro includes 10 domains for each project.')
      .waitFor();
    await expectAccessible(page, 'plan-without-domains');
    await world.api.tenant('small', 'gone');
    await expectSeen(page.getByText('The plan of your account cannot be found'));
    expect(await page.getByRole('note').allTextContents()).toEqual([
      'The plan of your account cannot be found. You cannot add domains until this is fixed. Contact support. Domains that already work stay connected.',
    ]);
    await expectAccessible(page, 'plan-not-found');
    await world.api.tenant('small', 'pro');
    await page.getByText('0 of 10 domains used (plan pro).').waitFor();
    const [primary = '', ...more] = Array.from({length: 10}, (_, i) => `n${i}.example.com`);
    await world.api.domain('small', 'docs', {primary, redirects: more.map((from) => ({from, status: 301 as const}))});
    await page
      .getByText(
        'All 10 domains that the plan pro allows for each project are used. The plan business includes 50 domains for each project.',
      )
      .waitFor();
  });

  test('still work when the plan’s requests are used up', async () => {
    await world.api.tenant('drained', 'pro', {requestsPerMinute: 2, requestsPerDay: 2});
    await world.project('drained', 'docs');
    await world.api.domain('drained', 'docs', {primary: 'drained.example.com'});
    await world.say('drained', 'docs', [{hostname: 'drained.example.com', ...live}]);
    const {page} = await world.signedIn('drained', {project: 'docs'});
    const key = await world.key('drained');
    await eventually(
      'the plan is used up',
      async () => (await world.api.ask('/v1/projects', {key})).status === 429,
      patienceMs,
      1,
    );
    await page.getByRole('link', {name: 'Plan and usage'}).click();
    await page.getByText('2 of 2').first().waitFor();
    await expectAccessible(page, 'usage-full');
    await page.goBack();
    await card(page, 'drained.example.com').getByRole('button', {name: 'Remove drained.example.com'}).click();
    await page.getByRole('dialog').getByRole('button', {name: 'Remove'}).click();
    await page.getByText('No domain yet').waitFor();
  });

  test('are refused on a domain that somebody else has changed meanwhile', async () => {
    const page = await open('raced');
    await world.api.domain('acme', 'raced', {
      primary: 'a.example.com',
      redirects: [{from: 'b.example.com', status: 301}],
    });
    await world.say('acme', 'raced', [
      {hostname: 'a.example.com', ...live},
      {hostname: 'b.example.com', ...live},
    ]);
    await card(page, 'b.example.com').getByRole('button', {name: 'Make main domain b.example.com'}).waitFor();
    // The answer to a question that it asked before is older than what stands.
    await page.route('**/make-primary', async (route) => {
      await world.api.domain('acme', 'raced', {
        primary: 'a.example.com',
        redirects: [{from: 'b.example.com', status: 302}],
      });
      await route.continue();
    });
    const answered = page.waitForResponse('**/make-primary');
    await card(page, 'b.example.com').getByRole('button', {name: 'Make main domain b.example.com'}).click();
    expect((await answered).status()).toBe(412);
    await card(page, 'b.example.com')
      .getByRole('alert')
      .getByText('Someone else changed this at the same time.')
      .waitFor();
    expect((await world.read('acme', 'raced'))?.spec.primary).toBe('a.example.com');
  });
});

test('For a project that does not exist the page says so, and links back to the projects', async () => {
  await world.api.project('acme', 'new');
  const {page} = await world.signedIn('acme');
  await page.goto('/projects/none');
  await page.getByText('This project does not exist').waitFor();
  await expectAccessible(page, 'no-project');
  await page.getByRole('main').getByRole('link', {name: 'Go to your projects'}).click();
  await page.getByRole('heading', {name: 'Projects'}).waitFor();
  await page.getByText('Not deployed').first().waitFor();
  await expectAccessible(page, 'projects');
});
