/** A Namespace that is made anew, while the operator still has its copy of the old one. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import type {DomainClaim} from '../../operator/api/foreign.ts';
import {
  certificates,
  customDomains,
  domainClaims,
  endpointSlices,
  ingresses,
  namespaces,
  projects,
  services,
} from '../../operator/resources/resources.ts';
import type {KubeObject} from '../../operator/kube/objects.ts';
import {Customer} from '../support/customer.ts';
import {eventually} from '../support/kube-api.ts';
import {RunningOperator} from '../support/operator.ts';
import type {Seen} from '../support/kube-proxy.ts';
import {Platform} from '../support/platform.ts';
import {Api} from '../support/policy.ts';

const path = '/api/v1/namespaces';
let platform: Platform;
let operator: RunningOperator;
let api: Api;
beforeAll(async () => {
  platform = await Platform.start();
  operator = await RunningOperator.start(platform);
  api = new Api(platform.server.credentials);
});
afterAll(async () => {
  await operator?.stop();
  await api?.close();
  await platform?.stop();
});

const isEventIn = (namespace: string, {method, url}: Seen): boolean =>
  method === 'POST' && url.pathname.endsWith(`/namespaces/${namespace}/events`);

/** How often the operator has read this Namespace itself. */
const reads = (namespace: string) =>
  operator.proxy.seen.filter(({url}) => url.pathname === `${path}/${namespace}`).length;

/** Deletes a Namespace and keeps its objects: this API server runs without the namespace controller. */
async function end(namespace: string): Promise<void> {
  await platform.client.delete(namespaces, namespace);
  const ended = {apiVersion: 'v1', kind: 'Namespace', metadata: {name: namespace}, spec: {finalizers: []}};
  await api.send({method: 'PUT', path: `${path}/${namespace}/finalize`, body: ended});
  await eventually(async () => (await platform.client.get(namespaces, namespace)) === undefined);
}

/** Replaces a Namespace with a Namespace of the same name that belongs to no Account. */
async function makeAnew(namespace: string): Promise<void> {
  await end(namespace);
  await platform.client.create(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name: namespace}});
}

/** The platform takes the Account off a Namespace. */
const disown = (customer: Customer) =>
  customer.change(namespaces, customer.namespace, {metadata: {labels: {'doorplate.dev/account': null}}});

/** While nothing of Namespaces reaches the operator. */
async function unseen(work: () => Promise<void>): Promise<void> {
  operator.proxy.holdWatches(({url}) => url.pathname === path);
  try {
    await work();
  } finally {
    operator.proxy.releaseWatches();
  }
}

/** Who holds a hostname after this, when the operator has tried twice to give it to somebody, or has given it. */
async function holderAfter(
  customer: Customer,
  hostname: string,
  begin: () => Promise<unknown>,
): Promise<string | undefined> {
  const before = reads(customer.namespace);
  const unheld = await customer.holder(hostname);
  await begin();
  await eventually(async () => reads(customer.namespace) >= before + 2 || (await customer.holder(hostname)) !== unheld);
  return customer.holder(hostname);
}

/** The platform's word that a hostname is this Account's. */
async function grant(account: string, hostname: string): Promise<void> {
  await platform.client.create<DomainClaim>(domainClaims, {
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'DomainClaim',
    metadata: {name: hostname},
    spec: {tenant: {account}, proof: 'Platform'},
  });
}

test.each([
  ['of an Account', true],
  ['of none', false],
])('a Namespace %s that is made anew does not inherit its default host from the one that was', async (_, owned) => {
  const customer = await Customer.create(platform);
  if (!owned) await disown(customer);
  await customer.deploy('web');
  const host = await customer.target();
  for (const kind of [projects, services, endpointSlices]) await customer.remove(kind, 'web');
  expect(await operator.comesTo(() => customer.holder(host), undefined)).toBeUndefined();
  await operator.rest();

  await unseen(async () => {
    await makeAnew(customer.namespace);
    expect(await holderAfter(customer, host, () => customer.deploy('web'))).toBeUndefined();
  });
  expect(await customer.target()).not.toBe(host);
  expect(await customer.holder(host)).toBeUndefined();
});

test('a hostname that the platform granted to an Account is not served in a Namespace that was taken from it', async () => {
  const customer = await Customer.deployed(platform);
  const www = customer.host('www');
  await grant(customer.namespace, www);
  await operator.rest();

  await unseen(async () => {
    await disown(customer);
    expect(await holderAfter(customer, www, () => customer.attach('web', www))).toBe('nobody');
  });
  const refused = {[www]: 'NotAccepted PlanUpgradeRequired'};
  expect(await operator.comesTo(() => customer.hosts('web'), refused)).toEqual(refused);
  expect(await customer.holder(www)).toBe('nobody');
});

test('in a Namespace that is being deleted, routes and certificates go, and nothing is put back or told', async () => {
  const customer = await Customer.served(platform);
  const www = customer.host('www');
  await operator.rest();
  const from = operator.proxy.seen.length;
  const written = () =>
    operator.proxy.seen
      .slice(from)
      .filter(({method, url}) => method !== 'GET' && url.pathname.includes(`/namespaces/${customer.namespace}/`))
      .map(({method, url}) => `${method} ${url.pathname.split('/').slice(-2)[0]}`);

  // The controller of namespaces, which would delete the rest and then the Namespace, is not here.
  await platform.client.delete(namespaces, customer.namespace);
  const ours = ({items}: {items: readonly KubeObject[]}) =>
    items.filter(({metadata}) => metadata.namespace === customer.namespace).length;
  const standing = async () => [
    ours(await platform.client.list(ingresses)),
    ours(await platform.client.list(certificates)),
  ];
  expect(await operator.comesTo(standing, [0, 0])).toEqual([0, 0]);
  await customer.change(customDomains, 'web', {spec: {redirects: [{from: customer.host('old'), status: 301}]}});
  await customer.remove(services, 'web');
  await operator.rest();
  expect([...new Set(written())].toSorted()).toEqual(['DELETE certificates', 'DELETE ingresses']);

  for (const kind of [customDomains, projects]) await customer.remove(kind, 'web');
  expect(await operator.comesTo(() => customer.domain('web'), undefined)).toBeUndefined();
  expect(await operator.comesTo(() => customer.holder(www), 'nobody')).toBe('nobody');
  await operator.rest();
  expect([...new Set(written())].toSorted()).toEqual([
    'DELETE certificates',
    'DELETE ingresses',
    'PATCH customdomains',
    'PATCH projects',
  ]);
});

test('Events that wait are dropped when their Namespace has gone', async () => {
  const customer = await Customer.deployed(platform);
  await operator.rest();
  const eventsOf = (namespace: string) => operator.proxy.seen.filter((seen) => isEventIn(namespace, seen)).length;
  const {promise: until, resolve: release} = Promise.withResolvers<void>();
  const before = eventsOf(customer.namespace);
  operator.proxy.fate = (seen) => (isEventIn(customer.namespace, seen) ? {until} : 'forward');
  const missing = 'AwaitingVerification RecordMissing';
  await customer.attach('web', customer.host('www'));
  for (const redirects of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
    const sources = redirects.map((label) => customer.host(label));
    await customer.change(customDomains, 'web', {spec: {redirects: sources.map((from) => ({from, status: 301}))}});
    const hosts = Object.fromEntries([customer.host('www'), ...sources].map((hostname) => [hostname, missing]));
    expect(await operator.comesTo(() => customer.hosts('web'), hosts)).toEqual(hosts);
  }

  await end(customer.namespace);
  // One watch reports all Namespaces: an operator that knows the second one has seen the end of the first one.
  const next = await Customer.deployed(platform);
  release();
  operator.spare();
  // The recorder writes Events in order, those of the first Namespace first.
  expect(await operator.comesTo(async () => eventsOf(next.namespace) > 0, true)).toBe(true);
  // The proxy held back one request.
  expect(eventsOf(customer.namespace)).toBe(before + 1);
});

test('a Namespace is read from the API server when a hostname gets a holder, and not again', async () => {
  const customer = await Customer.served(platform);
  await operator.rest();
  // For the default host, and for the hostname.
  expect(reads(customer.namespace)).toBe(2);
  const old = customer.host('old');
  await customer.change(customDomains, 'web', {spec: {redirects: [{from: old, status: 301}]}});
  const missing = 'AwaitingVerification RecordMissing';
  expect(await operator.comesTo(async () => (await customer.hosts('web'))[old], missing)).toBe(missing);
  await operator.rest();
  expect(reads(customer.namespace)).toBe(2);
});
