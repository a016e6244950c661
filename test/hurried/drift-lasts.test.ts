/** Rule 3: a record that goes, by the word of its servers, and does not come back in time. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {certificates, ingresses} from '../../operator/resources/resources.ts';
import {acmeRoot, eventually, fetchEdge, kubectl} from '../../cluster/cluster.ts';
import {hurried} from '../support/hurried.ts';
import {deletions} from '../support/requests.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient} from '../support/visitor.ts';

let tenant: Tenant;
beforeAll(async () => {
  await hurried();
  tenant = await Tenant.create('drifts');
});
afterAll(async () => {
  await tenant?.remove();
});

test('NXDOMAIN that lasts: after the grace time routes and certificate go and the claim stays; put right, it is Live again', async () => {
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  await tenant.records({www: tenant.proof, old: tenant.proof});
  await tenant.attach('site', www, [{from: old}]);
  await tenant.wait('site', 'Ready');
  const [ca, began] = [await acmeRoot(), new Date()];
  const uid = (await tenant.get('site'))?.metadata.uid ?? '';
  // Those of the primary; its redirect source drifts by itself alone.
  const children = (await tenant.children(uid, certificates, ingresses)).filter((key) =>
    key.startsWith(`${tenant.namespace}/`),
  );
  expect(children).toHaveLength(2);
  const visitor = await constantClient([www], ca, {everyMs: 100});
  await tenant.record('www', undefined);
  const drifted = await tenant.hosts('site', [`${www} Live DNSDrifted`, `${old} Live Redirecting`]);
  const until = Date.parse(drifted.status?.hosts?.[0]?.servedUntil ?? '');
  await tenant.hosts('site', [`${www} AwaitingVerification RecordMissing`, `${old} Live Redirecting`]);
  const {failed, lastAnswered} = await visitor.stop();
  // Nothing was taken away before its time: whatever a request met that was under way at that moment. And it was served.
  const removed = await deletions(children, began);
  expect(new Set(removed.map((r) => r.key))).toEqual(new Set(children));
  expect(removed.filter((r) => r.at < until)).toEqual([]);
  expect(failed.filter((f) => f.ended < until)).toEqual([]);
  expect([...lastAnswered].filter(([, at]) => until - at > 15_000)).toEqual([]);
  await eventually('it is served no more', async () => (await fetchEdge(`https://${www}/`)).status === 404);
  expect((await tenant.children(uid, certificates, ingresses)).filter((key) => children.includes(key))).toEqual([]);
  expect(
    (
      await kubectl(['get', 'domainclaim', www, '-o', 'jsonpath={.status.holder.uid} {.status.quarantinedUntil}'])
    ).trim(),
  ).toBe(uid);
  await tenant.record('www', tenant.proof);
  await tenant.wait('site', 'Ready');
});
