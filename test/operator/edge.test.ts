/** An edge whose addresses are not set: its Service tells them, or its hostname leads to them. All that looks again by itself is set to an hour. */
import {randomBytes} from 'node:crypto';
import {afterAll, afterEach, beforeAll, describe, expect, test} from '@jest/globals';
import {customDomains, services} from '../../operator/resources/resources.ts';
import {tokenFor} from '../../operator/domain/claims/claim.ts';
import {keyOf} from '../../operator/kube/objects.ts';
import {Customer} from '../support/customer.ts';
import {eventually} from '../support/kube-api.ts';
import {RunningOperator, type Settings} from '../support/operator.ts';
import {home, Platform, redirector, zone} from '../support/platform.ts';
import {StandInEdge} from '../support/stand-in-edge.ts';
import {enterprise, tenantOn} from '../support/world.ts';
import {record} from '../unit/dns/fake-servers.ts';

let platform: Platform;
let operator: RunningOperator;
/** Two load balancers, one after the other, each at port 443 of an address of its own. */
let balancers: StandInEdge[];
const addresses = [1, 2].map((last) => `127.${[...randomBytes(2)].map((b) => 1 + (b % 250)).join('.')}.${last}`);
const [former, present] = addresses as [string, string];

beforeAll(async () => {
  platform = await Platform.start();
  const {client, certManager} = platform;
  balancers = await Promise.all(addresses.map((at) => StandInEdge.start(client, certManager, redirector, at, 443)));
});
afterEach(async () => {
  for (const domain of (await platform.client.list(customDomains)).items)
    await platform.client.delete(customDomains, keyOf(domain));
  await eventually(async () => (await platform.client.list(customDomains)).items.length === 0);
  await operator.stop();
});
afterAll(async () => {
  await Promise.all((balancers ?? []).map((balancer) => balancer.stop()));
  await platform?.stop();
});

const start = async (edge: Settings): Promise<void> => {
  operator = await RunningOperator.start(platform, {edge});
};

/** A customer who attaches its apex, which has an A record and the TXT already. */
async function apexAt(address: string, type: 'A' | 'AAAA' = 'A'): Promise<Customer> {
  const customer = await Customer.deployed(platform);
  const apex = customer.zone;
  const token = tokenFor(zone, {...tenantOn(enterprise), account: customer.namespace}, apex, undefined);
  const challenge = `_doorplate-challenge.${apex}`;
  platform.dns.set(apex, record(apex, type, address));
  platform.dns.set(challenge, {name: challenge, type: 'TXT', ttl: 60, data: token});
  await customer.attach('web', apex);
  return customer;
}

async function expectApex(customer: Customer, expected: string): Promise<void> {
  const read = async () => (await customer.hosts('web'))[customer.zone];
  expect(await operator.comesTo(read, expected)).toBe(expected);
}

const messageOf = async (customer: Customer) => (await customer.domain('web'))?.status?.hosts?.[0]?.message;

/** The load balancer of the edge's Service has these addresses. */
const give = (...ips: string[]) =>
  platform.client.patch(
    services,
    `${home}/edge`,
    {status: {loadBalancer: {ingress: ips.map((ip) => ({ip}))}}},
    {type: 'merge', subresource: 'status'},
  );

describe('An edge that is known by its Service alone', () => {
  test('gets an address, then another one while domains are added: apexes are proven at the address of now, and what is Live stays so', async () => {
    await platform.client.create(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {namespace: home, name: 'edge'},
      spec: {type: 'LoadBalancer', ports: [{name: 'https', port: 443}]},
    });
    await start({service: {namespace: home, name: 'edge'}});
    const first = await apexAt(former);
    await expectApex(first, 'AwaitingVerification NoEdgeAddress');

    await give(former);
    await expectApex(first, 'Live Serving');
    expect(balancers.map(({looks}) => looks > 0)).toEqual([true, false]);

    const second = await apexAt(present);
    await expectApex(second, 'AwaitingVerification ConflictingA');
    expect(await messageOf(second)).toContain(`or A ${former}`);

    await give(present);
    await expectApex(second, 'Live Serving');
    expect(balancers[1]!.looks).toBeGreaterThan(0);
    await expectApex(first, 'Live Serving');

    // A load balancer that is made anew has none for a while.
    await give();
    const third = await apexAt(present);
    await expectApex(third, 'Live Serving');
    for (const customer of [first, second]) await expectApex(customer, 'Live Serving');
  });
});

describe('An edge that is known by its hostname alone', () => {
  test('is where that leads: customers are told no address, an apex is proven by it, and is Live once it presents the certificate', async () => {
    const name = 'lb.cloud.test';
    platform.dns.set(name, record(name, 'A', present));
    const before = balancers[1]!.looks;
    await start({hostname: name});
    const customer = await apexAt(present);
    await expectApex(customer, 'Live Serving');
    expect(balancers[1]!.looks).toBeGreaterThan(before);

    const strange = await apexAt(former);
    await expectApex(strange, 'AwaitingVerification ConflictingA');
    expect(await messageOf(strange)).not.toContain(present);
  });
});

describe('An edge of both families', () => {
  test('proves an apex by its IPv6 address, and is looked at by both', async () => {
    const {client, certManager} = platform;
    const both = await Promise.all(
      ['127.0.0.1', '::1'].map((at) => StandInEdge.start(client, certManager, redirector, at)),
    );
    try {
      const [four, six] = both.map(({port}) => port);
      await start({addresses: ['127.0.0.1', '::1'], probe: [`127.0.0.1:${four}`, `[::1]:${six}`]});
      const customer = await apexAt('::1', 'AAAA');
      await expectApex(customer, 'Live Serving');
      expect(both.map(({looks}) => looks > 0)).toEqual([true, true]);

      const strange = await apexAt('2001:db8::1', 'AAAA');
      await expectApex(strange, 'AwaitingVerification ConflictingAAAA');
      expect(await messageOf(strange)).toContain('AAAA ::1');
    } finally {
      await Promise.all(both.map((edge) => edge.stop()));
    }
  });
});
