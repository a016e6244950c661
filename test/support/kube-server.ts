import {type ChildProcess, execFile, spawn} from 'node:child_process';
import {generateKeyPairSync, randomBytes, randomUUID} from 'node:crypto';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {cp, mkdir, mkdtemp, open, readFile, rm, writeFile} from 'node:fs/promises';
import {homedir, tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {promisify} from 'node:util';
import {Client} from '../../operator/kube/client/client.ts';
import type {Credentials} from '../../operator/kube/client/credentials.ts';
import type {KubeObject} from '../../operator/kube/objects.ts';
import {freePorts} from './free-ports.ts';
import {configMaps} from './kube-api.ts';

const run = promisify(execFile);
type Program = 'etcd' | 'kube-apiserver' | 'kube-controller-manager';
/** The cache of `make tools`. */
export const cache = process.env.DOORPLATE_CACHE || join(homedir(), '.cache/doorplate');
/** Where the cluster's binaries stand. */
export const bin = join(cache, 'bin');
const startWithinMs = 300_000;
/** The environment's name for the folders of API servers that are lent, one for each of jest's workers, with a colon between. */
export const lentServers = 'DOORPLATE_LENT_SERVERS';
/** The folder of the API server that this worker may borrow. */
export const lentServer = (): string | undefined =>
  process.env[lentServers]?.split(':')[Number(process.env.JEST_WORKER_ID) - 1];
const lentFile = 'lent.json';
/** Who wrote what and when, without the objects. */
const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{level: 'Metadata', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection']}, {level: 'None'}],
};

export interface ApiServerOptions {
  rbac?: boolean;
  /** Writes are told in `audit.log` of its folder, a line each. */
  audit?: boolean;
  /** A folder that outlives it: started there again, it holds what it held. */
  dir?: string;
  /** By so much it takes what others leave of the processor (nice). */
  niced?: number;
}
/** What a borrower must know: the keys are those that stay. */
interface Lent {
  ports: {api: number; etcd: number; peer: number};
  keys: string[];
}

/**
 * An etcd and a kube-apiserver of a test's own, on loopback, with nothing else: no controllers, no nodes, everybody may do all
 * (with `rbac` what the roles say). It starts in 3 s. For what can't be done to a cluster that others use: to kill it, to set it
 * back, to fill it, to have broken policies on it.
 */
export class ApiServer {
  readonly dir: string;
  readonly url: string;
  /** Names of CustomResourceDefinitions that an earlier borrower deleted. */
  lostKinds: readonly string[] = [];
  readonly #ports: {api: number; etcd: number; peer: number};
  readonly #options: ApiServerOptions;
  #borrowed = false;
  readonly #children = new Map<Program, ChildProcess>();

  private constructor(dir: string, ports: {api: number; etcd: number; peer: number}, options: ApiServerOptions) {
    this.dir = dir;
    this.#options = options;
    this.#ports = ports;
    this.url = `https://127.0.0.1:${ports.api}`;
  }

  /** Answers requests when this resolves. */
  static async start(options: ApiServerOptions = {}): Promise<ApiServer> {
    const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'kit-api-')));
    const [api, etcd, peer] = await freePorts(3);
    const server = new ApiServer(dir, {api: api!, etcd: etcd!, peer: peer!}, options);
    try {
      await mkdir(dir, {recursive: true});
      if (!existsSync(join(dir, 'admin.crt'))) await server.#makeKeys();
      if (options.audit) await writeFile(join(dir, 'audit.json'), JSON.stringify(auditPolicy));
      await server.startEtcd();
      await server.startApi();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  /**
   * Borrows an API server that another process started and lends (see {@link lend}). Deletes the objects that earlier borrowers created.
   * `stop` does not end the server.
   */
  static async borrow(dir: string): Promise<ApiServer> {
    const {ports, keys} = JSON.parse(await readFile(join(dir, lentFile), 'utf8')) as Lent;
    const server = new ApiServer(dir, ports, {});
    server.#borrowed = true;
    const [kept, held] = [new Set(keys), new Set(await server.#keys())];
    for (const key of held) if (!kept.has(key)) await server.#etcd('deleterange', {key: base64(key)});
    const lost = keys.filter((key) => key.includes('/customresourcedefinitions/') && !held.has(key));
    server.lostKinds = lost.map((key) => key.slice(key.lastIndexOf('/') + 1));
    return server;
  }

  /** From now on other processes, one at a time, may `borrow` it by its folder: each finds what it holds now, and nothing of the others. */
  async lend(): Promise<void> {
    await writeFile(
      join(this.dir, lentFile),
      JSON.stringify({ports: this.#ports, keys: await this.#keys()} satisfies Lent),
    );
  }

  /** Ends both and removes what they wrote, unless the folder is the caller's. */
  async stop(): Promise<void> {
    await this.kill('kube-controller-manager');
    if (this.#borrowed) return;
    await Promise.all([this.kill('kube-apiserver'), this.kill('etcd')]);
    if (this.#options.dir === undefined) await rm(this.dir, {recursive: true, force: true});
  }

  /** The ids of its processes. */
  get pids(): number[] {
    return [...this.#children.values()].flatMap(({pid}) => pid ?? []);
  }

  /** SIGKILL; resolves when it is gone. */
  async kill(name: Program): Promise<void> {
    const child = this.#children.get(name);
    if (!child) return;
    this.#children.delete(name);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  async startEtcd(): Promise<void> {
    const {etcd, peer} = this.#ports;
    const [client, peers] = [`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${peer}`];
    await this.#spawn('etcd', [
      '--data-dir',
      join(this.dir, 'etcd'),
      '--unsafe-no-fsync',
      '--log-level',
      'warn',
      '--max-txn-ops',
      '1000',
      '--listen-client-urls',
      client,
      '--advertise-client-urls',
      client,
      '--listen-peer-urls',
      peers,
      '--initial-advertise-peer-urls',
      peers,
      '--initial-cluster',
      `default=${peers}`,
    ]);
    await this.#until('etcd', async () => (await fetch(`${client}/health`)).ok);
  }

  /** On the port it had before. */
  async startApi(): Promise<void> {
    const file = (name: string): string => join(this.dir, name);
    await this.#spawn('kube-apiserver', [
      '--etcd-servers',
      `http://127.0.0.1:${this.#ports.etcd}`,
      '--bind-address',
      '127.0.0.1',
      '--secure-port',
      String(this.#ports.api),
      // It may not advertise a loopback address; nobody reads this one.
      '--advertise-address',
      '192.0.2.1',
      '--endpoint-reconciler-type',
      'none',
      '--tls-cert-file',
      file('server.crt'),
      '--tls-private-key-file',
      file('server.key'),
      '--client-ca-file',
      file('ca.crt'),
      '--service-account-key-file',
      file('sa.key'),
      '--service-account-signing-key-file',
      file('sa.key'),
      '--service-account-issuer',
      'https://kubernetes.default.svc',
      '--service-cluster-ip-range',
      '10.96.0.0/16',
      '--authorization-mode',
      this.#options.rbac ? 'RBAC' : 'AlwaysAllow',
      '--disable-admission-plugins',
      'ServiceAccount',
      '--profiling=false',
      ...(this.#options.audit
        ? [
            '--audit-policy-file',
            file('audit.json'),
            '--audit-log-path',
            file('audit.log'),
            '--audit-log-maxsize=10240',
          ]
        : []),
    ]);
    const client = this.client();
    try {
      await this.#until('kube-apiserver', async () => (await client.get(namespaceOf, 'default')) !== undefined);
    } finally {
      await client.close();
    }
  }

  /** Those of Kubernetes' own controllers that delete: what a namespace holds, and what has lost its owner. */
  async startCollectors(): Promise<void> {
    const [cert, key] = ['admin.crt', 'admin.key'].map((name) => join(this.dir, name));
    const kubeconfig = join(this.dir, 'collectors');
    await writeFile(kubeconfig, this.kubeconfig({'client-certificate': cert, 'client-key': key}));
    await this.#spawn('kube-controller-manager', [
      '--kubeconfig',
      kubeconfig,
      '--controllers=namespace-controller,garbage-collector-controller',
      '--leader-elect=false',
      '--secure-port=0',
      '--profiling=false',
    ]);
  }

  /** The administrator: certificates read once. */
  get credentials(): Credentials {
    return {
      server: this.url,
      read: async () => {
        const [ca, cert, key] = await Promise.all(
          ['ca.crt', 'admin.crt', 'admin.key'].map((name) => readFile(join(this.dir, name), 'utf8')),
        );
        return {tls: {ca, cert, key}, headers: {}};
      },
    };
  }

  client(): Client {
    return new Client(this.credentials);
  }

  /** A client certificate: `NAME.crt` and `NAME.key` in `dir`, valid for so many days from now; -1: it expired yesterday. */
  async issue(name: string, {days = 365}: {days?: number} = {}): Promise<void> {
    await this.#issue(name, `/O=system:masters/CN=${name}`, days);
  }

  /** A kubeconfig, as text. */
  kubeconfig(user: object): string {
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'own',
      clusters: [{name: 'own', cluster: {server: this.url, 'certificate-authority': join(this.dir, 'ca.crt')}}],
      users: [{name: 'own', user}],
      contexts: [{name: 'own', context: {cluster: 'own', user: 'own'}}],
    });
  }

  /**
   * Makes `count` copies of the ConfigMap `like` (once created through the API, so that it has managedFields) by writing them to
   * etcd, in its JSON form: 20,000 in 2 s, where the API would need half a minute of two cores. They are numbered, from `from` on.
   */
  async multiply(like: KubeObject, count: number, {from: first = 0}: {from?: number} = {}): Promise<void> {
    const {namespace} = like.metadata;
    for (let from = first; from < count; from += 500) {
      const success = Array.from({length: Math.min(500, count - from)}, (_, i) => {
        const name = `${like.metadata.name}-${from + i}`;
        const {resourceVersion: _rv, ...metadata} = like.metadata;
        const value = {...like, metadata: {...metadata, name, uid: randomUUID()}};
        return {
          requestPut: {key: base64(`/registry/configmaps/${namespace}/${name}`), value: base64(JSON.stringify(value))},
        };
      });
      await this.#etcd('txn', {success});
    }
  }

  /** What etcd holds of each resource, key and value together: `doorplate.dev/customdomains`, `ingress`. */
  async stored(): Promise<Map<string, {count: number; bytes: number}>> {
    const sizes = new Map<string, {count: number; bytes: number}>();
    const end = base64('/registry0');
    for (let from = '/registry/', more = true; more;) {
      const page = (await this.#etcd('range', {key: base64(from), range_end: end, limit: 1000})) as {
        kvs?: {key: string; value?: string}[];
        more?: boolean;
      };
      for (const {key, value = ''} of page.kvs ?? []) {
        const path = Buffer.from(key, 'base64').toString();
        const [first = '', second = ''] = path.split('/').slice(2);
        const resource = first.includes('.') ? `${first}/${second}` : first;
        const size = sizes.get(resource) ?? {count: 0, bytes: 0};
        size.count++;
        size.bytes += path.length + Buffer.byteLength(value, 'base64');
        sizes.set(resource, size);
        from = `${path}\0`;
      }
      more = page.more ?? false;
    }
    return sizes;
  }

  /** The process of either, to be measured. */
  pidOf(name: Program): number | undefined {
    return this.#children.get(name)?.pid;
  }

  /** Of all that etcd holds for the API server. */
  async #keys(): Promise<string[]> {
    const {kvs = []} = (await this.#etcd('range', {
      key: base64('/registry/'),
      range_end: base64('/registry0'),
      keys_only: true,
    })) as {kvs?: {key: string}[]};
    return kvs.map(({key}) => Buffer.from(key, 'base64').toString());
  }

  async #etcd(what: 'txn' | 'range' | 'deleterange', body: object): Promise<unknown> {
    const answer = await fetch(`http://127.0.0.1:${this.#ports.etcd}/v3/kv/${what}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`etcd: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** What etcd holds now, to be put back by `restore`. Both are down for a moment. */
  async backup(): Promise<string> {
    const copy = join(this.dir, `backup-${randomBytes(4).toString('hex')}`);
    await this.#whileDown(() => cp(join(this.dir, 'etcd'), copy, {recursive: true}));
    return copy;
  }

  async restore(copy: string): Promise<void> {
    await this.#whileDown(async () => {
      await rm(join(this.dir, 'etcd'), {recursive: true});
      await cp(copy, join(this.dir, 'etcd'), {recursive: true});
    });
  }

  async #whileDown(work: () => Promise<void>): Promise<void> {
    await this.kill('kube-apiserver');
    // In order: what is not yet in its files would be missing from a copy.
    const etcd = this.#children.get('etcd')!;
    const gone = once(etcd, 'exit');
    etcd.kill('SIGTERM');
    await gone;
    this.#children.delete('etcd');
    await work();
    await this.startEtcd();
    await this.startApi();
  }

  async #makeKeys(): Promise<void> {
    const {privateKey} = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      privateKeyEncoding: {type: 'sec1', format: 'pem'},
      publicKeyEncoding: {type: 'spki', format: 'pem'},
    });
    await writeFile(join(this.dir, 'sa.key'), privateKey);
    await this.#openssl(
      'req',
      '-x509',
      ...newKey,
      '-keyout',
      'ca.key',
      '-out',
      'ca.crt',
      '-days',
      '365',
      '-subj',
      '/CN=kit-test-ca',
    );
    await this.#issue('server', '/CN=kube-apiserver', 365);
    await this.issue('admin');
  }

  async #issue(name: string, subject: string, days: number): Promise<void> {
    await writeFile(
      join(this.dir, 'extensions'),
      'subjectAltName=IP:127.0.0.1,DNS:kubernetes.default.svc\nextendedKeyUsage=serverAuth,clientAuth\n',
    );
    await this.#openssl('req', '-new', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', subject);
    await this.#openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-out',
      `${name}.crt`,
      '-days',
      String(days),
      '-extfile',
      'extensions',
    );
  }

  async #openssl(...args: string[]): Promise<void> {
    await run('openssl', args, {cwd: this.dir});
  }

  async #spawn(name: Program, args: string[]): Promise<void> {
    const log = await open(join(this.dir, `${name}.log`), 'a');
    // It ends with this process, however that ends.
    const line = ['--pdeathsig', 'KILL', '--', 'nice', '-n', `${this.#options.niced ?? 0}`, join(bin, name), ...args];
    const child = spawn('setpriv', line, {
      stdio: ['ignore', log.fd, log.fd],
    });
    child.on('error', () => {});
    await log.close();
    this.#children.set(name, child);
  }

  async #until(name: Program, ready: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + startWithinMs;
    let last: unknown;
    for (;;) {
      try {
        if (await ready()) return;
      } catch (error) {
        last = error;
      }
      const child = this.#children.get(name);
      if (Date.now() > end || !child || child.exitCode !== null) {
        const log = await readFile(join(this.dir, `${name}.log`), 'utf8').catch(() => '');
        throw new Error(`${name} did not start: ${String(last)}\n${log.slice(-2000)}`);
      }
      await wait(50);
    }
  }
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
const namespaceOf = {...configMaps, plural: 'namespaces', kind: 'Namespace', namespaced: false};
const base64 = (text: string): string => Buffer.from(text).toString('base64');
