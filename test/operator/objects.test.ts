/**
 * Whatever happens to an object, those that depend on it are decided anew. All that looks again by itself is set to an
 * hour, so a wake-up that is lost is not healed by the next look.
 */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import type {Account, DomainClaim, Ingress} from '../../operator/api/foreign.ts';
import {hostsOf} from '../../operator/controllers/state/rendering.ts';
import {
  accounts,
  customDomains,
  domainClaims,
  endpointSlices,
  ingressClasses,
  ingresses,
  namespaces,
  plans,
  projects,
} from '../../operator/resources/resources.ts';
import {entryPointsAnnotation} from '../../operator/domain/routes/ingress.ts';
import {keyOf} from '../../operator/kube/objects.ts';
import {Customer} from '../support/customer.ts';
import {RunningOperator} from '../support/operator.ts';
import {home, ingressClass, ingressClassOf, Platform, planOf} from '../support/platform.ts';

const apiVersion = 'doorplate.dev/v1alpha1';
const missing = 'AwaitingVerification RecordMissing';
let platform: Platform;
let operator: RunningOperator;
beforeAll(async () => {
  platform = await Platform.start();
  operator = await RunningOperator.start(platform);
});
afterAll(async () => {
  await operator?.stop();
  await platform?.stop();
});

async function expectSoon<T>(read: () => Promise<T>, expected: T): Promise<void> {
  expect(await operator.comesTo(read, expected)).toEqual(expected);
}

/** A hostname reads so, as `Live Serving`, and the operator is at rest. */
async function expectHost(
  customer: Customer,
  hostname: string,
  expected: string | undefined,
  domain = 'web',
): Promise<void> {
  await expectSoon(async () => (await customer.hosts(domain))[hostname], expected);
  await operator.rest();
}

/** A customer whose hostname `www` is Live. */
async function served(): Promise<{customer: Customer; www: string}> {
  const customer = await Customer.served(platform);
  await operator.rest();
  return {customer, www: customer.host('www')};
}

/** An Ingress that serves a hostname. */
async function ingressOf(hostname: string): Promise<Ingress> {
  const found = (await platform.client.list(ingresses)).items.find(
    (i) => hostsOf(i).includes(hostname) && i.metadata.namespace !== home,
  );
  if (!found) throw new Error(`${hostname} has no Ingress`);
  return found;
}

/** Somebody else's finalizer on an Ingress: it goes when that is taken off. */
async function hold(ingress: Ingress, held: boolean): Promise<void> {
  await platform.client.patch(
    ingresses,
    keyOf(ingress),
    {metadata: {finalizers: held ? ['test.doorplate.dev/held'] : []}},
    {type: 'merge'},
  );
}

/** Somebody turns an Ingress elsewhere; what it leads to then. */
async function tamper(hostname: string): Promise<void> {
  const ingress = await ingressOf(hostname);
  await platform.client.patch(ingresses, keyOf(ingress), {spec: {ingressClassName: 'elsewhere'}}, {type: 'merge'});
}
/** Whether the Ingress of a hostname is bound to one listener, as Traefik's are. */
const isBound = async (hostname: string) =>
  entryPointsAnnotation in ((await ingressOf(hostname)).metadata.annotations ?? {});
const resting = (quarantinedUntil: string) => ({generation: 1, quarantinedUntil});
const planFound = async (account: string) =>
  (await platform.client.get(accounts, account))?.status?.conditions?.[0]?.reason;
const deployed = async (customer: Customer) => (await customer.project('web'))?.status?.conditions?.[0]?.reason;
const classOf = async (hostname: string) => (await ingressOf(hostname)).spec.ingressClassName;

describe('A CustomDomain', () => {
  test('that is created: its hostnames are checked, and status says what was found', async () => {
    const customer = await Customer.deployed(platform);
    await customer.attach('web', customer.host('www'));
    await expectHost(customer, customer.host('www'), missing);
  });

  test('that gets another hostname: that one is checked, too', async () => {
    const customer = await Customer.deployed(platform);
    await customer.attach('web', customer.host('www'));
    await expectHost(customer, customer.host('www'), missing);
    await customer.change(customDomains, 'web', {spec: {redirects: [{from: customer.host('old'), status: 301}]}});
    await expectHost(customer, customer.host('old'), missing);
  });

  test('that is deleted: the next oldest of its Project is accepted', async () => {
    const customer = await Customer.deployed(platform);
    await customer.attach('a', customer.host('a'));
    await customer.attach('b', customer.host('b'));
    await expectHost(customer, customer.host('b'), 'NotAccepted ProjectHasDomains', 'b');
    await customer.remove(customDomains, 'a');
    await expectHost(customer, customer.host('b'), missing, 'b');
  });

  test('that becomes Live: the default host of its Project redirects to it', async () => {
    const customer = await Customer.create(platform);
    await customer.deploy('web', {defaultHost: 'RedirectToPrimary'});
    const www = customer.host('www');
    await customer.point([www]);
    await customer.attach('web', www);
    await expectSoon(async () => (await customer.project('web'))?.status?.redirect?.to, www);
  });

  test('that drops a hostname: its claim is released', async () => {
    const customer = await Customer.deployed(platform);
    const [www, old] = [customer.host('www'), customer.host('old')];
    // Held and without routes, so that nothing else tells of it.
    for (const name of [www, old]) platform.dns.forbid(name);
    await customer.point([www, old]);
    await customer.attach('web', www, [old]);
    await expectHost(customer, old, 'Verified CAABlocksIssuer');
    await customer.change(customDomains, 'web', {spec: {redirects: null}});
    await expectSoon(async () => (await customer.holder(old)) === 'CustomDomain web', false);
  });
});

describe('A Project', () => {
  test('that is created: it has a default host', async () => {
    const customer = await Customer.create(platform);
    // Without a Service, and when its Namespace is known: what is seen of these later would wake it as well.
    const www = customer.host('www');
    await customer.attach('web', www, [], 'other');
    await expectHost(customer, www, 'NotAccepted ProjectNotFound');
    await customer.publish('web');
    await expectSoon(async () => (await customer.project('web'))?.status?.host !== undefined, true);
  });

  test('that is created after its CustomDomain: the CustomDomain is accepted', async () => {
    const customer = await Customer.create(platform);
    const www = customer.host('www');
    await customer.attach('web', www);
    await expectHost(customer, www, 'NotAccepted ProjectNotFound');
    await customer.deploy('web');
    await expectHost(customer, www, missing);
  });

  test('that is deleted: the claim of its default host goes with it', async () => {
    const customer = await Customer.create(platform);
    await customer.deploy('web', {defaultHost: 'Disabled'});
    const host = await customer.target();
    await expectSoon(() => customer.holder(host), 'Project web');
    await operator.rest();
    await customer.remove(projects, 'web');
    await expectSoon(() => customer.holder(host), undefined);
  });
});

describe('A tenant', () => {
  test('whose Account gets another plan: its CustomDomains are decided again', async () => {
    const customer = await Customer.deployed(platform);
    await customer.attach('web', customer.host('www'));
    await expectHost(customer, customer.host('www'), missing);
    await customer.change(accounts, customer.namespace, {spec: {planRef: {name: 'free'}}});
    await expectHost(customer, customer.host('www'), 'NotAccepted PlanUpgradeRequired');
  });

  test('whose Namespace passes to another Account: the claim of its default host goes with it', async () => {
    const [customer, other] = [await Customer.deployed(platform), await Customer.create(platform)];
    const host = await customer.target();
    const account = async () => (await platform.client.get(domainClaims, host))?.spec.tenant.account;
    await expectSoon(account, customer.namespace);
    await operator.rest();
    await customer.change(namespaces, customer.namespace, {
      metadata: {labels: {'doorplate.dev/account': other.namespace}},
    });
    await expectSoon(account, other.namespace);
  });
});

describe('A DomainClaim', () => {
  test('whose quarantine has ended: it is deleted', async () => {
    const customer = await Customer.create(platform);
    const name = customer.host('rests');
    await platform.client.create<DomainClaim>(domainClaims, {
      apiVersion,
      kind: 'DomainClaim',
      metadata: {name},
      spec: {tenant: {account: customer.namespace}, proof: 'DNS'},
      status: resting('2099-01-01T00:00:00Z'),
    });
    await operator.rest();
    expect(await customer.holder(name)).toBe('nobody');
    await customer.change(domainClaims, name, {status: resting('2020-01-01T00:00:00Z')});
    await expectSoon(() => customer.holder(name), undefined);
  });

  test('that the platform writes: the hostname that waited for a proof goes Live', async () => {
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    await customer.attach('web', www);
    await expectHost(customer, www, missing);
    await platform.client.create<DomainClaim>(domainClaims, {
      apiVersion,
      kind: 'DomainClaim',
      metadata: {name: www},
      spec: {tenant: {account: customer.namespace}, proof: 'Platform'},
    });
    await expectHost(customer, www, 'Live Serving');
  });

  test('that somebody deletes while the former primary is still served: the claim is made again', async () => {
    const {customer, www} = await served();
    await customer.change(customDomains, 'web', {spec: {primary: customer.host('next')}});
    await expectHost(customer, www, 'Live ServedUntilReplaced');
    await platform.client.delete(domainClaims, www);
    await expectSoon(() => customer.holder(www), 'CustomDomain web');
  });

  test('of a default host, deleted by somebody: its Project claims the host again', async () => {
    const customer = await Customer.deployed(platform);
    const host = await customer.target();
    await operator.rest();
    await platform.client.delete(domainClaims, host);
    await expectSoon(() => customer.holder(host), 'Project web');
  });
});

describe('An Ingress', () => {
  test('of a CustomDomain, changed by somebody: it is restored', async () => {
    const {www} = await served();
    await tamper(www);
    await expectSoon(() => classOf(www), ingressClass);
  });

  test('of a Project, changed by somebody: it is restored', async () => {
    const customer = await Customer.deployed(platform);
    const host = await customer.target();
    await operator.rest();
    await tamper(host);
    await expectSoon(() => classOf(host), ingressClass);
  });

  test('that is finally gone: the claim of its dropped hostname is released', async () => {
    const {customer, www} = await served();
    await customer.point([customer.host('next')]);
    const ingress = await ingressOf(www);
    await hold(ingress, true);
    await operator.rest();
    await customer.change(customDomains, 'web', {spec: {primary: customer.host('next')}});
    await expectHost(customer, www, undefined);
    expect(await customer.holder(www)).toBe('CustomDomain web');
    await hold(ingress, false);
    await expectSoon(() => customer.holder(www), 'nobody');
  });

  test('that is finally gone: the new holder of its hostname is served', async () => {
    const {customer, www} = await served();
    const other = await Customer.deployed(platform);
    const ingress = await ingressOf(www);
    await hold(ingress, true);
    await other.point([www]);
    await other.attach('web', www);
    await expectHost(other, www, 'Verified EdgePending');
    expect(await customer.holder(www)).toBe('CustomDomain web');
    await hold(ingress, false);
    await expectHost(other, www, 'Live Serving');
  });
});

describe('An Account', () => {
  test('whose plan is created after it: status says whether the plan exists', async () => {
    const name = (await Customer.create(platform)).namespace;
    await expectSoon(() => planFound(name), 'PlanFound');
    await platform.client.patch<Account>(accounts, name, {spec: {planRef: {name}}}, {type: 'merge'});
    await expectSoon(() => planFound(name), 'PlanNotFound');
    await operator.rest();
    await platform.client.create(plans, planOf(name, 1));
    await expectSoon(() => planFound(name), 'PlanFound');
  });
});

describe('A Service', () => {
  test('that is created after its Project: the Project is deployed', async () => {
    const customer = await Customer.create(platform);
    await customer.endpoints('web');
    await customer.publish('web');
    await expectSoon(() => deployed(customer), 'ServiceNotFound');
    await operator.rest();
    await customer.service('web');
    await expectSoon(() => deployed(customer), 'Deployed');
  });

  test('that gets its first ready endpoint: the Project is deployed', async () => {
    const customer = await Customer.create(platform);
    await customer.service('web');
    await customer.endpoints('web', false);
    await customer.publish('web');
    await expectSoon(() => deployed(customer), 'NoReadyEndpoint');
    await operator.rest();
    await customer.change(endpointSlices, 'web', {endpoints: [{addresses: ['192.0.2.7'], conditions: {ready: true}}]});
    await expectSoon(() => deployed(customer), 'Deployed');
  });
});

describe('The ingress class', () => {
  test("that stops being Traefik's and becomes it again: the Ingresses of CustomDomains and Projects follow", async () => {
    const {customer, www} = await served();
    const host = await customer.target();
    const both = async () => [await isBound(www), await isBound(host)];
    await expectSoon(both, [true, true]);
    await platform.client.delete(ingressClasses, ingressClass);
    await expectSoon(both, [false, false]);
    await platform.client.create(ingressClasses, ingressClassOf('traefik.io/ingress-controller'));
    await expectSoon(both, [true, true]);
  });
});
