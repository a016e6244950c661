import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import type {HistoryOfRivals} from '../../support/rivals.ts';
import {historyOfRivals, MemoryApi, play, Town} from '../../support/rivals.ts';

/** `make models` runs ten times as many. */
const runs = Number(process.env.RUNS ?? 2000);

/** What once broke a guarantee, and what is met too seldom. */
const known: HistoryOfRivals[] = [
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
    by: 'CNAME',
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
    by: 'CNAME',
  },
  // Its namespace was made anew and given back to its Account: what the Account had published is its own still.
  {
    deeds: [
      ['publish', 'ann', 2000],
      ['add', 'ann', 2000],
      ['recreate', 'ann', 2000],
      ['label', 'ann', 2000],
      ['grant', 'ann', 2000],
    ],
    owner: 'ann',
    by: 'TXT',
  },
  // The copy of a namespace was that of the one before it, of an Account to which the platform had granted the hostname.
  {
    deeds: [
      ['grant', 'ann', 2000],
      ['recreateUnseen', 'ann', 2000],
    ],
    owner: 'ben',
    by: 'CNAME',
  },
  // The contender proves it after the time for its own proof is over.
  {
    deeds: [
      ['point', 'ann', 2000],
      ['add', 'ann', 2000],
      ['add', 'ben', 2000],
      ['pass', 'ben', 777_600_000],
    ],
    owner: 'ben',
    by: 'CNAME',
  },
  // A Certificate rests, and its key is deleted, or another proves the hostname.
  {
    deeds: [
      ['point', 'ann', 2000],
      ['add', 'ann', 2000],
      ['remove', 'ann', 2000],
      ['loseKeys', 'ann', 2000],
    ],
    owner: 'ann',
    by: 'CNAME',
  },
  {
    deeds: [
      ['point', 'ann', 2000],
      ['add', 'ann', 2000],
      ['remove', 'ann', 2000],
    ],
    owner: 'ben',
    by: 'CNAME',
  },
  // The holder's CNAME is hidden by a CDN for weeks, then another has the TXT.
  {
    deeds: [
      ['point', 'ann', 2000],
      ['add', 'ann', 2000],
      ['proxy', 'ann', 2000],
      ['pass', 'ann', 2_678_400_000],
      ['add', 'ben', 2000],
      ['pass', 'ben', 3_600_000],
    ],
    owner: 'ben',
    by: 'BehindCDN',
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
