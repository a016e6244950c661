/** The limit on hostnames that wait for verification, in the decision about one CustomDomain. */
import {describe, expect, test} from '@jest/globals';
import type {HostStatus} from '../../../../operator/api/custom-domain.ts';
import {isRefusedToWait, isWaiting, type WaitingRoom} from '../../../../operator/domain/hostnames/waiting.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import type {World} from '../../../../operator/domain/world.ts';
import {
  claimsBy,
  entryOf,
  free as freePlan,
  hostLines,
  later,
  minutes,
  plan,
  refuted,
  served,
  settled,
  t0,
  tenantOn,
  world,
} from '../../../support/world.ts';

const [docs, a, b, c] = ['docs.example.com', 'a.example.com', 'b.example.com', 'c.example.com'];
const room = (free: number, change: Partial<WaitingRoom> = {}): WaitingRoom => ({
  limit: 2,
  held: new Set(),
  refused: new Map(),
  free,
  ...change,
});
/** New hostnames without a claim. */
const attached = (waiting: WaitingRoom | undefined, sources: readonly string[] = [a]): World => ({
  ...world({redirects: sources.map((from) => ({from}))}),
  claims: claimsBy(() => undefined),
  waiting,
});
const lines = (at: World) => hostLines(decide(at)).map((line) => line.split(' ').slice(0, 3).join(' '));

const reasonsWithoutRoom = (at: World) => lines({...at, waiting: room(0)}).map((line) => line.split(' ')[2]);

describe('A hostname beyond the limit of hostnames that wait', () => {
  test('is refused, says what to do, and is not checked', () => {
    const decision = decide(attached(room(1)));
    expect(hostLines(decision)).toEqual([
      `${docs} AwaitingVerification CheckPending Nobody`,
      `${a} NotAccepted TooManyWaiting Customer`,
    ]);
    expect(entryOf(decision, a)?.message).toBe(
      'At most 2 hostnames of the account acme can wait for verification at a time, and older hostnames are waiting. ' +
        'Verify or remove waiting hostnames. Doorplate then accepts this one automatically.',
    );
    expect(decision.looks.map(({hostname}) => hostname)).toEqual([docs]);
    expect(decision.claims).toEqual([]);
  });

  test('of a namespace without an Account says so', () => {
    const at = {...attached(room(0, {limit: 1})), tenant: tenantOn(plan('pro', 10), {account: undefined})};
    expect(entryOf(decide(at), docs)?.message).toMatch(/^At most 1 hostname of this namespace can wait /);
  });

  test('follows when there is a free place, with its waiting time from then on', () => {
    const refused = later(attached(room(1)), {now: t0 + minutes});
    const followed = decide({...refused, waiting: room(1, {held: new Set([docs]), refused: new Map([[a, 'since']])})});
    expect(entryOf(followed, a)).toMatchObject({phase: 'AwaitingVerification', addedAt: '2026-03-01T12:01:00Z'});
  });

  test('is as it was if nothing changes', () => {
    const refused = later(attached(room(1)), {now: t0 + minutes});
    const again = decide({...refused, waiting: room(0, {held: new Set([docs]), refused: new Map([[a, 'since']])})});
    expect(entryOf(again, a)).toEqual(entryOf(decide(attached(room(1))), a));
  });

  test('comes before newer ones, the oldest refusal first', () => {
    const refused = new Map([
      [b, '2026-03-01T11:00:00Z'],
      [c, '2026-03-01T10:00:00Z'],
    ]);
    expect(lines(attached(room(2, {refused}), [a, b, c]))).toEqual([
      `${docs} NotAccepted TooManyWaiting`,
      `${a} NotAccepted TooManyWaiting`,
      `${b} AwaitingVerification CheckPending`,
      `${c} AwaitingVerification CheckPending`,
    ]);
  });

  test('is not counted if another refusal comes first', () => {
    expect(reasonsWithoutRoom({...attached(undefined), tenant: tenantOn(freePlan)})).toEqual([
      'PlanUpgradeRequired',
      'PlanUpgradeRequired',
    ]);
    const one = {...attached(undefined), tenant: tenantOn(plan('one', 1))};
    expect(reasonsWithoutRoom(one)).toEqual(['TooManyWaiting', 'HostnameLimitReached']);
  });
});

describe('The limit of hostnames that wait leaves alone', () => {
  test('hostnames that wait already, even if there are more of them than places', () => {
    const before = later({...attached(undefined), facts: new Map([docs, a].map((h) => [h, refuted()]))});
    expect(lines({...before, waiting: room(0)})).toEqual(lines({...before, waiting: undefined}));
    expect(lines({...before, waiting: room(0)}).join()).not.toContain('TooManyWaiting');
  });

  test('a hostname whose decision is not published yet', () => {
    expect(lines(attached(room(0, {held: new Set([docs, a])}))).join()).not.toContain('TooManyWaiting');
  });

  test('hostnames that are verified, also if their status was lost', () => {
    const live = settled(world({redirects: [{from: a}], facts: {[docs]: served(), [a]: served()}}));
    const {status: _, ...own} = live.domain;
    for (const at of [live, {...live, domain: own}])
      expect(decide({...at, waiting: room(0)}).status).toEqual(decide(at).status);
  });
});

test.each<[Pick<HostStatus, 'phase' | 'reason'>, 'waits' | 'is refused' | 'neither']>([
  [{phase: 'AwaitingVerification', reason: 'RecordMissing'}, 'waits'],
  [{phase: 'AwaitingVerification', reason: 'HostnameClaimed'}, 'waits'],
  [{phase: 'AwaitingVerification', reason: 'VerificationExpired'}, 'neither'],
  [{phase: 'Verified', reason: 'OrderQueued'}, 'neither'],
  [{phase: 'Live', reason: 'Serving'}, 'neither'],
  [{phase: 'NotAccepted', reason: 'HostnameLimitReached'}, 'neither'],
  [{phase: 'NotAccepted', reason: 'TooManyWaiting'}, 'is refused'],
])('A hostname with %j: %s', (host, expected) => {
  expect(isWaiting(host) ? 'waits' : isRefusedToWait(host) ? 'is refused' : 'neither').toBe(expected);
});
