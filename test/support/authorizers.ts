/** Two replicas of the role `api`, each a process of its own, that count in one redis-server; and an API of the platform's that they guard. */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import type {IncomingHttpHeaders, Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {ApiWorld} from './api-role.ts';
import {freePorts} from './free-ports.ts';
import {allStopped} from './processes.ts';
import type {Wiring} from './proxies.ts';
import {Redis} from './redis.ts';

const program = fileURLToPath(new URL('./api-child.ts', import.meta.url));

/** One replica, which can be stopped, killed and started again on its ports. */
export class Replica {
  readonly grpc: number;
  readonly http: number;
  readonly api: number;
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;

  private constructor([grpc, http, api]: readonly number[], env: NodeJS.ProcessEnv) {
    this.grpc = grpc!;
    this.http = http!;
    this.api = api!;
    this.#env = env;
  }

  /** With ports of its own. */
  static async make(env: NodeJS.ProcessEnv): Promise<Replica> {
    return new Replica(await freePorts(3), env);
  }

  /** Resolves when it answers. */
  async start(): Promise<void> {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', program, ...[this.grpc, this.http, this.api].map(String)],
      {env: {...process.env, ...this.#env}, stdio: ['ignore', 'pipe', 'inherit']},
    );
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (text: Buffer) => {
        if (text.includes('ready')) resolve();
      });
      child.once('exit', (code) => reject(new Error(`a replica ended with ${code}`)));
    });
  }

  /** Blocks its main thread for 2 s: a fake fault. Resolves when it has begun. */
  async block(): Promise<void> {
    const {stdout} = this.#child!;
    const begun = once(stdout!, 'data');
    this.#child!.kill('SIGUSR2');
    await begun;
  }

  /**
   * SIGTERM lets it finish, SIGSTOP leaves it with all connections open. Resolves when it has gone or
   * stopped.
   */
  async signal(name: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(name);
    if (name === 'SIGTERM' || name === 'SIGKILL') await gone;
    if (name === 'SIGSTOP') await allStopped(child.pid!);
  }
}

/** The API behind: it answers with the headers that it got, and knows nothing of limits. */
export class Service {
  /** How many requests have reached it. */
  requests = 0;
  readonly #server: Server = createServer(({method, url, headers}, response) => {
    this.requests++;
    response.writeHead(200, {'content-type': 'application/json'}).end(JSON.stringify({method, url, headers}));
  });

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }
}

/** The environment of a replica with these settings, that works on the API server of `world`; its files are in `folder`. */
function environment(
  folder: string,
  {server}: ApiWorld,
  {api, ...settings}: {api: object; valkey?: object},
): NodeJS.ProcessEnv {
  const file = (name: string): string => join(server.dir, name);
  const [kubeconfig, config] = [join(folder, 'kubeconfig'), join(folder, 'config.yaml')];
  writeFileSync(
    kubeconfig,
    server.kubeconfig({'client-certificate': file('admin.crt'), 'client-key': file('admin.key')}),
  );
  writeFileSync(
    config,
    JSON.stringify({
      platform: {zone: 'apps.platform.test'},
      edge: {addresses: ['192.0.2.1']},
      issuerRef: {name: 'none'},
      ingressClassName: 'none',
      dns: {},
      redirector: {service: 'redirector'},
      ...settings,
      api: {
        enabled: true,
        page: {enabled: false},
        trustedProxies: ['127.0.0.1'],
        storage: {path: folder},
        ...api,
      },
    }),
  );
  return {
    KUBECONFIG: kubeconfig,
    DOORPLATE_CONFIG: config,
    POD_NAMESPACE: 'doorplate-system',
    POD_NAME: 'api',
  };
}

/** One replica, a process of its own, whose ledger is in `folder`. It has not started. */
export const replicaWithLedger = (folder: string, world: ApiWorld, api: object = {}): Promise<Replica> =>
  Replica.make(environment(folder, world, {api: {authorize: {enabled: true, acceptOutages: true}, ...api}}));

export class Authorizers {
  readonly world: ApiWorld;
  readonly replicas: readonly Replica[];
  readonly service = new Service();
  readonly redis: Redis;
  readonly folder: string;

  private constructor(p: {world: ApiWorld; redis: Redis; folder: string; replicas: readonly Replica[]}) {
    this.world = p.world;
    this.redis = p.redis;
    this.folder = p.folder;
    this.replicas = p.replicas;
  }

  static async start(): Promise<Authorizers> {
    const folder = mkdtempSync(join(tmpdir(), 'doorplate-authorize-'));
    const [world, redis] = await Promise.all([ApiWorld.start(), Redis.start()]);
    const {password, port} = new URL(redis.url);
    const env = environment(folder, world, {
      valkey: {url: `redis://127.0.0.1:${port}`},
      api: {replicas: 2, authorize: {enabled: true}, withoutKey: {requestsPerMinute: 10_000}},
    });
    env.VALKEY_PASSWORD = decodeURIComponent(password);
    const replicas: Replica[] = [];
    for (let i = 0; i < 2; i++) replicas.push(await Replica.make(env));
    const all = new Authorizers({world, redis, folder, replicas});
    await all.service.start();
    try {
      await Promise.all(replicas.map((replica) => replica.start()));
      return all;
    } catch (error) {
      await all.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    for (const replica of this.replicas) await replica.signal('SIGKILL');
    await this.service.stop();
    await this.redis.kill();
    await this.world.stop();
    rmSync(this.folder, {recursive: true, force: true});
  }

  get wiring(): Wiring {
    const {folder, replicas, service} = this;
    return {folder, grpc: replicas.map((r) => r.grpc), http: replicas.map((r) => r.http), service: service.port};
  }

  /** Waits until both replicas know a key; each asks once for it at least. */
  async knows(token: string): Promise<void> {
    for (const {http} of this.replicas) {
      const ask = (): Promise<Response> =>
        fetch(`http://127.0.0.1:${http}/authorize/any/`, {headers: {authorization: `Bearer ${token}`}});
      while ((await ask()).status === 401)
        await new Promise((resolve) => {
          setTimeout(resolve, 50);
        });
    }
  }
}

export interface Passed {
  status: number;
  headers: Headers;
  /** What the API behind got; undefined where it was not reached. */
  reached: {method: string; url: string; headers: IncomingHttpHeaders} | undefined;
  /** Parsed, of a refusal. */
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

/** One request through a proxy. */
export async function through(
  url: string,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Passed> {
  const response = await fetch(url + path, {headers, method, signal: AbortSignal.timeout(30_000)});
  const text = await response.text();
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  const reached = response.status === 200 ? (body as Passed['reached']) : undefined;
  return {status: response.status, headers: response.headers, reached, body};
}
