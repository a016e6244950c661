/**
 * What a pipeline does with the files of examples/kustomize: applies them in any order, again and again, by kubectl or by a
 * server-side apply of its own. It settles without another try, nothing fights, and nothing is written where nothing has changed.
 */
import {execFile} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {parseAllDocuments, stringify} from 'yaml';
import {projectHost} from '../../operator/domain/hostnames/hostname.ts';
import {customDomains, namespaces} from '../../operator/resources/resources.ts';
import type {KubeObject} from '../../operator/kube/objects.ts';
import {Customer} from '../support/customer.ts';
import {configMaps} from '../support/kube-api.ts';
import {bin} from '../support/kube-server.ts';
import {isWrite, RunningOperator} from '../support/operator.ts';
import {wrongOutput, writeOutputs} from '../support/outputs.ts';
import {readPage, scriptsOf} from '../support/pages.ts';
import {Platform, zone} from '../support/platform.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const base = join(root, 'examples/kustomize/base');
const annotation = 'doorplate.dev/requestedAt';
/** A check that is asked for soon after another one is put off, by 10 s at most. */
const checkDelayMs = 15_000;

let platform: Platform;
let operator: RunningOperator;
let folder: string;
beforeAll(async () => {
  platform = await Platform.start();
  operator = await RunningOperator.start(platform);
  folder = mkdtempSync(join(tmpdir(), 'doorplate-gitops-'));
  const file = (name: string): string => join(platform.server.dir, name);
  writeFileSync(
    join(folder, 'kubeconfig'),
    platform.server.kubeconfig({'client-certificate': file('admin.crt'), 'client-key': file('admin.key')}),
  );
});
afterAll(async () => {
  await operator?.stop();
  await platform?.stop();
  rmSync(folder, {recursive: true});
});

/** Runs a program, by which kubectl is found; `input` on its stdin. */
const run = (program: string, args: readonly string[], input = ''): Promise<{code: number; said: string}> =>
  new Promise((resolve) => {
    const path = `${bin}:${process.env.PATH}`;
    const env = {...process.env, HOME: folder, PATH: path, KUBECONFIG: join(folder, 'kubeconfig')};
    const child = execFile(program, [...args], {cwd: root, env}, (error, stdout, stderr) =>
      resolve({code: error ? Number(error.code) : 0, said: stdout + stderr}),
    );
    child.stdin?.end(input);
  });

const kubectl = (args: readonly string[], input?: string) => run(join(bin, 'kubectl'), args, input);

/** The objects of the example, on hostnames of this customer. */
async function manifests(customer: Customer): Promise<KubeObject[]> {
  const {said} = await kubectl(['kustomize', base]);
  return parseAllDocuments(said.replaceAll('example.com', customer.zone)).map((d) => d.toJS() as KubeObject);
}
const yamlOf = (objects: readonly KubeObject[]): string => objects.map((o) => stringify(o)).join('---\n');

/** What a pipeline may apply by: kubectl, or a server-side apply under its own name. */
const bySsa = ['--server-side', '--field-manager=pipeline'];

async function apply(customer: Customer, objects: readonly KubeObject[], how: readonly string[] = []): Promise<string> {
  const {code, said} = await kubectl(['apply', '-n', customer.namespace, ...how, '-f', '-'], yamlOf(objects));
  expect({code, said}).toMatchObject({code: 0});
  return said;
}

/**
 * A customer in whose zone everything points to the Project that will be there, as its host can be foretold. No workload controller
 * runs here, so its endpoint is there already.
 */
async function customerToBe(): Promise<Customer> {
  const customer = await Customer.create(platform);
  await customer.endpoints('docs');
  const target = projectHost({
    installation: zone,
    zone,
    namespace: customer.namespace,
    name: 'docs',
    tenant: {account: customer.namespace},
  });
  for (const label of ['docs', 'old']) platform.dns.point(customer.host(label), target);
  return customer;
}

/** Its hostnames go Live, without any other doing. */
async function expectLive(customer: Customer): Promise<void> {
  const live = {[customer.host('docs')]: 'Live Serving', [customer.host('old')]: 'Live Redirecting'};
  expect(await operator.comesTo(() => customer.hosts('docs'), live)).toEqual(live);
  await operator.rest();
}

const versions = async (customer: Customer): Promise<(string | undefined)[]> => [
  (await customer.project('docs'))?.metadata.resourceVersion,
  (await customer.domain('docs'))?.metadata.resourceVersion,
];
const writes = (): number => operator.proxy.seen.filter((seen) => isWrite(seen)).length;

describe.each([
  {name: 'kubectl apply', how: [], same: 'unchanged'},
  {name: 'server-side apply of another manager', how: bySsa, same: 'serverside-applied'},
])('$name', ({how, same}) => {
  test('of the same files a second time changes nothing, shows no difference, and makes the operator write nothing', async () => {
    const customer = await customerToBe();
    const objects = await manifests(customer);
    await apply(customer, objects, how);
    await expectLive(customer);
    const [before, written] = [await versions(customer), writes()];
    const said = await apply(customer, objects, how);
    const diff = await kubectl(['diff', '-n', customer.namespace, ...how, '-f', '-'], yamlOf(objects));
    await operator.rest();
    expect(diff).toEqual({code: 0, said: ''});
    expect(await versions(customer)).toEqual(before);
    expect(writes()).toBe(written);
    expect(said.match(new RegExp(` ${same}$`, 'gm'))).toHaveLength(objects.length);
  });
});

/** Every order of some things. */
const orders = <T>(things: readonly T[]): T[][] =>
  things.length < 2
    ? [[...things]]
    : things.flatMap((first) => orders(things.filter((t) => t !== first)).map((rest) => [first, ...rest]));
const parts = {
  workload: ['Deployment', 'Service'],
  Project: ['Project'],
  CustomDomain: ['CustomDomain'],
};

test.each(orders(Object.keys(parts) as (keyof typeof parts)[]).map((order) => [order.join(', ')]))(
  'in the order %s, each applied once, it settles in the same state',
  async (order) => {
    const customer = await customerToBe();
    const objects = await manifests(customer);
    for (const part of order.split(', ') as (keyof typeof parts)[]) {
      await apply(
        customer,
        objects.filter(({kind = ''}) => parts[part].includes(kind)),
      );
      await operator.rest();
    }
    await expectLive(customer);
  },
);

test('a field that two pipelines apply alike is no conflict, and neither takes it from the other', async () => {
  const customer = await customerToBe();
  const objects = await manifests(customer);
  await apply(customer, objects, bySsa);
  await apply(customer, objects, ['--server-side', '--field-manager=another']);
  await expectLive(customer);
  const before = await versions(customer);
  await apply(customer, objects, bySsa);
  expect(await versions(customer)).toEqual(before);
});

test('every command of docs/how-to/gitops.md does what it says; the health checks come beside what argocd-cm holds', async () => {
  const customer = await customerToBe();
  await apply(customer, await manifests(customer));
  await expectLive(customer);
  const data = {url: 'https://argocd.test'};
  await platform.client.create(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'argocd'}});
  const held = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'argocd-cm', namespace: 'argocd'}, data};
  await platform.client.create(configMaps, held);
  await kubectl(['config', 'set-context', '--current', `--namespace=${customer.namespace}`]);
  const page = readPage('docs/how-to/gitops.md');
  // test/crds/take-over.test.ts and test/api/owners.test.ts run the blocks without a word.
  const blocks = scriptsOf(page, 'api-server');
  expect(blocks.length).toBeGreaterThan(3);
  for (const block of blocks) {
    const ended = await run('bash', ['-c', block.text]);
    expect([block.text, ended]).toMatchObject([block.text, {code: 0}]);
    expect(wrongOutput(page, block, ended.said)).toBeUndefined();
  }
  writeOutputs(readPage);
  const {data: now = {}} = (await platform.client.get(configMaps, 'argocd/argocd-cm')) as {
    data?: Record<string, string>;
  };
  const checks = ['Account', 'ApiKey', 'CustomDomain', 'Project'].map(
    (kind) => `resource.customizations.health.doorplate.dev_${kind}`,
  );
  expect(Object.keys(now).toSorted()).toEqual([...checks, 'url']);
});

test('a requestedAt that kubectl has set and a pipeline prunes triggers nothing: no check, no write', async () => {
  const customer = await customerToBe();
  const objects = await manifests(customer);
  await apply(customer, objects, bySsa);
  await expectLive(customer);
  await kubectl(['annotate', '-n', customer.namespace, 'customdomain/docs', `${annotation}=now`, '--overwrite']);
  const handled = async () => (await customer.domain('docs'))?.status?.lastHandledReconcileAt;
  expect(await operator.comesTo(handled, 'now', {atLeastMs: checkDelayMs})).toBe('now');
  await operator.rest();
  const [asked, before] = [platform.dns.asked, await customer.domain('docs')];
  await customer.change(customDomains, 'docs', {metadata: {annotations: {[annotation]: null}}});
  await apply(customer, objects, bySsa);
  const pruned = await versions(customer);
  const isAsked = async (): Promise<boolean> => platform.dns.asked > asked;
  expect(await operator.comesTo(isAsked, true, {atLeastMs: checkDelayMs})).toBe(false);
  const after = await customer.domain('docs');
  expect(after?.metadata.annotations?.[annotation]).toBeUndefined();
  expect(after?.status).toEqual(before?.status);
  expect(await versions(customer)).toEqual(pruned);
});
