/** What holds in every state of the page: axe finds nothing, nothing is wider than the screen; and it is photographed. */
import {mkdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {expect} from '@jest/globals';
import type {Locator, Page} from 'playwright-core';
import {artefacts} from './page-world.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

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

/** Looks at the state in both themes and three widths, and puts a picture of each into dist/screenshots. `folded`: of what is seen at once only. */
export async function expectAccessible(page: Page, state: string, {folded = false} = {}): Promise<void> {
  mkdirSync(artefacts, {recursive: true});
  const before = page.viewportSize();
  for (const colorScheme of themes) {
    await page.emulateMedia({colorScheme});
    for (const [name, width] of Object.entries(widths)) {
      await page.setViewportSize({width, height: 800});
      await page.screenshot({path: `${artefacts}${state}-${name}-${colorScheme}.png`, fullPage: !folded});
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
