/** The method that verified a hostname: recorded in its claim by the check, shown in status, and never read out of records. */
import {describe, expect, test} from '@jest/globals';
import type {DomainClaimStatus} from '../../../../operator/api/domain-claim.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import type {Verdict} from '../../../../operator/domain/verification/method.ts';
import type {Proof} from '../../../../operator/domain/verification/records.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {recordVerification, verificationOf} from '../../../../operator/domain/claims/verification.ts';
import type {World} from '../../../../operator/domain/world.ts';
import {claimed, next} from '../../../support/histories.ts';
import {
  days,
  entryOf,
  heldClaim,
  hours,
  later,
  minutes,
  proven,
  refuted,
  seconds,
  served,
  t0,
  unknown,
  world,
} from '../../../support/world.ts';

const docs = 'docs.example.com';
const by = (method: Proof): Verdict => ({kind: 'Proven', by: method, apex: false});
const byAt = (method: Proof, checkedAt: number) => served({verdict: by(method), checkedAt});
const no = refuted().verdict!;
const behind: Verdict = {...no, kind: 'Refuted', reason: 'BehindCDN', behind: 'Cloudflare'} as Verdict;
const earlier: Partial<DomainClaimStatus> = {verifiedBy: undefined, verifiedAt: undefined};

/** The verification in the claim of docs.example.com, and in status. */
function recorded({at, decision}: {at: World; decision: ReturnType<typeof decide>}) {
  const {verifiedBy, verifiedAt} = at.claims.get(docs)?.status ?? {};
  const entry = entryOf(decision, docs);
  return {claim: [verifiedBy, verifiedAt], status: [entry?.verifiedBy, entry?.verifiedAt]};
}

/** A world in which docs.example.com has no owner, and a check has verified it. */
const unclaimed = (method: Proof, change: Parameters<typeof world>[0] = {}) =>
  world({claims: {[docs]: undefined}, facts: {[docs]: byAt(method, t0 - 5 * seconds)}, ...change});

/** The claim's write after a check at t0. `drift`: the check also writes the end of a drift. */
const record = (
  status: Partial<DomainClaimStatus>,
  verdict: Verdict,
  {reportedAt, drift = false}: {reportedAt?: string; drift?: boolean} = {},
) => {
  const claim = heldClaim(docs, 'uid-domain', status);
  const write = drift ? {hostname: docs, before: claim, spec: claim.spec, status: claim.status!} : undefined;
  return recordVerification(claim, {verdict, checkedAt: t0}, {write, reportedAt});
};

describe('The verification in a claim', () => {
  test('has the method and the time of the check that verifies; a check that does not verify changes neither', () => {
    expect(verificationOf(by('TXT'), t0)).toEqual({verifiedBy: 'TXT', verifiedAt: timestamp(t0)});
    const before = {verifiedBy: 'CNAME', verifiedAt: timestamp(t0 - days)} as const;
    expect(verificationOf(by('TXT'), t0, before)).toEqual({verifiedBy: 'TXT', verifiedAt: timestamp(t0 - days)});
    for (const verdict of [no, behind, unknown().verdict, undefined])
      expect([verificationOf(verdict, t0, before), verificationOf(verdict, t0)]).toEqual([before, {}]);
  });

  const reportedAt = timestamp(t0 - 2 * days);

  test('is written once: a check with the same answer writes nothing', () => {
    expect(record({}, by('CNAME'), {reportedAt})).toBeUndefined();
    expect(record({}, no)).toBeUndefined();
  });

  test('gets another method when a check verifies by that, and keeps its time', () => {
    const write = record({}, by('TXT'));
    expect(write).toMatchObject({hostname: docs, before: heldClaim(docs)});
    expect(write?.status).toEqual({...heldClaim(docs).status, verifiedBy: 'TXT'});
  });

  test('of an earlier release has neither until a check verifies the hostname; the time is that of its status', () => {
    expect(record(earlier, no)).toBeUndefined();
    expect(record(earlier, by('TXT'), {reportedAt})?.status).toMatchObject({verifiedBy: 'TXT', verifiedAt: reportedAt});
    expect(record(earlier, by('TXT'))?.status).toMatchObject({verifiedBy: 'TXT', verifiedAt: timestamp(t0)});
  });

  test('comes with the end of a drift, in one write, and is new if the drift had ended the one before', () => {
    expect(record({}, by('TXT'), {drift: true, reportedAt})?.status).toMatchObject({
      verifiedBy: 'TXT',
      verifiedAt: reportedAt,
    });
    expect(record({}, by('CNAME'), {drift: true})?.status).toMatchObject({verifiedAt: timestamp(t0)});
    expect(record({}, no, {drift: true})?.status).toEqual(heldClaim(docs).status);
  });
});

describe('The method that status shows', () => {
  test.each<Proof>(['CNAME', 'TXT', 'Addresses'])('is the one that verified the hostname: %s', (method) => {
    const pair = [method, timestamp(t0 - 5 * seconds)];
    expect(recorded(claimed(unclaimed(method)))).toEqual({claim: pair, status: [method, timestamp(t0)]});
    // Status has the time of the check, if the hostname was added before it.
    const waiting = later(world({now: t0 - minutes, claims: {[docs]: undefined}}), {now: t0});
    const {at, decision} = claimed({...waiting, facts: new Map([[docs, byAt(method, t0 - 5 * seconds)]])});
    expect(recorded({at, decision})).toEqual({claim: pair, status: pair});
  });

  test('follows a check that verifies by another method; the time stays, and nothing more is written', () => {
    const first = claimed(unclaimed('CNAME'));
    const again = next(first, hours, {facts: new Map([[docs, byAt('TXT', t0 + hours)]])});
    expect(recorded(again)).toEqual({claim: ['TXT', recorded(first).status[1]], status: ['TXT', timestamp(t0)]});
    expect(decide({...again.at, now: again.at.now + days}).claims).toEqual([]);
  });

  test('is not read out of the records that status lists', () => {
    const live = next(claimed(unclaimed('TXT')), seconds);
    const status = live.at.domain.status!;
    const listed = status.dnsRecords!.filter((r) => r.type !== 'TXT');
    const {verdict: _, checkedAt: __, ...restarted} = live.at.facts.get(docs)!;
    const facts = new Map([[docs, restarted]]);
    for (const dnsRecords of [[], listed]) {
      const d = decide({...live.at, facts, domain: {...live.at.domain, status: {...status, dnsRecords}}});
      expect([entryOf(d, docs)?.verifiedBy, d.status.dnsRecords?.map((r) => r.type)]).toEqual([
        'TXT',
        ['CNAME', 'TXT'],
      ]);
    }
  });

  test('decides what a CDN may hide, although status has no room for the records', () => {
    for (const [method, claims] of [
      ['CNAME', 0],
      ['TXT', 1],
    ] as const) {
      const {at} = next(claimed(unclaimed(method)), minutes);
      const {dnsRecords: _, ...status} = at.domain.status!;
      const facts = new Map([[docs, {...at.facts.get(docs), ...served({verdict: behind, checkedAt: at.now})}]]);
      expect(decide({...at, domain: {...at.domain, status}, facts}).claims).toHaveLength(claims);
    }
  });

  test('stands over a restart, while nobody can be asked, and goes with the verification', () => {
    const live = next(claimed(unclaimed('TXT')), minutes);
    const shown = entryOf(live.decision, docs);
    expect(shown?.verifiedBy).toBe('TXT');
    const {verdict: _, checkedAt: __, ...restarted} = live.at.facts.get(docs)!;
    for (const facts of [restarted, {...restarted, ...unknown('AuthoritativeUnreachable', live.at.now)}])
      expect(entryOf(decide({...live.at, facts: new Map([[docs, facts]])}), docs)).toEqual(shown);
    const confirmed = {negativeSince: timestamp(t0 - 9 * days), negativeAt: timestamp(t0 - 9 * days), negatives: 4};
    const claims = new Map([[docs, heldClaim(docs, 'uid-domain', confirmed)]]);
    const lost = decide({...live.at, claims, facts: new Map([[docs, refuted()]])});
    expect(entryOf(lost, docs)).toMatchObject({phase: 'AwaitingVerification'});
    expect(entryOf(lost, docs)).not.toHaveProperty('verifiedBy');
  });

  test("of a hostname that the platform's own claim verifies comes with the first check that verifies it", () => {
    const platform = heldClaim(docs, 'uid-domain', earlier);
    const granted = {...platform, spec: {...platform.spec, proof: 'Platform' as const}};
    const first = claimed(world({claims: {[docs]: granted}}));
    expect(recorded(first)).toEqual({claim: [undefined, undefined], status: [undefined, timestamp(t0)]});
    const checked = next(first, hours, {facts: new Map([[docs, proven(t0 + hours)]])});
    expect(recorded(checked)).toEqual({claim: ['CNAME', timestamp(t0)], status: ['CNAME', timestamp(t0)]});
  });
});

/** A Live hostname, verified by the TXT, when the first process of this release starts. */
const live = () => {
  const {at} = next(claimed(unclaimed('TXT')), minutes);
  const {hosts, ...status} = at.domain.status!;
  const before = {...status, hosts: hosts!.map((host) => ({...host, verifiedBy: undefined}))};
  const {verdict: _, checkedAt: __, ...restarted} = at.facts.get(docs)!;
  return {
    ...at,
    domain: {...at.domain, status: before},
    claims: new Map([[docs, heldClaim(docs, 'uid-domain', earlier)]]),
    facts: new Map([[docs, restarted]]),
  };
};

describe('The claim of an earlier release', () => {
  test('is not written, and status does not change, until a check verifies the hostname', () => {
    const at = live();
    for (const facts of [at.facts.get(docs)!, {...at.facts.get(docs), ...unknown('AuthoritativeFailure', at.now)}]) {
      const d = decide({...at, facts: new Map([[docs, facts]])});
      expect([d.claims, d.status]).toEqual([[], at.domain.status]);
    }
  });

  test('gets both with the next check that verifies, in one write', () => {
    const at = live();
    const facts = new Map([[docs, {...at.facts.get(docs), ...byAt('TXT', at.now)}]]);
    expect(decide({...at, facts}).claims).toHaveLength(1);
    const pair = ['TXT', timestamp(t0)];
    const checked = claimed({...at, facts});
    expect(recorded(checked)).toEqual({claim: pair, status: pair});
    expect(decide({...checked.at, now: checked.at.now + days}).claims).toEqual([]);
  });

  test('does not end the verification of a hostname that is behind a CDN', () => {
    const at = live();
    const d = decide({...at, facts: new Map([[docs, {...at.facts.get(docs), verdict: behind, checkedAt: at.now}]])});
    expect([d.claims, entryOf(d, docs)?.reason]).toEqual([[], 'ServedBehindCDN']);
  });
});
