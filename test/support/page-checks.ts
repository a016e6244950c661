/** Checks of every state of the page in each language: axe finds no violation, no text has a word for engineers, nothing is wider than the screen. */
import {mkdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
import {expect} from '@jest/globals';
import type {Locator, Page} from 'playwright-core';
import {parse} from 'yaml';
import {forbiddenIn, type ForbiddenWord} from './language.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Ignored by Git. */
const screenshots = fileURLToPath(new URL('../../dist/screenshots/', import.meta.url));

interface AxeResult {
  violations: {id: string; help: string; nodes: {target: string[]; failureSummary?: string}[]}[];
}

const widths = {phone: 360, tablet: 768, desktop: 1280} as const;
const themes = ['light', 'dark'] as const;

/** Runs axe as the page is shown now. */
async function violations(page: Page): Promise<string[]> {
  // The page's policy lets no script in that is not its own: this one comes by the debugger.
  await page.evaluate(axe);
  const {violations: found} = (await page.evaluate('axe.run(document, {resultTypes: ["violations"]})')) as AxeResult;
  return found.map(
    ({id, help, nodes}) =>
      `${id}: ${help}: ${nodes.map((n) => `${n.target.join(' ')} ${n.failureSummary}`).join('; ')}`,
  );
}

/** Writes an image of the page to dist/screenshots, if SCREENSHOTS is set (`make screenshots`). */
async function shoot(page: Page, name: string, fullPage: boolean): Promise<void> {
  if (!process.env.SCREENSHOTS) return;
  mkdirSync(screenshots, {recursive: true});
  await page.screenshot({path: `${screenshots}${name}.png`, fullPage});
}

const codes = ['en', 'de'] as const;
const words = parse(readFileSync(new URL('../../docs/words.yaml', import.meta.url), 'utf8')) as {page: ForbiddenWord[]};
/** Plurals too. */
const forbidden = words.page.map(({word, instead}) => ({word: `${word}s?`, instead}));

/**
 * The page's visible texts: text nodes and labels, without code, and without the names in headings, definitions and links.
 * A text of the page's elements, hidden ones too.
 */
const ownTexts = `(() => {
  const texts = [];
  const isNamed = (element) => element.closest('code, script, style, dd, h1, h2, .form dt, .card.row .note') !== null;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (!isNamed(walker.currentNode.parentElement)) texts.push(walker.currentNode.data);
  for (const element of document.querySelectorAll('body :not(.form *)'))
    for (const name of ['aria-label', 'title', 'placeholder', 'alt']) texts.push(element.getAttribute(name) ?? '');
  for (const dd of document.querySelectorAll('.steps dd')) texts.push(dd.textContent);
  return texts.map((text) => text.trim()).filter((text) => text !== '');
})()`;

/** The words of the page that only an engineer knows. Domains, addresses and the names of the tests' accounts are no words. */
async function forbiddenWords(page: Page): Promise<string[]> {
  const texts = ((await page.evaluate(ownTexts)) as string[]).map((text) =>
    text.replaceAll(/\S+[.:/]\S+|\bacme\b/g, ''),
  );
  return [...new Set(texts.flatMap((text) => forbiddenIn(text, forbidden).map((each) => `${each} in "${text}"`)))];
}

/** Shows the page in a language, also while a dialog covers the switch. */
export async function speak(page: Page, code: (typeof codes)[number]): Promise<void> {
  await page.evaluate(`(() => {
    const select = document.querySelector('select.language');
    Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(select, '${code}');
    select.dispatchEvent(new Event('change', {bubbles: true}));
  })()`);
  await page.locator(`html[lang="${code}"]`).waitFor({state: 'attached'});
}

/**
 * Checks a state in both languages, both themes and three widths. `make screenshots` also puts an image of each into dist/screenshots.
 * `folded`: the image shows only the part that fits the screen.
 */
export async function expectAccessible(page: Page, state: string, {folded = false} = {}): Promise<void> {
  const before = page.viewportSize();
  const focused = await page.evaluateHandle('document.activeElement');
  for (const code of codes) {
    await speak(page, code);
    expect({state, code, forbidden: await forbiddenWords(page)}).toEqual({state, code, forbidden: []});
    for (const colorScheme of themes) {
      await page.emulateMedia({colorScheme});
      for (const [name, width] of Object.entries(widths)) {
        await page.setViewportSize({width, height: 800});
        await shoot(page, `${state}-${name}-${colorScheme}-${code}`, !folded);
        const seen = await page.evaluate('document.documentElement.scrollWidth');
        expect([state, code, name, seen]).toEqual([state, code, name, width]);
        // Colors depend on the theme, the layout on the width: each of both once. German has the same colors.
        if (
          (name === 'phone') === (colorScheme === 'dark') &&
          (name === 'phone' || (name === 'desktop' && code === 'en'))
        )
          expect({state, code, name, colorScheme, violations: await violations(page)}).toEqual({
            state,
            code,
            name,
            colorScheme,
            violations: [],
          });
      }
    }
  }
  await speak(page, 'en');
  const hasFocus = await focused.evaluate(
    (element) => element === (globalThis as unknown as {document: {activeElement: unknown}}).document.activeElement,
  );
  expect(hasFocus).toBe(true);
  await page.emulateMedia({colorScheme: null});
  if (before) await page.setViewportSize(before);
}

/** Fails as an assertion if it never appears. */
export async function expectSeen(what: Locator): Promise<void> {
  await what.waitFor().catch(() => {});
  expect(await what.isVisible()).toBe(true);
}
