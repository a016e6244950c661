import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import type {Deed, Name} from '../../support/rivals.ts';
import {historyOfRivals, MemoryApi, play, Town} from '../../support/rivals.ts';

const runs = 10_000;

/** What once broke a guarantee. */
const known: {deeds: Deed[]; owner: Name}[] = [
  // The contender's record was there for its first check, and gone when the holder's negative was confirmed.
  {
    deeds: [
      ['point', 'ann', 2000],
      ['add', 'ann', 2000],
      ['point', 'ben', 2000],
      ['pass', 'ann', 2000],
      ['add', 'ben', 2000],
      ['withdraw', 'ann', 2000],
      ['pass', 'ann', 3_600_000],
    ],
    owner: 'ann',
  },
  // The grace time of a downgrade was served although that of the drift was over.
  {
    deeds: [
      ['point', 'ben', 2000],
      ['add', 'ben', 2000],
      ['publish', 'ann', 2000],
      ['pass', 'ann', 259_200_000],
      ['downgrade', 'ben', 2000],
      ['pass', 'ann', 777_600_000],
    ],
    owner: 'ann',
  },
];

describe('Two tenants, a platform and one hostname', () => {
  test('no tenant is routed without proof, never two at once, and its owner gets it back within the confirmations, whatever happens', async () => {
    let ends = 0;
    await fc.assert(
      fc.asyncProperty(historyOfRivals, async (history) => {
        await play(new Town(new MemoryApi()), history);
        ends++;
      }),
      {numRuns: runs, examples: known.map((k) => [k])},
    );
    expect(ends).toBe(runs);
  });
});
