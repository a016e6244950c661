/** Plans that limit how many Projects a tenant has, and quotas of Kubernetes beside them. */
import {readFile} from 'node:fs/promises';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import {parseAllDocuments} from 'yaml';
import type {Plan} from '../../operator/api/foreign.ts';
import {accounts, domainClaims, ingresses, namespaces, plans, projects} from '../../operator/resources/resources.ts';
import {defineResource, type KubeObject} from '../../operator/kube/objects.ts';
import {Customer} from '../support/customer.ts';
import {eventually} from '../support/kube-api.ts';
import {RunningOperator, type Settings} from '../support/operator.ts';
import {Platform, planOf, zone} from '../support/platform.ts';

let platform: Platform;
let operator: RunningOperator;
beforeAll(async () => {
  platform = await Platform.start();
});
afterAll(async () => {
  await platform?.stop();
});

/** Each test of a describe has an operator with these settings. */
const withOperator = (change: Settings = {}) => {
  beforeEach(async () => {
    operator = await RunningOperator.start(platform, change);
  });
  afterEach(() => operator?.stop());
};

/** A customer whose plan allows so many Projects, and what changes that. */
async function limitedTo(maxProjects: number): Promise<{customer: Customer; limit: (most: number) => Promise<void>}> {
  const customer = await Customer.create(platform);
  const name = `plan-${customer.namespace}`;
  const {spec, ...plan} = planOf(name, 10);
  await platform.client.create<Plan>(plans, {...plan, spec: {...spec, maxProjects}});
  await customer.change(accounts, customer.namespace, {spec: {planRef: {name}}});
  await operator.rest();
  return {customer, limit: (most) => customer.change(plans, name, {spec: {maxProjects: most}})};
}

/** What is said of each Project, by name: `True Serving`. */
const told = (customer: Customer) => async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await platform.client.list(projects, {namespace: customer.namespace})).items.map(({metadata, status}) => {
      const ready = status?.conditions?.find((c) => c.type === 'Ready');
      return [metadata.name, `${ready?.status} ${ready?.reason}`];
    }),
  );
async function expectTold(customer: Customer, expected: Record<string, string>, atLeastMs?: number): Promise<void> {
  expect(await operator.comesTo(told(customer), expected, atLeastMs === undefined ? {} : {atLeastMs})).toEqual(
    expected,
  );
}
const [serving, refused, ending] = ['True Serving', 'False ProjectLimitReached', 'True ProjectLimitReached'];

/** The default hosts that are claimed for a customer, and those that are routed. */
async function hostsFor({namespace}: Customer): Promise<{claimed: number; routed: number}> {
  const claims = (await platform.client.list(domainClaims)).items.filter((c) => c.spec.tenant.account === namespace);
  const routes = (await platform.client.list(ingresses, {namespace})).items;
  return {claimed: claims.length, routed: new Set(routes.flatMap(({spec}) => spec.rules?.[0]?.host ?? [])).size};
}

describe('A plan that allows two Projects', () => {
  withOperator();

  test('leaves the newest without host, claim and route, until an older one goes', async () => {
    const {customer} = await limitedTo(2);
    for (const name of ['a', 'b', 'c', 'd']) await customer.deploy(name);
    await expectTold(customer, {a: serving, b: serving, c: refused, d: refused});
    expect(await hostsFor(customer)).toEqual({claimed: 2, routed: 2});
    expect((await customer.project('c'))?.status?.host).toBeUndefined();
    await customer.remove(projects, 'a');
    await expectTold(customer, {b: serving, c: serving, d: refused});
  });

  test('counts those of all namespaces of an Account, and again when one passes to another Account', async () => {
    const [{customer}, {customer: other}] = [await limitedTo(2), await limitedTo(2)];
    const second = await Customer.create(platform, 'pro');
    const give = (account: string) =>
      second.change(namespaces, second.namespace, {metadata: {labels: {'doorplate.dev/account': account}}});
    await give(customer.namespace);
    await operator.rest();
    await second.deploy('older');
    await expectTold(second, {older: serving});
    // Times of objects are whole seconds.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    for (const name of ['a', 'b']) await customer.deploy(name);
    await expectTold(customer, {a: serving, b: refused});
    await give(other.namespace);
    await expectTold(customer, {a: serving, b: serving});
    await expectTold(second, {older: serving});
  });

  test('and then one: the other is served on, and as before when it allows two again', async () => {
    const {customer, limit} = await limitedTo(2);
    for (const name of ['a', 'b']) await customer.deploy(name);
    await expectTold(customer, {a: serving, b: serving});
    await limit(1);
    await expectTold(customer, {a: serving, b: ending});
    expect(await hostsFor(customer)).toEqual({claimed: 2, routed: 2});
    expect((await customer.project('b'))?.status?.servedUntil).toBeDefined();
    await limit(2);
    await expectTold(customer, {a: serving, b: serving});
    expect((await customer.project('b'))?.status?.servedUntil).toBeUndefined();
  });
});

describe('Where the grace time is short', () => {
  withOperator({graceTime: '3s'});

  test('a Project that the plan no longer allows loses its routes at its end, and keeps its host', async () => {
    const {customer, limit} = await limitedTo(2);
    for (const name of ['a', 'b']) await customer.deploy(name);
    await expectTold(customer, {a: serving, b: serving});
    const host = await customer.target('b');
    await limit(1);
    await expectTold(customer, {a: serving, b: refused}, 10_000);
    expect(await operator.comesTo(() => hostsFor(customer), {claimed: 2, routed: 1})).toEqual({claimed: 2, routed: 1});
    expect(await customer.target('b')).toBe(host);
    expect(host.endsWith(`.${zone}`)).toBe(true);
  });
});

describe('The ResourceQuota of the docs', () => {
  type Quota = KubeObject & {spec: {hard: Record<string, string>}};
  const quotas = defineResource<Quota>({
    group: '',
    version: 'v1',
    plural: 'resourcequotas',
    kind: 'ResourceQuota',
    namespaced: true,
  });

  test('keeps the number of Projects and CustomDomains of a namespace down, whatever the plan says', async () => {
    const page = await readFile(new URL('../../docs/reference/quotas.md', import.meta.url), 'utf8');
    const [yaml = ''] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text);
    const written = parseAllDocuments(yaml).map((doc) => doc.toJS() as Quota);
    const quota = written.find(({kind}) => kind === 'ResourceQuota')!;
    const customer = await Customer.create(platform);
    const {namespace} = customer;
    const two = {'count/projects.doorplate.dev': '2', 'count/customdomains.doorplate.dev': '1'};
    for (const name of Object.keys(two)) expect(quota.spec.hard).toHaveProperty([name]);
    const hard = {...quota.spec.hard, ...two};
    await platform.client.create(quotas, {...quota, metadata: {...quota.metadata, namespace}, spec: {hard}});
    // What the controller of quotas does, which is not here.
    const count = (used: Record<string, string>) =>
      platform.client.patch(
        quotas,
        `${namespace}/${quota.metadata.name}`,
        {status: {hard, used}},
        {type: 'merge', subresource: 'status'},
      );
    // The API server hears of a quota a little later, and allows all until then: so it begins as used up.
    await count(hard);
    const project = {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'Project',
      metadata: {name: 'a', namespace},
      spec: {serviceRef: {name: 'a', port: 80}},
    };
    const tried = () =>
      platform.client
        .applyPatch<KubeObject>(projects, project, {fieldManager: 'test', force: false, dryRun: true})
        .then(
          () => 'allowed',
          (error: Error) => error.message,
        );
    await eventually(async () => (await tried()).includes('exceeded quota'));
    await count(Object.fromEntries(Object.keys(hard).map((name) => [name, '0'])));
    await eventually(async () => (await tried()) === 'allowed');
    for (const name of ['a', 'b']) await customer.publish(name);
    await expect(customer.publish('c')).rejects.toThrow(/exceeded quota.*count\/projects.doorplate.dev=1/);
    await customer.attach('a', customer.host('a'));
    await expect(customer.attach('b', customer.host('b'))).rejects.toThrow(/exceeded quota.*count\/customdomains/);
  });
});
