import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {type Ban, Bans, type BanStore, defaultBanRules} from '../../../operator/limits/bans.ts';
import {TrustedClock} from '../../../operator/limits/clock.ts';
import {Limiter, type Pool} from '../../../operator/limits/limiter.ts';
import {noonMs, VirtualTime} from '../../support/limits-time.ts';

const hash = 'a'.repeat(64);
const noon = noonMs / 1000;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

class Saved implements BanStore {
  readonly bans = new Map<string, Ban>();

  saveBan(ban: Ban): void {
    this.bans.set(ban.hash, ban);
  }

  removeBan(banned: string): void {
    this.bans.delete(banned);
  }
}

function make(rules = {}): {time: VirtualTime; bans: Bans; store: Saved; clock: TrustedClock; changed: string[]} {
  const time = new VirtualTime();
  const clock = new TrustedClock(time);
  const store = new Saved();
  const bans = new Bans({clock, store, rules: {...defaultBanRules, ...rules}});
  const changed: string[] = [];
  bans.onChange((each) => changed.push(each));
  return {time, bans, store, clock, changed};
}

/** A key that asks every `everyMs` though it was told to wait for an hour, until it is banned; how often it asked. */
function hammer(
  {time, bans, clock}: {time: VirtualTime; bans: Bans; clock: TrustedClock},
  {everyMs = 1000, atMost = 1000} = {},
): number {
  for (let asked = 1; asked <= atMost; asked++) {
    if (bans.refused(hash, clock.nowMs() / 1000 + 3600)) return asked;
    time.pass(everyMs);
  }
  return Number.NaN;
}

describe('a key that goes on asking after a refusal', () => {
  test('is banned for 15 minutes by its tenth strike, 11 s after the first refusal', () => {
    const world = make();
    // Refused at 0 s, under way until 2 s, then ten strikes.
    expect(hammer(world)).toBe(12);
    expect(world.time.wall - noonMs).toBe(11_000);
    expect(world.bans.until(hash)).toBe(noon + 11 + 15 * 60);
    expect(world.changed).toEqual([hash]);
  });

  test('gets one strike a second at most, however often it asks', () => {
    const world = make();
    hammer(world, {everyMs: 10, atMost: 2000});
    expect(world.time.wall - noonMs).toBe(11_000);
  });

  test('is not banned when its strikes are spread over more than a minute', () => {
    expect(hammer(make(), {everyMs: 6700, atMost: 500})).toBeNaN();
    expect(hammer(make(), {everyMs: 6500, atMost: 500})).toBe(11);
  });

  test('is banned twice as long each time, for a day at most', () => {
    const world = make();
    const minutes: number[] = [];
    for (let i = 0; i < 9; i++) {
      hammer(world);
      const lastsMs = world.bans.until(hash)! * 1000 - world.time.wall;
      minutes.push(lastsMs / minuteMs);
      world.time.pass(lastsMs);
    }
    expect(minutes).toEqual([15, 30, 60, 120, 240, 480, 960, 1440, 1440]);
  });

  test('has a first ban again after a quiet day, and not before', () => {
    for (const [quietMs, minutes] of [
      [24 * hourMs, 15],
      [24 * hourMs - 20_000, 30],
    ] as const) {
      const world = make();
      hammer(world);
      world.time.pass(world.bans.until(hash)! * 1000 - world.time.wall + quietMs);
      hammer(world);
      expect(world.bans.until(hash)! - world.time.wall / 1000).toBe(minutes * 60);
    }
  });

  test('is let in when the ban has ended', () => {
    const world = make();
    hammer(world);
    world.time.pass(15 * minuteMs - 1);
    expect(world.bans.until(hash)).toBeDefined();
    world.time.pass(1);
    expect(world.bans.until(hash)).toBeUndefined();
  });

  test('does not lengthen its ban by asking on', () => {
    const world = make();
    hammer(world);
    const until = world.bans.until(hash);
    world.time.pass(minuteMs);
    expect(hammer(world, {atMost: 60})).toBeNaN();
    expect(world.bans.until(hash)).toBe(until);
  });

  test('is known by its hash alone: another key is not banned with it', () => {
    const world = make();
    hammer(world);
    expect(world.bans.until('b'.repeat(64))).toBeUndefined();
  });
});

describe('never banned', () => {
  test('50 requests at once, and what was under way for 2 s', () => {
    const {time, bans} = make();
    for (let i = 0; i < 50; i++) {
      expect(bans.refused(hash, noon + 60)).toBe(false);
      time.pass(39);
    }
    expect(bans.until(hash)).toBeUndefined();
  });

  test('clients that wait as long as Retry-After says, though another key takes all and the clock is set', async () => {
    const jumps = fc.array(fc.record({at: fc.nat(300), ms: fc.integer({min: -1e8, max: 1e8})}), {maxLength: 5});
    const perDays = fc.integer({min: 1, max: 1500});
    await fc.assert(
      fc.asyncProperty(jumps, fc.nat(60_000), perDays, async (clockIsSet, start, perDay) => {
        const {time, bans, clock} = make({strikes: 1});
        time.pass(start);
        const limiter = new Limiter({clock});
        const pool: Pool = {id: 'tenant:acme', quota: {requestsPerMinute: 60, requestsPerDay: perDay}};
        for (let turn = 0; turn < 100; turn++) {
          for (const {ms} of clockIsSet.filter(({at}) => at === turn)) time.jump(ms);
          // The other key does not care.
          for (let i = 0; i < 70; i++) await limiter.take([pool]);
          const verdict = await limiter.take([pool]);
          if (verdict.allowed) continue;
          bans.refused(hash, verdict[`${verdict.exhausted}End`]);
          time.pass(verdict.retryAfterSeconds * 1000);
        }
        expect(bans.until(hash)).toBeUndefined();
      }),
      {numRuns: 40},
    );
  });

  test('a client library that asks twice more within seconds for each call, called once a minute', () => {
    const {time, bans, clock} = make();
    const end = Date.UTC(2026, 10, 23) / 1000;
    for (let call = 0; call < 600; call++) {
      for (const backoffMs of [0, 500, 1000]) {
        time.pass(backoffMs);
        if (clock.nowMs() < end * 1000) bans.refused(hash, end);
      }
      time.pass(58_500);
    }
    expect(bans.until(hash)).toBeUndefined();
  });
});

describe('the platform', () => {
  test('lifts a ban, and the next one is a first one', () => {
    const world = make();
    hammer(world);
    world.bans.lift(hash);
    expect(world.bans.until(hash)).toBeUndefined();
    expect({saved: world.store.bans.size, changed: world.changed}).toEqual({saved: 0, changed: [hash, hash]});
    hammer(world);
    expect(world.bans.until(hash)! - world.time.wall / 1000).toBe(15 * 60);
  });

  test('switches bans off: nobody is banned, and who was is let in', () => {
    const off = make({enabled: false});
    expect(hammer(off, {atMost: 100})).toBeNaN();
    off.bans.replaceAll([{hash, untilSeconds: noon + 3600, times: 1}]);
    expect({until: off.bans.until(hash), active: off.bans.active()}).toEqual({until: undefined, active: 0});
  });
});

describe('a restart', () => {
  test('in the middle of a ban: the ban stands, and the one after it is longer', () => {
    const world = make();
    hammer(world);
    const until = world.bans.until(hash)!;
    const next = {...world, bans: new Bans({clock: world.clock, store: world.store})};
    next.bans.replaceAll(world.store.bans.values());
    expect({until: next.bans.until(hash), active: next.bans.active()}).toEqual({until, active: 1});
    world.time.pass(until * 1000 - world.time.wall);
    hammer(next);
    expect(next.bans.until(hash)! - world.time.wall / 1000).toBe(30 * 60);
  });

  test('what another replica did is told like a change of our own, once', () => {
    const {bans, changed} = make();
    const ban = {hash, untilSeconds: noon + 900, times: 1};
    bans.replaceAll([ban]);
    bans.replaceAll([{...ban}]);
    expect({until: bans.until(hash), changed}).toEqual({until: noon + 900, changed: [hash]});
    bans.replaceAll([]);
    expect({until: bans.until(hash), changed}).toEqual({until: undefined, changed: [hash, hash]});
  });
});

describe('memory', () => {
  test('is bounded, whoever asks, and bans are forgotten when they count no more', () => {
    const {time, clock, store} = make();
    const bans = new Bans({clock, store, atMost: 100});
    for (let i = 0; i < 1000; i++) bans.refused(`key ${i}`, noon + 3600);
    expect(bans.size).toEqual({bans: 0, refused: 100});
    const world = {time, clock, bans};
    hammer(world);
    bans.replaceAll([...store.bans.values(), {hash: 'old', untilSeconds: noon, times: 1}]);
    time.pass(24 * hourMs + 16 * minuteMs);
    hammer(world);
    expect({bans: bans.size.bans, saved: [...store.bans.keys()]}).toEqual({bans: 1, saved: [hash]});
  });
});
