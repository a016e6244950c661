/** How a real API server is reached: by a proxy, and with what a credential plugin says. */
import {chmod, readFile, writeFile} from 'node:fs/promises';
import {createServer, type Server} from 'node:http';
import {type AddressInfo, connect, type Socket} from 'node:net';
import {join} from 'node:path';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import {KubeConfig} from '@kubernetes/client-node';
import {Cache} from '../../operator/kube/cache/cache.ts';
import {Client, type ClientOptions} from '../../operator/kube/client/client.ts';
import {fromKubeConfig} from '../../operator/kube/client/credentials.ts';
import {NoAnswerError} from '../../operator/kube/errors.ts';
import {type ConfigMap, configMaps, eventually} from '../support/kube-api.ts';
import {ApiServer} from '../support/kube-server.ts';
import {SwallowingProxy} from '../support/swallowing-proxy.ts';

let api: ApiServer;
let client: Client;
beforeAll(async () => {
  api = await ApiServer.start();
});
afterEach(() => client?.close());
afterAll(() => api?.stop());

/** A file beside the API server's. */
const at = (file: string) => join(api.dir, file);

/** A client by a kubeconfig, in an environment. */
function configured(text: string, env: NodeJS.ProcessEnv, options?: ClientOptions): Client {
  const config = new KubeConfig();
  config.loadFromString(text);
  return new Client(fromKubeConfig(config, env), options);
}

describe('connections that bring nothing more, while TCP keepalives are still answered', () => {
  let network: SwallowingProxy;
  let cache: Cache<ConfigMap, ConfigMap>;
  let stop: AbortController;
  let direct: Client;
  const put = (name: string): Promise<ConfigMap> =>
    direct.create(configMaps, {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name, namespace: 'default'}});

  beforeEach(async () => {
    network = await SwallowingProxy.start(Number(new URL(api.url).port));
    direct = api.client();
    client = new Client({...api.credentials, server: `https://127.0.0.1:${network.port}`});
    stop = new AbortController();
    cache = new Cache<ConfigMap, ConfigMap>(client, configMaps, {namespace: 'default'});
    cache.start(stop.signal);
    await cache.synced;
    const name = `first-${network.port}`;
    await put(name);
    await eventually(() => cache.get(`default/${name}`) !== undefined);
  });
  afterEach(async () => {
    stop.abort();
    await cache.stopped();
    await direct.close();
    await network.stop();
  });

  test('are noticed within 45 s, and the copy misses nothing', async () => {
    network.swallow();
    const from = performance.now();
    await put('missed');
    await eventually(() => cache.get('default/missed') !== undefined, 200_000);
    const tookMs = performance.now() - from;
    console.log(`noticed after ${(tookMs / 1000).toFixed(1)} s`);
    // 45 s, and the time of a busy machine.
    expect(tookMs).toBeLessThan(55_000);
  }, 300_000);

  test('delay nobody who asks the copy to catch up', async () => {
    network.swallow();
    await put('before');
    const from = performance.now();
    await cache.catchUp();
    expect(cache.get('default/before')).toBeDefined();
    expect(performance.now() - from).toBeLessThan(15_000);
  });
});

describe('a proxy', () => {
  /** Only the proxy knows where that is. */
  const server = 'https://kubernetes.default.svc:6443';
  const credentials = 'Basic bWU6c2VjcmV0'; // me:secret
  let proxy: Server;
  let sockets: Set<Socket>;
  /** What it was asked to connect to. */
  let asked: string[];
  let env: NodeJS.ProcessEnv;

  const kubeconfig = (cluster: object = {}) => {
    const config = JSON.parse(
      api.kubeconfig({'client-certificate': at('admin.crt'), 'client-key': at('admin.key')}),
    ) as {clusters: [{cluster: object}]};
    Object.assign(config.clusters[0].cluster, {server}, cluster);
    return JSON.stringify(config);
  };

  beforeEach(async () => {
    [asked, sockets] = [[], new Set()];
    proxy = createServer().on('connect', (request, incoming: Socket) => {
      asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
      const {hostname, port} = new URL(api.url);
      const outgoing = connect(Number(port), hostname, () => {
        incoming.write('HTTP/1.1 200 Connection established\r\n\r\n');
        incoming.pipe(outgoing).pipe(incoming);
      });
      for (const socket of [incoming, outgoing]) {
        sockets.add(socket);
        socket.on('error', () => {});
      }
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    env = {HTTPS_PROXY: `http://me:secret@127.0.0.1:${(proxy.address() as AddressInfo).port}`};
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });

  test('of the environment carries requests, writes and watches, and is told of its user alone', async () => {
    client = configured(kubeconfig(), env);
    const stop = new AbortController();
    const cache = new Cache<ConfigMap, ConfigMap>(client, configMaps, {namespace: 'default'});
    cache.start(stop.signal);
    await cache.synced;
    await client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {name: 'by-a-proxy', namespace: 'default'},
    });
    await eventually(() => cache.get('default/by-a-proxy') !== undefined);
    stop.abort();
    await cache.stopped();
    expect(asked.length).toBeGreaterThanOrEqual(2);
    expect(new Set(asked)).toEqual(new Set([`kubernetes.default.svc:6443 ${credentials}`]));
  });

  test('of the kubeconfig wins over that of the environment', async () => {
    const {HTTPS_PROXY: url} = env;
    client = configured(kubeconfig({'proxy-url': url}), {HTTPS_PROXY: 'http://127.0.0.1:9'});
    await expect(client.get(configMaps, 'default/none')).resolves.toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  test('is not asked where NO_PROXY names the server', async () => {
    client = configured(kubeconfig(), {...env, NO_PROXY: '.svc'});
    await expect(client.get(configMaps, 'default/none')).rejects.toThrow(NoAnswerError);
    expect(asked).toEqual([]);
  });

  test('that is gone is an answer that does not come', async () => {
    client = configured(kubeconfig(), {HTTPS_PROXY: 'http://127.0.0.1:9'});
    await expect(client.get(configMaps, 'default/none')).rejects.toThrow(NoAnswerError);
  });

  test('that is gone after requests, and comes back, is used again', async () => {
    client = configured(kubeconfig(), env);
    expect(await client.get(configMaps, 'default/none')).toBeUndefined();
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await client.get(configMaps, 'default/none')) === undefined);
    expect(asked).toHaveLength(2);
  });
});

/** How often the plugin has run. */
const runs = async () => (await readFile(at('runs'), 'utf8')).length;

/** The plugin says from now on that who asks is whom that client certificate names. */
async function say(name: string): Promise<void> {
  const [clientCertificateData, clientKeyData] = await Promise.all(
    ['crt', 'key'].map((kind) => readFile(at(`${name}.${kind}`), 'utf8')),
  );
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: {clientCertificateData, clientKeyData},
  };
  await writeFile(at('credential'), JSON.stringify(credential));
}

describe('a credential plugin that names no expiry', () => {
  beforeAll(async () => {
    await Promise.all([api.issue('expired', {days: -1}), writeFile(at('runs'), '')]);
    await writeFile(at('plugin'), `#!/bin/sh\nprintf x >> ${at('runs')}\ncat ${at('credential')}\n`);
    await chmod(at('plugin'), 0o755);
    const exec = {apiVersion: 'client.authentication.k8s.io/v1', command: at('plugin'), interactiveMode: 'Never'};
    await say('expired');
    client = configured(api.kubeconfig({exec}), {});
  });

  test('runs again when the API server refuses what it said, once for all that are refused together', async () => {
    await expect(client.get(configMaps, 'default/none')).rejects.toMatchObject({status: 401});
    await say('admin');
    const before = await runs();
    const requests = Array.from({length: 10}, (_, i) => client.get(configMaps, `default/none-${i}`));
    await expect(Promise.all(requests)).resolves.toEqual(Array.from({length: 10}));
    expect((await runs()) - before).toBe(1);
    expect(await client.get(configMaps, 'default/none')).toBeUndefined();
    expect((await runs()) - before).toBe(1);
  });
});
