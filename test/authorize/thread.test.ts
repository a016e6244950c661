/** The API and the authorizer are two threads with one ledger, one pool, one list of bans and two event loops. */
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {ApiWorld} from '../support/api-role.ts';
import {replicaWithLedger, type Replica} from '../support/authorizers.ts';
import {withFreshMinute} from '../support/fresh-minute.ts';
import {type Answer, ask} from '../support/http-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'doorplate-thread-'));
let world: ApiWorld;
let replica: Replica;
beforeAll(async () => {
  world = await ApiWorld.start();
  replica = await replicaWithLedger(folder, world, {bans: {enabled: true, strikes: 1}});
  await replica.start();
});
afterAll(async () => {
  await replica?.signal('SIGKILL');
  await world?.stop();
  rmSync(folder, {recursive: true, force: true});
});

const api = (key: string): Promise<Answer> => ask(replica.api, '/v1/projects', {key});
const authorizer = (key: string): Promise<Answer> => ask(replica.http, '/authorize/any/', {key});
const remaining = ({headers}: Answer): number => Number(headers['x-ratelimit-remaining']);

/** A key of a new tenant on the plan `free`, 60 requests a minute, known to both threads; 59 requests are left. */
async function freshKey(prefix: string): Promise<string> {
  const name = withFreshMinute(prefix);
  await world.tenant(name, 'free');
  const key = await world.key(name, 'ci');
  // Reading the account uses no quota. The authorizer charges the plan once, as soon as it knows the key.
  while ((await ask(replica.api, '/v1/account', {key})).status === 401);
  while ((await authorizer(key)).status === 401);
  return key;
}

test('a plan is one pool for both: each admits what the other has left, and each tells it', async () => {
  const key = await freshKey('one-pool');
  const told: number[] = [];
  for (let i = 0; i < 59; i++) {
    const answer = await (i % 2 === 0 ? api : authorizer)(key);
    expect(answer.status).toBe(200);
    told.push(remaining(answer));
  }
  expect(told).toEqual(Array.from({length: 59}, (_, i) => 58 - i));
  expect([(await api(key)).status, (await authorizer(key)).status]).toEqual([429, 429]);
});

test('a plan is one pool for both, whatever comes at once', async () => {
  const key = await freshKey('at-once');
  const answers = await Promise.all(Array.from({length: 120}, (_, i) => (i % 2 === 0 ? api : authorizer)(key)));
  expect(answers.filter(({status}) => status === 200)).toHaveLength(59);
});

test('while the API’s event loop is blocked for 2 s, no decision waits for it', async () => {
  await world.tenant('calm', 'huge');
  const key = await world.key('calm', 'ci');
  while ((await authorizer(key)).status === 401);
  await replica.block();
  let endedAt = Infinity;
  const stalled = async (): Promise<number> => {
    const sent = performance.now();
    await api(key);
    endedAt = performance.now();
    return endedAt - sent;
  };
  const decide = async (): Promise<number[]> => {
    const times: number[] = [];
    for (;;) {
      const sent = performance.now();
      const {status} = await authorizer(key);
      if (performance.now() > endedAt) return times;
      expect(status).toBe(200);
      times.push(performance.now() - sent);
    }
  };
  const [blockedMs, times] = await Promise.all([stalled(), decide()]);
  const slowest = Math.max(...times);
  console.log(`${times.length} decisions while the API was blocked, the slowest took ${Math.round(slowest)} ms`);
  expect(blockedMs).toBeGreaterThan(1500);
  expect(times.length).toBeGreaterThan(20);
  expect(slowest).toBeLessThan(1000);
});

test.each([
  ['authorizer', authorizer, api],
  ['API', api, authorizer],
] as const)('a ban that begins at the %s is in force at the other', async (where, first, other) => {
  const key = await freshKey(`banned-${where.toLowerCase()}`);
  // 60 are admitted; the strike is the 121st refusal.
  const answers = await Promise.all(Array.from({length: 200}, () => first(key)));
  expect(answers.filter(({status}) => status === 200)).toHaveLength(59);
  for (const answer of [await first(key), await other(key)])
    expect(answer).toMatchObject({status: 429, body: {type: 'https://doorplate.dev/problems/key-banned'}});
});

test('a stop gives back what is reserved: after it exactly what was used is used', async () => {
  const name = withFreshMinute('stopped');
  await world.tenant(name, 'huge');
  const key = await world.key(name, 'ci');
  while ((await authorizer(key)).status === 401);
  for (let i = 0; i < 99; i++) expect((await (i % 2 === 0 ? api : authorizer)(key)).status).toBe(200);
  await replica.signal('SIGTERM');
  await replica.start();
  // The request for the account itself uses none.
  const {body} = await ask(replica.api, '/v1/account', {key});
  expect(body.usage.day).toMatchObject({used: 100});
});
