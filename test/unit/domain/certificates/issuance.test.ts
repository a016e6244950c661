/** From the proof to the certificate, and to the next one: the line, the budgets, what is said when it is stuck, expiry. */
import {describe, expect, test} from '@jest/globals';
import type {Order} from '../../../../operator/domain/certificates/budget.ts';
import type {CertificateFacts} from '../../../../operator/domain/certificates/certificate.ts';
import {release} from '../../../../operator/domain/claims/claim.ts';
import type {Diagnosis} from '../../../../operator/domain/certificates/diagnosis.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import type {Verdict} from '../../../../operator/domain/verification/method.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import type {Decision, HostFacts} from '../../../../operator/domain/world.ts';
import {
  withIssuer,
  certificate,
  condition,
  days,
  entryOf,
  heldClaim,
  hostLines,
  hours,
  later,
  minutes,
  objectLines,
  plan,
  proven,
  seconds,
  served,
  settled,
  t0,
  tenantOn,
  unknown,
  world,
} from '../../../support/world.ts';

const docs = 'docs.example.com';
const allowed: Verdict = {kind: 'Proven', by: 'CNAME', apex: false, caa: {kind: 'Allowed'}};
const blockedBy = (message: string): Verdict => ({
  ...allowed,
  caa: {kind: 'Blocked', by: 'Customer', miss: 'Issuer', message},
});
const old = 'old.example.com';
const queued: HostFacts = {...proven(), grant: {kind: 'Queued', since: t0, place: 7, expectedAt: t0 + 90 * minutes}};
const request = {namespace: 'acme', name: 'docs-1', uid: 'uid-request'};
/** Ordered and not issued yet. */
const ordered = (change: Partial<CertificateFacts> = {}): CertificateFacts => ({
  ...certificate({
    ready: false,
    issuing: true,
    createdAt: timestamp(t0),
    attemptAt: timestamp(t0),
    request,
    waiting: 'Waiting on certificate issuance from order acme/docs-1-2: "pending"',
    ...change,
  }),
  leafSha256: undefined,
  notAfter: change.notAfter,
});
const failing = (change: Partial<CertificateFacts> = {}) =>
  ordered({issuing: false, waiting: undefined, failure: 'order is in "invalid" state:', ...change});
const refused: Diagnosis = {
  said: [
    {
      kind: 'Challenge',
      name: 'docs-1-2-3',
      state: 'invalid',
      reason: 'dial tcp 192.0.2.1:80: connect: connection refused',
    },
    {kind: 'Order', name: 'docs-1-2', state: 'invalid', reason: ''},
  ],
};
const failures = (...agoMs: number[]): Order[] =>
  agoMs.map((ago) => ({
    at: timestamp(t0 - ago - minutes),
    outcome: 'Failed',
    endedAt: timestamp(t0 - ago),
    message: 'connection refused',
  }));
const pending = (count: number): Order[] =>
  Array.from({length: count}, (_, i) => ({at: timestamp(t0 - (count - i) * minutes), outcome: 'Pending'}));
/** Ordered so often, and still under way. */
const attempted = (orders: Order[], change: Partial<HostFacts> = {}) =>
  decide(world({facts: {[docs]: {...proven(), certificate: ordered(), orders, ...change}}}));
const only = (d: Decision) => entryOf(d, docs)!;
const issuanceLooks = (d: Decision) =>
  d.looks.filter((l) => l.what === 'issuance').map(({at, attempt}) => ({at, id: attempt?.id}));

describe('The line', () => {
  test('a host that waits in line has no Certificate yet; its message has the place and an expected time, which does not change until it has passed', () => {
    const first = world({facts: {[docs]: queued}});
    const d = decide(first);
    expect([hostLines(d), objectLines(d), d.wakeAt]).toEqual([
      [`${docs} Verified IssuanceQueued Nobody`],
      [],
      t0 + 90 * minutes,
    ]);
    expect(only(d).message).toBe(
      `${docs} is verified; its order waits in the order queue at position 7 (the whole platform may order at most 300 in 3 hours). Doorplate expects to order it by 2026-03-01 13:30 UTC.`,
    );
    expect(condition(d, 'Reconciling')).toMatchObject({reason: 'IssuanceQueued'});
    expect(condition(d, 'CertificateReady')).toMatchObject({status: 'False', reason: 'IssuanceQueued'});
    expect(decide(later(first, {now: t0 + 80 * minutes})).status).toEqual(d.status);
  });

  test("a host's place in line is the time at which it began to wait, after a restart too", () => {
    const waiting = world({facts: {[docs]: queued}});
    const orderRequest = {
      hostname: docs,
      certificate: 'acme/docs-example-com-8pqw5vs250215',
      issuer: 'letsencrypt',
      state: 'Wanted',
      since: t0,
    };
    expect(decide(waiting).orderRequests).toEqual([orderRequest]);
    expect(
      decide(later(waiting, {now: t0 + hours, facts: {[docs]: {...proven(), grant: undefined}}})).orderRequests,
    ).toEqual([orderRequest]);
  });

  test('a host keeps its place and its message while CAA has not been read again: after a restart, or when DNS could not be asked', () => {
    const waiting = world({
      policy: withIssuer({caaIdentities: ['ca.example']}),
      facts: {[docs]: {...queued, verdict: allowed}},
    });
    const said = decide(waiting);
    for (const facts of [
      {},
      {grant: queued.grant, ...unknown('AuthoritativeFailure', t0 + minutes)},
      {grant: {kind: 'Granted'} as const},
    ]) {
      const d = decide(later(waiting, {now: t0 + minutes, facts: {[docs]: facts}}));
      expect([d.status, d.orderRequests, d.certificates]).toEqual([said.status, said.orderRequests, []]);
      expect(d.looks).toEqual([expect.objectContaining({what: 'dns', caa: true})]);
    }
  });

  test('a host that is granted an order gets its Certificate, and keeps its place until cert-manager has the order', () => {
    const orderRequest = (facts: HostFacts) =>
      decide(world({facts: {[docs]: facts}, now: t0 + seconds})).orderRequests.map((w) => w.state);
    expect(decide(world({facts: {[docs]: proven()}})).certificates).toHaveLength(1);
    expect(orderRequest(proven())).toEqual(['Wanted']);
    expect(orderRequest({...proven(), certificate: ordered({request: undefined})})).toEqual(['Ordered']);
    expect(orderRequest({...proven(), certificate: ordered()})).toEqual(['UnderWay']);
    expect(orderRequest(served())).toEqual([]);
  });

  test('an order that was granted counts until cert-manager has it, whatever is said of its host meanwhile', () => {
    const [notAsked, asked] = [ordered({request: undefined}), ordered()];
    const verified = world({facts: {[docs]: {...proven(), certificate: notAsked}}});
    const writeError = {kind: 'WriteRefused', object: 'Ingress acme/docs', says: 'no'} as const;
    const live = settled(world({redirects: [{from: old}], facts: {[docs]: served(), [old]: served()}}));
    const spec = {...live.domain.spec, primary: old, redirects: [{from: docs, status: 301 as const}]};
    const standing = {serves: {since: t0 - hours, isWhole: true}};
    const said = (known: CertificateFacts) => {
      const facts = {...proven(), certificate: known};
      return [
        decide(later(verified, {tenant: tenantOn(plan('free', 0)), facts: {[docs]: facts}})),
        decide(later(verified, {facts: {[docs]: {...facts, writeError}}})),
        decide(later(live, {domain: {...live.domain, spec}, facts: {[old]: served(), [docs]: {...facts, standing}}})),
      ];
    };
    expect(said(notAsked).map((d) => [entryOf(d, docs)?.reason, d.orderRequests])).toEqual(
      ['PlanUpgradeRequired', 'WriteRefused', 'Serving'].map((reason) => [
        reason,
        [expect.objectContaining({hostname: docs, state: 'Ordered', since: t0})],
      ]),
    );
    expect(said(asked).map((d) => d.orderRequests.filter((w) => w.state === 'Ordered'))).toEqual([[], [], []]);
  });

  test('a host that moves to another issuer stands behind all who have no certificate, by when its own ends', () => {
    const issuerRef = {name: 'staging', kind: 'ClusterIssuer'};
    const ends = (notAfter: string) =>
      decide(world({facts: {[docs]: served({...queued, certificate: certificate({issuerRef, notAfter})})}}));
    const [sooner, last] = [timestamp(t0 + 10 * days), timestamp(t0 + 80 * days)];
    expect([ends(last), ends(sooner)].flatMap((d) => d.orderRequests)).toMatchObject([
      {state: 'Wanted', since: Date.parse(last)},
      {state: 'Wanted', since: Date.parse(sooner)},
    ]);
    expect(hostLines(ends(last))).toEqual([`${docs} Live Serving Nobody`]);
  });

  test('a host that is not proven, or that CAA holds back, is not in line', () => {
    expect(decide(world()).orderRequests).toEqual([]);
    const blocked = {...proven(), verdict: blockedBy('CAA.')};
    expect(
      decide(world({policy: withIssuer({caaIdentities: ['ca.example']}), facts: {[docs]: blocked}})).orderRequests,
    ).toEqual([]);
  });

  test('DNS and CAA are checked while a host waits, so that it still verifies when its order is made', () => {
    expect(
      decide(
        world({policy: withIssuer({caaIdentities: ['ca.example']}), facts: {[docs]: {...queued, verdict: allowed}}}),
      ).looks,
    ).toEqual([expect.objectContaining({hostname: docs, what: 'dns', at: t0 + 15 * seconds, caa: true})]);
  });

  test('a Live host whose Certificate was deleted keeps its routes while the new order waits in line', () => {
    const live = settled(world({redirects: [{from: old}], facts: {[docs]: served(), [old]: served()}}));
    const d = decide(later(live, {facts: {[docs]: served(), [old]: queued}}));
    expect(hostLines(d)[1]).toBe(`${old} Verified IssuanceQueued Nobody`);
    expect(d.routes).toEqual(decide(live).routes);
    expect(entryOf(d, old)?.redirect).toEqual({to: docs, status: 301});
  });
});

describe('A budget that is spent', () => {
  test('of the hostname: nothing is ordered before the time in the message, and then it is decided again', () => {
    const d = decide(world({facts: {[docs]: {...proven(), orders: failures(10 * minutes, minutes)}}}));
    expect([hostLines(d), objectLines(d), d.orderRequests, d.wakeAt]).toEqual([
      [`${docs} Verified IssuanceBudgetExhausted Platform`],
      [],
      [],
      t0 + 20 * minutes,
    ]);
    expect(only(d).message).toBe(
      `Too many attempts to issue the certificate of ${docs} failed (at most 2 in 60 minutes). Doorplate tries again after 2026-03-01 12:20 UTC. The last failure: connection refused.`,
    );
    expect(condition(d, 'Stalled')).toMatchObject({reason: 'IssuanceBudgetExhausted'});
    expect(
      decide(world({now: t0 + 20 * minutes, facts: {[docs]: {...proven(), orders: failures(10 * minutes, minutes)}}}))
        .certificates,
    ).toHaveLength(1);
  });

  test('of the registered domain: the host waits for the certificate authority', () => {
    const d = decide(world({facts: {[docs]: {...proven(), grant: {kind: 'Exhausted', since: t0, until: t0 + days}}}}));
    expect([hostLines(d), objectLines(d), d.wakeAt]).toEqual([
      [`${docs} Verified IssuanceBudgetExhausted CertificateAuthority`],
      [],
      t0 + days,
    ]);
    expect(only(d).message).toContain('the certificates of a registered domain (at most 50 in 7 days)');
    expect(only(d).message).toContain('after 2026-03-02 12:00 UTC');
  });

  test('by failures removes the Certificate, which cert-manager would retry by itself, once the cause is known', () => {
    const facts = {...proven(), certificate: failing(), orders: failures(10 * minutes, 0)};
    const unread = decide(world({facts: {[docs]: facts}}));
    expect([
      unread.certificates.length,
      unread.looks.filter((l) => l.what === 'issuance').map((l) => l.attempt?.request),
    ]).toEqual([1, ['uid-request']]);
    const d = decide(world({facts: {[docs]: {...facts, diagnosis: refused}}}));
    expect([hostLines(d), objectLines(d)]).toEqual([[`${docs} Verified IssuanceBudgetExhausted Platform`], []]);
    expect(only(d).message).toContain('The last failure: dial tcp 192.0.2.1:80: connect: connection refused.');
  });

  describe('by orders that were not granted', () => {
    test('removes the Certificate although no order has failed: somebody makes cert-manager order again and again', () => {
      const d = attempted(pending(7));
      expect([hostLines(d), objectLines(d), d.wakeAt]).toEqual([
        [`${docs} Verified IssuanceBudgetExhausted Platform`],
        [],
        t0 + 59 * minutes,
      ]);
    });

    test('allows one order more, because cert-manager now and then replaces its own request', () => {
      expect(attempted(pending(6)).certificates).toHaveLength(1);
    });

    test('removes no Certificate that has been issued', () => {
      expect(attempted(pending(7), {certificate: ordered({notAfter: timestamp(t0 + days)})}).certificates).toHaveLength(
        1,
      );
    });
  });

  test('never removes a Certificate that has been issued before: renewals are counted, not held back', () => {
    const renewing = {
      ...served(),
      certificate: {...failing({notAfter: timestamp(t0 + days)})},
      diagnosis: refused,
      orders: failures(50 * minutes, 10 * minutes, 0),
    };
    expect(decide(world({facts: {[docs]: renewing}})).certificates).toHaveLength(1);
    const live = settled(world({facts: {[docs]: served()}}));
    const d = decide(
      later(live, {
        facts: {[docs]: {...renewing, certificate: {...renewing.certificate, renewalTime: timestamp(live.now)}}},
      }),
    );
    expect([hostLines(d), d.certificates.length]).toEqual([[`${docs} Live CertificateLost Platform`], 1]);
  });

  test('answers a Re-verify; a place in line does not yet', () => {
    const asked = (facts: HostFacts) =>
      decide({...world({facts: {[docs]: facts}}), request: {value: 'now', seenAt: t0 - seconds}});
    const stuck = {...proven(), certificate: failing({attemptAt: timestamp(t0 - minutes)}), diagnosis: refused};
    expect(asked({...stuck, orders: failures(10 * minutes, 0)}).status.lastHandledReconcileAt).toBe('now');
    const waits = asked({
      ...stuck,
      grant: {kind: 'Queued', since: t0, place: 1, expectedAt: t0 + minutes},
      orders: failures(0),
    });
    expect([
      hostLines(waits),
      waits.freshAttempts,
      waits.status.lastHandledReconcileAt,
      waits.certificates.length,
    ]).toEqual([[`${docs} Verified IssuanceQueued Nobody`], [], undefined, 1]);
    const granted = asked({...stuck, orders: failures(0)});
    expect([granted.freshAttempts.length, granted.status.lastHandledReconcileAt]).toEqual([1, 'now']);
  });
});

/** The orders that are written on claims. */
const orderWrites = (facts: HostFacts, remembered?: Order[]) =>
  decide(
    world({
      facts: {[docs]: facts},
      ...(remembered && {
        claims: {
          [docs]: {
            ...heldClaim(docs, 'uid-domain'),
            status: {...heldClaim(docs, 'uid-domain').status!, orders: remembered},
          },
        },
      }),
    }),
  ).claims.map((c) => c.status.orders);

describe('The claim remembers', () => {
  const failedNow: Order = {
    at: timestamp(t0),
    outcome: 'Failed',
    endedAt: timestamp(t0),
    message: 'dial tcp 192.0.2.1:80: connect: connection refused',
  };
  const stuck = {
    ...proven(),
    certificate: failing({endedAt: timestamp(t0)}),
    orders: [{...failedNow, message: undefined}],
  };

  test('a failed order, once, with its cause, because its CertificateRequest goes with the next attempt', () => {
    expect(orderWrites(stuck)).toEqual([]);
    expect(orderWrites({...stuck, diagnosis: refused})).toEqual([[failedNow]]);
    expect(orderWrites({...stuck, diagnosis: refused}, [failedNow])).toEqual([]);
  });

  test('earlier orders, and not the one whose CertificateRequest still exists', () => {
    const [first, second]: Order[] = [
      {at: timestamp(t0 - days), outcome: 'Issued'},
      {at: timestamp(t0), outcome: 'Issued'},
    ] as const;
    const renewed = served({certificate: certificate({attemptAt: timestamp(t0)})});
    expect(orderWrites({...renewed, orders: [second!]})).toEqual([]);
    expect(orderWrites({...renewed, orders: [first!, second!]})).toEqual([[first, second]]);
    expect(orderWrites({...renewed, orders: [first!, second!]}, [first!])).toEqual([]);
  });

  test('orders that this process has never seen, and they count', () => {
    const d = decide(
      world({
        facts: {[docs]: proven()},
        claims: {
          [docs]: {
            ...heldClaim(docs, 'uid-domain'),
            status: {...heldClaim(docs, 'uid-domain').status!, orders: failures(10 * minutes, minutes)},
          },
        },
      }),
    );
    expect(hostLines(d)).toEqual([`${docs} Verified IssuanceBudgetExhausted Platform`]);
  });

  test('orders through the quarantine and for the next holder: the CA counts by hostname, whoever holds it', () => {
    const claim = heldClaim(docs, 'uid-domain');
    expect(release(claim, t0, days, [failedNow]).status.orders).toEqual([failedNow]);
    const free = {...claim, status: {...release(claim, t0 - hours, days, [failedNow]).status}};
    expect(
      decide(world({facts: {[docs]: proven()}, claims: {[docs]: free}})).claims.map((c) => [
        c.status.holder?.uid,
        c.status.orders,
      ]),
    ).toEqual([['uid-domain', [failedNow]]]);
  });
});

describe('An issuance that is stuck', () => {
  const later31 = t0 + 31 * minutes;
  const stuck = (facts: HostFacts = {}) => ({
    ...proven(later31),
    certificate: ordered(),
    diagnosis: {
      said: [
        {
          kind: 'Challenge' as const,
          name: 'docs-1-2-3',
          state: 'pending',
          reason: 'pods "s" is forbidden: exceeded quota: full',
        },
      ],
    },
    ...facts,
  });

  test('says what was checked, what is to be done, who must act, and what cert-manager says', () => {
    const d = decide(world({now: later31, facts: {[docs]: stuck({verdict: allowed})}}));
    expect(hostLines(d)).toEqual([`${docs} Verified IssuanceStalled Platform`]);
    expect(only(d).message).toBe(
      `${docs} is verified, but its certificate was ordered 30 minutes ago and has not been issued. Its last DNS check still verifies it, and its CAA records allow the certificate authority. ` +
        "A quota in the solver's namespace allows no Pod for the challenge. Raise the quota. Then ask for a fresh attempt (Re-verify). " +
        'cert-manager reports: CertificateRequest: Waiting on certificate issuance from order acme/docs-1-2: "pending". Challenge docs-1-2-3 is pending: pods "s" is forbidden: exceeded quota: full.',
    );
  });

  test("waits for the party that cert-manager's message points to", () => {
    expect(
      hostLines(
        decide(
          world({
            now: later31,
            facts: {
              [docs]: stuck({
                diagnosis: {said: [{kind: 'Challenge', name: 'c', state: 'pending', reason: 'no such host'}]},
              }),
            },
          }),
        ),
      ),
    ).toEqual([`${docs} Verified IssuanceStalled Customer`]);
  });

  test("is reported when cert-manager's objects have been read, and these are read again ever more rarely: a cause that shows late is reported", () => {
    const before = world({now: later31 - 2 * minutes, facts: {[docs]: {...proven(), certificate: ordered()}}});
    const unread = decide(later(before, {now: later31, facts: {[docs]: stuck({diagnosis: undefined})}}));
    expect(hostLines(unread)).toEqual([`${docs} Verified Issuing CertificateAuthority`]);
    expect(issuanceLooks(unread)).toEqual([
      {at: later31, id: 'uid-request Waiting on certificate issuance from order acme/docs-1-2: "pending"'},
    ]);
    const readAt = (diagnosedAt: number) =>
      issuanceLooks(decide(world({now: later31, facts: {[docs]: stuck({diagnosedAt})}})))[0]?.at;
    const began = Date.parse(ordered().attemptAt ?? '');
    expect(readAt(began + 30 * minutes)).toBe(began + 45 * minutes);
    expect(readAt(began + 24 * 60 * minutes)).toBe(began + 25 * 60 * minutes);
  });

  test('and has failed is read once, because nothing new will be said of it', () => {
    const failed = {...proven(), certificate: failing(), diagnosis: refused, diagnosedAt: t0};
    expect(issuanceLooks(decide(world({now: t0 + minutes, facts: {[docs]: failed}}))).map((l) => l.at)).toEqual([
      Infinity,
    ]);
  });

  test('keeps a Re-verify that comes before the attempt has been read, and answers it with a fresh attempt then', () => {
    const verify = {value: 'now', seenAt: later31 - 1000};
    const unread = decide(
      world({now: later31, request: verify, facts: {[docs]: stuck({verdict: allowed, diagnosis: undefined})}}),
    );
    expect([unread.freshAttempts, unread.status.lastHandledReconcileAt]).toEqual([[], undefined]);
    const read = decide(world({now: later31 + 1000, request: verify, facts: {[docs]: stuck({verdict: allowed})}}));
    expect([read.freshAttempts.length, read.status.lastHandledReconcileAt]).toEqual([1, 'now']);
  });

  test('says the same after a restart, before anything has been asked again', () => {
    const at = later(world({now: later31, facts: {[docs]: stuck({verdict: allowed})}}));
    for (const facts of [{certificate: ordered()}, {certificate: ordered(), diagnosis: stuck().diagnosis}]) {
      expect(decide(later(at, {now: later31 + minutes, facts: {[docs]: facts}})).status).toEqual(decide(at).status);
    }
  });

  test('and has failed is reported at once, with who must act and what cert-manager says', () => {
    const d = decide(
      world({now: t0 + minutes, facts: {[docs]: {...proven(), certificate: failing(), diagnosis: refused}}}),
    );
    expect(hostLines(d)).toEqual([`${docs} Verified Issuing Platform`]);
    expect(only(d).message).toMatch(
      /^docs\.example\.com is verified; the last attempt to issue its certificate failed. cert-manager tries again later. The edge, or the solver.*\(Re-verify\)\. cert-manager reports: CertificateRequest: order is in "invalid" state\. Challenge docs-1-2-3 is invalid: dial tcp 192\.0\.2\.1:80: connect: connection refused\. Order docs-1-2 is invalid\.$/,
    );
  });

  test('stops asking the CA when CAA records now forbid it', () => {
    const blocked = {verdict: blockedBy('example.com has CAA.')};
    const given = (c: CertificateFacts) =>
      decide(
        world({
          policy: withIssuer({caaIdentities: ['ca.example']}),
          facts: {[docs]: {...proven(), ...blocked, certificate: c, diagnosis: refused}},
        }),
      );
    expect([hostLines(given(failing())), objectLines(given(failing()))]).toEqual([
      [`${docs} Verified CAABlocksIssuer Customer`],
      [],
    ]);
    expect(given(ordered()).certificates).toHaveLength(1);
  });

  test('does not ask the CA again while CAA records that forbade it cannot be read', () => {
    const blocked = {verdict: blockedBy('example.com has CAA.')};
    const before = world({
      policy: withIssuer({caaIdentities: ['ca.example']}),
      facts: {[docs]: {...proven(), ...blocked, certificate: failing(), diagnosis: refused}},
    });
    const unread = {...unknown('AuthoritativeFailure', t0), certificate: failing(), diagnosis: refused};
    const d = decide(later(before, {facts: {[docs]: unread}}));
    expect([d.status, objectLines(d)]).toEqual([decide(before).status, []]);
  });
});

/**
 * Two lives of a certificate of 160 hours, beside a model of cert-manager: it renews after two thirds, and waits for 1, 2, 4 ... 32 hours
 * after failures. `isAway`: whether the CA is, by the time since the first certificate. `alone`: without fresh attempts.
 */
function renewedDuring(isAway: (ms: number) => boolean, {alone = false} = {}): {lost: boolean; attempts: number} {
  const life = 160 * hours;
  const live = settled(world({facts: {[docs]: served()}}));
  let [from, failed, failedAt, attempts] = [0, 0, undefined as number | undefined, 0];
  for (let t = 0; t < 2 * life; t += hours / 2) {
    const [now, end, due] = [t0 + t, from + life, from + (life * 2) / 3];
    if (t >= end) return {lost: true, attempts};
    const facts = certificate({
      notAfter: timestamp(t0 + end),
      renewalTime: timestamp(t0 + due),
      ...(failedAt !== undefined && {failure: 'the CA is away', request, endedAt: timestamp(t0 + failedAt)}),
    });
    const known = {
      ...served({edgeLookedAt: now}),
      grant: {kind: 'Granted'} as const,
      checkedAt: now,
      diagnosis: refused,
    };
    const fresh = decide(later(live, {now, facts: {[docs]: {...known, certificate: facts}}})).freshAttempts.length > 0;
    const isDue = failedAt === undefined ? t >= due : t >= failedAt + Math.min(32, 2 ** (failed - 1)) * hours;
    if (!isDue && (alone || !fresh)) continue;
    attempts++;
    if (isAway(t)) [failed, failedAt] = [failed + 1, t];
    else [from, failed, failedAt] = [t, 0, undefined];
  }
  return {lost: false, attempts};
}

describe('A certificate that is due for renewal', () => {
  const [due, end] = [t0 + 60 * days, t0 + 90 * days];
  const live = settled(world({facts: {[docs]: served()}}));
  const aged = (now: number, change: Partial<CertificateFacts> = {}, diagnosis?: Diagnosis) =>
    decide(
      later(live, {
        now,
        facts: {
          [docs]: {
            ...served(),
            checkedAt: now,
            certificate: certificate({notAfter: timestamp(end), renewalTime: timestamp(due), ...change}),
            ...(diagnosis && {diagnosis}),
          },
        },
      }),
    );

  test('is overdue when a quarter of the time between renewal and expiry has passed', () => {
    const late = due + 7.5 * days;
    expect(hostLines(aged(late - seconds))).toEqual([`${docs} Live Serving Nobody`]);
    expect(aged(late - hours).wakeAt).toBe(late);
    expect(hostLines(aged(late))).toEqual([`${docs} Live RenewalOverdue Platform`]);
  });

  test('and overdue is reported while it is served: who must act, what cert-manager says, when it expires', () => {
    const d = aged(due + 8 * days, {failure: 'order is invalid', request}, refused);
    expect(only(d).message).toMatch(
      /^docs\.example\.com is served, but its certificate was due for renewal on 2026-04-30 12:00 UTC, has not been renewed, and expires on 2026-05-30 12:00 UTC\. The edge, or the solver.*cert-manager reports: CertificateRequest: order is invalid\. Challenge/,
    );
    expect([condition(d, 'Ready')?.status, condition(d, 'Live')?.status, condition(d, 'CertificateReady')]).toEqual([
      'True',
      'True',
      expect.objectContaining({status: 'True', reason: 'Issued'}),
    ]);
    expect(d.certificates).toHaveLength(1);
    expect(aged(due + 9 * days, {failure: 'order is invalid', request}, refused).status.hosts?.[0]?.message).toBe(
      only(d).message,
    );
  });

  test('and overdue is ordered again on Re-verify', () => {
    const asked = (grant: HostFacts['grant']) =>
      decide({
        ...later(live, {
          now: due + 8 * days,
          facts: {
            [docs]: {
              ...served({edgeLookedAt: due + 8 * days}),
              grant,
              checkedAt: due + 8 * days,
              diagnosis: refused,
              certificate: certificate({
                notAfter: timestamp(end),
                renewalTime: timestamp(due),
                failure: 'order is invalid',
                request,
              }),
            },
          },
        }),
        request: {value: 'now', seenAt: due},
      });
    const waits = asked(undefined);
    expect([waits.freshAttempts, waits.orderRequests.map((w) => w.state), waits.status.lastHandledReconcileAt]).toEqual(
      [[], ['Wanted'], undefined],
    );
    const granted = asked({kind: 'Granted'});
    expect([granted.freshAttempts.map((f) => f.request), granted.status.lastHandledReconcileAt]).toEqual([
      [request],
      'now',
    ]);
  });

  test('is attempted again when half of what was left at the failure has passed, and within its budget', () => {
    const failedAt = due + 10 * days;
    const failed = {failure: 'order is invalid', request, endedAt: timestamp(failedAt)};
    const half = failedAt + 10 * days;
    const at = (now: number, grant?: HostFacts['grant'], change: Partial<CertificateFacts> = {}) =>
      decide(
        later(live, {
          now,
          facts: {
            [docs]: {
              ...served({edgeLookedAt: now}),
              grant,
              checkedAt: now,
              diagnosis: refused,
              certificate: certificate({
                notAfter: timestamp(end),
                renewalTime: timestamp(due),
                ...failed,
                ...change,
              }),
            },
          },
        }),
      );
    expect([at(half - hours).freshAttempts, at(half - hours).wakeAt]).toEqual([[], half]);
    expect(at(half, {kind: 'Granted'}).freshAttempts.map((f) => f.request)).toEqual([request]);
    const waits = at(half);
    expect([waits.freshAttempts, waits.orderRequests.map((w) => w.state)]).toEqual([[], ['Wanted']]);
    // cert-manager is at it, or has not failed.
    expect(at(half, {kind: 'Granted'}, {issuing: true}).freshAttempts).toEqual([]);
    expect(at(half, {kind: 'Granted'}, {failure: undefined}).freshAttempts).toEqual([]);
  });

  test('of six days is not lost if the CA is away for 40 hours at any time, and the CA gets few attempts', () => {
    for (let away = 60; away <= 160; away += 8) {
      const {lost, attempts} = renewedDuring((t) => t >= away * hours && t < (away + 40) * hours);
      expect([away, lost]).toEqual([away, false]);
      expect(attempts).toBeLessThanOrEqual(9);
    }
    // With cert-manager's waits alone it is.
    expect(renewedDuring((t) => t >= 106 * hours && t < 146 * hours, {alone: true}).lost).toBe(true);
  });

  test('and has expired makes its host not Live, which keeps its routes and is Live again when the next certificate is seen', () => {
    const d = aged(end, {ready: false});
    expect(hostLines(d)).toEqual([`${docs} Verified CertificateExpired Platform`]);
    expect(only(d).message).toBe(
      `The certificate of ${docs} expired on 2026-05-30 12:00 UTC: browsers refuse it. cert-manager is not working on it: check that it runs. Ask for a fresh attempt (Re-verify).`,
    );
    expect([
      condition(d, 'Ready')?.status,
      condition(d, 'Stalled')?.reason,
      d.routes.length,
      d.certificates.length,
    ]).toEqual(['False', 'CertificateExpired', 2, 1]);
    const expired = later(live, {
      now: end,
      facts: {
        [docs]: {
          ...served(),
          certificate: certificate({notAfter: timestamp(end), renewalTime: timestamp(due), ready: false}),
        },
      },
    });
    expect(
      hostLines(
        decide(
          settled(
            later(expired, {
              now: end + hours,
              facts: {[docs]: served({certificate: certificate({notAfter: timestamp(end + 90 * days)})})},
            }),
          ),
        ),
      ),
    ).toEqual([`${docs} Live Serving Nobody`]);
  });

  test('without a renewal time is overdue only when it has expired', () => {
    expect(hostLines(aged(end - seconds, {renewalTime: undefined}))).toEqual([`${docs} Live Serving Nobody`]);
    expect(hostLines(aged(end, {renewalTime: undefined}))).toEqual([`${docs} Verified CertificateExpired Platform`]);
  });
});
