/**
 * An installation with the values that the chart ships (values.yaml has what differs): the resolvers of the Pod, no name server inside
 * the cluster, an Issuer in each namespace, no election, two redirectors. `test/run.ts shipped` installs it. The zones of this
 * cluster have private servers, so hostnames are proven by the platform's word here; single settings are in test/operator/settings.
 */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {certificates} from '../../operator/resources/resources.ts';
import {acmeRoot, api, apply, audit, eventually, fetchEdge, kubectl} from '../../cluster/cluster.ts';
import {operator} from '../support/requests.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient, redirected} from '../support/visitor.ts';

const redirectors = ['-n', 'doorplate-system', '-l', 'app.kubernetes.io/component=redirector'];

let tenant: Tenant;
let ca: string;
let began: Date;

/** The cluster's issuer as an Issuer of a namespace. */
async function issuerIn(namespace: string): Promise<object> {
  const {spec} = JSON.parse(await kubectl(['get', 'clusterissuer', 'pebble', '-o', 'json'])) as {spec: object};
  return {apiVersion: 'cert-manager.io/v1', kind: 'Issuer', metadata: {name: 'pebble', namespace}, spec};
}

/** The platform's word that a hostname is the tenant's. */
const granted = (hostname: string) => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'DomainClaim',
  metadata: {name: hostname},
  spec: {tenant: {account: tenant.namespace}},
});

beforeAll(async () => {
  began = new Date();
  [tenant, ca] = [await Tenant.create('shipped'), await acmeRoot()];
  await apply([await issuerIn(tenant.namespace), await issuerIn('doorplate-system')]);
});
afterAll(async () => {
  await tenant?.remove();
  await kubectl(['delete', 'issuer', 'pebble', '-n', 'doorplate-system', '--ignore-not-found']);
});

describe('an installation as it is shipped', () => {
  test("asks the resolvers of the Pod, and not a zone's servers at private addresses, and says so", async () => {
    await tenant.record('www', tenant.proof);
    await tenant.attach('unasked', tenant.host('www'));
    const {status} = await tenant.reason('unasked', 'AuthoritativeUnreachable');
    expect(status?.hosts?.[0]?.message).toMatch(/have no public address: \S+ \(10\./);
    await kubectl(['delete', 'customdomain', 'unasked', '-n', tenant.namespace]);
  });

  test('a hostname in Unicode is served under its A-label, by a certificate of the Issuer in its namespace, and redirects', async () => {
    const [label, old] = ['xn--bcher-kva', tenant.host('old')];
    const host = tenant.host(label);
    await tenant.records({[label]: tenant.proof, old: tenant.proof});
    await apply([granted(host), granted(old)]);
    await tenant.attach('site', tenant.host('bücher'), [{from: old}]);
    await tenant.wait('site', 'Ready');
    expect((await fetchEdge(`https://${tenant.host('bücher')}/`, {ca})).body).toBe(
      `hello from ${tenant.namespace}/web\n`,
    );
    await redirected(`https://${old}/p`, 301, `https://${host}/p`, ca);
    const made = (
      await Promise.all(
        [tenant.namespace, 'doorplate-system'].map((namespace) => api().list(certificates, {namespace})),
      )
    ).flatMap((l) => l.items);
    expect(
      made
        .filter((c) => [host, old].includes(c.spec.dnsNames[0] ?? ''))
        .map((c) => [c.metadata.namespace, c.spec.dnsNames[0], c.spec.issuerRef.kind]),
    ).toEqual([
      [tenant.namespace, host, 'Issuer'],
      ['doorplate-system', old, 'Issuer'],
    ]);
  });

  test('one of two redirectors goes while visitors are redirected: no request fails', async () => {
    const old = tenant.host('old');
    const client = await constantClient([old], ca);
    const [first] = (await kubectl(['get', 'pods', ...redirectors, '-o', 'name'])).trim().split('\n');
    await kubectl(['delete', '-n', 'doorplate-system', first ?? '']);
    await eventually(
      'there are two again',
      async () =>
        (await kubectl(['get', 'pods', ...redirectors, '--no-headers'])).match(/1\/1 +Running/g)?.length === 2,
    );
    const {requests, failed} = await client.stop();
    console.log(`${requests} requests, ${failed.length} failed`);
    expect(failed).toEqual([]);
  });

  test('without election nobody asks for a lease', async () => {
    expect(await audit(began, (e) => e.user.username === operator && e.objectRef?.resource === 'leases')).toEqual([]);
  });
});
