import {afterAll, afterEach, beforeAll, describe, expect, test} from '@jest/globals';
import {pino} from 'pino';
import {Registry} from 'prom-client';
import {type Limits, startLimits} from '../../operator/limits/limits.ts';
import type {Pool, QuotaVerdict} from '../../operator/limits/verdict.ts';
import {withFreshMinute} from '../support/fresh-minute.ts';
import {Redis} from '../support/redis.ts';

/* The headers that clients get, whichever of ten replicas answers. */

let redis: Redis;
let replicas: Limits[] = [];

beforeAll(async () => {
  redis = await Redis.start();
});

afterEach(async () => {
  for (const each of replicas) await each.stop();
});

afterAll(async () => {
  await redis.kill();
});

const count = 10;
const limit = 300;
const log = pino({level: 'silent'});

async function start(prefix: string): Promise<Pool[]> {
  const store = {kind: 'Valkey' as const, url: redis.url, replicas: count, prefix};
  replicas = await Promise.all(
    Array.from({length: count}, () => startLimits({store, registry: new Registry(), log, storeTimeoutMs: 60_000})),
  );
  return [{id: `tenant:${withFreshMinute(prefix)}`, quota: {requestsPerMinute: limit, requestsPerDay: 10_000}}];
}

/** A repeatable choice of replicas. */
function chooser(seed: number): () => Limits {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return replicas[Math.floor((state / 2 ** 32) * count)]!;
  };
}

/** `begun`: so many verdicts had been given when this one was asked for. */
type Seen = QuotaVerdict & {begun: number};

/** Sends one request. */
async function send(limits: Limits, pools: readonly Pool[], seen: Seen[]): Promise<void> {
  const begun = seen.length;
  const verdict = await limits.limiter.take(pools);
  seen.push({...verdict, begun});
}

/**
 * Of verdicts in the order in which they were given: by how much the requests said to remain exceed those admitted after the request
 * began, and how many of those that began after the first refusal were admitted.
 */
function judge(seen: readonly Seen[]): {tooMany: number; afterRefusal: number; admitted: number} {
  const before = [0];
  for (const {allowed} of seen) before.push(before.at(-1)! + Number(allowed));
  const admitted = before.at(-1)!;
  const excess = seen.map(
    ({allowed, minuteRemaining, begun}) => minuteRemaining - (admitted - before[begun]! - Number(allowed)),
  );
  const refused = seen.findIndex(({allowed}) => !allowed);
  return {
    tooMany: Math.max(0, ...excess),
    afterRefusal: seen.filter(({allowed, begun}) => allowed && begun > refused).length,
    admitted,
  };
}

const honest = {tooMany: 0, afterRefusal: 0, admitted: limit};

describe('ten replicas with a limit of 300 a minute', () => {
  test.each([1, 2, 3, 4])(
    'tell a client that sends one request after the other never more than it gets (seed %i)',
    async (seed) => {
      const pools = await start(`sequential-${seed}`);
      const choose = chooser(seed);
      const seen: Seen[] = [];
      for (let i = 0; i < 2 * limit; i++) await send(choose(), pools, seen);
      expect(judge(seen)).toEqual(honest);
    },
  );

  test.each([1, 2, 3, 4, 5, 6])('tell twenty clients at once never more than they get (seed %i)', async (seed) => {
    const pools = await start(`concurrent-${seed}`);
    const choose = chooser(seed);
    const seen: Seen[] = [];
    await Promise.all(
      Array.from({length: 20}, async () => {
        for (let i = 0; i < 40; i++) await send(choose(), pools, seen);
      }),
    );
    expect(judge(seen)).toEqual(honest);
  });
});
