/** ROW=P11: 10,000 redirects in the redirector: memory over that without any, and requests beside nginx that returns 301. */
import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {Pool} from 'undici';
import type {CustomDomain} from '../../operator/api/foreign.ts';
import {customDomains, namespaces} from '../../operator/resources/resources.ts';
import {eventually} from '../support/kube-api.ts';
import {freePorts} from '../support/free-ports.ts';
import {home} from '../support/platform.ts';
import {kubeconfigOf} from './daemons.ts';
import {figuresOf, measured} from './operator-process.ts';
import {each, liveHosts} from './population.ts';
import {mebibytes, printTable, type Row} from './table.ts';
import {BenchWorld} from './world.ts';

const domains = 1000;
const redirectsOfDomain = 10;
const requests = 60_000;
const connections = 32;
const [namespace, apiVersion] = ['default', 'doorplate.dev/v1alpha1'];
const sourceOf = (n: number): string => `old${n}.customer.test`;
/** A clock tick of /proc, ms (USER_HZ is 100 on every Linux). */
const tickMs = 10;

/** CPU time of a process so far, ms: proc(5), fields 14 and 15 of stat. */
async function cpuOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/** CustomDomains that say of themselves that they redirect: no operator runs. */
async function makeRedirects({client}: BenchWorld): Promise<void> {
  await each(Array.from({length: domains}), async (_, n) => {
    const primary = `www${n}.customer.test`;
    const froms = Array.from({length: redirectsOfDomain}, (__, i) => sourceOf(n * redirectsOfDomain + i));
    const domain = await client.create<CustomDomain>(customDomains, {
      apiVersion,
      kind: 'CustomDomain',
      metadata: {name: `d${n}`, namespace},
      spec: {projectRef: {name: `p${n}`}, primary, redirects: froms.map((from) => ({from, status: 301}))},
    });
    const status = {...domain.status, observedGeneration: 1, phase: 'Live' as const, hosts: liveHosts(primary, froms)};
    await client.patch<CustomDomain>(
      customDomains,
      `${namespace}/d${n}`,
      {status},
      {type: 'merge', subresource: 'status'},
    );
  });
}

/** Requests for each redirect in turn: CPU time of the server a request, ms. Each answer is looked at. */
async function load(port: number, pid: number): Promise<number> {
  const pool = new Pool(`http://127.0.0.1:${port}`, {connections});
  let sent = 0;
  const client = async (): Promise<void> => {
    while (sent < requests) {
      const n = sent++ % (domains * redirectsOfDomain);
      const {statusCode, headers, body} = await pool.request({
        method: 'GET',
        path: '/a?b=c',
        headers: {host: sourceOf(n)},
      });
      await body.dump();
      const expected = `https://www${Math.floor(n / redirectsOfDomain)}.customer.test/a?b=c`;
      if (statusCode !== 301 || headers.location !== expected)
        throw new Error(`${statusCode} ${String(headers.location)}`);
    }
  };
  const before = await cpuOf(pid);
  await Promise.all(Array.from({length: connections}, client));
  await pool.close();
  return ((await cpuOf(pid)) - before) / requests;
}

/** One process with the same table, as a map of hosts. */
async function startNginx(folder: string, port: number): Promise<ChildProcess> {
  execFileSync(fileURLToPath(new URL('../authorize/install.sh', import.meta.url)), {stdio: 'inherit'});
  await mkdir(folder, {recursive: true});
  const rules = Array.from(
    {length: domains * redirectsOfDomain},
    (_, n) => `${sourceOf(n)} www${Math.floor(n / redirectsOfDomain)}.customer.test;`,
  );
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off;\nmaster_process off;\nuser root;\npid ${folder}/pid;\nerror_log ${folder}/error.log warn;
events {}
http {
  access_log off;
  keepalive_requests 1000000;
  map_hash_bucket_size 128;
  map_hash_max_size 65536;
  ${paths.join('\n  ')}
  map $host $to { default ""; ${rules.join('\n    ')} }
  server { listen 127.0.0.1:${port}; location / { return 301 https://$to$request_uri; } }
}\n`,
  );
  const child = spawn(
    'setpriv',
    ['--pdeathsig', 'KILL', '--', 'nginx', '-p', folder, '-c', join(folder, 'nginx.conf')],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  await once(child, 'spawn');
  return child;
}

async function startRedirector(world: BenchWorld, port: number): Promise<ChildProcess> {
  const {dir} = world.server;
  const config = join(dir, 'redirector.json');
  await writeFile(config, JSON.stringify(world.settings()));
  const program = fileURLToPath(new URL('./redirector-child.ts', import.meta.url));
  const child = spawn('setpriv', [...measured, program, String(port)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {
      ...process.env,
      DOORPLATE_CONFIG: config,
      KUBECONFIG: await kubeconfigOf(world.server, 'doorplate-redirector'),
      POD_NAMESPACE: home,
      POD_NAME: 'redirector',
    },
  });
  await once(child, 'spawn');
  return child;
}

/** Resolves when it answers a request for this host with that status. */
async function answers(port: number, host: string, status: number): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`);
  await eventually(async () => {
    const {statusCode, body} = await pool.request({method: 'GET', path: '/', headers: {host}});
    await body.dump();
    return statusCode === status;
  });
  await pool.close();
}

export const run: Row = async ({say}) => {
  const world = await BenchWorld.start();
  const [ours = 0, theirs = 0] = await freePorts(2);
  const started: ChildProcess[] = [];
  try {
    if (!(await world.client.get(namespaces, namespace))) throw new Error('there is no Namespace default');
    const redirector = await startRedirector(world, ours);
    started.push(redirector);
    await answers(ours, 'nobody.test', 404);
    const base = await figuresOf(redirector);
    await makeRedirects(world);
    await answers(ours, sourceOf(domains * redirectsOfDomain - 1), 301);
    say(`P11: ${domains * redirectsOfDomain} redirects are there`);
    const full = await figuresOf(redirector);
    const nginx = await startNginx(join(world.server.dir, 'nginx'), theirs);
    started.push(nginx);
    await answers(theirs, sourceOf(0), 301);
    // The first ones compile.
    await load(ours, redirector.pid!);
    const [oursMs, theirsMs] = [await load(ours, redirector.pid!), await load(theirs, nginx.pid!)];
    const ratio = theirsMs / oursMs;
    printTable([
      [`P11, ${domains * redirectsOfDomain} redirects`, 'reach', 'redirector', 'nginx'],
      ['RSS over that without any', '64 MiB', mebibytes(full.rss - base.rss), ''],
      ['heap over that without any', '', mebibytes(full.heapUsed - base.heapUsed), ''],
      ['RSS in all', '', mebibytes(full.rss), ''],
      ['requests a second of a core', '', (1000 / oursMs).toFixed(0), (1000 / theirsMs).toFixed(0)],
      ['redirector / nginx', '0.30 ×', `${ratio.toFixed(2)} ×`, ''],
    ]);
    const well = full.rss - base.rss <= 64 * 2 ** 20 && ratio >= 0.3;
    say(`P11: ${well ? 'reached' : 'MISSED'}`);
    return well;
  } finally {
    for (const child of started) child.kill('SIGKILL');
    await world.stop();
  }
};
