/** What the chart renders, with all that it can bring, as a real API server judges it. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {defineResource, type KubeObject} from '../../operator/kube/objects.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {renderChart} from '../support/alerts.ts';
import {ApiServer} from '../support/kube-server.ts';

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
