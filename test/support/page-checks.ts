/** What is true in every state of the page: axe finds no violation, and nothing is wider than the screen. */
import {mkdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
import {expect} from '@jest/globals';
import type {Locator, Page} from 'playwright-core';

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

/**
 * Checks a state in both themes and three widths. `make screenshots` also puts an image of each into dist/screenshots. `folded`: the image shows
 * only the part that fits the screen.
 */
export async function expectAccessible(page: Page, state: string, {folded = false} = {}): Promise<void> {
  const before = page.viewportSize();
  for (const colorScheme of themes) {
    await page.emulateMedia({colorScheme});
    for (const [name, width] of Object.entries(widths)) {
      await page.setViewportSize({width, height: 800});
      await shoot(page, `${state}-${name}-${colorScheme}`, !folded);
      expect([state, name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([state, name, width]);
      // Colours depend on the theme, the layout on the width: each of both once.
      if ((name === 'phone') === (colorScheme === 'dark') && name !== 'tablet')
        expect({state, name, colorScheme, violations: await violations(page)}).toEqual({
          state,
          name,
          colorScheme,
          violations: [],
        });
    }
  }
  await page.emulateMedia({colorScheme: null});
  if (before) await page.setViewportSize(before);
}

/** Fails as an assertion where it never comes. */
export async function expectSeen(what: Locator): Promise<void> {
  await what.waitFor().catch(() => {});
  expect(await what.isVisible()).toBe(true);
}
