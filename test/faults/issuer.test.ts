/** Another issuer, as from staging to production: everything that is served stays so while its certificates are ordered anew. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {acmeRoot, api, apply, eventually, install, kubectl, presented} from '../../cluster/cluster.ts';
import {certificates} from '../../operator/resources/resources.ts';
import {issuanceIsOver, ordersFor} from '../support/issuances.ts';
import {operatorMetrics} from '../support/release.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient} from '../support/visitor.ts';

const second = 'pebble-second';

let tenant: Tenant;
let ca: string;
beforeAll(async () => {
  [tenant, ca] = [await Tenant.create('issuer'), await acmeRoot()];
  const {spec} = JSON.parse(await kubectl(['get', 'clusterissuer', 'pebble', '-o', 'json'])) as {spec: {acme: object}};
  const acme = {...spec.acme, privateKeySecretRef: {name: second}};
  await apply([{apiVersion: 'cert-manager.io/v1', kind: 'ClusterIssuer', metadata: {name: second}, spec: {acme}}]);
  await kubectl(['wait', `clusterissuer/${second}`, '--for=condition=Ready', '--timeout=120s']);
});
afterAll(async () => {
  await tenant?.remove();
  await install();
  await kubectl(['delete', 'clusterissuer', second, '--ignore-not-found']);
});

/** What is still to be moved, by the operator's own metric. */
const toMove = async (): Promise<string | undefined> =>
  /^doorplate_certificates_to_move(?:\{.*\})? (\d+)$/m.exec(await operatorMetrics())?.[1];

test('each hostname is ordered once of the new issuer, and until it has that certificate the one before is served: no request fails', async () => {
  const hosts = ['www', 'old'].map((label) => tenant.host(label)) as [string, string];
  await tenant.records({www: tenant.proof, old: tenant.proof});
  await tenant.attach('site', hosts[0], [{from: hosts[1]}]);
  await tenant.wait('site', 'Ready');
  await issuanceIsOver(hosts);
  const leaves = async () => Promise.all(hosts.map(async (host) => (await presented(host, ca)).sha256));
  const before = await leaves();
  const visitor = await constantClient(hosts, ca);
  const began = new Date();

  await install([`issuerRef.name=${second}`]);
  await eventually('the edge presents other certificates', async () =>
    (await leaves()).every((leaf, i) => leaf !== before[i]),
  );
  await eventually('nothing is left to be moved', async () => (await toMove()) === '0');
  await tenant.hosts('site', [`${hosts[0]} Live Serving`, `${hosts[1]} Live Redirecting`]);

  const {requests, failed} = await visitor.stop();
  console.log(`${requests} requests, ${failed.length} failed`);
  expect(failed).toEqual([]);
  const all = (await api().list(certificates)).items.filter((c) => hosts.includes(c.spec.dnsNames[0] ?? ''));
  expect(all.map((c) => c.spec.issuerRef.name)).toEqual([second, second]);
  const {caused} = await ordersFor(hosts, began);
  expect(caused.toSorted()).toEqual(hosts.toSorted());
});
