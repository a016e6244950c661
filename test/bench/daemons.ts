/** Programs of Kubernetes and around it as processes beside a bench's API server: what surrounds the operator and is real. */
import {type ChildProcess, execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {open, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {parseAllDocuments} from 'yaml';
import {bin, cache} from '../support/kube-server.ts';
import type {ApiServer} from '../support/kube-server.ts';
import type {Kind} from '../support/platform.ts';

const versions = readFileSync(new URL('../../cluster/versions.env', import.meta.url), 'utf8');
/** The name of cert-manager's program, and of its chart in the cache. The local cluster has the same version. */
const certManager = `cert-manager-${/^CERT_MANAGER_VERSION=(.+)$/m.exec(versions)?.[1]}`;

/** A process that ends with this one, however that ends. */
export class Daemon {
  readonly pid: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.pid = child.pid!;
  }

  /** Its output goes to `NAME.log` in the API server's folder. */
  static async start(server: ApiServer, name: string, args: readonly string[]): Promise<Daemon> {
    const log = await open(join(server.dir, `${name}.log`), 'a');
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', join(bin, name), ...args], {
      stdio: ['ignore', log.fd, log.fd],
    });
    await once(child, 'spawn');
    await log.close();
    return new Daemon(child);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}

/** A kubeconfig of a user with a client certificate of its own: the audit log names it. Everybody may do all. */
export async function kubeconfigOf(server: ApiServer, user: string): Promise<string> {
  await server.issue(user);
  const file = join(server.dir, `${user}.kubeconfig`);
  const [cert, key] = ['crt', 'key'].map((end) => join(server.dir, `${user}.${end}`));
  await writeFile(file, server.kubeconfig({'client-certificate': cert, 'client-key': key}));
  return file;
}

/**
 * cert-manager's own defaults, or as much as two cores can do. From version 1.21 the two limits of requests have no effect on an API
 * server with API Priority and Fairness.
 */
export const certManagerSpeeds = {
  default: {},
  tuned: {kubernetesAPIQPS: 10_000, kubernetesAPIBurst: 10_000, numberOfConcurrentWorkers: 30},
} as const;
export type CertManagerSpeed = keyof typeof certManagerSpeeds;

/** cert-manager's controller, its ingress-shim in it. Its webhook stays away: it only checks what users write. */
export async function startCertManager(server: ApiServer, speed: CertManagerSpeed): Promise<Daemon> {
  const config = join(server.dir, `cert-manager-${speed}.json`);
  await writeFile(
    config,
    JSON.stringify({
      apiVersion: 'controller.config.cert-manager.io/v1alpha1',
      kind: 'ControllerConfiguration',
      enableCertificateOwnerRef: true,
      healthzListenAddress: '127.0.0.1:0',
      metricsListenAddress: '127.0.0.1:0',
      ...certManagerSpeeds[speed],
    }),
  );
  const kubeconfig = await kubeconfigOf(server, 'cert-manager');
  const args = ['controller', '--config', config, '--kubeconfig', kubeconfig];
  return Daemon.start(server, certManager, [...args, '--cluster-resource-namespace', 'cert-manager']);
}

/** What deletes that whose owner is gone, and what empties namespaces. */
export async function startControllerManager(server: ApiServer): Promise<Daemon> {
  const kubeconfig = await kubeconfigOf(server, 'kube-controller-manager');
  return Daemon.start(server, 'kube-controller-manager', [
    '--kubeconfig',
    kubeconfig,
    '--controllers=garbage-collector-controller,namespace-controller',
    '--leader-elect=false',
    '--secure-port=0',
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
  ]);
}

/** cert-manager's kinds, as its chart has them. */
export async function certManagerKinds(): Promise<Kind[]> {
  const args = ['template', 'cert-manager', join(cache, 'charts', certManager), '--set', 'crds.enabled=true'];
  const {stdout} = await promisify(execFile)(join(bin, 'helm'), args, {maxBuffer: 64 << 20});
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Kind | null)
    .filter((object): object is Kind => object?.kind === 'CustomResourceDefinition');
}
