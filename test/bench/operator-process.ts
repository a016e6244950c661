/** The operator, or another role, in a process of its own, as the image runs it: its CPU, memory and event loop are its own. */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {open, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {eventually} from '../support/kube-api.ts';
import {freePort} from '../support/free-ports.ts';
import type {ApiServer} from '../support/kube-server.ts';
import {home} from '../support/platform.ts';
import {kubeconfigOf} from './daemons.ts';
import type {Figures} from './figures.ts';
import type {Rested} from './operator-child.ts';

const program = fileURLToPath(new URL('./operator-child.ts', import.meta.url));
/** By this name the audit log knows it. */
export const operatorUser = 'doorplate-operator';
/** For so long nothing is in its queues when it is quiet, ms. */
const quietMs = 1000;
/** Node.js with what figures need; it ends with the process that has started it. */
export const measured = [
  '--pdeathsig',
  'KILL',
  '--',
  process.execPath,
  '--expose-gc',
  '--disable-warning=ExperimentalWarning',
];
let processes = 0;

export interface OperatorOptions {
  server: ApiServer;
  settings: object;
}

export class OperatorProcess {
  /** Resolves when it does nothing for the first time since it leads. */
  readonly rested: Promise<Rested>;
  readonly #child: ChildProcess;
  readonly #port: number;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.#port = port;
    this.rested = new Promise((resolve) => {
      child.on('message', (message: Rested | Figures) => {
        if ('restedAfterMs' in message) resolve(message);
      });
    });
  }

  /** Resolves when the process runs; see {@link leads}. */
  static async start({server, settings}: OperatorOptions): Promise<OperatorProcess> {
    const pod = `operator-${processes++}`;
    const config = join(server.dir, `${pod}.json`);
    const kubeconfig = await kubeconfigOf(server, operatorUser);
    await writeFile(config, JSON.stringify(settings));
    const port = await freePort();
    const log = await open(join(server.dir, 'operator.log'), 'a');
    const env = {DOORPLATE_CONFIG: config, KUBECONFIG: kubeconfig, POD_NAMESPACE: home, POD_NAME: pod};
    const child = spawn('setpriv', [...measured, program, 'operator'], {
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
      env: {...process.env, ...env, HEALTH_PORT: String(port)},
    });
    await once(child, 'spawn');
    await log.close();
    return new OperatorProcess(child, port);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Resolves when its copies are whole. */
  async ready(): Promise<void> {
    await eventually(async () => {
      if (!this.isRunning) throw new Error('the operator has ended: see operator.log');
      return (await fetch(`http://127.0.0.1:${this.#port}/readyz`)).ok;
    });
  }

  figures(): Promise<Figures> {
    return figuresOf(this.#child);
  }

  /** The sum of a metric over all its labels, or over those that hold `label`, such as `result="error"`. */
  async metric(name: string, label = ''): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.#port}/metrics`)).text();
    return text
      .split('\n')
      .filter((line) => (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && line.includes(label))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  /** Resolves when no key has been due or worked on for a while. */
  async quiet(): Promise<void> {
    const done = () => this.metric('controller_runtime_reconcile_total');
    for (let since = performance.now(), before = -1; performance.now() - since < quietMs; await wait(100)) {
      const busy = (await this.metric('workqueue_depth')) + (await this.metric('controller_runtime_active_workers'));
      const now = await done();
      if (busy > 0 || now !== before) [since, before] = [performance.now(), now];
    }
  }

  /** SIGKILL: it crashes. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** SIGTERM: it ends in order. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (!this.isRunning) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill(signal);
    await gone;
  }
}

/** Asks a process that tells its figures. */
export async function figuresOf(child: ChildProcess): Promise<Figures> {
  const answer = new Promise<Figures>((resolve) => {
    const onMessage = (message: Rested | Figures): void => {
      if (!('heapUsed' in message)) return;
      child.off('message', onMessage);
      resolve(message);
    };
    child.on('message', onMessage);
  });
  child.send({});
  return answer;
}
