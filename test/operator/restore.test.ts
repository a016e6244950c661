/**
 * All objects of a cluster, written again into an empty one as Velero does it (its pkg/restore/restore.go): kinds, namespaces, then the
 * rest; with their labels, annotations, finalizers and field owners, under other UIDs, without owners and without any status that it is not
 * told to restore.
 */
import {isDeepStrictEqual} from 'node:util';
import {expect, test} from '@jest/globals';
import type {DomainClaim} from '../../operator/api/foreign.ts';
import {
  accounts,
  apiKeys,
  certificateRequests,
  certificates,
  customDomains,
  domainClaims,
  endpointSlices,
  ingresses,
  namespaces,
  projects,
  services,
} from '../../operator/resources/resources.ts';
import {hostsOf} from '../../operator/controllers/state/rendering.ts';
import {type KubeObject, keyOf, type Resource} from '../../operator/kube/objects.ts';
import {ApiWorld} from '../support/api-role.ts';
import {Customer} from '../support/customer.ts';
import {eventually} from '../support/kube-api.ts';
import {RunningOperator} from '../support/operator.ts';
import {Platform} from '../support/platform.ts';

/** In Velero's order: namespaces, and then by name. Nobody restores what the platform of a test makes itself. */
const kinds: Resource[] = [
  namespaces,
  accounts,
  apiKeys,
  certificateRequests,
  certificates,
  customDomains,
  domainClaims,
  endpointSlices,
  ingresses,
  projects,
  services,
];

type Backup = [Resource, KubeObject][];

async function backUp(platform: Platform, customers: readonly Customer[]): Promise<Backup> {
  const mine = new Set(customers.map(({namespace}) => namespace));
  const lists = await Promise.all(kinds.map((kind) => platform.client.list(kind)));
  return lists.flatMap(({items}, i) =>
    items
      .filter(({kind, metadata: {name}}) => kind !== 'Namespace' || mine.has(name))
      .filter(({metadata: {namespace}}) => namespace !== 'default')
      .map((object): [Resource, KubeObject] => [kinds[i]!, object]),
  );
}

/** Creates the objects as backup tools do: a Service gets a new address, because another one may have the former address by now. */
async function restore(platform: Platform, backup: Backup, withStatus: readonly Resource[]): Promise<void> {
  for (const [kind, {metadata, ...rest}] of backup) {
    const {name, namespace, labels, annotations, finalizers} = metadata;
    const {status, ...content} = rest as KubeObject & {status?: object; spec?: object};
    if (kind === services) content.spec = {...content.spec, clusterIP: undefined, clusterIPs: undefined};
    const created = await platform.client.create(kind, {
      ...content,
      ...(withStatus.includes(kind) && {status}),
      metadata: {name, namespace, labels, annotations, finalizers},
    } as KubeObject);
    const {managedFields} = metadata as {managedFields?: object[]};
    await platform.client.patch(kind, keyOf(created), {metadata: {managedFields}}, {type: 'merge'});
  }
}

/** Adds a hostname to the project `shop` through the API. Returns the HTTP status. */
async function addByApi(api: ApiWorld, key: string, hostname: string): Promise<number> {
  const path = '/v1/projects/shop/domains';
  await eventually(async () => (await api.ask(path, {key})).status === 200);
  return (await api.ask(path, {key, method: 'POST', body: {hostname}})).status;
}

/** The TXT record that proves a hostname. */
async function token(customer: Customer, hostname: string): Promise<string | undefined> {
  const records = (await customer.domain('web'))?.status?.dnsRecords ?? [];
  return records.find((r) => r.type === 'TXT' && r.hostname === hostname)?.value;
}

test.each<[string, Resource[]]>([
  ['without any status', []],
  ['with the status of DomainClaims', [domainClaims]],
])(
  'an Account has its default hosts, claims and tokens again, a tenant without one is another (%s)',
  async (_, withStatus) => {
    const first = await Platform.start();
    const before = await RunningOperator.start(first);
    const [customer, lone] = [await Customer.served(first), await Customer.create(first)];
    const {namespace, zone} = customer;
    const [www, old] = ['www', 'old'].map((label) => customer.host(label)) as [string, string];
    await lone.change(namespaces, lone.namespace, {metadata: {labels: {'doorplate.dev/account': null}}});
    await lone.deploy('web');
    const [host, itsHost] = [await customer.target(), await lone.target()];
    await customer.point([old]);
    await customer.change(customDomains, 'web', {spec: {redirects: [old, zone].map((from) => ({from, status: 301}))}});
    await eventually(async () => (await customer.hosts('web'))[old] === 'Live Redirecting');
    const told = await eventually(async () => (await token(customer, zone)) ?? false);
    await customer.deploy('shop');
    const firstApi = await ApiWorld.over(first.server);
    const key = await firstApi.key(namespace, 'ci');
    expect(await addByApi(firstApi, key, customer.host('shop'))).toBe(201);
    await firstApi.leave();
    await before.rest();
    const backup = await backUp(first, [customer, lone]);
    await before.stop();
    await first.stop();

    const second = await Platform.start();
    const again = Customer.of(second, namespace);
    for (const hostname of [www, old]) second.dns.point(hostname, host);
    await restore(second, backup, withStatus);
    const misplacedRecord = (await second.client.list(ingresses)).items.map(({metadata}) => metadata.uid);
    await second.certManager.idle();
    const ordered = (hostname: string) => second.certManager.orders.get(hostname);
    const orders = [ordered(www), ordered(old)];
    const after = await RunningOperator.start(second);
    try {
      const reached = async () => {
        const hosts = await again.hosts('web');
        return [hosts[www], hosts[old]];
      };
      const live = ['Live Serving', 'Live Redirecting'];
      const phases = await after.comesTo(reached, live);
      const {conditions, hosts} = (await again.domain('web'))?.status ?? {};
      // Where it does not come to that, all that is said of it.
      expect({phases, told: isDeepStrictEqual(phases, live) ? undefined : {conditions, hosts}}).toEqual({phases: live});
      await after.rest();
      expect(await again.target()).toBe(host);
      expect(await token(again, zone)).toBe(told);
      expect(await again.holder(host)).toBe('Project web');
      for (const hostname of [www, old]) {
        const claim: DomainClaim | undefined = await second.client.get(domainClaims, hostname);
        expect([claim?.spec, await again.holder(hostname)]).toEqual([
          {tenant: {account: namespace}, proof: 'DNS'},
          'CustomDomain web',
        ]);
      }
      // Ordered anew, once each; what was restored of routes has gone.
      expect([ordered(www), ordered(old)]).toEqual(orders.map((count) => (count ?? 0) + 1));
      const routes = (await second.client.list(ingresses)).items;
      expect(routes.filter(({metadata}) => misplacedRecord.includes(metadata.uid))).toEqual([]);
      expect(routes.filter((route) => hostsOf(route).includes(www))).toHaveLength(1);
      expect(await Customer.of(second, lone.namespace).target()).not.toBe(itsHost);
      // Customers change by the API what they made there, with the key of before.
      const api = await ApiWorld.over(second.server);
      try {
        expect(await addByApi(api, key, again.host('sale'))).toBe(201);
        const {spec} = (await again.domain('shop'))!;
        expect([spec.primary, spec.redirects?.map(({from}) => from)]).toEqual([
          again.host('shop'),
          [again.host('sale')],
        ]);
      } finally {
        await api.leave();
      }
    } finally {
      await after.stop();
      await second.stop();
    }
  },
);
