/**
 * One measurement in a process of its own: `node --expose-gc kit-subject.ts WHO WHAT`, WHO being `ours`, `client-node` or
 * `client-node-pooled` (its requests sent through one undici Agent, as its users are told to). Prints one JSON line.
 */
import {setTimeout as wait} from 'node:timers/promises';

const [who = '', what = ''] = process.argv.slice(2);
const {BENCH_KUBECONFIG: kubeconfig = '', BENCH_OBJECTS: objects = '0', BENCH_REQUESTS: requests = '0'} = process.env;

interface Subject {
  get(): Promise<unknown>;
  /** Resolves when everything is held, with how much that is. */
  sync(): Promise<number>;
}

async function ours(): Promise<Subject> {
  const {KubeConfig} = await import('@kubernetes/client-node');
  const {Client} = await import('../../operator/kube/client/client.ts');
  const {Cache} = await import('../../operator/kube/cache/cache.ts');
  const {defineResource} = await import('../../operator/kube/objects.ts');
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const client = Client.fromKubeConfig(config, {connections: 1});
  const configMaps = defineResource({
    group: '',
    version: 'v1',
    plural: 'configmaps',
    kind: 'ConfigMap',
    namespaced: true,
  });
  return {
    get: () => client.get(configMaps, 'many/o'),
    async sync() {
      const cache = new Cache(client, configMaps, {namespace: 'many'});
      cache.start(new AbortController().signal);
      await cache.synced;
      (globalThis as {kept?: unknown}).kept = cache;
      return cache.size;
    },
  };
}

async function theirs(pooled: boolean): Promise<Subject> {
  const k8s = await import('@kubernetes/client-node');
  let config = new k8s.KubeConfig();
  if (pooled) {
    const {Agent} = await import('undici');
    // FIGURES.md, @kubernetes/client-node: the one way to share connections.
    class Pooled extends k8s.KubeConfig {
      #agent: InstanceType<typeof Agent> | undefined;
      override async applySecurityAuthentication(
        context: Parameters<InstanceType<typeof k8s.KubeConfig>['applySecurityAuthentication']>[0],
      ): Promise<void> {
        await super.applySecurityAuthentication(context);
        if (!this.#agent) {
          const options: {ca?: Buffer; cert?: Buffer; key?: Buffer} = {};
          await this.applyToHTTPSOptions(options as never);
          const {ca, cert, key} = options;
          this.#agent = new Agent({connections: 1, connect: {ca, cert, key}});
        }
        context.setDispatcher(this.#agent as never);
      }
    }
    config = new Pooled();
  }
  config.loadFromFile(kubeconfig);
  const api = config.makeApiClient(k8s.CoreV1Api);
  return {
    get: () => api.readNamespacedConfigMap({name: 'o', namespace: 'many'}),
    async sync() {
      const informer = k8s.makeInformer(config, '/api/v1/namespaces/many/configmaps', () =>
        api.listNamespacedConfigMap({namespace: 'many'}),
      );
      informer.on('error', (error) => console.error(String(error)));
      await informer.start();
      // It has no synced signal; its `start` resolves after the first list.
      (globalThis as {kept?: unknown}).kept = informer;
      return informer.list().length;
    },
  };
}

/** RSS in MB when garbage is gone and memory has been given back. */
async function settledRss(): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < 6; i++) {
    (globalThis as {gc?: () => void}).gc!();
    await wait(150);
    least = Math.min(least, process.memoryUsage().rss);
  }
  return least / 1e6;
}

const subject = await (who === 'ours' ? ours() : theirs(who === 'client-node-pooled'));
for (let i = 0; i < 20; i++) await subject.get();
if (what === 'requests') {
  const count = Number(requests);
  const since = performance.now();
  for (let i = 0; i < count; i++) await subject.get();
  const seconds = (performance.now() - since) / 1000;
  const {user, system} = process.cpuUsage();
  console.log(JSON.stringify({perSecond: count / seconds, cpuMs: (user + system) / 1000}));
} else {
  const before = await settledRss();
  const since = performance.now();
  const held = await subject.sync();
  const syncMs = performance.now() - since;
  const peakMb = process.resourceUsage().maxRSS / 1000;
  if (held !== Number(objects)) throw new Error(`${who} holds ${held} of ${objects} objects`);
  console.log(JSON.stringify({syncMs, mbPer10k: ((await settledRss()) - before) / (held / 10_000), peakMb}));
}
process.exit(0);
