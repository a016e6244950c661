/**
 * The role `api` in this process, on a real API server of its own. No operator runs beside it: what its status would say, the test
 * writes where it matters.
 */
import {readdirSync, readFileSync} from 'node:fs';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {pino} from 'pino';
import {Registry} from 'prom-client';
import {parse} from 'yaml';
import type {ApiKeySpec} from '../../operator/api/api-key.ts';
import type {Account, ApiKey, CustomDomain, Plan, Project} from '../../operator/api/foreign.ts';
import {loadConfig} from '../../operator/config.ts';
import {accounts, apiKeys, customDomains, namespaces, plans, projects} from '../../operator/resources/resources.ts';
import {hashToken, makeToken} from '../../operator/domain/api-key.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {kitMetrics} from '../../operator/kube/metrics.ts';
import type {KubeObject, Resource} from '../../operator/kube/objects.ts';
import {api} from '../../operator/roles/api.ts';
import type {ApiRole} from '../../operator/roles/api.ts';
import {eventually} from '../../cluster/cluster.ts';
import {type Answer, type Ask, ask, raw} from './http-client.ts';
import {ApiServer, lentServer} from './kube-server.ts';
import {crds} from './kube-api.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A running API, and the platform and tenants beside it. */
export class ApiWorld {
  readonly server: ApiServer;
  readonly client: Client;
  readonly #dir: string;
  #role!: ApiRole;
  /** Lines of its log. */
  readonly log: string[] = [];

  private constructor(server: ApiServer, dir: string) {
    this.server = server;
    this.client = server.client();
    this.#dir = dir;
  }

  /** With Plans `free` (60 a minute) and `pro` (300), and `huge`, which nothing uses up. `settings` are added to `api` of the configuration; with `rbac` roles count. */
  static async start(settings: object = {}, {rbac = false} = {}): Promise<ApiWorld> {
    const dir = await mkdtemp(join(tmpdir(), 'doorplate-api-'));
    const lent = rbac ? undefined : lentServer();
    const world = new ApiWorld(lent === undefined ? await ApiServer.start({rbac}) : await ApiServer.borrow(lent), dir);
    for (const file of lent === undefined ? readdirSync(`${root}crds`) : [])
      await world.client.create(crds, parse(readFileSync(`${root}crds/${file}`, 'utf8')));
    await eventually('the kinds are served', async () =>
      (await world.client.list(crds)).items.every((crd) =>
        crd.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True'),
      ),
    );
    const allowed = {allowed: true, maxHostnamesPerProject: 10};
    await world.plan(
      'free',
      {requestsPerMinute: 60, requestsPerDay: 1000},
      {allowed: false, maxHostnamesPerProject: 0},
    );
    await world.plan('pro', {requestsPerMinute: 300, requestsPerDay: 10_000}, allowed);
    await world.plan('huge', {requestsPerMinute: 1_000_000, requestsPerDay: 1_000_000}, allowed);
    await world.startRole(settings);
    return world;
  }

  /** The API alone on a server that another test object started and stops: call `leave`, not `stop`. */
  static async over(server: ApiServer): Promise<ApiWorld> {
    const world = new ApiWorld(server, await mkdtemp(join(tmpdir(), 'doorplate-api-')));
    await world.startRole();
    return world;
  }

  /** Starts the role (again): a new process would read the same storage. */
  async startRole(settings: object = {}, {port = 0}: {port?: number} = {}): Promise<void> {
    const config = loadConfig({
      POD_NAMESPACE: 'doorplate-system',
      POD_NAME: 'api-0',
      DOORPLATE_CONFIG: await this.#config(settings),
    });
    const registry = new Registry();
    const metrics = kitMetrics(registry);
    const log = pino(
      {level: 'debug'},
      {
        write: (line: string) => {
          this.log.push(line);
        },
      },
    );
    this.#role = await api(
      {config, client: this.server.client(), log, registry, metrics},
      // No stream ends in a test because of its heartbeat.
      {port, lingerMs: 0, settleWithinMs: 1000, heartbeatMs: 3_600_000},
    );
    await this.#role.start();
  }

  async stopRole(): Promise<void> {
    await this.#role.stop();
  }

  async stop(): Promise<void> {
    await this.leave();
    await this.server.stop();
  }

  /** Ends the API, and leaves the server running. */
  async leave(): Promise<void> {
    await this.stopRole();
    await this.client.close();
    await rm(this.#dir, {recursive: true, force: true});
  }

  get port(): number {
    return this.#role.port();
  }

  async plan(
    name: string,
    rateLimit: Plan['spec']['rateLimit'],
    customDomains_: Plan['spec']['customDomains'],
  ): Promise<void> {
    await this.#make(plans, {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'Plan',
      metadata: {name},
      spec: {rateLimit, customDomains: customDomains_},
    });
  }

  /** A namespace of an Account of the same name on that plan. */
  async tenant(name: string, plan = 'pro', rateLimit?: Account['spec']['rateLimit']): Promise<void> {
    await this.#make(accounts, {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'Account',
      metadata: {name},
      spec: {planRef: {name: plan}, rateLimit},
    });
    await this.namespace(name, {'doorplate.dev/account': name});
  }

  /** Without a label it belongs to no Account. */
  async namespace(name: string, labels: Record<string, string> = {}): Promise<void> {
    await this.#make(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name, labels}});
  }

  async project(namespace: string, name: string, status?: Project['status']): Promise<void> {
    const project: Project = {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'Project',
      metadata: {namespace, name},
      spec: {serviceRef: {name, port: 80}, defaultHost: 'Serve'},
    };
    await this.#make(projects, project);
    if (status)
      await this.client.patch(projects, `${namespace}/${name}`, {status}, {type: 'merge', subresource: 'status'});
  }

  async domain(
    namespace: string,
    name: string,
    spec: Omit<CustomDomain['spec'], 'projectRef'>,
    fieldManager = 'doorplate-api',
  ): Promise<void> {
    await this.#make(
      customDomains,
      {
        apiVersion: 'doorplate.dev/v1alpha1',
        kind: 'CustomDomain',
        metadata: {namespace, name},
        spec: {projectRef: {name}, ...spec},
      },
      fieldManager,
    );
  }

  /** A key and its token; both known to the API when this resolves. */
  async key(namespace: string, name: string, spec: Partial<ApiKeySpec> = {}): Promise<string> {
    const token = makeToken({namespace, name});
    const object: ApiKey = {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'ApiKey',
      metadata: {namespace, name},
      spec: {hashes: [{sha256: hashToken(token)}], scopes: ['domains:read', 'domains:write', 'keys:write'], ...spec},
    };
    await this.#make(apiKeys, object, 'doorplate-api');
    await eventually('the API knows the key', async () => (await this.ask('/v1/account', {key: token})).status !== 401);
    return token;
  }

  /** One request on a connection of its own. */
  ask(path: string, question?: Ask): Promise<Answer> {
    return ask(this.port, path, question);
  }

  /** Sends bytes as they are, and returns all that comes back. */
  raw(bytes: string): Promise<string> {
    return raw(this.port, bytes);
  }

  async #make<T extends KubeObject>(resource: Resource<T>, object: T, fieldManager = 'test'): Promise<void> {
    await this.client.applyPatch(resource, object, {fieldManager, force: true});
  }

  async #config(settings: object): Promise<string> {
    const [file, ledger] = [join(this.#dir, 'config.yaml'), join(this.#dir, 'ledger')];
    await mkdir(ledger, {recursive: true});
    await writeFile(
      file,
      JSON.stringify({
        platform: {zone: 'apps.platform.test'},
        edge: {addresses: ['192.0.2.1']},
        issuerRef: {name: 'pebble'},
        ingressClassName: 'none',
        dns: {},
        redirector: {service: 'redirector'},
        api: {enabled: true, storage: {path: ledger}, page: {enabled: false}, ...settings},
      }),
    );
    return file;
  }
}
