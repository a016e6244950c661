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
export const release = {namespace: 'doorplate-system', job: 'doorplate-metrics'};

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

/** The result of a query over a range of time: the values of each series, with their times in seconds since the epoch. */
export interface Curve {
  metric: Record<string, string>;
  values: [time: number, value: string][];
}

/** An empty folder for the files of a Prometheus. Installs Prometheus if it is missing. */
function emptyFolder(): string {
  execFileSync(join(root, 'test/observability/install.sh'), {stdio: 'inherit'});
  return mkdtempSync(join(tmpdir(), 'doorplate-prometheus-'));
}

/** A real Prometheus (of Debian) on loopback, which scrapes every second. */
export class Prometheus {
  readonly #url: string;
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #scraped: Scraped | undefined;

  private constructor(url: string, folder: string, process: ChildProcess, scraped?: Scraped) {
    [this.#url, this.#folder, this.#process, this.#scraped] = [url, folder, process, scraped];
  }

  /** Scrapes processes, or the release that a cluster runs, by the administrator's kubeconfig. */
  static async start(of: readonly {role: string; port: number}[] | {kubeconfig: string}): Promise<Prometheus> {
    const folder = emptyFolder();
    const scraped = 'kubeconfig' in of ? await PodsOfRelease.start(of.kubeconfig) : processes(of);
    return Prometheus.#launch(folder, scraped);
  }

  /** Scrapes nothing, and has the series of a text in the OpenMetrics format. Their labels must include {@link release}. */
  static ofSeries(openMetrics: string): Promise<Prometheus> {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'series'), openMetrics);
    const [from, to] = [join(folder, 'series'), join(folder, 'data')];
    execFileSync('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', '--quiet', from, to], {stdio: 'inherit'});
    return Prometheus.#launch(folder);
  }

  static async #launch(folder: string, scraped?: Scraped): Promise<Prometheus> {
    const port = await freePort();
    const config = {
      global: {scrape_interval: '1s', scrape_timeout: '1s'},
      scrape_configs: scraped ? [{job_name: release.job, ...scraped.scrape(folder)}] : [],
    };
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
    const server = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        // A query for a time one hour ahead finds the current samples. A series of a text has a sample each minute while it exists.
        `--query.lookback-delta=${scraped ? '2h' : '1m'}`,
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
    const result = await this.#result<{metric: Record<string, string>; value: [number, string]}>('query', expr, {time});
    return result.map(({metric, value}) => ({metric, value: Number(value[1])}));
  }

  /** The curves of a query. All times are in seconds since the epoch, `step` in seconds. Throws if Prometheus refuses the query. */
  range(expr: string, start: number, end: number, step: number): Promise<Curve[]> {
    return this.#result<Curve>('query_range', expr, {start: `${start}`, end: `${end}`, step: `${step}`});
  }

  async #result<T>(path: string, expr: string, times: Record<string, string>): Promise<T[]> {
    const asked = new URLSearchParams({query: ofRelease(expr), ...times});
    const answer = await fetch(`${this.#url}/api/v1/${path}?${asked}`);
    const {status, error, data} = (await answer.json()) as {status: string; error?: string; data: {result: T[]}};
    if (status !== 'success') throw new Error(`${expr}: ${error}`);
    return data.result;
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await ended;
    await this.#scraped?.stop();
    rmSync(this.#folder, {recursive: true, force: true});
  }
}
