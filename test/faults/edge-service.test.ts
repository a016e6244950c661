/** An edge that only the status of its Service tells, as clouds do, and whose address changes while customers add their domains. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {acmeRoot, api, apply, env, kubectl} from '../../cluster/cluster.ts';
import {services} from '../../operator/controllers/resources.ts';
import {withEdgeByService} from '../support/edges.ts';
import {ordersFor} from '../support/issuances.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient} from '../support/visitor.ts';

/** In front of the cluster's Traefik. Its ClusterIP leads there, too: another address of the same edge. */
const loadBalancer = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {namespace: 'traefik', name: 'edge'},
  spec: {
    type: 'LoadBalancer',
    selector: {app: 'traefik'},
    ports: [
      {name: 'https', port: 443},
      {name: 'http', port: 80},
    ],
  },
};

/** What the cloud's controller writes. */
const give = (ip: string): Promise<unknown> =>
  api().patch(
    services,
    'traefik/edge',
    {status: {loadBalancer: {ingress: [{ip}]}}},
    {
      type: 'merge',
      subresource: 'status',
    },
  );

const tenants: Tenant[] = [];
beforeAll(async () => {
  await withEdgeByService();
  await apply([loadBalancer]);
});
afterAll(async () => {
  for (const tenant of tenants) await tenant.remove();
  await kubectl(['delete', 'service', 'edge', '-n', 'traefik', '--ignore-not-found']);
});

/** A customer's apex with this address and the token. */
async function apexAt(ip: string): Promise<Tenant> {
  const tenant = await Tenant.create('lb');
  tenants.push(tenant);
  await tenant.records({'@': `IN A ${ip}`, '_doorplate-challenge': `IN TXT "${tenant.token(tenant.zone)}"`});
  await tenant.attach('site', tenant.zone);
  return tenant;
}

const isLive = (tenant: Tenant): Promise<unknown> => tenant.hosts('site', [`${tenant.zone} Live Serving`]);

test('who adds an apex needs the address that the Service has by then; what was Live before is served on, and nothing is ordered twice', async () => {
  const began = new Date();
  const [earlier, later] = [env().nodeIp, (await api().get(services, 'traefik/edge'))?.spec?.clusterIP ?? ''];
  await give(earlier);
  const first = await apexAt(earlier);
  await isLive(first);
  const client = await constantClient([first.zone], await acmeRoot());
  const between = await apexAt(later);
  await between.reason('site', 'ConflictingA');
  await give(later);
  await between.verify('site');
  await isLive(between);
  const after = await apexAt(later);
  await isLive(after);
  await isLive(first);
  const {requests, failed} = await client.stop();
  console.log(`${requests} requests, ${failed.length} failed`);
  expect(failed).toEqual([]);
  const zones = [first, between, after].map(({zone}) => zone);
  expect((await ordersFor(zones, began)).caused.toSorted()).toEqual(zones.toSorted());
});
