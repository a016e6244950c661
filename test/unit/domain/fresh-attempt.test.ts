/** Re-verify: another attempt at a certificate, when there is reason for one, once for each time that somebody asks. */
import {describe, expect, test} from '@jest/globals';
import type {CertificateFacts} from '../../../operator/domain/certificates/certificate.ts';
import type {Diagnosis} from '../../../operator/domain/certificates/diagnosis.ts';
import {decide} from '../../../operator/domain/lifecycle.ts';
import {timestamp} from '../../../operator/domain/times.ts';
import type {HostFacts} from '../../../operator/domain/world.ts';
import {
  withIssuer,
  certificate,
  later,
  minutes,
  policy,
  proven,
  refuted,
  seconds,
  t0,
  unknown,
  world,
} from '../../support/world.ts';

/** What cert-manager says has been read. */
const diagnosis: Diagnosis = {said: []};
const absent = (change: Partial<CertificateFacts>): CertificateFacts => ({
  ...certificate({ready: false, createdAt: timestamp(t0 - 40 * minutes), ...change}),
  leafSha256: undefined,
  notAfter: undefined,
});
const pending = {namespace: 'acme', name: 'docs-1', uid: 'uid-request'};
const request = {value: 'now', seenAt: t0 - seconds};

/** Verified before, in the state that the facts give, asked for a moment ago and looked at since. */
function asked(known: HostFacts, extra: {request?: undefined}) {
  const facts = {grant: {kind: 'Granted'} as const, diagnosis, ...known};
  const before = world({facts: {'docs.example.com': {...proven(t0 - 30 * seconds), certificate: facts.certificate}}});
  return decide(later(before, {now: t0 + seconds, facts: {'docs.example.com': facts}, request, ...extra}));
}

const stalled = absent({
  attemptAt: timestamp(t0 - 31 * minutes),
  request: pending,
  waiting: 'order is pending',
  issuing: true,
});
const failed = absent({attemptAt: timestamp(t0 - minutes), failure: 'order is invalid', request: pending});

const lateRenewal = certificate({
  renewalTime: timestamp(t0 - 20 * 24 * 60 * minutes),
  notAfter: timestamp(t0 + 24 * 60 * minutes),
  attemptAt: timestamp(t0 - minutes),
  waiting: 'order is pending',
  request: pending,
});
const writeError = {kind: 'WriteFailed', object: 'Certificate acme/docs', says: 'the webhook is away'} as const;

describe('A fresh attempt', () => {
  test('deletes the CertificateRequest of a stalled issuance, by its UID, and answers the Re-verify', () => {
    const d = asked({...proven(t0), certificate: stalled}, {});
    expect(d.freshAttempts).toEqual([
      {
        request: pending,
        mark: false,
        certificate: d.certificates.map(({metadata}) => ({namespace: metadata.namespace, name: metadata.name}))[0],
      },
    ]);
    expect(d.status.lastHandledReconcileAt).toBe('now');
    expect(d.status.hosts?.[0]).toMatchObject({phase: 'Verified', reason: 'Issuing'});
  });

  test.each([
    ['in place of a stalled one', stalled],
    ['in place of a failed one', failed],
    ['of a renewal that is late', lateRenewal],
  ])('%s that could not be written leaves the request unanswered, and its Certificate is named', (_, known) => {
    const d = asked({...proven(t0), certificate: known, writeError}, {});
    expect([d.status.lastHandledReconcileAt, d.status.hosts?.[0]?.reason]).toEqual([undefined, 'WriteFailed']);
    // The messages that were read stay known: the next decision begins the attempt again.
    expect(d.looks.map(({what}) => what)).toContain('issuance');
    expect(d.status.hosts?.[0]?.message).toBe(
      'Certificate acme/docs could not be written; Doorplate tries again. The API server reports: the webhook is away',
    );
  });

  test('that is not due leaves no request unanswered, whatever could not be written', () => {
    const d = asked({...proven(t0), certificate: certificate(), writeError}, {});
    expect([d.status.lastHandledReconcileAt, d.status.hosts?.[0]?.reason]).toEqual(['now', 'WriteFailed']);
  });

  test('marks the Certificate of a failed issuance for another attempt', () => {
    expect(asked({...proven(t0), certificate: failed}, {}).freshAttempts).toEqual([
      expect.objectContaining({request: pending, mark: true}),
    ]);
  });

  test('marks the Certificate, too, where its failed request is gone already', () => {
    const d = asked({...proven(t0), certificate: {...failed, request: undefined}}, {});
    expect(d.freshAttempts).toEqual([{mark: true, certificate: expect.anything()}]);
    expect(d.status.lastHandledReconcileAt).toBe('now');
  });

  test.each([
    ['was stalled', stalled, {}],
    ['had failed', failed, {issuingSince: timestamp(t0)}],
  ])('in place of one that %s is being issued before cert-manager has made its request', (_, before, change) => {
    const facts = {...proven(t0), certificate: before, grant: {kind: 'Granted'} as const, diagnosis};
    const told = world({facts: {'docs.example.com': {...facts, checkedAt: t0 - 30 * seconds}}});
    const begun = later(told, {now: t0 + seconds, facts: {'docs.example.com': facts}, request});
    const between = {...facts, certificate: absent({issuing: true, ...change}), diagnosis: undefined};
    const d = decide(later(begun, {now: t0 + 2 * seconds, facts: {'docs.example.com': between}, request: undefined}));
    expect(d.status.hosts?.[0]).toMatchObject({phase: 'Verified', reason: 'Issuing'});
    expect(d.wakeAt).toBeGreaterThan(t0 + 29 * minutes);
  });

  const none: [string, HostFacts, {request?: undefined}][] = [
    [
      'while an issuance is on its way and not late',
      {
        ...proven(t0),
        certificate: absent({
          attemptAt: timestamp(t0 - minutes),
          request: pending,
          waiting: 'order is pending',
          issuing: true,
        }),
      },
      {},
    ],
    ['while cert-manager has begun another one itself', {...proven(t0), certificate: {...failed, issuing: true}}, {}],
    ['before it was looked at again', {...proven(t0 - 2 * seconds), certificate: stalled}, {}],
    ['when it verifies no longer', {...refuted('TargetMismatch', 'Wrong', [], t0), certificate: stalled}, {}],
    [
      'when nobody could say whether it verifies',
      {...unknown('AuthoritativeUnreachable', t0), certificate: stalled},
      {},
    ],
    ['when nobody asked', {...proven(t0), certificate: stalled}, {request: undefined}],
    [
      'when CAA records block the CA',
      {
        verdict: {
          kind: 'Proven',
          by: 'CNAME',
          apex: false,
          caa: {kind: 'Blocked', by: 'Customer', miss: 'Issuer', message: 'example.com has CAA.'},
        },
        checkedAt: t0,
        certificate: stalled,
      },
      {},
    ],
    [
      'when CAA records could not be read',
      {
        verdict: {kind: 'Proven', by: 'CNAME', apex: false, caa: {kind: 'Unknown', message: 'SERVFAIL'}},
        checkedAt: t0,
        certificate: stalled,
      },
      {},
    ],
    ['of what is Live', {...proven(t0), certificate: certificate()}, {}],
  ];
  test.each(none)('is not made %s', (_, facts, extra) => {
    expect(asked(facts, extra).freshAttempts).toEqual([]);
  });

  test.each([
    ['one that failed', failed],
    [
      'a renewal that is late',
      certificate({
        renewalTime: timestamp(t0 - 20 * 24 * 60 * minutes),
        notAfter: timestamp(t0 + 24 * 60 * minutes),
        waiting: 'order is pending',
        request: pending,
      }),
    ],
  ])(
    'of %s is made once for each time that somebody asks, however long other hostnames are still looked at',
    (_, of) => {
      const attempts = (attemptAt: number): number =>
        asked({...proven(t0), certificate: {...of, attemptAt: timestamp(attemptAt)}}, {}).freshAttempts.length;
      // It was asked for a second before.
      expect([attempts(t0 - minutes), attempts(t0)]).toEqual([1, 0]);
    },
  );

  test('is made where the last one failed within the second in which somebody asked', () => {
    const facts = {
      ...proven(t0),
      certificate: {...failed, attemptAt: timestamp(t0)},
      diagnosis,
      grant: {kind: 'Granted'} as const,
    };
    const before = world({facts: {'docs.example.com': {...proven(t0 - 30 * seconds), certificate: facts.certificate}}});
    const within = {value: 'now', seenAt: t0 + 300};
    const d = decide(
      later(before, {now: t0 + seconds, facts: {'docs.example.com': {...facts, checkedAt: t0 + 500}}, request: within}),
    );
    expect(d.freshAttempts).toHaveLength(1);
  });

  test('is not made again while the CertificateRequest of the last one is young', () => {
    const first = world({
      facts: {
        'docs.example.com': {
          ...proven(t0),
          certificate: absent({attemptAt: timestamp(t0), request: {...pending, uid: 'uid-next'}, issuing: true}),
        },
      },
      now: t0 + seconds,
    });
    expect(decide({...first, request}).freshAttempts).toEqual([]);
  });

  test('is not made while CAA blocks the issuance: the message says so instead, also right after a restart', () => {
    const gated = {...policy, ...withIssuer({caaIdentities: ['ca1.example.net']})};
    const before = world({
      policy: gated,
      facts: {
        'docs.example.com': {
          verdict: {
            kind: 'Proven',
            by: 'CNAME',
            apex: false,
            caa: {kind: 'Blocked', by: 'Customer', miss: 'Issuer', message: 'example.com has CAA.'},
          },
          checkedAt: t0,
          certificate: stalled,
        },
      },
    });
    const said = decide(before).status.hosts?.[0];
    expect(said).toMatchObject({phase: 'Verified', reason: 'CAABlocksIssuer', message: 'example.com has CAA.'});
    expect(
      decide(later(before, {now: t0 + seconds, facts: {'docs.example.com': {certificate: stalled}}})).status.hosts?.[0],
    ).toEqual(said);
  });
});
