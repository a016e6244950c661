/** How soon a status follows another one. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {Customer} from '../support/customer.ts';
import {RunningOperator} from '../support/operator.ts';
import {Platform} from '../support/platform.ts';

let platform: Platform;
let operator: RunningOperator;
beforeAll(async () => {
  platform = await Platform.start();
  operator = await RunningOperator.start(platform, {}, {pace: {retentionMs: 300_000}});
});
afterAll(async () => {
  await operator?.stop();
  await platform?.stop();
});

test('a status that was written stands for its time before another one follows', async () => {
  const customer = await Customer.create(platform);
  const www = customer.host('www');
  await customer.attach('web', www);
  const first = {[www]: 'NotAccepted ProjectNotFound'};
  expect(await operator.comesTo(() => customer.hosts('web'), first)).toEqual(first);
  await customer.deploy('web');
  // It is decided by then, and would be told.
  const next = {[www]: 'AwaitingVerification RecordMissing'};
  expect(await operator.comesTo(() => customer.hosts('web'), next)).toEqual(first);
});
