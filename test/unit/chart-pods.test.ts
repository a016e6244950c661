/** The Pods of the chart: their image, where they run, and what they trust. */
import {version} from '../../operator/version.ts';
import {readFileSync} from 'node:fs';
import {describe, expect, test} from '@jest/globals';
import {parse} from 'yaml';
import {renderChart} from '../support/alerts.ts';

interface Rendered {
  kind: string;
  metadata: {name: string};
  spec: {replicas: number; selector: object; template: {spec: Pod}};
}
interface Pod {
  [field: string]: unknown;
  containers: {image: string; env: {name: string; value?: string}[]; volumeMounts: object[]}[];
  volumes: object[];
}

const roles = ['operator', 'redirector', 'api'];
const deployments = (...values: string[]): Rendered['spec'][] =>
  renderChart<Rendered>(...values)
    .filter(({kind}) => kind === 'Deployment')
    .map(({spec}) => spec);
const deployment = (role: string, ...values: string[]): Rendered['spec'] =>
  renderChart<Rendered>(...values).find(({kind, metadata}) => kind === 'Deployment' && metadata.name.endsWith(role))!
    .spec;
const pod = (role: string, ...values: string[]): Pod => deployment(role, ...values).template.spec;

const images = (...values: string[]) => [
  ...new Set(deployments(...values).map(({template}) => template.spec.containers[0]?.image)),
];

describe('The image', () => {
  const digest = `sha256:${'0123'.repeat(16)}`;

  test.each([
    ['its tag', ['image.tag=x'], 'registry.example.net/doorplate:x'],
    ['the version of the chart, where nothing else is told', [], `registry.example.net/doorplate:${version}`],
    ['its digest', [`image.digest=${digest}`], `registry.example.net/doorplate@${digest}`],
    [
      'its digest, whatever the tag',
      [`image.digest=${digest}`, 'image.tag=x'],
      `registry.example.net/doorplate@${digest}`,
    ],
  ])('of all Pods goes by %s', (_, values, expected) => {
    expect(deployments()).toHaveLength(roles.length);
    expect(images('image.repository=registry.example.net/doorplate', ...values)).toEqual([expected]);
  });
});

describe.each(roles)('The Pods of the %s', (role) => {
  const spread = {maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway'};

  test('run where they are told to', () => {
    const spec = pod(
      role,
      `${role}.nodeSelector.pool=system`,
      `${role}.affinity.nodeAffinity.a=b`,
      `${role}.tolerations[0].operator=Exists`,
      `${role}.priorityClassName=high`,
    );
    expect(spec).toMatchObject({
      nodeSelector: {pool: 'system'},
      affinity: {nodeAffinity: {a: 'b'}},
      tolerations: [{operator: 'Exists'}],
      priorityClassName: 'high',
    });
    const others = roles
      .filter((other) => other !== role)
      .map((other) => pod(other, `${role}.nodeSelector.pool=system`));
    expect(others.filter(({nodeSelector}) => nodeSelector !== undefined)).toEqual([]);
  });

  test('run anywhere, unless told', () => {
    const fields = ['nodeSelector', 'affinity', 'tolerations', 'priorityClassName'];
    expect(Object.keys(pod(role)).filter((field) => fields.includes(field))).toEqual([]);
  });

  test('are spread as told, among those of the role unless the spread says which, or not at all', () => {
    const {selector, template} = deployment(role);
    expect(template.spec.topologySpreadConstraints).toEqual([{...spread, labelSelector: selector}]);
    const at = `${role}.topologySpreadConstraints`;
    const zones = [`${at}[0].maxSkew=2`, `${at}[0].topologyKey=zone`, `${at}[0].whenUnsatisfiable=DoNotSchedule`];
    const nodes = [`${at}[1].maxSkew=1`, `${at}[1].topologyKey=node`, `${at}[1].whenUnsatisfiable=DoNotSchedule`];
    expect(pod(role, ...zones, ...nodes, `${at}[0].labelSelector.matchLabels.a=b`).topologySpreadConstraints).toEqual([
      {maxSkew: 2, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {matchLabels: {a: 'b'}}},
      {maxSkew: 1, topologyKey: 'node', whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector},
    ]);
    expect(pod(role, `${at}=null`).topologySpreadConstraints).toBeUndefined();
  });
});

const environment = (role: string, ...values: string[]): Record<string, string | undefined> =>
  Object.fromEntries(pod(role, ...values).containers[0]!.env.map(({name, value}) => [name, value]));

describe('The proxy', () => {
  const proxy = ['proxy.url=http://proxy:3128', 'proxy.exceptions={ca.internal,10.0.0.0/8}'];

  test('is that of the operator, which never asks the API server by it', () => {
    expect(environment('operator', ...proxy)).toMatchObject({
      HTTPS_PROXY: 'http://proxy:3128',
      // The kubelet puts the address there.
      NO_PROXY: '$(KUBERNETES_SERVICE_HOST),ca.internal,10.0.0.0/8',
    });
  });

  test.each([
    ['operator', []],
    ['redirector', proxy],
    ['api', proxy],
  ])('is none for the %s, with %j', (role, values) => {
    expect(Object.keys(environment(role, ...values)).filter((name) => name.includes('PROXY'))).toEqual([]);
  });
});

describe.each(roles)('The CAs that the %s trusts', (role) => {
  const items = [{key: 'bundle.pem', path: 'ca.crt'}];

  test.each([
    ['a ConfigMap', 'caBundle.configMap=cas', {name: 'ca', configMap: {name: 'cas', items}}],
    ['a Secret', 'caBundle.secret=cas', {name: 'ca', secret: {secretName: 'cas', items}}],
  ])('are those of %s, too', (_, where, volume) => {
    const values = [where, 'caBundle.key=bundle.pem'];
    const {containers, volumes} = pod(role, ...values);
    const file = environment(role, ...values).NODE_EXTRA_CA_CERTS!;
    expect(volumes).toContainEqual(volume);
    expect(containers[0]!.volumeMounts).toContainEqual({
      name: 'ca',
      mountPath: file.replace(/\/ca\.crt$/, ''),
      readOnly: true,
    });
  });

  test('are the public ones, unless told', () => {
    expect(environment(role)).not.toHaveProperty('NODE_EXTRA_CA_CERTS');
    expect(pod(role).volumes).not.toContainEqual(expect.objectContaining({name: 'ca'}));
  });
});

test('The chart ships two redirectors', () => {
  const file = new URL('../../charts/doorplate/values.yaml', import.meta.url);
  const shipped = parse(readFileSync(file, 'utf8')) as {redirector: {replicas: number}};
  expect(shipped.redirector.replicas).toBe(2);
});

describe('Uninstalling', () => {
  const objects = renderChart<Rendered & {metadata: {namespace?: string; annotations?: Record<string, string>}}>();

  test('leaves what redirects need, what would be ordered anew, and the rights of its Job', () => {
    const kept = objects.filter(({metadata}) => metadata.annotations?.['helm.sh/resource-policy'] === 'keep');
    expect(kept.map(({kind, metadata}) => `${kind} ${metadata.name}`).toSorted()).toEqual([
      'Certificate doorplate-api',
      'ClusterRole doorplate-system-doorplate-redirector',
      'ClusterRole doorplate-system-doorplate-uninstall',
      'ClusterRoleBinding doorplate-system-doorplate-redirector',
      'ClusterRoleBinding doorplate-system-doorplate-uninstall',
      'ConfigMap doorplate-config',
      'Deployment doorplate-redirector',
      'Service doorplate-redirector',
      'ServiceAccount doorplate-redirector',
    ]);
  });

  const hooks = objects.filter(({metadata}) => metadata.annotations?.['helm.sh/hook'] === 'post-delete');

  test('ends with a Job that has rights and a name of its own and none of the operator’s labels', () => {
    expect(hooks.map(({kind}) => kind).toSorted()).toEqual(['ServiceAccount', 'Role', 'RoleBinding', 'Job'].toSorted());
    // Argo CD never ends the deletion of a hook that is cluster-scoped.
    expect(hooks.filter(({metadata}) => metadata.namespace !== 'doorplate-system')).toEqual([]);
    const {metadata, spec} = objects.find(({kind}) => kind === 'Job')!;
    expect(metadata.annotations).toMatchObject({'helm.sh/hook': 'post-delete', 'helm.sh/hook-weight': '1'});
    const its = spec.template as unknown as {metadata: {labels: object}; spec: Pod};
    expect(its.spec).toMatchObject({serviceAccountName: 'doorplate-uninstall', restartPolicy: 'Never'});
    const {matchLabels} = deployment('operator').selector as {matchLabels: object};
    expect(its.metadata.labels).not.toMatchObject(matchLabels);
    expect(its.spec.containers[0]).toMatchObject({args: ['uninstall'], ...pick(pod('operator').containers[0]!)});
  });
});

const jobWith = (tag: string) =>
  renderChart<Rendered>(`image.tag=${tag}`).find(({kind}) => kind === 'Job')!.metadata.name;

test('The Job has another name for another image, because its template cannot change', () => {
  const [one, two] = [jobWith('one'), jobWith('two')];
  expect([one, two].map((name) => name.replace(/-[0-9a-f]{8}$/, ''))).toEqual(Array(2).fill('doorplate-uninstall'));
  expect(one).not.toBe(two);
});

/** What is the same in all Pods of the image. */
const pick = ({image, env, volumeMounts}: Pod['containers'][number]) => ({image, env, volumeMounts});
