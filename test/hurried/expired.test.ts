/** Waiting for a record ends. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {eventually} from '../../cluster/cluster.ts';
import {checksOf, hurried} from '../support/hurried.ts';
import {statusesOf} from '../support/requests.ts';
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

test('a record that never comes: nothing is said twice; VerificationExpired, nothing is checked any more, and Verify begins anew', async () => {
  const began = new Date();
  await tenant.attach('late', tenant.host('late'));
  const domain = await tenant.reason('late', 'VerificationExpired');
  expect(domain.status?.conditions?.find((c) => c.type === 'Stalled')).toMatchObject({
    status: 'True',
    reason: 'VerificationExpired',
  });
  // It was asked for every two seconds, and written when there was something new to say.
  expect((await checksOf(tenant.host('late'), began)).length).toBeGreaterThan(0);
  const said = (await statusesOf(`${tenant.namespace}/late`, began)).map(
    ({status: {hosts, conditions}}) =>
      `${hosts?.[0]?.reason} ${conditions?.some((c) => c.type === 'Stalled') ? 'Stalled' : 'Reconciling'}`,
  );
  // On a busy machine its DNS may time out.
  const known = said.filter((s) => !/^(Authoritative|Resolver)/.test(s));
  expect(known.slice(-2)).toEqual(['RecordMissing Stalled', 'VerificationExpired Stalled']);
  expect(said.filter((s, i) => s === said[i - 1])).toEqual([]);
  await tenant.record('late', tenant.proof);
  const since = new Date();
  await pause(4000);
  expect(await checksOf(tenant.host('late'), since)).toEqual([]);
  expect((await tenant.get('late'))?.status?.hosts?.[0]?.reason).toBe('VerificationExpired');
  await eventually('asked for, it is checked again', async () => {
    await tenant.verify('late'); // One check each.
    await pause(3000);
    return (await tenant.get('late'))?.status?.hosts?.[0]?.reason !== 'VerificationExpired';
  });
  await tenant.wait('late', 'Ready');
});
