/** A hostname that passes between two CustomDomains of one tenant. */
import {describe, expect, test} from '@jest/globals';
import {decide} from '../../../operator/domain/lifecycle.ts';
import type {HostFacts} from '../../../operator/domain/world.ts';
import {
  certificate,
  claimsBy,
  condition,
  entryOf,
  heldClaim,
  hostLines,
  later,
  minutes,
  objectLines,
  proven,
  refuted,
  seconds,
  served,
  settled,
  t0,
  world,
} from '../../support/world.ts';

const docs = 'docs.example.com';
const www = 'www.example.com';
const live = settled(world({facts: {[docs]: served()}}));
const passedOn = claimsBy(() => heldClaim(docs, 'uid-successor'));
const now = t0 + minutes;

/** The CustomDomain that the hostname leaves. */
const leaving = (successor: HostFacts['successor']) =>
  decide(
    later(live, {
      now,
      claims: passedOn,
      facts: {[docs]: {...served(refuted('TargetMismatch')), ...(successor && {successor})}},
    }),
  );

describe('A hostname that another CustomDomain of the tenant has won', () => {
  test('keeps its objects as they are until the successor serves it, and its certificate for the successor', () => {
    const d = leaving({isAnnounced: false, isBlocked: false});
    expect(hostLines(d)).toEqual([`${docs} Live ServedUntilReplaced Nobody`]);
    expect(condition(d, 'Verified')).toMatchObject({status: 'False', reason: 'ServedUntilReplaced'});
    expect([d.handingOver, d.forfeited, objectLines(d)]).toEqual([[docs], [], []]);
    expect(d.wakeAt).toBeLessThanOrEqual(now + minutes);
  });

  test('gives them up when the routes of the successor have been applied by the edge', () => {
    const fresh = leaving({isAnnounced: true, isBlocked: false, routedSince: now - 3 * seconds});
    expect([fresh.handingOver, fresh.wakeAt]).toEqual([[docs], now + seconds]);
    const unannounced = leaving({isAnnounced: false, isBlocked: false, routedSince: now - 4 * seconds});
    expect([unannounced.handingOver, unannounced.wakeAt]).toEqual([[docs], now + seconds]);
    const settledRoutes = leaving({isAnnounced: true, isBlocked: false, routedSince: now - 4 * seconds});
    expect([settledRoutes.handingOver, settledRoutes.forfeited]).toEqual([[], []]);
    expect(hostLines(settledRoutes)).toEqual([`${docs} AwaitingVerification TargetMismatch Customer`]);
  });

  test('gives them up if the successor cannot write its routes, so that no two wait for each other', () => {
    expect(leaving({isAnnounced: false, isBlocked: true}).handingOver).toEqual([]);
  });

  test('loses them at once to another tenant', () => {
    const d = leaving(undefined);
    expect([d.handingOver, d.forfeited]).toEqual([[], [docs]]);
  });
});

/** The CustomDomain that has won the hostname, while routes of another one exist. */
const wins = (facts: HostFacts) =>
  decide(settled(world({facts: {[docs]: {...proven(), occupied: true, standing: {}, ...facts}}})));

const routes = (facts: HostFacts) => objectLines(wins(facts)).filter((line) => line.includes('Ingress'));

describe('The successor', () => {
  test('writes its routes beside those of the tenant when its certificate is ready, and not before', () => {
    expect(routes({succeeds: true, certificate: certificate({ready: false})})).toEqual([]);
    expect(routes({succeeds: true, certificate: certificate()})).toHaveLength(2);
  });

  test('writes none beside those of another tenant', () => {
    expect(routes({certificate: certificate()})).toEqual([]);
  });

  test('keeps those that it has, although a copy of the former owner’s is there still and nobody knows whose it was', () => {
    const standing = {serves: {since: t0, isWhole: true}};
    expect(routes({certificate: certificate(), standing})).toHaveLength(2);
  });
});

/** `docs` was the primary until `www` took its place; both are Live. */
const replaced = (facts: HostFacts, claims = claimsBy((hostname) => heldClaim(hostname))) => {
  const before = settled(world({redirects: [{from: www}], facts: {[docs]: served(), [www]: served()}}));
  // The edge is probed again, because www redirected until now.
  const probed = served({edgeLookedAt: t0 + minutes});
  const domain = {...before.domain, spec: {...before.domain.spec, primary: www, redirects: []}};
  const taken = later(before, {domain, claims, facts: {[docs]: {...served(), ...facts}, [www]: probed}});
  return decide(later(settled(taken), {now: t0 + 2 * minutes}));
};

describe('A former primary', () => {
  test('is given up when the new primary is Live', () => {
    expect(hostLines(replaced({}))).toEqual([`${www} Live Serving Nobody`]);
  });

  test('is served on while another CustomDomain of the tenant is to take it over', () => {
    const d = replaced({isAwaited: true});
    expect(hostLines(d)).toEqual([`${www} Live Serving Nobody`, `${docs} Live ServedUntilReplaced Nobody`]);
    expect(entryOf(d, docs)?.message).toContain('until another CustomDomain of the same account');
    expect(objectLines(d).filter((line) => line.includes(docs))).not.toEqual([]);
    expect(d.wakeAt).toBeLessThanOrEqual(t0 + 3 * minutes);
  });

  test('that has passed to another CustomDomain keeps its objects until that one serves it', () => {
    const passed = claimsBy((hostname) => heldClaim(hostname, hostname === docs ? 'uid-successor' : undefined));
    const of = (successor: NonNullable<HostFacts['successor']>) => replaced({successor}, passed);
    const waiting = of({isAnnounced: false, isBlocked: false});
    expect([hostLines(waiting)[1], waiting.handingOver]).toEqual([`${docs} Live ServedUntilReplaced Nobody`, [docs]]);
    expect(entryOf(waiting, docs)?.role).toBe('FormerPrimary');
    const over = of({isAnnounced: true, isBlocked: false, routedSince: t0 - minutes});
    expect([hostLines(over), over.handingOver, over.forfeited]).toEqual([[`${www} Live Serving Nobody`], [], []]);
  });
});
