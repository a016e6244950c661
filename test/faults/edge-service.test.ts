/** An edge that only the status of its Service tells, as clouds do, and whose address changes while customers add their domains. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {acmeRoot, api, apply, env, kubectl} from '../../cluster/cluster.ts';
import {services} from '../../operator/resources/resources.ts';
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

let tenants: Tenant[] = [];
beforeAll(async () => {
  await withEdgeByService();
  await apply([loadBalancer]);
  tenants = await Promise.all([1, 2, 3].map(() => Tenant.create('lb')));
});
afterAll(async () => {
  await Promise.all(tenants.map((tenant) => tenant.remove()));
  await kubectl(['delete', 'service', 'edge', '-n', 'traefik', '--ignore-not-found']);
});

/** The customer adds their apex, with this address and the token. */
async function addApex(tenant: Tenant, ip: string): Promise<void> {
  await tenant.records({'@': `IN A ${ip}`, '_doorplate-challenge': `IN TXT "${tenant.token(tenant.zone)}"`});
  await tenant.attach('site', tenant.zone);
}

const isLive = (tenant: Tenant): Promise<unknown> => tenant.hosts('site', [`${tenant.zone} Live Serving`]);

test('who adds an apex needs the address that the Service has by then; what was Live before is served on, and nothing is ordered twice', async () => {
  const began = new Date();
  const [first, between, after] = tenants as [Tenant, Tenant, Tenant];
  const [earlier, later] = [env().nodeIp, (await api().get(services, 'traefik/edge'))?.spec?.clusterIP ?? ''];
  await give(earlier);
  await addApex(first, earlier);
  await isLive(first);
  const client = await constantClient([first.zone], await acmeRoot());
  await addApex(between, later);
  await between.reason('site', 'ConflictingA');
  await give(later);
  await between.verify('site');
  await isLive(between);
  await addApex(after, later);
  await isLive(after);
  await isLive(first);
  const {requests, failed} = await client.stop();
  console.log(`${requests} requests, ${failed.length} failed`);
  expect(failed).toEqual([]);
  const zones = tenants.map(({zone}) => zone);
  expect((await ordersFor(zones, began)).caused.toSorted()).toEqual(zones.toSorted());
});
