import {describe, expect, test} from '@jest/globals';
import {reissueAnnotation} from '../../../operator/api/custom-domain.ts';
import type {CertificateFacts} from '../../../operator/domain/certificates/certificate.ts';
import {decide} from '../../../operator/domain/lifecycle.ts';
import {nextWaitingCheck} from '../../../operator/domain/schedule.ts';
import {timestamp} from '../../../operator/domain/times.ts';
import {becomesVerified, goesLive, isMomentary} from '../../../operator/domain/status/publishing.ts';
import type {Decision, HostFacts, World} from '../../../operator/domain/world.ts';
import type {WorldInput} from '../../support/world.ts';
import {
  edgeAt,
  leaf,
  certificate,
  claimsBy,
  conditionLines,
  days,
  domain,
  entryOf,
  free,
  heldClaim,
  hostLines,
  hours,
  later,
  minutes,
  objectLines,
  policy,
  project,
  proven,
  recheckAfter,
  refuted,
  seconds,
  served,
  settled,
  t0,
  target,
  tenantOn,
  unknown,
  world,
} from '../../support/world.ts';

const docs = 'docs.example.com';
const old = 'old.example.com';
const zzz = 'zzz.example.org';
const primaryObjects = [
  `acme Certificate ${docs}`,
  `acme Ingress ${docs} websecure -> web:80`,
  `doorplate-system Ingress ${docs} web -> doorplate-redirector:80`,
];
const sourceObjects = [
  `doorplate-system Certificate ${old}`,
  `doorplate-system Ingress ${old} web,websecure -> doorplate-redirector:80`,
];
const lookLines = (d: Decision) => d.looks.map((l) => `${l.what} ${l.hostname} +${(l.at - t0) / seconds}s`);

describe('The life of one hostname, the primary', () => {
  /** Each row: what is known, and all that is said and wanted then. */
  const rows: [
    string,
    WorldInput,
    {host: string; conditions: string[]; objects: string[]; looks: string[]; wake?: number; record?: object},
  ][] = [
    [
      'is awaited as soon as it is accepted, and DNS is asked at once',
      {},
      {
        host: `${docs} AwaitingVerification CheckPending Nobody`,
        conditions: [
          'Accepted=True/Accepted',
          'Verified=Unknown/CheckPending',
          'CertificateReady=False/CheckPending',
          'RoutesReady=False/CheckPending',
          'Live=False/CheckPending',
          'Ready=False/CheckPending',
          'Reconciling=True/CheckPending',
        ],
        objects: [],
        looks: [`dns ${docs} +0s`],
        wake: t0 + 48 * hours,
        record: {state: 'Unknown'},
      },
    ],
    [
      'is awaited on while the record is missing',
      {facts: {[docs]: refuted('RecordMissing')}},
      {
        host: `${docs} AwaitingVerification RecordMissing Customer`,
        conditions: [
          'Accepted=True/Accepted',
          'Verified=False/RecordMissing',
          'CertificateReady=False/RecordMissing',
          'RoutesReady=False/RecordMissing',
          'Live=False/RecordMissing',
          'Ready=False/RecordMissing',
          'Reconciling=True/RecordMissing',
        ],
        objects: [],
        looks: [`dns ${docs} +15s`],
        wake: t0 + 48 * hours,
        record: {state: 'Missing'},
      },
    ],
    [
      'shows what was seen instead',
      {facts: {[docs]: refuted('ConflictingRecord', 'Conflicting', ['A 203.0.113.7'])}},
      {
        host: `${docs} AwaitingVerification ConflictingRecord Customer`,
        conditions: [
          'Accepted=True/Accepted',
          'Verified=False/ConflictingRecord',
          'CertificateReady=False/ConflictingRecord',
          'RoutesReady=False/ConflictingRecord',
          'Live=False/ConflictingRecord',
          'Ready=False/ConflictingRecord',
          'Reconciling=True/ConflictingRecord',
        ],
        objects: [],
        looks: [`dns ${docs} +15s`],
        wake: t0 + 48 * hours,
        record: {state: 'Conflicting', observed: ['A 203.0.113.7']},
      },
    ],
    [
      'is unknown, not unverified, while DNS could not be asked',
      {facts: {[docs]: unknown('AuthoritativeFailure')}},
      {
        host: `${docs} AwaitingVerification AuthoritativeFailure Customer`,
        conditions: [
          'Accepted=True/Accepted',
          'Verified=Unknown/AuthoritativeFailure',
          'CertificateReady=False/AuthoritativeFailure',
          'RoutesReady=False/AuthoritativeFailure',
          'Live=False/AuthoritativeFailure',
          'Ready=False/AuthoritativeFailure',
          'Reconciling=True/AuthoritativeFailure',
        ],
        objects: [],
        looks: [`dns ${docs} +15s`],
        wake: t0 + 48 * hours,
        record: {state: 'Unknown'},
      },
    ],
    [
      'is stalled at once where the name servers cannot be reached: the platform must act',
      {facts: {[docs]: unknown('AuthoritativeUnreachable')}},
      {
        host: `${docs} AwaitingVerification AuthoritativeUnreachable Platform`,
        conditions: [
          'Accepted=True/Accepted',
          'Verified=Unknown/AuthoritativeUnreachable',
          'CertificateReady=False/AuthoritativeUnreachable',
          'RoutesReady=False/AuthoritativeUnreachable',
          'Live=False/AuthoritativeUnreachable',
          'Ready=False/AuthoritativeUnreachable',
          'Stalled=True/AuthoritativeUnreachable',
        ],
        objects: [],
        looks: [`dns ${docs} +15s`],
        wake: t0 + 48 * hours,
        record: {state: 'Unknown'},
      },
    ],
    [
      'gets its certificate and its routes when it is proven, and is then checked rarely',
      {facts: {[docs]: proven()}},
      {
        host: `${docs} Verified Issuing CertificateAuthority`,
        conditions: [
          'Accepted=True/Accepted',
          'Verified=True/Proven',
          'CertificateReady=False/Issuing',
          'RoutesReady=True/Routed',
          'Live=False/Issuing',
          'Ready=False/Issuing',
          'Reconciling=True/Issuing',
        ],
        objects: primaryObjects,
        looks: [`dns ${docs} +${recheckAfter(docs)}s`],
        wake: t0 + 30 * minutes,
        record: {state: 'Found'},
      },
    ],
    [
      'says so while its routes are being written',
      {facts: {[docs]: served()}, routed: false},
      {
        host: `${docs} Verified EdgePending Nobody`,
        conditions: [
          'Accepted=True/Accepted',
          'Verified=True/Proven',
          'CertificateReady=True/Issued',
          'RoutesReady=False/RoutesPending',
          'Live=False/EdgePending',
          'Ready=False/EdgePending',
          'Reconciling=True/EdgePending',
        ],
        objects: primaryObjects,
        looks: [`dns ${docs} +${recheckAfter(docs)}s`],
        record: {state: 'Found'},
      },
    ],
    [
      'is looked for on the edge when its certificate is there',
      {facts: {[docs]: {...proven(), certificate: certificate()}}},
      {
        host: `${docs} Verified EdgePending Nobody`,
        conditions: [
          'Accepted=True/Accepted',
          'Verified=True/Proven',
          'CertificateReady=True/Issued',
          'RoutesReady=True/Routed',
          'Live=False/EdgePending',
          'Ready=False/EdgePending',
          'Reconciling=True/EdgePending',
        ],
        objects: primaryObjects,
        looks: [`dns ${docs} +${recheckAfter(docs)}s`, `edge ${docs} +0s`],
        wake: t0 + 3 * seconds,
        record: {state: 'Found'},
      },
    ],
    [
      'is Live when the edge was seen to serve the issued leaf, and the edge is left alone then',
      {facts: {[docs]: served()}},
      {
        host: `${docs} Live Serving Nobody`,
        conditions: [
          'Accepted=True/Accepted',
          'Verified=True/Proven',
          'CertificateReady=True/Issued',
          'RoutesReady=True/Routed',
          'Live=True/Serving',
          'Ready=True/Serving',
        ],
        objects: primaryObjects,
        looks: [`dns ${docs} +${recheckAfter(docs)}s`],
        record: {state: 'Found'},
      },
    ],
    [
      'is stalled 30 minutes after an order that came to nothing, and the failure is told',
      {
        now: t0 + 30 * minutes,
        facts: {
          [docs]: {
            ...proven(),
            certificate: certificate({ready: false, leafSha256: undefined, failure: 'the order is invalid'}),
          },
        },
      },
      {
        host: `${docs} Verified IssuanceStalled Platform`,
        conditions: [
          'Accepted=True/Accepted',
          'Verified=True/Proven',
          'CertificateReady=False/IssuanceStalled',
          'RoutesReady=True/Routed',
          'Live=False/IssuanceStalled',
          'Ready=False/IssuanceStalled',
          'Stalled=True/IssuanceStalled',
        ],
        objects: primaryObjects,
        looks: [`dns ${docs} +${recheckAfter(docs)}s`],
        record: {state: 'Found'},
      },
    ],
    [
      "keeps its hands off somebody else's object",
      {facts: {[docs]: {...proven(), writeError: {kind: 'NameTaken', object: 'Ingress acme/docs'}}}, routed: false},
      {
        host: `${docs} Verified NameTaken Platform`,
        conditions: [
          'Accepted=True/Accepted',
          'Verified=True/Proven',
          'CertificateReady=False/NameTaken',
          'RoutesReady=False/NameTaken',
          'Live=False/NameTaken',
          'Ready=False/NameTaken',
          'Stalled=True/NameTaken',
        ],
        objects: primaryObjects,
        looks: [`dns ${docs} +${recheckAfter(docs)}s`],
        record: {state: 'Found'},
        wake: t0 + minutes,
      },
    ],
    [
      'is not called Live while its route cannot be written as it should be, and what stands is left',
      {
        facts: {[docs]: served({writeError: {kind: 'WriteRefused', object: 'Ingress acme/docs', says: 'no'}})},
        routed: false,
      },
      {
        host: `${docs} Verified WriteRefused Platform`,
        conditions: [
          'Accepted=True/Accepted',
          'Verified=True/Proven',
          'CertificateReady=True/Issued',
          'RoutesReady=False/WriteRefused',
          'Live=False/WriteRefused',
          'Ready=False/WriteRefused',
          'Stalled=True/WriteRefused',
        ],
        objects: primaryObjects,
        looks: [`dns ${docs} +${recheckAfter(docs)}s`],
        record: {state: 'Found'},
        wake: t0 + minutes,
      },
    ],
    [
      'asks for nothing and wants nothing without its Project',
      {project: null, facts: {[docs]: served()}},
      {
        host: `${docs} NotAccepted ProjectNotFound Customer`,
        conditions: [
          'Accepted=False/ProjectNotFound',
          'Verified=False/ProjectNotFound',
          'CertificateReady=False/ProjectNotFound',
          'RoutesReady=False/ProjectNotFound',
          'Live=False/ProjectNotFound',
          'Ready=False/ProjectNotFound',
          'Reconciling=True/ProjectNotFound',
        ],
        objects: [],
        looks: [],
      },
    ],
  ];

  test.each(rows)('%s', (_, input, expected) => {
    const d = decide(world(input));
    expect({
      host: hostLines(d)[0],
      conditions: conditionLines(d),
      objects: objectLines(d),
      looks: lookLines(d),
      wake: d.wakeAt,
      record: d.status.dnsRecords?.[0],
    }).toEqual({
      ...expected,
      wake: expected.wake,
      record: expected.record && {
        hostname: docs,
        type: 'CNAME',
        name: 'docs',
        zone: 'example.com',
        value: target,
        ttl: 3600,
        ...expected.record,
      },
    });
  });

  test('goes from the record to Live in order, and every time is that of its own step', () => {
    const steps: [number, WorldInput['facts']][] = [
      [0, {}],
      [1, {[docs]: refuted('RecordMissing', 'Missing', [], t0 + seconds)}],
      [60, {[docs]: proven(t0 + 60 * seconds)}],
      [61, {[docs]: {...proven(t0 + 60 * seconds), certificate: certificate({ready: false, leafSha256: undefined})}}],
      [90, {[docs]: {...proven(t0 + 60 * seconds), certificate: certificate()}}],
      [91, {[docs]: served({edgeLookedAt: t0 + 91 * seconds})}],
      [500, {[docs]: served({edgeLookedAt: t0 + 91 * seconds})}],
    ];
    let at = world({facts: {}});
    const seen: string[] = [];
    for (const [second, facts] of steps) {
      at = later(at, {now: t0 + second * seconds, facts: facts ?? {}});
      const d = decide(at);
      const {since, addedAt, verifiedAt, liveAt} = entryOf(d, docs)!;
      seen.push(
        [
          `+${second}`,
          hostLines(d)[0]!.split(' ').slice(1, 3).join(' '),
          ...[since, addedAt, verifiedAt, liveAt].map((t) => (t ? (Date.parse(t) - t0) / seconds : '-')),
        ].join(' '),
      );
    }
    expect(seen).toEqual([
      '+0 AwaitingVerification CheckPending 0 0 - -',
      '+1 AwaitingVerification RecordMissing 1 0 - -',
      '+60 Verified Issuing 60 0 60 -',
      '+61 Verified Issuing 60 0 60 -',
      '+90 Verified EdgePending 90 0 60 -',
      '+91 Live Serving 91 0 60 91',
      '+500 Live Serving 91 0 60 91',
    ]);
  });

  test('carries its certificate in its entry while there is one', () => {
    expect(entryOf(decide(world({facts: {[docs]: served()}})), docs)?.certificate).toEqual({
      name: 'certificate',
      notAfter: '2026-05-30T12:00:00Z',
    });
    expect(entryOf(decide(world({facts: {[docs]: refuted()}})), docs)).not.toHaveProperty('certificate');
    const ungranted = {...proven(), grant: undefined};
    expect(entryOf(decide(world({facts: {[docs]: ungranted}})), docs)).not.toHaveProperty('certificate');
  });

  test('stays Live while its certificate is being renewed', () => {
    const liveWorld = settled(world({facts: {[docs]: served()}}));
    const renewing = later(liveWorld, {
      facts: {[docs]: served({certificate: certificate({issuing: true})})},
    });
    expect(hostLines(decide(renewing))).toEqual([`${docs} Live Serving Nobody`]);
  });

  test('is no longer Live when its certificate is gone', () => {
    const liveWorld = settled(world({facts: {[docs]: served()}}));
    expect(hostLines(decide(later(liveWorld, {facts: {[docs]: served({certificate: undefined})}})))).toEqual([
      `${docs} Verified Issuing CertificateAuthority`,
    ]);
  });
});

describe('A redirect source', () => {
  const input = {redirects: [{from: old, status: 308 as const}]};

  test('needs no tenant backend: its certificate and its route stand beside the redirector', () => {
    expect(objectLines(decide(world({...input, facts: {[old]: proven()}})))).toEqual(sourceObjects);
  });

  test('waits, ready, for the primary, and asks nobody anything meanwhile', () => {
    const waiting = later(world({...input, facts: {[old]: served()}}), {});
    const d = decide(waiting);
    expect(hostLines(d)).toEqual([
      `${docs} AwaitingVerification CheckPending Nobody`,
      `${old} Verified WaitingForPrimary Nobody`,
    ]);
    expect(d.looks.filter((l) => l.hostname === old && l.what === 'edge')).toEqual([]);
    // The observer forgets what no look asks for: that must not set it back.
    expect(
      hostLines(decide(later(waiting, {facts: {[old]: served({edge: undefined, edgeLookedAt: undefined})}})))[1],
    ).toBe(`${old} Verified WaitingForPrimary Nobody`);
  });

  test('is looked at on the edge once more when the primary goes Live, and then redirects by its own status', () => {
    const waiting = later(world({...input, facts: {[old]: served()}}));
    const primaryLive = later(waiting, {
      facts: {[docs]: served(), [old]: served({edge: undefined, edgeLookedAt: undefined})},
    });
    const d = decide(primaryLive);
    expect(hostLines(d)).toEqual([`${docs} Live Serving Nobody`, `${old} Verified EdgePending Nobody`]);
    expect(lookLines(d)).toContain(`edge ${old} +0s`);
    const seen = decide(settled(later(primaryLive, {facts: {[docs]: served(), [old]: served()}})));
    expect(hostLines(seen)).toEqual([`${docs} Live Serving Nobody`, `${old} Live Redirecting Nobody`]);
    expect(entryOf(seen, old)?.redirect).toEqual({to: docs, status: 308});
    expect(seen.status.hostsLive).toBe('2/2');
  });

  test('is called Live only after its redirect has been published in status', () => {
    const first = world({...input, facts: {[docs]: served(), [old]: served()}});
    expect(hostLines(decide(first))[1]).toBe(`${old} Verified RoutesPending Nobody`);
    expect(entryOf(decide(first), old)?.redirect).toEqual({to: docs, status: 308});
    expect(hostLines(decide(later(first)))[1]).toBe(`${old} Live Redirecting Nobody`);
  });

  test('that was taken over gets its route when the redirector has surely read its redirect: until then what was before it answers', () => {
    const kept = {certificate: certificate({privateKey: 'RSA 2048'}), privateKeys: {redirects: 'RSA 2048'} as const};
    const taken = served({...kept, standing: {}});
    const routesOf = (d: Decision) => d.routes.filter(({host}) => host === old).length;
    const waiting = world({...input, facts: {[old]: taken}});
    expect([hostLines(decide(waiting))[1], routesOf(decide(waiting))]).toEqual([
      `${old} Verified WaitingForPrimary Nobody`,
      0,
    ]);
    const facts = {[docs]: served(), [old]: taken};
    const primaryLive = later(waiting, {facts});
    const told = decide(primaryLive);
    expect([hostLines(told)[1], routesOf(told)]).toEqual([`${old} Verified RoutesPending Nobody`, 0]);
    expect(entryOf(told, old)?.redirect).toEqual({to: docs, status: 308});
    const published = later(primaryLive, {facts});
    const after = (s: number) => decide({...published, now: t0 + s * seconds});
    expect(hostLines(after(3.9))[1]).toBe(`${old} Verified RoutesPending Nobody`);
    expect([after(0), after(3.9), after(4)].map(routesOf)).toEqual([0, 0, 1]);
    expect(after(0).wakeAt).toBe(t0 + 4 * seconds);
    const stands = later(published, {now: t0 + 5 * seconds, facts: {[docs]: served(), [old]: served(kept)}});
    expect([hostLines(decide(stands))[1], routesOf(decide(stands))]).toEqual([`${old} Live Redirecting Nobody`, 1]);
  });

  test('that was the primary serves until the redirector has surely read its redirect, and then has both routes', () => {
    const before = settled(world({...input, facts: {[docs]: served(), [old]: served()}}));
    const facts = {
      [old]: served({edgeLookedAt: t0 + minutes}),
      // It has redirected once, with the key with which it was taken over.
      [docs]: served({
        certificate: certificate({privateKey: 'RSA 2048'}),
        standing: {serves: {since: t0 - hours, isWhole: true}},
        privateKeys: {redirects: 'RSA 2048'},
      }),
    };
    const spec = {...before.domain.spec, primary: old, redirects: [{from: docs, status: 301 as const}]};
    let at = later(before, {domain: {...before.domain, spec}, facts});
    for (let i = 0; i < 9 && !entryOf(decide(at), docs)?.redirect; i++) at = later(at, {now: at.now + seconds, facts});
    const published = later(at, {facts});
    const servicesAfter = (s: number) => {
      const {routes} = decide({...published, now: at.now + s * seconds});
      return routes.filter(({host}) => host === docs).map(({to}) => to.service);
    };
    const serves = ['web', 'doorplate-redirector'];
    expect([0, 3.9, 4].map(servicesAfter)).toEqual([serves, serves, ['doorplate-redirector', ...serves]]);
    expect(decide(published).wakeAt).toBe(at.now + 4 * seconds);
    expect(hostLines(decide({...published, now: at.now + 4 * seconds}))[1]).toBe(`${docs} Live Serving Nobody`);
  });

  test('that was the primary, and is it again before the other was Live, has been Live all along', () => {
    const before = settled(world({...input, facts: {[docs]: served(), [old]: served()}}));
    const spec = {...before.domain.spec, primary: 'new.example.com', redirects: [{from: docs, status: 301 as const}]};
    const stands = {standing: {serves: {since: t0 - hours, isWhole: true}}};
    const away = later(before, {domain: {...before.domain, spec}, facts: {[docs]: served(stands)}});
    expect(hostLines(decide(away))[1]).toBe(`${docs} Live Serving Nobody`);
    // The edge was not looked at while it was a source.
    const facts = {[docs]: served({...stands, edge: undefined}), [old]: served()};
    const back = later(away, {domain: {...away.domain, spec: before.domain.spec}, facts});
    expect(hostLines(decide(back))[0]).toBe(`${docs} Live Serving Nobody`);
  });

  describe('that was the primary, and whose own redirect does not stand yet,', () => {
    const absent = (change: Partial<CertificateFacts> = {}) => ({
      ...certificate({ready: false, issuing: true, attemptAt: timestamp(t0), request, waiting: 'pending', ...change}),
      leafSha256: undefined,
      notAfter: undefined,
    });
    const request = {namespace: 'doorplate-system', name: 'docs-1', uid: 'uid-request'};
    const failed = {issuing: false, waiting: undefined, failure: 'order is in "invalid" state:'};
    const diagnosis = {said: []};
    /** `old` is Live in its place. What is given is known of `docs` since then. */
    const replaced = (
      change: Partial<HostFacts>,
      {annotations, ...at}: Partial<Omit<World, 'facts'>> & {annotations?: Record<string, string>} = {},
    ): Decision => {
      const before = settled(world({...input, facts: {[docs]: served(), [old]: served()}}));
      const spec = {...before.domain.spec, primary: old, redirects: [{from: docs, status: 301 as const}]};
      const factsOf = (known: Partial<HostFacts>) => ({
        [old]: served({edgeLookedAt: t0 + minutes}),
        [docs]: {...proven(), standing: {serves: {since: t0 - hours, isWhole: true}}, ...known},
      });
      const metadata = {...before.domain.metadata, ...(annotations && {annotations})};
      const changed = {...before.domain, metadata, spec};
      const ordered = later(before, {domain: changed, facts: factsOf({certificate: absent()})});
      return decide(later(settled(ordered), {...at, facts: factsOf(change)}));
    };
    /** What is said of it, whether it is served, and what is ordered for it. */
    const linesOf = (d: Decision) => [
      hostLines(d)[1],
      d.routes.some(({host, to}) => host === docs && to.service === 'web'),
      d.certificates.filter((c) => c.spec.dnsNames.includes(docs)).map((c) => c.metadata.namespace),
    ];
    const both = ['doorplate-system', 'acme'];
    const serving = [`${docs} Live Serving Nobody`, true, both];

    test('says nothing of its certificate while that is on its way', () => {
      expect(linesOf(replaced({certificate: absent()}))).toEqual(serving);
      // cert-manager tries again.
      expect(linesOf(replaced({certificate: absent({request: undefined})}))).toEqual(serving);
      // What an attempt that has ended came to is about to be read.
      expect(linesOf(replaced({certificate: absent(failed)}))).toEqual(serving);
    });

    test('says that it failed, and serves', () => {
      const d = replaced({certificate: absent(failed), diagnosis});
      expect(linesOf(d)).toEqual([`${docs} Live Issuing CertificateAuthority`, true, both]);
      expect(entryOf(d, docs)?.message).toContain('the last attempt to issue its certificate failed');
    });

    test('says that it has no end after half an hour, and serves', () => {
      const d = replaced({certificate: absent(), diagnosis}, {now: t0 + 30 * minutes});
      expect(linesOf(d)).toEqual([`${docs} Live IssuanceStalled Platform`, true, both]);
      expect(conditionLines(d)).toContain('Ready=True/IssuanceStalled');
      expect(replaced({certificate: absent()}).wakeAt).toBeLessThanOrEqual(t0 + 30 * minutes);
    });

    test.each([
      ['failed', failed, t0 + minutes],
      ['has no end', {}, t0 + 30 * minutes],
    ])('makes a fresh attempt at one that %s when somebody asks', (_, change, now) => {
      const facts = {certificate: absent(change), diagnosis, checkedAt: now};
      const asked = {now, request: {value: 'now', seenAt: now - seconds}};
      expect([replaced(facts, {now}), replaced(facts, asked)].map((d) => d.freshAttempts)).toEqual([
        [],
        [expect.objectContaining({certificate: {namespace: 'doorplate-system', name: expect.any(String)}, request})],
      ]);
    });

    test('gives the Certificate up while the budget of its failures is spent, and serves', () => {
      const orders = [1, 2].map((ago) => {
        const at = timestamp(t0 - ago * minutes);
        return {at, outcome: 'Failed' as const, endedAt: at, message: 'no'};
      });
      const d = replaced({certificate: absent(failed), diagnosis, orders});
      expect(linesOf(d)).toEqual([`${docs} Live IssuanceBudgetExhausted Platform`, true, ['acme']]);
    });

    test('says until when it is served once a drift is confirmed, and orders nothing', () => {
      const at = timestamp(t0 + hours);
      const drift = heldClaim(docs, 'uid-domain', {negativeSince: at, negativeAt: at, negatives: 4});
      const claims = claimsBy((hostname) => (hostname === docs ? drift : heldClaim(hostname)));
      for (const change of [{}, {certificate: absent()}, {certificate: absent(failed), diagnosis}]) {
        const d = replaced(
          {...change, ...refuted('RecordMissing', 'Missing', [], t0 + hours)},
          {claims, now: t0 + hours},
        );
        expect(linesOf(d).slice(0, 2)).toEqual([`${docs} Live DNSDrifted Customer`, true]);
        expect(entryOf(d, docs)?.message).toMatch(/is served until 2026-03-08 13:00 UTC\.$/);
        const asked = d.looks.some(({hostname, what}) => hostname === docs && what === 'dns');
        expect([asked, d.orderRequests.some(({state}) => state === 'Wanted')]).toEqual([true, false]);
        expect(linesOf(d)[2]).toEqual(change.certificate ? both : ['acme']);
      }
    });

    test.each([
      ['while its certificate is on its way', {certificate: absent()}, both],
      ['without a Certificate', {}, ['acme']],
    ])('says until when it is served after a downgrade, %s', (_, change, namespaces) => {
      const d = replaced(change, {tenant: tenantOn(free)});
      expect(linesOf(d)).toEqual([`${docs} Live PlanUpgradeRequired Customer`, true, namespaces]);
      expect(entryOf(d, docs)?.servedUntil).toMatch(/^2026-03-08T12:00:/);
    });

    test('says after a downgrade that its redirect cannot be written, and tries again', () => {
      const writeError = {kind: 'WriteRefused', object: 'Ingress doorplate-system/docs', says: 'no'} as const;
      const d = replaced({certificate: absent(), writeError}, {tenant: tenantOn(free)});
      expect(linesOf(d).slice(0, 2)).toEqual([`${docs} Live WriteRefused Platform`, true]);
      expect(entryOf(d, docs)?.servedUntil).toMatch(/^2026-03-08T12:00:/);
      expect(d.wakeAt).toBeLessThan(t0 + 2 * minutes);
    });

    test('does not answer a reissue while it is served after a downgrade', () => {
      const annotations = {[reissueAnnotation]: timestamp(t0 - minutes)};
      const d = replaced({certificate: certificate()}, {tenant: tenantOn(free), annotations});
      expect(hostLines(d)[1]).toBe(`${docs} Live PlanUpgradeRequired Customer`);
      expect(d.status.lastHandledReissueAt).toBeUndefined();
    });

    test('says that the edge does not serve it any more', () => {
      const closed = [edgeAt('192.0.2.1', {unreachable: 'connection refused'})];
      const probes = {
        edge: closed,
        edgeLookedAt: t0 + 16 * minutes,
        edgeEarlier: [0, 1, 6].map((after) => ({findings: closed, at: t0 + after * minutes})),
      };
      const d = replaced(
        {certificate: absent(), formerCertificate: certificate(), ...probes},
        {now: t0 + 16 * minutes},
      );
      expect(linesOf(d).slice(0, 2)).toEqual([`${docs} Live EdgeUnreachable Platform`, true]);
    });

    test('says what could not be written, tries it again a minute later, and serves', () => {
      const d = replaced({writeError: {kind: 'WriteRefused', object: 'Certificate doorplate-system/docs', says: 'no'}});
      expect([linesOf(d), d.wakeAt]).toEqual([[`${docs} Live WriteRefused Platform`, true, both], expect.any(Number)]);
      expect(d.wakeAt).toBeLessThanOrEqual(t0 + 2 * minutes);
    });
  });

  test('keeps its last redirect while a new primary is on its way', () => {
    const before = settled(world({...input, facts: {[docs]: served(), [old]: served()}}));
    const moved = later(before, {
      domain: {...before.domain, spec: {...before.domain.spec, primary: 'new.example.com'}},
      facts: {[docs]: served(), [old]: served()},
    });
    expect(hostLines(decide(moved))).toEqual([
      'new.example.com AwaitingVerification CheckPending Nobody',
      `${old} Live Redirecting Nobody`,
      `${docs} Live ServedUntilReplaced Nobody`,
    ]);
    expect(entryOf(decide(moved), old)?.redirect).toEqual({to: docs, status: 308});
    const arrived = decide(settled(later(moved, {facts: {'new.example.com': served(), [old]: served()}})));
    expect(entryOf(arrived, old)?.redirect).toEqual({to: 'new.example.com', status: 308});
  });

  test('that becomes the primary redirects until the edge has its new leaf and does not answer with the redirect any more', () => {
    const before = settled(world({...input, facts: {[docs]: served(), [old]: served()}}));
    const swapped = {
      ...before.domain,
      spec: {...before.domain.spec, primary: old, redirects: [{from: docs, status: 301 as const}]},
    };
    // The former routes are gone; the new ones stand, and are waited for.
    const waiting = later(
      later(before, {
        domain: swapped,
        facts: {[old]: served({edge: undefined, edgeLookedAt: undefined}), [docs]: served()},
      }),
    );
    expect(hostLines(decide(waiting))).toEqual([
      `${old} Verified EdgePending Nobody`,
      `${docs} Live Redirecting Nobody`,
    ]);
    expect(decide(waiting).looks).toContainEqual({
      hostname: old,
      what: 'edge',
      whoAnswers: true,
      at: waiting.now + 3 * seconds,
    });
    const looked = (redirector: boolean) => {
      const now = waiting.now + 5 * seconds;
      return later(waiting, {
        now,
        facts: {
          [old]: served({edge: [edgeAt('192.0.2.1', {leafSha256: leaf, redirector})], edgeLookedAt: now}),
          [docs]: served(),
        },
      });
    };
    const still = decide(looked(true));
    expect(hostLines(still)[0]).toBe(`${old} Verified EdgeNotServing Platform`);
    expect(entryOf(still, old)?.message).toContain(`The edge at 192.0.2.1:443 still redirects ${old}`);
    expect(entryOf(still, old)?.redirect).toBeDefined();
    expect(hostLines(decide(looked(false)))[0]).toBe(`${old} Live Serving Nobody`);
    // It is told until another look says otherwise, not taken back after a moment.
    expect(decide(later(looked(true), {now: waiting.now + 6 * seconds})).status).toEqual(still.status);
  });

  test('has no redirect before it is proven, whatever the primary is', () => {
    expect(entryOf(decide(world({...input, facts: {[docs]: served()}})), old)).not.toHaveProperty('redirect');
  });

  test('follows a change of its status', () => {
    const before = settled(world({...input, facts: {[docs]: served(), [old]: served()}}));
    const changed = later(before, {
      domain: {...before.domain, spec: {...before.domain.spec, redirects: [{from: old, status: 302}]}},
    });
    expect(entryOf(decide(changed), old)).toMatchObject({phase: 'Live', redirect: {to: docs, status: 302}});
  });

  test('has no route for plain HTTP alone: of an ingress class without listeners only the one route is rendered', () => {
    const d = decide(world({...input, facts: {[docs]: proven(), [old]: proven()}}));
    expect(objectLines(d, {traefik: false})).toEqual([
      `acme Certificate ${docs}`,
      `doorplate-system Certificate ${old}`,
      `acme Ingress ${docs} any -> web:80`,
      `doorplate-system Ingress ${old} any -> doorplate-redirector:80`,
    ]);
  });
});

const stands = (isWhole: boolean) => ({serves: {since: t0 - hours, isWhole}});

describe('A Live hostname whose objects cannot be written', () => {
  const refused = {kind: 'WriteRefused', object: 'Certificate acme/docs', says: 'no'} as const;
  const failed = {kind: 'WriteFailed', object: 'Ingress acme/docs', says: 'the webhook is away'} as const;
  const routeRefused = {...refused, object: 'Ingress acme/docs'} as const;
  const expired = certificate({renewalTime: timestamp(t0 - 30 * days), notAfter: timestamp(t0 - seconds)});
  test.each<[string, HostFacts, string]>([
    ['stays Live if its Certificate is refused', {writeError: refused}, 'Live WriteRefused'],
    ['stays Live if the write of a route fails', {writeError: failed, standing: stands(false)}, 'Live WriteFailed'],
    [
      'is Verified if its route is refused, and is not as it should be',
      {writeError: routeRefused, standing: stands(false)},
      'Verified WriteRefused',
    ],
    [
      'is Verified if its certificate has expired',
      {writeError: refused, certificate: expired},
      'Verified WriteRefused',
    ],
  ])('%s', (_, facts, state) => {
    const live = settled(world({facts: {[docs]: served()}}));
    const d = decide(later(live, {facts: {[docs]: served(facts)}}));
    expect(hostLines(d)).toEqual([`${docs} ${state} Platform`]);
  });

  test('is not Ready while its certificate is not valid, and Verified without one', () => {
    const live = settled(world({facts: {[docs]: served()}}));
    const lost = decide(
      later(live, {facts: {[docs]: served({writeError: failed, certificate: certificate({ready: false})})}}),
    );
    expect(hostLines(lost)).toEqual([`${docs} Live WriteFailed Platform`]);
    expect(conditionLines(lost)).toEqual(
      expect.arrayContaining(['CertificateReady=False/WriteFailed', 'Live=True/Serving', 'Ready=False/WriteFailed']),
    );
    const {certificate: _, ...without} = served({writeError: failed});
    expect(hostLines(decide(later(live, {facts: {[docs]: without}})))).toEqual([
      `${docs} Verified WriteFailed Platform`,
    ]);
  });
});

describe('Waiting for DNS', () => {
  const rows: [string, number | undefined, number, number | undefined][] = [
    ['at once when nobody has asked yet', undefined, 0, 0],
    ['at once after a restart', undefined, 3 * days, 3 * days],
    ['15 s after the first', 0, 0, 15 * seconds],
    ['15 s after one just within 5 minutes', 5 * minutes - 1, 5 * minutes, 5 * minutes - 1 + 15 * seconds],
    ['a minute after one from then on', 5 * minutes, 5 * minutes, 6 * minutes],
    ['5 minutes after one after an hour', hours, hours, hours + 5 * minutes],
    ['an hour after one after a day', days, days, days + hours],
    [
      'an hour after one in the last hour: who waits is not cut short',
      7 * days - minutes,
      7 * days - minutes,
      7 * days + 59 * minutes,
    ],
    ['not at all after 7 days', 6 * days, 7 * days, undefined],
    ['not at all after 7 days and a restart', undefined, 7 * days, undefined],
  ];
  test.each(rows)('the next check is %s', (_, lastCheck, now, expected) => {
    expect(nextWaitingCheck(policy, t0, lastCheck === undefined ? undefined : t0 + lastCheck, t0 + now)).toBe(
      expected === undefined ? undefined : t0 + expected,
    );
  });

  test('past its last step the schedule goes on at the recheck interval', () => {
    expect(
      nextWaitingCheck({...policy, waitSchedule: [{everyMs: seconds, forMs: minutes}]}, t0, t0 + minutes, t0 + minutes),
    ).toBe(t0 + minutes + seconds);
  });

  test('ends after 7 days to the moment, with what to do, and nothing is looked at any more', () => {
    const first = later(world({facts: {[docs]: refuted()}}));
    const justBefore = {
      ...first,
      now: t0 + 7 * days - 1,
      facts: new Map([[docs, refuted('RecordMissing', 'Missing', [], t0 + 7 * days - minutes)]]),
    };
    expect([hostLines(decide(justBefore)), decide(justBefore).wakeAt]).toEqual([
      [`${docs} AwaitingVerification RecordMissing Customer`],
      t0 + 7 * days,
    ]);
    const over = decide({...justBefore, now: t0 + 7 * days});
    expect([hostLines(over), lookLines(over), over.wakeAt]).toEqual([
      [`${docs} AwaitingVerification VerificationExpired Customer`],
      [`dns ${docs} +Infinitys`],
      undefined,
    ]);
    expect(over.status.hosts![0]!.message).toBe(
      `${docs} was not verified within 168 hours; automatic checks have ended. Create CNAME docs -> ${target} (TTL 3600) in the zone example.com, then ask for a check (Verify).`,
    );
    expect(conditionLines(over).at(-1)).toBe('Stalled=True/VerificationExpired');
  });

  test('has no end while another CustomDomain of the tenant owns the hostname: a failed query does not end it either', () => {
    const claims = claimsBy(() => heldClaim(docs, 'uid-second'));
    const waiting = later(later(world({facts: {[docs]: proven()}}), {claims, now: t0 + 2000}));
    expect(hostLines(decide(waiting))).toEqual([`${docs} AwaitingVerification HostnameClaimed Customer`]);
    const at = t0 + 8 * days;
    const d = decide(later(waiting, {now: at, facts: {[docs]: unknown('ResolverFailure', at)}}));
    expect(lookLines(d)).toEqual([expect.stringMatching(/^dns docs\.example\.com \+\d+s$/)]);
  });

  test('after its end a proof that somebody asked for still counts', () => {
    const over = later(
      {...later(world({facts: {[docs]: refuted()}})), now: t0 + 8 * days},
      {request: {value: 'now', seenAt: t0 + 8 * days}},
    );
    expect(lookLines(decide(over))).toEqual([`dns ${docs} +${(8 * days) / seconds}s`]);
    expect(
      hostLines(decide(later(over, {now: t0 + 8 * days + seconds, facts: {[docs]: proven(t0 + 8 * days)}}))),
    ).toEqual([`${docs} Verified Issuing CertificateAuthority`]);
  });

  test('after its end a check of several hostnames that somebody asked for is answered when each has been looked at', () => {
    const start = later(world({redirects: [{from: old}], facts: {[docs]: refuted(), [old]: refuted()}}));
    const now = t0 + 8 * days;
    const facts = {[docs]: refuted('RecordMissing', 'Missing', [], now)};
    const first = later({...start, now}, {now: now + seconds, request: {value: 'now', seenAt: now}, facts});
    // What is known of the first is needed until the other is known.
    expect([decide(first).status.lastHandledReconcileAt, lookLines(decide(first))]).toEqual([
      undefined,
      [`dns ${docs} +Infinitys`, `dns ${old} +${(8 * days) / seconds + 1}s`],
    ]);
    const second = later(first, {facts: {...facts, [old]: refuted('RecordMissing', 'Missing', [], now + seconds)}});
    expect(decide(second).status.lastHandledReconcileAt).toBe('now');
  });

  describe('of a hostname that its tenant had attached before', () => {
    const now = t0 + 20 * minutes;
    const earlier = (anew: number) => ({facts: {[docs]: {earlier: {since: t0, last: now - seconds, anew}}}, now});

    test('begins with a check at once, a few times', () => {
      expect(lookLines(decide(world(earlier(3))))).toEqual([`dns ${docs} +${(20 * minutes) / seconds}s`]);
    });

    test('goes on where it was after that, and says until when it is waited', () => {
      const d = decide(world(earlier(4)));
      expect(lookLines(d)).toEqual([`dns ${docs} +${(21 * minutes) / seconds - 1}s`]);
      expect(entryOf(d, docs)?.message).toContain(
        'Doorplate has checked it several times recently; the next check runs by 2026-03-01 12:21 UTC.',
      );
    });

    test('makes a check that is asked for 10 s after the last one', () => {
      const request = {value: 'now', seenAt: now};
      expect(lookLines(decide(world({...earlier(4), request})))).toEqual([`dns ${docs} +${(now - t0) / seconds + 9}s`]);
    });
  });

  test('begins when the hostname is accepted: time in which it was refused does not count', () => {
    const refused = later(world({project: null}));
    const accepted = decide(later(refused, {now: t0 + 30 * days, project: project()}));
    expect(hostLines(accepted)).toEqual([`${docs} AwaitingVerification CheckPending Nobody`]);
    expect(entryOf(accepted, docs)?.addedAt).toBe(timestamp(t0 + 30 * days));
    expect(conditionLines(accepted).at(-1)).toBe('Reconciling=True/CheckPending');
  });

  test('says after a restart what it said before, until it knows better', () => {
    const before = later(world({facts: {[docs]: refuted('ConflictingRecord', 'Conflicting', ['A 203.0.113.7'])}}));
    const restarted = decide(later(before, {now: t0 + minutes, facts: {}}));
    expect(restarted.status).toEqual(decide(before).status);
    expect(lookLines(restarted)).toEqual([`dns ${docs} +60s`]);
  });

  test('says after a rollback nothing of what only the later release knows', () => {
    const before = later(world({facts: {[docs]: refuted()}}));
    const {status} = before.domain;
    const hosts = status!.hosts!.map((host) => ({...host, reason: 'OfALaterRelease'}));
    const back = {...before, domain: {...before.domain, status: {...status!, hosts}}, facts: new Map()};
    expect(() => decide(back)).not.toThrow();
    expect(hostLines(decide(back))).toEqual([`${docs} AwaitingVerification CheckPending Nobody`]);
  });
});

/** By which stage a status is written. */
function whenPublished(at: World): 'First' | 'BeforeOrders' | 'Later' | 'Last' {
  const decision = decide(at);
  if (goesLive(at.domain, decision)) return 'First';
  if (becomesVerified(at.domain, decision)) return 'BeforeOrders';
  return isMomentary(at.domain, decision) ? 'Later' : 'Last';
}

describe('The status is written', () => {
  const input: WorldInput = {redirects: [{from: old}], facts: {[docs]: proven(), [old]: refuted()}};

  test('before the Certificate where a hostname is proven for the first time, whichever: after a crash status alone knows of it', () => {
    const first = world(input);
    expect(whenPublished(first)).toBe('BeforeOrders');
    expect(whenPublished(later(first))).toBe('Last');
    const second = later(first, {facts: {[docs]: proven(), [old]: proven()}});
    expect(whenPublished(second)).toBe('BeforeOrders');
    expect(whenPublished(later(second))).toBe('Last');
  });

  test('before anything else where a hostname is Live: what was served in its place stops after that', () => {
    const becomes = later(world({facts: {[docs]: {...proven(), certificate: certificate()}}}), {
      now: t0 + hours,
      facts: {[docs]: served({edgeLookedAt: t0 + hours})},
    });
    expect([hostLines(decide(becomes)), whenPublished(becomes)]).toEqual([[`${docs} Live Serving Nobody`], 'First']);
    expect(whenPublished(later(becomes))).toBe('Last');
  });

  test('last before the proof, and after a restart: what was proven is wanted still', () => {
    expect(whenPublished(world({facts: {[docs]: refuted()}}))).toBe('Last');
    const restarted = later(world(input), {
      facts: {[docs]: {certificate: certificate({ready: false, leafSha256: undefined, notAfter: undefined})}},
    });
    expect(whenPublished(restarted)).toBe('Last');
    expect(objectLines(decide(restarted))).toEqual(primaryObjects);
  });

  test('before the Certificate again where the right was lost in between', () => {
    const lost = later(later(world({facts: {[docs]: proven()}})), {facts: {[docs]: proven()}, project: undefined});
    expect(whenPublished(lost)).toBe('Last');
    expect(whenPublished(later(lost, {project: project()}))).toBe('BeforeOrders');
  });

  test('with the proof and all that follows from it: nothing is left to say when the Certificate is made', () => {
    const first = world({facts: {[docs]: proven()}});
    const {name} = decide(first).certificates[0]!.metadata;
    const made = certificate({name, ready: false, issuing: true, leafSha256: undefined, notAfter: undefined});
    const then = decide(later(first, {facts: {[docs]: {...proven(), certificate: made}}}));
    expect(entryOf(then, docs)?.certificate).toEqual({name});
    expect(then.status).toEqual(decide(first).status);
  });

  const issuing = later(world({redirects: [{from: old}], facts: {[docs]: proven(), [old]: refuted()}}));
  const ready = {...proven(), certificate: certificate()};
  const standing = {serves: {since: t0, isWhole: false}};
  const live = settled(world({facts: {[docs]: served()}}));
  /** Each row: a world, and whether what is new of it may wait. */
  const rows: [string, World, ReturnType<typeof whenPublished>][] = [
    ['later where only the first check of its DNS is on its way', world(), 'Later'],
    [
      'last where the first check is not due yet',
      world({facts: {[docs]: {earlier: {since: t0, last: t0, anew: 9}}}}),
      'Last',
    ],
    [
      'later where the edge has not been looked at',
      later(issuing, {facts: {[docs]: ready, [old]: refuted()}}),
      'Later',
    ],
    [
      'later where routes are being written',
      later(issuing, {facts: {[docs]: {...ready, standing}, [old]: refuted()}}),
      'Later',
    ],
    [
      'last where routes wait for those of a former holder',
      later(issuing, {facts: {[docs]: {...ready, standing, occupied: true}, [old]: refuted()}}),
      'Last',
    ],
    [
      'last where another hostname has news',
      later(issuing, {facts: {[docs]: ready, [old]: refuted('TargetMismatch')}}),
      'Last',
    ],
    [
      'last where a hostname is gone',
      {...later(issuing, {facts: {[docs]: ready}}), domain: domain({status: decide(issuing).status})},
      'Last',
    ],
    [
      'last where somebody is told that the check was made',
      later(issuing, {facts: {[docs]: ready, [old]: refuted()}, request: {value: 'now', seenAt: t0 - 1}}),
      'Last',
    ],
    ['last where nothing is new', later(later(issuing, {facts: {[docs]: ready, [old]: refuted()}})), 'Last'],
    ['last where what was Live is asked about anew', later(live, {claims: new Map(), facts: {}}), 'Last'],
  ];
  test.each(rows)('%s', (_, at, when) => {
    expect(whenPublished(at)).toBe(when);
  });
});

const forfeited = (input: WorldInput) => decide(world(input)).forfeited;

describe('Certificates that do not rest when they go', () => {
  test('are those of hostnames whose proof or acceptance is over', () => {
    expect(forfeited({facts: {[docs]: refuted('RecordMissing')}})).toEqual([docs]);
    expect(forfeited({plan: free, facts: {[docs]: served()}})).toEqual([docs]);
    expect(forfeited({claims: {[docs]: heldClaim(docs, 'another')}, facts: {[docs]: served()}})).toEqual([docs]);
  });

  test('are not those of a Project that is gone, or was made anew and is not deployed yet', () => {
    expect(forfeited({project: null, facts: {[docs]: served()}})).toEqual([]);
    expect(forfeited({project: project({firstDeployTime: undefined}), facts: {[docs]: served()}})).toEqual([]);
    expect(forfeited({facts: {[docs]: served()}})).toEqual([]);
  });
});

describe('A Certificate that has rested', () => {
  const resting = certificate({name: 'of-before', resting: true});
  const facts = {...served(), certificate: resting, certificateNames: {serves: 'of-before'}};

  test('keeps its name, and serves by it without an order', () => {
    const {certificates, returning, routes, orderRequests} = decide(world({facts: {[docs]: facts}}));
    expect(returning).toEqual(['acme/of-before']);
    expect(certificates.map((c) => [c.metadata.name, c.spec.secretName])).toEqual([['of-before', 'of-before']]);
    expect(routes.map((r) => r.secretName)).toEqual(['of-before', undefined]);
    expect(routes.map((r) => r.name)).not.toContain('of-before');
    expect(orderRequests).toEqual([]);
  });

  test('keeps the key that it was taken over with: another kind would be another order', () => {
    const keys = {serves: 'RSA 2048', redirects: 'ECDSA 384'} as const;
    const {certificates} = decide(world({facts: {[docs]: {...facts, privateKeys: keys}}}));
    expect(certificates.map(({spec}) => spec.privateKey)).toEqual([
      {algorithm: 'RSA', size: 2048, rotationPolicy: 'Always'},
    ]);
  });

  test('does not come back while the hostname is no longer acceptable, and was never Live', () => {
    const {certificates, routes} = decide(
      later(world({facts: {[docs]: proven()}}), {tenant: tenantOn(free), facts: {[docs]: facts}}),
    );
    expect([certificates, routes]).toEqual([[], []]);
  });

  test('is told of in status once the hostname is proven, and not sooner', () => {
    const verdicts = [refuted('RecordMissing').verdict, served().verdict];
    const told = verdicts.map((verdict) => entryOf(decide(world({facts: {[docs]: {...facts, verdict}}})), docs));
    expect(told.map((entry) => entry?.certificate?.name)).toEqual([undefined, 'of-before']);
  });
});

describe('A check that somebody asks for (Verify, Re-verify)', () => {
  const request = {value: '2026-03-01T12:05:00Z', seenAt: t0 + 5 * minutes};
  const asked = (input: WorldInput) => decide(world({now: t0 + 5 * minutes, request, ...input}));

  test('is made at once, of every accepted hostname, proven or not, and is not answered before', () => {
    const d = asked({redirects: [{from: old}], facts: {[docs]: served(), [old]: refuted()}});
    expect(d.looks.map((l) => [l.hostname, l.what, l.at <= request.seenAt])).toEqual([
      [docs, 'dns', true],
      [old, 'dns', true],
    ]);
    expect(d.status).not.toHaveProperty('lastHandledReconcileAt');
  });

  test('is answered when every accepted hostname has been checked since it was seen, not sooner', () => {
    const since = refuted('RecordMissing', 'Missing', [], request.seenAt);
    expect(
      asked({redirects: [{from: old}], facts: {[docs]: since, [old]: refuted()}}).status.lastHandledReconcileAt,
    ).toBeUndefined();
    expect(
      asked({redirects: [{from: old}], facts: {[docs]: since, [old]: {...since, checkedAt: request.seenAt - 1}}}).status
        .lastHandledReconcileAt,
    ).toBeUndefined();
    expect(asked({redirects: [{from: old}], facts: {[docs]: since, [old]: since}}).status.lastHandledReconcileAt).toBe(
      request.value,
    );
  });

  test('is not held up by a hostname that is not accepted: that one is never checked', () => {
    const since = refuted('RecordMissing', 'Missing', [], request.seenAt);
    expect(asked({redirects: [{from: 'co.uk'}], facts: {[docs]: since}}).status.lastHandledReconcileAt).toBe(
      request.value,
    );
    expect(asked({project: null}).status.lastHandledReconcileAt).toBe(request.value);
  });

  test('is delayed, not dropped, within 10 s of the last check', () => {
    const delays = [1, 9, 10, 60].map(
      (ago) =>
        asked({facts: {[docs]: {...served(), checkedAt: request.seenAt - ago * seconds}}}).looks[0]!.at -
        request.seenAt,
    );
    expect(delays).toEqual([9 * seconds, seconds, 0, 0]);
  });

  test('that was answered stays answered when the annotation is gone', () => {
    const at = later(
      world({now: t0 + 6 * minutes, request, facts: {[docs]: refuted('RecordMissing', 'Missing', [], request.seenAt)}}),
      {request: undefined},
    );
    expect(decide(at).status.lastHandledReconcileAt).toBe(request.value);
  });
});

describe('Messages', () => {
  test('tell what to create and where, before anything was looked at', () => {
    expect(decide(world()).status.hosts![0]!.message).toBe(
      `Create CNAME docs -> ${target} (TTL 3600) in the zone example.com. The first check starts now.`,
    );
  });

  test("tell of somebody else's object by its name", () => {
    expect(
      decide(world({facts: {[docs]: {...proven(), writeError: {kind: 'NameTaken', object: 'Ingress acme/docs'}}}}))
        .status.hosts![0]!.message,
    ).toMatch(/^Ingress acme\/docs has the name of .* is not Doorplate's\. .* Delete or rename it\.$/);
  });
});

test('A world is only read: deciding changes nothing in it', () => {
  const freeze = <T>(value: T): T => {
    if (value !== null && typeof value === 'object') {
      Object.values(value).forEach(freeze);
      Object.freeze(value);
    }
    return value;
  };
  const at: World = settled(
    world({
      redirects: [{from: zzz}, {from: old}],
      facts: {[docs]: served(), [old]: refuted('TargetMismatch', 'Wrong', ['CNAME x.example'])},
    }),
  );
  freeze([at.domain, at.first, at.project, at.policy, [...at.facts]]);
  expect(() => decide(at)).not.toThrow();
});
