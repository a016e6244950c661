/** A platform on the cluster of two nodes: what may be evicted runs twice, and the edge is reached through a Service, as behind a cloud's load balancer. */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, readFileSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';
import {parseAllDocuments} from 'yaml';
import {api, apply, eventually, install, kubectl, root, setZone, sh} from '../../cluster/cluster.ts';
import {services} from '../../operator/resources/resources.ts';
import type {Tenant} from '../support/tenant.ts';
import type {ClientOrder, ClientReport} from './client.ts';

export const nodes = ['local', 'local-2'] as const;
/** The load balancer's addresses: kube-proxy of both nodes carries them to the edge's ready Pods. */
export const edge = {v4: '10.244.0.1', v6: 'fd00:10:244::1'};
const valkeyPort = 16379;

/** Throws with the remedy if the cluster has one node. */
export function mustHaveTwoNodes(): void {
  if (!existsSync(`${root}.cluster/node-2`)) throw new Error('the cluster has one node: make nodes');
}

type Dict = Record<string, unknown>;
/** The parts of a Deployment that change here. */
interface Deployment extends Dict {
  kind: string;
  metadata: {name: string; namespace: string};
  spec: {
    replicas?: number;
    strategy?: Dict;
    selector: {matchLabels: Dict};
    template: {
      spec: Dict & {
        containers: (Dict & {args?: string[]; ports?: {hostPort?: number; hostIP?: string}[]; lifecycle?: Dict})[];
      };
    };
  };
}

/** Makes a Deployment fit for a drain: two Pods, on two nodes if possible, of which an eviction leaves one ready. Returns it and its budget. */
export function twice(deployment: Deployment): object[] {
  const {metadata, spec} = deployment;
  const {selector} = spec;
  spec.replicas = 2;
  spec.strategy = {type: 'RollingUpdate', rollingUpdate: {maxUnavailable: 0}};
  spec.template.spec.topologySpreadConstraints = [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: selector,
      matchLabelKeys: ['pod-template-hash'],
    },
  ];
  const budget = {apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec: {maxUnavailable: 1, selector}};
  return [deployment, budget];
}

/** Objects of a manifest of the local cluster, as `cluster/start.sh` applied them. */
const applied = (name: string) =>
  parseAllDocuments(readFileSync(`${root}.cluster/config/${name}.yaml`, 'utf8')).map((d) => d.toJS() as Deployment);
const deploymentOf = (name: string) => applied(name).find(({kind}) => kind === 'Deployment')!;

/** Traefik twice, behind a Service with both families. A Pod that ends accepts connections until every kube-proxy knows. */
async function makeEdge(): Promise<void> {
  const traefik = deploymentOf('traefik');
  const [container] = traefik.spec.template.spec.containers;
  for (const port of container!.ports ?? []) {
    delete port.hostPort;
    delete port.hostIP;
  }
  container!.args!.push(
    ...['web', 'websecure'].map((name) => `--entrypoints.${name}.transport.lifeCycle.requestAcceptGraceTimeout=10s`),
  );
  await apply(twice(traefik));
  await apply([
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {name: 'edge', namespace: 'traefik'},
      spec: {
        type: 'LoadBalancer',
        ipFamilyPolicy: 'RequireDualStack',
        selector: traefik.spec.selector.matchLabels,
        ports: [
          {name: 'web', port: 80},
          {name: 'websecure', port: 443},
        ],
      },
    },
  ]);
  const status = {loadBalancer: {ingress: [{ip: edge.v4}, {ip: edge.v6}]}};
  await api().patch(services, 'traefik/edge', {status}, {type: 'merge', subresource: 'status'});
  await allReady();
}

const records = (types: readonly ('A' | 'AAAA')[]) =>
  ['edge', 'api', '*.apps'].flatMap((name) =>
    types.map((type) => `${name} IN ${type} ${type === 'A' ? edge.v4 : edge.v6}`),
  );
/** Sets the families by which the platform's own names lead to the edge. */
export const edgeRecords = (...types: ('A' | 'AAAA')[]) => setZone('platform.test', records(types));

/** A Valkey outside both nodes' Pods. Returns what ends it. */
async function startValkey(): Promise<ChildProcess> {
  await sh('test/limits/install.sh', []);
  const valkey = spawn(
    'cluster/enter.sh',
    [
      'redis-server',
      '--bind',
      edge.v4,
      '--port',
      `${valkeyPort}`,
      '--protected-mode',
      'no',
      '--save',
      '',
      '--appendonly',
      'no',
    ],
    {cwd: root, stdio: 'ignore'},
  );
  await eventually('Valkey answers', async () =>
    (await sh('cluster/enter.sh', ['redis-cli', '-h', edge.v4, '-p', `${valkeyPort}`, 'ping'])).startsWith('PONG'),
  );
  return valkey;
}

/**
 * cert-manager's controller and webhook twice. While the only webhook moves, each write of a Certificate waits for up to 30 s, and an operator
 * that waits does not hand over.
 */
async function certManagerTwice(): Promise<void> {
  const manifest = await kubectl([
    'get',
    'deployment',
    '-n',
    'cert-manager',
    'cert-manager',
    'cert-manager-webhook',
    '-o',
    'json',
  ]);
  for (const {metadata, spec} of (JSON.parse(manifest) as {items: Deployment[]}).items) {
    const {name, namespace} = metadata;
    const [, budget] = twice({kind: 'Deployment', metadata: {name, namespace}, spec});
    const {replicas, template} = spec;
    const {topologySpreadConstraints} = template.spec;
    const patch = {spec: {replicas, template: {spec: {topologySpreadConstraints}}}};
    await kubectl(['patch', 'deployment', '-n', namespace, name, '--type=merge', '-p', JSON.stringify(patch)]);
    await apply([budget!]);
  }
}

/** Installs Doorplate with two Pods of each role, and with a Valkey beside the nodes, which the API then needs. Returns what ends it. */
export async function makePlatform(): Promise<() => Promise<void>> {
  await edgeRecords('A', 'AAAA');
  await Promise.all([makeEdge(), apply(twice(deploymentOf('coredns'))), certManagerTwice()]);
  const valkey = await startValkey();
  await install([
    'edge.addresses=null',
    'edge.service.namespace=traefik',
    'edge.service.name=edge',
    'operator.replicas=2',
    'redirector.replicas=2',
    'api.replicas=2',
    `valkey.url=redis://${edge.v4}:${valkeyPort}`,
    'api.trustedProxies={10.244.0.0/16,fd00:10:244::/48}',
  ]);
  await allReady();
  return async () => {
    const ended = once(valkey, 'exit');
    valkey.kill();
    await ended;
  };
}

/** Two Pods of the tenant's site. Each serves for some seconds after it was told to end, because endpoints are removed later. */
export async function siteTwice(tenant: Tenant): Promise<void> {
  const site = tenant.backend('web').find((o) => (o as Deployment).kind === 'Deployment') as Deployment;
  const {spec} = site.spec.template;
  spec.terminationGracePeriodSeconds = 15;
  spec.containers[0]!.lifecycle = {preStop: {sleep: {seconds: 5}}};
  await apply(twice(site));
  await allReady();
}

/** Waits until every Pod that is wanted is ready, and no other one is left. */
export async function allReady(): Promise<void> {
  const rows = [
    '.metadata.name',
    '.spec.replicas',
    '.status.replicas',
    '.status.updatedReplicas',
    '.status.availableReplicas',
  ];
  const template = `{range .items[*]}${rows.map((row) => `{${row}}`).join(' ')}{"\\n"}{end}`;
  await eventually('all Deployments are available', async () => {
    const lines = (await kubectl(['get', 'deployments', '-A', '-o', `jsonpath=${template}`])).trim().split('\n');
    const waiting = lines.filter((line) => new Set(line.split(' ').slice(1)).size !== 1);
    if (waiting.length > 0) throw new Error(waiting.join('; '));
    return true;
  });
}

/** Pods of each component of Doorplate and of the edge, by node: `local: operator, api; local-2: ...`. */
export async function placement(): Promise<Record<string, string[]>> {
  const template = '{range .items[*]}{.spec.nodeName} {.metadata.name}{"\\n"}{end}';
  const lines = (
    await Promise.all(
      ['doorplate-system', 'traefik'].map((n) => kubectl(['get', 'pods', '-n', n, '-o', `jsonpath=${template}`])),
    )
  )
    .join('')
    .trim()
    .split('\n');
  const pods = lines.map((line) => line.split(' ')).toSorted();
  return Object.fromEntries(
    nodes.map((node) => [
      node,
      pods.filter(([at]) => at === node).map(([, name]) => name!.replace(/-[^-]+-[^-]+$/, '')),
    ]),
  );
}

/** Drains a node, waits until all is ready on the other one, and lets Pods onto it again. Pebble stays: a CA is outside a platform. */
export async function drainNode(node: string, during: () => Promise<void> = async () => {}): Promise<void> {
  const options = ['--ignore-daemonsets', '--delete-emptydir-data', '--pod-selector=app!=pebble', '--timeout=240s'];
  try {
    await Promise.all([kubectl(['drain', node, ...options]), during()]);
    await allReady();
  } finally {
    await kubectl(['uncordon', node]);
  }
}

/** Starts {@link ./client.ts} inside the cluster's network. `stop` returns its report. */
export function startClient(order: ClientOrder): {stop: () => Promise<ClientReport>} {
  const client = spawn('cluster/enter.sh', [process.execPath, `${root}test/nodes/client.ts`], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  client.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  client.stdin.write(`${JSON.stringify(order)}\n`);
  return {
    stop: async () => {
      // Kept connections become idle, so that a late failure of one is still seen.
      await sleep(5000);
      const ended = once(client, 'close');
      client.stdin.end();
      await ended;
      return JSON.parse(output) as ClientReport;
    },
  };
}
