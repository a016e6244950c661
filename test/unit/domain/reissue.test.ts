/** Reissue: a new certificate with a new key when a user asks for it, within the budgets, once for each request. */
import {describe, expect, test} from '@jest/globals';
import {reissueAnnotation} from '../../../operator/api/custom-domain.ts';
import type {CertificateFacts} from '../../../operator/domain/certificates/certificate.ts';
import {decide} from '../../../operator/domain/lifecycle.ts';
import {timestamp} from '../../../operator/domain/times.ts';
import type {HostFacts, World} from '../../../operator/domain/world.ts';
import {
  withIssuer,
  certificate,
  days,
  edgeAt,
  entryOf,
  hostLines,
  hours,
  later,
  leaf,
  minutes,
  otherLeaf,
  policy,
  proven,
  refuted,
  seconds,
  served,
  settled,
  t0,
  world,
} from '../../support/world.ts';

const docs = 'docs.example.com';
const old = 'old.example.com';
const newest = {namespace: 'acme', name: 'docs-1', uid: 'uid-request'};
/** Issued a day ago. */
const present = certificate({
  createdAt: timestamp(t0 - days),
  orderedAt: timestamp(t0 - days),
  attemptAt: timestamp(t0 - days),
  issuedAt: timestamp(t0 - days),
  request: newest,
});
const requestedAt = t0 + hours;
const requested = timestamp(requestedAt);
/** When an attempt may begin. */
const due = requestedAt + 5 * seconds;

/** Live for a while, with facts and an annotation that are new. */
function live(
  change: Partial<HostFacts> = {},
  {now = due, value = requested}: {now?: number; value?: string} = {},
): World {
  const before = settled(world({facts: {[docs]: served({certificate: present})}}));
  const {domain} = before;
  const annotations = {[reissueAnnotation]: value};
  return later(before, {
    now,
    domain: {...domain, metadata: {...domain.metadata, annotations}},
    facts: {[docs]: served({certificate: present, ...change})},
  });
}
const asked = (...of: Parameters<typeof live>) => decide(live(...of));

test('a reissue whose attempt could not be written stays requested, and the hostname stays Live', () => {
  const d = asked({writeError: {kind: 'WriteFailed', object: 'Certificate acme/docs', says: 'the webhook is away'}});
  expect([hostLines(d), d.status.lastHandledReissueAt]).toEqual([[`${docs} Live WriteFailed Platform`], undefined]);
});
const onItsWay =
  'docs.example.com is served over TLS. A new certificate with a new key was requested and is on its way.';
const attempts = (change: Partial<CertificateFacts>) =>
  asked({certificate: {...present, ...change}}, {now: due + hours}).freshAttempts;
const answer = {orderedAt: timestamp(due), attemptAt: timestamp(due), issuedAt: timestamp(due + minutes)};

describe('A reissue', () => {
  test('asks the order queue first, behind all hostnames without a certificate, and the hostname stays Live', () => {
    const d = asked({grant: undefined});
    expect(d.freshAttempts).toEqual([]);
    expect(d.orderRequests).toMatchObject([{hostname: docs, state: 'Wanted', since: t0 + 90 * days}]);
    expect(hostLines(d)).toEqual([`${docs} Live Serving Nobody`]);
    expect(entryOf(d, docs)?.message).toContain(onItsWay);
    expect(d.status.lastHandledReissueAt).toBeUndefined();
  });

  test('marks the Certificate when it is granted, deletes no request, and counts until cert-manager asks', () => {
    const d = asked();
    const [{metadata}] = d.certificates as [(typeof d.certificates)[0]];
    const {namespace, name} = metadata;
    expect(d.freshAttempts).toEqual([{certificate: {namespace, name}, mark: true}]);
    expect(d.orderRequests).toMatchObject([{state: 'Ordered'}]);
    const marked = asked({certificate: {...present, issuing: true}});
    expect([marked.freshAttempts, marked.orderRequests]).toEqual([[], [expect.objectContaining({state: 'Ordered'})]]);
    const under = asked({certificate: {...present, issuing: true, attemptAt: timestamp(due)}});
    expect([under.freshAttempts, under.orderRequests]).toEqual([[], []]);
    expect(entryOf(under, docs)?.message).toContain(onItsWay);
  });

  test('makes one attempt for each request: not while cert-manager issues, not after one that failed, not after it is issued', () => {
    expect(attempts({})).toHaveLength(1);
    expect(attempts({issuing: true})).toEqual([]);
    expect(attempts({attemptAt: timestamp(due), failure: 'order is invalid'})).toEqual([]);
    expect(attempts(answer)).toEqual([]);
    expect(attempts({attemptAt: timestamp(due), issuing: true})).toEqual([]);
  });

  test('says why the last attempt failed', () => {
    const d = asked({certificate: {...present, attemptAt: timestamp(due), failure: 'order is invalid'}});
    expect(entryOf(d, docs)).toMatchObject({phase: 'Live', reason: 'Serving'});
    expect(entryOf(d, docs)?.message).toContain('cert-manager tries again later. order is invalid.');
  });

  test('deletes the failed request of an earlier attempt, which would count as the answer', () => {
    const failed = {...newest, uid: 'uid-failed'};
    const change = {attemptAt: timestamp(requestedAt - minutes), failure: 'order is invalid', request: failed};
    expect(attempts(change)).toEqual([expect.objectContaining({request: failed, mark: true})]);
  });

  test('stays within the budget of the hostname, and says until when', () => {
    const orders = [1, 2, 3, 4].map((ago) => {
      const at = timestamp(t0 - ago * hours);
      return {at, outcome: 'Issued' as const, endedAt: at};
    });
    const d = asked({orders});
    expect([d.freshAttempts, d.orderRequests]).toEqual([[], []]);
    expect(hostLines(d)).toEqual([`${docs} Live Serving Nobody`]);
    expect(entryOf(d, docs)?.message).toContain('has used its budget of certificates (at most 5 in 7 days)');
  });

  test('waits in the order queue, and says until when', () => {
    const d = asked({grant: {kind: 'Queued', since: t0, place: 7, expectedAt: due + hours}});
    expect([d.freshAttempts, d.orderRequests.map((w) => w.state)]).toEqual([[], ['Wanted']]);
    expect(entryOf(d, docs)?.message).toContain('at position 7');
  });

  test('begins only while DNS verifies the hostname', () => {
    const d = asked(refuted('TargetMismatch', 'Wrong', [], due));
    expect(hostLines(d)).toEqual([`${docs} Live Serving Nobody`]);
    expect([d.freshAttempts, d.orderRequests, d.status.lastHandledReissueAt]).toEqual([[], [], undefined]);
  });

  test('reads the CAA records before it begins', () => {
    const start = live({});
    const gated = {...start, policy: {...policy, ...withIssuer({caaIdentities: ['ca1.example.net']})}};
    const d = decide(gated);
    expect(d.freshAttempts).toEqual([]);
    expect(d.looks.find(({what}) => what === 'dns')).toMatchObject({at: due, caa: true});
  });

  test('is done when the edge presents the new certificate', () => {
    const issued = {...present, ...answer, leafSha256: otherLeaf};
    const before = asked({certificate: issued, edge: [edgeAt('192.0.2.1', {leafSha256: leaf})]}, {now: due + minutes});
    expect([before.freshAttempts, before.status.lastHandledReissueAt]).toEqual([[], undefined]);
    const seen = {edge: [edgeAt('192.0.2.1', {leafSha256: otherLeaf})], edgeLookedAt: due + 2 * minutes};
    const done = live({certificate: issued, ...seen}, {now: due + 2 * minutes});
    expect(decide(done).status.lastHandledReissueAt).toBe(requested);
    expect(entryOf(decide(done), docs)?.message).toBe('docs.example.com is served over TLS.');
    // It stays done after a restart, when nothing has been seen yet.
    const restarted = later(done, {now: due + hours, facts: {[docs]: {certificate: issued}}});
    expect(decide(restarted).status.lastHandledReissueAt).toBe(requested);
  });

  test('is done when all hostnames are', () => {
    const redirects = [{from: old}];
    const start = settled(world({redirects, facts: {[docs]: served(), [old]: served()}}));
    const domain = {
      ...start.domain,
      metadata: {...start.domain.metadata, annotations: {[reissueAnnotation]: requested}},
    };
    const d = decide({...start, domain, now: due});
    expect(d.freshAttempts).toHaveLength(2);
    expect(d.status.lastHandledReissueAt).toBeUndefined();
  });

  test('of a hostname without a certificate is done: what is ordered gets a new key', () => {
    const start = world({facts: {[docs]: proven()}});
    const domain = {
      ...start.domain,
      metadata: {...start.domain.metadata, annotations: {[reissueAnnotation]: requested}},
    };
    const d = decide({...start, domain});
    expect([d.freshAttempts, d.status.lastHandledReissueAt]).toEqual([[], requested]);
  });

  test('waits for a time in the future, and says so', () => {
    const d = asked({}, {value: timestamp(due + 2 * hours)});
    expect([d.freshAttempts, d.orderRequests]).toEqual([[], []]);
    expect(entryOf(d, docs)?.message).toContain(
      'was requested for 2026-03-01 15:01 UTC. Doorplate does not order it earlier.',
    );
    const soon = asked({}, {value: timestamp(due - seconds)});
    expect(soon.freshAttempts).toEqual([]);
    expect(soon.wakeAt).toBe(due + 4 * seconds);
  });

  test.each(['now', '', '2026-13-01T00:00:00Z', '2026-03-01', '1772366400'])(
    'of %j is refused in the message',
    (value) => {
      const d = asked({}, {value});
      expect([d.freshAttempts, d.status.lastHandledReissueAt]).toEqual([[], undefined]);
      expect(hostLines(d)).toEqual([`${docs} Live Serving Nobody`]);
      expect(entryOf(d, docs)?.message).toContain(`${reissueAnnotation} must be a time in RFC 3339`);
    },
  );

  test('replaces a retained certificate after it has returned to use', () => {
    const resting = {...present, resting: true as const};
    const returns = asked({certificate: resting, certificateNames: {serves: present.name}});
    expect([returns.freshAttempts, returns.returning]).toEqual([[], [`acme/${present.name}`]]);
    expect(returns.status.lastHandledReissueAt).toBeUndefined();
    expect(attempts({})).toHaveLength(1);
  });
});
