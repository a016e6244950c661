/**
 * ROW=P15: 100 event streams of a project with 500 hostnames that changes five times a second, as far as the API server is as fast: how
 * long the requests of another tenant take, beside the same requests while nothing happens. Streams get one event a second at most, so
 * fewer changes are as much work for the API, as long as each stream has an event each second.
 */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {Pool} from 'undici';
import {accounts, apiKeys, customDomains, namespaces, projects} from '../../operator/resources/resources.ts';
import {hashToken, makeToken} from '../../operator/domain/api-key.ts';
import {eventually} from '../support/kube-api.ts';
import {freePort} from '../support/free-ports.ts';
import {home} from '../support/platform.ts';
import {kubeconfigOf} from './daemons.ts';
import {figuresOf, measured} from './operator-process.ts';
import {liveHosts} from './population.ts';
import {mebibytes, printTable, quantile, type Row} from './table.ts';
import {BenchWorld} from './world.ts';

const [streams, streamsOfKey, hostnames] = [100, 10, 500];
const changeEveryMs = 200;
const requestEveryMs = 20;
const measureMs = 20_000;
const mostOverQuietMs = 50;
const apiVersion = 'doorplate.dev/v1alpha1';
const path = '/v1/projects/docs/events';

/** A namespace of an Account that no limit reaches, and tokens of its keys. */
async function makeTenant({client}: BenchWorld, name: string, keys: number): Promise<string[]> {
  const rateLimit = {requestsPerMinute: 1_000_000, requestsPerDay: 1_000_000};
  await client.create(accounts, {
    apiVersion,
    kind: 'Account',
    metadata: {name},
    spec: {planRef: {name: 'pro'}, rateLimit},
  });
  const labels = {'doorplate.dev/account': name};
  await client.create(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name, labels}});
  const tokens: string[] = [];
  for (let i = 0; i < keys; i++) {
    const metadata = {namespace: name, name: `key-${i}`};
    const token = makeToken(metadata);
    const spec = {hashes: [{sha256: hashToken(token)}], scopes: ['domains:read' as const]};
    await client.create(apiKeys, {apiVersion, kind: 'ApiKey', metadata, spec});
    tokens.push(token);
  }
  return tokens;
}

/** A project with hostnames that are Live, as far as its status says: no operator runs. */
async function makeProject({client}: BenchWorld, namespace: string): Promise<void> {
  const metadata = {namespace, name: 'docs'};
  const spec = {serviceRef: {name: 'docs', port: 80}, defaultHost: 'Serve' as const};
  await client.create(projects, {apiVersion, kind: 'Project', metadata, spec});
  const [primary = '', ...froms] = Array.from({length: hostnames}, (_, n) => `www${n}.customer.test`);
  await client.create(customDomains, {
    apiVersion,
    kind: 'CustomDomain',
    metadata,
    spec: {projectRef: {name: 'docs'}, primary, redirects: froms.map((from) => ({from, status: 301 as const}))},
  });
  const hosts = liveHosts(primary, froms);
  const dnsRecords = hosts.map(({hostname}) => ({
    hostname,
    type: 'CNAME',
    name: hostname.split('.')[0],
    zone: 'customer.test',
    value: 'docs-loud-0123456789abc.apps.platform.test',
    ttl: 300,
    state: 'Found',
    observed: ['CNAME docs-loud-0123456789abc.apps.platform.test'],
  }));
  const status = {observedGeneration: 1, phase: 'Live', hosts, dnsRecords};
  await client.patch(customDomains, `${namespace}/docs`, {status} as object, {type: 'merge', subresource: 'status'});
}

async function startApi(world: BenchWorld, port: number): Promise<ChildProcess> {
  const {dir} = world.server;
  const [config, storage] = [join(dir, 'api.json'), join(dir, 'ledger')];
  await mkdir(storage);
  const api = {enabled: true, storage: {path: storage}, page: {enabled: false}};
  await writeFile(config, JSON.stringify(world.settings({api})));
  const program = fileURLToPath(new URL('./api-child.ts', import.meta.url));
  const KUBECONFIG = await kubeconfigOf(world.server, 'doorplate-api');
  const child = spawn('setpriv', [...measured, program, String(port)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {...process.env, DOORPLATE_CONFIG: config, KUBECONFIG, POD_NAMESPACE: home, POD_NAME: 'api'},
  });
  await once(child, 'spawn');
  return child;
}

interface Read {
  bytes: number;
  events: number;
}

/** A process of its own reads the streams: what it does holds no request up. Resolves when all are open. */
async function startReader(port: number, tokens: readonly string[]): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('./streams-child.ts', import.meta.url));
  const args = [...measured, program, String(port), path, String(streams), ...tokens];
  const child = spawn('setpriv', args, {stdio: ['ignore', 'inherit', 'inherit', 'ipc']});
  await once(child, 'message');
  return child;
}

async function readBy(reader: ChildProcess): Promise<Read> {
  const answer = once(reader, 'message') as Promise<[Read]>;
  reader.send({});
  return (await answer)[0];
}

/** How long requests take from the moment when they are due, ms: one that waits behind another one waits, too. */
async function latencies(pool: Pool, token: string): Promise<number[]> {
  const took: Promise<number>[] = [];
  const startedAt = performance.now();
  for (let dueAt = startedAt; dueAt < startedAt + measureMs; dueAt += requestEveryMs) {
    await wait(Math.max(0, dueAt - performance.now()));
    const sentAt = performance.now();
    took.push(
      pool
        .request({method: 'GET', path: '/v1/projects', headers: {authorization: `Bearer ${token}`}})
        .then(async (answer) => {
          await answer.body.dump();
          if (answer.statusCode !== 200) throw new Error(`a request was answered ${answer.statusCode}`);
          return performance.now() - sentAt;
        }),
    );
  }
  return Promise.all(took);
}

/** Changes what the project shows every 200 ms, as far as the API server is as fast, until the signal aborts. Returns how often. */
async function changeUntil(world: BenchWorld, key: string, stopped: AbortSignal): Promise<number> {
  let changes = 0;
  for (; !stopped.aborted; changes++) {
    const status = {lastHandledReconcileAt: `change-${changes}`};
    const patched = world.client.patch(customDomains, key, {status} as object, {type: 'merge', subresource: 'status'});
    await Promise.all([patched, wait(changeEveryMs)]);
  }
  return changes;
}

const inMs = (ms: number): string => `${ms.toFixed(1)} ms`;

export const run: Row = async ({say}) => {
  const world = await BenchWorld.start();
  const started: ChildProcess[] = [];
  try {
    const tokens = await makeTenant(world, 'loud', streams / streamsOfKey);
    const [other = ''] = await makeTenant(world, 'other', 1);
    await makeProject(world, 'loud');
    const port = await freePort();
    const api = await startApi(world, port);
    started.push(api);
    const pool = new Pool(`http://127.0.0.1:${port}`, {connections: 32});
    await eventually(async () => {
      const {statusCode, body} = await pool.request({method: 'GET', path, headers: {authorization: `Bearer ${other}`}});
      await body.dump();
      return statusCode === 404;
    });
    // The first ones compile.
    await latencies(pool, other);
    await figuresOf(api);
    const quiet = await latencies(pool, other);
    const before = await figuresOf(api);
    const reader = await startReader(port, tokens);
    started.push(reader);
    const [stop, readBefore] = [new AbortController(), await readBy(reader)];
    const changing = changeUntil(world, 'loud/docs', stop.signal);
    const loud = await latencies(pool, other);
    const read = await readBy(reader);
    stop.abort();
    const changes = await changing;
    const after = await figuresOf(api);
    const [p99Quiet, p99] = [quantile(quiet, 0.99), quantile(loud, 0.99)];
    printTable([
      [
        `P15, ${streams} streams of ${hostnames} hostnames, ${changes} changes in ${measureMs / 1000} s`,
        'reach',
        'quiet',
        'streams',
      ],
      ["another tenant's requests: p50", '', inMs(quantile(quiet, 0.5)), inMs(quantile(loud, 0.5))],
      ["another tenant's requests: p99", `quiet + ${mostOverQuietMs} ms`, inMs(p99Quiet), inMs(p99)],
      ["another tenant's requests: longest", '', inMs(Math.max(...quiet)), inMs(Math.max(...loud))],
      ['event loop blocked', '', inMs(before.longestBlockMs), inMs(after.longestBlockMs)],
      ['RSS', '', mebibytes(before.rss), mebibytes(after.rss)],
      ['events a stream', '', '', ((read.events - readBefore.events) / streams).toFixed(1)],
      ['read in all', '', '', mebibytes(read.bytes - readBefore.bytes)],
    ]);
    const enough = (read.events - readBefore.events) / streams >= (0.8 * measureMs) / 1000;
    const well = enough && p99 <= p99Quiet + mostOverQuietMs;
    say(`P15: ${well ? 'reached' : enough ? 'MISSED' : 'MISSED: the API server wrote too few changes'}`);
    await pool.close();
    return well;
  } finally {
    for (const child of started) child.kill('SIGKILL');
    await world.stop();
  }
};
