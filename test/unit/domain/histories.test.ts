import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import type {ReasonName} from '../../../operator/domain/reasons/reasons.ts';
import {reasons} from '../../../operator/domain/reasons/reasons.ts';
import type {Decision} from '../../../operator/domain/world.ts';
import {historyArbitrary, live} from '../../support/histories.ts';
import {entryOf} from '../../support/world.ts';

/** `HISTORIES=20000 npm run jest -- test/unit/domain/histories` is the full run; SEED= takes others. */
const [runs, seed] = [Number(process.env.HISTORIES ?? 1000), Number(process.env.SEED ?? 1)];
/** What a full run must have of each reason. */
const [full, least] = [20_000, 50];

/** Those of other kinds, of a CustomDomain that is being deleted, and of one that has no room for what was decided. */
const elsewhere: ReasonName[] = [
  'PlanFound',
  'ServiceNotFound',
  'ServicePortNotFound',
  'NoReadyEndpoint',
  'Deployed',
  'DefaultHostDisabled',
  'Removing',
  'StatusTooLarge',
  'KeyUsable',
  'KeyExpired',
  'KeyBanned',
];

const isRouted = ({routes}: Decision, hostname: string) => routes.some((r) => r.host === hostname);

describe('Random histories', () => {
  test('come to every reason that a CustomDomain may give, often enough to mean something', () => {
    const counts = new Map(
      Object.keys(reasons)
        .filter((r) => !elsewhere.includes(r as ReasonName))
        .map((r) => [r, 0]),
    );
    for (const history of fc.sample(historyArbitrary, {numRuns: runs, seed})) {
      const given = live(history).flatMap(({decision: {status}}) =>
        [...(status.hosts ?? []), ...(status.conditions ?? [])].map((x) => x.reason),
      );
      for (const reason of new Set(given)) counts.set(reason, (counts.get(reason) ?? NaN) + 1);
    }
    const rarest = [...counts].toSorted(([, a], [, b]) => a - b);
    process.stdout.write(
      `of ${runs} histories, so many gave each reason: ${rarest.map(([reason, count]) => `${reason} ${count}`).join(', ')}\n`,
    );
    expect(rarest.filter(([, count]) => !(count >= Math.max(1, (least * runs) / full)))).toEqual([]);
  });

  test('leave no hostname that is Live and stays proven without a route, whatever is edited', () => {
    fc.assert(
      fc.property(historyArbitrary, (history) => {
        let before: Decision | undefined;
        for (const {at, decision} of live(history)) {
          for (const {hostname, phase} of before?.status.hosts ?? []) {
            const now = entryOf(decision, hostname);
            const facts = at.facts.get(hostname);
            if (phase !== 'Live' || now?.verifiedAt === undefined || facts?.occupied) continue;
            expect({...now, routed: isRouted(decision, hostname)}).toEqual({...now, routed: true});
          }
          before = decision;
        }
      }),
      {numRuns: 500},
    );
  });
});
