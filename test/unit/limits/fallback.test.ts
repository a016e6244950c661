import {access} from 'node:fs/promises';
import {fileURLToPath} from 'node:url';
import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {Bans, defaultBanRules} from '../../../operator/limits/bans.ts';
import {TrustedClock} from '../../../operator/limits/clock.ts';
import {FallbackStore} from '../../../operator/limits/fallback.ts';
import {Limiter} from '../../../operator/limits/limiter.ts';
import type {Pool} from '../../../operator/limits/verdict.ts';
import type {WindowRequest, WindowGrant} from '../../../operator/limits/store.ts';
import {VirtualClock} from '../../support/kube-clock.ts';
import {FailingBackend} from '../../support/limits-stores.ts';
import {noonMs, VirtualTime} from '../../support/limits-time.ts';

const endSeconds = noonMs / 1000 + 3600;
const claim = (want: number, limit = 100): WindowRequest => ({window: 'w', endSeconds, limit, want, least: 1});

interface Made {
  backend: FailingBackend;
  store: FallbackStore;
  timers: VirtualClock;
  told: string[];
  take: (want: number, limit?: number) => Promise<WindowGrant>;
}

async function make({backend = new FailingBackend(), replicas = 1} = {}): Promise<Made> {
  const timers = new VirtualClock();
  const told: string[] = [];
  const store = new FallbackStore({
    backend,
    replicas,
    timers,
    onDown: (error) => told.push(error.message),
    onUp: () => told.push('up'),
  });
  const started = store.start();
  await timers.advance(2000);
  await started;
  const take = async (want: number, limit?: number): Promise<WindowGrant> => {
    const grants = Promise.resolve(store.reserve([claim(want, limit)], noonMs));
    await timers.advance(2000);
    return (await grants)[0]!;
  };
  return {backend, store, timers, told, take};
}

describe('while the backend answers', () => {
  test('it counts', async () => {
    const {store, take, backend} = await make();
    expect(await take(30)).toEqual({granted: 30, taken: 30, returned: 0});
    expect(await take(90)).toEqual({granted: 70, taken: 100, returned: 0});
    expect({known: store.taken('w'), held: backend.memory.taken('w')}).toEqual({known: 100, held: 100});
  });

  test('what it held when it was opened is known without a question', async () => {
    const backend = new FailingBackend();
    backend.held = {windows: [{window: 'w', endSeconds, taken: 40, returned: 0}], bans: [], records: []};
    expect((await make({backend})).store.taken('w')).toBe(40);
  });

  test('a backend that has lost what it held is told', async () => {
    const {take} = await make();
    await take(30);
    const other = await make();
    Object.assign(other.backend, {held: {windows: [{window: 'w', endSeconds, taken: 30, returned: 0}], bans: []}});
    expect((await make({backend: other.backend})).store.taken('w')).toBe(30);
    const third = await make({backend: other.backend});
    expect(await third.take(100)).toEqual({granted: 70, taken: 100, returned: 0});
  });
});

const unused = (count: number) => [{window: 'w', endSeconds, count}];

describe('what is given back', () => {
  test('is told at the end', async () => {
    const {backend, store, take} = await make();
    await take(30);
    store.giveBack(unused(20));
    expect({here: store.taken('w'), there: backend.memory.taken('w')}).toEqual({here: 10, there: 30});
    await store.stop();
    expect(backend.memory.taken('w')).toBe(10);
  });

  test('is told with the next claim, and another process that knew of more finds it', async () => {
    const backend = new FailingBackend();
    const [one, two] = [await make({backend, replicas: 2}), await make({backend, replicas: 2})];
    await one.take(60);
    await two.take(40);
    one.store.giveBack(unused(10));
    expect(await one.take(1)).toEqual({granted: 1, taken: 101, returned: 10});
    expect(await two.take(20)).toEqual({granted: 9, taken: 110, returned: 10});
  });

  test('is told within a minute where nothing more is claimed of it', async () => {
    const {backend, store, timers, take} = await make();
    await take(30);
    store.giveBack(unused(30));
    void store.reserve([{...claim(1), window: 'another'}], noonMs + 61_000);
    await timers.advance(2000);
    expect(backend.memory.taken('w')).toBe(0);
  });

  test('is given back once, where an answer is lost on the way: too few, never too many', async () => {
    const {backend, store, timers, take} = await make();
    await take(30);
    store.giveBack(unused(10));
    backend.state = 'counts, and its answer is lost';
    await take(1);
    backend.state = 'works';
    await timers.advance(5000);
    expect(backend.memory.taken('w')).toBeGreaterThanOrEqual(21);
  });
});

const failures = [
  ['fails', 'the disk is full'],
  ['is silent', 'no answer within 2000 ms'],
  ['answers later', 'no answer within 2000 ms'],
] as const;

describe.each(failures)('a backend that %s', (state, message) => {
  test('fails no request: what is left is granted without it', async () => {
    const {backend, store, take, told} = await make();
    await take(30);
    backend.state = state;
    await expect(take(20)).resolves.toEqual({granted: 20, taken: 50, returned: 0, provisional: true});
    expect(await take(90)).toEqual({granted: 50, taken: 100, returned: 0, provisional: true});
    expect(await take(1)).toMatchObject({granted: 0, taken: 100, returned: 0});
    expect({told, down: store.isDown}).toEqual({told: ['up', message], down: true});
  });

  test('from the start fails no request either, and is tried until it is there', async () => {
    const backend = new FailingBackend();
    backend.state = state;
    const {store, timers, take, told} = await make({backend});
    expect({told, granted: (await take(25)).granted}).toEqual({told: [message], granted: 25});
    backend.state = 'works';
    backend.held = {windows: [{window: 'w', endSeconds, taken: 60, returned: 0}], bans: [], records: []};
    await timers.advance(10_000);
    expect({down: store.isDown, told, known: store.taken('w')}).toEqual({
      down: false,
      told: [message, 'up'],
      known: 85,
    });
  });

  test('is told what was granted without it as soon as it answers again', async () => {
    const {backend, store, timers, take, told} = await make();
    await take(30);
    backend.state = state;
    await take(20);
    await timers.advance(60_000);
    backend.state = 'works';
    await timers.advance(5000);
    expect({told, down: store.isDown}).toEqual({told: ['up', message, 'up'], down: false});
    expect(backend.memory.taken('w')).toBe(50);
    expect(await take(90)).toEqual({granted: 50, taken: 100, returned: 0});
  });

  test('keeps no ban from beginning, and is told of it later', async () => {
    const {backend, store, timers} = await make();
    backend.state = state;
    store.saveBan({hash: 'a', network: 'n', untilSeconds: endSeconds, times: 1});
    store.saveBan({hash: 'b', network: 'n', untilSeconds: endSeconds, times: 1});
    store.removeBan({hash: 'b', network: 'n'});
    await timers.advance(5000);
    expect(
      store.withChanges([{hash: 'b', network: 'n', untilSeconds: endSeconds, times: 1}]).map((ban) => ban.hash),
    ).toEqual(['a']);
    backend.state = 'works';
    await timers.advance(5000);
    expect({held: [...backend.bans.keys()], unsaved: store.withChanges([])}).toEqual({held: ['a n'], unsaved: []});
  });
});

test('a backend that is away for another reason than at first is told of again, once for each reason until it is back', async () => {
  const {backend, timers, take, told} = await make();
  for (const state of ['is silent', 'fails', 'is silent', 'fails', 'works', 'fails'] as const) {
    backend.state = state;
    await take(1);
    await timers.advance(5000);
  }
  const [silent, full] = ['no answer within 2000 ms', 'the disk is full'];
  expect(told).toEqual(['up', silent, full, 'up', full]);
});

describe('an answer that comes too late', () => {
  test('loses nothing: what it granted is what was granted without it', async () => {
    const {backend, timers, take} = await make();
    expect((await take(30)).granted).toBe(30);
    backend.state = 'answers later';
    expect(await take(20)).toEqual({granted: 20, taken: 50, returned: 0, provisional: true});
    expect(await take(10)).toEqual({granted: 10, taken: 60, returned: 0, provisional: true});
    backend.state = 'works';
    await timers.advance(5000);
    expect(backend.memory.taken('w')).toBe(60);
    expect(await take(90)).toEqual({granted: 40, taken: 100, returned: 0});
  });

  test('is waited for before the backend is told what was granted without it', async () => {
    const {backend, timers, take} = await make();
    backend.state = 'answers later';
    expect((await take(60)).granted).toBe(60);
    expect((await take(60)).granted).toBe(40);
    backend.state = 'works';
    await timers.advance(5000);
    expect(backend.memory.taken('w')).toBe(100);
  });

  test('and one that is lost counts as if it had granted: too few, never too many', async () => {
    const {backend, timers, take} = await make();
    backend.state = 'counts, and its answer is lost';
    expect((await take(20)).granted).toBe(20);
    backend.state = 'works';
    await timers.advance(5000);
    expect((await take(100)).granted).toBe(60);
  });
});

describe('several replicas without their backend', () => {
  test('grant their share each, of what was left', async () => {
    const backend = new FailingBackend();
    const [a, b] = [await make({backend, replicas: 2}), await make({backend, replicas: 2})];
    await a.take(10);
    await b.take(40);
    backend.state = 'fails';
    expect((await a.take(100)).granted).toBe(40);
    expect((await b.take(100)).granted).toBe(10);
  });

  test('have one each where the share is less than that, and none of a limit of 0', async () => {
    const backend = new FailingBackend();
    backend.state = 'fails';
    const {take} = await make({backend, replicas: 5});
    expect((await take(10, 0)).granted).toBe(0);
    expect((await take(10, 3)).granted).toBe(1);
  });

  test('a limiter that has used up its share asks again when the backend is back', async () => {
    const {backend, store, timers} = await make({replicas: 2});
    const limiter = new Limiter({clock: new TrustedClock(new VirtualTime()), store});
    const pool: Pool = {id: 'tenant:acme', quota: {requestsPerMinute: 60, requestsPerDay: 1000}};
    const admitted = async (): Promise<number> => {
      let count = 0;
      for (let i = 0; i < 100; i++) {
        const verdict = Promise.resolve(limiter.take([pool]));
        await timers.advance(0);
        if ((await verdict).allowed) count++;
      }
      return count;
    };
    backend.state = 'fails';
    expect(await admitted()).toBe(30);
    backend.state = 'works';
    await timers.advance(5000);
    expect(await admitted()).toBe(30);
  });
});

describe('whatever fails when', () => {
  const turns = fc.array(
    fc.record({
      state: fc.constantFrom(
        ...(['works', 'fails', 'is silent', 'answers later', 'counts, and its answer is lost'] as const),
      ),
      replica: fc.nat(1),
      want: fc.integer({min: 1, max: 30}),
      passMs: fc.nat(3000),
    }),
    {maxLength: 40},
  );

  test('one process never grants more than the limit', async () => {
    await fc.assert(
      fc.asyncProperty(turns, async (all) => {
        const {backend, timers, take} = await make();
        let granted = 0;
        for (const {state, want, passMs} of all) {
          backend.state = state;
          granted += (await take(want)).granted;
          await timers.advance(passMs);
        }
        expect(granted).toBeLessThanOrEqual(100);
      }),
      {numRuns: 50},
    );
  });

  test('one process grants the limit, to the one, where no answer is lost', async () => {
    await fc.assert(
      fc.asyncProperty(turns, async (all) => {
        const {backend, timers, take} = await make();
        let granted = 0;
        for (const {state, want, passMs} of all) {
          backend.state = ['works', 'fails', 'answers later'].includes(state) ? state : 'works';
          granted += (await take(want)).granted;
          await timers.advance(passMs);
        }
        backend.state = 'works';
        await timers.advance(10_000);
        granted += (await take(100)).granted;
        expect(granted).toBe(100);
        expect(backend.memory.taken('w')).toBe(100);
      }),
      {numRuns: 50},
    );
  });

  test('a replica that loses it has its share in all, or what it had before if that is more', async () => {
    await fc.assert(
      fc.asyncProperty(turns, async (all) => {
        const backend = new FailingBackend();
        const replicas = [await make({backend, replicas: 2}), await make({backend, replicas: 2})];
        const granted = [0, 0];
        for (const {replica, want} of all) granted[replica]! += (await replicas[replica]!.take(want)).granted;
        const before = [...granted];
        backend.state = 'fails';
        for (const {replica, want} of all) granted[replica]! += (await replicas[replica]!.take(want)).granted;
        for (const replica of [0, 1]) expect(granted[replica]!).toBeLessThanOrEqual(Math.max(50, before[replica]!));
      }),
      {numRuns: 50},
    );
  });
});

test('windows that have ended are forgotten', async () => {
  const {store, take} = await make();
  await take(10);
  await store.reserve([{...claim(1), window: 'later', endSeconds: endSeconds + 3600}], (endSeconds + 1) * 1000);
  expect({ended: store.taken('w'), open: store.taken('later')}).toEqual({ended: 0, open: 1});
});

/** Its answer comes from outside of the event loop, as that of a disk or a network does. */
class FileBackend extends FailingBackend {
  override async reserve(claims: readonly WindowRequest[], nowMs: number): Promise<WindowGrant[]> {
    await access(fileURLToPath(import.meta.url));
    return super.reserve(claims, nowMs);
  }
}

test('an answer that this process was too busy to read in time is read, and counts', async () => {
  const store = new FallbackStore({backend: new FileBackend(), timeoutMs: 1000});
  await store.start();
  const grants = store.reserve([claim(10)], noonMs);
  const busyUntil = performance.now() + 1200;
  while (performance.now() < busyUntil);
  expect(await grants).toEqual([{granted: 10, taken: 10, returned: 0}]);
  await store.stop();
});

test('a ban begins at once, whatever the backend does', async () => {
  const {backend, store} = await make();
  backend.state = 'is silent';
  const time = new VirtualTime();
  const bans = new Bans({clock: new TrustedClock(time), store, rules: {...defaultBanRules, strikes: 1}});
  const user = {hash: 'a', network: 'n'};
  for (let i = 0; i <= 120; i++) bans.refused(user, {minuteLimit: 1});
  expect(bans.until(user)).toBe(noonMs / 1000 + 900);
});
