import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {historyOfRivals, MemoryApi, play, Town} from '../../support/rivals.ts';

describe('Two tenants, a platform and one hostname', () => {
  test('no tenant is routed without proof, never two at once, and its owner gets it back within the confirmations, whatever happens', async () => {
    await fc.assert(fc.asyncProperty(historyOfRivals, (history) => play(new Town(new MemoryApi()), history)), {numRuns: Number(process.env.RUNS ?? 10_000)});
    expect.assertions(0);
  }, 300_000);
});
