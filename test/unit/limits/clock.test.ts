import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {TrustedClock} from '../../../operator/limits/clock.ts';
import {noonMs, VirtualTime} from '../../support/limits-time.ts';

const hourMs = 3_600_000;

function make(): {time: VirtualTime; clock: TrustedClock} {
  const time = new VirtualTime();
  return {time, clock: new TrustedClock(time)};
}

/** Lets time pass second by second, with a look at the clock each time, as requests do. */
function live(time: VirtualTime, clock: TrustedClock, seconds: number): void {
  for (let i = 0; i < seconds; i++) {
    time.pass(1000);
    clock.nowMs();
  }
}

describe('a clock that is set', () => {
  test.each([
    ['forward by a day', 24 * hourMs],
    ['back by a day', -24 * hourMs],
    ['forward by two seconds', 2000],
  ])('%s is not believed: time goes on as monotonic time does', (_, jump) => {
    const {time, clock} = make();
    time.pass(500);
    time.jump(jump);
    live(time, clock, 60);
    expect(Math.abs(clock.nowMs() - (noonMs + 60_500))).toBeLessThanOrEqual(61);
    expect(Math.abs(clock.offsetMs() - jump)).toBeLessThanOrEqual(61);
  });

  test('a small correction is followed within the time that NTP would take', () => {
    const {time, clock} = make();
    time.jump(50);
    live(time, clock, 51);
    expect(clock.nowMs()).toBe(time.wall);
    time.jump(-50);
    live(time, clock, 51);
    expect(clock.nowMs()).toBe(time.wall);
  });

  test('it never goes back, and never runs more than a thousandth faster or slower, whatever happens to the wall clock', () => {
    const step = fc.record({pass: fc.nat(200_000), jump: fc.oneof(fc.constant(0), fc.integer({min: -1e9, max: 1e9}))});
    fc.assert(
      fc.property(fc.array(step, {maxLength: 40}), (steps) => {
        const {time, clock} = make();
        let before = clock.nowMs();
        let passed = 0;
        for (const {pass, jump} of steps) {
          time.pass(pass);
          passed += pass;
          time.jump(jump);
          const now = clock.nowMs();
          expect(now).toBeGreaterThanOrEqual(before);
          expect(Math.abs(now - (noonMs + passed))).toBeLessThanOrEqual(passed * 0.001 + 1e-3);
          before = now;
        }
      }),
    );
  });
});

describe('a machine that was suspended', () => {
  test('the time that it slept counts: the time since boot has gone on', () => {
    const {time, clock} = make();
    live(time, clock, 10);
    time.wall += 8 * hourMs;
    time.uptime += 8 * hourMs;
    live(time, clock, 1);
    expect(clock.nowMs()).toBe(time.wall);
  });
});

describe('a restart', () => {
  test('of the process: a clock that was set meanwhile is not believed', () => {
    for (const jump of [-48 * hourMs, 48 * hourMs]) {
      const {time, clock} = make();
      const mark = clock.mark();
      time.pass(30_000);
      time.jump(jump);
      expect(Math.abs(time.restart(mark).nowMs() - (noonMs + 30_000))).toBeLessThanOrEqual(30);
    }
  });

  test('of the machine: the clock is believed, but never before what was seen', () => {
    const {time, clock} = make();
    const mark = clock.mark();
    time.boot = 'the next boot';
    time.uptime = 10_000;
    time.pass(600_000);
    expect(time.restart(mark).nowMs()).toBe(time.wall);
    time.jump(-hourMs);
    expect(time.restart(mark).nowMs()).toBe(noonMs);
  });

  test('where the boot is not known, time does not go back either', () => {
    const {time, clock} = make();
    time.boot = undefined;
    const mark = clock.mark();
    time.jump(-hourMs);
    expect(time.restart(mark).nowMs()).toBe(noonMs);
  });

  test('time does not go back over any number of restarts and jumps', () => {
    const step = fc.record({pass: fc.nat(10_000_000), jump: fc.integer({min: -1e9, max: 1e9}), reboot: fc.boolean()});
    fc.assert(
      fc.property(fc.array(step, {maxLength: 20}), (steps) => {
        const time = new VirtualTime();
        let clock = new TrustedClock(time);
        for (const [i, {pass, jump, reboot}] of steps.entries()) {
          const mark = clock.mark();
          time.pass(pass);
          time.jump(jump);
          if (reboot) [time.boot, time.uptime] = [`boot ${i}`, 1000];
          clock = time.restart(mark);
          expect(clock.nowMs()).toBeGreaterThanOrEqual(mark.atMs);
        }
      }),
    );
  });
});
