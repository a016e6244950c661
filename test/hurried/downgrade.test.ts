/** Rule 8, to its end: a platform whose grace time is short. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {certificates, ingresses} from '../../operator/controllers/resources.ts';
import {acmeRoot, eventually, fetchEdge, kubectl, sh} from '../../cluster/cluster.ts';
import {hurried} from '../support/hurried.ts';
import {Tenant} from '../support/tenant.ts';

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
  const ca = await acmeRoot();
  const uid = (await tenant.get('site'))?.metadata.uid ?? '';

  await tenant.onPlan('free');
  const served = await tenant.hosts('site', [`${www} Live PlanUpgradeRequired`, `${old} Live PlanUpgradeRequired`]);
  const until = Date.parse(served.status?.hosts?.[0]?.servedUntil ?? '');
  // Another process knows it too, by status.
  await sh('cluster/ctl.sh', ['kill-container', 'doorplate-system', 'app.kubernetes.io/component=operator']);
  let last = 0;
  for (;;) {
    const asked = Date.now();
    const [domain, ...replies] = await Promise.all([
      tenant.get('site'),
      fetchEdge(`https://${www}/`, {ca}),
      fetchEdge(`https://${old}/`, {ca}),
    ]);
    if (Date.now() >= until) break;
    expect(replies.map((r) => r.status)).toEqual([200, 301]);
    expect(domain?.status?.hosts?.map((h) => h.servedUntil)).toEqual(served.status?.hosts?.map((h) => h.servedUntil));
    last = asked;
  }
  expect(until - last).toBeLessThan(10_000);
  const gone = await tenant.hosts('site', [
    `${www} NotAccepted PlanUpgradeRequired`,
    `${old} NotAccepted PlanUpgradeRequired`,
  ]);
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

test('what is struck by the limit ends alone: the older hostname is served as ever', async () => {
  const name = `one-${tenant.namespace}`;
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  const spec = {
    rateLimit: {requestsPerMinute: 1, requestsPerDay: 1},
    customDomains: {allowed: true, maxHostnamesPerProject: 1},
  };
  await kubectl(['apply', '--server-side', '-f', '-'], {
    input: JSON.stringify({apiVersion: 'doorplate.dev/v1alpha1', kind: 'Plan', metadata: {name}, spec}),
  });
  await tenant.onPlan(name);
  await tenant.hosts('site', [`${www} Live Serving`, `${old} Live HostnameLimitReached`]);
  await tenant.hosts('site', [`${www} Live Serving`, `${old} NotAccepted HostnameLimitReached`]);
  await eventually('the redirect is gone', async () => (await fetchEdge(`https://${old}/`)).status === 404);
  expect((await fetchEdge(`https://${www}/`, {ca: await acmeRoot()})).status).toBe(200);
  await kubectl(['delete', 'plan', name]);
});
