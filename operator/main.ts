/** The entry of the image: starts what the role needs, stops it on SIGTERM. */
import type {Manager} from './kube/manager.ts';
import {kitMetrics} from './kube/metrics.ts';
import {ConfigError, loadConfig} from './config.ts';
import {makeLog} from './observability/log.ts';
import {makeRegistry} from './observability/metrics.ts';
import {healthServer} from './observability/server.ts';
import {clientOf} from './roles/client.ts';
import {operator} from './roles/operator.ts';
import type {RoleParts} from './roles/parts.ts';
import {preflight} from './roles/preflight.ts';
import {redirector} from './roles/redirector.ts';
import {uninstall} from './roles/uninstall.ts';
import {version} from './version.ts';

/** What is started; or an exit code, of what is done already. */
const roles: Record<string, (parts: RoleParts) => Manager | Promise<Manager | number>> = {
  operator,
  redirector,
  preflight,
  uninstall: async (parts) => {
    await uninstall(parts);
    return 0;
  },
  // Only here: the others have no use for an HTTP framework.
  api: async (parts) => (await import('./roles/api.ts')).api(parts),
};

const usage = `usage: doorplate ROLE, or --version

  operator     watches Projects and CustomDomains, verifies, orders certificates, writes routes and status
  redirector   answers the redirects of hostnames, and redirects HTTP to HTTPS
  api          serves the platform's API: projects, domains and keys over HTTP, with the limits of each plan
  preflight    checks once what Doorplate needs, and prints what to set; exits with 1 if something is missing
  uninstall    removes the operator's finalizers if its Deployment is deleted, then exits; a hook of the chart runs it after helm uninstall

Doorplate reads settings from the file in DOORPLATE_CONFIG (default: /etc/doorplate/config.yaml, which the chart writes).
POD_NAMESPACE and POD_NAME name the Pod. Outside a cluster, KUBECONFIG selects the API server.
Every role serves /healthz, /readyz and /metrics on port 8081. The redirector listens on 8080, the api on 8082.
If the api decides for the platform's own APIs, it also listens on 8083 (gRPC) and 8084 (HTTP).
`;

async function main(argv: readonly string[]): Promise<number | undefined> {
  const [role = ''] = argv;
  if (role === '--help' || role === '-h' || role === 'help') {
    process.stdout.write(usage);
    return 0;
  }
  if (role === '--version') {
    process.stdout.write(`doorplate ${version}\n`);
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
  const log = makeLog(role, config.settings.log.level, config.settings.log.format);
  const registry = makeRegistry();
  const metrics = kitMetrics(registry);
  const client = await clientOf(role, config.settings, metrics);
  const manager = await make({config, client, log, registry, metrics});
  if (typeof manager === 'number') {
    await client.close();
    return manager;
  }
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
  log.info({version, node: process.version, pod: config.pod, namespace: config.namespace}, 'starting');
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
