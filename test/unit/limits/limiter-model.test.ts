import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {TrustedClock} from '../../../operator/limits/clock.ts';
import {limitHeaders} from '../../../operator/limits/headers.ts';
import {Limiter} from '../../../operator/limits/limiter.ts';
import type {Pool, Quota, CallerQuota, QuotaVerdict} from '../../../operator/limits/verdict.ts';
import {MemoryStore, type WindowStore} from '../../../operator/limits/store.ts';
import {SoonStore} from '../../support/limits-stores.ts';
import {VirtualTime} from '../../support/limits-time.ts';

/*
 * The limiter against a model of its promises, over random schedules on virtual time. The model counts what was
 * admitted in
 * each window that the limiter names; it knows no blocks, no store, no trusted clock.
 */

type Step =
  | {do: 'request'; pools: readonly number[]; times: number}
  | {do: 'plan'; pool: number; quota: Quota}
  | {do: 'pass'; ms: number}
  | {do: 'jump'; ms: number}
  | {do: 'crash'};

const quota = fc.record({requestsPerMinute: fc.nat(70), requestsPerDay: fc.nat(200)});
const request = fc.record({
  do: fc.constant('request' as const),
  pools: fc.constantFrom([0], [1], [0, 2], [1, 2], [0, 1, 2]),
  times: fc.integer({min: 1, max: 90}),
});
const plan = fc.record({do: fc.constant('plan' as const), pool: fc.nat(2), quota});
const pass = fc.record({
  do: fc.constant('pass' as const),
  ms: fc.oneof(fc.nat(3000), fc.nat(120_000), fc.nat(90_000_000)),
});
const jump = fc.record({do: fc.constant('jump' as const), ms: fc.integer({min: -200_000_000, max: 200_000_000})});
const crash = fc.record({do: fc.constant('crash' as const)});

/** As `expect`, and as fast as an `if`: it is asked a million times. */
function holds(fine: boolean, seen: Record<string, unknown>): void {
  if (!fine) expect(seen).toBe('as the model says');
}

class World {
  readonly time = new VirtualTime();
  readonly store: WindowStore;
  clock = new TrustedClock(this.time);
  limiter: Limiter;
  readonly pools: Pool[];
  /** Admitted, by pool, window and its end. */
  readonly #admitted = new Map<string, number>();
  crashed = false;

  constructor(store: WindowStore, quotas: Quota[]) {
    this.store = store;
    this.limiter = new Limiter({clock: this.clock, store});
    this.pools = quotas.map((each, i) => ({id: `pool ${i}`, quota: each}));
  }

  async run(step: Step): Promise<void> {
    switch (step.do) {
      case 'request':
        for (let i = 0; i < step.times; i++) await this.#request(step.pools.map((at) => this.pools[at]!));
        break;
      case 'plan':
        this.pools[step.pool] = {...this.pools[step.pool]!, quota: step.quota};
        break;
      case 'pass':
        this.time.pass(step.ms);
        break;
      case 'jump':
        this.time.jump(step.ms);
        break;
      case 'crash':
        this.clock = this.time.restart(this.clock.mark());
        this.limiter = new Limiter({clock: this.clock, store: this.store});
        this.crashed = true;
        break;
    }
  }

  async #request(pools: Pool[]): Promise<void> {
    const before = this.limiter.look(pools);
    const verdict = await this.limiter.take(pools);
    const after = pools.map((each) => this.limiter.look([each]));
    // The next one knows from the headers of this one what will become of it.
    this.#agree(before, verdict, after);
    for (const [
      i,
      {
        id,
        quota: {requestsPerMinute, requestsPerDay},
      },
    ] of pools.entries()) {
      const {minuteLimit, minuteRemaining, minuteEnd, dayLimit, dayRemaining, dayEnd} = after[i]!;
      holds(minuteLimit === requestsPerMinute && dayLimit === requestsPerDay, {after});
      this.#count(`${id} minute ${minuteEnd}`, verdict.allowed, minuteLimit, minuteRemaining);
      this.#count(`${id} day ${dayEnd}`, verdict.allowed, dayLimit!, dayRemaining!);
    }
  }

  #count(key: string, isAdmitted: boolean, limit: number, remaining: number): void {
    const count = (this.#admitted.get(key) ?? 0) + (isAdmitted ? 1 : 0);
    this.#admitted.set(key, count);
    const exact = Math.max(0, limit - count);
    holds(!isAdmitted || count <= limit, {key, admitted: count, limit});
    holds(this.crashed ? remaining <= exact : remaining === exact, {key, remaining, exact});
  }

  /** `after`: where each pool alone stands. */
  #agree(before: CallerQuota, verdict: QuotaVerdict, after: readonly CallerQuota[]): void {
    const minutes = after.map(({minuteRemaining: remaining, minuteEnd: end}) => ({
      name: 'minute' as const,
      remaining,
      end,
    }));
    const days = after.map(({dayRemaining, dayEnd: end}) => ({
      name: 'day' as const,
      remaining: dayRemaining!,
      end: end!,
    }));
    const {minuteRemaining, minuteEnd, dayRemaining, dayEnd} = verdict;
    holds(isTightest({remaining: minuteRemaining, end: minuteEnd}, minutes), {verdict, minutes});
    holds(isTightest({remaining: dayRemaining!, end: dayEnd!}, days), {verdict, days});
    const sameWindows = before.minuteEnd === minuteEnd && before.dayEnd === dayEnd;
    const promised = limitHeaders(before)['x-ratelimit-remaining'] !== 0;
    holds(!sameWindows || verdict.allowed === promised, {promised, verdict});
    if (verdict.allowed) return;
    const {exhausted, retryAfterSeconds} = verdict;
    const end = verdict[`${exhausted}End`]!;
    const last = Math.max(...[...minutes, ...days].filter(({remaining}) => remaining === 0).map((each) => each.end));
    holds(verdict[`${exhausted}Remaining`] === 0 && end === last, {verdict});
    const late = this.clock.nowMs() / 1000 + retryAfterSeconds - end;
    holds(late >= 0 && late < (exhausted === 'day' ? 61 : 1), {late, verdict});
  }
}

interface Told {
  remaining: number;
  end: number;
}
/** One of these: the fewest left, and of several the last to end. */
function isTightest({remaining, end}: Told, all: readonly Told[]): boolean {
  const fewest = Math.min(...all.map((each) => each.remaining));
  return remaining === fewest && end === Math.max(...all.filter((e) => e.remaining === fewest).map((e) => e.end));
}

const stores: [string, () => WindowStore][] = [
  ['that answers at once', () => new MemoryStore()],
  ['that answers later', () => new SoonStore()],
];

describe.each(stores)('with a store %s', (_, makeStore) => {
  test('no window admits more than its limit, and each header agrees with what then happens', async () => {
    const steps = fc.array(fc.oneof(request, request, request, plan, pass, jump), {maxLength: 30});
    await fc.assert(
      fc.asyncProperty(fc.tuple(quota, quota, quota), steps, async (quotas, schedule) => {
        const world = new World(makeStore(), quotas);
        for (const step of schedule) await world.run(step);
      }),
      {numRuns: 100},
    );
  });

  test('with crashes among it no window admits more than its limit either', async () => {
    const steps = fc.array(fc.oneof(request, request, request, plan, pass, jump, crash), {maxLength: 30});
    await fc.assert(
      fc.asyncProperty(fc.tuple(quota, quota, quota), steps, async (quotas, schedule) => {
        const world = new World(makeStore(), quotas);
        for (const step of schedule) await world.run(step);
      }),
      {numRuns: 100},
    );
  });

  test('requests that come at once admit exactly the limit', async () => {
    await fc.assert(
      fc.asyncProperty(quota, fc.integer({min: 1, max: 300}), async (each, requests) => {
        const limiter = new Limiter({clock: new TrustedClock(new VirtualTime()), store: makeStore()});
        const verdicts = await Promise.all(
          Array.from({length: requests}, () => limiter.take([{id: 'a', quota: each}])),
        );
        const limit = Math.min(each.requestsPerMinute, each.requestsPerDay);
        expect(verdicts.filter((verdict) => verdict.allowed)).toHaveLength(Math.min(requests, limit));
      }),
    );
  });
});

test('whoever waits as long as Retry-After says is admitted, if nobody else asks', async () => {
  await fc.assert(
    fc.asyncProperty(quota, fc.nat(86_400_000), async (each, start) => {
      const time = new VirtualTime();
      time.pass(start);
      const limiter = new Limiter({clock: new TrustedClock(time)});
      const pool = {
        id: 'a',
        quota: {requestsPerMinute: each.requestsPerMinute + 1, requestsPerDay: each.requestsPerDay + 1},
      };
      for (let refusals = 0; refusals < 5;) {
        const verdict = await limiter.take([pool]);
        if (verdict.allowed) continue;
        refusals++;
        time.pass(verdict.retryAfterSeconds * 1000);
        expect(await limiter.take([pool])).toMatchObject({allowed: true});
      }
    }),
    {numRuns: 50},
  );
});
