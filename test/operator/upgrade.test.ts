/**
 * What stands when an operator of another release takes over: that of test/upgrade/BASE, as a process of its own, made
 * it; this one takes over, and the other one again. All that looks again by itself is set to an hour.
 */
import {setTimeout as wait} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {
  accounts,
  certificateRequests,
  certificates,
  customDomains,
  domainClaims,
  ingresses,
  plans,
  projects,
} from '../../operator/resources/resources.ts';
import type {CustomDomain, Ingress} from '../../operator/api/foreign.ts';
import {isForPlainHttp} from '../../operator/domain/routes/ingress.ts';
import {keyOf, type KubeObject, type ObjectMeta, type Resource} from '../../operator/kube/objects.ts';
import {record} from '../unit/dns/fake-servers.ts';
import {Base, BaseOperator} from '../support/base.ts';
import {Customer} from '../support/customer.ts';
import {eventually} from '../support/kube-api.ts';
import {isWrite, RunningOperator} from '../support/operator.ts';
import {Platform} from '../support/platform.ts';

const ours: Resource[] = [accounts, plans, projects, customDomains, domainClaims];
/** For so long nothing is asked and nothing changes when a process is at rest, ms. */
const retentionMs = 1500;

let base: Base;
let platform: Platform;
let before: BaseOperator | undefined;
let now: RunningOperator | undefined;
/** By the state in which its hostname stands. */
let customers: Record<'live' | 'issuing' | 'waiting' | 'refused' | 'downgraded' | 'removed', Customer>;

/** All that Doorplate and its tenants wrote, with its resourceVersions. */
async function standing(kinds: readonly Resource[] = [...ours, certificates, certificateRequests, ingresses]) {
  const lists = await Promise.all(kinds.map((kind) => platform.client.list(kind)));
  const all = lists.flatMap(({items}, i) =>
    items.map((object): [string, KubeObject] => {
      const {managedFields: _, ...metadata} = object.metadata as ObjectMeta & {managedFields?: unknown};
      return [`${kinds[i]!.kind} ${keyOf(object)}`, {...object, metadata}];
    }),
  );
  return Object.fromEntries(all.toSorted(([a], [b]) => a.localeCompare(b)));
}

/**
 * Removes the status fields that BASE does not know: `zone`, `verifiedBy` and `refusedFrom` of each hostname, which the next check or decision
 * adds, `details`, which the next change of the message brings along, and the numbers `attachedHostnames` and `liveHostnames`, which the next other change of the status brings along. A rollback removes
 * all of them. Messages are compared by their reasons alone: a
 * release may word them in another way. BASE gives Certificates an owner reference, which this release takes off, in one write.
 */
function withoutNewFields(all: Awaited<ReturnType<typeof standing>>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(all).map(([key, object]) => {
      if (object.kind === 'Certificate') return [key, withoutOwner(object)];
      if (object.kind !== 'CustomDomain') return [key, object];
      const {metadata, status} = object as CustomDomain;
      const hosts = status?.hosts?.map((host) => ({
        ...host,
        zone: undefined,
        verifiedBy: undefined,
        refusedFrom: undefined,
        details: undefined,
      }));
      const known = {
        ...object,
        metadata: {...metadata, resourceVersion: undefined},
        status: {...status, hosts, attachedHostnames: undefined, liveHostnames: undefined},
      };
      return [
        key,
        JSON.parse(JSON.stringify(known, (name, value: unknown) => (name === 'message' ? undefined : value))) as object,
      ];
    }),
  );
}

const withoutOwner = ({metadata, ...certificate}: KubeObject): object => ({
  ...certificate,
  metadata: {
    ...metadata,
    ownerReferences: undefined,
    resourceVersion: undefined,
    annotations: {...metadata.annotations, 'doorplate.dev/intent': undefined},
  },
});

/** Of owner references: once a Certificate at most. */
const writesOwners = (all: Awaited<ReturnType<typeof standing>>): string[] =>
  Object.values(all)
    .filter(({kind, metadata}) => kind === 'Certificate' && metadata.ownerReferences !== undefined)
    .map(
      ({metadata: {namespace, name}}) => `PATCH /apis/cert-manager.io/v1/namespaces/${namespace}/certificates/${name}`,
    );

/** Of the zones alone: once a hostname at most. */
const writesZones = (all: Awaited<ReturnType<typeof standing>>): string[] =>
  Object.values(all).flatMap((object) => {
    const {
      kind,
      metadata: {namespace, name},
      status,
    } = object as CustomDomain;
    const path = `/apis/doorplate.dev/v1alpha1/namespaces/${namespace}/customdomains/${name}/status`;
    return kind === 'CustomDomain' ? (status?.hosts ?? []).map(() => `PATCH ${path}`) : [];
  });

const contentOf = (object: KubeObject): object => ({...object, metadata: undefined});

/** What comes of an object, status and all, when it is created; it does not stay. Throws what the API server throws. */
async function written(object: KubeObject & {status?: object}): Promise<object> {
  const resource = ours.find((r) => r.kind === object.kind)!;
  let made = await platform.client.create(resource, object);
  const {status} = object;
  if (resource !== plans && resource !== domainClaims)
    made = await platform.client.patch(resource, keyOf(object), {status}, {type: 'merge', subresource: 'status'});
  await platform.client.delete(resource, keyOf(object));
  return contentOf(made);
}

/** What stands once nobody asks anything any more. */
async function atRest(): Promise<Awaited<ReturnType<typeof standing>>> {
  for (let last = ''; ; await wait(retentionMs)) {
    const all = await standing();
    const versions = Object.values(all).map((o) => o.metadata.resourceVersion);
    const state = JSON.stringify([versions, platform.dns.asked, platform.edge.looks]);
    if (state === last) return all;
    last = state;
  }
}

async function expectHost(customer: Customer, label: string, expected: string): Promise<void> {
  const read = async () => (await customer.hosts('web'))[customer.host(label)];
  await eventually(async () => (await read()) === expected, 60_000).catch(() => {});
  expect(await read()).toBe(expected);
}

const changePlan = (customer: Customer, plan: string) =>
  customer.change(accounts, customer.namespace, {spec: {planRef: {name: plan}}});

/** What `old`, which redirects to `www`, comes to while that stays as it is. */
const besides: Record<string, string> = {
  'Live Serving': 'Live Redirecting',
  'Verified Issuing': 'Verified WaitingForPrimary',
};

/** A hostname is attached, and reads so; what redirects to it has come as far as it can. */
async function attached(expected: string, {proven = true, plan = 'pro' as 'pro' | 'free'} = {}): Promise<Customer> {
  const customer = await Customer.deployed(platform, plan);
  if (expected === 'Verified Issuing') platform.certManager.hold(customer.host('www'));
  if (proven) await customer.point(['www', 'old'].map((label) => customer.host(label)));
  // The apex has no record, so its TXT is told.
  await customer.attach('web', customer.host('www'), [customer.host('old'), ...(proven ? [] : [customer.zone])]);
  await expectHost(customer, 'www', expected);
  await expectHost(customer, 'old', besides[expected] ?? expected);
  return customer;
}

/** Served with a redirect, and with the apex, which its TXT proves. */
async function live(): Promise<Customer> {
  const customer = await Customer.deployed(platform);
  const {zone} = customer;
  await customer.attach('web', zone);
  const token = await eventually(async () => {
    const records = (await customer.domain('web'))?.status?.dnsRecords ?? [];
    return records.find((r) => r.type === 'TXT')?.value ?? false;
  });
  await customer.remove(customDomains, 'web');
  await eventually(async () => (await customer.domain('web')) === undefined);
  platform.dns.set(zone, record(zone, 'A', '127.0.0.1'));
  const challenge = `_doorplate-challenge.${zone}`;
  platform.dns.set(challenge, {name: challenge, type: 'TXT', ttl: 60, data: String(token)});
  await customer.point(['www', 'old'].map((label) => customer.host(label)));
  await customer.attach('web', customer.host('www'), [customer.host('old'), zone]);
  for (const host of [customer.host('old'), zone])
    await eventually(async () => (await customer.hosts('web'))[host] === 'Live Redirecting');
  return customer;
}

const verify = (customer: Customer) =>
  customer.change(customDomains, 'web', {
    metadata: {annotations: {'doorplate.dev/requestedAt': new Date().toISOString()}},
  });

async function downgraded(): Promise<Customer> {
  const customer = await attached('Live Serving');
  await changePlan(customer, 'free');
  await expectHost(customer, 'www', 'Live PlanUpgradeRequired');
  return customer;
}

async function removed(): Promise<Customer> {
  const customer = await attached('Live Serving');
  await customer.remove(customDomains, 'web');
  for (const label of ['www', 'old'])
    await eventually(async () => (await customer.holder(customer.host(label))) === 'nobody');
  return customer;
}

beforeAll(async () => {
  base = await Base.unpack();
  platform = await Platform.start({kinds: `${base.folder}/crds`});
  before = await BaseOperator.start(base, platform);
  const made = await Promise.all([
    live(),
    attached('Verified Issuing'),
    attached('AwaitingVerification RecordMissing', {proven: false}),
    attached('NotAccepted PlanUpgradeRequired', {plan: 'free'}),
    downgraded(),
    removed(),
  ]);
  const [first, second, third, fourth, fifth, sixth] = made;
  customers = {live: first, issuing: second, waiting: third, refused: fourth, downgraded: fifth, removed: sixth};
});
afterAll(async () => {
  await Promise.all([before?.stop(), now?.stop()]);
  await platform?.stop();
  await base?.remove();
});

/** The operator of before has been stopped, and the kinds are those of this release. */
async function kindsUpgraded(): Promise<void> {
  await before?.stop();
  await platform.upgradeKinds();
}

describe('An upgrade', () => {
  test('of the CRDs comes first: existing objects are read as before, and the former operator goes on', async () => {
    const all = await atRest();
    await platform.upgradeKinds();
    expect(await atRest()).toEqual(all);
    await customers.waiting.attach('more', customers.waiting.host('more'));
    await eventually(async () => (await customers.waiting.domain('more'))?.status?.phase === 'NotAccepted');
    await customers.waiting.remove(customDomains, 'more');
    // Otherwise the next operator removes the finalizer.
    await eventually(async () => (await customers.waiting.domain('more')) === undefined);
  });

  test('of the CRDs: every existing object would be accepted if it were written today, its status too', async () => {
    await kindsUpgraded();
    const all = Object.values(await standing(ours));
    expect(new Set(all.map((o) => o.kind))).toEqual(new Set(ours.map((r) => r.kind)));
    for (const object of all) {
      const {namespace, name, labels, annotations} = object.metadata;
      const copy = {...object, metadata: {name: `copy.${name}`, namespace, labels, annotations}};
      expect(await written(copy).catch((refusal: Error) => refusal.message)).toEqual(contentOf(object));
    }
  });

  test('of the operator: existing objects change by zones and owner references at most, and nothing is ordered', async () => {
    await kindsUpgraded();
    const [all, orders] = [await atRest(), new Map(platform.certManager.orders)];
    now = await RunningOperator.start(platform);
    await now.rest();
    const allowed = [...writesZones(all), ...writesOwners(all)];
    const strange = now.proxy.seen
      .filter(isWrite)
      .map(({method, url}) => `${method} ${url.pathname}`)
      .filter((write) => {
        const at = allowed.indexOf(write);
        return at === -1 || allowed.splice(at, 1).length === 0;
      });
    expect(strange).toEqual([]);
    expect(withoutNewFields(await atRest())).toEqual(withoutNewFields(all));
    expect(platform.certManager.orders).toEqual(orders);
  });

  test('that is over: what waited goes on, and a removed hostname is proven again by its former records', async () => {
    const {waiting, issuing, downgraded: paid, removed: gone} = customers;
    await waiting.point([waiting.host('www'), waiting.host('old')]);
    await verify(waiting);
    await platform.certManager.issue(issuing.host('www'));
    await changePlan(paid, 'pro');
    await gone.attach('web', gone.host('www'), [gone.host('old')]);
    for (const customer of [waiting, issuing, paid, gone]) {
      await expectHost(customer, 'www', 'Live Serving');
      await expectHost(customer, 'old', 'Live Redirecting');
      const {attachedHostnames, liveHostnames, hostsLive} = (await customer.domain('web'))!.status!;
      expect(`${liveHostnames}/${attachedHostnames}`).toBe(hostsLive);
    }
    await atRest();
    await now?.stop();
  });
});

describe('The former operator, installed again', () => {
  test('changes nothing but zones and owner references, adds nothing but Ingresses for plain HTTP, and orders nothing', async () => {
    const [all, orders] = [await atRest(), new Map(platform.certManager.orders)];
    await before?.stop();
    before = await BaseOperator.start(base, platform);
    const after = await atRest();
    const added = Object.keys(after).filter((key) => !(key in all));
    // Each hostname had one; in this release they share the chart's.
    for (const key of added) expect(isForPlainHttp(after[key] as Ingress)).toBe(true);
    const stayed = Object.fromEntries(Object.entries(after).filter(([key]) => key in all));
    expect(withoutNewFields(stayed)).toEqual(withoutNewFields(all));
    expect(platform.certManager.orders).toEqual(orders);
  });

  test('goes on with what the newer one has begun', async () => {
    const {live: served, refused} = customers;
    await changePlan(refused, 'pro');
    await expectHost(refused, 'www', 'Live Serving');
    const {uid} = (await served.domain('web'))!.metadata;
    // Requests go with their Certificate where Kubernetes collects what has lost its owner; here nobody does.
    const left = async () => (await platform.children(uid)).filter(({kind}) => kind !== 'CertificateRequest');
    expect(await left()).not.toEqual([]);
    await served.remove(customDomains, 'web');
    await eventually(async () => (await served.holder(served.zone)) === 'nobody');
    expect(await left()).toEqual([]);
  });
});
