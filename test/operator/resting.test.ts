/** Coming back costs no order: while a hostname rests with its tenant, so does its Certificate. Nobody else gets anything of it. */
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import type {Certificate} from '../../operator/api/foreign.ts';
import {
  certificateRequests,
  certificates,
  customDomains,
  domainClaims,
  namespaces,
  projects,
} from '../../operator/resources/resources.ts';
import {timestamp} from '../../operator/domain/times.ts';
import {keyOf} from '../../operator/kube/objects.ts';
import {Customer} from '../support/customer.ts';
import {isWrite, RunningOperator, type Settings, settingsFor} from '../support/operator.ts';
import {Platform, zone} from '../support/platform.ts';

const times = 10;
let platform: Platform;
let operator: RunningOperator;
beforeAll(async () => {
  platform = await Platform.start();
});
afterAll(async () => {
  await platform?.stop();
});

const start = async (change: Settings = {}): Promise<void> => {
  const {dns} = settingsFor(platform);
  // Who comes back again and again is checked by the schedule.
  operator = await RunningOperator.start(platform, {
    dns: {...dns, waitSchedule: [{every: '1s', for: '24h'}]},
    ...change,
  });
};
/** Each test of a describe has an operator with these settings. */
const withOperator = (change: Settings = {}) => {
  beforeEach(() => start(change));
  afterEach(() => operator?.stop());
};

async function expectSoon<T>(read: () => Promise<T>, expected: T): Promise<void> {
  expect(await operator.comesTo(read, expected, {atLeastMs: 20_000})).toEqual(expected);
}

/** `Live Serving`, as status says it. */
const says = async (customer: Customer, hostname: string) => (await customer.hosts('web'))[hostname];
/** How many orders each of these hostnames has had. */
const orders = (...hostnames: string[]) => hostnames.map((h) => platform.certManager.orders.get(h));
const restingOf = async (hostname: string): Promise<Certificate[]> =>
  (await platform.resting()).filter((c) => c.spec.dnsNames.includes(hostname));
const countResting =
  (...hostnames: string[]) =>
  async () =>
    (await Promise.all(hostnames.map(restingOf))).flat().length;

/** `www` is Live, and `old` redirects to it. `before`: what becomes of the customer before its hostnames are attached. */
async function served(
  before: (customer: Customer) => Promise<void> = async () => {},
): Promise<{customer: Customer; www: string; old: string; back: () => Promise<void>}> {
  const customer = await Customer.deployed(platform);
  await before(customer);
  const [www, old] = [customer.host('www'), customer.host('old')];
  await customer.point([www, old]);
  const back = async () => {
    await customer.attach('web', www, [old]);
    await expectSoon(() => customer.hosts('web'), {[www]: 'Live Serving', [old]: 'Live Redirecting'});
  };
  await back();
  return {customer, www, old, back};
}

/** Its CustomDomain is deleted, and its hostname is in quarantine. */
async function removed(customer: Customer, hostname: string): Promise<void> {
  await customer.remove(customDomains, 'web');
  await expectSoon(() => customer.holder(hostname), 'nobody');
  await operator.rest();
}

/** The writes of the operator about the Certificates and the claim of a hostname, in their order. */
const writesAbout = (hostname: string, {metadata: {name}}: Certificate, from: number): string[] =>
  operator.proxy.seen
    .slice(from)
    .filter(isWrite)
    .flatMap(({method, url: {pathname}}) => {
      if (pathname.endsWith(`/certificates/${name}`)) return [`${method} certificate`];
      return pathname.endsWith('/domainclaims') || pathname.endsWith(`/domainclaims/${hostname}`)
        ? [`${method} claim`]
        : [];
    });

describe('A CustomDomain', () => {
  withOperator({defaultPlan: 'pro'});

  test(`that is deleted and made anew ${times} times costs one order a hostname in all, a restart in between`, async () => {
    const {customer, www, old, back} = await served();
    for (let i = 0; i < times; i++) {
      await removed(customer, www);
      if (i === times / 2) {
        await operator.stop();
        await start();
      }
      await back();
    }
    expect(orders(www, old)).toEqual([1, 1]);
    await expectSoon(countResting(www, old), 0);
  });

  test('that comes back in a namespace that was given to an Account meanwhile costs no order', async () => {
    const {customer, www, old, back} = await served(async (newcomer) => {
      await newcomer.change(namespaces, newcomer.namespace, {metadata: {labels: {'doorplate.dev/account': null}}});
    });
    await removed(customer, www);
    await expectSoon(countResting(www, old), 2);
    const labels = {'doorplate.dev/account': customer.namespace};
    await customer.change(namespaces, customer.namespace, {metadata: {labels}});
    await operator.rest();
    await back();
    expect(orders(www, old)).toEqual([1, 1]);
    await expectSoon(countResting(www, old), 0);
  });

  test('whose redirect is taken out and put in again costs one order', async () => {
    const {customer, www, old} = await served();
    const edit = (sources: string[]) =>
      customer.change(customDomains, 'web', {spec: {redirects: sources.map((from) => ({from, status: 301}))}});
    for (let i = 0; i < 3; i++) {
      await edit([]);
      await expectSoon(() => customer.hosts('web'), {[www]: 'Live Serving'});
      await expectSoon(countResting(old), 1);
      await edit([old]);
      await expectSoon(() => says(customer, old), 'Live Redirecting');
    }
    expect(orders(www, old)).toEqual([1, 1]);
  });

  test('whose hostnames change places costs one order more for each, and none when they change back', async () => {
    const {customer, www, old} = await served();
    for (let i = 0; i < 2; i++) {
      const [primary, source] = i % 2 === 0 ? [old, www] : [www, old];
      await customer.change(customDomains, 'web', {spec: {primary, redirects: [{from: source, status: 301}]}});
      await expectSoon(() => customer.hosts('web'), {[primary]: 'Live Serving', [source]: 'Live Redirecting'});
      await operator.rest();
    }
    expect(orders(www, old)).toEqual([2, 2]);
  });

  test('that is removed before its certificate is there leaves nothing to rest', async () => {
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    platform.certManager.hold(www);
    await customer.point([www]);
    await customer.attach('web', www);
    await expectSoon(() => says(customer, www), 'Verified Issuing');
    await removed(customer, www);
    expect(await restingOf(www)).toEqual([]);
    await platform.certManager.idle();
    expect((await platform.client.list(certificates, {namespace: customer.namespace})).items).toEqual([]);
  });
});

describe('A Project with a certificate of its own', () => {
  withOperator({platform: {zone, tls: 'PerProject'}});

  test(`that is deleted and made anew ${times} times costs one order in all, and so do the hostnames attached to it`, async () => {
    const {customer, www, old} = await served();
    const host = await customer.target();
    for (let i = 0; i < times; i++) {
      await customer.remove(projects, 'web');
      await expectSoon(() => says(customer, www), 'NotAccepted ProjectNotFound');
      await expectSoon(() => customer.holder(host), 'nobody');
      await expectSoon(countResting(host, www, old), 3);
      await customer.publish('web');
      await expectSoon(() => customer.hosts('web'), {[www]: 'Live Serving', [old]: 'Live Redirecting'});
      await expectSoon(() => customer.holder(host), 'Project web');
      await expectSoon(countResting(host, www, old), 0);
    }
    expect(orders(host, www, old)).toEqual([1, 1, 1]);
  });
});

describe('A Certificate that rests', () => {
  withOperator();

  test('goes before another tenant’s claim is written, who gets its own', async () => {
    const {customer, www} = await served();
    await removed(customer, www);
    const [resting] = await restingOf(www);
    const other = await Customer.deployed(platform);
    await other.point([www]);
    const from = operator.proxy.seen.length;
    await other.attach('web', www);
    await expectSoon(() => says(other, www), 'Live Serving');
    expect(writesAbout(www, resting!, from).slice(0, 2)).toEqual(['DELETE certificate', 'PATCH claim']);
    expect(await restingOf(www)).toEqual([]);
    expect(orders(www)).toEqual([2]);
    const {items} = await platform.client.list(certificates);
    expect(items.filter((c) => c.spec.dnsNames.includes(www)).map((c) => c.metadata.namespace)).toEqual([
      other.namespace,
    ]);
  });

  test.each([
    ['', {}],
    [', and its claim has lost its orders', {orders: null}],
  ])('goes when the platform makes its hostname another tenant’s%s', async (_, change) => {
    const {customer, www} = await served();
    await removed(customer, www);
    expect(await restingOf(www)).toHaveLength(1);
    const status = {generation: 2, quarantinedUntil: null, ...change};
    await platform.client.patch(
      domainClaims,
      www,
      {spec: {tenant: {account: 'another'}, proof: 'Platform'}, status},
      {type: 'merge'},
    );
    await expectSoon(countResting(www), 0);
    expect((await platform.client.get(domainClaims, www))?.status?.orders).toHaveLength(1);
  });

  test('goes shortly before its renewal, although the hostname is its tenant’s still', async () => {
    const {customer, www} = await served();
    const [certificate] = (await platform.client.list(certificates, {namespace: customer.namespace})).items;
    const day = 86_400_000;
    const renewal = Date.parse(timestamp(Date.now() + 9 * day));
    await platform.client.patch(
      certificates,
      keyOf(certificate!),
      {status: {renewalTime: timestamp(renewal)}},
      {type: 'merge', subresource: 'status'},
    );
    await operator.rest();
    await removed(customer, www);
    const [resting] = await restingOf(www);
    const until = 'doorplate.dev/rests-until';
    expect(resting?.metadata.annotations?.[until]).toBe(timestamp(renewal - 300_000));
    // As if these days had passed, but for two seconds.
    const annotations = {[until]: timestamp(Date.now() + 2000)};
    await platform.client.patch(certificates, keyOf(resting!), {metadata: {annotations}}, {type: 'merge'});
    await expectSoon(countResting(www), 0);
    expect(await customer.holder(www)).toBe('nobody');
  });

  test('goes when its key was deleted, so that cert-manager is about to ask for another', async () => {
    const {customer, www} = await served();
    await removed(customer, www);
    platform.certManager.ignore(www);
    const [{metadata, status} = {metadata: {name: ''}}] = await restingOf(www);
    const issuing = {type: 'Issuing', status: 'True', reason: 'DoesNotExist', message: '', lastTransitionTime: ''};
    await platform.client.patch(
      certificates,
      keyOf({metadata}),
      {status: {conditions: [...(status?.conditions ?? []), issuing]}},
      {type: 'merge', subresource: 'status'},
    );
    await expectSoon(countResting(www), 0);
  });

  test('goes when cert-manager has asked for another', async () => {
    const {customer, www} = await served();
    await removed(customer, www);
    const [{metadata: {name, namespace = '', uid = '', labels} = {name: ''}} = {}] = await restingOf(www);
    await platform.client.create(certificateRequests, {
      apiVersion: 'cert-manager.io/v1',
      kind: 'CertificateRequest',
      metadata: {
        name: `${name}-2`,
        namespace,
        labels,
        annotations: {'cert-manager.io/certificate-name': name, 'cert-manager.io/certificate-revision': '2'},
        ownerReferences: [{apiVersion: 'cert-manager.io/v1', kind: 'Certificate', name, uid, controller: true}],
      },
    });
    await expectSoon(countResting(www), 0);
  });

  test('has no owner, and comes back to a CustomDomain of another name', async () => {
    const {customer, www} = await served();
    await removed(customer, www);
    const [resting] = await restingOf(www);
    expect(resting?.metadata.ownerReferences).toBeUndefined();
    const domain = await customer.attach('other', www);
    await expectSoon(async () => (await customer.hosts('other'))[www], 'Live Serving');
    const now = await platform.client.get(certificates, keyOf(resting!));
    expect(now?.metadata).toMatchObject({
      uid: resting?.metadata.uid,
      labels: {'doorplate.dev/owner-uid': domain.metadata.uid},
    });
    expect(now?.metadata.labels).not.toHaveProperty('doorplate.dev/resting');
    expect(now?.metadata.ownerReferences).toBeUndefined();
    expect(now?.spec).not.toHaveProperty('renewBefore');
    expect(orders(www)).toEqual([1]);
  });

  test('is not there for a namespace that is being deleted, also where it would stand in Doorplate’s', async () => {
    const {customer, www, old} = await served();
    await platform.client.delete(namespaces, customer.namespace);
    await expectSoon(async () => {
      const {items} = await platform.client.list(certificates);
      return items.filter((c) => [www, old].includes(c.spec.dnsNames[0] ?? '')).length;
    }, 0);
  });
});

describe('At the end of the quarantine', () => {
  withOperator({quarantineTime: '10s'});

  test('a Certificate that rests goes before its claim', async () => {
    const {customer, www} = await served();
    const [certificate] = (await platform.client.list(certificates, {namespace: customer.namespace})).items;
    const from = operator.proxy.seen.length;
    await customer.remove(customDomains, 'web');
    await expectSoon(() => customer.holder(www), undefined);
    expect(await restingOf(www)).toEqual([]);
    // Until it is told of a deletion it may ask for it again, by the same uid.
    const writes = writesAbout(www, certificate!, from)
      .filter((w) => w !== 'PATCH claim')
      .filter((write, i, all) => write !== all[i - 1]);
    expect(writes).toEqual(['PATCH certificate', 'DELETE certificate', 'DELETE claim']);
  });
});
