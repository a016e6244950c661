import {beforeEach, describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import pino from 'pino';
import {Registry} from 'prom-client';
import {Elector, type ElectorOptions} from '../../../../operator/kube/leader/leader.ts';
import {kitMetrics} from '../../../../operator/kube/metrics.ts';
import {settled, VirtualClock} from '../../../support/kube-clock.ts';
import {LeaseServer, ProcessClock} from '../../../support/kube-lease.ts';

/** client-go's: 15 s, 10 s, 2 s. */
const [duration, deadline, retry] = [15_000, 10_000, 2000];

/** A process that may lead: its elector, and whatever else it does. */
class Process {
  readonly clock: ProcessClock;
  readonly elector: Elector;
  readonly registry = new Registry();
  readonly #asked = new AbortController();
  lost: string | undefined;

  constructor(world: VirtualClock, api: LeaseServer, instance: string, options: Partial<ElectorOptions> = {}) {
    this.clock = new ProcessClock(world);
    this.elector = new Elector({
      client: api.clientOf(this.clock),
      namespace: 'ns',
      name: 'the-lease',
      instance,
      metrics: kitMetrics(this.registry),
      log: pino({level: 'silent'}),
      clock: this.clock,
      now: () => new Date(Date.UTC(2026, 0, 1) + world.now()),
      ...options,
    });
    void this.elector.lost.then((error) => (this.lost = error.message));
    void this.elector.campaign(this.#asked.signal);
  }

  /** What a write asks before it goes out. */
  mayWrite(): boolean {
    try {
      this.elector.assertLeading();
      return true;
    } catch {
      return false;
    }
  }

  withdraw(): void {
    this.#asked.abort();
  }

  async metric(): Promise<unknown> {
    const {values} = await this.registry.getSingleMetric('leader_election_master_status')!.get();
    return values.map(({labels, value}) => [labels, value]);
  }
}

let world: VirtualClock;
let api: LeaseServer;
const start = (instance: string, options?: Partial<ElectorOptions>): Process =>
  new Process(world, api, instance, options);
const holder = (): string => api.lease?.spec?.holderIdentity ?? '';

/** Moves on in small steps until it is so, and says after how long. */
async function until(what: () => boolean, withinMs: number): Promise<number> {
  const since = world.now();
  while (!what()) {
    if (world.now() - since > withinMs) throw new Error(`not within ${withinMs} ms: ${String(what)}`);
    await world.advance(10);
    await settled();
  }
  return world.now() - since;
}

/** A process that leads, and one that would like to, both for a while. */
async function leaderAndCandidate(): Promise<{leader: Process; candidate: Process}> {
  const leader = start('a');
  await until(() => leader.mayWrite(), 100);
  const candidate = start('b');
  await world.advance(5000);
  return {leader, candidate};
}

beforeEach(() => {
  world = new VirtualClock();
  api = new LeaseServer(world);
});

describe('a candidate', () => {
  test('creates the lease when there is none, with six fractional digits in its times', async () => {
    const process = start('a');
    expect(await process.metric()).toEqual([[{name: 'the-lease'}, 0]]);
    await until(() => process.mayWrite(), 100);
    expect(api.lease!.spec).toEqual({
      holderIdentity: process.elector.identity,
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      acquireTime: expect.stringMatching(/^2026-01-01T00:00:00\.\d{6}Z$/),
      renewTime: expect.stringMatching(/^2026-01-01T00:00:00\.\d{6}Z$/),
    });
    expect(process.elector.identity).toMatch(/^a_[\da-f]{16}$/);
    expect(await process.metric()).toEqual([[{name: 'the-lease'}, 1]]);
  });

  test('never leads while another renews', async () => {
    const {leader, candidate} = await leaderAndCandidate();
    for (let i = 0; i < 200; i++) {
      await world.advance(1000);
      expect([leader.mayWrite(), candidate.mayWrite()]).toEqual([true, false]);
    }
  });

  test.each(['2001-01-01T00:00:00.000000Z', '2099-01-01T00:00:00.000000Z'])(
    'counts from when it saw the lease change, though it bears the time %s',
    async (time) => {
      const {leader, candidate} = await leaderAndCandidate();
      leader.clock.stop();
      api.set((lease) => (lease.spec!.renewTime = time));
      const after = await until(() => candidate.mayWrite(), 20_000);
      expect(after).toBeGreaterThanOrEqual(duration);
      expect(after).toBeLessThan(duration + retry);
    },
  );

  test('leads at most 16.1 s after a crash of the leader, whenever it is, and counts the transition', async () => {
    for (let since = 0; since < retry; since += 50) {
      world = new VirtualClock();
      api = new LeaseServer(world);
      const {leader, candidate} = await leaderAndCandidate();
      await world.advance(since);
      leader.clock.stop();
      expect(await until(() => candidate.mayWrite(), 20_000)).toBeLessThanOrEqual(16_100);
      expect(api.lease!.spec!.leaseTransitions).toBe(1);
    }
  });

  test('is not held up by a change of the lease that is no renewal', async () => {
    const {leader, candidate} = await leaderAndCandidate();
    leader.clock.stop();
    for (let i = 0; i < 17 && !candidate.mayWrite(); i++) {
      api.set((lease) => (lease.metadata.labels = {touched: String(i)}));
      await world.advance(1000);
    }
    expect(candidate.mayWrite()).toBe(true);
  });

  test('waits as long as the record says when its holder was given a longer duration', async () => {
    const leader = start('a', {times: {leaseDurationMs: 60_000, renewDeadlineMs: 40_000}});
    await until(() => leader.mayWrite(), 100);
    const candidate = start('b');
    await world.advance(5000);
    leader.clock.stop();
    expect(await until(() => candidate.mayWrite(), 70_000)).toBeGreaterThan(57_000);
  });

  test('of the same instance takes the lease at once: a container that was started again in its Pod', async () => {
    const before = start('pod-x');
    await until(() => before.mayWrite(), 100);
    before.clock.stop();
    const after = start('pod-x');
    expect(await until(() => after.mayWrite(), 1000)).toBeLessThan(100);
    const namesake = start('pod-xy');
    await world.advance(5000);
    expect(namesake.mayWrite()).toBe(false);
    // Were the first one still there, it would find out and end.
    before.clock.continue();
    expect(before.mayWrite() && before.lost === undefined).toBe(true);
    await world.advance(retry);
    expect(before.lost).toContain('holds the lease');
    expect(before.mayWrite()).toBe(false);
  });

  test('is one of ten that come at the same moment, and the others go on waiting', async () => {
    const all = Array.from({length: 10}, (_, i) => start(`p${i}`));
    await world.advance(30_000);
    expect(all.filter((process) => process.mayWrite())).toHaveLength(1);
    expect(all.every(({lost}) => lost === undefined)).toBe(true);
  });

  test('survives an API server that is away', async () => {
    api.mood = 'down';
    const process = start('a');
    await world.advance(60_000);
    expect(process.mayWrite()).toBe(false);
    expect(api.requests.length).toBeLessThan(121);
    api.mood = 'well';
    await until(() => process.mayWrite(), retry);
  });

  test('that is told to stop goes without a trace', async () => {
    const {candidate} = await leaderAndCandidate();
    candidate.withdraw();
    await settled();
    await candidate.elector.release();
    const {length} = api.requests;
    await world.advance(1900);
    expect(api.requests.slice(length).filter((verb) => verb === 'get')).toEqual([]);
  });
});

describe('a leader', () => {
  test('renews with one request a retry period', async () => {
    const process = start('a');
    await until(() => process.mayWrite(), 100);
    api.requests.length = 0;
    await world.advance(10 * (retry + 10));
    expect(api.requests).toEqual(Array.from({length: 10}, () => 'patch'));
  });

  test.each(['down', 'mute'] as const)(
    'that finds the API server %s stops writing at the renew deadline, before anybody else leads',
    async (mood) => {
      const {leader, candidate} = await leaderAndCandidate();
      api.mood = mood;
      await world.advance(deadline - retry - 100);
      expect(leader.mayWrite()).toBe(true);
      const after = await until(() => !leader.mayWrite(), deadline);
      expect(after).toBeLessThanOrEqual(retry + 200);
      await settled();
      expect(leader.lost).toContain('not renewed within the deadline');
      expect(await leader.metric()).toEqual([[{name: 'the-lease'}, 0]]);
      api.mood = 'well';
      await until(() => candidate.mayWrite(), 20_000);
      expect(leader.mayWrite()).toBe(false);
    },
  );

  test('survives an API server that is away for less than the deadline', async () => {
    const {leader} = await leaderAndCandidate();
    api.mood = 'down';
    await world.advance(deadline - retry - 500);
    api.mood = 'well';
    await world.advance(60_000);
    expect(leader.mayWrite()).toBe(true);
  });

  test('that was stopped past its deadline refuses the first write after it goes on, before any timer of its own', async () => {
    const {leader, candidate} = await leaderAndCandidate();
    leader.clock.stop();
    await until(() => candidate.mayWrite(), 20_000);
    // SIGCONT: the first thing that runs is a write, not a timer.
    expect(leader.mayWrite()).toBe(false);
    leader.clock.continue();
    await world.advance(60_000);
    expect([leader.mayWrite(), candidate.mayWrite()]).toEqual([false, true]);
    expect(leader.lost).toContain('was paused');
  });

  test('counts from when it asked: an answer that comes late gives it no more time', async () => {
    const {leader} = await leaderAndCandidate();
    api.requests.length = 0;
    api.latency = () => 1500;
    await until(() => api.requests.includes('patch'), retry + 10);
    const asked = world.now();
    await world.advance(3000);
    api.mood = 'down';
    // It asked once more and got no answer: what counts is when it asked before that.
    await until(() => !leader.mayWrite(), deadline);
    expect(world.now() - asked).toBeLessThanOrEqual(deadline + 10);
  });

  test('that was stopped for a moment goes on', async () => {
    const {leader} = await leaderAndCandidate();
    leader.clock.stop();
    await world.advance(deadline - retry - 100);
    expect(leader.mayWrite()).toBe(true);
    leader.clock.continue();
    await world.advance(60_000);
    expect(leader.mayWrite()).toBe(true);
  });

  test('whose renewal was done though its answer was lost goes on', async () => {
    const {leader} = await leaderAndCandidate();
    api.mood = 'mute';
    await world.advance(retry + 100);
    api.mood = 'well';
    await world.advance(60_000);
    expect(leader.mayWrite()).toBe(true);
  });

  test('whose lease was deleted or blanked takes it again', async () => {
    const {leader, candidate} = await leaderAndCandidate();
    candidate.withdraw();
    await world.advance(2000);
    api.lease = undefined;
    await world.advance(5000);
    expect(holder()).toBe(leader.elector.identity);
    api.set((lease) => (lease.spec!.holderIdentity = ''));
    await world.advance(5000);
    expect(holder()).toBe(leader.elector.identity);
    expect(leader.mayWrite()).toBe(true);
  });

  test('whose lease was given to another ends at its next renewal', async () => {
    const {leader} = await leaderAndCandidate();
    api.set((lease) => (lease.spec!.holderIdentity = 'somebody'));
    await world.advance(retry + 100);
    expect(leader.mayWrite()).toBe(false);
    expect(leader.lost).toContain('somebody holds the lease');
  });
});

describe('a release', () => {
  test('lets the next lead within the retry period, and the old one write no more', async () => {
    const {leader, candidate} = await leaderAndCandidate();
    const released = leader.elector.release();
    expect(leader.mayWrite()).toBe(false);
    const after = await until(() => candidate.mayWrite(), 3000);
    await released;
    expect(after).toBeLessThanOrEqual(retry);
    expect(holder()).toBe(candidate.elector.identity);
    await world.advance(60_000);
    expect(leader.lost).toBeUndefined();
  });

  test('during a renewal gives the lease back all the same', async () => {
    const {leader, candidate} = await leaderAndCandidate();
    candidate.withdraw();
    api.latency = () => 500;
    await until(() => api.requests.at(-1) === 'patch', 5000);
    const released = leader.elector.release();
    await world.advance(5000);
    await released;
    expect(holder()).toBe('');
  });

  test('takes nothing from another, and does not throw when the API server is away', async () => {
    const {leader} = await leaderAndCandidate();
    api.set((lease) => (lease.spec!.holderIdentity = 'somebody'));
    const released = leader.elector.release();
    await world.advance(5000);
    await released;
    expect(holder()).toBe('somebody');

    const other = start('c');
    api.lease = undefined;
    await until(() => other.mayWrite(), 5000);
    api.mood = 'mute';
    const late = other.elector.release();
    await world.advance(6000);
    await expect(late).resolves.toBeUndefined();
  });
});

test.each([{leaseDurationMs: 10_000}, {renewDeadlineMs: 2400}, {retryPeriodMs: 0}, {leaseDurationMs: Number.NaN}])(
  'times that can’t work are refused: %j',
  (times) => {
    expect(() => start('a', {times})).toThrow(RangeError);
  },
);

type Step =
  | {do: 'stop' | 'continue' | 'crash' | 'release'; who: number}
  | {do: 'wait'; ms: number}
  | {do: 'mood'; mood: LeaseServer['mood']};

const step: fc.Arbitrary<Step> = fc.oneof(
  {weight: 3, arbitrary: fc.record({do: fc.constantFrom('stop' as const, 'continue' as const), who: fc.nat(2)})},
  {weight: 1, arbitrary: fc.record({do: fc.constantFrom('crash' as const, 'release' as const), who: fc.nat(2)})},
  {weight: 6, arbitrary: fc.record({do: fc.constant('wait' as const), ms: fc.integer({min: 1, max: 12_000})})},
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('mood' as const),
      mood: fc.constantFrom('well' as const, 'well' as const, 'down' as const, 'mute' as const),
    }),
  },
);

test('over 300 random schedules of three processes that are stopped, killed and cut off, writes of two leaders never interleave', async () => {
  let handovers = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, {minLength: 10, maxLength: 40, size: 'max'}),
      fc.infiniteStream(fc.nat(300)),
      async (steps, latencies) => {
        world = new VirtualClock();
        api = new LeaseServer(world);
        api.latency = () => latencies.next().value!;
        const processes = [0, 1, 2].map((i) => start(`p${i}`));
        const alive = new Set(processes);
        /** Whose writes were sent, in order, without repetitions. */
        const writers: Process[] = [];
        const write = (): void => {
          for (const process of alive) {
            if (!process.clock.stopped && process.mayWrite() && writers.at(-1) !== process) writers.push(process);
          }
        };
        const wait = async (ms: number): Promise<void> => {
          for (let rest = ms; rest > 0; rest -= 250) {
            await world.advance(Math.min(rest, 250));
            write();
          }
        };
        for (const next of steps) {
          if (next.do === 'wait') await wait(next.ms);
          else if (next.do === 'mood') api.mood = next.mood;
          else {
            const process = processes[next.who]!;
            if (next.do === 'stop') process.clock.stop();
            else if (next.do === 'release') void process.elector.release();
            else if (next.do === 'crash') {
              process.clock.stop();
              alive.delete(process);
            } else if (alive.has(process)) {
              process.clock.continue();
              write();
            }
          }
        }
        handovers += Math.max(writers.length - 1, 0);
        expect(new Set(writers).size).toBe(writers.length);
      },
    ),
    {numRuns: 300},
  );
  console.log(`${handovers} handovers`);
  expect(handovers).toBeGreaterThan(50);
});
