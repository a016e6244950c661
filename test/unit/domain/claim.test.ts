import {describe, expect, test} from '@jest/globals';
import type {DomainClaim} from '../../../operator/api/foreign.ts';
import type {ClaimInput, Standing} from '../../../operator/domain/claim.ts';
import {
  belongsTo,
  defaultHostClaim,
  driftOf,
  nextRivalLook,
  release,
  standingOf,
  tokenFor,
} from '../../../operator/domain/claim.ts';
import {timestamp} from '../../../operator/domain/conditions.ts';
import {decide} from '../../../operator/domain/lifecycle.ts';
import type {Tenant} from '../../../operator/domain/tenant.ts';
import type {Proof, Verdict} from '../../../operator/domain/verification.ts';
import type {WorldInput} from '../../support/world.ts';
import {
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
} from '../../support/world.ts';

const docs = 'docs.example.com';
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
const writeOf = (s: Standing) => (s.kind === 'Winning' ? s.write : undefined);
const looks = (...seen: [Verdict, number][]) => seen.map(([verdict, afterMs]) => ({verdict, at: t0 + afterMs}));

const atEnd = {claim: others(), now: t0 + 10 * seconds, checkedAt: t0 + 10 * seconds};
const contest = (...seen: [Verdict, number][]) => standingOf(input({...atEnd, rival: looks(...seen)})).kind;

const confirmed: [Verdict, number][] = [
  [no, 0],
  [no, 2 * seconds],
  [no, 5 * seconds],
  [no, 10 * seconds],
];

describe('Rule 4, proof decides, not speed', () => {
  test('who has proven nothing holds nothing, and is told nothing of who does', () => {
    for (const claim of [undefined, others(), quarantined('rival')]) {
      for (const verdict of [undefined, no, silence, spreading])
        expect(standingOf(input({claim, verdict}))).toEqual({kind: 'Unproven'});
    }
    const w = world({claims: {[docs]: others()}, facts: {[docs]: refuted()}});
    expect(JSON.stringify(decide(w).status)).not.toMatch(/rival|claim|theirs/i);
  });

  test('nothing follows from a proof before its claim is written: no certificate, no route, no Verified', () => {
    const d = decide(world({claims: {[docs]: undefined}, facts: {[docs]: served()}}));
    expect(d.claims.map((c) => [c.hostname, c.before, c.spec, c.status.holder?.uid])).toEqual([
      [docs, undefined, {tenant: {account: 'acme'}, proof: 'DNS'}, 'uid-domain'],
    ]);
    expect([objectLines(d), hostLines(d)]).toEqual([[], [`${docs} AwaitingVerification CheckPending Nobody`]]);
    expect(decide(world({facts: {[docs]: served()}})).claims).toEqual([]);
  });

  test('a proof against a holder wins only when the holder was refuted, and refuted again after each confirmation', () => {
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

  test('a proof from before the last confirmation wins nothing: DNS is asked once more, and only what it says then counts', () => {
    const rivals = looks(...confirmed);
    expect(standingOf(input({...atEnd, rival: rivals, checkedAt: t0 + 9 * seconds}))).toEqual({
      kind: 'Claimed',
      contest: true,
      lookAt: t0 + 10 * seconds,
    });
    expect(standingOf(input({...atEnd, rival: rivals, verdict: no}))).toEqual({kind: 'Unproven'});
    expect(standingOf(input({...atEnd, rival: rivals})).kind).toBe('Winning');
    // What is heard of the holder afterwards takes nothing back from the proof.
    expect(
      standingOf(input({...atEnd, now: t0 + 11 * seconds, rival: looks(...confirmed, [no, 11 * seconds])})).kind,
    ).toBe('Winning');
  });

  test('what is won from another is written against what was read, with a new generation and the token that was published', () => {
    const claim = others({generation: 3});
    const w = writeOf(standingOf(input({...atEnd, claim, rival: looks(...confirmed)})));
    expect(w).toEqual({
      hostname: docs,
      before: claim,
      spec: {tenant: {account: 'acme'}, proof: 'DNS'},
      status: {
        holder: {kind: 'CustomDomain', namespace: 'acme', name: 'docs', uid: 'uid-domain'},
        since: timestamp(t0 + 10 * seconds),
        generation: 4,
        token: tokenFor('apps.platform.test', acme, docs, claim),
      },
    });
  });

  test('the holder is looked at at once after each proof against it, then at each confirmation, and else never', () => {
    const after = [2 * seconds, 5 * seconds];
    expect(nextRivalLook([], after, t0)).toBe(t0);
    expect(nextRivalLook(looks([by('CNAME'), -hours]), after, t0)).toBe(t0);
    expect(nextRivalLook(looks([by('CNAME'), 1]), after, t0)).toBe(Infinity);
    expect(nextRivalLook(looks([no, 1]), after, t0)).toBe(t0 + 1 + 2 * seconds);
    expect(nextRivalLook(looks([no, 1], [no, 2001]), after, t0)).toBe(t0 + 1 + 5 * seconds);
    expect(nextRivalLook(looks([silence, 1]), after, t0)).toBe(t0 + 1 + minutes);
  });

  test('a proof from before the name passed on, or an old one, wins nothing: a new one is looked for at once', () => {
    const passedOn = quarantined('rival', {since: timestamp(t0 - 5 * seconds)});
    expect(standingOf(input({claim: passedOn, checkedAt: t0 - 10 * seconds}))).toEqual({kind: 'Unproven', lookAt: t0});
    expect(standingOf(input({checkedAt: t0 - 2 * minutes}))).toEqual({kind: 'Unproven', lookAt: t0});
    expect(standingOf(input({claim: passedOn})).kind).toBe('Winning');
    const d = decide(world({claims: {[docs]: passedOn}, facts: {[docs]: proven(t0 - 10 * seconds)}}));
    expect([d.claims, d.looks.map((l) => l.at)]).toEqual([[], [t0]]);
  });

  test('who has lost the claim is served no longer, and says only what DNS says', () => {
    const live = settled(world({facts: {[docs]: served()}}));
    expect(hostLines(decide(live))).toEqual([`${docs} Live Serving Nobody`]);
    const d = decide(
      later(live, {
        claimOf: () => others(),
        facts: {[docs]: served(refuted('TargetMismatch', 'Wrong', ['CNAME other.apps.platform.test']))},
      }),
    );
    expect([hostLines(d), objectLines(d)]).toEqual([[`${docs} AwaitingVerification TargetMismatch Customer`], []]);
    expect(entryOf(d, docs)).not.toHaveProperty('verifiedAt');
    expect(entryOf(d, docs)).not.toHaveProperty('liveAt');
  });

  test('who has proven what another holds is told HostnameClaimed, without a word about the holder, and that it is Stalled', () => {
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
    expect(conditionLines(d)).toContain('Stalled=True/HostnameClaimed');
    expect(d.looks.map((l) => l.question?.target)).toEqual([target, 'theirs.apps.platform.test']);
  });

  test('a route waits until the one of the former holder is gone', () => {
    const d = decide(world({facts: {[docs]: served({occupied: true})}}));
    expect(objectLines(d)).toEqual([`acme Certificate ${docs}`]);
    expect(hostLines(d)).toEqual([`${docs} Verified EdgePending Nobody`]);
  });

  test("the platform's word is proof enough, and none can be won from it", () => {
    const word = {...heldClaim(docs), spec: {tenant: {account: 'acme'}, proof: 'Platform' as const}};
    const given = {...word, status: undefined};
    expect(standingOf(input({claim: given, verdict: no})).kind).toBe('Winning');
    expect(standingOf(input({claim: word, verdict: no}))).toEqual({kind: 'Held', byPlatform: true});
    expect(standingOf(input({claim: given, tenant: rival}))).toEqual({kind: 'Claimed', contest: false});
    expect(hostLines(decide(settled(world({claims: {[docs]: word}, facts: {[docs]: served(refuted())}}))))).toEqual([
      `${docs} Live Serving Nobody`,
    ]);
  });
});

describe('Rule 5, a removed name is not free at once', () => {
  test('a released claim stays with its tenant for the quarantine, and what others had to publish changes', () => {
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

  test('the same tenant gets it back at once, by what it had published', () => {
    const w = writeOf(standingOf(input({claim: quarantined('acme'), verdict: by('TXT')})));
    expect(w?.status).toMatchObject({token: 'published', generation: 1, holder: {uid: 'uid-domain'}});
    expect(w?.status).not.toHaveProperty('quarantinedUntil');
  });

  test('another needs new proof: a CNAME to its own host or the new token, never addresses alone', () => {
    const claim = quarantined('rival');
    expect(['CNAME', 'TXT', 'Addresses'].map((p) => standingOf(input({claim, verdict: by(p as Proof)})).kind)).toEqual([
      'Winning',
      'Winning',
      'Claimed',
    ]);
    expect(
      standingOf(input({claim: quarantined('rival', {quarantinedUntil: timestamp(t0)}), verdict: by('Addresses')}))
        .kind,
    ).toBe('Winning');
  });

  test('claims of the platform and of default hosts are kept for ever', () => {
    const word = {...heldClaim(docs), spec: {tenant: {account: 'acme'}, proof: 'Platform' as const}};
    expect(release(word, t0, days, []).status).not.toHaveProperty('quarantinedUntil');
    const host = {
      ...heldClaim(target),
      status: {holder: {kind: 'Project' as const, namespace: 'acme', name: 'docs', uid: 'uid-project'}, generation: 0},
    };
    expect(release(host, t0, days, []).status).toEqual({since: timestamp(t0), generation: 1});
  });

  test('a default host never passes to another tenant, and comes back to its own', () => {
    const own = {
      ...heldClaim(target),
      status: {holder: {kind: 'Project' as const, namespace: 'acme', name: 'docs', uid: 'uid-project'}, generation: 0},
    };
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
  test('keeps what its namespace held before the platform gave it an Account, and takes it along to another', () => {
    const own: DomainClaim = {...heldClaim(docs), spec: {tenant: {namespaceUID: 'uid-namespace'}, proof: 'DNS'}};
    expect([
      belongsTo(own, acme),
      belongsTo(own, {namespaceUID: 'uid-namespace', plan: enterprise}),
      belongsTo(own, rival),
    ]).toEqual([true, true, false]);
    const moved = standingOf(
      input({claim: heldClaim(docs, 'uid-domain', {token: 'published'}), tenant: {...acme, account: 'umbrella'}}),
    );
    expect(writeOf(moved)).toMatchObject({
      spec: {tenant: {account: 'umbrella'}},
      status: {token: 'published', holder: {uid: 'uid-domain'}},
    });
    // A namespace of the same name that came later is another.
    expect(
      standingOf(
        input({
          claim: own,
          holder: domain({uid: 'uid-new'}),
          tenant: {namespaceUID: 'uid-new-namespace', plan: enterprise},
          verdict: no,
        }),
      ),
    ).toEqual({kind: 'Unproven'});
  });

  test('has a token of 128 bits, its alone: for installation, tenant, hostname and generation', () => {
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

  test('a negative is confirmed 1, 5, 15 and 60 minutes after it was first seen, each time by a look of its own', () => {
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

  test('an answer ends it, silence and what has not spread do not', () => {
    const claim = doubted(2, t0 + 5 * minutes);
    expect(driftOf(claim, by('CNAME'), t0 + 6 * minutes, after).write?.status).toEqual({
      holder: claim.status?.holder,
      generation: 0,
    });
    for (const verdict of [silence, spreading])
      expect(driftOf(claim, verdict, t0 + 20 * minutes, after)).toEqual({
        confirmed: false,
        nextLook: t0 + 21 * minutes,
      });
    expect(driftOf(since(), by('CNAME'), t0, after)).toEqual({confirmed: false});
  });

  test('after a restart the next confirmation is due when it was', () => {
    expect(driftOf(doubted(1, t0 + minutes), undefined, undefined, after)).toEqual({
      confirmed: false,
      nextLook: t0 + 5 * minutes,
    });
    expect(
      decide(
        later(settled(world({facts: {[docs]: served()}})), {
          claimOf: () => doubted(1, t0),
          facts: {[docs]: served({verdict: undefined, checkedAt: undefined})},
        }),
      ).looks[0]?.at,
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
    later(live(), {now, claimOf: () => drifted, facts: {[docs]: served(seen)}});

  test('until it is confirmed a live hostname is as it was: not a word in its status', () => {
    const before = live();
    const doubt = later(before, {
      claimOf: () => doubted(3, t0 + 15 * minutes),
      facts: {[docs]: served(refuted('RecordMissing', 'Missing', [], t0 + 16 * minutes))},
      now: t0 + 16 * minutes,
    });
    expect(decide(doubt).status).toEqual(decide(before).status);
    expect(decide(doubt).ingresses).toEqual(decide(before).ingresses);
  });

  test('once confirmed it is DNSDrifted: served on for the grace time, Verified False, Ready True', () => {
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

  test('then routes and certificate go and the claim stays; put right in the meantime, it is as if nothing had been', () => {
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
      claimOf: () => heldClaim(docs),
      facts: {[docs]: served(proven(confirmedAt + days))},
    });
    expect(hostLines(decide(right))).toEqual([`${docs} Live Serving Nobody`]);
    expect(entryOf(decide(right), docs)).not.toHaveProperty('servedUntil');
    expect(condition(decide(right), 'Verified')?.status).toBe('True');
  });

  test('a downgrade in the meantime makes the grace no longer: it ends at the sooner of both, and says so', () => {
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
      [`${docs} AwaitingVerification RecordMissing Customer`],
      [],
    ]);
    expect(hostLines(decide(later(over)))).toEqual([`${docs} NotAccepted PlanUpgradeRequired Customer`]);
    // Put right, the downgrade's own grace goes on.
    const right = decide(
      later(down, {
        now: confirmedAt + 4 * days,
        claimOf: () => heldClaim(docs),
        facts: {[docs]: served(proven(confirmedAt + 4 * days))},
      }),
    );
    expect([entryOf(right, docs)?.message.slice(-21), right.wakeAt]).toEqual([
      '2026-03-11 13:00 UTC.',
      ends + 3 * days,
    ]);
  });

  test('there is no grace where DNS now names another Project here', () => {
    const d = decide(
      gone(
        confirmedAt,
        refuted('TargetMismatch', 'Wrong', ['CNAME web-rival-0000000000000.apps.platform.test'], confirmedAt),
      ),
    );
    expect([hostLines(d), objectLines(d)]).toEqual([[`${docs} AwaitingVerification TargetMismatch Customer`], []]);
  });

  test('a hostname that never was Live has no grace either', () => {
    const verified = later(world({facts: {[docs]: proven()}}));
    const d = decide(
      later(verified, {
        now: confirmedAt,
        claimOf: () => drifted,
        facts: {[docs]: refuted('RecordMissing', 'Missing', [], confirmedAt)},
      }),
    );
    expect([hostLines(d), objectLines(d)]).toEqual([[`${docs} AwaitingVerification RecordMissing Customer`], []]);
    expect(unknown().verdict?.kind).toBe('Unknown');
  });
});
