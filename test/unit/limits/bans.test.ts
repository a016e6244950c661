import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {type Ban, banId, Bans, type BanStore, defaultBanRules, type KeyUser} from '../../../operator/limits/bans.ts';
import {TrustedClock} from '../../../operator/limits/clock.ts';
import {Limiter} from '../../../operator/limits/limiter.ts';
import type {Pool} from '../../../operator/limits/verdict.ts';
import {noonMs, VirtualTime} from '../../support/limits-time.ts';

const hash = 'a'.repeat(64);
const user: KeyUser = {hash, network: '192.0.2.1'};
const noon = noonMs / 1000;
const secondMs = 1000;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Requests a minute of the key: more than 300 refusals in a minute are a strike. */
const minuteLimit = 150;

class Saved implements BanStore {
  readonly bans = new Map<string, Ban>();

  saveBan(ban: Ban): void {
    this.bans.set(banId(ban), ban);
  }

  removeBan(banned: KeyUser): void {
    this.bans.delete(banId(banned));
  }
}

interface World {
  time: VirtualTime;
  bans: Bans;
  store: Saved;
  clock: TrustedClock;
  changed: string[];
}

function make(rules = {}): World {
  const time = new VirtualTime();
  const clock = new TrustedClock(time);
  const store = new Saved();
  const bans = new Bans({clock, store, rules: {...defaultBanRules, ...rules}});
  const changed: string[] = [];
  bans.onChange((each) => changed.push(each));
  return {time, bans, store, clock, changed};
}

/** A key that goes on, refused every `everyMs`, until it is banned; how often it was refused, NaN where it never was banned. */
function hammer(
  {time, bans}: Pick<World, 'time' | 'bans'>,
  {everyMs = 100, atMost = 5000, as = user}: {everyMs?: number; atMost?: number; as?: KeyUser} = {},
): number {
  for (let asked = 1; asked <= atMost; asked++) {
    bans.refused(as, {minuteLimit});
    if (bans.until(as) !== undefined) return asked;
    time.pass(everyMs);
  }
  return Number.NaN;
}

/** So many requests are refused at once. */
const refuse = ({bans}: Pick<World, 'bans'>, count: number, as = user) => {
  let strikes;
  for (let i = 0; i < count; i++) strikes = bans.refused(as, {minuteLimit});
  return strikes;
};

describe('a key that goes on although every request is refused', () => {
  test('has no strike for the last 20 seconds of a window, in which clients with a clock that is ahead come too early', () => {
    const world = make();
    for (let minute = 0; minute < 10; minute++) {
      for (let left = 20; left > 0; left--) {
        for (let i = 0; i < 100; i++) world.bans.refused(user, {minuteLimit, endsInSeconds: left});
        world.time.pass(secondMs);
      }
      world.time.pass(40 * secondMs);
    }
    expect(world.bans.refused(user, {minuteLimit, endsInSeconds: 20})).toEqual({strikes: 0, strikesToBan: 3});
    for (let i = 0; i <= 2 * minuteLimit; i++) world.bans.refused(user, {minuteLimit, endsInSeconds: 21});
    expect(world.bans.refused(user, {minuteLimit, endsInSeconds: 20})).toEqual({strikes: 1, strikesToBan: 3});
  });

  test('is banned for 15 minutes in the third minute of it', () => {
    const world = make();
    // Ten a second: 600 in each of two minutes, and the 301st of the third.
    expect(hammer(world)).toBe(2 * 600 + 301);
    expect(world.time.wall - noonMs).toBe(2 * minuteMs + 30 * secondMs);
    expect(world.bans.until(user)).toBe(noon + 150 + 15 * 60);
    expect(world.changed).toEqual([hash]);
  });

  test('is told of each strike, and how many are a ban', () => {
    const world = make();
    expect(refuse(world, 300)).toEqual({strikes: 0, strikesToBan: 3});
    expect(refuse(world, 1)).toEqual({strikes: 1, strikesToBan: 3});
    world.time.pass(minuteMs);
    expect(refuse(world, 1)).toEqual({strikes: 1, strikesToBan: 3});
    expect(refuse(world, 300)).toEqual({strikes: 2, strikesToBan: 3});
  });

  test('gets one strike a minute, however much is refused', () => {
    const world = make();
    expect(refuse(world, 100_000)).toEqual({strikes: 1, strikesToBan: 3});
  });

  test('has no strikes any more after a minute without one', () => {
    const world = make();
    refuse(world, 301);
    world.time.pass(minuteMs);
    refuse(world, 301);
    world.time.pass(minuteMs);
    expect(refuse(world, 300)).toMatchObject({strikes: 2});
    world.time.pass(minuteMs);
    expect(refuse(world, 301)).toMatchObject({strikes: 1});
    world.time.pass(2 * minuteMs);
    expect(refuse(world, 301)).toMatchObject({strikes: 1});
  });

  test('is banned twice as long each time, for a day at most', () => {
    const world = make();
    const minutes: number[] = [];
    for (let i = 0; i < 9; i++) {
      hammer(world);
      const lastsMs = world.bans.until(user)! * 1000 - world.time.wall;
      minutes.push(lastsMs / minuteMs);
      world.time.pass(lastsMs);
    }
    expect(minutes).toEqual([15, 30, 60, 120, 240, 480, 960, 1440, 1440]);
  });

  test('has a first ban again after a quiet day, and not before', () => {
    for (const [quietMs, minutes] of [
      [24 * hourMs, 15],
      [24 * hourMs - 5 * minuteMs, 30],
    ] as const) {
      const world = make();
      hammer(world);
      world.time.pass(world.bans.until(user)! * 1000 - world.time.wall + quietMs);
      hammer(world);
      expect(world.bans.until(user)! - world.time.wall / 1000).toBe(minutes * 60);
    }
  });

  test("is let in when the day's quota is there again, where that is what was used up", () => {
    const world = make();
    const midnight = noon + 200;
    const facts = {minuteLimit, windowOverSeconds: midnight + 17};
    for (let i = 0; world.bans.until(user) === undefined; i++) {
      world.bans.refused(user, facts);
      world.time.pass(100);
    }
    expect(world.bans.until(user)).toBe(midnight + 17);
  });

  test('is let in when the ban has ended', () => {
    const world = make();
    hammer(world);
    world.time.pass(15 * minuteMs - 1);
    expect(world.bans.until(user)).toBeDefined();
    world.time.pass(1);
    expect(world.bans.until(user)).toBeUndefined();
  });

  test('does not lengthen its ban by asking on', () => {
    const world = make();
    hammer(world);
    const until = world.bans.until(user);
    expect(refuse(world, 1000)).toBeUndefined();
    expect(world.bans.until(user)).toBe(until);
  });

  test('is known by its hash and its network: neither another key nor another place is banned with it', () => {
    const world = make();
    hammer(world);
    expect(world.bans.until({...user, hash: 'b'.repeat(64)})).toBeUndefined();
    expect(world.bans.until({...user, network: '192.0.2.2'})).toBeUndefined();
    expect(world.bans.of(hash)).toEqual([{...user, untilSeconds: noon + 150 + 15 * 60, times: 1}]);
  });
});

describe('never banned', () => {
  test('a client that sends thousands at once, and then waits', () => {
    const world = make();
    for (let minute = 0; minute < 10; minute++) {
      refuse(world, 5000);
      world.time.pass(2 * minuteMs);
    }
    expect(world.changed).toEqual([]);
  });

  test('15 new programs each minute for a day, of a plan of one request a minute', () => {
    const {time, bans} = make();
    for (let minute = 0; minute < 24 * 60; minute++) {
      for (let job = 0; job < 15; job++) bans.refused(user, {minuteLimit: 1});
      time.pass(minuteMs);
    }
    expect(bans.until(user)).toBeUndefined();
  });

  test('workers that share a key and wait as they are told, up to twice the requests of a minute, whatever the quota', async () => {
    const quotas = fc.record({perMinute: fc.integer({min: 1, max: 300}), perDay: fc.integer({min: 300, max: 3000})});
    await fc.assert(
      fc.asyncProperty(quotas, fc.nat(60_000), async ({perMinute, perDay}, start) => {
        // The first minute may hold two of the limiter's: the one in which they begin, and the next.
        const {time, bans, clock} = make({strikes: 2});
        time.pass(start);
        const limiter = new Limiter({clock});
        const pool: Pool = {id: 'tenant:acme', quota: {requestsPerMinute: perMinute, requestsPerDay: perDay}};
        // Each asks as soon as it may.
        const workers = Array.from({length: Math.max(120, 2 * perMinute)}, () => clock.nowMs());
        for (let turn = 0; turn < 60; turn++) {
          for (const [i, mayAskMs] of workers.entries()) {
            if (clock.nowMs() < mayAskMs) continue;
            const verdict = await limiter.take([pool]);
            if (verdict.allowed) continue;
            const {exhausted, nowSeconds, retryAfterSeconds} = verdict;
            const over = nowSeconds + retryAfterSeconds;
            bans.refused(user, {minuteLimit: perMinute, ...(exhausted === 'day' && {windowOverSeconds: over})});
            workers[i] = over * 1000;
          }
          time.pass(Math.max(secondMs, Math.min(...workers) - clock.nowMs()));
        }
        expect(bans.until(user)).toBeUndefined();
      }),
      {numRuns: 20},
    );
  });
});

describe('the platform', () => {
  test('lifts the bans of a key in all networks, and the next one is a first one', () => {
    const world = make();
    const elsewhere = {...user, network: '2001:db8::/64'};
    hammer(world);
    hammer(world, {as: elsewhere});
    world.bans.lift(hash);
    expect([user, elsewhere].map((each) => world.bans.until(each))).toEqual([undefined, undefined]);
    expect({saved: world.store.bans.size, changed: world.changed}).toEqual({saved: 0, changed: [hash, hash, hash]});
    hammer(world);
    expect(world.bans.until(user)! - world.time.wall / 1000).toBe(15 * 60);
  });

  test('switches bans off: nobody is banned, and who was is let in', () => {
    const off = make({enabled: false});
    expect(hammer(off)).toBeNaN();
    off.bans.replaceAll([{...user, untilSeconds: noon + 3600, times: 1}]);
    expect({until: off.bans.until(user), active: off.bans.active()}).toEqual({until: undefined, active: 0});
  });
});

describe('a restart', () => {
  test('in the middle of a ban: the ban stands, and the one after it is longer', () => {
    const world = make();
    hammer(world);
    const until = world.bans.until(user)!;
    const next = {...world, bans: new Bans({clock: world.clock, store: world.store})};
    next.bans.replaceAll(world.store.bans.values());
    expect({until: next.bans.until(user), active: next.bans.active()}).toEqual({until, active: 1});
    world.time.pass(until * 1000 - world.time.wall);
    hammer(next);
    expect(next.bans.until(user)! - world.time.wall / 1000).toBe(30 * 60);
  });

  test('what another replica did is told like a change of our own, once', () => {
    const {bans, changed} = make();
    const ban = {...user, untilSeconds: noon + 900, times: 1};
    bans.replaceAll([ban]);
    bans.replaceAll([{...ban}]);
    expect({until: bans.until(user), changed}).toEqual({until: noon + 900, changed: [hash]});
    bans.replaceAll([]);
    expect({until: bans.until(user), changed}).toEqual({until: undefined, changed: [hash, hash]});
  });
});

describe('memory', () => {
  test('is bounded, whoever asks, and bans are forgotten when they count no more', () => {
    const {time, clock, store} = make();
    const bans = new Bans({clock, store, atMost: 100});
    for (let i = 0; i < 1000; i++) bans.refused({hash: `key ${i}`, network: 'n'}, {minuteLimit});
    expect(bans.size).toEqual({bans: 0, refused: 100});
    const world = {time, clock, bans};
    hammer(world);
    bans.replaceAll([...store.bans.values(), {hash: 'old', network: 'n', untilSeconds: noon, times: 1}]);
    time.pass(24 * hourMs + 20 * minuteMs);
    hammer(world);
    expect({bans: bans.size.bans, saved: [...store.bans.keys()]}).toEqual({bans: 1, saved: [banId(user)]});
  });
});
