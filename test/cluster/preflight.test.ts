/** The preflight as a platform runs it: `helm test`, and the same Pod of an installation around which nothing is as it should be. */
import {randomBytes} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {parseAllDocuments} from 'yaml';
import {apply, eventually, kubectl, root, setZone, sh} from '../../cluster/cluster.ts';
import type {KubeObject} from '../../operator/kube/objects.ts';

const questions = ['wildcard', 'dns', 'acme', 'issuer', 'edge'];
/** Without a certificate, the feature gates of cert-manager are unknown. */
const ari = expect.stringMatching(/^(ok|unknown)$/);
const home = `preflight-${randomBytes(3).toString('hex')}`;
const zone = `${home}.test`;
const issuer = {apiVersion: 'cert-manager.io/v1', kind: 'ClusterIssuer', metadata: {name: home}};

/** What each question was answered with, by what the Pod printed. */
const outcomes = (printed: string): Record<string, string> =>
  Object.fromEntries(
    [...printed.matchAll(/^(ok|FAILED|unknown) +(\S+) +.*\?$/gm)].map(([, outcome, name]) => [name, outcome]),
  );
const each = (outcome: string) => Object.fromEntries(questions.map((name) => [name, outcome]));

/** Of the chart with these values, what the Pod of the preflight needs. */
async function preflightWith(...sets: string[]): Promise<KubeObject[]> {
  const tag = readFileSync(join(root, 'dist/image.tag'), 'utf8').trim();
  const values = ['-f', 'examples/demo/values.yaml', '--set-string', `image.tag=${tag}`];
  const chart = ['template', 'other', 'charts/doorplate', '-n', home, ...values];
  const yaml = await sh('helm', [...chart, ...sets.flatMap((set) => ['--set', set])]);
  const needed =
    /^(ServiceAccount\/other-operator|ClusterRole(Binding)?\/.*-other-operator|ConfigMap\/other-config|Pod\/other-preflight-.*)$/;
  return parseAllDocuments(yaml)
    .flatMap((document) => (document.toJS() as KubeObject | null) ?? [])
    .filter(({kind, metadata: {name}}) => needed.test(`${kind}/${name}`))
    .toSorted((a, b) => Number(a.kind === 'Pod') - Number(b.kind === 'Pod'))
    .map((object) =>
      object.kind.startsWith('Cluster') ? object : {...object, metadata: {...object.metadata, namespace: home}},
    );
}

let rights: string[] = [];
beforeAll(async () => {
  const labels = {'pod-security.kubernetes.io/enforce': 'restricted'};
  await apply([{apiVersion: 'v1', kind: 'Namespace', metadata: {name: home, labels}}]);
});
afterAll(async () => {
  await kubectl([
    'delete',
    '--ignore-not-found',
    ...rights,
    `clusterissuer/${home}`,
    `namespace/${home}`,
    '--wait=false',
  ]);
  await sh('cluster/dns.sh', ['remove', zone]);
});

test('helm test passes where all is there, and its log has every question', async () => {
  const printed = await sh('helm', ['test', 'doorplate', '-n', 'doorplate-system', '--logs']);
  expect(outcomes(printed)).toEqual({...each('ok'), ari});
});

test('kubectl doorplate preflight runs the same checks and leaves no Pod behind', async () => {
  const printed = await sh(join(root, 'operator/cli/kubectl-doorplate'), ['preflight']);
  expect(outcomes(printed)).toEqual({...each('ok'), ari});
  // The name of the Pod of helm test, which stays, ends with eight digits. A Pod is gone once the kubelet has confirmed its deletion.
  await eventually('the Pod is gone', async () => {
    const left = await kubectl(['-n', 'doorplate-system', 'get', 'pods', '-o', 'name']);
    return !/pod\/doorplate-preflight-[0-9a-f]{6}$/m.test(left);
  });
});

test('where nothing is as it should be, each question about it fails, and says what to set', async () => {
  // A zone without a wildcard, whose name server refuses the connection.
  await setZone(zone, [`@ IN NS ns.${zone}.`, 'ns IN A 198.51.100.1']);
  const acme = {
    // No directory is there.
    server: 'https://pebble.pebble.svc:14000/none',
    skipTLSVerify: true,
    privateKeySecretRef: {name: home},
    solvers: [{http01: {ingress: {ingressClassName: 'another'}}}],
  };
  const sets = [`platform.zone=${zone}`, `issuerRef.name=${home}`, 'edge.probe={10.244.0.1:9}'];
  const objects = await preflightWith(...sets);
  rights = objects.flatMap(({kind, metadata: {name}}) => (kind.startsWith('Cluster') ? `${kind}/${name}` : []));
  await apply([{...issuer, spec: {acme}}, ...objects]);
  const pod = ['-n', home, `pod/${objects.find(({kind}) => kind === 'Pod')!.metadata.name}`];
  const code = await eventually('the preflight has ended', async () => {
    const path = 'jsonpath={.status.containerStatuses[0].state.terminated.exitCode}';
    return (await kubectl(['get', ...pod, '-o', path])) || undefined;
  });
  const printed = await kubectl(['logs', ...pod]);
  expect({code, ...outcomes(printed)}).toEqual({code: '1', ...each('FAILED'), ari});
  for (const value of [`*.${zone}`, 'dns.mode', 'proxy.url', 'kubectl describe', 'edge.probe'])
    expect(printed).toContain(value);
});
