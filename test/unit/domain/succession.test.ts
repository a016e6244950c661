/** A hostname that passes between two CustomDomains of one tenant. */
import {describe, expect, test} from '@jest/globals';
import {decide} from '../../../operator/domain/lifecycle.ts';
import type {HostFacts} from '../../../operator/domain/world.ts';
import {
  certificate,
  claimsBy,
  condition,
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
});
