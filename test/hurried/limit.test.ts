/** Rule 8: a limit that becomes smaller, on a platform whose grace time is short. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {acmeRoot, apply, eventually, fetchEdge, kubectl} from '../../cluster/cluster.ts';
import {hurried} from '../support/hurried.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient} from '../support/visitor.ts';

let tenant: Tenant;
beforeAll(async () => {
  await hurried();
  tenant = await Tenant.create('limit');
});
afterAll(async () => {
  await tenant?.remove();
  if (tenant) await kubectl(['delete', 'plan', `one-${tenant.namespace}`, '--ignore-not-found']);
});

test("a hostname over the plan's limit ends alone: the older hostname is served as before", async () => {
  const plan = `one-${tenant.namespace}`;
  const [www, old] = [tenant.host('www'), tenant.host('old')];
  await tenant.records({www: tenant.proof, old: tenant.proof});
  await tenant.attach('site', www, [{from: old}]);
  await tenant.wait('site', 'Ready');
  const visitor = await constantClient([www], await acmeRoot(), {everyMs: 100});
  const spec = {
    rateLimit: {requestsPerMinute: 1, requestsPerDay: 1},
    customDomains: {allowed: true, maxHostnamesPerProject: 1},
  };
  await apply([{apiVersion: 'doorplate.dev/v1alpha1', kind: 'Plan', metadata: {name: plan}, spec}]);
  await tenant.onPlan(plan);
  await tenant.hosts('site', [`${www} Live Serving`, `${old} Live HostnameLimitReached`]);
  await tenant.hosts('site', [`${www} Live Serving`, `${old} NotAccepted HostnameLimitReached`]);
  await eventually('the redirect is gone', async () => (await fetchEdge(`https://${old}/`)).status === 404);
  expect((await visitor.stop()).failed).toEqual([]);
});
