import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {KubeConfig} from '@kubernetes/client-node';
import {Client} from '../../operator/kube/client/client.ts';
import {defineResource, type KubeObject} from '../../operator/kube/objects.ts';
import {eventually} from './kube-api.ts';
import {freePort} from './free-ports.ts';
import {root} from './pages.ts';

/** The labels that the chart's ServiceMonitor gives the Pods of a release, besides `role`. */
const release = {namespace: 'doorplate-system', job: 'doorplate-metrics'};

/** A query of the chart's, for the release that {@link Prometheus} scrapes. */
export const ofRelease = (expr: string): string =>
  expr.replaceAll('SELECTOR', `namespace='${release.namespace}',job='${release.job}'`);

const pods = defineResource<Pod>({group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true});
type Pod = KubeObject & {spec: {containers: {ports?: {name?: string; containerPort: number}[]}[]}};

/** What a Prometheus scrapes. */
interface Scraped {
  /** For its configuration; the files that this names are written into a folder. */
  scrape(folder: string): object;
  stop(): Promise<void>;
}

/**
 * Tells a Prometheus (http_sd) of the Pods of the release as the chart's ServiceMonitor would, by a kubeconfig that holds a client's
 * certificate; they are asked through the API server.
 */
class PodsOfRelease implements Scraped {
  readonly #config: KubeConfig;
  readonly #client: Client;
  readonly #server: Server;
  readonly #api: string;

  private constructor(config: KubeConfig) {
    this.#config = config;
    this.#api = new URL(config.getCurrentCluster()?.server ?? '').host;
    this.#client = Client.fromKubeConfig(config);
    this.#server = createServer((_, answer) => {
      this.#targets().then(
        (targets) => answer.setHeader('content-type', 'application/json').end(JSON.stringify(targets)),
        () => answer.writeHead(502).end(),
      );
    });
  }

  static async start(kubeconfig: string): Promise<PodsOfRelease> {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    const it = new PodsOfRelease(config);
    it.#server.listen(0, '127.0.0.1');
    await once(it.#server, 'listening');
    return it;
  }

  async #targets(): Promise<object[]> {
    const {items} = await this.#client.list(pods, {
      namespace: release.namespace,
      labelSelector: 'app.kubernetes.io/name=doorplate',
    });
    return items.flatMap(({metadata: {name, labels}, spec}) =>
      spec.containers
        .flatMap(({ports = []}) => ports)
        .filter((port) => port.name === 'health')
        .map(({containerPort}) => ({
          targets: [this.#api],
          labels: {
            __metrics_path__: `/api/v1/namespaces/${release.namespace}/pods/${name}:${containerPort}/proxy/metrics`,
            namespace: release.namespace,
            pod: name,
            role: labels?.['app.kubernetes.io/component'],
          },
        })),
    );
  }

  scrape(folder: string): object {
    const write = (name: string, base64 = ''): string => {
      writeFileSync(join(folder, name), Buffer.from(base64, 'base64'), {mode: 0o600});
      return join(folder, name);
    };
    const user = this.#config.getCurrentUser();
    return {
      scheme: 'https',
      tls_config: {
        ca_file: write('ca.crt', this.#config.getCurrentCluster()?.caData),
        cert_file: write('tls.crt', user?.certData),
        key_file: write('tls.key', user?.keyData),
      },
      http_sd_configs: [
        {url: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`, refresh_interval: '1s'},
      ],
    };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#client.close();
  }
}

/** A process of a role each, by the port of its /metrics on loopback. */
const processes = (targets: readonly {role: string; port: number}[]): Scraped => ({
  scrape: () => ({
    static_configs: targets.map(({role, port}) => ({
      targets: [`127.0.0.1:${port}`],
      labels: {namespace: release.namespace, role, pod: role},
    })),
  }),
  stop: async () => {},
});

/** A real Prometheus (of Debian) on loopback, which scrapes every second. */
export class Prometheus {
  readonly #url: string;
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #scraped: Scraped;

  private constructor(url: string, folder: string, process: ChildProcess, scraped: Scraped) {
    [this.#url, this.#folder, this.#process, this.#scraped] = [url, folder, process, scraped];
  }

  /** Scrapes processes, or the release that a cluster runs, by the administrator's kubeconfig. */
  static async start(of: readonly {role: string; port: number}[] | {kubeconfig: string}): Promise<Prometheus> {
    execFileSync(join(root, 'test/observability/install.sh'), {stdio: 'inherit'});
    const folder = mkdtempSync(join(tmpdir(), 'doorplate-prometheus-'));
    const port = await freePort();
    const scraped = 'kubeconfig' in of ? await PodsOfRelease.start(of.kubeconfig) : processes(of);
    const config = {
      global: {scrape_interval: '1s', scrape_timeout: '1s'},
      scrape_configs: [{job_name: release.job, ...scraped.scrape(folder)}],
    };
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
    const server = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        // So that a query of what will be in an hour sees what is now.
        '--query.lookback-delta=2h',
        '--log.level=error',
      ],
      {stdio: ['ignore', 'ignore', 'inherit']},
    );
    const prometheus = new Prometheus(`http://127.0.0.1:${port}`, folder, server, scraped);
    await eventually(async () => (await fetch(`${prometheus.#url}/-/ready`)).ok);
    return prometheus;
  }

  /** What a query gives, each with its labels and its value; as it will be in so many minutes if nothing is told any more. Throws when it is refused. */
  async query(expr: string, inMinutes = 0): Promise<{metric: Record<string, string>; value: number}[]> {
    const time = `${Date.now() / 1000 + inMinutes * 60}`;
    const answer = await fetch(`${this.#url}/api/v1/query?${new URLSearchParams({query: ofRelease(expr), time})}`);
    const {status, error, data} = (await answer.json()) as {
      status: string;
      error?: string;
      data: {result: {metric: Record<string, string>; value: [number, string]}[]};
    };
    if (status !== 'success') throw new Error(`${expr}: ${error}`);
    return data.result.map(({metric, value}) => ({metric, value: Number(value[1])}));
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await ended;
    await this.#scraped.stop();
    rmSync(this.#folder, {recursive: true, force: true});
  }
}
