import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {historyOfRivals, MemoryApi, play, Town} from '../../support/rivals.ts';

const runs = 10_000;

describe('Two tenants, a platform and one hostname', () => {
  test('no tenant is routed without proof, never two at once, and its owner gets it back within the confirmations, whatever happens', async () => {
    let ends = 0;
    await fc.assert(fc.asyncProperty(historyOfRivals, async (history) => { await play(new Town(new MemoryApi()), history); ends++; }), {numRuns: runs});
    expect(ends).toBe(runs);
  }, 300_000);
});
