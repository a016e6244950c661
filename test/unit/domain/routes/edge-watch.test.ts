/** A Live hostname whose edge changes: decided by the whole domain, as the operator decides it. */
import {describe, expect, test} from '@jest/globals';
import type {CertificateFacts} from '../../../../operator/domain/certificates/certificate.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import {nextRecheck} from '../../../../operator/domain/schedule.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import type {Verdict} from '../../../../operator/domain/verification/method.ts';
import type {EdgeFinding, EdgeProbe, EdgeState, HostFacts, World} from '../../../../operator/domain/world.ts';
import {
  withIssuer,
  certificate,
  condition,
  conditionLines,
  days,
  edgeAt,
  entryOf,
  hostLines,
  hours,
  later,
  leaf,
  minutes,
  objectLines,
  otherLeaf,
  refuted,
  seconds,
  served,
  settled,
  t0,
  unknown,
  world,
} from '../../../support/world.ts';

const docs = 'docs.example.com';
const right = [edgeAt('192.0.2.1', {leafSha256: leaf})];
const stale = [edgeAt('192.0.2.1', {leafSha256: otherLeaf, subjectAltNames: `DNS:${docs}`})];
const dead = [edgeAt('192.0.2.1', {unreachable: 'connection refused'})];
const noLeaf: CertificateFacts = certificate({
  ready: false,
  unready: {
    since: timestamp(t0 + hours),
    reason: 'DoesNotExist',
    message: 'Issuing certificate as Secret does not exist',
  },
  notAfter: undefined,
});

const live = settled(world({facts: {[docs]: served()}}));

/** Facts after probes at these times, the newest last. */
const probed = (...probes: [at: number, findings: readonly EdgeFinding[]][]): HostFacts => {
  const all: EdgeProbe[] = probes.map(([at, findings]) => ({at, findings}));
  const {at, findings} = all.at(-1)!;
  return served({edge: [...findings], edgeLookedAt: at, edgeEarlier: all.slice(0, -1)});
};
const at = (now: number, facts: HostFacts, from: World = live, change: Partial<World> = {}) =>
  later(from, {...change, now, facts: {[docs]: facts}});
const nextProbe = (of: World) => decide(of).looks.find((look) => look.what === 'edge')?.at;
const works = [`${docs} Live Serving Nobody`];
/** Probes that fail from `from` on, at the times of the confirmations. */
const series = (from: number, findings = stale) =>
  [0, 1, 5, 15].map((after): [number, typeof stale] => [from + after * minutes, findings]);

describe('The edge probe of a Live hostname', () => {
  test('is repeated with the DNS checks', () => {
    expect(nextProbe(live)).toBe(nextRecheck(live, docs, t0));
    expect(nextProbe(live)).toBe(decide(live).looks.find((look) => look.what === 'dns')?.at);
  });

  test('is made within half an hour after a start, spread over the hostnames', () => {
    const started = at(t0 + days, served({edge: undefined, edgeLookedAt: undefined}), live, {startedAt: t0 + days});
    expect(nextProbe(started)).toBeGreaterThan(t0 + days);
    expect(nextProbe(started)).toBeLessThan(t0 + days + 30 * minutes);
  });

  test('is repeated within half an hour after an address was added', () => {
    const edge: EdgeState = {sweep: {since: t0 + hours, withinMs: 30 * minutes}, faulty: new Set()};
    const due = nextProbe(at(t0 + hours, served(), live, {edge}))!;
    expect(due).toBeGreaterThan(t0 + hours);
    expect(due).toBeLessThan(t0 + 90 * minutes);
    expect(nextProbe(at(t0 + 2 * hours, probed([t0 + 2 * hours, right]), live, {edge}))).toBe(
      nextRecheck(live, docs, t0 + 2 * hours),
    );
  });

  test('is made at once when another leaf is issued, after the usual delay of the edge', () => {
    const renewed = certificate({leafSha256: otherLeaf, issuedAt: timestamp(t0 + hours)});
    const facts = {...served(), certificate: renewed};
    expect(nextProbe(at(t0 + hours, facts))).toBe(t0 + hours + 4 * seconds);
    // The findings from before the renewal confirm nothing.
    expect(hostLines(decide(at(t0 + 2 * hours, facts)))).toEqual(works);
    const swapped = {...probed([t0 + hours + 4 * seconds, stale]), certificate: renewed};
    expect(nextProbe(at(t0 + hours + 5 * seconds, swapped))).toBe(nextRecheck(live, docs, t0 + hours + 4 * seconds));
  });

  test('is made at once when the certificate stops being Ready, and not over and over', () => {
    expect(nextProbe(at(t0 + hours, {...served(), certificate: noLeaf}))).toBe(t0 + hours);
    // The clock of cert-manager may be ahead.
    const ahead = {...probed([t0 + hours - seconds, right]), certificate: noLeaf};
    expect(nextProbe(at(t0 + hours - seconds, ahead))).toBe(t0 + hours + 9 * seconds);
  });

  test('is made at once on Verify, which is answered after it', () => {
    const request = {value: 'now', seenAt: t0 + hours};
    const checked = {checkedAt: t0 + hours};
    const asked = at(t0 + hours, {...served(), ...checked}, live, {request});
    expect(nextProbe(asked)).toBe(t0 + hours);
    expect(decide(asked).status.lastHandledReconcileAt).toBeUndefined();
    const answered = at(t0 + hours + seconds, {...probed([t0 + hours, right]), ...checked}, live, {request});
    expect(decide(answered).status.lastHandledReconcileAt).toBe('now');
  });
});

describe('A Live hostname that the edge does not serve', () => {
  const from = t0 + hours;

  test('is not reported before the fault is confirmed 1, 5 and 15 minutes later', () => {
    const probes = series(from);
    for (let n = 1; n <= 3; n++) {
      const doubted = at(probes[n - 1]![0], probed(...probes.slice(0, n)));
      expect([hostLines(decide(doubted)), nextProbe(doubted)]).toEqual([works, probes[n]![0]]);
      expect(decide(doubted).status).toEqual(live.domain.status);
    }
  });

  test('stays Live with its routes; the condition Live is False, and Ready, with the reason', () => {
    const faulty = at(from + 15 * minutes, probed(...series(from)));
    const d = decide(faulty);
    expect(hostLines(d)).toEqual([`${docs} Live EdgeNotServing Platform`]);
    expect(conditionLines(d)).toEqual([
      'Accepted=True/Accepted',
      'Verified=True/Proven',
      'CertificateReady=True/Issued',
      'RoutesReady=True/Routed',
      'Live=False/EdgeNotServing',
      'Ready=False/EdgeNotServing',
      'Reconciling=True/EdgeNotServing',
    ]);
    expect(condition(d, 'Live')?.message).toMatch(
      /^The edge at 192\.0\.2\.1:443 presents another certificate for docs/,
    );
    expect([d.status.phase, d.status.hostsLive]).toEqual(['Live', '1/1']);
    expect(objectLines(d)).toEqual(objectLines(decide(live)));
    expect(d.wakeAt).toBe(from + 17 * minutes);
    const lasting = at(from + 17 * minutes, probed(...series(from)), later(faulty));
    expect(conditionLines(decide(lasting)).slice(-2)).toEqual([
      'Ready=False/EdgeNotServing',
      'Stalled=True/EdgeNotServing',
    ]);
    // Stopped and stale in turn: one fault, since one time.
    const stopped = decide(at(from + 20 * minutes, probed(...series(from, dead)), later(faulty)));
    expect(entryOf(stopped, docs)).toMatchObject({
      reason: 'EdgeUnreachable',
      since: entryOf(d, docs)?.since,
    });
  });

  test('is reported without a confirmation of its own if a sample has confirmed the fault of the address', () => {
    const edge: EdgeState = {sweep: {since: from, withinMs: minutes}, faulty: new Set(['192.0.2.1:443'])};
    expect(hostLines(decide(at(from, probed([from, dead]), live, {edge})))).toEqual([
      `${docs} Live EdgeUnreachable Platform`,
    ]);
    const another = {...edge, faulty: new Set(['192.0.2.2:443'])};
    expect(hostLines(decide(at(from, probed([from, dead]), live, {edge: another})))).toEqual(works);
  });

  test('begins again after a good probe between the bad ones', () => {
    const [first, second, third] = series(from);
    const probes: [number, readonly EdgeFinding[]][] = [first!, second!, [from + 2 * minutes, right], third!];
    const doubted = at(from + 15 * minutes, probed(...probes, [from + 15 * minutes, stale]));
    expect([hostLines(decide(doubted)), nextProbe(doubted)]).toEqual([works, from + 15 * minutes + seconds]);
  });

  test('is as before after one good probe', () => {
    const faulty = later(at(from + 15 * minutes, probed(...series(from))));
    expect(nextProbe(faulty)).toBe(from + 20 * minutes);
    const healed = decide(at(from + 20 * minutes, probed([from + 20 * minutes, right]), faulty));
    expect([hostLines(healed), conditionLines(healed)]).toEqual([works, conditionLines(decide(live))]);
  });

  test('is reported on after a restart, until a probe finds the certificate', () => {
    const faulty = later(at(from + 15 * minutes, probed(...series(from))));
    const restarted = at(from + hours, served({edge: undefined, edgeLookedAt: undefined}), faulty, {
      startedAt: from + hours,
    });
    expect(hostLines(decide(restarted))).toEqual([`${docs} Live EdgeNotServing Platform`]);
    expect(nextProbe(restarted)! - (from + hours)).toBeLessThan(5 * minutes);
    const again = probed([from + hours + minutes, stale]);
    expect(decide(at(from + hours + minutes, again, restarted)).status.hosts).toEqual(decide(restarted).status.hosts);
  });

  test('is not reported for an address that the edge has no more', () => {
    const gone = at(from + 15 * minutes, served({edge: undefined, edgeLookedAt: undefined, edgeIncomplete: true}));
    expect(hostLines(decide(gone))).toEqual(works);
  });

  test('keeps the reason of a drift, and its condition Live is False all the same', () => {
    const doubt = {...live.claims.get(docs)!};
    doubt.status = {...doubt.status!, negativeSince: timestamp(t0), negativeAt: timestamp(from), negatives: 4};
    const drifted = {...probed(...series(from)), ...refuted('TargetMismatch', 'Missing', [], from + 15 * minutes)};
    const d = decide(at(from + 15 * minutes, drifted, live, {claims: new Map([[docs, doubt]])}));
    expect(hostLines(d)).toEqual([`${docs} Live DNSDrifted Customer`]);
    expect(conditionLines(d).slice(4, 6)).toEqual(['Live=False/EdgeNotServing', 'Ready=False/EdgeNotServing']);
  });
});

describe('A Live hostname whose certificate is lost', () => {
  const from = t0 + hours;
  const issuing = {...noLeaf, issuing: true, issuingSince: timestamp(from)};

  test('stays Live with its routes; CertificateReady and Ready are False, with the words of cert-manager', () => {
    const d = decide(at(from, {...served(), certificate: issuing}));
    expect(hostLines(d)).toEqual([`${docs} Live CertificateLost CertificateAuthority`]);
    expect(conditionLines(d).slice(2)).toEqual([
      'CertificateReady=False/CertificateLost',
      'RoutesReady=True/Routed',
      'Live=True/Serving',
      'Ready=False/CertificateLost',
      'Reconciling=True/CertificateLost',
    ]);
    expect(condition(d, 'CertificateReady')?.message).toBe(
      `The certificate of ${docs} is missing or not valid. cert-manager reports: Issuing certificate as Secret does not exist. ` +
        `${docs} is verified; its certificate is being issued, usually within a couple of minutes.`,
    );
    expect(objectLines(d)).toEqual(objectLines(decide(live)));
  });

  test('is told that CAA forbids another one, also while DNS cannot be asked', () => {
    const caa = {
      kind: 'Blocked' as const,
      by: 'Customer' as const,
      miss: 'Issuer' as const,
      message: 'example.com has CAA.',
    };
    const gated = {...live, policy: {...live.policy, ...withIssuer({caaIdentities: ['ca.example']})}};
    const verdict: Verdict = {kind: 'Proven', by: 'CNAME', apex: false, caa};
    const blocked = at(from, {...served(), verdict, certificate: issuing}, gated);
    const [said] = decide(blocked).status.hosts!;
    expect(said).toMatchObject({reason: 'CertificateLost', message: expect.stringContaining('example.com has CAA.')});
    const silent = {...served(), ...unknown('AuthoritativeFailure', from), certificate: issuing};
    expect(decide(at(from, silent, blocked)).status.hosts).toEqual([said]);
  });

  test('gets a fresh attempt on Verify if cert-manager is not at it', () => {
    const request = {value: 'now', seenAt: from + minutes};
    const facts = {...served(), checkedAt: from + minutes, edgeLookedAt: from + minutes};
    const attempts = (c: CertificateFacts) =>
      decide(at(from + minutes, {...facts, certificate: c}, live, {request})).freshAttempts;
    expect(attempts(noLeaf)).toMatchObject([{mark: true}]);
    expect(attempts(issuing)).toEqual([]);
  });

  test('keeps CertificateReady while only its issuer or its spec changes and its leaf is served', () => {
    for (const reason of ['IncorrectIssuer', 'SecretMismatch', 'RequestChanged']) {
      const changing = certificate({ready: false, unready: {since: timestamp(from), reason, message: 'changes'}});
      expect(hostLines(decide(at(from, {...served(), certificate: changing})))).toEqual(works);
      const faulty = {...probed(...series(from)), certificate: changing};
      expect(hostLines(decide(at(from + 15 * minutes, faulty)))).toEqual([
        `${docs} Live CertificateLost CertificateAuthority`,
      ]);
    }
  });
});
