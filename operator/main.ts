/** The entry of the image: starts what the role needs, stops it on SIGTERM. */
import type {Manager} from './kube/manager.ts';
import {Client} from './kube/client.ts';
import {kitMetrics} from './kube/metrics.ts';
import {ConfigError, loadConfig} from './config.ts';
import {makeLog} from './observability/log.ts';
import {makeRegistry} from './observability/metrics.ts';
import {healthServer} from './observability/server.ts';
import type {Parts} from './roles.ts';
import {operator, redirector} from './roles.ts';

const roles: Record<string, (parts: Parts) => Manager> = {operator, redirector};

const usage = `usage: doorplate ROLE

  operator     watches Projects and CustomDomains, verifies, orders certificates, writes routes and status
  redirector   answers redirects: hostnames that redirect, and HTTP to HTTPS

Settings are read from the file that DOORPLATE_CONFIG names (default /etc/doorplate/config.yaml; the chart writes it).
POD_NAMESPACE and POD_NAME say where it runs. Outside a cluster KUBECONFIG says which API server to use.
Ports: 8081 for /healthz, /readyz and /metrics; the redirector answers on 8080.
`;

async function main(argv: readonly string[]): Promise<number | undefined> {
  const [role = ''] = argv;
  if (role === '--help' || role === '-h' || role === 'help') {
    process.stdout.write(usage);
    return 0;
  }
  const make = roles[role];
  if (!make || argv.length > 1) {
    process.stderr.write(
      `doorplate: ${role === '' ? 'no role given' : `there is no role ${JSON.stringify(argv.join(' '))}`}\n\n${usage}`,
    );
    return 2;
  }
  const config = loadConfig(process.env);
  const log = makeLog(role, config.settings.log.level);
  const registry = makeRegistry();
  const metrics = kitMetrics(registry);
  const client = await Client.load({metrics});
  const manager = make({config, client, log, registry, metrics});
  const port = Number(process.env.HEALTH_PORT ?? 8081);
  manager.addServer(healthServer({port, health: () => manager.health(), registry}));

  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({signal}, 'stopping');
    await manager.stop();
    log.info('stopped');
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
  log.info({node: process.version, pod: config.pod, namespace: config.namespace}, 'starting');
  await manager.start();
  if (!stopping) log.info('ready');
  return undefined;
}

try {
  const code = await main(process.argv.slice(2));
  if (code !== undefined) process.exitCode = code;
} catch (error) {
  process.stderr.write(
    error instanceof ConfigError
      ? `doorplate: ${error.message}\n`
      : `doorplate: ${(error as Error).stack ?? String(error)}\n`,
  );
  process.exit(1);
}
