/** A hostname that passes over between CustomDomains of one tenant: the status of the CustomDomain that waits for it. */
import {describe, expect, test} from '@jest/globals';
import type {DomainClaim} from '../../../operator/api/foreign.ts';
import {decide} from '../../../operator/domain/lifecycle.ts';
import {timestamp} from '../../../operator/domain/times.ts';
import type {Decision, HostFacts, World} from '../../../operator/domain/world.ts';
import {
  claimsBy,
  days,
  entryOf,
  heldClaim,
  hostLines,
  later,
  minutes,
  proven,
  refuted,
  seconds,
  t0,
  unknown,
  world,
} from '../../support/world.ts';

const docs = 'docs.example.com';
const question = {hostname: docs, target: 'another.apps.platform.test'};
const named: HostFacts['rival'] = {question, looks: []};
const letGo: HostFacts['rival'] = {...named, isLetGo: true};
const held = heldClaim(docs, 'uid-another');
const now = t0 + 5 * minutes;

/** A world in which status says that another CustomDomain of the tenant has the hostname. */
const claimed = later(world({now: t0 + 2000, claims: {[docs]: held}, facts: {[docs]: {...proven(), rival: named}}}));

/** That world five minutes later, with this claim and these facts. */
const afterwards = (claim: DomainClaim | undefined, facts: HostFacts): World =>
  later(claimed, {now, claims: claimsBy(() => claim), facts: {[docs]: facts}});

/** What is said when the owner has let the hostname go, and the check says this. */
const said = (facts: HostFacts): string[] => hostLines(decide(afterwards(held, {...facts, rival: letGo})));
const message = (d: Decision): string => entryOf(d, docs)?.message ?? '';
const lookedAt = (d: Decision): number[] => d.looks.filter((look) => look.what === 'dns').map(({at}) => at);

const pending = `${docs} AwaitingVerification CheckPending Nobody`;
const stays = `${docs} AwaitingVerification HostnameClaimed Customer`;

/** Without a holder: kept for its tenant. */
const released = (claim: DomainClaim): DomainClaim => {
  const {holder: _, ...status} = claim.status!;
  return {...claim, status: {...status, since: timestamp(now), quarantinedUntil: timestamp(now + 30 * days)}};
};
const ofAnother = (claim: DomainClaim): DomainClaim => ({
  ...claim,
  spec: {...claim.spec, tenant: {account: 'another'}},
});

describe('A hostname that was attached elsewhere', () => {
  test.each<[situation: string, claim: DomainClaim | undefined, facts: HostFacts]>([
    ['its owner has let it go, and the check is old', held, {...proven(), rival: letGo}],
    ['its owner has let it go, and the operator was restarted', held, {rival: letGo}],
    ['its owner is gone, and the check is from before', released(held), proven()],
    ['its owner is gone, and the operator was restarted', released(held), {}],
    ['its claim is gone, and the operator was restarted', undefined, {}],
    ['it has passed over, and the operator died before it published that', heldClaim(docs), {}],
  ])('waits for nobody and is checked at once when %s', (_, claim, facts) => {
    const d = decide(afterwards(claim, facts));
    expect([hostLines(d), d.passing, d.claims]).toEqual([[pending], [], []]);
    expect(message(d)).toMatch(/ The next check attaches it here\.$/);
    expect(message(d)).not.toMatch(/remove/i);
    expect(Math.min(...lookedAt(d))).toBeLessThanOrEqual(now + 1000);
  });

  test('says the same again until the check is made, and is checked although the operator is restarted after a week', () => {
    const published = later(afterwards(held, {...proven(), rival: letGo}));
    const [again, restarted] = [
      decide(later(published, {now: now + minutes})),
      decide(later(published, {now: now + 8 * days, claims: claimsBy(() => released(held)), facts: {}})),
    ];
    expect([hostLines(again), hostLines(restarted)]).toEqual([[pending], [pending]]);
    expect(message(again)).toBe(message(decide(published)));
    expect(lookedAt(restarted)).toEqual([now + 8 * days]);
  });

  test('is not asked for a record that it has, before it was reported as attached elsewhere', () => {
    const fresh = world({now, claims: {[docs]: released(held)}, facts: {[docs]: proven(now)}});
    const d = decide(fresh);
    expect([hostLines(d), d.passing, lookedAt(d)]).toEqual([[pending], [docs], [now + 1000]]);
    expect(message(d)).toMatch(/ The next check attaches it here\.$/);
    const ofAnotherTenant = decide({...fresh, claims: claimsBy(() => ofAnother(released(held)))});
    expect(message(ofAnotherTenant)).not.toContain('elsewhere');
  });

  test('is checked on after a check that failed, although it was added long ago', () => {
    const published = later(afterwards(released(held), proven()));
    const late = now + 8 * days;
    const claim = {...released(held), status: {...released(held).status!, since: timestamp(late)}};
    const d = decide(
      later(published, {
        now: late + seconds,
        claims: claimsBy(() => claim),
        facts: {[docs]: unknown('ResolverFailure', late)},
      }),
    );
    expect(hostLines(d)).toEqual([`${docs} AwaitingVerification ResolverFailure Platform`]);
    expect(Math.min(...lookedAt(d)) - late).toBeLessThan(minutes);
  });

  test('does not conceal that its claim cannot be written, and is not said of a hostname that had no owner', () => {
    const fresh = world({now, claims: {}, facts: {[docs]: proven()}});
    expect(message(decide(fresh))).not.toContain('no longer attached');
    const refusedAt = later(
      afterwards(released(held), {
        ...proven(now),
        claimError: {kind: 'WriteRefused', object: 'DomainClaim', says: 'no'},
      }),
    );
    const next = later(refusedAt, {now: now + 61 * seconds, facts: {[docs]: proven(now)}});
    expect(hostLines(decide(next))).toEqual([`${docs} AwaitingVerification WriteRefused Platform`]);
  });

  test('is won at once when its owner lets it go soon after the check', () => {
    const d = decide(afterwards(held, {...proven(now - 1000), rival: letGo}));
    expect(d.claims.map(({status}) => status.holder?.uid)).toEqual(['uid-domain']);
  });

  test.each<[situation: string, claim: DomainClaim, facts: HostFacts]>([
    ['its owner names it', held, {...proven(), rival: named}],
    ['its owner names it, and the operator was restarted', held, {rival: named}],
    ['it is of another tenant, and the operator was restarted', ofAnother(held), {rival: named}],
    ['it is kept for another tenant, and the operator was restarted', ofAnother(released(held)), {}],
  ])('stays so when %s', (_, claim, facts) => {
    expect(hostLines(decide(afterwards(claim, facts)))).toEqual([stays]);
  });

  test('asks for the record when DNS does not have it, and reports a check that failed', () => {
    expect(said(refuted('TargetMismatch'))).toEqual([`${docs} AwaitingVerification TargetMismatch Customer`]);
    expect(said(unknown('ResolverFailure'))).toEqual([`${docs} AwaitingVerification ResolverFailure Platform`]);
  });

  test('waits for nobody while its owner is being deleted', () => {
    const d = decide(afterwards(held, {...proven(now), rival: {...named, isBeingDeleted: true}}));
    expect(hostLines(d)).toEqual([pending]);
    expect(message(d)).toContain('which is being deleted. Doorplate moves it here when the deletion is complete.');
  });
});

/** The first decision after the check that has found the record. */
const found = (change: Partial<World>, claim = held): Decision =>
  decide({
    ...world({claims: {[docs]: claim}, facts: {[docs]: {...proven(), rival: named}}}),
    ...change,
  });

describe('A hostname that another CustomDomain of the tenant has', () => {
  test('is not to be removed there until two seconds after the check: one commit may change both objects', () => {
    const [first, next] = [found({now: t0 + 1999}), found({now: t0 + 2000})];
    expect([hostLines(first), first.passing, first.wakeAt]).toEqual([[pending], [docs], t0 + 2000]);
    expect(message(first)).toMatch(
      /of the same account\. Doorplate moves it here when that CustomDomain no longer names it\.$/,
    );
    expect([hostLines(next), next.passing]).toEqual([[stays], []]);
    expect(message(next)).toContain('Remove it there');
  });

  test('is reported at once where it is not new: no commit is under way', () => {
    const late = t0 + 6 * 60 * minutes;
    const at = {...claimed, now: late + 500, facts: new Map([[docs, {...proven(late), rival: named}]])};
    const [entry] = at.domain.status!.hosts!;
    const told = {...entry!, reason: 'ResolverFailure', message: 'x'};
    const domain = {...at.domain, status: {...at.domain.status!, hosts: [told]}};
    expect(hostLines(decide({...at, domain}))).toEqual([stays]);
  });

  test('is reported at once to who has asked for a check, when it was reported before, and if it is of another tenant', () => {
    expect(hostLines(found({request: {value: 'now', seenAt: t0}}))).toEqual([stays]);
    expect(
      hostLines(decide({...claimed, now: t0 + 1000, facts: new Map([[docs, {...proven(t0 + 1000), rival: named}]])})),
    ).toEqual([stays]);
    expect(hostLines(found({}, ofAnother(held)))).toEqual([stays]);
  });
});
