/**
 * Two issuers with a CA each (docs/how-to/several-cas.md). The second takes the place of the first if CAA records forbid the first, if its
 * budget is spent, and if it has an outage. Then hostnames move back, and no request fails.
 */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {api, apply, eventually, install, kubectl} from '../../cluster/cluster.ts';
import {certificates} from '../../operator/resources/resources.ts';
import {FailingCa} from '../support/failing-ca.ts';
import {issuanceIsOver, ordersFor} from '../support/issuances.ts';
import {Tenant} from '../support/tenant.ts';
import {constantClient} from '../support/visitor.ts';

const life = 600;
const names = ['first-ca', 'second-ca'] as const;
let tenant: Tenant;
let first: FailingCa;
let second: FailingCa;
let roots: string;
let before: Date;

/** The settings with both issuers. `limit`: orders of the first account in an hour. */
const installed = (limit: number) =>
  install([
    'issuerRef.name=',
    'budgets=null',
    'issuerRecoveryTime=20s',
    ...names.flatMap((name, i) => [
      `issuers[${i}].issuerRef.name=${name}`,
      `issuers[${i}].caaIdentities={${name}.test}`,
      `issuers[${i}].budgets.account[0].limit=${i === 0 ? limit : 1000}`,
      `issuers[${i}].budgets.account[0].per=1h`,
      `issuers[${i}].budgets.certificates[0].limit=100`,
      `issuers[${i}].budgets.certificates[0].per=1h`,
    ]),
  ]);

beforeAll(async () => {
  before = new Date();
  [tenant, first, second] = await Promise.all([
    Tenant.create('several-cas', {}),
    FailingCa.start(names[0], {validitySeconds: life}),
    FailingCa.start(names[1], {validitySeconds: life}),
  ]);
  roots = [first, second].map(({rootCertificate}) => rootCertificate).join('\n');
  await installed(1000);
});
afterAll(async () => {
  await tenant?.remove();
  await install();
  await Promise.all([first?.remove(), second?.remove()]);
});

async function issuerOf(hostname: string): Promise<string | undefined> {
  const {items} = await api().list(certificates, {namespace: tenant.namespace});
  return items.find(({spec}) => spec.dnsNames[0] === hostname)?.spec.issuerRef.name;
}

/** A Live hostname of a Project of its own. */
async function live(label: string, issuer: string): Promise<string> {
  const hostname = tenant.host(label);
  await apply([tenant.project(label, {serviceRef: {name: 'web', port: 80}, defaultHost: 'Disabled'})]);
  const target = await eventually(`the Project ${label} is deployed`, async () => {
    const {status} = (await tenant.getProject(label)) ?? {};
    return status?.firstDeployTime !== undefined && status.host;
  });
  await tenant.record(label, `IN CNAME ${target}.`);
  await tenant.attach(label, hostname, [], label);
  await tenant.hosts(label, [`${hostname} Live Serving`], 300_000);
  expect(await issuerOf(hostname)).toBe(issuer);
  return hostname;
}

const moved = (hostname: string, issuer: string): Promise<true> =>
  eventually(
    `${hostname} has its certificate from ${issuer}`,
    async () => {
      const {items} = await api().list(certificates, {namespace: tenant.namespace});
      const certificate = items.find(({spec}) => spec.dnsNames[0] === hostname);
      const ready = certificate?.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
      return certificate?.spec.issuerRef.name === issuer && ready;
    },
    400_000,
  ) as Promise<true>;

describe('The second CA', () => {
  test('issues if CAA records allow only that one, and no order goes to the first', async () => {
    await tenant.record('@', `IN CAA 0 issue "${names[1]}.test"`);
    const hostname = await live('caa', names[1]);
    await tenant.record('@', undefined);
    expect((await ordersFor([hostname], before)).caused).toEqual([hostname]);
  });

  test('issues while the budget of the first is spent', async () => {
    await installed(1);
    const since = new Date();
    const hosts = [await live('in-budget', names[0]), await live('beyond', names[1])];
    expect((await ordersFor(hosts, since)).caused.toSorted()).toEqual(hosts.toSorted());
    await installed(1000);
    await moved(hosts[1]!, names[0]);
  });

  test('issues and renews during an outage of the first; then hostnames move back, and no request fails', async () => {
    const renewed = await live('renewed', names[0]);
    const visitor = await constantClient([renewed], roots);
    const [since, failedAt] = [new Date(), Date.now()];
    await first.fail();
    const issued = await live('issued', names[1]);
    console.log(`issued ${Date.now() - failedAt} ms after the outage began`);
    await moved(renewed, names[1]);
    const waited = Date.now() - failedAt;
    console.log(`renewed ${waited} ms after the outage began, by certificates of ${life} s`);
    await first.recover();
    await Promise.all([renewed, issued].map((hostname) => moved(hostname, names[0])));
    await issuanceIsOver([renewed, issued]);
    const {requests, failed} = await visitor.stop();
    console.log(`${requests} requests, ${failed.length} failed`);
    expect(failed).toEqual([]);
    // The order at the first CA had no end when the second took its place.
    const {caused} = await ordersFor([renewed, issued], since);
    expect(caused.filter((hostname) => hostname === renewed)).toHaveLength(2);
    expect(caused.filter((hostname) => hostname === issued).length).toBeLessThanOrEqual(3);
    await kubectl(['get', 'customdomains', '-n', tenant.namespace]);
  }, 900_000);
});
