import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import type {ZoneStatus} from '../../../operator/api/custom-domain.ts';
import type {CertificateFacts} from '../../../operator/domain/certificates/certificate.ts';
import {decide} from '../../../operator/domain/lifecycle.ts';
import type {ReasonName} from '../../../operator/domain/reasons/reasons.ts';
import type {Proof} from '../../../operator/domain/verification/records.ts';
import {timestamp} from '../../../operator/domain/times.ts';
import type {Decision, HostFacts} from '../../../operator/domain/world.ts';
import {factsArbitrary} from '../../support/facts.ts';
import {atRest, claimed, historyArbitrary, isGranted, live, next} from '../../support/histories.ts';
import type {WorldInput} from '../../support/world.ts';
import {
  claimsBy,
  certificate,
  condition,
  conditionLines,
  days,
  domain,
  edgeAt,
  entryOf,
  free,
  heldClaim,
  hostLines,
  hours,
  later,
  leaf,
  minutes,
  objectLines,
  otherLeaf,
  policy,
  project,
  proven,
  recheckAfter,
  refuted,
  seconds,
  served,
  settled,
  t0,
  unknown,
  world,
} from '../../support/world.ts';

const docs = 'docs.example.com';
const old = 'old.example.com';
const zzz = 'zzz.example.org';
const sourceObjects = [
  `doorplate-system Certificate ${old}`,
  `doorplate-system Ingress ${old} web,websecure -> doorplate-redirector:80`,
];
const servedBy = (...nameServers: string[]): ZoneStatus => ({name: 'example.com', nameServers});
const servedIn = (zone: ZoneStatus | undefined) =>
  served({verdict: {kind: 'Proven', by: 'CNAME', apex: false, ...(zone && {zone})}});
const lookLines = (d: Decision) => d.looks.map((l) => `${l.what} ${l.hostname} +${(l.at - t0) / seconds}s`);

describe('Rule 1, no ACME before proof', () => {
  const unproven: [string, WorldInput][] = [
    ...(
      [
        'RecordMissing',
        'TargetMismatch',
        'IndirectCNAME',
        'ConflictingRecord',
        'ConflictingA',
        'ConflictingAAAA',
        'ProxiedOrFlattened',
        'BehindCDN',
        'TXTMissing',
        'TXTMismatch',
        'PropagationPending',
      ] as const
    ).map((r): [string, WorldInput] => [r, {facts: {[docs]: {...served(), ...refuted(r)}}}]),
    ...(
      ['AuthoritativeUnreachable', 'AuthoritativeFailure', 'DNSSECBroken', 'ResolverFailure', 'NoEdgeAddress'] as const
    ).map((r): [string, WorldInput] => [r, {facts: {[docs]: {...served(), ...unknown(r)}}}]),
    ['CheckPending', {facts: {[docs]: {...served(), verdict: undefined, checkedAt: undefined}}}],
    [
      'VerificationExpired',
      {now: t0 + 8 * days, status: decide(world()).status, facts: {[docs]: {...served(), ...refuted()}}},
    ],
    ['ProjectNotFound', {project: null, facts: {[docs]: served()}}],
    [
      'ProjectHasDomains',
      {others: [domain({name: 'older', uid: 'older', createdAt: timestamp(t0 - 9 * days)})], facts: {[docs]: served()}},
    ],
    ['NoSuccessfulDeploy', {project: project({firstDeployTime: undefined}), facts: {[docs]: served()}}],
    ['HostnameNotAllowed', {primary: 'co.uk', facts: {'co.uk': served()}}],
    ['PlanUpgradeRequired', {plan: free, facts: {[docs]: served()}}],
    ['PlanNotFound', {plan: null, facts: {[docs]: served()}}],
  ];
  test.each(unproven)('a hostname that is %s has no Certificate and no Ingress', (reason, input) => {
    const d = decide(world(input));
    expect(d.status.hosts?.[0]?.reason).toBe(reason);
    expect(objectLines(d)).toEqual([]);
  });

  test('whatever has happened, objects are wanted only of hosts that DNS, or the platform, has proven since they were accepted, and whose claim is held', () => {
    fc.assert(
      fc.property(historyArbitrary, (history) => {
        const provenOnce = new Set<string>();
        for (const {at, decision: d} of live(history)) {
          for (const [hostname, facts] of at.facts)
            if (facts.verdict?.kind === 'Proven' || isGranted(at, hostname)) provenOnce.add(hostname);
          for (const host of d.status.hosts ?? []) if (host.phase === 'NotAccepted') provenOnce.delete(host.hostname);
          const wanted = [...d.certificates.flatMap((c) => c.spec.dnsNames), ...d.routes.map((r) => r.host)];
          for (const hostname of wanted) {
            expect(provenOnce).toContain(hostname);
            expect(at.claims.get(hostname)?.status?.holder?.uid).toBe(at.domain.metadata.uid);
            expect(['Verified', 'Live']).toContain(entryOf(d, hostname)?.phase);
          }
        }
      }),
      {numRuns: 300},
    );
  });

  test('an earlier proof is void once the hostname was refused: it is proven anew', () => {
    const liveWorld = settled(world({facts: {[docs]: served()}}));
    const refused = later(liveWorld, {project: undefined});
    expect(entryOf(decide(refused), docs)).not.toHaveProperty('verifiedAt');
    const back = decide(later(refused, {project: project(), facts: {}}));
    expect([hostLines(back), objectLines(back)]).toEqual([[`${docs} AwaitingVerification CheckPending Nobody`], []]);
  });
});

describe('Rule 2, one broken host never harms another', () => {
  test('each hostname has a Certificate, routes and an entry of its own', () => {
    const d = decide(
      world({redirects: [{from: zzz}, {from: old}], facts: {[docs]: refuted(), [old]: proven(), [zzz]: served()}}),
    );
    expect(hostLines(d)).toEqual([
      `${docs} AwaitingVerification RecordMissing Customer`,
      `${old} Verified Issuing CertificateAuthority`,
      `${zzz} Verified WaitingForPrimary Nobody`,
    ]);
    expect(objectLines(d)).toEqual([
      sourceObjects[0]!,
      `doorplate-system Certificate ${zzz}`,
      sourceObjects[1]!,
      `doorplate-system Ingress ${zzz} web,websecure -> doorplate-redirector:80`,
    ]);
    expect(new Set([...d.certificates.map((c) => c.metadata.name), ...d.routes.map((r) => r.name)]).size).toBe(2);
  });

  test("one hostname's facts change nothing of another's; of the primary the others see only whether it is Live", () => {
    fc.assert(
      fc.property(historyArbitrary, fc.nat(), factsArbitrary, (history, pick, facts) => {
        const {at: before, decision: a} = live(history).at(-1)!;
        const names = a.status.hosts!.map((h) => h.hostname);
        const changed = names[pick % names.length]!;
        const {decision: b} = claimed({...before, facts: new Map([...before.facts, [changed, facts]])});
        const others = names.filter((n) => n !== changed);
        const sameLink =
          changed !== names[0] || (entryOf(a, changed)?.phase === 'Live') === (entryOf(b, changed)?.phase === 'Live');
        for (const name of others) {
          // What takes over from another, or is to be taken over from, waits for the primary to be Live.
          const waits =
            entryOf(a, name)?.role === 'FormerPrimary' || before.facts.get(name)?.standing?.serves !== undefined;
          if (waits && !sameLink) continue;
          const of = (d: Decision) => ({
            entry: sameLink ? entryOf(d, name) : undefined,
            record: d.status.dnsRecords?.find((r) => r.hostname === name),
            certificates: d.certificates.filter((c) => c.spec.dnsNames.includes(name)),
            routes: d.routes.filter((r) => r.host === name),
            dns: d.looks.filter((l) => l.hostname === name && l.what === 'dns'),
          });
          expect(of(b)).toEqual(of(a));
        }
      }),
      {numRuns: 1000},
    );
  });

  test('a hostname that is not allowed takes no other with it', () => {
    const d = decide(
      world({
        redirects: [{from: 'co.uk'}, {from: 'a.denied.example'}, {from: old}],
        facts: {[docs]: served(), [old]: served()},
      }),
    );
    expect(
      hostLines(
        decide(settled(world({redirects: [{from: 'co.uk'}, {from: old}], facts: {[docs]: served(), [old]: served()}}))),
      ),
    ).toEqual([
      `${docs} Live Serving Nobody`,
      'co.uk NotAccepted HostnameNotAllowed Customer',
      `${old} Live Redirecting Nobody`,
    ]);
    expect(conditionLines(d).slice(-2)).toEqual(['Ready=False/HostnameNotAllowed', 'Stalled=True/HostnameNotAllowed']);
    expect(d.status.hostsLive).toBe('1/4');
  });
});

describe('Rule 3, "could not ask" is not "no"', () => {
  const failures: ReasonName[] = [
    'AuthoritativeUnreachable',
    'AuthoritativeFailure',
    'DNSSECBroken',
    'ResolverFailure',
    'NoEdgeAddress',
  ];

  test.each(failures)('while waiting, %s makes Verified Unknown, with that reason and its message', (reason) => {
    expect(condition(decide(world({facts: {[docs]: unknown(reason)}})), 'Verified')).toMatchObject({
      status: 'Unknown',
      reason,
      message: `${reason} came of it.`,
    });
  });

  test.each(failures)('after the proof, %s changes nothing in status and nothing that is wanted', (reason) => {
    for (const facts of [proven(), served(), served({edge: [edgeAt('192.0.2.1', {leafSha256: otherLeaf})]})]) {
      const before = settled(world({redirects: [{from: old}], facts: {[docs]: facts, [old]: served()}}));
      const after = later(before, {
        facts: {
          [docs]: {...facts, ...unknown(reason, before.now)},
          [old]: {...served(), ...unknown(reason, before.now)},
        },
      });
      const [a, b] = [decide(before), decide(after)];
      expect(b.status).toEqual(a.status);
      expect([b.certificates, b.routes]).toEqual([a.certificates, a.routes]);
    }
  });

  test('whatever has happened, a check that could not be made changes nothing of a proven hostname', () => {
    fc.assert(
      fc.property(historyArbitrary, fc.constantFrom(...failures), (history, reason) => {
        const {at: before, decision: decided} = atRest(live(history).at(-1)!);
        // Where an order would follow, the same check reads the CAA records: without these nothing is ordered.
        const needed = (f: HostFacts) =>
          before.policy.issuers[0].caaIdentities.length > 0 && f.certificate === undefined;
        const facts = new Map(
          [...before.facts].map(([name, f]) => [
            name,
            entryOf(decided, name)?.verifiedAt && !needed(f) ? {...f, ...unknown(reason, before.now)} : f,
          ]),
        );
        const after = decide({...before, facts});
        expect(after.status).toEqual(decided.status);
        expect([after.certificates, after.routes]).toEqual([decided.certificates, decided.routes]);
      }),
      {numRuns: 200},
    );
  });

  test('what was seen of the record before a failure, or before a restart, stands', () => {
    const serving = settled(world({facts: {[docs]: served()}}));
    const moved = {facts: {[docs]: served(refuted('TargetMismatch', 'Wrong', ['CNAME elsewhere.example']))}};
    expect(decide(later(serving, moved)).status.dnsRecords?.[0]).toMatchObject({state: 'Found'});
    // Confirmed: a drift.
    const since = {negativeSince: timestamp(t0 - 2 * hours), negativeAt: timestamp(t0 - hours), negatives: 4};
    const before = later(serving, {...moved, claims: claimsBy((h) => heldClaim(h, 'uid-domain', since))});
    const wrong = {state: 'Wrong', observed: ['CNAME elsewhere.example']};
    expect(decide(before).status.dnsRecords?.[0]).toMatchObject(wrong);
    expect(decide(later(before, {facts: {[docs]: served(unknown())}})).status.dnsRecords?.[0]).toMatchObject(wrong);
    expect(
      decide(later(before, {facts: {[docs]: served({verdict: undefined, checkedAt: undefined})}})).status
        .dnsRecords?.[0],
    ).toMatchObject(wrong);
    expect(decide(later(before, {facts: {[docs]: served()}})).status.dnsRecords?.[0]).toMatchObject({state: 'Found'});
  });
});

describe('Rule 3, "could not ask" is not "no", of a name that was proven by a TXT', () => {
  const byTxt = served({verdict: {kind: 'Proven', by: 'TXT', apex: false}});
  test.each([
    ['a failure', served(unknown())],
    ['a restart', served({verdict: undefined, checkedAt: undefined})],
  ])('after %s the records that proved it are still the ones to create', (_, facts) => {
    // The second is registrable, and yet no apex: its registry serves the name in its own zone.
    for (const hostname of [docs, 'example.net']) {
      const before = settled(world({primary: hostname, facts: {[hostname]: byTxt}}));
      const {dnsRecords} = decide(before).status;
      expect(dnsRecords?.map((r) => [r.type, r.state])).toEqual([
        ['CNAME', 'Found'],
        ['TXT', 'Found'],
      ]);
      expect(decide(later(before, {facts: {[hostname]: facts}})).status.dnsRecords).toEqual(dnsRecords);
    }
  });
});

describe('Rule 6, Live means seen', () => {
  const [one, two] = ['192.0.2.1', '2001:db8::1'];
  const {notAfter} = certificate();
  const adopted = {leafSha256: undefined};
  const rows: [string, {edge?: ReturnType<typeof edgeAt>[]; issued?: Partial<CertificateFacts>}, string, string?][] = [
    [
      'every address presents the issued leaf',
      {edge: [edgeAt(one, {leafSha256: leaf}), edgeAt(two, {leafSha256: leaf})]},
      'Live Serving',
    ],
    [
      'one of two addresses does not answer',
      {edge: [edgeAt(one, {leafSha256: leaf}), edgeAt(two, {unreachable: 'connection refused'})]},
      'Verified EdgeUnreachable',
      `[${two}]:443 does not answer for ${docs} (connection refused)`,
    ],
    [
      'one of two presents another leaf',
      {
        edge: [
          edgeAt(one, {leafSha256: leaf}),
          edgeAt(two, {leafSha256: otherLeaf, subjectAltNames: 'DNS:other.example'}),
        ],
      },
      'Verified EdgeNotServing',
      `[${two}]:443 presents another certificate for ${docs} (of DNS:other.example)`,
    ],
    [
      'an address presents none',
      {edge: [edgeAt(one, {})]},
      'Verified EdgeNotServing',
      `${one}:443 presents another certificate`,
    ],
    [
      'no request tells the leaf, and it ends when the Certificate does',
      {edge: [edgeAt(one, {leafSha256: otherLeaf, subjectAltNames: `DNS:${docs}`, notAfter})], issued: adopted},
      'Live Serving',
    ],
    [
      'no request tells the leaf, and one of two ends at another time',
      {
        edge: [
          edgeAt(one, {subjectAltNames: `DNS:${docs}`, notAfter}),
          edgeAt(two, {subjectAltNames: `DNS:${docs}`, notAfter: timestamp(t0 + days)}),
        ],
        issued: adopted,
      },
      'Verified EdgeNotServing',
      `[${two}]:443 presents another certificate`,
    ],
    [
      'no request tells the leaf, and it is of another name',
      {edge: [edgeAt(one, {subjectAltNames: 'DNS:*.example.com', notAfter})], issued: adopted},
      'Verified EdgeNotServing',
      `${one}:443 presents another certificate`,
    ],
    [
      'nothing is known of what was issued',
      {
        edge: [edgeAt(one, {leafSha256: leaf, subjectAltNames: `DNS:${docs}`})],
        issued: {leafSha256: undefined, notAfter: undefined},
      },
      'Verified EdgePending',
      'Doorplate waits until the edge presents it',
    ],
    [
      'there is no address to look at',
      {edge: []},
      'Verified EdgeUnreachable',
      'Doorplate knows no address of the edge yet',
    ],
    ['the edge has not been looked at', {}, 'Verified EdgePending', 'Doorplate waits until the edge presents it'],
    [
      'it still presents the leaf before the current one',
      {
        edge: [edgeAt(one, {leafSha256: leaf, subjectAltNames: `DNS:${docs}`, notAfter})],
        issued: {leafSha256: otherLeaf},
      },
      'Verified EdgeNotServing',
      `${one}:443 presents another certificate`,
    ],
  ];
  test.each(rows)('is kept where %s', (_, {edge, issued}, expected, message = 'is served over TLS') => {
    const facts = {...proven(), certificate: certificate(issued), edge, edgeLookedAt: t0};
    const ready = expected.startsWith('Live') ? 'True' : 'False';
    const alone = decide(settled(world({facts: {[docs]: facts}})));
    expect(`${entryOf(alone, docs)!.phase} ${entryOf(alone, docs)!.reason}`).toBe(expected);
    expect(entryOf(alone, docs)!.message).toContain(message);
    expect(condition(alone, 'Ready')?.status).toBe(ready);
    const asSource = {
      ...facts,
      edge: edge?.map((e) => ({
        ...e,
        ...(e.subjectAltNames !== undefined && {subjectAltNames: e.subjectAltNames.replace(docs, old)}),
      })),
    };
    const source = decide(settled(world({redirects: [{from: old}], facts: {[docs]: served(), [old]: asSource}})));
    expect(`${entryOf(source, old)!.phase} ${entryOf(source, old)!.reason}`).toBe(
      expected.replace('Live Serving', 'Live Redirecting'),
    );
    expect(condition(source, 'Ready')?.status).toBe(ready);
  });

  test('whatever has happened, a hostname becomes Live only in sight of every address with what was issued', () => {
    fc.assert(
      fc.property(historyArbitrary, (history) => {
        for (const {at, decision} of live(history)) {
          for (const host of decision.status.hosts ?? []) {
            if (
              host.phase !== 'Live' ||
              at.domain.status?.hosts?.some((h) => h.hostname === host.hostname && h.phase === 'Live')
            )
              continue;
            const {certificate: issued, edge = []} = at.facts.get(host.hostname) ?? {};
            expect(issued).toHaveProperty('notAfter');
            expect(edge.length).toBeGreaterThan(0);
            const right =
              issued?.leafSha256 !== undefined
                ? {leafSha256: issued.leafSha256}
                : {notAfter: issued?.notAfter, subjectAltNames: `DNS:${host.hostname}`};
            for (const seen of edge) expect(seen).toMatchObject(right);
          }
        }
      }),
      {numRuns: 500},
    );
  });

  const wrong = served({edge: [edgeAt(one, {leafSha256: otherLeaf})]});

  test("nothing is said of a wrong answer within the edge's own delay of 3 s", () => {
    const first = later(world({facts: {[docs]: wrong}}));
    const reasonAt = (second: number) => hostLines(decide({...first, now: t0 + second * seconds}))[0]!.split(' ')[2];
    expect([0, 2, 3, 10].map(reasonAt)).toEqual(['EdgePending', 'EdgePending', 'EdgeNotServing', 'EdgeNotServing']);
    expect(decide(first).wakeAt).toBe(t0 + 3 * seconds);
  });

  test.each(['EdgeNotServing', 'EdgeUnreachable'] as const)(
    '%s is pending for two minutes, then stalled, and heals when the leaf is seen',
    (reason) => {
      const facts = reason === 'EdgeNotServing' ? wrong : served({edge: [edgeAt(one, {unreachable: 'timed out'})]});
      const at = settled(world({facts: {[docs]: facts}}));
      const since = Date.parse(entryOf(decide(at), docs)!.since);
      expect(decide(at).wakeAt).toBe(since + 2 * minutes);
      expect(conditionLines(decide({...at, now: since + 2 * minutes - 1})).at(-1)).toBe(`Reconciling=True/${reason}`);
      expect(conditionLines(decide({...at, now: since + 2 * minutes})).at(-1)).toBe(`Stalled=True/${reason}`);
      expect(conditionLines(decide(later(at, {now: since + hours, facts: {[docs]: served()}}))).at(-1)).toBe(
        'Ready=True/Serving',
      );
    },
  );

  test('the two minutes survive a restart, after which the edge has not been looked at yet', () => {
    const at = settled(world({facts: {[docs]: wrong}}));
    const restarted = decide(later(at, {facts: {[docs]: {...wrong, edge: undefined, edgeLookedAt: undefined}}}));
    expect(restarted.status).toEqual(decide(at).status);
    expect(restarted.looks).toContainEqual({hostname: docs, what: 'edge', whoAnswers: false, at: at.now});
    expect(restarted.wakeAt).toBe(decide(at).wakeAt);
  });

  test('the edge is looked at quickly first, then every 15 s', () => {
    const waiting = settled(world({facts: {[docs]: wrong}}));
    const since = Date.parse(entryOf(decide(waiting), docs)!.since);
    const pause = (after: number) => {
      const looked = since + after;
      return (
        decide({
          ...waiting,
          now: looked,
          facts: new Map([[docs, {...waiting.facts.get(docs), edgeLookedAt: looked}]]),
        }).looks.find((l) => l.what === 'edge')!.at - looked
      );
    };
    expect([0, 100, 1000, 10_000, 60_000, 3_600_000].map(pause)).toEqual([250, 250, 500, 5000, 15_000, 15_000]);
  });
});

describe('Rule 9, quiet when nothing changes', () => {
  test('whatever has happened, the status that was decided is decided again, later, with the same answers', () => {
    fc.assert(
      fc.property(
        historyArbitrary,
        fc.array(fc.integer({min: 1, max: 20_000}), {minLength: 1, maxLength: 4}),
        (history, steps) => {
          let moment = atRest(live(history).at(-1)!);
          const {status, wakeAt = Infinity} = moment.decision;
          for (const step of steps) {
            const now = moment.at.now + step;
            // What changes by time alone changes when the decision said it would.
            if (now >= wakeAt) return;
            const {claims} = moment.at;
            // Only planned checks and probes return new answers.
            const {looks} = moment.decision;
            const isLooked = (name: string, what: 'dns' | 'edge') =>
              looks.some((look) => look.hostname === name && look.what === what);
            const facts = new Map(
              [...moment.at.facts].map(([name, f]) =>
                // Whatever time the old answer has left at each look. One more look at a proof that is in doubt would be a confirmation.
                [
                  name,
                  claims.get(name)?.status?.negativeSince !== undefined
                    ? f
                    : {
                        ...f,
                        ...(f.verdict?.kind === 'Refuted' && {verdict: {...f.verdict, oldAnswerSeconds: step}}),
                        ...(f.checkedAt !== undefined && isLooked(name, 'dns') && {checkedAt: now}),
                        ...(f.edgeLookedAt !== undefined && isLooked(name, 'edge') && {edgeLookedAt: now}),
                      },
                ],
              ),
            );
            moment = next(moment, step, {facts});
            expect(moment.decision.status).toEqual(status);
          }
        },
      ),
      {numRuns: 500},
    );
  });

  test('a Live domain is waited for by nothing but its next DNS check and its next edge probe: no timer of its own', () => {
    const d = decide(settled(world({redirects: [{from: old}], facts: {[docs]: served(), [old]: served()}})));
    expect(d.wakeAt).toBeUndefined();
    expect(lookLines(d)).toEqual(
      [docs, old].flatMap((name) => [`edge ${name} +${recheckAfter(name)}s`, `dns ${name} +${recheckAfter(name)}s`]),
    );
  });

  describe('of the zone', () => {
    const before = settled(world({facts: {[docs]: servedIn(servedBy('ns1.example.net', 'ns2.example.net'))}}));
    const zoneAfter = (facts: HostFacts) => entryOf(decide(later(before, {facts: {[docs]: facts}})), docs)?.zone;

    test('what is found is told once, and stands as long as nothing else is found', () => {
      expect(entryOf(decide(before), docs)?.zone).toEqual(servedBy('ns1.example.net', 'ns2.example.net'));
      expect(decide(later(before)).status).toEqual(decide(before).status);
      for (const facts of [served({verdict: undefined, checkedAt: undefined}), served(unknown()), served(refuted())])
        expect(decide(later(before, {facts: {[docs]: facts}})).status).toEqual(decide(before).status);
    });

    test('another set that has a server in common writes nothing: the parent and the zone itself may list others', () => {
      expect(zoneAfter(servedIn(servedBy('ns2.example.net', 'ns3.example.net')))).toEqual(
        servedBy('ns1.example.net', 'ns2.example.net'),
      );
    });

    test('other servers, and another provider, are told', () => {
      expect(zoneAfter(servedIn(servedBy('ns3.example.net')))).toEqual(servedBy('ns3.example.net'));
      const moved = {...servedBy('ada.ns.cloudflare.com', 'ns1.example.net'), provider: 'Cloudflare'};
      expect(zoneAfter(servedIn(moved))).toEqual(moved);
      expect(zoneAfter(servedIn({...servedBy('ns1.example.net'), name: docs}))).toEqual({
        ...servedBy('ns1.example.net'),
        name: docs,
      });
    });

    test('where none is found any more, none is told', () => {
      expect(zoneAfter(servedIn(undefined))).toBeUndefined();
    });

    test('there is none of what is not acceptable: nothing is asked of that', () => {
      expect(entryOf(decide(later(before, {project: undefined})), docs)).not.toHaveProperty('zone');
    });

    test.each<[string, Proof, string[]]>([
      ['Cloudflare', 'Addresses', ['CNAME']],
      ['Cloudflare', 'TXT', ['CNAME', 'TXT']],
      ['Cloudflare', 'CNAME', ['CNAME']],
      ['GoDaddy', 'Addresses', ['A']],
      ['GoDaddy', 'TXT', ['A', 'TXT']],
      ['name.com', 'TXT', ['ANAME', 'TXT']],
      ['Hover', 'Addresses', ['ALIAS']],
    ])('at an apex at %s, proven by %s, a restart changes none of its records', (provider, by, types) => {
      const primary = 'example.com';
      const zone = {...servedBy('ns1.example.net'), provider};
      const standing = settled(
        world({primary, facts: {[primary]: served({verdict: {kind: 'Proven', by, apex: true, zone}})}}),
      );
      const {dnsRecords} = decide(standing).status;
      expect(dnsRecords?.map((r) => r.type)).toEqual(types);
      expect(dnsRecords?.every((r) => r.state === 'Found')).toBe(true);
      expect(
        decide(later(standing, {facts: {[primary]: served({verdict: undefined, checkedAt: undefined})}})).status,
      ).toEqual(decide(standing).status);
    });
  });

  test('a restart changes nothing of what is Live', () => {
    const at = settled(world({redirects: [{from: old}], facts: {[docs]: served(), [old]: served()}}));
    const restarted = decide(
      later(at, {
        now: t0 + 9 * days,
        startedAt: t0 + 9 * days,
        facts: {[docs]: {certificate: certificate()}, [old]: {certificate: certificate()}},
      }),
    );
    expect(restarted.status).toEqual(decide(at).status);
    for (const look of restarted.looks) {
      expect(look.at).toBeGreaterThanOrEqual(t0 + 9 * days);
      expect(look.at).toBeLessThanOrEqual(t0 + 9 * days + policy.recheckIntervalMs);
    }
  });

  test('after a restart the checks of many Live names are spread over half the interval', () => {
    const first = decide(
      world({
        redirects: Array.from({length: 100}, (_, i) => ({from: `n${i}.example.com`})),
        facts: Object.fromEntries(Array.from({length: 100}, (_, i) => [`n${i}.example.com`, proven()])),
      }),
    );
    const again = decide(
      world({
        redirects: Array.from({length: 100}, (_, i) => ({from: `n${i}.example.com`})),
        status: first.status,
        startedAt: t0,
        facts: Object.fromEntries(first.status.hosts!.map((h) => [h.hostname, {certificate: certificate()}])),
      }),
    );
    const twentieths = again.looks
      .filter((l) => l.hostname !== docs)
      .map((l) => Math.floor(((l.at - t0) / policy.recheckIntervalMs) * 20));
    expect(new Set(twentieths).size).toBeGreaterThanOrEqual(8);
  });

  test('hosts, records and objects are sorted, in whatever order the spec gives them', () => {
    const names = [
      'b.example.com',
      'a.example.com',
      'bücher.example',
      'xn--bcher-kva.example',
      'z.example.com',
      'm.example.com',
    ];
    const decided = (order: string[]) =>
      decide(
        world({
          redirects: order.map((from) => ({from})),
          facts: Object.fromEntries([docs, ...names].map((n) => [n, proven()])),
        }),
      );
    const sorted = decided(names);
    expect(sorted.status.hosts?.map((h) => h.hostname)).toEqual([
      docs,
      'a.example.com',
      'b.example.com',
      'm.example.com',
      'xn--bcher-kva.example',
      'bücher.example',
      'z.example.com',
    ]);
    expect(sorted.status.dnsRecords?.map((r) => r.hostname)).toEqual([
      docs,
      'a.example.com',
      'b.example.com',
      'm.example.com',
      'xn--bcher-kva.example',
      'z.example.com',
    ]);
    fc.assert(
      fc.property(fc.shuffledSubarray(names, {minLength: names.length}), (shuffled) => {
        expect(decided(shuffled)).toEqual(sorted);
      }),
      {numRuns: 50},
    );
  });

  test('lastTransitionTime moves only with the status, observedGeneration with the spec', () => {
    const at = later(world({facts: {[docs]: refuted()}}), {});
    const changed = later(at, {
      now: t0 + minutes,
      facts: {[docs]: refuted('TargetMismatch', 'Wrong')},
      domain: {...at.domain, metadata: {...at.domain.metadata, generation: 7}},
    });
    const d = decide(changed);
    expect(condition(d, 'Verified')).toEqual({
      type: 'Verified',
      status: 'False',
      reason: 'TargetMismatch',
      message: 'TargetMismatch was seen.',
      observedGeneration: 7,
      lastTransitionTime: timestamp(t0),
    });
    expect(new Set([d.status.observedGeneration, ...d.status.conditions!.map((c) => c.observedGeneration)])).toEqual(
      new Set([7]),
    );
    expect(
      condition(decide(later(changed, {now: t0 + hours, facts: {[docs]: proven()}})), 'Verified')?.lastTransitionTime,
    ).toBe(timestamp(t0 + hours));
  });
});
