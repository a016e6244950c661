/** Code that the first view does without: fetched when it is shown, and again while the server is away. */
import {lazy} from 'react';
import type {ComponentType, LazyExoticComponent} from 'react';

/** Number of attempts while the server answers: a new release has replaced files that it does not have any more. */
const mostTries = 4;
const longestWaitMs = 3000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function isThere(): Promise<boolean> {
  try {
    return (await fetch('/', {method: 'HEAD', cache: 'no-store'})).ok;
  } catch {
    return false;
  }
}

/** Like React's `lazy`, which would keep the first failure permanently. After the last attempt it throws: see failure.tsx. */
export function later<P>(load: () => Promise<{default: ComponentType<P>}>): LazyExoticComponent<ComponentType<P>> {
  return lazy(async () => {
    for (let tries = 0, waitMs = 300; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
      try {
        return await load();
      } catch (error) {
        if ((await isThere()) && ++tries === mostTries) throw error;
        await pause(waitMs);
      }
    }
  });
}
