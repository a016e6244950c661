/** Waiting for a record ends. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {eventually} from '../../cluster/cluster.ts';
import {hurried} from '../support/hurried.ts';
import {Tenant} from '../support/tenant.ts';

let tenant: Tenant;
beforeAll(async () => {
  await hurried();
  tenant = await Tenant.create('late');
});
afterAll(async () => {
  await tenant?.remove();
});

const pause = (ms: number) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

test('a record that never comes: VerificationExpired, nothing is checked any more, and Verify begins anew', async () => {
  await tenant.attach('late', tenant.host('late'));
  const domain = await tenant.reason('late', 'VerificationExpired');
  expect(domain.status?.conditions?.find((c) => c.type === 'Stalled')).toMatchObject({
    status: 'True',
    reason: 'VerificationExpired',
  });
  await tenant.record('late', tenant.proof);
  await pause(4000);
  expect((await tenant.get('late'))?.status?.hosts?.[0]?.reason).toBe('VerificationExpired');
  await eventually('asked for, it is checked again', async () => {
    await tenant.verify('late'); // One check each: on a busy machine its DNS may time out.
    await pause(3000);
    return (await tenant.get('late'))?.status?.hosts?.[0]?.reason !== 'VerificationExpired';
  });
  await tenant.wait('late', 'Ready');
});
