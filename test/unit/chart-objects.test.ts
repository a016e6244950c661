/** What all objects of the chart have in common, with every part of it switched on. */
import {execFileSync} from 'node:child_process';
import {join} from 'node:path';
import {describe, expect, test} from '@jest/globals';
import {renderChart} from '../support/alerts.ts';
import {bin} from '../support/kube-server.ts';
import {root} from '../support/pages.ts';

interface Pod {
  metadata: {labels: Record<string, string>; annotations: Record<string, string>};
  spec: {
    serviceAccountName: string;
    securityContext: object;
    containers: {
      image: string;
      env: object[];
      volumeMounts: object[];
      securityContext: object;
      readinessProbe?: object;
    }[];
    volumes: object[];
  };
}
interface Rendered {
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec?: {template: Pod; revisionHistoryLimit: number; maxUnavailable: unknown};
  subjects?: {kind: string; name: string}[];
}

/** Kinds of the chart that no namespace has. */
const clusterKinds = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'Plan',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
]);
const roles = ['operator', 'redirector', 'api'];
const all = [
  ...['serviceMonitor', 'prometheusRule', 'dashboard'].map((name) => `metrics.${name}.enabled=true`),
  'networkPolicy.enabled=true',
  'networkPolicy.ingressController[0].namespaceSelector.matchLabels.a=b',
  'networkPolicy.authorizeClients[0].namespaceSelector.matchLabels.a=b',
  'api.authorize.enabled=true',
  'api.authorize.acceptOutages=true',
  'api.storage.className=fast',
  ...roles.map((role) => `${role}.replicas=2`),
  'valkey.url=redis://valkey:6379',
];
const objects = renderChart<Rendered>(...all);
const pods = (of: readonly Rendered[]) => of.filter(({spec}) => spec?.template).map(({spec}) => spec!.template);

describe('Each object of the chart', () => {
  test('names the release’s namespace if it has one: applied without -n, nothing lands elsewhere', () => {
    const wrong = objects.filter(
      ({kind, metadata}) => metadata.namespace !== (clusterKinds.has(kind) ? undefined : 'doorplate-system'),
    );
    expect(wrong.map(({kind, metadata}) => `${kind} ${metadata.name}`)).toEqual([]);
    expect(new Set(objects.map(({kind}) => kind)).size).toBeGreaterThan(18);
  });

  test('and each Pod has the common labels', () => {
    const labelled = renderChart<Rendered>(...all, 'commonLabels.team=edge');
    const without = [...labelled, ...pods(labelled)].filter(({metadata}) => metadata.labels?.team !== 'edge');
    expect(without).toEqual([]);
  });

  test('begins with fullnameOverride, and what refers to it does', () => {
    // Hashes of the configuration, of the Job's template and of the Pod's spec differ.
    const text = (of: readonly Rendered[]) =>
      JSON.stringify(of).replaceAll(/"[0-9a-f]{16}"|(?:uninstall|preflight)-[0-9a-f]{8}/g, '#');
    const named = text(renderChart<Rendered>(...all, 'fullnameOverride=zzz'));
    expect(named.split('zzz').length).toBeGreaterThan(objects.length);
    expect(named.replaceAll('zzz', 'doorplate') === text(objects)).toBe(true);
  });

  test('has at most 63 characters in the name of a Service, with the longest fullnameOverride', () => {
    const named = renderChart<Rendered>(...all, `fullnameOverride=${'a'.repeat(52)}`);
    const lengths = named.filter(({kind}) => kind === 'Service').map(({metadata}) => metadata.name.length);
    expect(Math.max(...lengths)).toBe(63);
  });

  test('is found by nameOverride', () => {
    const named = renderChart<Rendered>(...all, 'nameOverride=edge');
    expect(JSON.stringify(named)).not.toContain('"app.kubernetes.io/name":"doorplate"');
  });
});

describe.each(roles)('The values of the %s', (role) => {
  const deployment = (...values: string[]) =>
    renderChart<Rendered>(...values.map((value) => `${role}.${value}`)).find(
      ({kind, metadata}) => kind === 'Deployment' && metadata.name.endsWith(role),
    )!;

  test('reach its Deployment and its Pods', () => {
    const {metadata, spec} = deployment(
      'deploymentAnnotations.a=d',
      'podAnnotations.a=p',
      'podLabels.l=p',
      'extraEnv[0].name=LANG',
      'extraEnv[0].value=C',
      'extraVolumes[0].name=more',
      'extraVolumeMounts[0].name=more',
      'extraVolumeMounts[0].mountPath=/more',
      'heapMegabytes=700',
      'serviceAccount.create=false',
      'serviceAccount.name=mine',
    );
    const pod = spec!.template;
    const container = pod.spec.containers[0]!;
    expect(metadata.annotations).toMatchObject({a: 'd'});
    expect(pod.metadata).toMatchObject({annotations: {a: 'p'}, labels: {l: 'p'}});
    expect(container.env).toContainEqual({name: 'LANG', value: 'C'});
    expect(container.env).toContainEqual({name: 'NODE_OPTIONS', value: '--max-old-space-size=700'});
    expect(container.volumeMounts).toContainEqual({name: 'more', mountPath: '/more'});
    expect(pod.spec.volumes).toContainEqual({name: 'more'});
    expect(pod.spec.serviceAccountName).toBe('mine');
  });

  test('bind its rights to your ServiceAccount, and create none', () => {
    const mine = renderChart<Rendered>(`${role}.serviceAccount.create=false`, `${role}.serviceAccount.name=mine`);
    const bound = mine.filter(({subjects}) => subjects?.some(({name}) => name === 'mine'));
    expect(bound.map(({kind}) => kind)).toContain('ClusterRoleBinding');
    const names = mine.flatMap(({subjects}) => subjects?.map(({name}) => name) ?? []);
    expect(names).not.toContain(`doorplate-${role}`);
    const accounts = mine.filter(({kind}) => kind === 'ServiceAccount').map(({metadata}) => metadata.name);
    expect(accounts).not.toContain(`doorplate-${role}`);
    expect(() => renderChart(`${role}.serviceAccount.create=false`)).toThrow('serviceAccount/name');
  });

  test('decide its PodDisruptionBudget', () => {
    const budget = (...values: string[]) =>
      renderChart<Rendered>(...all, ...values).find(
        ({kind, metadata}) => kind === 'PodDisruptionBudget' && metadata.name.endsWith(role),
      )?.spec?.maxUnavailable;
    expect(budget(`${role}.podDisruptionBudget.maxUnavailable=50%`)).toBe('50%');
    expect(budget(`${role}.podDisruptionBudget.enabled=false`)).toBeUndefined();
  });
});

const apiPod = (...values: string[]) =>
  renderChart<Rendered>(...all, ...values).find(
    ({kind, metadata}) => kind === 'Deployment' && metadata.name.endsWith('api'),
  )!.spec!.template.spec;

describe('null as a value', () => {
  test('is rendered as if the value were empty, and switches a probe off', () => {
    const ofRoles = ['deploymentAnnotations', 'podAnnotations', 'podLabels', 'serviceAccount', 'podDisruptionBudget'];
    const {containers, securityContext, serviceAccountName} = apiPod(
      ...['commonLabels', 'livenessProbe', 'readinessProbe', 'podSecurityContext', 'securityContext'].map(
        (name) => `${name}=null`,
      ),
      ...roles.flatMap((role) => ofRoles.map((name) => `${role}.${name}=null`)),
      'redirector.service=null',
      'api.service.annotations=null',
    );
    expect(Object.keys(containers[0]!).filter((name) => name.endsWith('Probe'))).toEqual([]);
    expect({securityContext, serviceAccountName}).toEqual({
      securityContext: {fsGroup: 65_532},
      serviceAccountName: 'doorplate-api',
    });
    const annotations = roles.map((role) => `${role}.serviceAccount.annotations=null`);
    expect(apiPod(...annotations, 'api.service=null', 'redirector.service.annotations=null')).toBeDefined();
  });

  test('is not needed to replace the fsGroup of the API', () => {
    expect(apiPod('podSecurityContext.fsGroup=2000').securityContext).toMatchObject({fsGroup: 2000, runAsUser: 65_532});
  });
});

const teams = (of: readonly Rendered[]) => new Set(of.map(({metadata}) => metadata.labels!.team));

describe('Labels and annotations that two values give', () => {
  const twice = renderChart<Rendered>(
    ...all,
    'commonLabels.team=common',
    ...roles.flatMap((role) => [
      `${role}.podLabels.team=pod`,
      `${role}.podAnnotations.doorplate\\.dev/config=mine`,
      `${role}.deploymentAnnotations.helm\\.sh/resource-policy=mine`,
    ]),
    ...['serviceMonitor', 'prometheusRule', 'dashboard'].flatMap((name) => [
      `metrics.${name}.labels.team=metrics`,
      `metrics.${name}.labels.app\\.kubernetes\\.io/part-of=mine`,
    ]),
    'commonLabels.rbac\\.authorization\\.k8s\\.io/aggregate-to-view=off',
  );

  test('are rendered once, or renderChart throws; the value for fewer objects wins', () => {
    const deployments = twice.filter(({kind}) => kind === 'Deployment');
    expect(new Set(pods(deployments).map(({metadata}) => metadata.labels.team))).toEqual(new Set(['pod']));
    expect(teams(deployments)).toEqual(new Set(['common']));
    const ofMetrics = ['ServiceMonitor', 'PrometheusRule'];
    expect(teams(twice.filter(({kind}) => ofMetrics.includes(kind)))).toEqual(new Set(['metrics']));
  });

  test('replace none of the chart’s own', () => {
    expect(new Set(twice.map(({metadata}) => metadata.labels?.['app.kubernetes.io/part-of']))).toEqual(
      new Set(['doorplate']),
    );
    for (const {metadata} of pods(twice))
      expect(metadata.annotations['doorplate.dev/config']).toMatch(/^[0-9a-f]{16}$/);
    const view = twice.find(({kind, metadata}) => kind === 'ClusterRole' && metadata.name.endsWith('-view'))!;
    expect(view.metadata.labels?.['rbac.authorization.k8s.io/aggregate-to-view']).toBe('true');
  });
});

test('Values of all Pods reach them', () => {
  const set = renderChart<Rendered>(
    'image.registry=registry.example.net',
    'image.repository=team/doorplate',
    'image.tag=x',
    'revisionHistoryLimit=3',
    'podSecurityContext.runAsUser=1000',
    'securityContext.privileged=false',
    'readinessProbe.periodSeconds=5',
  ).filter(({kind}) => kind === 'Deployment');
  expect(set).toHaveLength(roles.length);
  for (const {spec} of set) {
    expect(spec!.revisionHistoryLimit).toBe(3);
    const {securityContext, containers} = spec!.template.spec;
    expect(securityContext).toMatchObject({runAsUser: 1000, runAsNonRoot: true});
    expect(containers[0]).toMatchObject({
      image: 'registry.example.net/team/doorplate:x',
      securityContext: {privileged: false, readOnlyRootFilesystem: true},
      readinessProbe: {httpGet: {path: '/readyz'}, periodSeconds: 5},
    });
  }
});

test.each(['traefik', 'nginx', 'ingress-nginx', 'haproxy', 'contour', 'other'])(
  'helm lint --strict passes with the class %s and every part switched on',
  (name) => {
    const sets = [...all, `ingressClassName=${name}`].flatMap((value) => ['--set', value]);
    const args = ['lint', '--strict', join(root, 'charts/doorplate'), '-f', join(root, 'examples/demo/values.yaml')];
    expect(execFileSync(`${bin}/helm`, [...args, ...sets]).toString()).toContain(
      '1 chart(s) linted, 0 chart(s) failed',
    );
  },
);
