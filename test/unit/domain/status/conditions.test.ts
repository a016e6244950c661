import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import type {HostStatus} from '../../../../operator/api/custom-domain.ts';
import type {HealthName} from '../../../../operator/domain/status/health.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import type {ReasonName} from '../../../../operator/domain/reasons/reasons.ts';
import {reasons} from '../../../../operator/domain/reasons/reasons.ts';
import {historyArbitrary, live} from '../../../support/histories.ts';
import {
  condition,
  conditionLines,
  hours,
  later,
  refuted,
  served,
  settled,
  t0,
  unknown,
  world,
} from '../../../support/world.ts';

const docs = 'docs.example.com';
const old = 'old.example.com';
const zzz = 'zzz.example.org';

describe('Conditions', () => {
  /** Reasons of a Live hostname that does not work. */
  const stops = ['EdgeNotServing', 'EdgeUnreachable', 'CertificateLost'];
  /** Reasons of a Live hostname that works if its certificate is valid. */
  const writeErrors = ['NameTaken', 'WriteRefused', 'WriteFailed'];
  const always = ['Accepted', 'Verified', 'CertificateReady', 'RoutesReady', 'Live', 'Ready'];

  test('are always all there, and exactly one of Reconciling and Stalled stands while Ready is not True', () => {
    fc.assert(
      fc.property(historyArbitrary, (history) => {
        for (const {at, decision} of live(history)) {
          const {status} = decision;
          const types = status.conditions!.map((c) => c.type);
          const ready = condition(decision, 'Ready')!;
          expect(types.slice(0, 6)).toEqual(always);
          expect(types.length - 6).toBe(ready.status === 'True' ? 0 : 1);
          expect(types.slice(6).filter((t) => t !== 'Reconciling' && t !== 'Stalled')).toEqual([]);
          const [primary] = status.hosts!;
          const certified = (hostname: string) => at.facts.get(hostname)?.certificate?.ready === true;
          const works = ({hostname, phase, reason}: HostStatus) =>
            phase === 'Live' && !stops.includes(reason) && (!writeErrors.includes(reason) || certified(hostname));
          // A fault of the edge may stand behind the reason of a drift or a downgrade.
          expect(ready.status === 'True').toBe(status.hosts!.every(works) && !stops.includes(ready.reason));
          expect(status.phase).toBe(primary!.phase);
          const isLive = condition(decision, 'Live')!;
          expect(isLive.status === 'True').toBe(status.phase === 'Live' && !stops.includes(isLive.reason));
          // Served for the grace time: of a downgrade, or of a drift, which says so by Verified.
          const downgraded =
            status.hosts![0]!.servedUntil !== undefined && condition(decision, 'Verified')!.status === 'True';
          expect(condition(decision, 'Accepted')!.status === 'True').toBe(
            status.phase !== 'NotAccepted' && !downgraded,
          );
          expect(status.conditions!.filter((c) => !(c.reason in reasons))).toEqual([]);
        }
      }),
      {numRuns: 200},
    );
  });

  test('speak of the primary, but Ready of all hostnames, and it says how many more there are', () => {
    const d = decide(
      settled(
        world({redirects: [{from: old}, {from: zzz}], facts: {[docs]: served(), [old]: refuted(), [zzz]: refuted()}}),
      ),
    );
    expect(conditionLines(d)).toEqual([
      'Accepted=True/Accepted',
      'Verified=True/Proven',
      'CertificateReady=True/Issued',
      'RoutesReady=True/Routed',
      'Live=True/Serving',
      'Ready=False/RecordMissing',
      'Reconciling=True/RecordMissing',
    ]);
    expect(condition(d, 'Ready')?.message).toBe(
      'RecordMissing was seen. (1 more of 3 hostnames are not Live yet: see status.hosts)',
    );
    expect([d.status.phase, d.status.hostsLive]).toEqual(['Live', '1/3']);
  });

  test('Stalled wins over Reconciling, and gives its own reason, not that of the first host', () => {
    const d = decide(
      world({redirects: [{from: old}], facts: {[docs]: refuted(), [old]: unknown('AuthoritativeUnreachable')}}),
    );
    expect(conditionLines(d).slice(-2)).toEqual([
      'Ready=False/AuthoritativeUnreachable',
      'Stalled=True/AuthoritativeUnreachable',
    ]);
    expect(condition(d, 'Verified')?.reason).toBe('RecordMissing');
  });

  test('a missing record is pending for 48 hours from when it was first awaited, whatever was seen in between, then stalled', () => {
    const first = later(world({facts: {[docs]: refuted()}}));
    const at = (ms: number, reason: ReasonName) =>
      conditionLines(decide({...later(first, {now: t0 + hours, facts: {[docs]: refuted(reason)}}), now: t0 + ms})).at(
        -1,
      );
    expect(at(48 * hours - 1, 'TargetMismatch')).toBe('Reconciling=True/TargetMismatch');
    expect(at(48 * hours, 'TargetMismatch')).toBe('Stalled=True/TargetMismatch');
    expect(at(48 * hours, 'RecordMissing')).toBe('Stalled=True/RecordMissing');
  });

  const healths: Partial<Record<HealthName, readonly ReasonName[]>> = {
    pending: [
      'ProjectNotFound',
      'NoSuccessfulDeploy',
      'Issuing',
      'IssuanceQueued',
      'EdgePending',
      'EdgeUnreachable',
      'EdgeNotServing',
      'WaitingForPrimary',
    ],
    awaited: [
      'CheckPending',
      'RecordMissing',
      'TargetMismatch',
      'IndirectCNAME',
      'ConflictingRecord',
      'ProxiedOrFlattened',
      'BehindCDN',
      'PropagationPending',
      'AuthoritativeFailure',
    ],
    stalled: [
      'HostnameNotAllowed',
      'DuplicateHostname',
      'PlanUpgradeRequired',
      'PlanNotFound',
      'HostnameLimitReached',
      'ProjectHasDomains',
      'HostnameClaimed',
      'CAABlocksIssuer',
      'VerificationExpired',
      'AuthoritativeUnreachable',
      'IssuanceStalled',
      'IssuanceBudgetExhausted',
      'RenewalOverdue',
      'CertificateExpired',
    ],
  };
  test.each(Object.entries(healths))('%s is just what the design says', (health, names) => {
    expect(names.filter((name) => reasons[name].health !== health)).toEqual([]);
  });

  test('no message is longer than the schema allows, however long what others said is', () => {
    const message = 'x'.repeat(5000);
    const d = decide(
      world({
        redirects: [{from: old}],
        facts: {
          [docs]: {verdict: {kind: 'Unknown', reason: 'AuthoritativeFailure', message, apex: false}, checkedAt: 0},
        },
      }),
    );
    expect(d.status.hosts![0]!.message).toHaveLength(2048);
    expect(Math.max(...d.status.conditions!.map((c) => c.message.length))).toBeLessThanOrEqual(2048);
  });
});
