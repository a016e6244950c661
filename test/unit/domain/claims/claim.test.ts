import {describe, expect, test} from '@jest/globals';
import type {DomainClaim} from '../../../../operator/api/foreign.ts';
import type {ClaimInput, ClaimState} from '../../../../operator/domain/claims/claim.ts';
import {
  belongsTo,
  defaultHostClaim,
  keptForMs,
  nextRivalLook,
  release,
  claimStateOf,
  tokenFor,
} from '../../../../operator/domain/claims/claim.ts';
import {driftOf} from '../../../../operator/domain/claims/drift.ts';
import {formerProjectHost, projectHost} from '../../../../operator/domain/hostnames/hostname.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import type {Verdict} from '../../../../operator/domain/verification/method.ts';
import type {Proof} from '../../../../operator/domain/verification/records.ts';
import type {Tenant} from '../../../../operator/domain/tenant.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import type {World} from '../../../../operator/domain/world.ts';
import type {WorldInput} from '../../../support/world.ts';
import {
  claimsBy,
  condition,
  conditionLines,
  days,
  domain,
  enterprise,
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
  refuted,
  seconds,
  served,
  settled,
  t0,
  target,
  tenantOn,
  unknown,
  world,
} from '../../../support/world.ts';

const docs = 'docs.example.com';
const old = 'old.example.com';
const acme: Tenant = {account: 'acme', namespaceUID: 'uid-namespace', plan: enterprise};
const rival: Tenant = {account: 'rival', namespaceUID: 'uid-other', plan: enterprise};
const by = (proof: Proof): Verdict => ({kind: 'Proven', by: proof, apex: proof !== 'CNAME'});
const no: Verdict = {
  kind: 'Refuted',
  reason: 'RecordMissing',
  message: 'Nothing is there.',
  state: 'Missing',
  observed: [],
  apex: false,
};
const silence: Verdict = {kind: 'Unknown', reason: 'AuthoritativeFailure', message: 'SERVFAIL.', apex: false};
const spreading: Verdict = {...no, reason: 'PropagationPending'};

const input = (change: Partial<ClaimInput> = {}): ClaimInput => ({
  now: t0,
  installation: 'apps.platform.test',
  hostname: docs,
  holder: domain(),
  tenant: acme,
  claim: undefined,
  verdict: by('CNAME'),
  checkedAt: t0,
  verified: false,
  rival: [],
  takeoverConfirmationsMs: [2 * seconds, 5 * seconds, 10 * seconds],
  ...change,
});
const others = (change: Partial<DomainClaim['status']> = {}): DomainClaim => ({
  ...heldClaim(docs, 'uid-of-another', {since: timestamp(t0 - days), token: 'theirs', ...change}),
  spec: {tenant: {account: 'rival'}, proof: 'DNS'},
});
const quarantined = (tenant: string, change: Partial<DomainClaim['status']> = {}): DomainClaim => ({
  ...heldClaim(docs),
  spec: {tenant: {account: tenant}, proof: 'DNS'},
  status: {
    generation: 1,
    token: 'published',
    since: timestamp(t0 - hours),
    quarantinedUntil: timestamp(t0 + 29 * days),
    ...change,
  },
});
const hostParts = {installation: policy.installation, zone: policy.zone, namespace: 'acme', name: 'docs'};
/** The claim of a default host that a Project holds. */
const ofProject = (host: string): DomainClaim => ({
  ...heldClaim(host),
  status: {holder: {kind: 'Project', namespace: 'acme', name: 'docs', uid: 'uid-project'}, generation: 0},
});
const writeOf = (s: ClaimState) => (s.kind === 'Winning' ? s.write : undefined);
const looks = (...seen: [Verdict, number][]) => seen.map(([verdict, afterMs]) => ({verdict, at: t0 + afterMs}));

/** What is said, and when who is looked at. */
const watchLines = (w: World) => [
  hostLines(decide(w)),
  decide(w).looks.map((l) => [l.what === 'dns' && l.rival, l.at]),
];

const atEnd = {claim: others(), now: t0 + 10 * seconds, checkedAt: t0 + 10 * seconds};
const contest = (...seen: [Verdict, number][]) => claimStateOf(input({...atEnd, rival: looks(...seen)})).kind;

const confirmed: [Verdict, number][] = [
  [no, 0],
  [no, 2 * seconds],
  [no, 5 * seconds],
  [no, 10 * seconds],
];

describe('Rule 4, proof decides, not speed', () => {
  test('without a proof nothing is held, and nothing is said about who holds the hostname', () => {
    for (const claim of [undefined, others(), quarantined('rival')]) {
      for (const verdict of [undefined, no, silence, spreading])
        expect(claimStateOf(input({claim, verdict}))).toEqual({kind: 'Unproven'});
    }
    const w = world({claims: {[docs]: others()}, facts: {[docs]: refuted()}});
    expect(JSON.stringify(decide(w).status)).not.toMatch(/rival|claim|theirs/i);
  });

  test('a proof has no effect before its claim is written: no certificate, no route, no Verified', () => {
    const d = decide(world({claims: {[docs]: undefined}, facts: {[docs]: served()}}));
    expect(d.claims.map((c) => [c.hostname, c.before, c.spec, c.status.holder?.uid])).toEqual([
      [docs, undefined, {tenant: {account: 'acme'}, proof: 'DNS'}, 'uid-domain'],
    ]);
    expect([objectLines(d), hostLines(d)]).toEqual([[], [`${docs} AwaitingVerification CheckPending Nobody`]]);
    expect(decide(world({facts: {[docs]: served()}})).claims).toEqual([]);
  });

  test('a proof against the holder wins only when DNS denies the holder, at first and at each confirmation', () => {
    expect(contest()).toBe('Claimed');
    expect(contest([no, 0], [no, 2 * seconds], [no, 5 * seconds])).toBe('Claimed');
    expect(contest([no, 0], [no, seconds], [no, 1.5 * seconds], [no, 1.9 * seconds])).toBe('Claimed');
    expect(contest([no, 0], [no, 2 * seconds], [no, 5 * seconds], [no, 10 * seconds])).toBe('Winning');
    // What could not be asked is no answer, and one that stands again starts it over.
    expect(
      contest(
        [no, 0],
        [silence, 2 * seconds],
        [no, 3 * seconds],
        [silence, 4 * seconds],
        [no, 5 * seconds],
        [no, 10 * seconds],
      ),
    ).toBe('Winning');
    expect(contest([silence, 0], [silence, 2 * seconds], [silence, 5 * seconds], [silence, 10 * seconds])).toBe(
      'Claimed',
    );
    expect(contest([no, 0], [no, 2 * seconds], [by('TXT'), 5 * seconds], [no, 10 * seconds])).toBe('Claimed');
    expect(contest([spreading, 0], [spreading, 2 * seconds], [spreading, 5 * seconds], [spreading, 10 * seconds])).toBe(
      'Claimed',
    );
  });

  test('a proof from before the last confirmation wins nothing: DNS is asked once more, and that answer counts', () => {
    const rivals = looks(...confirmed);
    expect(claimStateOf(input({...atEnd, rival: rivals, checkedAt: t0 + 9 * seconds}))).toEqual({
      kind: 'Claimed',
      contest: true,
      lookAt: t0 + 10 * seconds,
    });
    expect(claimStateOf(input({...atEnd, rival: rivals, verdict: no}))).toEqual({kind: 'Unproven'});
    expect(claimStateOf(input({...atEnd, rival: rivals})).kind).toBe('Winning');
    // What is heard of the holder afterwards takes nothing back from the proof.
    expect(
      claimStateOf(input({...atEnd, now: t0 + 11 * seconds, rival: looks(...confirmed, [no, 11 * seconds])})).kind,
    ).toBe('Winning');
  });

  test('a takeover is written against the claim that was read, with a new generation and the token that was published', () => {
    const claim = others({generation: 3});
    const w = writeOf(claimStateOf(input({...atEnd, claim, rival: looks(...confirmed)})));
    expect(w).toEqual({
      hostname: docs,
      before: claim,
      spec: {tenant: {account: 'acme'}, proof: 'DNS'},
      status: {
        holder: {kind: 'CustomDomain', namespace: 'acme', name: 'docs', uid: 'uid-domain'},
        since: timestamp(t0 + 10 * seconds),
        generation: 4,
        token: tokenFor('apps.platform.test', acme, docs, claim),
        verifiedBy: 'CNAME',
        verifiedAt: timestamp(t0 + 10 * seconds),
      },
    });
  });

  test("the holder's DNS is checked at once after each proof against it, then at each confirmation, and never otherwise", () => {
    const after = [2 * seconds, 5 * seconds];
    expect(nextRivalLook([], after, t0)).toBe(t0);
    expect(nextRivalLook(looks([by('CNAME'), -hours]), after, t0)).toBe(t0);
    expect(nextRivalLook(looks([by('CNAME'), 1]), after, t0)).toBe(Infinity);
    expect(nextRivalLook(looks([no, 1]), after, t0)).toBe(t0 + 1 + 2 * seconds);
    expect(nextRivalLook(looks([no, 1], [no, 2001]), after, t0)).toBe(t0 + 1 + 5 * seconds);
    expect(nextRivalLook(looks([silence, 1]), after, t0)).toBe(t0 + 1 + minutes);
  });

  test('a proof from before the last change of holder, or an old one, wins nothing: a new one is looked for at once', () => {
    const passedOn = quarantined('rival', {since: timestamp(t0 - 5 * seconds)});
    expect(claimStateOf(input({claim: passedOn, checkedAt: t0 - 10 * seconds}))).toEqual({
      kind: 'Unproven',
      lookAt: t0,
    });
    expect(claimStateOf(input({checkedAt: t0 - 2 * minutes}))).toEqual({kind: 'Unproven', lookAt: t0});
    expect(claimStateOf(input({claim: passedOn})).kind).toBe('Winning');
    const d = decide(world({claims: {[docs]: passedOn}, facts: {[docs]: proven(t0 - 10 * seconds)}}));
    expect([d.claims, d.looks.map((l) => l.at)]).toEqual([[], [t0]]);
  });

  test("after a takeover the previous holder's routes are removed, and its status says only what DNS says", () => {
    const live = settled(world({facts: {[docs]: served()}}));
    expect(hostLines(decide(live))).toEqual([`${docs} Live Serving Nobody`]);
    const d = decide(
      later(live, {
        claims: claimsBy(() => others()),
        facts: {[docs]: served(refuted('TargetMismatch', 'Wrong', ['CNAME other.apps.platform.test']))},
      }),
    );
    expect([hostLines(d), objectLines(d)]).toEqual([[`${docs} AwaitingVerification TargetMismatch Customer`], []]);
    expect(entryOf(d, docs)).not.toHaveProperty('verifiedAt');
    expect(entryOf(d, docs)).not.toHaveProperty('liveAt');
  });

  test.each([
    [
      'that DNS denies',
      served(refuted('TargetMismatch', 'Wrong', ['CNAME other.apps.platform.test'])),
      'TargetMismatch',
    ],
    ['that is yet to be looked at', served({verdict: undefined, checkedAt: undefined}), 'CheckPending'],
  ])('a hostname taken over after months, %s, is awaited anew: its checks have not ended', (_, facts, reason) => {
    const live = settled(world({facts: {[docs]: served()}}));
    const now = t0 + 90 * days;
    const taken = later(live, {now, claims: claimsBy(() => others()), facts: {[docs]: facts}});
    expect([hostLines(decide(taken))[0], entryOf(decide(taken), docs)?.addedAt]).toEqual([
      expect.stringContaining(`${docs} AwaitingVerification ${reason}`),
      timestamp(now),
    ]);
    expect(decide(taken).looks.map((l) => l.at)).toEqual([expect.any(Number)]);
    expect(decide(taken).looks[0]!.at).toBeLessThan(now + days);
  });

  test('who proves a hostname of another goes on watching it when the time for its own proof is over, after a restart too', () => {
    const question = {hostname: docs, target: 'theirs.apps.platform.test', token: 'theirs'};
    const now = t0 + 8 * days;
    const holders = {question, looks: looks([by('CNAME'), 8 * days])};
    const facts = {[docs]: {...proven(now), rival: holders}};
    const start = world({claims: {[docs]: others()}, facts: {[docs]: {...proven(), rival: {question, looks: []}}}});
    const watched = later(start, {now, facts});
    const claimed = [`${docs} AwaitingVerification HostnameClaimed Customer`];
    expect(watchLines(watched)).toEqual([
      claimed,
      [
        [undefined, now + policy.recheckIntervalMs],
        [true, Infinity],
      ],
    ]);
    const restarted = later(watched, {now: now + minutes, facts: {}});
    expect(watchLines(restarted)).toEqual([claimed, [[undefined, now + minutes]]]);
  });

  test('a hostname that the same account holds in another namespace is refused with the place where it is held', () => {
    const claim = heldClaim(docs, 'uid-other');
    const theirs = {
      ...claim,
      status: {
        ...claim.status!,
        holder: {kind: 'CustomDomain' as const, namespace: 'acme-shop', name: 'old', uid: 'uid-other'},
      },
    };
    const d = decide(world({now: t0 + 2000, claims: {[docs]: theirs}, facts: {[docs]: proven()}}));
    expect(hostLines(d)).toEqual([`${docs} AwaitingVerification HostnameClaimed Customer`]);
    expect(d.status.hosts?.[0]?.message).toContain(
      'it is attached already to CustomDomain acme-shop/old of the same account. Remove it there',
    );
  });

  test('the right of a holder is asked about as such: its answers count one after the other', () => {
    const question = {hostname: docs, target: 'theirs.apps.platform.test', token: 'theirs'};
    const facts = {[docs]: {...served(), rival: {question, looks: []}}};
    const asked = decide(world({claims: {[docs]: others()}, facts})).looks;
    expect(asked.filter((l) => l.question === question)).toEqual([
      {hostname: docs, what: 'dns', question, at: t0, rival: true},
    ]);
    expect(asked.filter((l) => l.what === 'dns' && l.rival)).toHaveLength(1);
  });

  test('a proven hostname that another tenant holds is HostnameClaimed and Stalled, without a word about the holder', () => {
    const d = decide(
      world({
        claims: {[docs]: others()},
        facts: {
          [docs]: {
            ...served(),
            rival: {question: {hostname: docs, target: 'theirs.apps.platform.test', token: 'theirs'}, looks: []},
          },
        },
      }),
    );
    expect([hostLines(d), objectLines(d)]).toEqual([[`${docs} AwaitingVerification HostnameClaimed Customer`], []]);
    expect(JSON.stringify(d.status)).not.toMatch(/rival|theirs/);
    expect(d.status.hosts?.[0]?.message).toContain('it is attached elsewhere on this platform.');
    expect(conditionLines(d)).toContain('Stalled=True/HostnameClaimed');
    expect(d.looks.map((l) => l.question?.target)).toEqual([target, 'theirs.apps.platform.test']);
  });

  test("a new holder's route is written when the former holder's is gone", () => {
    const d = decide(world({facts: {[docs]: served({occupied: true, standing: {}})}}));
    expect(objectLines(d)).toEqual([`acme Certificate ${docs}`]);
    expect(hostLines(d)).toEqual([`${docs} Verified EdgePending Nobody`]);
  });

  test('a claim that the platform wrote counts as a proof, and no other proof takes it over', () => {
    const word = {...heldClaim(docs), spec: {tenant: {account: 'acme'}, proof: 'Platform' as const}};
    const given = {...word, status: undefined};
    expect(claimStateOf(input({claim: given, verdict: no})).kind).toBe('Winning');
    expect(claimStateOf(input({claim: word, verdict: no}))).toEqual({kind: 'Held', byPlatform: true});
    expect(claimStateOf(input({claim: given, tenant: rival}))).toEqual({kind: 'Claimed', contest: false});
    expect(hostLines(decide(settled(world({claims: {[docs]: word}, facts: {[docs]: served(refuted())}}))))).toEqual([
      `${docs} Live Serving Nobody`,
    ]);
  });
});

describe('Rule 5, a removed name is not free at once', () => {
  test("a released claim stays its tenant's during the quarantine, and the token of other tenants changes", () => {
    const claim = heldClaim(docs, 'uid-domain', {
      generation: 2,
      token: 'published',
      negativeSince: timestamp(t0),
      negatives: 1,
    });
    const {before, spec, status} = release(claim, t0, 30 * days, []);
    expect([before, spec]).toEqual([claim, claim.spec]);
    expect(status).toEqual({
      since: timestamp(t0),
      generation: 3,
      token: 'published',
      quarantinedUntil: timestamp(t0 + 30 * days),
    });
    const released = {...claim, status};
    expect(tokenFor('i', acme, docs, released)).toBe('published');
    expect(tokenFor('i', rival, docs, released)).not.toBe(tokenFor('i', rival, docs, claim));
  });

  test('passes at once to the same tenant when its owner does not name it any more, and is verified there', () => {
    const theirs = input({
      claim: heldClaim(docs, 'uid-first'),
      holder: domain({uid: 'uid-second'}),
      checkedAt: t0,
      isLetGo: true,
    });
    expect(claimStateOf(theirs)).toMatchObject({
      kind: 'Winning',
      write: {status: {holder: {uid: 'uid-second'}, generation: 0}},
    });
    expect(claimStateOf({...theirs, isLetGo: false})).toEqual({kind: 'Claimed', contest: true});
    expect(claimStateOf({...theirs, verdict: no})).toEqual({kind: 'Unproven'});
    expect(claimStateOf({...theirs, tenant: rival})).toEqual({kind: 'Claimed', contest: true});
  });

  test('the same tenant gets it back at once, by the record that it had published', () => {
    const w = writeOf(claimStateOf(input({claim: quarantined('acme'), verdict: by('TXT')})));
    expect(w?.status).toMatchObject({token: 'published', generation: 1, holder: {uid: 'uid-domain'}});
    expect(w?.status).not.toHaveProperty('quarantinedUntil');
  });

  test('another tenant needs a new proof: a CNAME to its own host or the new token, never addresses alone', () => {
    const claim = quarantined('rival');
    expect(
      ['CNAME', 'TXT', 'Addresses'].map((p) => claimStateOf(input({claim, verdict: by(p as Proof)})).kind),
    ).toEqual(['Winning', 'Winning', 'Claimed']);
    expect(
      claimStateOf(input({claim: quarantined('rival', {quarantinedUntil: timestamp(t0)}), verdict: by('Addresses')}))
        .kind,
    ).toBe('Winning');
  });

  const nothing = {orders: [], retentionEnds: Infinity, certifiedAt: t0 - days, now: t0};
  const young = {since: timestamp(t0 - hours)};
  const issued = {at: timestamp(t0 - minutes), outcome: 'Issued' as const, endedAt: timestamp(t0 - minutes)};
  test.each<[string, number, {status?: object; known?: object; rules?: object}]>([
    ['is free at once where it never had a Certificate', 0, {}],
    ['is not where it had one since it was attached', 30, {known: {certifiedAt: t0 - minutes}}],
    ['is not where it had one within that second', 30, {known: {certifiedAt: t0 - hours}}],
    ['is not where it had one before, the order of which counts', 30, {known: {orders: [issued]}}],
    ['is not while its Certificate rests', 30, {known: {retentionEnds: t0 + days}}],
    ['is not where it was another’s before', 30, {status: {...young, generation: 1}}],
    ['is not where nobody knows since when it was attached', 30, {status: {}}],
    ['is not where addresses alone prove an apex', 30, {rules: {addressOnly: true}}],
  ])('a hostname %s', (_, keptDays, {status = young, known = {}, rules = {}}) => {
    const claim = heldClaim(docs, 'uid-domain', status);
    expect(keptForMs(claim, {...policy, ...rules}, {...nothing, ...known})).toBe(keptDays * days);
  });

  test("the platform's word is kept for ever, and so is a default host that is its tenant's by the claim alone", () => {
    const word = {...heldClaim(docs), spec: {tenant: {account: 'acme'}, proof: 'Platform' as const}};
    const ofFormerRelease = ofProject(formerProjectHost(hostParts));
    const ofFormerAccount = ofProject(projectHost({...hostParts, tenant: {account: 'former'}}));
    for (const claim of [word, ofFormerRelease, ofFormerAccount])
      expect(keptForMs(claim, policy, nothing)).toBe(Infinity);
    expect(release(ofFormerRelease, t0, Infinity, []).status).toEqual({since: timestamp(t0), generation: 1});
  });

  test('a default host that is made of its tenant needs no claim without a Project, unless budgets count its orders still, or its Certificate rests', () => {
    const claim = ofProject(projectHost({...hostParts, tenant: {account: 'acme'}}));
    expect(keptForMs(claim, policy, nothing)).toBe(0);
    const order = {at: timestamp(t0 - 2 * days), outcome: 'Issued' as const, endedAt: timestamp(t0 - days)};
    expect(keptForMs(claim, policy, {...nothing, orders: [order]})).toBe(13 * days);
    expect(keptForMs(claim, policy, {...nothing, orders: [order], retentionEnds: t0 + 19 * days})).toBe(19 * days);
    expect(keptForMs(claim, policy, {...nothing, retentionEnds: t0 + 9 * days})).toBe(9 * days);
    const kept = release(claim, t0, 6 * days, [order]);
    expect(kept.status).toMatchObject({quarantinedUntil: timestamp(t0 + 6 * days), orders: [order]});
    const again = defaultHostClaim(claim.metadata.name, project(), acme, {...claim, status: kept.status});
    expect(again).toMatchObject({status: {holder: {uid: 'uid-project'}, orders: [order]}});
  });

  test('a default host never passes to another tenant, and comes back to its own', () => {
    const own = ofProject(target);
    expect(defaultHostClaim(target, project(), acme, own)).toBe('held');
    expect(defaultHostClaim(target, project(), rival, {...own, status: {generation: 1}})).toBeUndefined();
    expect(defaultHostClaim(target, project(), acme, {...own, status: {generation: 1}})).toMatchObject({
      status: {holder: {uid: 'uid-project'}},
    });
    expect(defaultHostClaim(target, project(), acme, undefined)).toMatchObject({
      before: undefined,
      spec: {tenant: {account: 'acme'}},
    });
  });
});

describe('A tenant', () => {
  test('keeps the hostnames of its namespace when the platform gives that to an Account, and to another one', () => {
    const own: DomainClaim = {...heldClaim(docs), spec: {tenant: {namespaceUID: 'uid-namespace'}, proof: 'DNS'}};
    expect([
      belongsTo(own, acme),
      belongsTo(own, {namespaceUID: 'uid-namespace', plan: enterprise}),
      belongsTo(own, rival),
    ]).toEqual([true, true, false]);
    const moved = claimStateOf(
      input({claim: heldClaim(docs, 'uid-domain', {token: 'published'}), tenant: {...acme, account: 'umbrella'}}),
    );
    expect(writeOf(moved)).toMatchObject({
      spec: {tenant: {account: 'umbrella'}},
      status: {token: 'published', holder: {uid: 'uid-domain'}},
    });
    // A namespace of the same name that came later is another.
    expect(
      claimStateOf(
        input({
          claim: own,
          holder: domain({uid: 'uid-new'}),
          tenant: {namespaceUID: 'uid-new-namespace', plan: enterprise},
          verdict: no,
        }),
      ),
    ).toEqual({kind: 'Unproven'});
  });

  test('keeps the former primary then, too, which is served until the new one is Live', () => {
    const live = settled(world({facts: {[docs]: served()}}));
    const moving = later(live, {
      domain: {...live.domain, spec: {...live.domain.spec, primary: 'new.example.com'}},
      tenant: {...live.tenant, account: 'umbrella'},
      facts: {[docs]: served(), 'new.example.com': refuted()},
    });
    const written = decide(moving).claims.map(({hostname, spec}) => [hostname, spec.tenant.account]);
    expect(written).toContainEqual([docs, 'umbrella']);
    const moved = decide({
      ...moving,
      claims: claimsBy((hostname) => ({...heldClaim(hostname), spec: {tenant: {account: 'umbrella'}, proof: 'DNS'}})),
    });
    expect(hostLines(moved)).toContain(`${docs} Live ServedUntilReplaced Nobody`);
  });

  test.each([
    [
      'a write for it is refused',
      {writeError: {kind: 'WriteRefused', object: 'Ingress acme/docs', says: 'Quota.'} as const},
    ],
    ['its Certificate is deleted', {certificate: undefined}],
  ])('keeps the routes of a former primary where %s', (_, change) => {
    const live = settled(world({facts: {[docs]: served()}}));
    const facts = {[docs]: served(change), 'new.example.com': refuted()};
    const spec = {...live.domain.spec, primary: 'new.example.com'};
    const moving = later(live, {domain: {...live.domain, spec}, facts});
    for (const w of [moving, later(moving, {facts})])
      expect(objectLines(decide(w))).toContain(`acme Ingress ${docs} websecure -> web:80`);
  });

  test('keeps the routes of the primary that serves, not of one that was to follow it and never did, when a third is made the primary', () => {
    const both = settled(world({facts: {[docs]: served(), [old]: served()}, redirects: [{from: old}]}));
    const facts = {[docs]: served(), [old]: proven(), 'new.example.com': refuted()};
    const toOld = settled(
      later(both, {domain: {...both.domain, spec: {...both.domain.spec, primary: old, redirects: []}}, facts}),
    );
    const toNew = later(toOld, {
      domain: {...toOld.domain, spec: {...toOld.domain.spec, primary: 'new.example.com'}},
      facts,
    });
    const d = decide(toNew);
    expect(hostLines(d)).toEqual([
      'new.example.com AwaitingVerification RecordMissing Customer',
      `${docs} Live ServedUntilReplaced Nobody`,
    ]);
    expect(objectLines(d)).toContain(`acme Ingress ${docs} websecure -> web:80`);
  });

  test('has a token of 128 bits that is its own, for each installation, hostname and generation', () => {
    const all = [
      tokenFor('i', acme, docs, undefined),
      tokenFor('j', acme, docs, undefined),
      tokenFor('i', rival, docs, undefined),
      tokenFor('i', acme, 'x.example.com', undefined),
      tokenFor('i', {namespaceUID: 'acme', plan: enterprise}, docs, undefined),
      tokenFor('i', acme, docs, {...others(), status: {generation: 1}}),
    ];
    expect(new Set(all).size).toBe(6);
    for (const token of all) expect(token).toMatch(/^[0-9a-f]{32}$/);
    expect(tokenFor('i', acme, docs, others({token: 'theirs'}))).toBe(all[0]);
  });
});

describe('Rule 3, drift', () => {
  const after = policy.driftConfirmationsMs;
  const since = (change: Partial<DomainClaim['status']> = {}) => heldClaim(docs, 'uid-domain', change);
  const doubted = (negatives: number, at: number) =>
    since({negativeSince: timestamp(t0), negativeAt: timestamp(at), negatives});

  test('a negative is confirmed 1, 5, 15 and 60 minutes after it was first seen, each time by a new check', () => {
    let claim = since();
    const counted: (number | undefined)[] = [];
    for (const minute of [0, 0, 0.5, 1, 1, 4, 5, 15, 30, 60]) {
      const d = driftOf(claim, no, t0 + minute * minutes, after);
      if (d.write) claim = {...claim, status: d.write.status};
      counted.push(claim.status?.negatives);
    }
    expect(counted).toEqual([0, 0, 0, 1, 1, 1, 2, 3, 3, 4]);
    // After a pause in which more than one was due, a look is still one look, however often it is decided upon.
    let late = driftOf(since(), no, t0, after).write?.status;
    for (let i = 0; i < 3; i++)
      late = driftOf({...since(), status: late ?? {generation: 0}}, no, t0 + 20 * minutes, after).write?.status ?? late;
    expect(late?.negatives).toBe(1);
    expect(driftOf(claim, undefined, undefined, after).confirmed).toBe(true);
    expect(driftOf(claim, silence, t0 + 2 * hours, after)).toEqual({
      confirmed: true,
      nextLook: t0 + 2 * hours + minutes,
    });
  });

  test('a positive answer ends it; silence, and a record that has not spread yet, do not', () => {
    const claim = doubted(2, t0 + 5 * minutes);
    expect(driftOf(claim, by('CNAME'), t0 + 6 * minutes, after).write?.status).toEqual(heldClaim(docs).status);
    for (const verdict of [silence, spreading])
      expect(driftOf(claim, verdict, t0 + 20 * minutes, after)).toEqual({
        confirmed: false,
        nextLook: t0 + 21 * minutes,
      });
    expect(driftOf(since(), by('CNAME'), t0, after)).toEqual({confirmed: false});
  });

  test('after a restart the next confirmation is due at the same time as before', () => {
    expect(driftOf(doubted(1, t0 + minutes), undefined, undefined, after)).toEqual({
      confirmed: false,
      nextLook: t0 + 5 * minutes,
    });
    expect(
      decide(
        later(settled(world({facts: {[docs]: served()}})), {
          claims: claimsBy(() => doubted(1, t0)),
          facts: {[docs]: served({verdict: undefined, checkedAt: undefined})},
        }),
      ).looks.find((look) => look.what === 'dns')?.at,
    ).toBe(t0 + 5 * minutes);
  });

  const live = (input_: WorldInput = {}) => settled(world({facts: {[docs]: served()}, ...input_}));
  const confirmedAt = t0 + 60 * minutes;
  const drifted = heldClaim(docs, 'uid-domain', {
    negativeSince: timestamp(t0),
    negativeAt: timestamp(confirmedAt),
    negatives: 4,
  });
  const gone = (now: number, seen = refuted('RecordMissing', 'Missing', [], now)) =>
    later(live(), {now, claims: claimsBy(() => drifted), facts: {[docs]: served(seen)}});

  test('until the negative is confirmed the status of a Live hostname does not change', () => {
    const before = live();
    const doubt = later(before, {
      claims: claimsBy(() => doubted(3, t0 + 15 * minutes)),
      facts: {[docs]: served(refuted('RecordMissing', 'Missing', [], t0 + 16 * minutes))},
      now: t0 + 16 * minutes,
    });
    expect(decide(doubt).status).toEqual(decide(before).status);
    expect(decide(doubt).routes).toEqual(decide(before).routes);
  });

  test('once the negative is confirmed the hostname is DNSDrifted: served on for the grace time, Verified False, Ready True', () => {
    const d = decide(gone(confirmedAt));
    expect([hostLines(d), objectLines(d)]).toEqual([[`${docs} Live DNSDrifted Customer`], objectLines(decide(live()))]);
    expect(entryOf(d, docs)?.servedUntil).toBe(timestamp(confirmedAt + policy.graceTimeMs));
    expect(entryOf(d, docs)?.message).toBe(
      'RecordMissing was seen. docs.example.com is served until 2026-03-08 13:00 UTC.',
    );
    expect(conditionLines(d)).toEqual([
      'Accepted=True/Accepted',
      'Verified=False/DNSDrifted',
      'CertificateReady=True/Issued',
      'RoutesReady=True/Routed',
      'Live=True/Serving',
      'Ready=True/DNSDrifted',
    ]);
    expect(d.wakeAt).toBe(confirmedAt + policy.graceTimeMs);
    // Another process knows until when.
    const again = later(gone(confirmedAt), {
      facts: {[docs]: served({verdict: undefined, checkedAt: undefined})},
      now: confirmedAt + days,
    });
    expect(decide(again).status).toEqual(d.status);
  });

  test('after the grace time routes and certificate go and the claim stays; a record that is corrected in time ends the drift', () => {
    const before = gone(confirmedAt);
    const over = decide(
      later(before, {
        now: confirmedAt + policy.graceTimeMs,
        facts: {[docs]: served(refuted('RecordMissing', 'Missing', [], confirmedAt + 7 * days))},
      }),
    );
    expect([hostLines(over), objectLines(over), over.claims]).toEqual([
      [`${docs} AwaitingVerification RecordMissing Customer`],
      [],
      [],
    ]);
    const right = later(before, {
      now: confirmedAt + days,
      claims: claimsBy(() => heldClaim(docs)),
      facts: {[docs]: served(proven(confirmedAt + days))},
    });
    expect(hostLines(decide(right))).toEqual([`${docs} Live Serving Nobody`]);
    expect(entryOf(decide(right), docs)).not.toHaveProperty('servedUntil');
    expect(condition(decide(right), 'Verified')?.status).toBe('True');
  });

  test('a downgrade does not extend the grace time: it ends at the sooner of both, and the message says when', () => {
    const ends = confirmedAt + policy.graceTimeMs;
    const down = later(gone(confirmedAt), {tenant: tenantOn(free), now: confirmedAt + 3 * days});
    const d = decide(down);
    expect([hostLines(d), objectLines(d), d.wakeAt]).toEqual([
      [`${docs} Live PlanUpgradeRequired Customer`],
      objectLines(decide(live())),
      ends,
    ]);
    expect(entryOf(d, docs)?.message).toBe(
      'The account acme is on the plan free, which does not allow custom domains. Upgrade the plan. docs.example.com is served until 2026-03-08 13:00 UTC.',
    );
    expect(decide(later(down, {now: ends - 1})).status).toEqual(d.status);
    const over = later(down, {now: ends});
    expect([hostLines(decide(over)), objectLines(decide(over))]).toEqual([
      [`${docs} NotAccepted PlanUpgradeRequired Customer`],
      [],
    ]);
    expect(hostLines(decide(later(over)))).toEqual([`${docs} NotAccepted PlanUpgradeRequired Customer`]);
    // Put right, the downgrade's own grace goes on.
    const right = decide(
      later(down, {
        now: confirmedAt + 4 * days,
        claims: claimsBy(() => heldClaim(docs)),
        facts: {[docs]: served(proven(confirmedAt + 4 * days))},
      }),
    );
    expect([entryOf(right, docs)?.message.slice(-21), right.wakeAt]).toEqual([
      '2026-03-11 13:00 UTC.',
      ends + 3 * days,
    ]);
  });

  test('there is no grace time where DNS now names another Project of the platform', () => {
    const d = decide(
      gone(
        confirmedAt,
        refuted('TargetMismatch', 'Wrong', ['CNAME web-rival-0000000000000.apps.platform.test'], confirmedAt),
      ),
    );
    expect([hostLines(d), objectLines(d)]).toEqual([[`${docs} AwaitingVerification TargetMismatch Customer`], []]);
  });

  test('a hostname that was never Live has no grace time either', () => {
    const verified = later(world({facts: {[docs]: proven()}}));
    const d = decide(
      later(verified, {
        now: confirmedAt,
        claims: claimsBy(() => drifted),
        facts: {[docs]: refuted('RecordMissing', 'Missing', [], confirmedAt)},
      }),
    );
    expect([hostLines(d), objectLines(d)]).toEqual([[`${docs} AwaitingVerification RecordMissing Customer`], []]);
    expect(unknown().verdict?.kind).toBe('Unknown');
  });
});
