import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {fileURLToPath} from 'node:url';
import {setTimeout as wait} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import pino from 'pino';
import {Registry} from 'prom-client';
import {Cache} from '../../operator/kube/cache/cache.ts';
import {Client} from '../../operator/kube/client/client.ts';
import {WriteRefusedError} from '../../operator/kube/errors.ts';
import {Elector, type ElectorOptions} from '../../operator/kube/leader/leader.ts';
import {type Lease, leases} from '../../operator/kube/leader/lease.ts';
import {Manager} from '../../operator/kube/manager.ts';
import {kitMetrics} from '../../operator/kube/metrics.ts';
import {type ConfigMap, configMaps, eventually} from '../support/kube-api.ts';
import {FaultProxy} from '../support/kube-proxy.ts';
import {ApiServer} from '../support/kube-server.ts';

const script = fileURLToPath(new URL('../support/kube-elector.ts', import.meta.url));

let api: ApiServer;
let client: Client;
let cache: Cache<ConfigMap, ConfigMap>;
let leaseCache: Cache<Lease, Lease>;
const stop = new AbortController();
const children: ChildProcess[] = [];
let stories: Record<'crash' | 'pause' | 'release', Promise<Story>>;

/** What two processes did that wanted the same lease. */
interface Story {
  /** From what happened to the first until the second led. */
  afterMs: number;
  /** Exit code or signal of the first. */
  end: unknown;
  /** What the first said last. */
  said: string;
  /** Who wrote, in order, without repetitions. */
  writers: string[];
  /** Who had the lease, in order, without repetitions; empty: nobody. */
  holders: string[];
  /** Who has it in the end. */
  holder: string | undefined;
}

interface Run {
  child: ChildProcess;
  said: string;
  stands: Promise<void>;
  leads: Promise<void>;
  ended: Promise<unknown>;
}

function run(instance: string, lease: string): Run {
  const child = spawn(process.execPath, [script, instance, lease], {
    env: {...process.env, KIT_SERVER: api.url, KIT_PKI: api.dir, NODE_OPTIONS: ''},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [stands, leads] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const it: Run = {
    child,
    said: '',
    stands: stands.promise,
    leads: leads.promise,
    ended: once(child, 'exit').then(([code, signal]) => (code ?? signal) as unknown),
  };
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    it.said += text;
    if (it.said.includes('standing\n')) stands.resolve();
    if (it.said.includes('leading\n')) leads.resolve();
  });
  return it;
}

/** A leader, a second process that waits, and what happens to the first. */
async function play(lease: string, strike: (first: Run, second: Run) => Promise<unknown>): Promise<Story> {
  await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {name: lease, namespace: 'default'},
    data: {},
  });
  const writers: string[] = [];
  cache.onChange((now) => {
    const writer = now?.metadata.name === lease ? now.data?.writer : undefined;
    if (writer !== undefined && writer !== writers.at(-1)) writers.push(writer);
  });
  const holders: string[] = [];
  leaseCache.onChange((now) => {
    const holder = now?.metadata.name === lease ? (now.spec?.holderIdentity ?? '').split('_')[0]! : undefined;
    if (holder !== undefined && holder !== holders.at(-1)) holders.push(holder);
  });
  const first = run('one', lease);
  await first.leads;
  const second = run('two', lease);
  await second.stands;
  await wait(4000); // It looks every 2 s.
  const since = performance.now();
  const end = strike(first, second);
  await second.leads;
  const afterMs = performance.now() - since;
  await end;
  await eventually(() => writers.includes('two'));
  await wait(500);
  const holder = (await client.get(leases, `default/${lease}`))?.spec?.holderIdentity;
  return {afterMs, end: await first.ended, said: first.said, writers, holders, holder};
}

beforeAll(async () => {
  api = await ApiServer.start();
  client = api.client();
  cache = new Cache(client, configMaps, {namespace: 'default'});
  leaseCache = new Cache(client, leases, {namespace: 'default'});
  for (const each of [cache, leaseCache]) each.start(stop.signal);
  await Promise.all([cache.synced, leaseCache.synced]);
  stories = {
    crash: play('crash', async ({child}) => child.kill('SIGKILL')),
    pause: play('pause', async ({child, ended}, second) => {
      child.kill('SIGSTOP');
      await second.leads;
      await wait(1000);
      child.kill('SIGCONT');
      await ended;
    }),
    release: play('release', async ({child}) => child.kill('SIGTERM')),
  };
  for (const story of Object.values(stories)) story.catch(() => {});
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  stop.abort();
  await client.close();
  await api.stop();
});

describe('of two processes with the usual 15 s, 10 s and 2 s', () => {
  test('the second leads when the first has given the lease back, which it does as soon as it was told to stop', async () => {
    const {afterMs, end, writers, holders} = await stories.release;
    console.log(`after SIGTERM: ${Math.round(afterMs)} ms (3 s on a machine of one's own)`);
    expect({end, writers}).toEqual({end: 0, writers: ['one', 'two']});
    // A lease that runs out is taken from the one who has it.
    expect(holders).toEqual(['one', '', 'two']);
  });

  test('the second leads when the lease of the killed first has expired', async () => {
    const {afterMs, end, writers} = await stories.crash;
    console.log(`after SIGKILL: ${Math.round(afterMs)} ms (17 s on a machine of one's own)`);
    expect(afterMs).toBeLessThan(60_000);
    expect({end, writers}).toEqual({end: 'SIGKILL', writers: ['one', 'two']});
  });

  test('the second leads when the lease of the frozen first has expired; the first, thawed, writes nothing more and ends with 1', async () => {
    const {afterMs, end, writers, said, holder} = await stories.pause;
    console.log(`after SIGSTOP: ${Math.round(afterMs)} ms (17 s on a machine of one's own)`);
    expect(afterMs).toBeLessThan(60_000);
    expect({end, writers}).toEqual({end: 1, writers: ['one', 'two']});
    expect(said).toContain('leadership lost');
    // It did not take the lease along.
    expect(holder).toMatch(/^two_/);
  });
});

describe('a leader in a process of one', () => {
  const times = {leaseDurationMs: 3000, renewDeadlineMs: 2000, retryPeriodMs: 300};
  const silent = pino({level: 'silent'});

  function make(through: Client, name: string, options: Partial<ElectorOptions> = {}): Elector {
    return new Elector({
      client: through.apart(),
      namespace: 'default',
      name,
      instance: 'solo',
      metrics: kitMetrics(new Registry()),
      log: silent,
      times,
      ...options,
    });
  }

  test('goes on leading while all other requests hang and hundreds more wait for their turn', async () => {
    const proxy = new FaultProxy(api.credentials);
    await proxy.listen();
    const through = new Client(proxy.credentials, {connections: 4});
    proxy.fate = ({url}) => (url.pathname.includes('/leases') ? 'forward' : {delayMs: Infinity});
    // Deadlines that no stall of a busy machine reaches.
    const elector = make(through, 'busy', {
      times: {leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 300},
    });
    expect(await elector.campaign(new AbortController().signal)).toBe(true);
    const writes = Array.from({length: 300}, (_, i) =>
      through.patch(configMaps, `default/none-${i}`, {}, {type: 'merge'}).catch((error: unknown) => error),
    );
    const renewals = () =>
      proxy.seen.filter(({method, url}) => method === 'PATCH' && url.pathname.endsWith('/leases/busy')).length;
    await eventually(() => renewals() > 8);
    expect(elector.isLeading).toBe(true);
    await elector.release();
    expect((await client.get(leases, 'default/busy'))!.spec!.holderIdentity).toBe('');
    await proxy.close();
    await Promise.all(writes);
    await through.close();
  });

  test('whose way to the API server is cut ends its process with 1, and its client sends nothing more', async () => {
    const proxy = new FaultProxy(api.credentials);
    await proxy.listen();
    const through = new Client(proxy.credentials);
    const elector = make(through, 'cut-off');
    const exits: number[] = [];
    const manager = new Manager({client: through, log: silent, elector, exit: (code) => exits.push(code)});
    await manager.start();
    const write = (): Promise<unknown> =>
      through.create(configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {generateName: 'w-', namespace: 'default'} as never,
      });
    await write();
    // Only renewals are in trouble: other writes would still get through.
    proxy.fate = ({url}) => (url.pathname.includes('/leases') ? {status: 500, body: ''} : 'forward');
    await eventually(() => exits.length > 0);
    const seen = proxy.seen.length;
    await expect(write()).rejects.toThrow(WriteRefusedError);
    await expect(write()).rejects.toThrow(
      /POST \/api\/v1\/namespaces\/default\/configmaps: not sent: solo_\w+ does not lead/,
    );
    expect(proxy.seen).toHaveLength(seen);
    expect(exits).toEqual([1]);
    expect((await client.get(leases, 'default/cut-off'))!.spec!.holderIdentity).toBe(elector.identity);
    await manager.stop();
    expect((await client.get(leases, 'default/cut-off'))!.spec!.holderIdentity).toBe(elector.identity);
    await proxy.close();
  });
});
