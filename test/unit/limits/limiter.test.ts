import {describe, expect, test} from '@jest/globals';
import {TrustedClock} from '../../../operator/limits/clock.ts';
import {blockOf} from '../../../operator/limits/counter.ts';
import {Limiter} from '../../../operator/limits/limiter.ts';
import type {Pool, Quota, CallerQuota, QuotaVerdict} from '../../../operator/limits/verdict.ts';
import {FallbackStore} from '../../../operator/limits/fallback.ts';
import {MemoryStore, type WindowStore} from '../../../operator/limits/store.ts';
import {minutePhase, windowEnd} from '../../../operator/limits/window.ts';
import {VirtualClock} from '../../support/kube-clock.ts';
import {FailingBackend, SlowStore} from '../../support/limits-stores.ts';
import {noonMs, VirtualTime} from '../../support/limits-time.ts';

const free: Quota = {requestsPerMinute: 60, requestsPerDay: 1000};
const acme: Pool = {id: 'tenant:acme', quota: free};

function make(store: WindowStore = new MemoryStore()): {time: VirtualTime; limiter: Limiter; store: WindowStore} {
  const time = new VirtualTime();
  return {time, limiter: new Limiter({clock: new TrustedClock(time), store}), store};
}

/** The verdict of a limiter whose store answers at once. */
function take(limiter: Limiter, ...pools: Pool[]): QuotaVerdict {
  const verdict = limiter.take(pools);
  if (verdict instanceof Promise) throw new Error('it had to wait');
  return verdict;
}

function admitted(limiter: Limiter, tries: number, ...pools: Pool[]): number {
  let count = 0;
  for (let i = 0; i < tries; i++) if (take(limiter, ...pools).allowed) count++;
  return count;
}

const remaining = ({minuteRemaining, dayRemaining}: CallerQuota) => [minuteRemaining, dayRemaining];

/** One of ten replicas. `isLow` tells it that little of its window is left. */
function replica(): {store: SlowStore; limiter: Limiter; pool: Pool; window: string; isLow: () => void} {
  const store = Object.assign(new SlowStore(), {replicas: 10});
  const {limiter, time} = make(store);
  const pool: Pool = {id: 'tenant:acme', quota: {requestsPerMinute: 300, requestsPerDay: 10_000}};
  const window = `minute:${windowEnd(60, minutePhase(pool.id), time.wallMs())}:${pool.id}`;
  const isLow = () => limiter.hear({window, taken: 262, returned: 0});
  return {store, limiter, pool, window, isLow};
}

describe('one of ten replicas, of which another has begun what is granted singly', () => {
  test('asks for each request, even while a block is on its way', async () => {
    const {store, limiter, pool, isLow} = replica();
    // Until a block is asked for ahead, while there is a request of the minute's block.
    const isAhead = () => store.asked.some(({claims}) => claims.every(({least}) => least === 0));
    for (let i = 0; i < 100 && !isAhead(); i++) {
      const verdict = limiter.take([pool]);
      if (!isAhead()) await store.answerAll();
      await verdict;
    }
    expect(isAhead()).toBe(true);
    isLow();
    const waits = limiter.take([pool]);
    expect(waits).toBeInstanceOf(Promise);
    await store.answerAll();
    await waits;
  });

  test('gives back the rest of its block', async () => {
    const {store, limiter, pool, window, isLow} = replica();
    const used = 2;
    for (let i = 0; i < used; i++) {
      const verdict = limiter.take([pool]);
      await store.answerAll();
      await verdict;
    }
    expect(store.taken(window)).toBeGreaterThan(used);
    isLow();
    await store.answerAll();
    expect(store.taken(window)).toBe(used);
  });

  test('keeps nothing of a request that was taken back', async () => {
    const {store, limiter, pool, isLow} = replica();
    const verdict = limiter.take([pool]);
    await store.answerAll();
    const charge = await verdict;
    isLow();
    limiter.undo([pool], charge);
    await store.answerAll();
    expect(limiter.take([pool])).toBeInstanceOf(Promise);
    await store.answerAll();
  });
});

describe('one pool', () => {
  test('admits as many as the limit in a minute, and as many again in the next', () => {
    const {limiter, time} = make();
    expect(admitted(limiter, 200, acme)).toBe(60);
    time.pass(60_000);
    expect(admitted(limiter, 200, acme)).toBe(60);
  });

  test('tells what is left after this request, down to nothing', () => {
    const {limiter} = make();
    for (let left = 59; left >= 0; left--) expect(remaining(take(limiter, acme))).toEqual([left, 940 + left]);
    const refused = take(limiter, acme);
    expect(refused).toMatchObject({allowed: false, exhausted: 'minute'});
    expect(remaining(refused)).toEqual([0, 940]);
  });

  test('a refused request costs nothing', () => {
    const {limiter, time} = make();
    admitted(limiter, 500, acme);
    time.pass(60_000);
    expect(remaining(take(limiter, acme))).toEqual([59, 939]);
  });

  test('to look costs nothing', () => {
    const {limiter} = make();
    take(limiter, acme);
    for (let i = 0; i < 5; i++) expect(remaining(limiter.look([acme]))).toEqual([59, 999]);
  });

  test('a limit of 0 admits nothing, a limit of 1 one, and what is no number nothing', () => {
    expect(admitted(make().limiter, 9, {id: 'a', quota: {requestsPerMinute: Number.NaN, requestsPerDay: 5}})).toBe(0);
    expect(admitted(make().limiter, 9, {id: 'a', quota: {requestsPerMinute: 0, requestsPerDay: 5}})).toBe(0);
    expect(admitted(make().limiter, 9, {id: 'a', quota: {requestsPerMinute: 1, requestsPerDay: 5}})).toBe(1);
  });
});

describe('a refusal', () => {
  test('by the minute says to wait for its end, in whole seconds rounded up', () => {
    const {limiter, time} = make();
    const end = noonMs / 1000 + (minutePhase(acme.id) || 60);
    time.pass(250);
    admitted(limiter, 60, acme);
    const verdict = take(limiter, acme);
    const retryAfterSeconds = end - noonMs / 1000;
    expect(verdict).toMatchObject({
      allowed: false,
      exhausted: 'minute',
      minuteEnd: end,
      retryAfterSeconds,
    });
  });

  test('by minute and day at once says to wait for the day', () => {
    const {limiter} = make();
    const pool = {id: 'tenant:acme', quota: {requestsPerMinute: 5, requestsPerDay: 5}};
    admitted(limiter, 5, pool);
    const dayEnd = Date.UTC(2026, 10, 23) / 1000;
    expect(take(limiter, pool)).toMatchObject({allowed: false, exhausted: 'day', dayEnd});
  });

  test('by the day: the wait has up to a minute more, spread over pools, the same for a pool all day', () => {
    const {limiter, time} = make();
    const pools = Array.from({length: 300}, (_, i) => ({
      id: `tenant:t${i}`,
      quota: {requestsPerMinute: 9, requestsPerDay: 1},
    }));
    const waitsNow = (): number[] =>
      pools.map((pool) => {
        const verdict = take(limiter, pool);
        return verdict.allowed ? Number.NaN : verdict.retryAfterSeconds;
      });
    waitsNow();
    const first = waitsNow();
    expect(waitsNow()).toEqual(first);
    time.pass(120_000);
    expect(waitsNow()).toEqual(first.map((seconds) => seconds - 120));
    const waits = first.map((seconds) => seconds - 43_200);
    expect({least: Math.min(...waits), most: Math.max(...waits)}).toEqual({least: 0, most: 60});
    expect(new Set(waits).size).toBeGreaterThan(50);
  });
});

const key = (perMinute: number): Pool => ({id: 'key:abc', quota: {requestsPerMinute: perMinute, requestsPerDay: 500}});

describe('a pool without a day', () => {
  const address: Pool = {id: 'address:192.0.2.1', quota: {requestsPerMinute: 60}};

  test('counts minutes alone', () => {
    const {limiter, time} = make();
    for (let minute = 0; minute < 100; minute++) {
      expect(admitted(limiter, 70, address)).toBe(60);
      time.pass(60_000);
    }
    expect(take(limiter, address)).toMatchObject({allowed: true, minuteRemaining: 59, dayLimit: undefined});
  });

  test('beside one with a day leaves that as it is', () => {
    const {limiter} = make();
    expect(take(limiter, address, acme)).toMatchObject({minuteRemaining: 59, dayLimit: 1000, dayRemaining: 999});
    expect(take(limiter, acme, address)).toMatchObject({minuteRemaining: 58, dayLimit: 1000, dayRemaining: 998});
  });

  test('has a charge undone as long as the window lasts', () => {
    const {limiter, time} = make();
    const verdict = take(limiter, address);
    limiter.undo([address], verdict);
    expect(limiter.look([address]).minuteRemaining).toBe(60);
    const late = take(limiter, address);
    time.pass(60_000);
    take(limiter, address);
    limiter.undo([address], late);
    expect(limiter.look([address]).minuteRemaining).toBe(59);
  });
});

describe('several pools', () => {
  test('a request is charged to all of them or to none', () => {
    const {limiter} = make();
    expect(admitted(limiter, 50, acme, key(10))).toBe(10);
    expect([acme, key(10)].map((pool) => remaining(limiter.look([pool])))).toEqual([
      [50, 990],
      [0, 490],
    ]);
    expect(admitted(limiter, 70, acme)).toBe(50);
    expect(take(limiter, key(20), acme).allowed).toBe(false);
    expect([key(20), acme].map((pool) => remaining(limiter.look([pool])))).toEqual([
      [10, 490],
      [0, 940],
    ]);
  });

  test('one minute and one day are told of all: the tighter of each', () => {
    const {limiter} = make();
    const roomy = {id: 'key:roomy', quota: {requestsPerMinute: 1000, requestsPerDay: 30}};
    admitted(limiter, 20, acme);
    expect(take(limiter, acme, roomy)).toMatchObject({
      minuteLimit: 60,
      minuteRemaining: 39,
      dayLimit: 30,
      dayRemaining: 29,
    });
    expect(take(limiter, roomy, acme)).toMatchObject({
      minuteLimit: 60,
      minuteRemaining: 38,
      dayLimit: 30,
      dayRemaining: 28,
    });
  });

  test('two pools do not touch each other', () => {
    const {limiter} = make();
    admitted(limiter, 100, acme);
    expect(admitted(limiter, 100, {...acme, id: 'tenant:other'})).toBe(60);
  });
});

const on = (requestsPerMinute: number): Pool => ({
  id: 'tenant:acme',
  quota: {requestsPerMinute, requestsPerDay: 10_000},
});

describe('a change of the plan', () => {
  test('keeps what was used: an upgrade adds the difference', () => {
    const {limiter} = make();
    expect(admitted(limiter, 100, on(60))).toBe(60);
    expect(remaining(take(limiter, on(300)))[0]).toBe(239);
    expect(admitted(limiter, 400, on(300))).toBe(239);
  });

  test('keeps what was used: a downgrade below it admits nothing more, reserved or not', () => {
    const {limiter} = make();
    admitted(limiter, 100, on(1000));
    expect(admitted(limiter, 10, on(60))).toBe(0);
    expect(remaining(take(limiter, on(60)))[0]).toBe(0);
    expect(remaining(take(limiter, on(1000)))[0]).toBe(899);
  });
});

describe('reserved blocks', () => {
  test('are at most a twentieth of a window', () => {
    expect([1, 10, 20, 60, 1000, 10_000].map((limit) => blockOf(limit))).toEqual([1, 1, 1, 3, 50, 500]);
    // All blocks of several processes together are at most a tenth.
    expect([1, 2, 3, 10].map((replicas) => blockOf(300, replicas))).toEqual([15, 15, 10, 3]);
  });

  test('a request that nothing is reserved for waits until the store has answered', async () => {
    const store = new SlowStore();
    const {limiter} = make(store);
    let done = false;
    const waits = Promise.resolve(limiter.take([acme])).finally(() => {
      done = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    const claims = store.asked.map((asked) => asked.claims.map(({want, least}) => [want, least]));
    expect({done, claims}).toEqual({
      done: false,
      claims: [
        [
          [1, 1],
          [1, 1],
        ],
      ],
    });
    await store.answerAll();
    expect(remaining(await waits)).toEqual([59, 999]);
  });

  test('the next block is asked for while half of the last is left, and nobody waits for it', async () => {
    const store = new SlowStore();
    const {limiter} = make(store);
    const pro = {id: 'tenant:pro', quota: {requestsPerMinute: 1000, requestsPerDay: 100_000}};
    for (let i = 0; i < 200; i++) {
      const verdict = limiter.take([pro]);
      await store.answerAll();
      expect(await verdict).toMatchObject({allowed: true});
    }
    // From here on the store is slow.
    let asked: number | undefined;
    let atOnce = 0;
    for (; !(limiter.take([pro]) instanceof Promise); atOnce++) if (store.asked.length > 0) asked ??= atOnce;
    expect(store.asked.map(({claims}) => claims.map(({least}) => least))).toEqual([[0]]);
    expect(atOnce - asked!).toBeGreaterThanOrEqual(24);
    await store.answerAll();
  });

  test('double as they are used up, to a twentieth, and shrink with what is left of the window', async () => {
    const store = new SlowStore();
    const {limiter} = make(store);
    const pool = {id: 'tenant:pro', quota: {requestsPerMinute: 400, requestsPerDay: 1_000_000}};
    const blocks: number[] = [];
    for (let verdict; !verdict || verdict.allowed;) {
      const answer = limiter.take([pool]);
      const ofMinute = store.asked.flatMap(({claims}) => claims.filter((each) => each.window.startsWith('minute:')));
      blocks.push(...ofMinute.map(({want}) => want));
      await store.answerAll();
      verdict = await answer;
    }
    expect(blocks.slice(0, 4)).toEqual([1, 2, 4, 6]);
    expect(Math.max(...blocks)).toBe(12);
    expect(blocks.slice(-4)).toEqual([1, 1, 1, 1]);
  });

  test('who was busy in one minute goes on with half of its block in the next', () => {
    const store = new MemoryStore();
    const {limiter, time} = make(store);
    const pool = {id: 'tenant:pro', quota: {requestsPerMinute: 400, requestsPerDay: 1_000_000}};
    admitted(limiter, 100, pool);
    time.pass(60_000);
    take(limiter, pool);
    expect(400 - remaining(new Limiter({clock: new TrustedClock(time), store}).look([pool]))[0]!).toBe(20);
  });

  test('are given back at the end, so that no restart costs anything', async () => {
    const store = new MemoryStore();
    const {time} = make();
    for (let i = 0; i < 25; i++) {
      const limiter = new Limiter({clock: new TrustedClock(time), store});
      // Of a block of four: three are not used.
      expect(admitted(limiter, 4, acme)).toBe(4);
      await limiter.giveBack();
      time.pass(60_000);
    }
    expect(remaining(new Limiter({clock: new TrustedClock(time), store}).look([acme]))).toEqual([60, 900]);
  });

  test('are given back too where they were asked for when the end came', async () => {
    const store = new SlowStore();
    const {limiter} = make(store);
    const waits = limiter.take([acme]);
    const ended = limiter.giveBack();
    await store.answerAll();
    await Promise.all([waits, ended]);
    expect(store.memory.taken(`day:${Date.UTC(2026, 10, 23) / 1000}:${acme.id}`)).toBe(1);
  });

  test('of a pool that is forgotten are given back', () => {
    const store = new MemoryStore();
    const clock = new TrustedClock(new VirtualTime());
    const limiter = new Limiter({clock, store, atMost: 2});
    const pools = Array.from({length: 5}, (_, i): Pool => ({
      id: `tenant:${i}`,
      quota: {requestsPerMinute: 1000, requestsPerDay: 1000},
    }));
    admitted(limiter, 10, pools[0]!);
    for (const pool of pools.slice(1)) take(limiter, pool);
    expect(remaining(new Limiter({clock, store}).look([pools[0]!]))).toEqual([990, 990]);
  });

  test("many that wait share the store's answers, and no more than the limit are admitted", async () => {
    const store = new SlowStore();
    const {limiter} = make(store);
    const all = Promise.all(Array.from({length: 200}, () => limiter.take([acme])));
    await store.answerAll();
    expect((await all).filter((verdict) => verdict.allowed)).toHaveLength(60);
  });

  test('what a crash loses is at most a block of each window', async () => {
    const store = new MemoryStore();
    const {limiter, time} = make(store);
    expect(admitted(limiter, 20, acme)).toBe(20);
    const next = new Limiter({clock: new TrustedClock(time), store});
    const [minute, day] = remaining(next.look([acme]));
    expect({minute: 40 - minute! <= 3 && minute! <= 40, day: 980 - day! <= 50 && day! <= 980}).toEqual({
      minute: true,
      day: true,
    });
    expect(admitted(next, 100, acme)).toBe(minute);
  });

  test('a minute is not used up for a day that has nothing left', () => {
    const {limiter, store, time} = make();
    const pool = {id: 'tenant:acme', quota: {requestsPerMinute: 60, requestsPerDay: 10}};
    admitted(limiter, 10, pool);
    time.pass(60_000);
    const next = new Limiter({clock: new TrustedClock(time), store});
    expect(admitted(next, 10, pool)).toBe(0);
    expect(remaining(next.look([pool]))).toEqual([60, 0]);
  });
});

/** Two processes that share a backend. */
async function two(): Promise<{first: Limiter; second: Limiter; backend: FailingBackend}> {
  const backend = new FailingBackend();
  const clock = new TrustedClock(new VirtualTime());
  const [first, second] = await Promise.all(
    [1, 2].map(async () => {
      const store = new FallbackStore({backend, replicas: 2, timers: new VirtualClock()});
      await store.start();
      return new Limiter({clock, store});
    }),
  );
  return {first: first!, second: second!, backend};
}

describe('a look that asks the store', () => {
  test('says what another process has used, and charges nothing', async () => {
    const {first, second} = await two();
    for (let i = 0; i < 60; i++) expect(await first.take([acme])).toMatchObject({allowed: true});
    expect(remaining(second.look([acme]))).toEqual([60, 1000]);
    const [minute, day] = remaining(await second.lookUp([acme]));
    expect([minute, day! <= 940]).toEqual([0, true]);
    expect(remaining(await second.lookUp([acme]))).toEqual([minute, day]);
  });

  test('waits for the answer to a request that is under way, and takes nothing from that', async () => {
    const store = new SlowStore();
    const {limiter} = make(store);
    const [taken, seen] = [limiter.take([acme]), limiter.lookUp([acme])];
    await store.answerAll();
    expect([(await taken).allowed, remaining(await seen)]).toEqual([true, [59, 999]]);
  });

  test('says what is known where the store cannot be asked', async () => {
    const {first, backend} = await two();
    expect(await first.take([acme])).toMatchObject({allowed: true});
    backend.state = 'fails';
    // The half of this process, less what it reserved.
    expect((await first.lookUp([acme])).minuteRemaining).toBeLessThanOrEqual(30);
  });
});

describe('memory', () => {
  test('pools that nobody asks for are forgotten first, and what they used is not', () => {
    const store = new MemoryStore();
    const limiter = new Limiter({clock: new TrustedClock(new VirtualTime()), store, atMost: 10});
    expect(admitted(limiter, 30, acme)).toBe(30);
    for (let i = 0; i < 100; i++) take(limiter, {...acme, id: `tenant:t${i}`});
    expect(limiter.look([acme]).minuteRemaining).toBeLessThanOrEqual(30);
    const left = admitted(limiter, 100, acme);
    expect({atMost: left <= 30, lostABlockAtMost: left >= 27}).toEqual({atMost: true, lostABlockAtMost: true});
  });

  test('a store in memory forgets windows that have ended, and is bounded', () => {
    const store = new MemoryStore({atMost: 50});
    const {limiter, time} = make(store);
    for (let i = 0; i < 200; i++) take(limiter, {...acme, id: `tenant:t${i}`});
    expect({atMost: store.size <= 50, atLeastHalf: store.size >= 25}).toEqual({atMost: true, atLeastHalf: true});
    time.pass(25 * 3_600_000);
    take(limiter, acme);
    expect(store.size).toBe(2);
  });
});
