/** What makes the page the platform's. */
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from '@jest/globals';
import {brandCss, brandHtml, contentSecurityPolicy, textOn} from '../../../operator/http/page/brand.ts';
import {loadPage} from '../../../operator/http/page/files.ts';

const brand = {name: '', logo: '', colour: '', supportUrl: '', offeredPlans: [], frameAncestors: []};
const html = '<html><head><title>Domains</title></head></html>';

test.each([
  ['#000000', '#ffffff'],
  ['#ffffff', '#000000'],
  ['#2456a6', '#ffffff'],
  ['#ffd400', '#000000'],
  ['#777777', '#000000'],
] as const)('On %s the text is %s', (colour, text) => {
  expect(textOn(colour)).toBe(text);
});

test('The colour is a stylesheet of its own; without one there is nothing in it', () => {
  expect(brandCss({colour: '#ffd400'})).toBe(':root{--accent:#ffd400;--on-accent:#000000}');
  expect(brandCss({colour: ''})).toBe('');
});

test('What the platform is called ends no element and no attribute', () => {
  const name = '"><script>alert(1)</script>';
  const branded = brandHtml(html, {...brand, name}, '/assets/brand.css');
  expect(branded).not.toContain('<script>');
  expect(branded).toContain('<title>Domains · &quot;&gt;&lt;script&gt;');
  expect(branded).toContain('<link rel="stylesheet" href="/assets/brand.css"></head>');
});

test('The logo may be loaded, and who may frame the page is named', () => {
  const policy = contentSecurityPolicy({
    logo: 'https://www.example.com/a/logo.svg?x;script-src *',
    frameAncestors: ['https://www.example.com', 'https://*.example.org'],
  });
  expect(policy).toContain("img-src 'self' https://www.example.com;");
  expect(policy).toContain('frame-ancestors https://www.example.com https://*.example.org;');
  expect(policy).not.toContain('script-src *');
});

test('A page that is not built stops the start, and says how to build it; a changed colour changes the name of its file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'page-'));
  try {
    await expect(loadPage(brand, folder)).rejects.toThrow('npm run page');
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), html);
    const [plain, coloured] = await Promise.all([
      loadPage(brand, folder),
      loadPage({...brand, colour: '#ffd400'}, folder),
    ]);
    expect([...plain.assets.keys()]).not.toEqual([...coloured.assets.keys()]);
  } finally {
    rmSync(folder, {recursive: true});
  }
});
