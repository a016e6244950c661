/** The pages of ingress controllers and clouds: their values, their status, and the apexes that an edge without addresses cannot serve. */
import {execFile} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {parseAllDocuments} from 'yaml';
import type {Ingress} from '../../operator/api/foreign.ts';
import {judgeCaa} from '../../operator/domain/certificates/caa.ts';
import {hostsOfIngress} from '../../operator/domain/routes/ingress.ts';
import {followsAtApex, providers} from '../../operator/domain/verification/providers.ts';
import {bin} from '../support/kube-server.ts';
import {linksOf, pagePaths, readPage, root} from '../support/pages.ts';

const pages = pagePaths()
  .filter((path) => /^docs\/how-to\/(controllers|clouds)\//.test(path))
  .map(readPage);
const statusOf = (text: string): string | undefined => /\*\*Status: (\w+)\.\*\*/.exec(text)?.[1];
const words = (path: string): string => readPage(path).text.replaceAll(/\s+/g, ' ');

describe('The page of an edge', () => {
  test('names its status: tested, expected or impossible', () => {
    expect(pages.length).toBeGreaterThan(9);
    expect(
      pages.map(({text}) => statusOf(text)).filter((s) => !/^(tested|expected|impossible)$/.test(s ?? '')),
    ).toEqual([]);
  });

  test('that was not tried says so, and names the sources that were read', () => {
    const untried = pages.filter(({text}) => statusOf(text) !== 'tested');
    expect(untried.filter(({text}) => !text.includes('Not tried')).map(({path}) => path)).toEqual([]);
    const sources = ({text}: (typeof pages)[number]) =>
      linksOf({...pages[0]!, prose: text.split('## Sources')[1] ?? ''});
    expect(untried.filter((page) => sources(page).length === 0).map(({path}) => path)).toEqual([]);
  });

  test.each([
    ['README.md', 'docs/how-to/', ''],
    ['docs/how-to/ingress-classes.md', '', 'clouds'],
  ])('has the same status in the table of %s', (table, prefix, except) => {
    const rows = readPage(table).text.split('\n');
    for (const {path, text} of pages) {
      if (except !== '' && path.includes(except)) continue;
      const row = rows.find(
        (line) => line.startsWith('|') && line.includes(`](${path.replace(/^docs\/how-to\//, prefix)})`),
      );
      expect([path, row?.split('|')[2]?.trim().split(' ')[0]]).toEqual([path, statusOf(text)]);
    }
  });
});

/** The chart's objects with a file of values. */
async function render(file: string): Promise<Ingress[]> {
  const args = ['template', 'doorplate', join(root, 'charts/doorplate'), '-n', 'doorplate-system', '-f', file];
  const {stdout} = await promisify(execFile)(`${bin}/helm`, args, {maxBuffer: 16 << 20});
  return parseAllDocuments(stdout).flatMap((document) => (document.toJS() as Ingress | null) ?? []);
}

describe('The values of a page', () => {
  const complete = pages.flatMap((page) => {
    const values = page.blocks.find(
      ({info, text}) => info.join(' ') === 'yaml values' && text.includes('ingressClassName'),
    );
    return values === undefined ? [] : [{page, values: values.text}];
  });
  let folder: string;
  const rendered = new Map<string, Ingress[]>();
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'doorplate-edges-'));
    await Promise.all(
      complete.map(async ({page: {path}, values}) => {
        const file = join(folder, path.replaceAll('/', '-'));
        writeFileSync(file, values);
        rendered.set(path, await render(file));
      }),
    );
  });
  afterAll(() => rmSync(folder, {recursive: true}));

  test('are there, except on pages of edges that cannot work', () => {
    expect(complete.map(({page}) => page)).toEqual(pages.filter(({text}) => statusOf(text) !== 'impossible'));
  });

  test('are what the chart takes', () => {
    const deployments = [...rendered.values()].map((objects) =>
      objects.filter((o) => (o.kind as string) === 'Deployment'),
    );
    expect(deployments.map(({length}) => length)).toEqual(complete.map(() => 2));
  });

  test('create no Ingress without a host', () => {
    const hostless = complete.flatMap(({page: {path}}) =>
      rendered.get(path)!.filter((o) => o.kind === 'Ingress' && hostsOfIngress(o).length === 0),
    );
    expect(hostless).toEqual([]);
  });
});

const names = (rows: typeof providers): string => rows.map(({name}) => name).join(', ');

describe('Apexes at an edge that is known by name only', () => {
  const follows = providers.filter(({name}) => followsAtApex(name, 'edge.elb.eu-central-1.amazonaws.com'));
  const cannot = providers.filter((p) => p.atApex === 'Addresses' && !follows.includes(p));

  test.each(['docs/how-to/install.md', 'docs/how-to/clouds/eks.md'])(
    'are named in %s as the table of providers has them',
    (path) => {
      expect(cannot.length).toBeGreaterThan(5);
      expect(words(path)).toMatch(/\*\*Providers that cannot[^.]*?: ([^.]*)\.\*\*/);
      expect(/\*\*Providers that cannot[^.]*?: ([^.]*)\.\*\*/.exec(words(path))?.[1]).toBe(names(cannot));
      expect(words(path)).toContain(`Not known: ${names(providers.filter(({atApex}) => atApex === undefined))}.`);
      expect(words(path)).toContain(`${names(follows)} can`);
    },
  );
});

describe('The CAA records of docs/how-to/letsencrypt.md', () => {
  const account = 'https://acme-v02.api.letsencrypt.org/acme/acct/1234567890';
  const all = [
    ...readPage('docs/how-to/letsencrypt.md').text.matchAll(/^ *(\S+)\. +CAA +(\d+) +(\w+) +"([^"]+)"$/gm),
  ].map(([, at, flags, tag, value]) => ({at, flags: Number(flags), tag: tag!, value: value!}));
  const at = (name: string) => ({of: name, foundAt: name, records: all.filter((record) => record.at === name)});
  const judge = (name: string, accountUri: string) =>
    judgeCaa('docs.apps.example.net', at(name), {identities: ['letsencrypt.org'], zone: 'apps.example.net', accountUri})
      .kind;

  test.each(['apps.example.net', '*.apps.example.net'])(
    'at %s allow the account that they name, and no other',
    (name) => {
      expect(judge(name, account)).toBe('Allowed');
      expect(judge(name, account.replace('1234567890', '1'))).toBe('Blocked');
    },
  );
});
