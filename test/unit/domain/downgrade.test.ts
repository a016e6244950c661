import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {decide} from '../../../operator/domain/lifecycle.ts';
import type {HostStatus} from '../../../operator/api/custom-domain.ts';
import {timestamp} from '../../../operator/domain/times.ts';
import type {HostFacts, World} from '../../../operator/domain/world.ts';
import {atRest, historyArbitrary, live, next} from '../../support/histories.ts';
import {
  withIssuer,
  claimsBy,
  certificate,
  conditionLines,
  condition,
  days,
  enterprise,
  entryOf,
  free,
  heldClaim,
  hostLines,
  hours,
  later,
  minutes,
  objectLines,
  plan,
  project,
  proven,
  refuted,
  seconds,
  served,
  settled,
  t0,
  tenantOn,
  world,
} from '../../support/world.ts';

const docs = 'docs.example.com';
const old = 'old.example.com';
const zzz = 'zzz.example.org';
const all = {[docs]: served(), [old]: served()};
const bothLive = () => settled(world({redirects: [{from: old}], facts: all}));
const lost = tenantOn(null);
const on = (hostnames: number) => tenantOn(plan(`of-${hostnames}`, hostnames));
/** Just what a downgrade does to this world, at `now`. */
const downgraded = (at: World, tenant = tenantOn(free), now = at.now) => later(at, {tenant, now});

const struckIn = (at: World) =>
  decide(at)
    .status.hosts!.filter((h) => h.reason === 'HostnameLimitReached')
    .map((h) => h.hostname);
const spec = (at: World, primary: string, sources: readonly string[]): World => ({
  ...at,
  domain: {
    ...at.domain,
    spec: {...at.domain.spec, primary, redirects: sources.map((from) => ({from, status: 301 as const}))},
  },
});
const start = (limit: number, primary: string, sources: readonly string[]) =>
  world({plan: plan(`of-${limit}`, limit), primary, redirects: sources.map((from) => ({from}))});

const ends = ({servedUntil, refusedFrom}: Partial<HostStatus> = {}) => [servedUntil, refusedFrom];

describe('Rule 8, a downgrade never frees a name', () => {
  const t1 = t0 + hours;

  test('what is Live is served on, with the same objects, and says until when and what to do', () => {
    const before = bothLive();
    const d = decide(downgraded(before, tenantOn(free), t1));
    expect(hostLines(d)).toEqual([
      `${docs} Live PlanUpgradeRequired Customer`,
      `${old} Live PlanUpgradeRequired Customer`,
    ]);
    expect(entryOf(d, docs)).toMatchObject({
      servedUntil: '2026-03-08T13:00:00Z',
      message: `The account acme is on the plan free, which does not allow custom domains. Upgrade the plan. ${docs} is served until 2026-03-08 13:00 UTC.`,
    });
    expect(entryOf(d, old)).toMatchObject({redirect: {to: docs, status: 301}, servedUntil: '2026-03-08T13:00:00Z'});
    expect([d.certificates, d.routes]).toEqual([decide(before).certificates, decide(before).routes]);
    expect(conditionLines(d)).toEqual([
      'Accepted=False/PlanUpgradeRequired',
      'Verified=True/Proven',
      'CertificateReady=True/Issued',
      'RoutesReady=True/Routed',
      'Live=True/Serving',
      'Ready=True/PlanUpgradeRequired',
    ]);
    expect(d.status.hostsLive).toBe('2/2');
    expect(d.wakeAt).toBe(t1 + 7 * days);
  });

  test('it ends at servedUntil to the moment: routes and certificates go, and it heals by a new proof only', () => {
    const at = downgraded(bothLive(), tenantOn(free), t1);
    const last = decide(later(at, {now: t1 + 7 * days - 1}));
    expect([hostLines(last)[0], objectLines(last).length, last.wakeAt]).toEqual([
      `${docs} Live PlanUpgradeRequired Customer`,
      5,
      t1 + 7 * days,
    ]);
    const over = later(at, {now: t1 + 7 * days});
    const d = decide(over);
    expect([hostLines(d), objectLines(d), d.looks, d.wakeAt]).toEqual([
      [`${docs} NotAccepted PlanUpgradeRequired Customer`, `${old} NotAccepted PlanUpgradeRequired Customer`],
      [],
      [],
      undefined,
    ]);
    expect(entryOf(d, docs)).not.toHaveProperty('servedUntil');
    expect(conditionLines(d).slice(-2)).toEqual([
      'Ready=False/PlanUpgradeRequired',
      'Stalled=True/PlanUpgradeRequired',
    ]);
    expect(hostLines(decide(later(over, {tenant: tenantOn(enterprise), facts: {}})))[0]).toBe(
      `${docs} AwaitingVerification CheckPending Nobody`,
    );
  });

  test('what another has taken over meanwhile keeps nothing: it is refused, and no end is told', () => {
    const theirs = {
      ...heldClaim(docs, 'uid-of-another', {token: 'theirs'}),
      spec: {tenant: {account: 'rival'}, proof: 'DNS' as const},
    };
    const d = decide(
      later(downgraded(bothLive(), tenantOn(free), t1), {
        claims: claimsBy((hostname) => (hostname === docs ? theirs : heldClaim(hostname))),
      }),
    );
    expect(hostLines(d)).toEqual([
      `${docs} NotAccepted PlanUpgradeRequired Customer`,
      `${old} Live PlanUpgradeRequired Customer`,
    ]);
    expect(entryOf(d, docs)).not.toHaveProperty('servedUntil');
    expect(objectLines(d).filter((line) => line.includes(docs))).toEqual([]);
  });

  test('it is set once: neither time, nor a restart, nor another reason moves it', () => {
    let at = downgraded(bothLive(), tenantOn(free), t1);
    for (const [now, tenant] of [
      [t1 + hours, tenantOn(free)],
      [t1 + days, on(1)],
      [t1 + 2 * days, lost],
      [t1 + 3 * days, tenantOn(free)],
    ] as const) {
      at = later(at, {
        now,
        tenant,
        startedAt: now,
        facts: {[docs]: {certificate: certificate()}, [old]: {certificate: certificate()}},
      });
      expect([now, entryOf(decide(at), old)?.servedUntil]).toEqual([now, timestamp(t1 + 7 * days)]);
    }
    expect(hostLines(decide({...at, now: t1 + 7 * days}))[1]).toBe(`${old} NotAccepted PlanUpgradeRequired Customer`);
  });

  test('ends sooner by a drift of DNS, and keeps its own end if DNS is corrected', () => {
    const [drifts, t2] = [timestamp(t1 - days), t1 + hours];
    const drifted = heldClaim(docs, 'uid-domain', {negativeSince: drifts, negativeAt: drifts, negatives: 4});
    const facts = {[docs]: served(refuted('RecordMissing', 'Missing', [], t2)), [old]: served()};
    const claims = claimsBy((hostname) => (hostname === docs ? drifted : heldClaim(hostname)));
    const both = later(downgraded(bothLive(), tenantOn(free), t1), {now: t2, facts, claims});
    expect(ends(entryOf(decide(both), docs))).toEqual([timestamp(t1 + 6 * days), timestamp(t1 + 7 * days)]);
    expect(entryOf(decide(both), docs)?.message).toContain('is served until 2026-03-07 13:00 UTC.');
    const corrected = later(both, {now: t2 + days, facts: all, claims: claimsBy((hostname) => heldClaim(hostname))});
    expect(ends(entryOf(decide(corrected), docs))).toEqual([timestamp(t1 + 7 * days), timestamp(t1 + 7 * days)]);
  });

  test('begins at the downgrade, although the service was to end by a drift, whatever reason was published', () => {
    const drifts = timestamp(t1 - days);
    const drifted = heldClaim(docs, 'uid-domain', {negativeSince: drifts, negativeAt: drifts, negatives: 4});
    const facts = {
      [docs]: served({...refuted('RecordMissing', 'Missing', [], t1), certificate: certificate({ready: false})}),
      [old]: served(),
    };
    const claims = claimsBy((hostname) => (hostname === docs ? drifted : heldClaim(hostname)));
    const lostToo = later(bothLive(), {now: t1, facts, claims});
    expect(hostLines(decide(lostToo))[0]).toContain('CertificateLost');
    expect(entryOf(decide(lostToo), docs)?.servedUntil).toBe(timestamp(t1 + 6 * days));
    expect(entryOf(decide(downgraded(later(lostToo))), docs)?.refusedFrom).toBe(timestamp(t1 + 7 * days));
  });

  test('keeps the end that an earlier release published', () => {
    const before = later(downgraded(bothLive(), tenantOn(free), t1), {now: t1 + days});
    const {status} = before.domain;
    const hosts = status!.hosts!.map((host) => ({...host, refusedFrom: undefined}) as unknown as HostStatus);
    const upgraded = {...before, domain: {...before.domain, status: {...status!, hosts}}};
    expect(entryOf(decide(upgraded), docs)?.servedUntil).toBe(timestamp(t1 + 7 * days));
  });

  test('put right within the grace time it is as if nothing had been', () => {
    const before = bothLive();
    const back = decide(
      later(downgraded(before, tenantOn(free), t1), {now: t1 + 6 * days, tenant: tenantOn(enterprise)}),
    );
    const was = decide(before);
    const timeless = (d: typeof was) => ({
      ...d.status,
      hosts: d.status.hosts!.map((h) => ({...h, since: ''})),
      conditions: d.status.conditions!.map((c) => ({...c, lastTransitionTime: ''})),
    });
    expect(timeless(back)).toEqual(timeless(was));
    expect([back.certificates, back.routes, back.wakeAt]).toEqual([was.certificates, was.routes, undefined]);
    expect(back.looks).toEqual(was.looks);
  });

  test('the next downgrade has its own grace time', () => {
    const healed = later(downgraded(bothLive(), tenantOn(free), t1), {
      now: t1 + 6 * days,
      tenant: tenantOn(enterprise),
    });
    expect(entryOf(decide(downgraded(later(healed), tenantOn(free), t1 + 9 * days)), docs)?.servedUntil).toBe(
      timestamp(t1 + 16 * days),
    );
  });

  test('what is not verified yet is refused at once, whatever DNS says just then', () => {
    for (const facts of [{}, {[docs]: refuted()}, {[docs]: proven()}] as Record<string, HostFacts>[]) {
      const waiting = settled(world({facts: {[docs]: refuted()}}));
      const d = decide(later(waiting, {tenant: tenantOn(free), facts, claims: claimsBy(() => undefined)}));
      expect([hostLines(d), objectLines(d), d.looks, d.claims]).toEqual([
        [`${docs} NotAccepted PlanUpgradeRequired Customer`],
        [],
        [],
        [],
      ]);
      expect(entryOf(d, docs)).not.toHaveProperty('servedUntil');
    }
  });

  test('what is verified and has never been Live stands still: nothing new is ordered, what it has is kept, and it goes on from there', () => {
    const issuing = {...proven(), certificate: certificate({ready: false, leafSha256: undefined})};
    const at = downgraded(settled(world({facts: {[docs]: issuing}})), tenantOn(free), t1);
    const d = decide(at);
    expect([hostLines(d), objectLines(d).length]).toEqual([[`${docs} Verified PlanUpgradeRequired Customer`], 3]);
    expect(entryOf(d, docs)?.message).toMatch(/ docs\.example\.com keeps what it has until 2026-03-08 13:00 UTC\.$/);
    expect(conditionLines(d)).toEqual([
      'Accepted=False/PlanUpgradeRequired',
      'Verified=True/Proven',
      'CertificateReady=False/PlanUpgradeRequired',
      'RoutesReady=True/Routed',
      'Live=False/PlanUpgradeRequired',
      'Ready=False/PlanUpgradeRequired',
      'Stalled=True/PlanUpgradeRequired',
    ]);
    const issued = later(at, {now: t1 + hours, facts: {[docs]: served()}});
    expect([hostLines(decide(issued)), condition(decide(issued), 'CertificateReady')?.status]).toEqual([
      [`${docs} Verified PlanUpgradeRequired Customer`],
      'True',
    ]);
    expect(decide(issued).looks.filter((l) => l.what === 'edge')).toEqual([]);
    expect(objectLines(decide(later(at, {facts: {[docs]: proven()}})))).toEqual([]);
    expect(hostLines(decide(later(issued, {tenant: tenantOn(enterprise)})))).toEqual([`${docs} Live Serving Nobody`]);
  });

  test('what stands still is not asked about CAA: no order would follow', () => {
    const held = settled(world({policy: withIssuer({caaIdentities: ['ca.example']}), facts: {[docs]: proven()}}));
    expect(decide(held).looks.map((l) => l.caa)).toEqual([true]);
    const d = decide(downgraded(held));
    expect([hostLines(d), objectLines(d), d.looks.map((l) => l.caa)]).toEqual([
      [`${docs} Verified PlanUpgradeRequired Customer`],
      [],
      [undefined],
    ]);
  });

  test('what was Live and loses its certificate meanwhile gets it back, and is Live again', () => {
    const at = later(downgraded(bothLive(), tenantOn(free), t1), {
      facts: {...all, [docs]: served({certificate: undefined, edge: undefined})},
    });
    const d = decide(at);
    expect(hostLines(d)[0]).toBe(`${docs} Verified Issuing CertificateAuthority`);
    expect(objectLines(d)).toContain(`acme Certificate ${docs}`);
    expect([conditionLines(d)[0], entryOf(d, docs)?.servedUntil]).toEqual([
      'Accepted=False/PlanUpgradeRequired',
      timestamp(t1 + 7 * days),
    ]);
    expect(hostLines(decide(later(at, {facts: all})))[0]).toBe(`${docs} Live PlanUpgradeRequired Customer`);
  });

  test('what cannot be anyway goes at once: there is no grace without a Project or a deploy', () => {
    for (const gone of [undefined, project({firstDeployTime: undefined}), project({host: undefined})]) {
      const d = decide(later(downgraded(bothLive(), tenantOn(free), t1), {project: gone}));
      expect([entryOf(d, docs)?.phase, objectLines(d)]).toEqual(['NotAccepted', []]);
    }
  });

  test('a shorter list than before strikes the newest, which are served on; the others are Live as ever', () => {
    const at = later(later(settled(world({redirects: [{from: old}], facts: all})), {}), {now: t0 + days});
    const three = settled(
      later(
        {
          ...at,
          domain: {
            ...at.domain,
            spec: {
              ...at.domain.spec,
              redirects: [
                {from: 'a.example.com', status: 301},
                {from: old, status: 301},
              ],
            },
          },
        },
        {facts: {...all, 'a.example.com': served()}},
      ),
    );
    const d = decide(downgraded(three, on(2), t0 + 2 * days));
    expect(hostLines(d)).toEqual([
      `${docs} Live Serving Nobody`,
      'a.example.com Live HostnameLimitReached Customer',
      `${old} Live Redirecting Nobody`,
    ]);
    expect(entryOf(d, 'a.example.com')?.message).toBe(
      'The plan of-2 allows 2 hostnames a project, and older hostnames use them. Remove a hostname, or upgrade the plan. a.example.com is served until 2026-03-10 12:00 UTC.',
    );
    expect([conditionLines(d)[0], conditionLines(d).at(-1)]).toEqual([
      'Accepted=True/Accepted',
      'Ready=True/HostnameLimitReached',
    ]);
    const over = decide(downgraded(downgraded(three, on(2), t0 + 2 * days), on(2), t0 + 9 * days));
    expect(hostLines(over)).toEqual([
      `${docs} Live Serving Nobody`,
      'a.example.com NotAccepted HostnameLimitReached Customer',
      `${old} Live Redirecting Nobody`,
    ]);
    expect(objectLines(over).filter((l) => l.includes('a.example.com'))).toEqual([]);
  });

  test('a missing Plan or Account takes nothing away that is proven, for however long, and accepts nothing new', () => {
    const before = settled(world({redirects: [{from: old}, {from: zzz}], facts: {...all, [zzz]: refuted()}}));
    const at = later(before, {now: t0 + 60 * days, tenant: lost});
    const d = decide(at);
    expect(hostLines(d)).toEqual([
      `${docs} Live Serving Nobody`,
      `${old} Live Redirecting Nobody`,
      `${zzz} NotAccepted PlanNotFound Platform`,
    ]);
    expect(entryOf(d, zzz)?.message).toBe(
      'The Account acme is on the Plan lost, which does not exist. The platform must create it, or correct the Account.',
    );
    expect([d.certificates, d.routes]).toEqual([decide(before).certificates, decide(before).routes]);
    expect(hostLines(decide(later(at, {tenant: tenantOn(enterprise)})))[2]).toBe(
      `${zzz} AwaitingVerification RecordMissing Customer`,
    );
  });

  test('while nobody knows the plan no grace time ends; known again, it counts', () => {
    const at = downgraded(bothLive(), tenantOn(free), t1);
    const unknown = later(at, {now: t1 + 30 * days, tenant: lost});
    expect(decide(unknown).status).toEqual(decide(at).status);
    expect(decide(unknown).wakeAt).toBeUndefined();
    expect(hostLines(decide(later(unknown, {tenant: tenantOn(free)})))[0]).toBe(
      `${docs} NotAccepted PlanUpgradeRequired Customer`,
    );
    expect(hostLines(decide(later(unknown, {tenant: tenantOn(enterprise)})))[0]).toBe(`${docs} Live Serving Nobody`);
  });

  test('whatever has happened, nothing that was proven loses its objects by the plan before its servedUntil', () => {
    fc.assert(
      fc.property(
        historyArbitrary,
        fc.constantFrom(tenantOn(free), on(1), on(2), lost),
        fc.integer({min: 0, max: 7 * days - 1}),
        (history, tenant, after) => {
          const before = atRest(live(history).at(-1)!);
          // What time alone takes, such as a certificate that expires, the plan has not taken.
          const [{decision: d}, {decision: without}] = [
            next(next(before, 0, {tenant}), after),
            next(next(before, 0), after),
          ];
          for (const host of before.decision.status.hosts!) {
            if (
              host.liveAt === undefined ||
              host.servedUntil !== undefined ||
              entryOf(without, host.hostname)?.phase !== host.phase
            )
              continue;
            // A former primary goes when the new one is Live, which a plan that nobody found may have held up.
            if (host.role === 'FormerPrimary' && d.status.phase === 'Live') continue;
            expect(entryOf(d, host.hostname)?.phase).toBe(host.phase);
            const of = (x: typeof d) =>
              [...x.certificates, ...x.routes]
                .map((o) => JSON.stringify(o))
                .filter((o) => o.includes(`"${host.hostname}"`));
            expect(of(d)).toEqual(expect.arrayContaining(of(before.decision).filter((o) => of(without).includes(o))));
          }
        },
      ),
      {numRuns: 300},
    );
  });
});

describe('The limit of a plan', () => {
  const names = ['a.example.com', 'b.example.com', 'c.example.com', 'm.example.com'];
  test.each([
    [1, ['a.example.com', 'b.example.com', 'z.example.com']],
    [2, ['b.example.com', 'z.example.com']],
    [3, ['z.example.com']],
    [4, []],
  ])('of %i, of hostnames added at once, has room for the primary, then by name: strikes %j', (limit, struck) => {
    expect(struckIn(start(limit, 'm.example.com', ['z.example.com', 'b.example.com', 'a.example.com']))).toEqual(
      struck,
    );
  });

  test('is no reason to pass the place round while the Project has no host yet: the status stands', () => {
    let at: World = {...start(1, docs, [old]), project: project({host: undefined})};
    for (let i = 0; i < 3; i++) at = later(at, {now: at.now + seconds});
    const {status} = decide(at);
    expect(status.hosts?.map((h) => h.reason)).toEqual(['ProjectNotFound', 'ProjectNotFound']);
    expect(decide(later(at, {now: at.now + seconds})).status).toEqual(status);
  });

  test('is told with the number, and nothing is asked or wanted of who is struck', () => {
    const d = decide(start(1, docs, [old]));
    expect(entryOf(d, old)).toMatchObject({
      phase: 'NotAccepted',
      reason: 'HostnameLimitReached',
      message:
        'The plan of-1 allows 1 hostname a project, and older hostnames use it. Remove a hostname, or upgrade the plan.',
    });
    expect(d.looks.map((l) => l.hostname)).toEqual([docs]);
    expect(conditionLines(d).slice(-2)).toEqual([
      'Ready=False/HostnameLimitReached',
      'Stalled=True/HostnameLimitReached',
    ]);
  });

  test('counts only hostnames that are allowed', () => {
    expect(struckIn(start(2, docs, ['co.uk', 'x.denied.example', old]))).toEqual([]);
  });

  test('lets no newer hostname strike one that is accepted, not even a new primary', () => {
    const before = later(start(2, 'm.example.com', ['z.example.com']));
    const added = spec({...before, now: t0 + minutes}, 'a.example.com', ['m.example.com', 'z.example.com']);
    expect(struckIn(added)).toEqual(['a.example.com']);
    expect(struckIn(later(added, {now: t0 + hours}))).toEqual(['a.example.com']);
  });

  test('lets no older hostname that was refused until now strike one that stands in its place', () => {
    const denied = world({plan: plan('of-1', 1), primary: 'x.denied.example', redirects: [{from: old}]});
    const before = later(later(denied), {now: t0 + hours});
    expect(hostLines(decide(before))).toEqual([
      'x.denied.example NotAccepted HostnameNotAllowed Customer',
      `${old} AwaitingVerification CheckPending Nobody`,
    ]);
    const allowed = {...before, policy: {...before.policy, deniedNames: []}};
    expect(struckIn(allowed)).toEqual(['x.denied.example']);
    expect(struckIn(later(allowed))).toEqual(['x.denied.example']);
  });

  test('gives a place that becomes free to who has waited longest, and keeps it there', () => {
    let at = later(start(2, 'm.example.com', ['n.example.com']));
    at = later(spec({...at, now: t0 + minutes}, 'm.example.com', ['n.example.com', 'z.example.com']));
    at = later(
      spec({...at, now: t0 + 2 * minutes}, 'm.example.com', ['n.example.com', 'z.example.com', 'a.example.com']),
    );
    expect(struckIn(at)).toEqual(['a.example.com', 'z.example.com']);
    at = later(spec({...at, now: t0 + 3 * minutes}, 'm.example.com', ['z.example.com', 'a.example.com']));
    expect(struckIn(at)).toEqual(['a.example.com']);
    expect(struckIn(later(at, {now: t0 + hours}))).toEqual(['a.example.com']);
  });

  test('strikes the same after the Project was gone for a while', () => {
    let at = later(start(2, 'm.example.com', ['n.example.com']));
    at = later(spec({...at, now: t0 + minutes}, 'm.example.com', ['n.example.com', 'a.example.com']));
    for (const round of [1, 2]) {
      at = later({...at, now: t0 + round * hours, project: undefined});
      at = later({...at, now: t0 + round * hours + minutes, project: project()});
      expect(struckIn(at)).toEqual(['a.example.com']);
    }
  });

  test('whatever is added and removed: as many as it allows are accepted, and who is accepted stays so until the limit falls or it is removed', () => {
    const step = fc.record({
      sources: fc.shuffledSubarray(names),
      primary: fc.constantFrom(...names, docs),
      afterMs: fc.constantFrom(0, 400, seconds, minutes),
    });
    fc.assert(
      fc.property(fc.integer({min: 1, max: 4}), fc.array(step, {minLength: 1, maxLength: 8}), (limit, steps) => {
        let at: World | undefined;
        let accepted: string[] = [];
        for (const {primary, sources: drawn, afterMs} of steps) {
          const sources = drawn.filter((s) => s !== primary);
          at =
            at === undefined
              ? start(limit, primary, sources)
              : spec({...later(at), now: at.now + afterMs}, primary, sources);
          const hosts = decide(at).status.hosts!;
          const now = hosts.filter((h) => h.phase !== 'NotAccepted').map((h) => h.hostname);
          expect(now.length).toBe(Math.min(limit, hosts.length));
          expect(accepted.filter((name) => hosts.some((h) => h.hostname === name) && !now.includes(name))).toEqual([]);
          expect(decide(later(at)).status.hosts).toEqual(hosts);
          accepted = now;
        }
      }),
      {numRuns: 500},
    );
  });
});
