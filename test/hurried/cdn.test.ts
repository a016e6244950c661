/** Customers behind a content delivery network. The network is a fake: a Service that passes on to the edge at an address of its own, which the platform names as one. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {acmeRoot, apply, kubectl} from '../../cluster/cluster.ts';
import {cdnAddress, hurried} from '../support/hurried.ts';
import {ordersFor} from '../support/issuances.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient} from '../support/visitor.ts';

const cdn = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {name: 'cdn', namespace: 'traefik'},
  spec: {
    clusterIP: cdnAddress,
    selector: {app: 'traefik'},
    ports: [
      {name: 'https', port: 443},
      {name: 'http', port: 80},
    ],
  },
};

let tenant: Tenant;
let ca: string;
beforeAll(async () => {
  await hurried();
  [tenant, ca] = [await Tenant.create('cdn'), await acmeRoot()];
  await apply([cdn]);
});
afterAll(async () => {
  await tenant?.remove();
  await kubectl(['delete', 'service', 'cdn', '-n', 'traefik', '--ignore-not-found']);
});

test('a hostname behind a CDN is proven by TXT and goes Live; one that is put behind it later stays so: no request fails, nothing is ordered twice', async () => {
  const [www, shop] = [tenant.host('www'), tenant.host('shop')];
  const began = new Date();
  const proxied = `IN A ${cdnAddress}`;
  await tenant.records({www: tenant.proof, shop: proxied});
  await tenant.attach('site', www, [{from: shop}]);
  const told = await tenant.hostReads('site', shop, 'AwaitingVerification BehindCDN');
  expect(told.status?.hosts?.[1]?.message).toContain('Test CDN');
  expect(told.status?.dnsRecords?.map(({type, name}) => `${type} ${name}`)).toContain('TXT _doorplate-challenge.shop');
  await tenant.record('_doorplate-challenge.shop', `IN TXT "${tenant.token(shop)}"`);
  await tenant.wait('site', 'Ready');

  const visitor = await constantClient([www, shop], ca);
  await tenant.record('www', proxied);
  const {status} = await tenant.hosts('site', [`${www} Live ServedBehindCDN`, `${shop} Live Redirecting`]);
  expect(status?.conditions?.find((c) => c.type === 'Ready')).toMatchObject({status: 'True'});
  await tenant.record('www', tenant.proof);
  await tenant.hosts('site', [`${www} Live Serving`, `${shop} Live Redirecting`]);
  const {requests, failed} = await visitor.stop();
  console.log(`${requests} requests, ${failed.length} failed`);
  expect(failed).toEqual([]);
  expect((await ordersFor([www, shop], began)).caused.toSorted()).toEqual([shop, www]);
});
