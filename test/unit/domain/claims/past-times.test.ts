import {describe, expect, test} from '@jest/globals';
import {correctTimes} from '../../../../operator/domain/claims/claim-write.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import {timestamp} from '../../../../operator/domain/times.ts';
import {
  certificate,
  days,
  entryOf,
  heldClaim,
  hostLines,
  hours,
  later,
  minutes,
  policy,
  proven,
  seconds,
  served,
  settled,
  t0,
  world,
} from '../../../support/world.ts';

const docs = 'docs.example.com';
const ahead = timestamp(t0 + 5 * hours);
const settings = {quarantineTimeMs: 3 * days, orderMemoryMs: policy.orderMemoryMs};

/** A claim that a leader released whose clock was 5 hours ahead. */
const released = (change = {}) => {
  const claim = heldClaim(docs, 'uid-before', {since: ahead, generation: 1, ...change});
  const {holder: _, ...status} = claim.status!;
  return {...claim, status};
};

describe('After a leader whose clock ran ahead', () => {
  test('a returning tenant has its hostname after one more check', () => {
    const claims = {[docs]: released({quarantinedUntil: timestamp(t0 + 7 * days)})};
    const first = decide(world({claims, facts: {[docs]: proven()}}));
    expect(first.claims).toEqual([
      expect.objectContaining({status: expect.objectContaining({since: timestamp(t0)}), before: claims[docs]}),
    ]);
    const corrected = {...claims[docs]!, status: first.claims[0]!.status};
    const due = decide(world({claims: {[docs]: corrected}, facts: {[docs]: proven()}})).looks[0]!.at;
    expect(due).toBeLessThanOrEqual(t0 + seconds);
    const won = decide(world({now: due, claims: {[docs]: corrected}, facts: {[docs]: proven(due)}})).claims;
    expect(won).toEqual([
      expect.objectContaining({status: expect.objectContaining({holder: expect.objectContaining({name: 'docs'})})}),
    ]);
  });

  test.each([
    ['the release', {since: ahead}, {since: timestamp(t0)}],
    ['the end of a quarantine', {since: undefined, quarantinedUntil: timestamp(t0 + 30 * days)}, expect.anything()],
    ['a verification', {since: undefined, verifiedAt: ahead}, {verifiedAt: timestamp(t0)}],
    [
      'a drift',
      {since: undefined, negativeSince: ahead, negativeAt: ahead, negatives: 1},
      {negativeSince: timestamp(t0), negativeAt: timestamp(t0)},
    ],
  ])('the time of %s is corrected once, and no other member of the claim changes', (_, stored, corrected) => {
    const claim = released(stored);
    const write = correctTimes(claim, t0, settings);
    expect(write?.status).toMatchObject(corrected);
    expect({...write?.status, ...stored}).toEqual({...claim.status});
    expect(correctTimes({...claim, status: write!.status}, t0, settings)).toBeUndefined();
  });

  test('a quarantine ends when one that begins now would, at the latest', () => {
    const quarantineTimeMs = policy.orderMemoryMs + 30 * days;
    const write = correctTimes(released({quarantinedUntil: timestamp(t0 + quarantineTimeMs + hours)}), t0, {
      ...settings,
      quarantineTimeMs,
    });
    expect(write?.status.quarantinedUntil).toBe(timestamp(t0 + quarantineTimeMs));
  });

  test('a claim without a former owner dates from its creation', () => {
    const claim = heldClaim(docs, 'uid-before', {since: ahead});
    const created = timestamp(t0 - 4 * days);
    const write = correctTimes({...claim, metadata: {...claim.metadata, creationTimestamp: created}}, t0, settings);
    expect(write?.status.since).toBe(created);
  });

  test('clocks that differ by less than a minute cause no write', () => {
    const soon = timestamp(t0 + minutes - seconds);
    expect(correctTimes(released({since: soon, negativeSince: soon}), t0, settings)).toBeUndefined();
  });

  test('status has times of the past, and a hostname waits for nothing that has not happened', () => {
    const at = settled(world({facts: {[docs]: {...proven(), certificate: certificate(), edgeLookedAt: t0}}}));
    const [entry] = at.domain.status!.hosts!;
    const hosts = [{...entry!, since: ahead, addedAt: ahead, verifiedAt: ahead}];
    const conditions = at.domain.status!.conditions!.map((c) => ({...c, lastTransitionTime: ahead}));
    const status = {...at.domain.status!, hosts, conditions};
    const now = at.now + seconds;
    const corrected = decide({...at, now, domain: {...at.domain, status}});
    expect(hostLines(corrected)).toEqual(hostLines(decide(at)));
    expect(entryOf(corrected, docs)).toMatchObject({
      since: timestamp(now),
      addedAt: timestamp(now),
      verifiedAt: timestamp(now),
    });
    expect(corrected.status.conditions!.map((c) => c.lastTransitionTime)).toEqual(conditions.map(() => timestamp(now)));
    const again = later({...at, now, domain: {...at.domain, status: corrected.status}}, {now: now + minutes});
    expect(again.domain.status).toEqual(corrected.status);
  });

  test('a Live hostname in doubt is confirmed by checks from now on', () => {
    const stored = heldClaim(docs, 'uid-domain', {negativeSince: ahead, negativeAt: ahead, negatives: 0});
    const d = decide(world({claims: {[docs]: stored}, facts: {[docs]: served({verdict: undefined})}}));
    const latest = Math.max(...policy.driftConfirmationsMs);
    expect(Math.min(...d.looks.map((l) => l.at))).toBeLessThanOrEqual(t0 + latest);
    expect(d.claims.map((c) => c.status.negativeSince)).toEqual([timestamp(t0)]);
  });
});
