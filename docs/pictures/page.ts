/**
 * Draws the states of the Domains page as SVG files beside this file, from the page's own elements and styles in Chromium. Each file needs
 * no other file, and follows the light or dark theme of its reader. `--check DIR` also writes an image of each in both themes into DIR.
 *
 *   node docs/pictures/page.ts
 */
import {mkdirSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import type {Page} from 'playwright-core';
import type {ZoneStatus} from '../../operator/api/custom-domain.ts';
import {recordsFor} from '../../operator/domain/verification/methods.ts';
import {apiKeys} from '../../operator/resources/resources.ts';
import {PageWorld} from '../../test/support/page-world.ts';
import type {Said} from '../../test/support/page-world.ts';

const {values} = parseArgs({options: {check: {type: 'string'}}});
const folder = fileURLToPath(new URL('.', import.meta.url));
const width = 1000;
const mostBytes = 60 << 10;

const nameServers = ['ada.ns.cloudflare.com', 'bob.ns.cloudflare.com'];
const cloudflare = {name: 'example.com', nameServers, provider: 'Cloudflare'};
const live = {
  phase: 'Live',
  reason: 'Serving',
  waitingFor: 'Nobody',
  state: 'Found',
  verifiedAt: '2026-11-22T06:03:12Z',
  verifiedBy: 'CNAME',
  liveAt: '2026-11-22T06:03:57Z',
  certificate: {name: 'one', notAfter: '2027-02-20T06:03:00Z'},
} as const;

/** A domain without a subdomain, before its records exist. */
function apex(hostname: string, zone: Omit<ZoneStatus, 'name'>): Said {
  const place = {apex: true, zone: {name: hostname, ...zone}};
  const names = {hostname, target: 'shop-acme-k3v9x2m4q7w1z.apps.platform.test', token: '5f0c8a9be1d24c77k3v9x2m4q7'};
  const records = recordsFor(names, place, {edgeAddresses: ['192.0.2.1', '2001:db8::1']});
  return {hostname, zone: place.zone, records: records.map(({type, name, value, note}) => ({type, name, value, note}))};
}

/** By the name of the picture: a project, and the state of its domains. */
const states: Readonly<Record<string, {project: string; hosts: readonly Said[]}>> = {
  empty: {project: 'blog', hosts: []},
  waiting: {project: 'docs', hosts: [{hostname: 'docs.example.com', zone: cloudflare}]},
  'wrong-dns': {
    project: 'website',
    hosts: [
      {
        hostname: 'www.example.com',
        zone: cloudflare,
        reason: 'ConflictingRecord',
        state: 'Conflicting',
        observed: ['A 203.0.113.7'],
      },
    ],
  },
  apex: {
    project: 'shop',
    hosts: [apex('example.com', {nameServers: ['dns1.registrar-servers.com'], provider: 'Namecheap'})],
  },
  live: {
    project: 'help',
    hosts: [
      {hostname: 'help.example.com', ...live},
      {
        hostname: 'faq.example.com',
        ...live,
        reason: 'Redirecting',
        redirect: {to: 'help.example.com', status: 301},
      },
    ],
  },
};

/** Returns the document as SVG. It runs in the browser. */
const draw = `(({title, width}) => {
  const root = document.documentElement.cloneNode(true);
  const [live, copied] = [document, root].map((tree) => [...tree.querySelectorAll('input, select, option')]);
  for (const [i, element] of copied.entries()) {
    if (element.matches('input')) element.setAttribute('value', live[i].value);
    if (element.matches('input') && live[i].checked) element.setAttribute('checked', '');
    if (element.matches('option') && live[i].selected) element.setAttribute('selected', '');
  }
  const body = root.querySelector('body');
  for (const element of body.querySelectorAll('script, noscript, .skip, .hidden, .connection')) element.remove();
  const kept = /^(class|type|value|checked|selected|open|viewBox|d|placeholder|data-(tone|state|field|done)|aria-(current|disabled))$/;
  for (const element of body.querySelectorAll('*'))
    for (const {name, value} of [...element.attributes])
      if (!kept.test(name) && !(name === 'id' && value === 'root')) element.removeAttribute(name);
  for (const link of body.querySelectorAll('a')) link.setAttribute('href', '#');
  const used = (rule) => {
    if (/:(hover|focus|active)/.test(rule.selectorText)) return false;
    try {
      return document.querySelector(rule.selectorText.replaceAll(/::[a-z-]+/g, '')) !== null;
    } catch {
      return false;
    }
  };
  const isTheme = ({conditionText}) => conditionText.includes('prefers-color-scheme');
  const textOf = (rules) =>
    [...rules]
      .flatMap((rule) => {
        if (rule instanceof CSSStyleRule) return used(rule) ? [rule.cssText] : [];
        return rule instanceof CSSMediaRule && isTheme(rule) ? ['@media ' + rule.conditionText + '{' + textOf(rule.cssRules) + '}'] : [];
      })
      .join('\\n');
  const css = [...document.styleSheets].map((sheet) => textOf(sheet.cssRules)).join('\\n');
  const height = Math.ceil(document.querySelector('.foot').getBoundingClientRect().bottom + scrollY);
  const style = document.createElementNS('http://www.w3.org/2000/svg', 'style');
  // The text of a link in an image has no line by default.
  style.textContent = 'a{text-decoration:underline}\\n' + css + '\\n#root{min-height:' + height + 'px}svg>rect{fill:var(--bg)}';
  const serializer = new XMLSerializer();
  return '<svg xmlns="http://www.w3.org/2000/svg" width="' + width + '" height="' + height + '" viewBox="0 0 ' + width + ' ' + height +
    '" role="img" aria-label="' + title + '">' +
    serializer.serializeToString(style).replace(' xmlns="http://www.w3.org/2000/svg"', '') +
    '<rect width="100%" height="100%"/><foreignObject width="100%" height="100%">' + serializer.serializeToString(body).replaceAll('apps.platform.test', 'apps.example.net') +
    '</foreignObject></svg>\\n';
})`;

/** Opens a picture alone in a page, in both themes. Throws if it is not shown, or looks equal in both. */
async function check(page: Page, name: string, svg: string): Promise<void> {
  await page.goto('about:blank');
  await page.setContent(
    `<body style="margin:0"><img src="data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}"></body>`,
  );
  await page.waitForFunction('document.images[0].complete');
  if ((await page.evaluate('document.images[0].naturalWidth')) !== width) throw new Error(`${name} is not shown`);
  const [light, dark] = [await shown(page, name, 'light'), await shown(page, name, 'dark')];
  if (light.equals(dark)) throw new Error(`${name} has one theme`);
}

async function shown(page: Page, name: string, colorScheme: 'light' | 'dark'): Promise<Buffer> {
  await page.emulateMedia({colorScheme});
  const image = await page.screenshot({fullPage: true});
  if (values.check !== undefined) {
    mkdirSync(values.check, {recursive: true});
    writeFileSync(`${values.check}/page-${name}-${colorScheme}.png`, image);
  }
  return image;
}

const titles: Readonly<Record<string, string>> = {
  empty: 'The Domains page of a project without a domain',
  waiting: 'The Domains page with a domain that waits for its DNS record',
  'wrong-dns': 'The Domains page with a domain whose DNS leads elsewhere',
  apex: 'The Domains page with a domain without www',
  live: 'The Domains page with a live domain and a redirect',
  keys: 'The page API keys',
};

async function keepPicture(page: Page, viewer: Page, name: string): Promise<void> {
  const svg = (await page.evaluate(`${draw}(${JSON.stringify({title: titles[name], width})})`)) as string;
  if (svg.length > mostBytes) throw new Error(`page-${name}.svg has ${svg.length} bytes, more than ${mostBytes}`);
  await check(viewer, name, svg);
  writeFileSync(`${folder}page-${name}.svg`, svg);
  console.log(`docs/pictures/page-${name}.svg: ${svg.length} bytes`);
}

const world = await PageWorld.start({name: 'Example Cloud'});
try {
  await world.api.tenant('acme', 'pro');
  for (const {project, hosts} of Object.values(states)) {
    await world.project('acme', project);
    const [primary, ...others] = hosts;
    if (primary === undefined) continue;
    await world.api.domain('acme', project, {
      primary: primary.hostname,
      redirects: others.map(({hostname}) => ({from: hostname, status: 301 as const})),
    });
    await world.say('acme', project, hosts);
  }
  const options = {viewport: {width, height: 400}, locale: 'en-US'};
  const scopes = ['domains:read', 'domains:write', 'keys:write'];
  const {page} = await world.signedIn('acme', {scopes, subject: 'ann@example.com'}, options);
  const {page: viewer} = await world.visitor(options);
  for (const [name, {project}] of Object.entries(states)) {
    await page.goto(`/projects/${project}`);
    await page.locator('.card.empty, .card.host').first().waitFor();
    await page.locator('.quota').waitFor();
    await keepPicture(page, viewer, name);
  }
  for (const [name, granted] of [
    ['ci', ['domains:read', 'domains:write']],
    ['reports', ['domains:read', 'usage:read']],
  ] as const)
    await world.api.client.create(apiKeys, {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'ApiKey',
      metadata: {namespace: 'acme', name},
      spec: {
        hashes: [{sha256: name.padEnd(64, '0').replaceAll(/[^0-9a-f]/g, 'a')}],
        scopes: [...granted],
        expireTime: '2027-06-30T12:00:00Z',
      },
    });
  await page.goto('/keys');
  await page.getByRole('heading', {name: 'reports'}).waitFor();
  // The key that requested the sign-in link is not part of the example.
  await page.evaluate("document.querySelector('[data-key=backend]').remove()");
  await keepPicture(page, viewer, 'keys');
} finally {
  await world.stop();
}
