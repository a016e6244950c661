/**
 * Requests at ten times the limit of 600 a minute, for more than three whole minutes: exactly as many are admitted as the plan has.
 * `make load` sends 100,000, at a limit of 3,000.
 */
import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {Pool} from 'undici';
import {ApiWorld} from '../support/api-role.ts';
import {withMinuteToCome} from '../support/fresh-minute.ts';

const requests = Number(process.env.REQUESTS ?? 20_000);
/** So the requests take 200 s. */
const perMinute = (requests * 3) / 100;
/** Ten times the limit. */
const perSecond = (perMinute * 10) / 60;

let world: ApiWorld;
beforeAll(async () => {
  world = await ApiWorld.start({bans: {enabled: false}});
});
afterAll(async () => {
  await world?.stop();
});

interface Seen {
  status: number;
  limit: number;
  remaining: number;
  reset: number;
  retryAfter: number | undefined;
  atSeconds: number;
  complete: boolean;
}

async function send(pool: Pool, key: string): Promise<Seen> {
  const {
    statusCode: status,
    headers,
    body,
  } = await pool.request({path: '/v1/projects', method: 'GET', headers: {authorization: `Bearer ${key}`}});
  await body.dump();
  const number = (name: string): number => Number(headers[name]);
  return {
    status,
    limit: number('x-ratelimit-limit'),
    remaining: number('x-ratelimit-remaining'),
    reset: number('x-ratelimit-reset'),
    retryAfter: headers['retry-after'] === undefined ? undefined : number('retry-after'),
    atSeconds: Date.now() / 1000,
    complete:
      headers.ratelimit !== undefined &&
      headers['ratelimit-policy'] === `"plan-minute";q=${perMinute};w=60, "plan-day";q=1000000;w=86400`,
  };
}

/** Sends them all, in step with the clock. */
async function sendAll(key: string): Promise<Seen[]> {
  const pool = new Pool(`http://127.0.0.1:${world.port}`, {connections: 32});
  const seen: Seen[] = [];
  const began = performance.now();
  let sent = 0;
  const sender = async (): Promise<void> => {
    while (sent < requests) {
      const earlyMs = began + (sent++ / perSecond) * 1000 - performance.now();
      if (earlyMs > 0) await sleep(earlyMs);
      seen.push(await send(pool, key));
    }
  };
  await Promise.all(Array.from({length: 32}, sender));
  await pool.close();
  return seen;
}

test('what is admitted is the limit, and every single answer tells what is left', async () => {
  const tenant = withMinuteToCome('busy');
  await world.tenant(tenant, 'huge', {requestsPerMinute: perMinute, requestsPerDay: 1_000_000});
  const key = await world.key(tenant, 'ci');
  const seen = await sendAll(key);
  expect(seen.filter((s) => ![200, 429].includes(s.status) || !s.complete || s.limit !== perMinute)).toEqual([]);
  expect(
    seen.filter(
      (s) =>
        s.status === 429 &&
        (s.remaining !== 0 || s.retryAfter === undefined || s.atSeconds + s.retryAfter < s.reset - 2),
    ),
  ).toEqual([]);

  const windows = [...Map.groupBy(seen, (s) => s.reset)].toSorted(([a], [b]) => a - b);
  // The first and the last are cut by the test's own beginning and end.
  const whole = windows
    .slice(1, -1)
    .map(([, answers]) => ({of: answers.length, admitted: answers.filter((a) => a.status === 200)}));
  const told = whole.map(({of, admitted}) => `${admitted.length} of ${of}`).join(', ');
  console.log(`${seen.length} requests, ${windows.length} minutes, admitted in the whole ones: ${told}`);
  // A starved machine sends less than the limit in a minute: then nothing is refused.
  const used = whole.filter(({of, admitted}) => admitted.length < of);
  expect(used.length).toBeGreaterThanOrEqual(3);
  expect(used.map(({admitted}) => admitted.length)).toEqual(used.map(() => perMinute));
  // Each number is told once.
  for (const {admitted} of used) expect(new Set(admitted.map((a) => a.remaining)).size).toBe(perMinute);
});
