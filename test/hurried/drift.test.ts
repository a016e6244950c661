/** Rule 3: a record that goes, by the word of its servers, and comes back in time. drift-lasts.test.ts: it does not. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {acmeRoot, eventually, kubectl, patienceMs} from '../../cluster/cluster.ts';
import {hurried} from '../support/hurried.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient} from '../support/visitor.ts';

let tenant: Tenant;
let ca: string;
beforeAll(async () => {
  await hurried();
  [tenant, ca] = [await Tenant.create('drift'), await acmeRoot()];
});
afterAll(async () => {
  await tenant?.remove();
});

test('NXDOMAIN: degraded only after the confirmations, served for the grace time; put right in time, it leaves no trace', async () => {
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  await tenant.records({www: tenant.proof, old: tenant.proof});
  await tenant.attach('site', www, [{from: old}]);
  await tenant.wait('site', 'Ready');
  const before = (await tenant.get('site'))!;
  const visitor = await constantClient([www, old], ca, {everyMs: 100});
  const began = Date.now();
  await tenant.record('www', undefined);
  const drifted = await eventually(
    'its object is written',
    async () => {
      const now = await tenant.get('site');
      return now?.metadata.resourceVersion !== before.metadata.resourceVersion && now;
    },
    patienceMs,
    50,
  );
  console.log(
    `degraded ${((Date.now() - began) / 1000).toFixed(1)} s after the record went (confirmations 1, 2, 4 and 6 s)`,
  );
  expect(drifted.status?.hosts?.map((h) => `${h.hostname} ${h.phase} ${h.reason}`)).toEqual([
    `${www} Live DNSDrifted`,
    `${old} Live Redirecting`,
  ]);
  const negativeSince = await kubectl(['get', 'domainclaim', www, '-o', 'jsonpath={.status.negativeSince}']);
  expect(Date.parse(drifted.status?.hosts?.[0]?.since ?? '') - Date.parse(negativeSince)).toBeGreaterThanOrEqual(6000);
  const conditions = Object.fromEntries((drifted.status?.conditions ?? []).map((c) => [c.type, c.status]));
  expect(conditions).toMatchObject({Accepted: 'True', Verified: 'False', Live: 'True', Ready: 'True'});
  expect(drifted.status?.dnsRecords?.[0]).toMatchObject({hostname: www, state: 'Missing'});
  await tenant.record('www', tenant.proof);
  const after = await tenant.hosts('site', [`${www} Live Serving`, `${old} Live Redirecting`]);
  expect((await visitor.stop()).failed).toEqual([]);
  const timeless = (domain: typeof before) => domain.status?.hosts?.map((h) => ({...h, since: ''}));
  expect(timeless(after)).toEqual(timeless(before));
  expect(await kubectl(['get', 'domainclaim', www, '-o', 'jsonpath={.status.negativeSince}'])).toBe('');
});
