/**
 * What a platform sets, or leaves as it is shipped, through the operator's role: each test starts one with its own
 * settings. All that looks again by itself is set to an hour.
 */
import {setTimeout as wait} from 'node:timers/promises';
import {afterAll, afterEach, beforeAll, describe, expect, test} from '@jest/globals';
import type {AcmeIssuer} from '../../operator/api/foreign.ts';
import {hostsOf} from '../../operator/controllers/state/rendering.ts';
import {
  certificates,
  clusterIssuers,
  customDomains,
  domainClaims,
  ingressClasses,
  ingresses,
  issuers,
} from '../../operator/resources/resources.ts';
import {keyOf} from '../../operator/kube/objects.ts';
import {events} from '../../operator/kube/writes/events.ts';
import {record} from '../unit/dns/fake-servers.ts';
import {Customer} from '../support/customer.ts';
import {eventually} from '../support/kube-api.ts';
import {RunningOperator, type Settings, settingsFor} from '../support/operator.ts';
import {home, ingressClassOf, Platform, zone} from '../support/platform.ts';
import {StandInDns} from '../support/stand-in-dns.ts';
import {StandInEdge} from '../support/stand-in-edge.ts';

let platform: Platform;
let operator: RunningOperator | undefined;
beforeAll(async () => {
  platform = await Platform.start();
});
afterEach(async () => {
  // What stays would take part in the next test.
  for (const domain of (await platform.client.list(customDomains)).items)
    await platform.client.delete(customDomains, keyOf(domain));
  await eventually(async () => (await platform.client.list(customDomains)).items.length === 0);
  await operator?.stop();
});
afterAll(async () => {
  await platform?.stop();
});

async function start(change: Settings): Promise<void> {
  await operator?.stop();
  operator = await RunningOperator.start(platform, change);
}

async function expectSoon<T>(read: () => Promise<T>, expected: T): Promise<void> {
  expect(await operator!.comesTo(read, expected)).toEqual(expected);
}

async function expectHost(customer: Customer, hostname: string, expected: string): Promise<void> {
  await expectSoon(async () => (await customer.hosts('web'))[hostname], expected);
  await operator!.rest();
}

const settings = (dnsSettings: object) => ({dns: {waitSchedule: [{every: '1h', for: '24h'}], ...dnsSettings}});

/** What is asked of a zone's own servers: questions that ask for no recursion. */
const askedOfServers = (name: string) => platform.dns.questions(name).filter((q) => !q.recursionDesired);

describe('dns.allowPrivateAddresses', () => {
  test('is false: name servers at private addresses are not asked, and the customer is told', async () => {
    await start(settings({recursive: [platform.dns.address]}));
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    await customer.point([www]);
    await customer.attach('web', www);
    await expectHost(customer, www, 'AwaitingVerification AuthoritativeUnreachable');
    expect((await customer.domain('web'))?.status?.hosts?.[0]?.message).toContain('no public address');
    expect(askedOfServers(customer.zone)).toEqual([]);
  });
});

const limitedTo = (maxWaitingHostnames: number) => ({
  ...settings({recursive: [platform.dns.address], allowPrivateAddresses: true}),
  maxWaitingHostnames,
});
/** The hostnames of two CustomDomains with their phase and reason. */
const hostsOfBoth = async (customer: Customer) => ({
  ...(await customer.hosts('web')),
  ...(await customer.hosts('docs')),
});

describe('maxWaitingHostnames', () => {
  const [waits, refused] = ['AwaitingVerification RecordMissing', 'NotAccepted TooManyWaiting'];

  test('so many hostnames of an Account wait, whichever is decided first; another follows when one is verified', async () => {
    await start(limitedTo(3));
    const customer = await Customer.deployed(platform);
    await customer.deploy('docs');
    await customer.target('docs');
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((label) => customer.host(label)) as [string, string, string, string];
    await Promise.all([customer.attach('web', a, [b]), customer.attach('docs', c, [d], 'docs')]);
    const reasons = async () => Object.values(await hostsOfBoth(customer)).toSorted();
    await expectSoon(reasons, [waits, waits, waits, refused]);

    const first = Object.entries(await hostsOfBoth(customer)).find(([, reason]) => reason === waits)![0];
    const object = [a, b].includes(first) ? 'web' : 'docs';
    await customer.point([first], object);
    await customer.change(customDomains, object, {metadata: {annotations: {'doorplate.dev/requestedAt': 'now'}}});
    const isServed = /^(Verified|Live) /;
    const firstAndOthers = async () => {
      const {[first]: verified, ...others} = await hostsOfBoth(customer);
      return [isServed.test(verified!), ...Object.values(others)];
    };
    // The statuses of two CustomDomains are written side by side: either may be first.
    const expected = [true, waits, waits, waits];
    expect(await operator!.comesTo(firstAndOthers, expected, {atLeastMs: 20_000})).toEqual(expected);
  });

  test('a smaller one refuses new hostnames alone, and those follow, the oldest first, when others are removed', async () => {
    await start(limitedTo(3));
    const customer = await Customer.deployed(platform);
    await customer.deploy('docs');
    await customer.target('docs');
    const [a, b, c] = ['a', 'b', 'c'].map((label) => customer.host(label)) as [string, string, string];
    await customer.attach('web', a, [b]);
    await expectSoon(() => hostsOfBoth(customer), {[a]: waits, [b]: waits});
    await start(limitedTo(1));
    await customer.attach('docs', c, [], 'docs');
    await expectSoon(() => hostsOfBoth(customer), {[a]: waits, [b]: waits, [c]: refused});
    await customer.change(customDomains, 'web', {spec: {redirects: null}});
    await expectSoon(() => hostsOfBoth(customer), {[a]: waits, [c]: refused});
    await customer.remove(customDomains, 'web');
    await expectSoon(() => hostsOfBoth(customer), {[c]: waits});
  });
});

/** What the operator says of the admission policy: by Events, and by its metric, for namespaces of an Account and for all others. */
async function saidOfPolicy() {
  const told = (await platform.client.list(events, {namespace: home})).items
    .filter(({reason}) => reason === 'OthersRoutesAllowed')
    .map(({regarding, note}) => `${regarding?.kind} ${regarding?.name?.replace(/\d+$/, 'N')} ${note?.split(':')[0]}`);
  const metrics = await operator!.registry.metrics();
  const denies = ['account', 'other'].map((namespaces) =>
    metrics.includes(`doorplate_admission_policy_denies{namespaces="${namespaces}"} 1`),
  );
  return {told, denies};
}

describe('admissionPolicy', () => {
  test('refuses less than it could: the operator says so by an Event on its Pod and in a metric', async () => {
    const told: string[] = [];
    await start({admissionPolicy: {mode: 'Deny', scope: 'All'}});
    await operator!.rest();
    expect(await saidOfPolicy()).toEqual({told, denies: [true, true]});
    await start({admissionPolicy: {scope: 'Accounts'}});
    told.push(
      'Pod in-process-N Only namespaces of an Account refuse routes of other writers (admissionPolicy.scope is Accounts)',
    );
    await expectSoon(saidOfPolicy, {told, denies: [true, false]});
    await start({admissionPolicy: {mode: 'Warn', scope: 'All'}});
    told.push('Pod in-process-N No namespace refuses routes of other writers (admissionPolicy.mode is Warn)');
    await expectSoon(saidOfPolicy, {told, denies: [false, false]});
  });
});

describe('dns.mode', () => {
  test('is RecursiveOnly: two resolvers prove a hostname, and nobody else is asked', async () => {
    const second = await StandInDns.start(zone);
    try {
      await start(settings({mode: 'RecursiveOnly', recursive: [platform.dns.address, second.address]}));
      const customer = await Customer.deployed(platform);
      const www = customer.host('www');
      for (const server of [platform.dns, second]) server.point(www, await customer.target());
      await customer.attach('web', www);
      await expectHost(customer, www, 'Live Serving');
      expect(askedOfServers(customer.zone)).toEqual([]);
      expect(second.questions(www)).not.toEqual([]);
    } finally {
      await second.stop();
    }
  });
});

/** Puts a hostname behind the CDN of these tests. */
const putBehindCdn = (name: string) => platform.dns.set(name, record(name, 'A', '127.9.0.1'));
const startWithCdn = () =>
  start({
    dns: {...settingsFor(platform).dns, cdns: [{name: 'Example CDN', networks: ['127.9.0.0/16']}]},
  });

/** A process that has not checked anything yet is asked for a check: it is made at once. */
async function verifyAnew(customer: Customer): Promise<void> {
  await startWithCdn();
  const annotations = {'doorplate.dev/requestedAt': `${Date.now()}`};
  await customer.change(customDomains, 'web', {metadata: {annotations}});
}

describe('dns.cdns', () => {
  test('have further ones: a hostname behind one waits for the TXT, and is Live with it', async () => {
    await startWithCdn();
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    putBehindCdn(www);
    await customer.attach('web', www);
    await expectHost(customer, www, 'AwaitingVerification BehindCDN');
    expect(platform.certManager.orders.has(www)).toBe(false);
    const {hosts, dnsRecords = []} = (await customer.domain('web'))?.status ?? {};
    expect(hosts?.[0]?.message).toContain(`${www} is behind Example CDN, which hides the record that would verify it.`);
    const challenge = `_doorplate-challenge.${www}`;
    const token = dnsRecords.find((r) => r.type === 'TXT')?.value ?? '';
    platform.dns.set(challenge, {name: challenge, type: 'TXT', ttl: 60, data: token});
    await verifyAnew(customer);
    await expectHost(customer, www, 'Live Serving');
  });

  test('may stand before a hostname later: it is served on, told which TXT to create, and not called drifted', async () => {
    await startWithCdn();
    const customer = await Customer.served(platform);
    const www = customer.host('www');
    const orders = platform.certManager.orders.get(www);
    const {uid} = (await customer.domain('web'))?.metadata ?? {};
    const children = await platform.children(uid);
    putBehindCdn(www);
    await verifyAnew(customer);
    await expectHost(customer, www, 'Live ServedBehindCDN');
    const {hosts, conditions} = (await customer.domain('web'))?.status ?? {};
    expect(hosts?.[0]?.message).toContain('Create TXT _doorplate-challenge.www -> ');
    expect(conditions?.find((c) => c.type === 'Verified')?.status).toBe('True');
    expect((await platform.client.get(domainClaims, www))?.status).not.toHaveProperty('negativeSince');
    expect([await platform.children(uid), platform.certManager.orders.get(www)]).toEqual([children, orders]);
    // And back again.
    await customer.point([www]);
    await verifyAnew(customer);
    await expectHost(customer, www, 'Live Serving');
  });
});

/** A customer that attaches its apex, which has this address. */
async function apexOf(address: string): Promise<Customer> {
  const customer = await Customer.deployed(platform);
  platform.dns.set(customer.zone, record(customer.zone, 'A', address));
  await customer.attach('web', customer.zone);
  return customer;
}

describe('apexOwnership', () => {
  test("is AddressOnly: the edge's address proves an apex, another does not", async () => {
    await start({apexOwnership: 'AddressOnly', singleTenant: true});
    const [ours, others] = [await apexOf('127.0.0.1'), await apexOf('127.0.0.2')];
    await expectHost(ours, ours.zone, 'Live Serving');
    await expectHost(others, others.zone, 'AwaitingVerification ConflictingA');
  });

  test("is TXT, as shipped: the edge's address alone does not", async () => {
    await start({});
    const customer = await apexOf('127.0.0.1');
    await expectHost(customer, customer.zone, 'AwaitingVerification TXTMissing');
  });
});

describe('deniedNames', () => {
  test('names a zone: what is below it is refused, and DNS is not asked about it', async () => {
    await start({});
    const [served, next] = [await Customer.served(platform), await Customer.deployed(platform)];
    await start({deniedNames: [next.zone, served.zone]});
    await next.attach('web', next.host('www'));
    await expectHost(next, next.host('www'), 'NotAccepted HostnameNotAllowed');
    expect(platform.dns.questions(next.zone)).toEqual([]);
    // What is Live already goes at once, and its claim with it.
    await expectHost(served, served.host('www'), 'NotAccepted HostnameNotAllowed');
    expect(await platform.children((await served.domain('web'))?.metadata.uid)).toEqual([]);
  });
});

const acme = (name: string, namespace?: string): AcmeIssuer => ({
  apiVersion: 'cert-manager.io/v1',
  kind: namespace === undefined ? 'ClusterIssuer' : 'Issuer',
  metadata: {name, ...(namespace !== undefined && {namespace})},
  spec: {acme: {server: 'https://ca.test/dir'}},
});
/** By whom the certificates of these customers are issued. */
const issuersOf = async (customers: readonly Customer[]) => {
  const {items} = await platform.client.list(certificates);
  const hosts = new Set(customers.map((c) => c.host('www')));
  return items.flatMap((c) => (hosts.has(c.spec.dnsNames[0] ?? '') ? c.spec.issuerRef.name : [])).toSorted();
};
const ordered = () => [...platform.certManager.orders.values()].reduce((sum, n) => sum + n, 0);

describe('issuerRef', () => {
  test('is an Issuer: the one in the namespace of each Certificate is asked', async () => {
    await platform.client.create(issuers, acme('namespaced', home));
    await start({issuerRef: {name: 'namespaced', kind: 'Issuer'}});
    const customer = await Customer.served(platform);
    const [certificate] = (await platform.client.list(certificates, {namespace: customer.namespace})).items;
    expect(certificate?.spec.issuerRef).toEqual({name: 'namespaced', kind: 'Issuer', group: 'cert-manager.io'});
  });

  test('is changed: Live hostnames stay Live, and get certificates of the new issuer within the budgets', async () => {
    await start({});
    const customers = [await Customer.served(platform), await Customer.served(platform)];
    await platform.client.create(clusterIssuers, acme('another'));
    // Two orders for one hostname within a second count as one: Kubernetes' times have no fractions.
    await wait(2_100);
    await start({issuerRef: {name: 'another'}, budgets: {account: [{limit: 1, per: '1h'}]}});
    await expectSoon(() => issuersOf(customers), ['acme', 'another']);
    await operator!.rest();
    expect(await issuersOf(customers)).toEqual(['acme', 'another']);
    for (const customer of customers) await expectHost(customer, customer.host('www'), 'Live Serving');

    const before = ordered();
    await start({issuerRef: {name: 'another'}});
    await expectSoon(() => issuersOf(customers), ['another', 'another']);
    await operator!.rest();
    for (const customer of customers) await expectHost(customer, customer.host('www'), 'Live Serving');
    expect(ordered()).toBe(before + 1);
  });

  test('is changed: a hostname whose CAA records allow only the former CA stays with it', async () => {
    await start({});
    const customer = await Customer.served(platform);
    platform.dns.forbid(customer.host('www'));
    await platform.client.create(clusterIssuers, acme('forbidden'));
    await start({issuerRef: {name: 'forbidden'}});
    const asked = () => platform.dns.questions(customer.zone).some((q) => q.type === 'CAA');
    await expectSoon(() => Promise.resolve(asked()), true);
    await operator!.rest();
    expect(await issuersOf([customer])).toEqual(['acme']);
    await expectHost(customer, customer.host('www'), 'Live Serving');
  });
});

describe('ingressClassName', () => {
  test("is changed from Traefik's to another: each route gets the new class and none of Traefik's annotations, and plain HTTP is left to the class", async () => {
    await start({plainHttp: {shared: false}});
    const customer = await Customer.deployed(platform);
    const [www, old] = [customer.host('www'), customer.host('old')];
    await customer.point([www, old]);
    await customer.attach('web', www, [old]);
    await expectHost(customer, old, 'Live Redirecting');
    const orders = new Map(platform.certManager.orders);
    const other = ingressClassOf('example.test/ingress-controller');
    await platform.client.create(ingressClasses, {...other, metadata: {name: 'other'}});
    await start({ingressClassName: 'other', plainHttp: {shared: false}});
    const routes = async () =>
      (await platform.client.list(ingresses)).items
        .filter((i) => [www, old, customer.zone].includes(hostsOf(i)[0] ?? ''))
        .map((i) => [hostsOf(i)[0], i.spec.ingressClassName, i.metadata.name.endsWith('-http')])
        .toSorted();
    const expected = [
      [old, 'other', false],
      [www, 'other', false],
    ];
    await expectSoon(routes, expected);
    await operator!.rest();
    expect(await routes()).toEqual(expected);
    const annotations = (await platform.client.list(ingresses)).items.flatMap((i) =>
      Object.keys(i.metadata.annotations ?? {}),
    );
    expect(annotations.filter((a) => a.includes('traefik'))).toEqual([]);
    expect(platform.certManager.orders).toEqual(orders);
    await expectHost(customer, www, 'Live Serving');
  });
});

describe('The class of a controller that cannot be the edge', () => {
  test('is refused at the start with the reason, and nothing is written; a controller that nobody knows is taken', async () => {
    for (const [name, controller] of [
      ['alb', 'ingress.k8s.aws/alb'],
      ['unknown', 'unknown.example/controller'],
    ] as const)
      await platform.client.create(ingressClasses, {...ingressClassOf(controller), metadata: {name}});
    await start({});
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    await customer.point([www]);
    await customer.attach('web', www);
    await expectHost(customer, www, 'Live Serving');
    const classes = async () =>
      (await platform.client.list(ingresses)).items.map((i) => i.spec.ingressClassName).toSorted();
    const before = await classes();
    await expect(start({ingressClassName: 'alb'})).rejects.toThrow(
      'ingressClassName: IngressClass alb cannot be the edge: its controller (ingress.k8s.aws/alb) takes certificates ' +
        'only from AWS Certificate Manager, not from the Secret of an Ingress. Let a Network Load Balancer forward ' +
        'TCP to an ingress controller in the cluster, such as Traefik, and name its class. ' +
        'See docs/how-to/ingress-classes.md',
    );
    expect(await classes()).toEqual(before);
    await start({ingressClassName: 'unknown'});
    await expectHost(customer, www, 'Live Serving');
  });
});

describe('A hostname in Unicode', () => {
  test('is proven, ordered and routed as its A-label', async () => {
    await start({});
    const customer = await Customer.deployed(platform);
    const [typed, ascii] = [customer.host('Bücher'), customer.host('xn--bcher-kva')];
    await customer.point([ascii]);
    await customer.attach('web', typed);
    await expectHost(customer, ascii, 'Live Serving');
    const [certificate] = (await platform.client.list(certificates, {namespace: customer.namespace})).items.filter(
      (c) => c.spec.dnsNames.includes(ascii),
    );
    expect(certificate?.spec.dnsNames).toEqual([ascii]);
    expect((await platform.client.get(domainClaims, ascii))?.status?.holder?.name).toBe('web');
  });
});

describe('operator.workers', () => {
  const controllers = ['customdomain', 'project', 'domainclaim', 'account', 'sharedingress'];
  test.each([
    ['that is not set lets each controller reconcile 30 keys at the same time', {}, 30],
    ['lets each controller reconcile as many keys at the same time', {operator: {workers: 7}}, 7],
  ])('%s', async (_, change, workers) => {
    await start(change);
    const {values} = await operator!.registry.getSingleMetric('controller_runtime_max_concurrent_reconciles')!.get();
    expect(Object.fromEntries(values.map(({labels, value}) => [labels.controller, value]))).toEqual(
      Object.fromEntries(controllers.map((name) => [name, workers])),
    );
  });
});

describe('An edge of IPv6 alone', () => {
  test('an apex is proven by its AAAA and TXT, and Live once the address presents the certificate', async () => {
    const edge = await StandInEdge.start(platform.client, platform.certManager, 'doorplate-redirector', '::1');
    try {
      await start({edge: {addresses: ['::1'], probe: [`[::1]:${edge.port}`]}});
      const customer = await Customer.deployed(platform);
      const apex = customer.zone;
      await customer.attach('web', apex);
      const records = async () => (await customer.domain('web'))?.status?.dnsRecords;
      await expectSoon(async () => (await records())?.map((r) => r.type), ['ALIAS', 'TXT']);
      const token = (await records())?.find((r) => r.type === 'TXT')?.value ?? '';
      const challenge = `_doorplate-challenge.${apex}`;
      platform.dns.set(apex, {name: apex, type: 'AAAA', ttl: 60, data: '::1'});
      platform.dns.set(challenge, {name: challenge, type: 'TXT', ttl: 60, data: token});
      await start({edge: {addresses: ['::1'], probe: [`[::1]:${edge.port}`]}});
      await expectHost(customer, apex, 'Live Serving');
      expect(edge.looks).toBeGreaterThan(0);
    } finally {
      await edge.stop();
    }
  });
});
