import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {eventually} from './kube-api.ts';
import {freePort} from './free-ports.ts';
import {root} from './pages.ts';

/** The labels that the chart's ServiceMonitor gives the Pods of a release, besides `role`. */
const release = {namespace: 'doorplate-system', job: 'doorplate-metrics'};

/** A query of the chart's, for the release that {@link Prometheus} scrapes. */
export const ofRelease = (expr: string): string =>
  expr.replaceAll('SELECTOR', `namespace='${release.namespace}',job='${release.job}'`);

/** A real Prometheus (of Debian) on loopback, which scrapes a process of a role each, by the port of its /metrics, every second. */
export class Prometheus {
  readonly #url: string;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(url: string, folder: string, process: ChildProcess) {
    [this.#url, this.#folder, this.#process] = [url, folder, process];
  }

  static async start(targets: readonly {role: string; port: number}[]): Promise<Prometheus> {
    execFileSync(join(root, 'test/observability/install.sh'), {stdio: 'inherit'});
    const folder = mkdtempSync(join(tmpdir(), 'doorplate-prometheus-'));
    const port = await freePort();
    const static_configs = targets.map(({role, port: of}) => ({
      targets: [`127.0.0.1:${of}`],
      labels: {namespace: release.namespace, role, pod: role},
    }));
    const config = {
      global: {scrape_interval: '1s', scrape_timeout: '1s'},
      scrape_configs: [{job_name: release.job, static_configs}],
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
    const prometheus = new Prometheus(`http://127.0.0.1:${port}`, folder, server);
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
    rmSync(this.#folder, {recursive: true, force: true});
  }
}
