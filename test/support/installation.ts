/** The charts on a {@link Platform}, by the real helm and kubectl; what a node would run of them runs in this process. */
import {execFile} from 'node:child_process';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {pino} from 'pino';
import {parseSettings, toPolicy} from '../../operator/config.ts';
import {plans} from '../../operator/resources/resources.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {isAlreadyExists, isNamespaceGone, isNotFound} from '../../operator/kube/errors.ts';
import {defineResource, type KubeObject} from '../../operator/kube/objects.ts';
import {uninstall} from '../../operator/roles/uninstall.ts';
import {bin} from './kube-server.ts';
import {RunningOperator, settingsFor} from './operator.ts';
import {home, type Platform} from './platform.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const kind = <T extends KubeObject>(group: string, plural: string, name: string) =>
  defineResource<T>({group, version: 'v1', plural, kind: name, namespaced: true});
export const deployments = kind<KubeObject & {spec: {replicas?: number}}>('apps', 'deployments', 'Deployment');
const jobs = kind<KubeObject & {status?: {succeeded?: number}}>('batch', 'jobs', 'Job');
const pods = kind<KubeObject & {spec: object; status?: object}>('', 'pods', 'Pod');

const deployment = `${home}/doorplate-operator`;
/** The chart's Job after it is uninstalled, also if the chart was rendered and applied. */
const hooks = {namespace: home, labelSelector: 'app.kubernetes.io/component=uninstall'};
const pod = `${home}/operator`;

/** The helm or kubectl that a user has. Fails with what it said. */
function run(command: string, args: readonly string[], kubeconfig: string): Promise<string> {
  const env = {...process.env, KUBECONFIG: kubeconfig, HOME: tmpdir()};
  return new Promise((resolve, reject) => {
    execFile(join(bin, command), [...args], {cwd: root, env}, (error, stdout, stderr) =>
      error ? reject(new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`)) : resolve(stdout + stderr),
    );
  });
}

/**
 * A fake, in place of a node: it runs one operator while its Deployment wants any, as a Pod that ends when it has stopped; and the chart's
 * Job after it is uninstalled.
 */
export class Installation {
  readonly #platform: Platform;
  readonly #folder: string;
  readonly #over = new AbortController();
  /** What the hook has warned of. */
  readonly warnings: string[] = [];
  #running: Promise<void> = Promise.resolve();
  #operator: RunningOperator | undefined;

  private constructor(platform: Platform, folder: string) {
    [this.#platform, this.#folder] = [platform, folder];
  }

  /** Both charts, and the operator that they want. Without `charts`, the caller installs them with another tool. */
  static async start(platform: Platform, {charts = true}: {charts?: boolean} = {}): Promise<Installation> {
    const it = new Installation(platform, await mkdtemp(join(tmpdir(), 'doorplate-charts-')));
    const [cert, key] = ['admin.crt', 'admin.key'].map((name) => join(platform.server.dir, name));
    const user = {'client-certificate': cert, 'client-key': key};
    await writeFile(it.kubeconfig, platform.server.kubeconfig(user));
    it.#running = it.#play();
    try {
      // Those of the chart come in their place.
      for (const {metadata} of (await platform.client.list(plans)).items)
        await platform.client.delete(plans, metadata.name);
      if (charts) await it.install();
      return it;
    } catch (error) {
      await it.stop();
      throw error;
    }
  }

  /** What stands already is taken over, as Helm does with what is its own. */
  async install(): Promise<void> {
    const to = ['-n', home, '--create-namespace', '--take-ownership'];
    await this.helm('upgrade', '--install', 'doorplate-crds', 'charts/doorplate-crds', ...to);
    await this.helm('upgrade', '--install', 'doorplate', 'charts/doorplate', ...to, '-f', 'examples/demo/values.yaml');
  }

  /** Renders the chart without a cluster, as a pipeline does that does not install with Helm. Returns the file. */
  async render(...args: string[]): Promise<string> {
    const file = join(this.#folder, 'rendered.yaml');
    const chart = ['doorplate', 'charts/doorplate', '-n', home, '-f', 'examples/demo/values.yaml'];
    await writeFile(file, await this.helm('template', ...chart, ...args));
    return file;
  }

  helm = (...args: string[]) => run('helm', args, this.kubeconfig);
  kubectl = (...args: string[]) => run('kubectl', args, this.kubeconfig);

  get isRunning(): boolean {
    return this.#operator !== undefined;
  }

  get operator(): RunningOperator {
    if (!this.#operator) throw new Error('no operator runs');
    return this.#operator;
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#running;
    await this.#operator?.stop();
    await rm(this.#folder, {recursive: true});
  }

  /** The administrator's, as a path. */
  get kubeconfig(): string {
    return join(this.#folder, 'kubeconfig');
  }

  async #play(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.#tendOperator();
      await this.#tendHook();
      await wait(100, undefined, {signal: this.#over.signal}).catch(() => {});
    }
  }

  async #tendOperator(): Promise<void> {
    const {client} = this.#platform;
    const [wanted, standing] = await Promise.all([client.get(deployments, deployment), client.get(pods, pod)]);
    const isWanted = (wanted?.spec.replicas ?? 0) > 0;
    if (standing && (!isWanted || standing.metadata.deletionTimestamp)) {
      await this.#operator?.stop();
      this.#operator = undefined;
      await this.#endPod();
    } else if (!standing && isWanted && (await this.#beginPod('operator')))
      this.#operator = await RunningOperator.start(this.#platform);
  }

  /** A Pod of the operator that was evicted: it runs no more, and stays. */
  async evict(): Promise<void> {
    await this.#beginPod('evicted');
    const status = {phase: 'Failed', reason: 'Evicted'};
    await this.#platform.client.patch(pods, `${home}/evicted`, {status}, {type: 'merge', subresource: 'status'});
  }

  /** Whether there is one now: nothing begins in a namespace that is being deleted. */
  async #beginPod(name: string): Promise<boolean> {
    const labels = {
      'app.kubernetes.io/name': 'doorplate',
      'app.kubernetes.io/instance': 'doorplate',
      'app.kubernetes.io/part-of': 'doorplate',
      'app.kubernetes.io/component': 'operator',
    };
    try {
      await this.#platform.client.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {name, namespace: home, labels},
        // One that a node has taken goes when that says so.
        spec: {nodeName: 'here', containers: [{name: 'operator', image: 'none'}]},
      });
      return true;
    } catch (error) {
      if (isNamespaceGone(error) || isAlreadyExists(error)) return false;
      throw error;
    }
  }

  async #endPod(): Promise<void> {
    await this.kubectl('delete', 'pod', '-n', home, 'operator', '--force', '--grace-period=0', '--ignore-not-found');
  }

  async #tendHook(): Promise<void> {
    const {client} = this.#platform;
    const job = await nextHook(client);
    if (!job) return;
    const settings = parseSettings(JSON.stringify(settingsFor(this.#platform)));
    const config = {settings, policy: toPolicy(settings, home), namespace: home, pod: 'hook'};
    const over = new AbortController();
    const log = pino({level: 'warn'}, {write: (line: string) => void this.warnings.push(line)});
    const done = uninstall({config, client, log}).finally(() => over.abort());
    // The operator ends while that waits for it.
    while (!over.signal.aborted) {
      await this.#tendOperator();
      await wait(50);
    }
    await done;
    await complete(client, job);
  }
}

const nextHook = async (client: Client) =>
  (await client.list(jobs, hooks)).items.find(({status}) => !status?.succeeded);

/** As the node says it of the hook that has done its work. */
async function complete(client: Client, {metadata}: KubeObject): Promise<void> {
  const now = new Date().toISOString();
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: now,
  }));
  const status = {startTime: now, completionTime: now, succeeded: 1, conditions};
  try {
    await client.patch(jobs, `${home}/${metadata.name}`, {status}, {type: 'merge', subresource: 'status'});
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Where no Pod ever ran there is nothing to take off: says of the hook that it is done, until the signal aborts. */
export async function completeHooks(client: Client, signal: AbortSignal): Promise<void> {
  for (; !signal.aborted; await wait(200)) {
    const job = await nextHook(client);
    if (job) await complete(client, job);
  }
}
