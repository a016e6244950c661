/** Rule 8, to its end: a platform whose grace time is short. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {certificates, ingresses} from '../../operator/resources/resources.ts';
import {acmeRoot, eventually, fetchEdge, sh} from '../../cluster/cluster.ts';
import {hurried} from '../support/hurried.ts';
import {deletions, statusesOf} from '../support/requests.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient} from '../support/visitor.ts';

let tenant: Tenant;
beforeAll(async () => {
  await hurried();
  tenant = await Tenant.create('grace');
});
afterAll(async () => {
  await tenant?.remove();
});

test('a downgrade that is not put right: served until servedUntil, then routes and certificates go; an upgrade brings it back by a new proof', async () => {
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  await tenant.records({www: tenant.proof, old: tenant.proof});
  await tenant.attach('site', www, [{from: old}]);
  await tenant.wait('site', 'Ready');
  const [ca, began] = [await acmeRoot(), new Date()];
  const uid = (await tenant.get('site'))?.metadata.uid ?? '';
  const children = await tenant.children(uid, certificates, ingresses);
  expect(children).toHaveLength(4);
  const visitor = await constantClient([www, old], ca, {everyMs: 100});

  await tenant.onPlan('free');
  const served = await tenant.hosts('site', [`${www} Live PlanUpgradeRequired`, `${old} Live PlanUpgradeRequired`]);
  const untils = served.status?.hosts?.map((h) => h.servedUntil);
  const until = Date.parse(untils?.[0] ?? '');
  // Another process knows it too, by status.
  await sh('cluster/ctl.sh', ['kill-container', 'doorplate-system', 'app.kubernetes.io/component=operator']);
  const gone = await tenant.hosts('site', [
    `${www} NotAccepted PlanUpgradeRequired`,
    `${old} NotAccepted PlanUpgradeRequired`,
  ]);
  const {failed, lastAnswered} = await visitor.stop();

  // Nothing was taken away before its time: whatever a request met that was under way at that moment.
  const removed = await deletions(children, began);
  expect(new Set(removed.map((r) => r.key))).toEqual(new Set(children));
  expect(removed.filter((r) => r.at < until)).toEqual([]);
  const said = (await statusesOf(`${tenant.namespace}/site`, began)).filter(
    (s) => s.at < until && s.status.hosts?.[0]?.servedUntil !== undefined,
  );
  expect(said.length).toBeGreaterThan(0);
  expect(
    said.filter(({status: {hosts}}) => hosts?.some((h, i) => h.phase !== 'Live' || h.servedUntil !== untils?.[i])),
  ).toEqual([]);
  // And it was served.
  expect(failed.filter((f) => f.ended < until)).toEqual([]);
  expect([...lastAnswered].filter(([, at]) => until - at > 15_000)).toEqual([]);

  expect(gone.status).toMatchObject({phase: 'NotAccepted', hostsLive: '0/2', dnsRecords: []});
  expect(gone.status?.conditions?.map((c) => `${c.type}=${c.status}`)).toEqual([
    'Accepted=False',
    'Verified=False',
    'CertificateReady=False',
    'RoutesReady=False',
    'Live=False',
    'Ready=False',
    'Stalled=True',
  ]);
  await eventually(
    'nothing of it is left',
    async () => (await tenant.children(uid, certificates, ingresses)).length === 0,
  );
  await eventually('the edge serves neither', async () =>
    (await Promise.all([www, old].map((h) => fetchEdge(`https://${h}/`)))).every((r) => r.status === 404),
  );
  await eventually('its status says that they are gone', async () =>
    (await tenant.get('site'))?.status?.hosts?.every((h) => h.certificate === undefined),
  );
  // The object stands, and nothing is written any more.
  const {resourceVersion} = (await tenant.get('site'))!.metadata;
  await new Promise((resolve) => {
    setTimeout(resolve, 3000);
  });
  expect((await tenant.get('site'))?.metadata.resourceVersion).toBe(resourceVersion);

  await tenant.onPlan('pro');
  await tenant.wait('site', 'Ready');
  await eventually('it is served', async () => (await fetchEdge(`https://${www}/`, {ca})).status === 200);
});
