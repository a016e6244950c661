import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {timestamp} from '../../../operator/domain/conditions.ts';
import {decide, nextWaitingCheck} from '../../../operator/domain/lifecycle.ts';
import type {Decision, World} from '../../../operator/domain/lifecycle.ts';
import type {ReasonName} from '../../../operator/domain/reasons.ts';
import {reasons} from '../../../operator/domain/reasons.ts';
import type {WorldInput} from '../../support/world.ts';
import {
  certificate, condition, conditionLines, days, domain, edgeAt, entryOf, hostLines, hours, later, leaf, minutes, objectLines, otherLeaf, policy, project, proven, refuted,
  seconds, served, settled, t0, target, unknown, world,
} from '../../support/world.ts';
import {historyArbitrary, factsArbitrary, live} from '../../support/histories.ts';

const docs = 'docs.example.com';
const old = 'old.example.com';
const zzz = 'zzz.example.org';
const primaryObjects = [`acme Certificate ${docs}`, `acme Ingress ${docs} websecure -> web:80`, `doorplate-system Ingress ${docs} web -> doorplate-redirector:80`];
const sourceObjects = [`doorplate-system Certificate ${old}`, `doorplate-system Ingress ${old} web,websecure -> doorplate-redirector:80`];
const lookLines = (d: Decision) => d.looks.map((l) => `${l.what} ${l.hostname} +${(l.at - t0) / seconds}s`);

describe('The life of one hostname, the primary', () => {
  /** Each row: what is known, and all that is said and wanted then. */
  const rows: [string, WorldInput, {host: string; conditions: string[]; objects: string[]; looks: string[]; wake?: number; record?: object}][] = [
    ['is awaited as soon as it is accepted, and DNS is asked at once', {}, {
      host: `${docs} AwaitingVerification CheckPending Nobody`,
      conditions: ['Accepted=True/Accepted', 'Verified=Unknown/CheckPending', 'CertificateReady=False/CheckPending', 'RoutesReady=False/CheckPending', 'Live=False/CheckPending', 'Ready=False/CheckPending', 'Reconciling=True/CheckPending'],
      objects: [], looks: [`dns ${docs} +0s`], wake: t0 + 48 * hours, record: {state: 'Unknown'},
    }],
    ['is awaited on while the record is missing', {facts: {[docs]: refuted('RecordMissing')}}, {
      host: `${docs} AwaitingVerification RecordMissing Customer`,
      conditions: ['Accepted=True/Accepted', 'Verified=False/RecordMissing', 'CertificateReady=False/RecordMissing', 'RoutesReady=False/RecordMissing', 'Live=False/RecordMissing', 'Ready=False/RecordMissing', 'Reconciling=True/RecordMissing'],
      objects: [], looks: [`dns ${docs} +15s`], wake: t0 + 48 * hours, record: {state: 'Missing'},
    }],
    ['shows what was seen instead', {facts: {[docs]: refuted('ConflictingRecord', 'Conflicting', ['A 203.0.113.7'])}}, {
      host: `${docs} AwaitingVerification ConflictingRecord Customer`,
      conditions: ['Accepted=True/Accepted', 'Verified=False/ConflictingRecord', 'CertificateReady=False/ConflictingRecord', 'RoutesReady=False/ConflictingRecord', 'Live=False/ConflictingRecord', 'Ready=False/ConflictingRecord', 'Reconciling=True/ConflictingRecord'],
      objects: [], looks: [`dns ${docs} +15s`], wake: t0 + 48 * hours, record: {state: 'Conflicting', observed: ['A 203.0.113.7']},
    }],
    ['is unknown, not unverified, while DNS could not be asked', {facts: {[docs]: unknown('AuthoritativeFailure')}}, {
      host: `${docs} AwaitingVerification AuthoritativeFailure Customer`,
      conditions: ['Accepted=True/Accepted', 'Verified=Unknown/AuthoritativeFailure', 'CertificateReady=False/AuthoritativeFailure', 'RoutesReady=False/AuthoritativeFailure', 'Live=False/AuthoritativeFailure', 'Ready=False/AuthoritativeFailure', 'Reconciling=True/AuthoritativeFailure'],
      objects: [], looks: [`dns ${docs} +15s`], wake: t0 + 48 * hours, record: {state: 'Unknown'},
    }],
    ['is stalled at once where the name servers cannot be reached: the platform must act', {facts: {[docs]: unknown('AuthoritativeUnreachable')}}, {
      host: `${docs} AwaitingVerification AuthoritativeUnreachable Platform`,
      conditions: ['Accepted=True/Accepted', 'Verified=Unknown/AuthoritativeUnreachable', 'CertificateReady=False/AuthoritativeUnreachable', 'RoutesReady=False/AuthoritativeUnreachable', 'Live=False/AuthoritativeUnreachable', 'Ready=False/AuthoritativeUnreachable', 'Stalled=True/AuthoritativeUnreachable'],
      objects: [], looks: [`dns ${docs} +15s`], wake: t0 + 48 * hours, record: {state: 'Unknown'},
    }],
    ['gets its certificate and its routes when it is proven, and is then checked rarely', {facts: {[docs]: proven()}}, {
      host: `${docs} Verified Issuing CertificateAuthority`,
      conditions: ['Accepted=True/Accepted', 'Verified=True/Proven', 'CertificateReady=False/Issuing', 'RoutesReady=True/Routed', 'Live=False/Issuing', 'Ready=False/Issuing', 'Reconciling=True/Issuing'],
      objects: primaryObjects, looks: [`dns ${docs} +21600s`], wake: t0 + 30 * minutes, record: {state: 'Found'},
    }],
    ['says so while its routes are being written', {facts: {[docs]: served()}, stands: () => false}, {
      host: `${docs} Verified EdgePending Nobody`,
      conditions: ['Accepted=True/Accepted', 'Verified=True/Proven', 'CertificateReady=True/Issued', 'RoutesReady=False/RoutesPending', 'Live=False/EdgePending', 'Ready=False/EdgePending', 'Reconciling=True/EdgePending'],
      objects: primaryObjects, looks: [`dns ${docs} +21600s`], record: {state: 'Found'},
    }],
    ['is looked for on the edge when its certificate is there', {facts: {[docs]: {...proven(), certificate: certificate()}}}, {
      host: `${docs} Verified EdgePending Nobody`,
      conditions: ['Accepted=True/Accepted', 'Verified=True/Proven', 'CertificateReady=True/Issued', 'RoutesReady=True/Routed', 'Live=False/EdgePending', 'Ready=False/EdgePending', 'Reconciling=True/EdgePending'],
      objects: primaryObjects, looks: [`dns ${docs} +21600s`, `edge ${docs} +0s`], wake: t0 + 3 * seconds, record: {state: 'Found'},
    }],
    ['is Live when the edge was seen to serve the issued leaf, and the edge is left alone then', {facts: {[docs]: served()}}, {
      host: `${docs} Live Serving Nobody`,
      conditions: ['Accepted=True/Accepted', 'Verified=True/Proven', 'CertificateReady=True/Issued', 'RoutesReady=True/Routed', 'Live=True/Serving', 'Ready=True/Serving'],
      objects: primaryObjects, looks: [`dns ${docs} +21600s`], record: {state: 'Found'},
    }],
    ['is stalled 30 minutes after an order that came to nothing, and the failure is told', {now: t0 + 30 * minutes, facts: {[docs]: {...proven(), certificate: certificate({ready: false, leafSha256: undefined, failure: 'the order is invalid'})}}}, {
      host: `${docs} Verified IssuanceStalled Platform`,
      conditions: ['Accepted=True/Accepted', 'Verified=True/Proven', 'CertificateReady=False/IssuanceStalled', 'RoutesReady=True/Routed', 'Live=False/IssuanceStalled', 'Ready=False/IssuanceStalled', 'Stalled=True/IssuanceStalled'],
      objects: primaryObjects, looks: [`dns ${docs} +21600s`], record: {state: 'Found'},
    }],
    ["keeps its hands off somebody else's object", {facts: {[docs]: {...proven(), inTheWay: 'Ingress acme/docs'}}, stands: () => false}, {
      host: `${docs} Verified NameTaken Platform`,
      conditions: ['Accepted=True/Accepted', 'Verified=True/Proven', 'CertificateReady=False/NameTaken', 'RoutesReady=False/NameTaken', 'Live=False/NameTaken', 'Ready=False/NameTaken', 'Stalled=True/NameTaken'],
      objects: primaryObjects, looks: [`dns ${docs} +21600s`], record: {state: 'Found'},
    }],
    ['asks for nothing and wants nothing without its Project', {project: null, facts: {[docs]: served()}}, {
      host: `${docs} NotAccepted ProjectNotFound Customer`,
      conditions: ['Accepted=False/ProjectNotFound', 'Verified=False/ProjectNotFound', 'CertificateReady=False/ProjectNotFound', 'RoutesReady=False/ProjectNotFound', 'Live=False/ProjectNotFound', 'Ready=False/ProjectNotFound', 'Reconciling=True/ProjectNotFound'],
      objects: [], looks: [],
    }],
  ];

  test.each(rows)('%s', (_, input, expected) => {
    const d = decide(world(input));
    expect({
      host: hostLines(d)[0], conditions: conditionLines(d), objects: objectLines(d), looks: lookLines(d), wake: d.wakeAt, record: d.status.dnsRecords?.[0],
    }).toEqual({
      ...expected, wake: expected.wake,
      record: expected.record && {hostname: docs, type: 'CNAME', name: 'docs', zone: 'example.com', value: target, ttl: 3600, ...expected.record},
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
      seen.push([`+${second}`, hostLines(d)[0]!.split(' ').slice(1, 3).join(' '), ...[since, addedAt, verifiedAt, liveAt].map((t) => (t ? (Date.parse(t) - t0) / seconds : '-'))].join(' '));
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
    expect(entryOf(decide(world({facts: {[docs]: served()}})), docs)?.certificate).toEqual({name: 'certificate', notAfter: '2026-05-30T12:00:00Z'});
    expect(entryOf(decide(world({facts: {[docs]: proven()}})), docs)).not.toHaveProperty('certificate');
  });

  test('stays Live while its certificate is being renewed', () => {
    const liveWorld = settled(world({facts: {[docs]: served()}}));
    const renewing = later(liveWorld, {facts: {[docs]: served({certificate: certificate({ready: false, leafSha256: otherLeaf})})}});
    expect(hostLines(decide(renewing))).toEqual([`${docs} Live Serving Nobody`]);
  });

  test('is no longer Live when its certificate is gone', () => {
    const liveWorld = settled(world({facts: {[docs]: served()}}));
    expect(hostLines(decide(later(liveWorld, {facts: {[docs]: served({certificate: undefined})}})))).toEqual([`${docs} Verified Issuing CertificateAuthority`]);
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
    expect(hostLines(d)).toEqual([`${docs} AwaitingVerification CheckPending Nobody`, `${old} Verified WaitingForPrimary Nobody`]);
    expect(d.looks.filter((l) => l.hostname === old && l.what === 'edge')).toEqual([]);
    // The observer forgets what no look asks for: that must not set it back.
    expect(hostLines(decide(later(waiting, {facts: {[old]: served({edge: undefined, edgeLookedAt: undefined})}})))[1]).toBe(`${old} Verified WaitingForPrimary Nobody`);
  });

  test('is looked at on the edge once more when the primary goes Live, and then redirects by its own status', () => {
    const waiting = later(world({...input, facts: {[old]: served()}}));
    const primaryLive = later(waiting, {facts: {[docs]: served(), [old]: served({edge: undefined, edgeLookedAt: undefined})}});
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

  test('keeps its last redirect while a new primary is on its way', () => {
    const before = settled(world({...input, facts: {[docs]: served(), [old]: served()}}));
    const moved = later(before, {domain: {...before.domain, spec: {...before.domain.spec, primary: 'new.example.com'}}, facts: {[old]: served()}});
    expect(hostLines(decide(moved))).toEqual(['new.example.com AwaitingVerification CheckPending Nobody', `${old} Live Redirecting Nobody`]);
    expect(entryOf(decide(moved), old)?.redirect).toEqual({to: docs, status: 308});
    const arrived = decide(settled(later(moved, {facts: {'new.example.com': served(), [old]: served()}})));
    expect(entryOf(arrived, old)?.redirect).toEqual({to: 'new.example.com', status: 308});
  });

  test('has no redirect before it is proven, whatever the primary is', () => {
    expect(entryOf(decide(world({...input, facts: {[docs]: served()}})), old)).not.toHaveProperty('redirect');
  });

  test('follows a change of its status', () => {
    const before = settled(world({...input, facts: {[docs]: served(), [old]: served()}}));
    const changed = later(before, {domain: {...before.domain, spec: {...before.domain.spec, redirects: [{from: old, status: 302}]}}});
    expect(entryOf(decide(changed), old)).toMatchObject({phase: 'Live', redirect: {to: docs, status: 302}});
  });

  test('has no route for plain HTTP alone: of an ingress class without listeners only the one route is rendered', () => {
    const d = decide(world({...input, traefik: false, facts: {[docs]: proven(), [old]: proven()}}));
    expect(objectLines(d)).toEqual([
      `acme Certificate ${docs}`, `doorplate-system Certificate ${old}`, `acme Ingress ${docs} any -> web:80`, `doorplate-system Ingress ${old} any -> doorplate-redirector:80`,
    ]);
  });
});

describe('Rule 1, no ACME before proof', () => {
  const unproven: [string, WorldInput][] = [
    ...(['RecordMissing', 'TargetMismatch', 'IndirectCNAME', 'ConflictingRecord', 'ProxiedOrFlattened', 'PropagationPending'] as const).map((r): [string, WorldInput] => [r, {facts: {[docs]: {...served(), ...refuted(r)}}}]),
    ...(['AuthoritativeUnreachable', 'AuthoritativeFailure', 'ResolverFailure'] as const).map((r): [string, WorldInput] => [r, {facts: {[docs]: {...served(), ...unknown(r)}}}]),
    ['CheckPending', {facts: {[docs]: {...served(), verdict: undefined, checkedAt: undefined}}}],
    ['VerificationExpired', {now: t0 + 8 * days, status: decide(world()).status, facts: {[docs]: {...served(), ...refuted()}}}],
    ['ProjectNotFound', {project: null, facts: {[docs]: served()}}],
    ['ProjectHasDomains', {others: [domain({name: 'older', uid: 'older', createdAt: timestamp(t0 - 9 * days)})], facts: {[docs]: served()}}],
    ['NoSuccessfulDeploy', {project: project({firstDeployTime: undefined}), facts: {[docs]: served()}}],
    ['HostnameNotAllowed', {primary: 'co.uk', facts: {'co.uk': served()}}],
  ];
  test.each(unproven)('a hostname that is %s has no Certificate and no Ingress', (reason, input) => {
    const d = decide(world(input));
    expect(d.status.hosts?.[0]?.reason).toBe(reason);
    expect(objectLines(d)).toEqual([]);
  });

  test('whatever has happened, objects are wanted only of hosts that DNS has proven since they were accepted', () => {
    fc.assert(fc.property(historyArbitrary, (history) => {
      const provenOnce = new Set<string>();
      for (const at of live(history)) {
        const d = decide(at);
        for (const [hostname, facts] of at.facts) if (facts.verdict?.kind === 'Proven') provenOnce.add(hostname);
        for (const host of d.status.hosts ?? []) if (host.phase === 'NotAccepted') provenOnce.delete(host.hostname);
        const wanted = [...d.certificates.flatMap((c) => c.spec.dnsNames), ...d.ingresses.flatMap((i) => i.spec.rules.map((r) => r.host))];
        for (const hostname of wanted) {
          expect(provenOnce).toContain(hostname);
          expect(['Verified', 'Live']).toContain(entryOf(d, hostname)?.phase);
        }
      }
    }), {numRuns: 300});
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
    const d = decide(world({redirects: [{from: zzz}, {from: old}], facts: {[docs]: refuted(), [old]: proven(), [zzz]: served()}}));
    expect(hostLines(d)).toEqual([`${docs} AwaitingVerification RecordMissing Customer`, `${old} Verified Issuing CertificateAuthority`, `${zzz} Verified WaitingForPrimary Nobody`]);
    expect(objectLines(d)).toEqual([
      sourceObjects[0]!, `doorplate-system Certificate ${zzz}`, sourceObjects[1]!, `doorplate-system Ingress ${zzz} web,websecure -> doorplate-redirector:80`]);
    expect(new Set([...d.certificates, ...d.ingresses].map((o) => o.metadata.name)).size).toBe(2);
  });

  test("one hostname's facts change nothing of another's; of the primary the others see only whether it is Live", () => {
    fc.assert(fc.property(historyArbitrary, fc.nat(), factsArbitrary, (history, pick, facts) => {
      const before = live(history).at(-1)!;
      const names = decide(before).status.hosts!.map((h) => h.hostname);
      const changed = names[pick % names.length]!;
      const [a, b] = [decide(before), decide({...before, facts: new Map([...before.facts, [changed, facts]])})];
      const others = names.filter((n) => n !== changed);
      const sameLink = changed !== names[0] || entryOf(a, changed)?.phase === 'Live' === (entryOf(b, changed)?.phase === 'Live');
      for (const name of others) {
        const of = (d: Decision) => ({
          entry: sameLink ? entryOf(d, name) : undefined,
          record: d.status.dnsRecords?.find((r) => r.hostname === name),
          certificates: d.certificates.filter((c) => c.spec.dnsNames.includes(name)),
          ingresses: d.ingresses.filter((i) => i.spec.rules.some((r) => r.host === name)),
          dns: d.looks.filter((l) => l.hostname === name && l.what === 'dns'),
        });
        expect(of(b)).toEqual(of(a));
      }
    }), {numRuns: 300});
  });

  test('a hostname that is not allowed takes no other with it', () => {
    const d = decide(world({redirects: [{from: 'co.uk'}, {from: 'a.denied.example'}, {from: old}], facts: {[docs]: served(), [old]: served()}}));
    expect(hostLines(decide(settled(world({redirects: [{from: 'co.uk'}, {from: old}], facts: {[docs]: served(), [old]: served()}}))))).toEqual([
      `${docs} Live Serving Nobody`, 'co.uk NotAccepted HostnameNotAllowed Customer', `${old} Live Redirecting Nobody`]);
    expect(conditionLines(d).slice(-2)).toEqual(['Ready=False/HostnameNotAllowed', 'Stalled=True/HostnameNotAllowed']);
    expect(d.status.hostsLive).toBe('1/4');
  });
});

describe('Rule 3, "could not ask" is not "no"', () => {
  const failures: ReasonName[] = ['AuthoritativeUnreachable', 'AuthoritativeFailure', 'ResolverFailure'];

  test.each(failures)('while waiting, %s makes Verified Unknown, with that reason and its message', (reason) => {
    expect(condition(decide(world({facts: {[docs]: unknown(reason)}})), 'Verified')).toMatchObject({status: 'Unknown', reason, message: `${reason} came of it.`});
  });

  test.each(failures)('after the proof, %s changes nothing in status and nothing that is wanted', (reason) => {
    for (const facts of [proven(), served(), served({edge: [edgeAt('192.0.2.1', {leafSha256: otherLeaf})]})]) {
      const before = settled(world({redirects: [{from: old}], facts: {[docs]: facts, [old]: served()}}));
      const after = later(before, {facts: {[docs]: {...facts, ...unknown(reason, before.now)}, [old]: {...served(), ...unknown(reason, before.now)}}});
      const [a, b] = [decide(before), decide(after)];
      expect(b.status).toEqual(a.status);
      expect([b.certificates, b.ingresses]).toEqual([a.certificates, a.ingresses]);
    }
  });

  test('whatever has happened, a check that could not be made changes nothing of a proven hostname', () => {
    fc.assert(fc.property(historyArbitrary, fc.constantFrom(...failures), (history, reason) => {
      const before = settled(live(history).at(-1)!);
      const decided = decide(before);
      const facts = new Map([...before.facts].map(([name, f]) => [name, entryOf(decided, name)?.verifiedAt ? {...f, ...unknown(reason, before.now)} : f]));
      const after = decide({...before, facts});
      expect(after.status).toEqual(decided.status);
      expect([after.certificates, after.ingresses]).toEqual([decided.certificates, decided.ingresses]);
    }), {numRuns: 200});
  });

  test('what was seen of the record before a failure, or before a restart, stands', () => {
    const before = later(settled(world({facts: {[docs]: served()}})), {facts: {[docs]: served(refuted('TargetMismatch', 'Wrong', ['CNAME elsewhere.example']))}});
    const wrong = {state: 'Wrong', observed: ['CNAME elsewhere.example']};
    expect(decide(before).status.dnsRecords?.[0]).toMatchObject(wrong);
    expect(decide(later(before, {facts: {[docs]: served(unknown())}})).status.dnsRecords?.[0]).toMatchObject(wrong);
    expect(decide(later(before, {facts: {[docs]: served({verdict: undefined, checkedAt: undefined})}})).status.dnsRecords?.[0]).toMatchObject(wrong);
    expect(decide(later(before, {facts: {[docs]: served()}})).status.dnsRecords?.[0]).toMatchObject({state: 'Found'});
  });
});

describe('Rule 6, Live means seen', () => {
  const [one, two] = ['192.0.2.1', '2001:db8::1'];
  const rows: [string, {edge?: ReturnType<typeof edgeAt>[]; leaf?: string}, string, string?][] = [
    ['every address presents the issued leaf', {edge: [edgeAt(one, {leafSha256: leaf}), edgeAt(two, {leafSha256: leaf})]}, 'Live Serving'],
    ['one of two addresses does not answer', {edge: [edgeAt(one, {leafSha256: leaf}), edgeAt(two, {unreachable: 'connection refused'})]}, 'Verified EdgeUnreachable', `${two}:443 does not answer for ${docs} (connection refused)`],
    ['one of two presents another leaf', {edge: [edgeAt(one, {leafSha256: leaf}), edgeAt(two, {leafSha256: otherLeaf, subjectAltNames: 'DNS:other.example'})]}, 'Verified EdgeNotServing', `${two}:443 presents another certificate for ${docs} (of DNS:other.example)`],
    ['an address presents none', {edge: [edgeAt(one, {})]}, 'Verified EdgeNotServing', `${one}:443 presents another certificate`],
    ['the leaf that was issued is not known', {edge: [edgeAt(one, {leafSha256: leaf})], leaf: ''}, 'Verified EdgePending', 'the edge is being watched'],
    ['there is no address to look at', {edge: []}, 'Verified EdgePending', 'the edge is being watched'],
    ['the edge has not been looked at', {}, 'Verified EdgePending', 'the edge is being watched'],
    ['it still presents the leaf before the current one', {edge: [edgeAt(one, {leafSha256: leaf})], leaf: otherLeaf}, 'Verified EdgeNotServing', `${one}:443 presents another certificate`],
  ];
  test.each(rows)('it is so where %s', (_, {edge, leaf: issued = leaf}, expected, message = 'is served over TLS') => {
    const facts = {...proven(), certificate: certificate({leafSha256: issued || undefined}), edge, edgeLookedAt: t0};
    const ready = expected.startsWith('Live') ? 'True' : 'False';
    const alone = decide(settled(world({facts: {[docs]: facts}})));
    expect(`${entryOf(alone, docs)!.phase} ${entryOf(alone, docs)!.reason}`).toBe(expected);
    expect(entryOf(alone, docs)!.message).toContain(message);
    expect(condition(alone, 'Ready')?.status).toBe(ready);
    const source = decide(settled(world({redirects: [{from: old}], facts: {[docs]: served(), [old]: facts}})));
    expect(`${entryOf(source, old)!.phase} ${entryOf(source, old)!.reason}`).toBe(expected.replace('Live Serving', 'Live Redirecting'));
    expect(condition(source, 'Ready')?.status).toBe(ready);
  });

  test('whatever has happened, a hostname becomes Live only in sight of every address with the issued leaf', () => {
    fc.assert(fc.property(historyArbitrary, (history) => {
      for (const at of live(history)) {
        for (const host of decide(at).status.hosts ?? []) {
          if (host.phase !== 'Live' || at.domain.status?.hosts?.some((h) => h.hostname === host.hostname && h.phase === 'Live')) continue;
          const facts = at.facts.get(host.hostname)!;
          expect(facts.certificate?.leafSha256).toBeDefined();
          expect(facts.edge?.length).toBeGreaterThan(0);
          expect(facts.edge?.every((e) => e.leafSha256 === facts.certificate?.leafSha256)).toBe(true);
        }
      }
    }), {numRuns: 500});
  });

  const wrong = served({edge: [edgeAt(one, {leafSha256: otherLeaf})]});

  test("nothing is said of a wrong answer within the edge's own delay of 3 s", () => {
    const first = later(world({facts: {[docs]: wrong}}));
    const reasonAt = (second: number) => hostLines(decide({...first, now: t0 + second * seconds}))[0]!.split(' ')[2];
    expect([0, 2, 3, 10].map(reasonAt)).toEqual(['EdgePending', 'EdgePending', 'EdgeNotServing', 'EdgeNotServing']);
    expect(decide(first).wakeAt).toBe(t0 + 3 * seconds);
  });

  test.each(['EdgeNotServing', 'EdgeUnreachable'] as const)('%s is pending for two minutes, then stalled, and heals when the leaf is seen', (reason) => {
    const facts = reason === 'EdgeNotServing' ? wrong : served({edge: [edgeAt(one, {unreachable: 'timed out'})]});
    const at = settled(world({facts: {[docs]: facts}}));
    const since = Date.parse(entryOf(decide(at), docs)!.since);
    expect(decide(at).wakeAt).toBe(since + 2 * minutes);
    expect(conditionLines(decide({...at, now: since + 2 * minutes - 1})).at(-1)).toBe(`Reconciling=True/${reason}`);
    expect(conditionLines(decide({...at, now: since + 2 * minutes})).at(-1)).toBe(`Stalled=True/${reason}`);
    expect(conditionLines(decide(later(at, {now: since + hours, facts: {[docs]: served()}}))).at(-1)).toBe('Ready=True/Serving');
  });

  test('the two minutes survive a restart, after which the edge has not been looked at yet', () => {
    const at = settled(world({facts: {[docs]: wrong}}));
    const restarted = decide(later(at, {facts: {[docs]: {...wrong, edge: undefined, edgeLookedAt: undefined}}}));
    expect(restarted.status).toEqual(decide(at).status);
    expect(restarted.looks).toContainEqual({hostname: docs, what: 'edge', at: at.now});
    expect(restarted.wakeAt).toBe(decide(at).wakeAt);
  });

  test('the edge is looked at quickly first, then every 15 s', () => {
    const waiting = settled(world({facts: {[docs]: wrong}}));
    const since = Date.parse(entryOf(decide(waiting), docs)!.since);
    const pause = (after: number) => {
      const looked = since + after;
      return decide({...waiting, now: looked, facts: new Map([[docs, {...wrong, edgeLookedAt: looked}]])}).looks.find((l) => l.what === 'edge')!.at - looked;
    };
    expect([0, 100, 1000, 10_000, 60_000, 3_600_000].map(pause)).toEqual([250, 250, 500, 5000, 15_000, 15_000]);
  });
});

describe('Rule 9, quiet when nothing changes', () => {
  test('whatever has happened, the status that was decided is decided again, later, with the same answers', () => {
    fc.assert(fc.property(historyArbitrary, fc.array(fc.integer({min: 1, max: 20_000}), {minLength: 1, maxLength: 4}), (history, steps) => {
      let at = settled(live(history).at(-1)!);
      const {status} = decide(at);
      for (const step of steps) {
        const now = at.now + step;
        const facts = Object.fromEntries([...at.facts].map(([name, f]) =>
          [name, {...f, ...(f.checkedAt !== undefined && {checkedAt: now}), ...(f.edgeLookedAt !== undefined && {edgeLookedAt: now})}]));
        at = later(at, {now, facts});
        expect(decide(at).status).toEqual(status);
      }
    }), {numRuns: 500});
  });

  test('a Live domain is waited for by nothing but its next checks: no timer of its own, no look at the edge', () => {
    const d = decide(settled(world({redirects: [{from: old}], facts: {[docs]: served(), [old]: served()}})));
    expect(d.wakeAt).toBeUndefined();
    expect(lookLines(d)).toEqual([`dns ${docs} +21600s`, `dns ${old} +21600s`]);
  });

  test('a restart changes nothing of what is Live', () => {
    const at = settled(world({redirects: [{from: old}], facts: {[docs]: served(), [old]: served()}}));
    const restarted = decide(later(at, {now: t0 + 9 * days, startedAt: t0 + 9 * days, facts: {[docs]: {certificate: certificate()}, [old]: {certificate: certificate()}}}));
    expect(restarted.status).toEqual(decide(at).status);
    for (const look of restarted.looks) {
      expect(look.at).toBeGreaterThanOrEqual(t0 + 9 * days);
      expect(look.at).toBeLessThanOrEqual(t0 + 9 * days + policy.recheckIntervalMs);
    }
  });

  test('after a restart the checks of many Live names are spread over the interval', () => {
    const first = decide(world({redirects: Array.from({length: 100}, (_, i) => ({from: `n${i}.example.com`})), facts: Object.fromEntries(Array.from({length: 100}, (_, i) => [`n${i}.example.com`, proven()]))}));
    const again = decide(world({redirects: Array.from({length: 100}, (_, i) => ({from: `n${i}.example.com`})), status: first.status, startedAt: t0}));
    const tenths = again.looks.filter((l) => l.hostname !== docs).map((l) => Math.floor(((l.at - t0) / policy.recheckIntervalMs) * 10));
    expect(new Set(tenths).size).toBeGreaterThanOrEqual(8);
  });

  test('hosts, records and objects are sorted, in whatever order the spec gives them', () => {
    const names = ['b.example.com', 'a.example.com', 'bücher.example', 'xn--bcher-kva.example', 'z.example.com', 'm.example.com'];
    const decided = (order: string[]) => decide(world({redirects: order.map((from) => ({from})), facts: Object.fromEntries([docs, ...names].map((n) => [n, proven()]))}));
    const sorted = decided(names);
    expect(sorted.status.hosts?.map((h) => h.hostname)).toEqual([docs, 'a.example.com', 'b.example.com', 'm.example.com', 'xn--bcher-kva.example', 'bücher.example', 'z.example.com']);
    expect(sorted.status.dnsRecords?.map((r) => r.hostname)).toEqual([docs, 'a.example.com', 'b.example.com', 'm.example.com', 'xn--bcher-kva.example', 'z.example.com']);
    fc.assert(fc.property(fc.shuffledSubarray(names, {minLength: names.length}), (shuffled) => {
      expect(decided(shuffled)).toEqual(sorted);
    }), {numRuns: 50});
  });

  test('lastTransitionTime moves only with the status, observedGeneration with the spec', () => {
    const at = later(world({facts: {[docs]: refuted()}}), {});
    const changed = later(at, {now: t0 + minutes, facts: {[docs]: refuted('TargetMismatch', 'Wrong')}, domain: {...at.domain, metadata: {...at.domain.metadata, generation: 7}}});
    const d = decide(changed);
    expect(condition(d, 'Verified')).toEqual({type: 'Verified', status: 'False', reason: 'TargetMismatch', message: 'TargetMismatch was seen.', observedGeneration: 7, lastTransitionTime: timestamp(t0)});
    expect(new Set([d.status.observedGeneration, ...d.status.conditions!.map((c) => c.observedGeneration)])).toEqual(new Set([7]));
    expect(condition(decide(later(changed, {now: t0 + hours, facts: {[docs]: proven()}})), 'Verified')?.lastTransitionTime).toBe(timestamp(t0 + hours));
  });
});

describe('Conditions', () => {
  const always = ['Accepted', 'Verified', 'CertificateReady', 'RoutesReady', 'Live', 'Ready'];

  test('are always all there, and exactly one of Reconciling and Stalled stands while Ready is not True', () => {
    fc.assert(fc.property(historyArbitrary, (history) => {
      for (const at of live(history)) {
        const {status} = decide(at);
        const types = status.conditions!.map((c) => c.type);
        const ready = condition(decide(at), 'Ready')!;
        expect(types.slice(0, 6)).toEqual(always);
        expect(types.length - 6).toBe(ready.status === 'True' ? 0 : 1);
        expect(types.slice(6).filter((t) => t !== 'Reconciling' && t !== 'Stalled')).toEqual([]);
        expect(ready.status === 'True').toBe(status.hosts!.every((h) => h.phase === 'Live'));
        expect(status.phase).toBe(status.hosts![0]!.phase);
        expect(condition(decide(at), 'Live')!.status === 'True').toBe(status.phase === 'Live');
        expect(condition(decide(at), 'Accepted')!.status === 'True').toBe(status.phase !== 'NotAccepted');
        expect(status.conditions!.filter((c) => !(c.reason in reasons))).toEqual([]);
      }
    }), {numRuns: 200});
  });

  test('speak of the primary, but Ready of all hostnames, and it says how many more there are', () => {
    const d = decide(settled(world({redirects: [{from: old}, {from: zzz}], facts: {[docs]: served(), [old]: refuted(), [zzz]: refuted()}})));
    expect(conditionLines(d)).toEqual(['Accepted=True/Accepted', 'Verified=True/Proven', 'CertificateReady=True/Issued', 'RoutesReady=True/Routed', 'Live=True/Serving', 'Ready=False/RecordMissing', 'Reconciling=True/RecordMissing']);
    expect(condition(d, 'Ready')?.message).toBe('RecordMissing was seen. (1 more of 3 hostnames not Live yet: see status.hosts)');
    expect([d.status.phase, d.status.hostsLive]).toEqual(['Live', '1/3']);
  });

  test('Stalled wins over Reconciling, and gives its own reason, not that of the first host', () => {
    const d = decide(world({redirects: [{from: old}], facts: {[docs]: refuted(), [old]: unknown('AuthoritativeUnreachable')}}));
    expect(conditionLines(d).slice(-2)).toEqual(['Ready=False/AuthoritativeUnreachable', 'Stalled=True/AuthoritativeUnreachable']);
    expect(condition(d, 'Verified')?.reason).toBe('RecordMissing');
  });

  test('a missing record is pending for 48 hours from when it was first awaited, whatever was seen in between, then stalled', () => {
    const first = later(world({facts: {[docs]: refuted()}}));
    const at = (ms: number, reason: ReasonName) => conditionLines(decide({...later(first, {now: t0 + hours, facts: {[docs]: refuted(reason)}}), now: t0 + ms})).at(-1);
    expect(at(48 * hours - 1, 'TargetMismatch')).toBe('Reconciling=True/TargetMismatch');
    expect(at(48 * hours, 'TargetMismatch')).toBe('Stalled=True/TargetMismatch');
    expect(at(48 * hours, 'RecordMissing')).toBe('Stalled=True/RecordMissing');
  });

  test('of kstatus are pending or stalled just as the design says', () => {
    const pending = ['ProjectNotFound', 'NoSuccessfulDeploy', 'Issuing', 'EdgePending', 'EdgeUnreachable', 'EdgeNotServing', 'RecordMissing', 'TargetMismatch', 'IndirectCNAME', 'ConflictingRecord', 'ProxiedOrFlattened', 'PropagationPending', 'CheckPending', 'WaitingForPrimary', 'AuthoritativeFailure'] as const;
    const stalled = ['HostnameNotAllowed', 'DuplicateHostname', 'ProjectHasDomains', 'VerificationExpired', 'AuthoritativeUnreachable', 'IssuanceStalled'] as const;
    expect(pending.filter((r) => reasons[r].health !== 'pending')).toEqual([]);
    expect(stalled.filter((r) => reasons[r].health !== 'stalled')).toEqual([]);
  });

  test('no message is longer than the schema allows, however long what others said is', () => {
    const failure = 'x'.repeat(5000);
    const d = decide(world({redirects: [{from: old}], facts: {[docs]: {...proven(), certificate: certificate({ready: false, failure})}}}));
    expect(d.status.hosts![0]!.message).toHaveLength(2048);
    expect(Math.max(...d.status.conditions!.map((c) => c.message.length))).toBeLessThanOrEqual(2048);
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
    ['an hour after one in the last hour: who waits is not cut short', 7 * days - minutes, 7 * days - minutes, 7 * days + 59 * minutes],
    ['not at all after 7 days', 6 * days, 7 * days, undefined],
    ['not at all after 7 days and a restart', undefined, 7 * days, undefined],
  ];
  test.each(rows)('the next check is %s', (_, lastCheck, now, expected) => {
    expect(nextWaitingCheck(policy, t0, lastCheck === undefined ? undefined : t0 + lastCheck, t0 + now)).toBe(expected === undefined ? undefined : t0 + expected);
  });

  test('past its last step the schedule goes on at the recheck interval', () => {
    expect(nextWaitingCheck({...policy, waitSchedule: [{everyMs: seconds, forMs: minutes}]}, t0, t0 + minutes, t0 + minutes)).toBe(t0 + minutes + seconds);
  });

  test('ends after 7 days to the moment, with what to do, and nothing is looked at any more', () => {
    const first = later(world({facts: {[docs]: refuted()}}));
    const justBefore = {...first, now: t0 + 7 * days - 1, facts: new Map([[docs, refuted('RecordMissing', 'Missing', [], t0 + 7 * days - minutes)]])};
    expect([hostLines(decide(justBefore)), decide(justBefore).wakeAt]).toEqual([[`${docs} AwaitingVerification RecordMissing Customer`], t0 + 7 * days]);
    const over = decide({...justBefore, now: t0 + 7 * days});
    expect([hostLines(over), over.looks, over.wakeAt]).toEqual([[`${docs} AwaitingVerification VerificationExpired Customer`], [], undefined]);
    expect(over.status.hosts![0]!.message).toBe(`${docs} was not verified within 168 hours; automatic checks have ended. Create CNAME docs -> ${target} (TTL 3600) in the zone example.com, then ask for a check (Verify).`);
    expect(conditionLines(over).at(-1)).toBe('Stalled=True/VerificationExpired');
  });

  test('after its end a proof that somebody asked for still counts', () => {
    const over = later({...later(world({facts: {[docs]: refuted()}})), now: t0 + 8 * days}, {request: {value: 'now', seenAt: t0 + 8 * days}});
    expect(lookLines(decide(over))).toEqual([`dns ${docs} +${(8 * days) / seconds}s`]);
    expect(hostLines(decide(later(over, {now: t0 + 8 * days + seconds, facts: {[docs]: proven(t0 + 8 * days)}})))).toEqual([`${docs} Verified Issuing CertificateAuthority`]);
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
});

describe('A check that somebody asks for (Verify, Re-verify)', () => {
  const request = {value: '2026-03-01T12:05:00Z', seenAt: t0 + 5 * minutes};
  const asked = (input: WorldInput) => decide(world({now: t0 + 5 * minutes, request, ...input}));

  test('is made at once, of every accepted hostname, proven or not, and is not answered before', () => {
    const d = asked({redirects: [{from: old}], facts: {[docs]: served(), [old]: refuted()}});
    expect(d.looks.map((l) => [l.hostname, l.what, l.at <= request.seenAt])).toEqual([[docs, 'dns', true], [old, 'dns', true]]);
    expect(d.status).not.toHaveProperty('lastHandledReconcileAt');
  });

  test('is answered when every accepted hostname has been checked since it was seen, not sooner', () => {
    const since = refuted('RecordMissing', 'Missing', [], request.seenAt);
    expect(asked({redirects: [{from: old}], facts: {[docs]: since, [old]: refuted()}}).status.lastHandledReconcileAt).toBeUndefined();
    expect(asked({redirects: [{from: old}], facts: {[docs]: since, [old]: {...since, checkedAt: request.seenAt - 1}}}).status.lastHandledReconcileAt).toBeUndefined();
    expect(asked({redirects: [{from: old}], facts: {[docs]: since, [old]: since}}).status.lastHandledReconcileAt).toBe(request.value);
  });

  test('is not held up by a hostname that is not accepted: that one is never checked', () => {
    const since = refuted('RecordMissing', 'Missing', [], request.seenAt);
    expect(asked({redirects: [{from: 'co.uk'}], facts: {[docs]: since}}).status.lastHandledReconcileAt).toBe(request.value);
    expect(asked({project: null}).status.lastHandledReconcileAt).toBe(request.value);
  });

  test('is delayed, not dropped, within 10 s of the last check', () => {
    const delays = [1, 9, 10, 60].map((ago) => asked({facts: {[docs]: {...served(), checkedAt: request.seenAt - ago * seconds}}}).looks[0]!.at - request.seenAt);
    expect(delays).toEqual([9 * seconds, seconds, 0, 0]);
  });

  test('that was answered stays answered when the annotation is gone', () => {
    const at = later(world({now: t0 + 6 * minutes, request, facts: {[docs]: refuted('RecordMissing', 'Missing', [], request.seenAt)}}), {request: undefined});
    expect(decide(at).status.lastHandledReconcileAt).toBe(request.value);
  });
});

describe('Messages', () => {
  test('tell what to create and where, before anything was looked at', () => {
    expect(decide(world()).status.hosts![0]!.message).toBe(`Create CNAME docs -> ${target} (TTL 3600) in the zone example.com. The first check follows at once.`);
  });

  test("tell of somebody else's object by its name", () => {
    expect(decide(world({facts: {[docs]: {...proven(), inTheWay: 'Ingress acme/docs'}}})).status.hosts![0]!.message).toMatch(/^Ingress acme\/docs is not Doorplate's .* Delete or rename it\.$/);
  });

  test('tell how the last attempt at a certificate failed, while it is pending and when it is stalled', () => {
    const [pending, stalled] = [t0, t0 + 30 * minutes].map((now) => decide(world({now, facts: {[docs]: {...proven(), certificate: certificate({ready: false, failure: 'order is invalid'})}}})).status.hosts![0]!);
    expect(pending).toMatchObject({reason: 'Issuing', message: expect.stringContaining('The last attempt failed: order is invalid')});
    expect(stalled).toMatchObject({reason: 'IssuanceStalled', message: expect.stringMatching(/no certificate for 30 minutes\. The last attempt failed: order is invalid See the Certificate certificate,.*\(Re-verify\)/)});
  });
});

test('A world is only read: deciding changes nothing in it', () => {
  const freeze = <T>(value: T): T => {
    if (value !== null && typeof value === 'object') { Object.values(value).forEach(freeze); Object.freeze(value); }
    return value;
  };
  const at: World = settled(world({redirects: [{from: zzz}, {from: old}], facts: {[docs]: served(), [old]: refuted('TargetMismatch', 'Wrong', ['CNAME x.example'])}}));
  freeze([at.domain, at.siblings, at.project, at.policy, [...at.facts]]);
  expect(() => decide(at)).not.toThrow();
});
