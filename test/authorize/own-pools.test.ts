/** Any Pod that reaches the authorizer can name any address: what an office has left elsewhere does not depend on it. */
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {ApiWorld} from '../support/api-role.ts';
import {replicaWithLedger, type Replica} from '../support/authorizers.ts';
import {withFreshMinuteOfAddress} from '../support/fresh-minute.ts';
import {ask} from '../support/http-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'doorplate-own-pools-'));
let world: ApiWorld;
let replica: Replica;
beforeAll(async () => {
  world = await ApiWorld.start();
  replica = await replicaWithLedger(folder, world);
  await replica.start();
});
afterAll(async () => {
  await replica?.signal('SIGKILL');
  await world?.stop();
  rmSync(folder, {recursive: true, force: true});
});

test('leaves an office its requests to the API, however often a Pod names the office’s address', async () => {
  const headers = {'x-forwarded-for': withFreshMinuteOfAddress('203.0.113.')};
  const statuses: number[] = [];
  for (let i = 0; i < 61; i++)
    statuses.push((await ask(replica.http, '/authorize/any/', {headers, key: 'wrong'})).status);
  expect([statuses[59], statuses[60]]).toEqual([401, 429]);
  expect(await ask(replica.api, '/v1/account', {headers})).toMatchObject({
    status: 401,
    headers: {'x-ratelimit-remaining': '59'},
  });
});
