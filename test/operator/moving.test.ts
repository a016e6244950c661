/** docs/how-to/migrate.md beside the operator: hostnames that come from something else, and those that move. */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {stringify} from 'yaml';
import {ownerLabel} from '../../operator/resources/labels.ts';
import {
  certificateRequests,
  certificates,
  customDomains,
  domainClaims,
  ingresses,
  projects,
} from '../../operator/resources/resources.ts';
import type {Certificate} from '../../operator/api/foreign.ts';
import {secrets} from '../../operator/cli/platform/adopt/read.ts';
import {isRetained} from '../../operator/domain/certificates/certificate.ts';
import {timestamp} from '../../operator/domain/times.ts';
import {keyOf} from '../../operator/kube/objects.ts';
import {type Ended, kubectlDoorplate} from '../support/cli.ts';
import {Customer} from '../support/customer.ts';
import {configMaps} from '../support/kube-api.ts';
import {RunningOperator, settingsFor} from '../support/operator.ts';
import {home, ingressClass, Platform} from '../support/platform.ts';
import {SignedSecrets} from '../support/signed-secrets.ts';

let platform: Platform;
let operator: RunningOperator;
let signed: SignedSecrets;
beforeAll(async () => {
  signed = new SignedSecrets();
  platform = await Platform.start();
  operator = await RunningOperator.start(platform);
  await platform.client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {name: 'doorplate-public', namespace: home},
    data: {'config.yaml': JSON.stringify(settingsFor(platform))},
  });
});
afterAll(async () => {
  await operator?.stop();
  await platform?.stop();
  signed?.remove();
});

const certificatesOf = async (hostname: string): Promise<Certificate[]> =>
  (await platform.client.list(certificates)).items.filter(({spec}) => spec.dnsNames.includes(hostname));

/** The Ingress and the Secret of before, for a hostname that cert-manager is not asked to order. */
async function servedBefore(customer: Customer, hostname: string): Promise<void> {
  const {namespace} = customer;
  platform.certManager.ignore(hostname);
  const data = signed.make({key: 'RSA 2048', names: `DNS:${hostname}`});
  const type = 'kubernetes.io/tls';
  await platform.client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: 'old', namespace},
    type,
    data,
  });
  const backend = {service: {name: 'web', port: {number: 80}}};
  await platform.client.create(ingresses, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {name: 'old', namespace},
    spec: {
      ingressClassName: ingressClass,
      tls: [{hosts: [hostname], secretName: 'old'}],
      rules: [{host: hostname, http: {paths: [{path: '/', pathType: 'Prefix', backend}]}}],
    },
  });
}

/** What cert-manager says of a Certificate whose Secret is there and good. */
async function contentWith(hostname: string): Promise<void> {
  const [renewalTime, notAfter] = [60, 90].map((days) => timestamp(Date.now() + days * 86_400_000));
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: '',
    lastTransitionTime: timestamp(Date.now()),
  };
  for (const certificate of await certificatesOf(hostname)) {
    const status = {conditions: [ready], renewalTime, notAfter};
    await platform.client.patch(certificates, keyOf(certificate), {status}, {type: 'merge', subresource: 'status'});
  }
}

const site = ({namespace}: Customer, primary: string): string =>
  stringify({
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'CustomDomain',
    metadata: {name: 'site', namespace},
    spec: {projectRef: {name: 'web'}, primary},
  });

/** `wait`: what happens whenever the command waits. */
const adopt = ({namespace}: Customer, file: string, wait: () => Promise<void>, ...words: string[]): Promise<Ended> =>
  kubectlDoorplate({credentials: platform.server.credentials, namespace}, ['adopt', '-f', '-', ...words], {
    read: async () => file,
    wait,
  });

describe('A hostname that an Ingress of the platform serves', () => {
  test('and for which a CustomDomain waits is taken over with its key, without a Certificate or an order beside it', async () => {
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    await servedBefore(customer, www);
    const {metadata} = await customer.attach('site', www);
    const ended = await adopt(customer, site(customer, www), async () => {
      // Whatever the operator makes of what is written so far, it has made by now.
      await operator.rest();
      expect((await certificatesOf(www)).filter((c) => c.metadata.labels?.[ownerLabel])).toEqual([]);
      await contentWith(www);
    });
    expect(ended).toMatchObject({code: 0, out: expect.stringContaining(`${www}   ${customer.namespace}   Ready`)});
    expect(await operator.comesTo(() => customer.holder(www), 'CustomDomain site')).toBe('CustomDomain site');
    await operator.rest();
    const [certificate, ...more] = await certificatesOf(www);
    expect(more).toEqual([]);
    expect(certificate?.metadata.labels?.[ownerLabel]).toBe(metadata.uid);
    expect([isRetained(certificate!), certificate?.spec.privateKey.algorithm]).toEqual([false, 'RSA']);
    expect((await platform.client.list(certificateRequests, {namespace: customer.namespace})).items).toEqual([]);
    const routes = (await platform.client.list(ingresses, {namespace: customer.namespace})).items;
    const names = routes.filter(({spec}) => spec.rules?.[0]?.host === www).map(({spec}) => spec.tls?.[0]?.secretName);
    expect(names.toSorted()).toEqual(['old', certificate?.metadata.name].toSorted());
  });

  test('is not its CustomDomain’s yet when the command ends early, and is taken over by the next run', async () => {
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    await servedBefore(customer, www);
    await customer.attach('site', www);
    await expect(adopt(customer, site(customer, www), () => Promise.reject(new Error('ended')))).resolves.toMatchObject(
      {
        code: 1,
      },
    );
    await operator.rest();
    expect([await customer.holder(www), await certificatesOf(www)]).toEqual(['nobody', []]);
    const ended = await adopt(customer, site(customer, www), () => contentWith(www));
    expect(ended.code).toBe(0);
    expect(await operator.comesTo(() => customer.holder(www), 'CustomDomain site')).toBe('CustomDomain site');
    // And once more: it has been done.
    expect((await adopt(customer, site(customer, www), () => Promise.resolve())).out).toContain('UnderWay');
  });

  test('waits with its certificate for a CustomDomain that is not there yet; a dry run writes nothing', async () => {
    const customer = await Customer.deployed(platform);
    const www = customer.host('www');
    await servedBefore(customer, www);
    const dry = await adopt(customer, site(customer, www), () => Promise.resolve(), '--dry-run');
    expect(dry.out).toContain('TakeOver');
    expect([await customer.holder(www), await certificatesOf(www)]).toEqual([undefined, []]);
    const {items} = await platform.client.list(secrets, {namespace: customer.namespace});
    expect(items.map(({metadata: {name}}) => name)).toEqual(['old']);

    await adopt(customer, site(customer, www), () => contentWith(www));
    await operator.rest();
    expect((await certificatesOf(www)).map(isRetained)).toEqual([true]);
    expect((await adopt(customer, site(customer, www), () => Promise.resolve())).out).toContain('Ready');
    await customer.attach('site', www);
    expect(await operator.comesTo(async () => (await certificatesOf(www)).map(isRetained), [false])).toEqual([false]);
  });

  test('and is another tenant’s is left alone', async () => {
    const [customer, other] = [await Customer.deployed(platform), await Customer.create(platform)];
    const www = customer.host('www');
    await servedBefore(customer, www);
    const spec = {tenant: {account: other.namespace}, proof: 'Platform' as const};
    const claim = {apiVersion: 'doorplate.dev/v1alpha1', kind: 'DomainClaim', metadata: {name: www}, spec};
    await platform.client.create(domainClaims, claim);
    const ended = await adopt(customer, site(customer, www), () => Promise.resolve());
    expect([ended.code, ended.out]).toEqual([5, expect.stringContaining('Refused')]);
    expect(await certificatesOf(www)).toEqual([]);
    expect((await platform.client.get(domainClaims, www))?.spec).toEqual(spec);
  });
});

describe('A hostname that is Live', () => {
  test('goes to another Service when its Project does, by the same route and certificate', async () => {
    const customer = await Customer.served(platform);
    const www = customer.host('www');
    const routeOf = async () => {
      const {items} = await platform.client.list(ingresses, {namespace: customer.namespace});
      const [route] = items.filter(({spec}) => spec.rules?.[0]?.host === www && spec.tls);
      return [route?.metadata.uid, route?.spec.rules?.[0]?.http?.paths[0]?.backend.service?.name];
    };
    const [uid] = await routeOf();
    await customer.service('next');
    await customer.endpoints('next');
    await customer.change(projects, 'web', {spec: {serviceRef: {name: 'next'}}});
    expect(await operator.comesTo(routeOf, [uid, 'next'])).toEqual([uid, 'next']);
    expect(await customer.hosts('web')).toEqual({[www]: 'Live Serving'});
    expect(platform.certManager.orders.get(www)).toBe(1);
  });

  test('is taken away from one Project and added to another of its namespace: with a proof of now, and without an order', async () => {
    const customer = await Customer.served(platform);
    const www = customer.host('www');
    await customer.deploy('second');
    await customer.remove(customDomains, 'web');
    expect(await operator.comesTo(() => customer.holder(www), 'nobody')).toBe('nobody');
    await customer.attach('second', www, [], 'second');
    await operator.rest();
    expect((await customer.hosts('second'))[www]).toMatch(/^AwaitingVerification/);
    await customer.point([www], 'second');
    await customer.change(customDomains, 'second', {
      metadata: {annotations: {'doorplate.dev/requestedAt': timestamp(Date.now())}},
    });
    const live = {[www]: 'Live Serving'};
    expect(await operator.comesTo(() => customer.hosts('second'), live, {atLeastMs: 30_000})).toEqual(live);
    expect(platform.certManager.orders.get(www)).toBe(1);
  });

  test('passes over to another Project of its tenant when DNS names that one: its certificate is handed over, without an order', async () => {
    const customer = await Customer.served(platform);
    const www = customer.host('www');
    await customer.deploy('second');
    await customer.attach('second', www, [], 'second');
    await operator.rest();
    await customer.point([www], 'second');
    await customer.change(customDomains, 'second', {
      metadata: {annotations: {'doorplate.dev/requestedAt': timestamp(Date.now())}},
    });
    const live = {[www]: 'Live Serving'};
    expect(await operator.comesTo(() => customer.hosts('second'), live, {atLeastMs: 30_000})).toEqual(live);
    expect(await customer.holder(www)).toBe('CustomDomain second');
    expect(platform.certManager.orders.get(www)).toBe(1);
  });

  test('goes to another Account by the platform’s word, and not before its holder is gone', async () => {
    const [customer, next] = [await Customer.served(platform), await Customer.deployed(platform)];
    const www = customer.host('www');
    const account = async () => (await platform.client.get(domainClaims, www))?.spec.tenant.account;
    const given = {spec: {tenant: {account: next.namespace}, proof: 'Platform'}};
    const give = () => platform.client.patch(domainClaims, www, given, {type: 'merge'});
    await give();
    expect(await operator.comesTo(account, customer.namespace)).toBe(customer.namespace);
    expect(await customer.hosts('web')).toEqual({[www]: 'Live Serving'});

    await customer.remove(customDomains, 'web');
    expect(await operator.comesTo(() => customer.holder(www), 'nobody')).toBe('nobody');
    await give();
    await next.attach('web', www);
    // DNS names the former one's Project still.
    const live = {[www]: 'Live Serving'};
    expect(await operator.comesTo(() => next.hosts('web'), live, {atLeastMs: 30_000})).toEqual(live);
    expect(await account()).toBe(next.namespace);
  });
});
