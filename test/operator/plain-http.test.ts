/** Plain HTTP of all hostnames by one Ingress without a host, and those of one hostname each that stand from before. */
import {afterAll, afterEach, beforeAll, describe, expect, test} from '@jest/globals';
import type {Ingress} from '../../operator/api/foreign.ts';
import {hostsOf} from '../../operator/controllers/state/rendering.ts';
import {ingressClasses, ingresses} from '../../operator/resources/resources.ts';
import {events} from '../../operator/kube/writes/events.ts';
import {Customer} from '../support/customer.ts';
import {eventually} from '../support/kube-api.ts';
import {isWrite, RunningOperator} from '../support/operator.ts';
import {home, ingressClass, ingressClassOf, Platform, redirector} from '../support/platform.ts';

/** The edge is looked at every 5 s, and once more 4 s after it was first seen to serve; ms. */
const severalLooks = {atLeastMs: 25_000};

let platform: Platform;
let operator: RunningOperator | undefined;
beforeAll(async () => {
  platform = await Platform.start();
});
afterEach(async () => {
  await operator?.stop();
  operator = undefined;
  for (const key of [`${home}/${redirector}`, 'default/another']) await platform.client.delete(ingresses, key);
  platform.edge.isBehind = false;
});
afterAll(async () => {
  await platform?.stop();
});

/** In place of the one that runs. */
async function start(shared: boolean): Promise<RunningOperator> {
  await operator?.stop();
  return (operator = await RunningOperator.start(platform, {
    plainHttp: {shared, probe: [`127.0.0.1:${platform.edge.plainPort}`]},
  }));
}

/** One without a host: the chart's, unless told. */
const withoutHost = (namespace = home, name: string = redirector): Ingress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: {namespace, name, annotations: {'traefik.ingress.kubernetes.io/router.entrypoints': 'web'}},
  spec: {
    ingressClassName: ingressClass,
    rules: [{http: {paths: [{path: '/', pathType: 'Prefix', backend: {service: {name, port: {number: 80}}}}]}}],
  },
});

/** How many Ingresses of the hostname `www` and of the default host are for plain HTTP alone. */
async function ofTheirOwn(customer: Customer): Promise<number> {
  const hosts = [customer.host('www'), await customer.target()];
  const {items} = await platform.client.list(ingresses, {namespace: home});
  return items.filter((i) => i.metadata.name.endsWith('-http') && hosts.includes(hostsOf(i)[0] ?? '')).length;
}
const notes = async (reason: string) =>
  (await platform.client.list(events)).items.filter((e) => e.reason === reason).map(({note}) => note ?? '');

async function changeClass(controller: string): Promise<void> {
  await platform.client.delete(ingressClasses, ingressClass);
  await platform.client.create(ingressClasses, ingressClassOf(controller));
}

/** A customer with an Ingress for plain HTTP of each hostname, as none was shared; then one is. */
async function servedBefore(): Promise<Customer> {
  await start(false);
  const customer = await Customer.served(platform);
  await operator!.rest();
  expect(await ofTheirOwn(customer)).toBe(2);
  return customer;
}

describe('Where plain HTTP is shared', () => {
  test('hostnames get no Ingress of their own for it, and nobody looks whether the shared one serves', async () => {
    await start(true);
    await platform.client.create(ingresses, withoutHost());
    const customer = await Customer.served(platform);
    await operator!.rest();
    expect(await ofTheirOwn(customer)).toBe(0);
    expect(platform.edge.plainLooks).toBe(0);
  });

  test('those from before stand while there is no shared one, and nothing is written by a start', async () => {
    const customer = await servedBefore();
    await start(true);
    await operator!.rest();
    expect(await ofTheirOwn(customer)).toBe(2);
    expect(operator!.proxy.seen.filter(isWrite)).toEqual([]);
  });

  test('those from before go when the edge serves the shared one, and not before', async () => {
    const customer = await servedBefore();
    platform.edge.isBehind = true;
    await start(true);
    const looks = platform.edge.plainLooks;
    await platform.client.create(ingresses, withoutHost());
    await eventually(() => platform.edge.plainLooks > looks + 1);
    expect(await ofTheirOwn(customer)).toBe(2);
    platform.edge.isBehind = false;
    const removed = operator!.proxy.seen.length;
    expect(await operator!.comesTo(() => ofTheirOwn(customer), 0, severalLooks)).toBe(0);
    await operator!.rest();
    // The Account is the sign of life for which the test asks.
    const writes = operator!.proxy.seen
      .slice(removed)
      .filter((s) => isWrite(s) && !s.url.pathname.includes('/accounts/'));
    expect([...new Set(writes.map(({method, url}) => `${method} ${url.pathname.split('/').at(-2)}`))]).toEqual([
      'DELETE ingresses',
    ]);
  });

  test("another's Ingress without a host is told of, counted, and keeps those from before until it goes", async () => {
    const customer = await servedBefore();
    await start(true);
    await platform.client.create(ingresses, withoutHost('default', 'another'));
    await platform.client.create(ingresses, withoutHost());
    await eventually(async () => (await notes('PlainHttpContested')).length > 0);
    expect((await notes('PlainHttpContested'))[0]).toContain('Ingress default/another has no host');
    const rivals = async () =>
      (await operator!.registry.getSingleMetric('doorplate_plain_http_rivals')!.get()).values[0]?.value;
    expect(await rivals()).toBe(1);
    expect(await ofTheirOwn(customer)).toBe(2);
    await platform.client.delete(ingresses, 'default/another');
    expect(await operator!.comesTo(() => ofTheirOwn(customer), 0, severalLooks)).toBe(0);
    expect(await rivals()).toBe(0);
  });

  test('a class that is not Traefik’s is told of', async () => {
    await changeClass('example.test/ingress-controller');
    await start(true);
    await eventually(async () => (await notes('PlainHttpNotShared')).length > 0);
    expect((await notes('PlainHttpNotShared'))[0]).toContain('Set it to false');
    await changeClass('traefik.io/ingress-controller');
  });
});

describe('Where it is not shared', () => {
  test('each hostname has an Ingress of its own for it, whatever stands without a host', async () => {
    await platform.client.create(ingresses, withoutHost());
    await start(false);
    const customer = await Customer.served(platform);
    await operator!.rest();
    expect(await ofTheirOwn(customer)).toBe(2);
  });
});
