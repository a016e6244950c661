/**
 * The role `api` in a process that a test may stop and kill: `node api-child.ts GRPC_PORT HTTP_PORT API_PORT`: the first two are
 * for proxies.
 * Prints `ready` when all caches have synced. KUBECONFIG and what `loadConfig` reads come from the environment.
 */
import {pino} from 'pino';
import {Registry} from 'prom-client';
import {loadConfig} from '../../operator/config.ts';
import {Client} from '../../operator/kube/client/client.ts';
import {kitMetrics} from '../../operator/kube/metrics.ts';
import {api} from '../../operator/roles/api.ts';

const [grpc = 0, http = 0, port = 0] = process.argv.slice(2).map(Number);
const registry = new Registry();
const metrics = kitMetrics(registry);
const role = await api(
  {
    config: loadConfig(process.env),
    client: await Client.load({metrics}),
    log: pino({level: 'warn'}),
    registry,
    metrics,
  },
  {port, authorizePorts: {grpc, http}, lingerMs: 500},
);
// A fake fault: the main thread does nothing for 2 s, as if a change of 500 hostnames were sent to 100 streams.
process.on('SIGUSR2', () => {
  process.stdout.write('blocked\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
});
process.on('SIGTERM', async () => {
  await role.stop();
  process.exit(0);
});
await role.start();
console.log('ready');
