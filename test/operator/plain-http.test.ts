/** Plain HTTP of all hostnames through one Ingress without a host, and the former Ingresses of one hostname each. */
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import type {Ingress, Service} from '../../operator/api/foreign.ts';
import {hostsOf} from '../../operator/controllers/state/rendering.ts';
import {ingressClasses, ingresses, services} from '../../operator/resources/resources.ts';
import {events} from '../../operator/kube/writes/events.ts';
import {Customer} from '../support/customer.ts';
import {eventually} from '../support/kube-api.ts';
import {isWrite, RunningOperator, type Settings} from '../support/operator.ts';
import {home, ingressClass, ingressClassOf, Platform, redirector} from '../support/platform.ts';

/** The edge is looked at every 5 s, and once more 4 s after it was first seen to serve; ms. */
const severalLooks = {atLeastMs: 25_000};
const shared = `${home}/${redirector}`;
const [traefik, another] = ['traefik.io/ingress-controller', 'example.test/ingress-controller'];

let platform: Platform;
let operator: RunningOperator | undefined;
beforeAll(async () => {
  platform = await Platform.start();
});
beforeEach(() => createService());
afterEach(async () => {
  await operator?.stop();
  operator = undefined;
  for (const key of [shared, 'default/another']) await platform.client.delete(ingresses, key);
  await platform.client.delete(services, shared);
  platform.edge.isBehind = false;
});
afterAll(async () => {
  await platform?.stop();
});

/** The redirector's Service, as the chart has it. */
const createService = () =>
  platform.client.create<Service>(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {namespace: home, name: redirector},
    spec: {ports: [{name: 'http', port: 80}]},
  });

/** In place of the one that runs. */
async function start(setting: 'auto' | boolean = 'auto', change: Settings = {}): Promise<RunningOperator> {
  await operator?.stop();
  return (operator = await RunningOperator.start(platform, {
    plainHttp: {shared: setting, probe: [`127.0.0.1:${platform.edge.plainPort}`]},
    ...change,
  }));
}

/** An Ingress of another owner, without a host. */
const withoutHost = (namespace = 'default', name = 'another'): Ingress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: {namespace, name, annotations: {'traefik.ingress.kubernetes.io/router.entrypoints': 'web'}},
  spec: {
    ingressClassName: ingressClass,
    rules: [{http: {paths: [{path: '/', pathType: 'Prefix', backend: {service: {name, port: {number: 80}}}}]}}],
  },
});

/** The one that the chart of 0.1.0 created, applied as Helm does. */
async function chartsIngress(): Promise<Ingress> {
  const {metadata, ...rest} = withoutHost(home, redirector);
  const labels = {
    'app.kubernetes.io/part-of': 'doorplate',
    'app.kubernetes.io/component': 'redirector',
    'app.kubernetes.io/managed-by': 'Helm',
  };
  const annotations = {
    ...metadata.annotations,
    'helm.sh/resource-policy': 'keep',
    'traefik.ingress.kubernetes.io/router.priority': '1',
  };
  const object = {...rest, metadata: {...metadata, labels, annotations}};
  return platform.client.applyPatch(ingresses, object, {fieldManager: 'helm', force: false});
}

const read = () => platform.client.get(ingresses, shared);
const exists = async () => (await read()) !== undefined;
const priority = async () => (await read())?.metadata.annotations?.['traefik.ingress.kubernetes.io/router.priority'];
const created = async () => expect(await operator!.comesTo(exists, true)).toBe(true);

/** Ingresses of Doorplate's that have no host. */
const catchAlls = async () =>
  (await platform.client.list(ingresses, {namespace: home})).items
    .filter(({spec}) => spec.rules?.some((rule) => !rule.host) || spec.defaultBackend)
    .map(({metadata}) => metadata.name);

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

/** A customer with an Ingress for plain HTTP of each hostname. */
async function servedBefore(): Promise<Customer> {
  await start(false);
  const customer = await Customer.served(platform);
  await operator!.rest();
  expect(await ofTheirOwn(customer)).toBe(2);
  return customer;
}

describe('With Traefik, plain HTTP is shared', () => {
  test('by one Ingress, which the redirector’s Service owns; hostnames get none, and the edge is not probed for it', async () => {
    await start();
    await created();
    const {uid} = (await platform.client.get(services, shared))!.metadata;
    expect((await read())!.metadata.ownerReferences).toEqual([
      {apiVersion: 'v1', kind: 'Service', name: redirector, uid},
    ]);
    const customer = await Customer.served(platform);
    await operator!.rest();
    expect([await ofTheirOwn(customer), await catchAlls(), platform.edge.plainLooks]).toEqual([0, [redirector], 0]);
  });

  test('by an Ingress that a chart created: it is changed in place, and Helm still knows it', async () => {
    const before = await chartsIngress();
    await start();
    expect(await operator!.comesTo(async () => (await read())?.metadata.ownerReferences?.length, 1)).toBe(1);
    const {metadata, spec} = (await read())!;
    expect([metadata.uid, metadata.labels]).toEqual([before.metadata.uid, before.metadata.labels]);
    expect(metadata.annotations).toMatchObject(before.metadata.annotations!);
    expect(spec.rules?.[0]?.http?.paths[0]?.backend.service).toEqual({name: redirector, port: {name: 'http'}});
  });

  test('by an Ingress that is written again if somebody deletes or changes it, and once the Service exists', async () => {
    await platform.client.delete(services, shared);
    await start();
    await operator!.rest();
    expect(await exists()).toBe(false);
    await createService();
    await created();
    await platform.client.delete(ingresses, shared);
    await created();
    const foreign = {metadata: {annotations: {'traefik.ingress.kubernetes.io/router.priority': '9'}}};
    await platform.client.patch(ingresses, shared, foreign, {type: 'merge'});
    expect(await operator!.comesTo(priority, '1')).toBe('1');
  });

  test('by no Ingress if another owner has its name: it is left as it is, which is reported', async () => {
    const before = await platform.client.create(ingresses, withoutHost(home, redirector));
    await start();
    const isReported = async () => (await notes('PlainHttpNotShared')).some((note) => note.includes(shared));
    expect(await operator!.comesTo(isReported, true)).toBe(true);
    await operator!.rest();
    expect((await read())!.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    await platform.client.delete(ingresses, shared);
    expect(await operator!.comesTo(async () => (await read())?.metadata.ownerReferences?.length, 1)).toBe(1);
  });

  test('and former Ingresses of one hostname each stay until the edge serves the shared one', async () => {
    const customer = await servedBefore();
    platform.edge.isBehind = true;
    await start();
    const looks = platform.edge.plainLooks;
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

  test("and another's Ingress without a host is reported, counted, and keeps former Ingresses until it goes", async () => {
    const customer = await servedBefore();
    await platform.client.create(ingresses, withoutHost());
    await start();
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
});

describe('Nothing of Doorplate’s catches a request without a host', () => {
  afterEach(() => changeClass(traefik));

  test.each(['auto', true] as const)('on the class of another controller with the setting %s', async (setting) => {
    await chartsIngress();
    await changeClass(another);
    await start(setting);
    await Customer.served(platform);
    expect(await operator!.comesTo(catchAlls, [])).toEqual([]);
    const reports = (await notes('PlainHttpNotShared')).filter((note) => note.includes('Set plainHttp.shared to auto'));
    expect(reports.length).toBe(setting === true ? 1 : 0);
  });

  test('on a class that does not exist, or changes its controller while the operator runs; with Traefik’s it returns', async () => {
    await platform.client.delete(ingressClasses, ingressClass);
    await start();
    await operator!.rest();
    expect(await catchAlls()).toEqual([]);
    await platform.client.create(ingressClasses, ingressClassOf(traefik));
    await created();
    await changeClass(another);
    expect(await operator!.comesTo(catchAlls, [])).toEqual([]);
    await changeClass(traefik);
    await created();
  });
});

describe('With the setting false and Traefik', () => {
  test('the shared Ingress stays until each hostname has an Ingress that the edge has applied', async () => {
    await start();
    await created();
    const customer = await Customer.served(platform);
    await operator!.rest();
    expect(await ofTheirOwn(customer)).toBe(0);
    let asked: {sharedAt: number; ownAt: number} = {sharedAt: 0, ownAt: 0};
    await operator!.stop();
    operator = await RunningOperator.start(
      platform,
      {plainHttp: {shared: false}},
      {
        fate: ({method, url}) => {
          if (method === 'PATCH' && url.pathname.endsWith('-http')) asked = {...asked, ownAt: Date.now()};
          if (method === 'DELETE' && url.pathname.endsWith(redirector)) asked = {...asked, sharedAt: Date.now()};
          return 'forward';
        },
      },
    );
    expect(await operator.comesTo(catchAlls, [], severalLooks)).toEqual([]);
    expect(await ofTheirOwn(customer)).toBe(2);
    // Times on objects are whole seconds.
    expect(asked.sharedAt - asked.ownAt).toBeGreaterThan(3000);
  });

  test('each hostname has an Ingress of its own, and one of another owner without a host stays', async () => {
    await platform.client.create(ingresses, withoutHost());
    await platform.client.create(ingresses, withoutHost(home, redirector));
    await start(false);
    const customer = await Customer.served(platform);
    await operator!.rest();
    expect([await ofTheirOwn(customer), await catchAlls()]).toEqual([2, [redirector]]);
  });
});
