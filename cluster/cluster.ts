/** The local cluster (README.md) from TypeScript: for the demo and the tests. Everything goes through its loopback ports. */
import {execFile} from 'node:child_process';
import {createReadStream, existsSync, readFileSync} from 'node:fs';
import {request as httpRequest} from 'node:http';
import type {IncomingHttpHeaders} from 'node:http';
import {request as httpsRequest} from 'node:https';
import {createInterface} from 'node:readline';
import {X509Certificate, createHash} from 'node:crypto';
import {connect as tlsConnect} from 'node:tls';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {KubeConfig} from '@kubernetes/client-node';
import {parseAllDocuments} from 'yaml';
import {Client} from '../operator/kube/client/client.ts';
import type {KubeObject, Resource} from '../operator/kube/objects.ts';
import {defineResource} from '../operator/kube/objects.ts';
import {nextLookMs} from './polling.ts';

const run = promisify(execFile);
export const root = fileURLToPath(new URL('../', import.meta.url));
const envFile = `${root}.cluster/env.json`;

/** What `cluster/up.sh` wrote down of the cluster that runs. */
export interface ClusterEnv {
  kubeconfig: string;
  edgeHttps: string;
  edgeHttp: string;
  dns: string;
  pebbleManagement: string;
  pebbleCa: string;
  nodeIp: string;
  dnsIp: string;
  blackHole: string;
  auditLog: string;
  zones: string;
  bin: string;
}

/** Throws with the remedy when no cluster was brought up. */
export function env(): ClusterEnv {
  if (!existsSync(envFile)) throw new Error('no cluster runs for this checkout. Start it: make cluster-up');
  return JSON.parse(readFileSync(envFile, 'utf8')) as ClusterEnv;
}

/** When what a test waits for is given up, unless it says otherwise: these machines are shared, and a limit ends what hangs. */
export const patienceMs = 300_000;

/** Runs a command of the checkout with the cluster's binaries and kubeconfig. Throws with what it printed. */
export async function sh(
  command: string,
  args: readonly string[],
  {input, timeoutMs = patienceMs + 10_000}: {input?: string; timeoutMs?: number} = {},
): Promise<string> {
  const {bin, kubeconfig} = env();
  const child = run(command, [...args], {
    cwd: root,
    timeout: timeoutMs,
    maxBuffer: 64 << 20,
    env: {...process.env, PATH: `${bin}:${process.env.PATH}`, KUBECONFIG: kubeconfig},
  });
  if (input !== undefined) child.child.stdin?.end(input);
  try {
    return (await child).stdout;
  } catch (e) {
    const {stdout, stderr, message} = e as {stdout?: string; stderr?: string; message: string};
    throw new Error(`${command} ${args.join(' ')}: ${stderr || stdout || message}`.trim(), {cause: e});
  }
}

export const kubectl = (args: readonly string[], options?: Parameters<typeof sh>[2]) => sh('kubectl', args, options);

/** A client of the operator's own kit, with the administrator's rights. */
export function adminClient(): Client {
  const config = new KubeConfig();
  config.loadFromFile(env().kubeconfig);
  return Client.fromKubeConfig(config);
}

let shared: Client | undefined;
/** One such client of the process, which nobody closes: for what is asked over and over. */
export const api = (): Client => (shared ??= adminClient());

const served = new Map<string, Promise<{resources: {name: string; kind: string; namespaced: boolean}[]}>>();

/** Where objects of a kind live, by the API server's own word. Throws while it serves none such. */
async function resourceOf({apiVersion, kind}: KubeObject): Promise<Resource> {
  const known =
    served.get(apiVersion) ?? api().raw(apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`);
  served.set(apiVersion, known);
  const found = (await known.catch(() => undefined))?.resources.find((r) => r.kind === kind && !r.name.includes('/'));
  if (!found) {
    served.delete(apiVersion);
    throw new Error(`the API server serves no ${kind} of ${apiVersion}`);
  }
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  return defineResource({group, version, plural: found.name, kind, namespaced: found.namespaced});
}

/** Applies YAML, or objects, one after the other: `kubectl apply --server-side --force-conflicts`, and not a process each time. */
export async function apply(manifest: string | readonly object[], {dryRun = false} = {}): Promise<void> {
  const objects = typeof manifest === 'string' ? parseAllDocuments(manifest).map((d) => d.toJS() as unknown) : manifest;
  for (const object of objects.filter((o) => o !== null) as KubeObject[]) {
    await api().applyPatch(await resourceOf(object), object, {fieldManager: 'kubectl', force: true, dryRun});
  }
}

/** Replaces the records of a zone: seen within half a second. Further zones come into being so. */
export const setZone = (zone: string, records: readonly string[]) => sh('cluster/dns.sh', ['set', zone, ...records]);

/** Installs or upgrades both charts as a user would, in a namespace that enforces `restricted`, and waits for the Pods. Sets are added to the values, those of the demo unless told. */
export async function install(sets: readonly string[] = [], values = 'examples/demo/values.yaml'): Promise<void> {
  const tag = readFileSync(`${root}dist/image.tag`, 'utf8').trim();
  const labels = {'pod-security.kubernetes.io/enforce': 'restricted'};
  await apply([{apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'doorplate-system', labels}}]);
  await sh('helm', [
    'upgrade',
    '--install',
    'doorplate-crds',
    'charts/doorplate-crds',
    '-n',
    'doorplate-system',
    '--wait',
    '--timeout',
    '180s',
  ]);
  await sh('helm', [
    'upgrade',
    '--install',
    'doorplate',
    'charts/doorplate',
    '-n',
    'doorplate-system',
    '-f',
    values,
    '--set-string',
    `image.tag=${tag}`,
    ...sets.flatMap((s) => ['--set', s]),
    '--wait',
    '--timeout',
    '180s',
  ]);
}

/**
 * Polls until `test` gives something else than undefined or false: every `everyMs`, or, unless told, the more seldom the longer it
 * takes. Throws with the last error when the time is over.
 */
export async function eventually<T>(
  what: string,
  test: () => Promise<T | undefined | false>,
  timeoutMs = patienceMs,
  everyMs?: number,
): Promise<T> {
  const began = Date.now();
  const end = began + timeoutMs;
  let last: unknown = 'never true';
  for (;;) {
    try {
      const value = await test();
      if (value !== undefined && value !== false) return value;
    } catch (e) {
      last = e;
    }
    if (Date.now() > end)
      throw new Error(
        `${what}: not within ${timeoutMs / 1000} s (${last instanceof Error ? last.message : String(last)})`,
      );
    await new Promise((resolve) => {
      setTimeout(resolve, everyMs ?? nextLookMs(Date.now() - began, {leastMs: 100}));
    });
  }
}

const endpoint = (address: string) => {
  const [host = '', port = ''] = address.split(':');
  return {host, port: Number(port)};
};

export interface Reply {
  status: number;
  location?: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** One request at the edge, on a connection of its own. `ca` verifies the certificate; without it any is taken. */
export function fetchEdge(
  url: string,
  {
    method = 'GET',
    ca,
    timeoutMs = 30_000,
    headers = {},
    body,
  }: {method?: string; ca?: string; timeoutMs?: number; headers?: Record<string, string>; body?: string} = {},
): Promise<Reply> {
  const {protocol, hostname, pathname, search} = new URL(url);
  const https = protocol === 'https:';
  const at = endpoint(https ? env().edgeHttps : env().edgeHttp);
  return new Promise((resolve, reject) => {
    const options = {
      ...at,
      method,
      path: pathname + search,
      headers: {host: hostname, ...headers},
      agent: false,
      timeout: timeoutMs,
    };
    const req = https
      ? httpsRequest({...options, servername: hostname, rejectUnauthorized: ca !== undefined, ca})
      : httpRequest(options);
    req
      .on('response', (res) => {
        let received = '';
        res
          .setEncoding('utf8')
          .on('data', (chunk: string) => {
            received += chunk;
          })
          .on('end', () =>
            resolve({
              status: res.statusCode ?? 0,
              location: res.headers.location,
              headers: res.headers,
              body: received,
            }),
          )
          .on('error', reject);
      })
      .on('timeout', () => req.destroy(new Error('timeout')))
      .on('error', reject)
      .end(body);
  });
}

/** The certificate that the edge presents for a name: whether it chains to `ca`, and its SHA-256. */
export function presented(
  hostname: string,
  ca: string,
): Promise<{trusted: boolean; sha256: string; subject: string; publicKey: string}> {
  return new Promise((resolve, reject) => {
    const socket = tlsConnect(
      {...endpoint(env().edgeHttps), servername: hostname, ca, rejectUnauthorized: false},
      () => {
        const {raw, subjectaltname = '', pubkey} = socket.getPeerCertificate();
        resolve({
          trusted: socket.authorized,
          sha256: createHash('sha256').update(raw).digest('hex'),
          subject: subjectaltname,
          publicKey: pubkey?.toString('base64') ?? '',
        });
        socket.destroy();
      },
    )
      .setTimeout(30_000, () => socket.destroy(new Error('timeout')))
      .on('error', reject);
  });
}

/** The root certificate of the ACME CA, new at every start of it. */
export async function acmeRoot(): Promise<string> {
  const {pebbleManagement, pebbleCa} = env();
  return new Promise((resolve, reject) => {
    httpsRequest(
      `${pebbleManagement}/roots/0`,
      {ca: readFileSync(pebbleCa), servername: 'localhost', agent: false, signal: AbortSignal.timeout(30_000)},
      (res) => {
        let body = '';
        res
          .on('data', (c: Buffer) => {
            body += c.toString();
          })
          .on('end', () => resolve(body))
          .on('error', reject);
      },
    )
      .on('error', reject)
      .end();
  });
}

/** SHA-256 of the leaf in the newest CertificateRequest of a Certificate that is issued: cert-manager sometimes orders a second one at once. */
export async function issuedLeaf(namespace: string, certificate: string): Promise<string> {
  const {items} = JSON.parse(await kubectl(['get', 'certificaterequests', '-n', namespace, '-o', 'json'])) as {
    items: {metadata: {annotations?: Record<string, string>}; status?: {certificate?: string}}[];
  };
  const revision = (i: (typeof items)[number]) =>
    Number(i.metadata.annotations?.['cert-manager.io/certificate-revision'] ?? 0);
  const newest = items
    .filter(
      ({metadata, status}) =>
        metadata.annotations?.['cert-manager.io/certificate-name'] === certificate && status?.certificate !== undefined,
    )
    .toSorted((a, b) => revision(b) - revision(a))[0];
  if (!newest?.status?.certificate)
    throw new Error(`no CertificateRequest of ${namespace}/${certificate} has a certificate`);
  return createHash('sha256')
    .update(new X509Certificate(Buffer.from(newest.status.certificate, 'base64')).raw)
    .digest('hex');
}

/** A line of the API server's audit log, as far as it is read. */
export interface AuditEvent {
  verb: string;
  requestURI: string;
  requestReceivedTimestamp: string;
  user: {username: string};
  objectRef?: {resource: string; subresource?: string; namespace?: string; name?: string; apiGroup?: string};
  responseStatus?: {code?: number; message?: string};
  userAgent?: string;
  /** What was sent, of the kinds that the audit policy names. */
  requestObject?: unknown;
}

/** The audit events since a time, oldest first; dry runs, which do nothing, are not among them. */
export async function audit(since: Date, keep: (event: AuditEvent) => boolean): Promise<AuditEvent[]> {
  const out: AuditEvent[] = [];
  for await (const line of createInterface({input: createReadStream(env().auditLog), crlfDelay: Infinity})) {
    if (line === '') continue;
    let event: AuditEvent;
    try {
      event = JSON.parse(line) as AuditEvent;
    } catch {
      continue;
    } // the last line may be half written
    if (new Date(event.requestReceivedTimestamp) >= since && !event.requestURI.includes('dryRun=All') && keep(event))
      out.push(event);
  }
  return out;
}

export const writeVerbs: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
