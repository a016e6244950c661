/** What the chart renders, with all that it can bring, as a real API server judges it. */
import {execFile} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {isDeepStrictEqual, promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {parse, parseAllDocuments, stringify} from 'yaml';
import type {Ingress} from '../../operator/api/foreign.ts';
import {parseSettings} from '../../operator/config.ts';
import {defineResource, type KubeObject} from '../../operator/kube/objects.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {renderChart} from '../support/alerts.ts';
import {ApiServer, bin} from '../support/kube-server.ts';
import {installKinds, type Kind, kindsIn, standIns} from '../support/platform.ts';
import {standIn} from '../support/policy.ts';

interface Deployment extends KubeObject {
  spec: {template: {metadata: object; spec: Pod['spec']}};
}
interface Pod extends KubeObject {
  spec: Record<string, unknown>;
}

const [namespace, core] = ['doorplate-system', {group: '', version: 'v1'}];
const namespaces = defineResource<KubeObject>({...core, plural: 'namespaces', kind: 'Namespace', namespaced: false});
const pods = defineResource<KubeObject>({...core, plural: 'pods', kind: 'Pod', namespaced: true});
const everything = [
  'operator.replicas=2',
  'redirector.replicas=2',
  'api.authorize.enabled=true',
  'api.authorize.acceptOutages=true',
  'caBundle.configMap=cas',
  'proxy.url=http://proxy:3128',
  'networkPolicy.enabled=true',
  'networkPolicy.ingressController[0].namespaceSelector.matchLabels.a=b',
  'networkPolicy.authorizeClients[0].namespaceSelector.matchLabels.a=b',
];

let server: ApiServer;
let client: Client;
beforeAll(async () => {
  server = await ApiServer.start();
  client = server.client();
  const labels = {'pod-security.kubernetes.io/enforce': 'restricted'};
  await client.create(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name: namespace, labels}});
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

const objects = (): KubeObject[] => renderChart<KubeObject>(...everything);
/** A Pod of each role, as its Deployment makes it, and those that the chart has itself. */
const podsOf = (all: readonly KubeObject[]) => [
  ...(all.filter(({kind}) => kind === 'Deployment') as Deployment[]).map(({metadata: {name}, spec: {template}}) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {...template.metadata, name, namespace},
    spec: template.spec,
  })),
  ...(all.filter(({kind}) => kind === 'Pod') as Pod[]).map((pod) => ({...pod, metadata: {...pod.metadata, namespace}})),
];

const answer = (pod: KubeObject): Promise<string> => client.create(pods, pod).then(() => 'let in', String);

test('every Pod of the chart is let into a namespace that enforces the Pod Security Standard restricted', async () => {
  const all = podsOf(objects());
  expect(all.map(({metadata}) => metadata.name.replace(/-[0-9a-f]{8}$/, '')).toSorted()).toEqual([
    'doorplate-api',
    'doorplate-operator',
    'doorplate-preflight',
    'doorplate-redirector',
  ]);
  expect(await Promise.all(all.map(answer))).toEqual(all.map(() => 'let in'));
  // That it is enforced here shows a Pod that has not the least of it.
  const [first] = all;
  const {securityContext: _, ...spec} = first!.spec;
  const without = {...first!, metadata: {name: 'without', namespace}, spec};
  expect(await answer(without)).toMatch(/violates PodSecurity "restricted:latest"/);
});

test.each([
  ['apps/v1', 'deployments', 'Deployment', 3],
  ['networking.k8s.io/v1', 'networkpolicies', 'NetworkPolicy', 5],
  ['policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget', 2],
])('the API server takes every object of %s %s', async (apiVersion, plural, kind, count) => {
  const [group = '', version = ''] = apiVersion.split('/');
  const resource = defineResource<KubeObject>({group, version, plural, kind, namespaced: true});
  const all = objects().filter((object) => object.kind === kind);
  expect(all).toHaveLength(count);
  for (const object of all) await client.create(resource, {...object, metadata: {...object.metadata, namespace}});
});

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
/** Without a level of Pod Security: the values may lower it. */
const gate = 'gate-system';

type Values = Record<string, unknown>;
const isMap = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;

/** Paths of the values that differ from their defaults, in a form that shows where a list or an empty map is set. */
function changed(defaults: Values, values: Values, at = ''): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const before = defaults[name];
    if (isMap(before) && isMap(value)) return changed(before, value, `${at}${name}.`);
    return isDeepStrictEqual(before, value) ? [] : [`${at}${name}`];
  });
}
const pathsOf = (values: Values, at = ''): string[] =>
  Object.entries(values).flatMap(([name, value]) =>
    isMap(value) ? pathsOf(value, `${at}${name}.`) : [`${at}${name}`],
  );

describe('The chart with every value set', () => {
  const defaults = parse(readFileSync(`${root}charts/doorplate/values.yaml`, 'utf8')) as Values;
  const file = join(root, 'test/operator/every-value.yaml');
  const [every, ...alternatives] = parseAllDocuments(readFileSync(file, 'utf8')).map((d) => d.toJS() as Values);
  /** Ingress classes of the controllers that Doorplate's pages name. F5 and ingress-nginx have the same name for theirs. */
  const classes = ['traefik', 'contour', 'haproxy', 'nginx', 'ingress-nginx', 'istio'];
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'doorplate-every-'));
    const user = {'client-certificate': join(server.dir, 'admin.crt'), 'client-key': join(server.dir, 'admin.key')};
    await writeFile(join(folder, 'kubeconfig'), server.kubeconfig(user));
    const monitoring = ['ServiceMonitor', 'PrometheusRule'].map((kind) =>
      standIn({apiVersion: 'monitoring.coreos.com/v1', kind}),
    );
    await installKinds(client, await kindsIn(), [...standIns(), ...(monitoring as unknown as Kind[])]);
    await client.create(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name: gate}});
  });
  afterAll(() => rm(folder, {recursive: true, force: true}));

  /** The objects that Helm renders of these values, in the order of precedence. */
  async function rendered(...values: Values[]): Promise<KubeObject[]> {
    const files = values.map((_, i) => join(folder, `${process.hrtime.bigint()}-${i}.yaml`));
    await Promise.all(files.map((path, i) => writeFile(path, stringify(values[i]))));
    const args = ['template', 'doorplate', `${root}charts/doorplate`, '-n', gate, ...files.flatMap((f) => ['-f', f])];
    const {stdout} = await run(join(bin, 'helm'), args, {maxBuffer: 16 << 20});
    return parseAllDocuments(stdout).flatMap((d) => (d.toJS() as KubeObject | null) ?? []);
  }

  test('sets each value of values.yaml to another one than its default', () => {
    const set = new Set([every!, ...alternatives].flatMap((values) => changed(defaults, values)));
    expect(pathsOf(defaults).filter((path) => !set.has(path))).toEqual([]);
  });

  test('is accepted by the API server for each class, with settings that the operator can read, and has no Ingress without a host or with a default backend', async () => {
    const {image, platform, issuerRef} = every as Record<string, Values>;
    const least = {image: {repository: image!.repository}, platform: {zone: platform!.zone}, issuerRef};
    const renders = await Promise.all([
      ...classes.map((ingressClassName) => rendered(every!, {ingressClassName})),
      ...classes.map((ingressClassName) => rendered(least, {ingressClassName, edge: {addresses: ['192.0.2.1']}})),
      ...alternatives.map((values) => rendered(every!, values)),
    ]);
    const all = renders.flat();
    const ingresses = all.filter(({kind}) => kind === 'Ingress') as Ingress[];
    expect(ingresses.length).toBe(classes.length + alternatives.length);
    expect(ingresses.filter(({spec}) => spec.defaultBackend || !spec.rules?.every((rule) => rule.host))).toEqual([]);
    for (const {data} of all.filter(({metadata}) => metadata.name.endsWith('-config')) as (KubeObject & {
      data: Record<string, string>;
    })[])
      parseSettings(data['config.yaml']!);

    // Classes share most objects: equal ones are sent once.
    const different = [...new Set(all.map((object) => stringify(object)))];
    const path = join(folder, 'all.yaml');
    await writeFile(path, different.join('---\n'));
    const args = ['apply', '--dry-run=server', '-f', path, '--kubeconfig', join(folder, 'kubeconfig')];
    const {stdout} = await run(join(bin, 'kubectl'), args, {maxBuffer: 16 << 20});
    expect(stdout.trim().split('\n').length).toBe(different.length);
  });
});
