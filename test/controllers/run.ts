/**
 * `make controllers`: the core suite at an edge by each ingress controller, one after the other, on the local cluster. Prints the sum as
 * `N passed, N failed`; exits with 1 if a test failed or could not run.
 *
 *   node test/controllers/run.ts [CONTROLLER...]      only these
 *
 * It takes down the cluster that it has started. A cluster that was up gets back Traefik and the demo's values.
 */
import {execFileSync, spawn} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {api, apply, install, kubectl, root} from '../../cluster/cluster.ts';
import {filesOf, readPage} from '../support/pages.ts';
import {envoyProgram} from '../support/proxies.ts';
import {type Controller, controllers, namesOf} from './controllers.ts';

const started = Date.now();
const say = (text: string) => console.log(`[${((Date.now() - started) / 1000).toFixed(1).padStart(7)}s] ${text}`);

/** Runs a command and shows its output. Resolves with the exit code. */
const run = (command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {cwd: root, stdio: 'inherit', env: {...process.env, ...env}});
    child.on('error', reject).on('close', (code) => resolve(code ?? 1));
  });

async function must(command: string, ...args: string[]): Promise<void> {
  if ((await run(command, args)) !== 0) throw new Error(`${command} failed: its output is above`);
}

/** The challenges of all orders are served by this class from now on. */
const solveBy = (ingressClassName: string) =>
  kubectl([
    'patch',
    'clusterissuer/pebble',
    '--type=json',
    '-p',
    JSON.stringify([
      {op: 'replace', path: '/spec/acme/solvers/0/http01/ingress/ingressClassName', value: ingressClassName},
    ]),
  ]);

/** Starts or stops Traefik. A stopped Traefik frees its ports on the node. */
async function traefik(replicas: 0 | 1): Promise<void> {
  await kubectl(['scale', 'deploy/traefik', '-n', 'traefik', `--replicas=${replicas}`]);
  if (replicas === 1) await kubectl(['rollout', 'status', 'deploy/traefik', '-n', 'traefik', '--timeout=120s']);
  else await kubectl(['wait', 'pods', '-n', 'traefik', '-l', 'app=traefik', '--for=delete', '--timeout=120s']);
}

const demo = 'examples/demo/values.yaml';

/** Values that depend on the cluster, in place of those of a page. */
const local = [
  'image.repository=localhost/doorplate',
  'platform.zone=apps.platform.test',
  'edge.addresses={10.244.0.1}',
  'issuerRef.name=pebble',
];

/** Makes a controller the edge, applies the files of its page, and installs Doorplate with the page's values. */
async function setUp({name, ingressClassName, page}: Controller, scratch: string): Promise<void> {
  if (name === 'traefik') await traefik(1);
  else {
    await traefik(0);
    await must(`test/controllers/${name}/up.sh`, await envoyProgram());
  }
  await solveBy(ingressClassName);
  if (page === undefined) return install();
  const read = readPage(page);
  for (const text of filesOf(read).values()) await apply(text);
  const values = read.blocks.find(({info}) => info.join(' ') === 'yaml values');
  if (!values) throw new Error(`${page} has no block of values`);
  const file = join(scratch, `${name}.yaml`);
  writeFileSync(file, values.text);
  return install(local, `${demo},${file}`);
}

async function takeDown({name, page}: Controller, scratch: string): Promise<void> {
  if (page !== undefined) {
    const file = join(scratch, 'page.yaml');
    writeFileSync(file, [...filesOf(readPage(page)).values()].join('---\n'));
    await kubectl(['delete', '-f', file, '--ignore-not-found']);
  }
  if (name !== 'traefik')
    await kubectl(['delete', '-f', `.cluster/config/${name}.yaml`, '--ignore-not-found', '--timeout=120s']);
}

interface Counts {
  passed: number;
  failed: number;
}

/** Runs the suite. Returns jest's counts. A run without a test counts as failed. */
async function suite({name}: Controller, scratch: string): Promise<Counts> {
  const outputFile = join(scratch, `${name}.json`);
  const args = ['node_modules/jest/bin/jest.js', 'test/controllers', '--verbose', '--ci', '--json'];
  const code = await run(process.execPath, [...args, `--outputFile=${outputFile}`], {CONTROLLER: name});
  if (!existsSync(outputFile)) return {passed: 0, failed: 1};
  const report = JSON.parse(readFileSync(outputFile, 'utf8')) as Record<string, number>;
  const {numPassedTests: passed = 0, numFailedTests = 0, numPendingTests = 0} = report;
  const failed = numFailedTests + numPendingTests;
  return {passed, failed: failed === 0 && (code !== 0 || passed === 0) ? 1 : failed};
}

async function test(controller: Controller, scratch: string): Promise<Counts> {
  const began = Date.now();
  let counts = {passed: 0, failed: 1};
  try {
    say(`${controller.name}: becomes the edge`);
    await setUp(controller, scratch);
    counts = await suite(controller, scratch);
  } catch (error) {
    say(`FAILED: ${controller.name}: ${(error as Error).message}`);
  }
  await takeDown(controller, scratch).catch((error: Error) => {
    counts.failed++;
    say(`FAILED: ${controller.name} could not be removed: ${error.message}`);
  });
  const took = ((Date.now() - began) / 1000).toFixed(0);
  say(`${controller.name}: ${counts.passed} passed, ${counts.failed} failed, ${took} s`);
  return counts;
}

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.find((name) => !controllers.some((each) => each.name === name));
  if (unknown !== undefined) {
    console.error(`no controller ${JSON.stringify(unknown)}: there are ${namesOf(controllers)}`);
    return 2;
  }
  const isOurs = !existsSync(`${root}.cluster/env.json`);
  await must('cluster/up.sh');
  await must('cluster/image.sh');
  const scratch = mkdtempSync(join(tmpdir(), 'doorplate-controllers-'));
  const total = {passed: 0, failed: 0};
  try {
    for (const controller of controllers.filter(({name}) => names.length === 0 || names.includes(name))) {
      const {passed, failed} = await test(controller, scratch);
      total.passed += passed;
      total.failed += failed;
    }
  } finally {
    rmSync(scratch, {recursive: true});
    if (isOurs) execFileSync('cluster/down.sh', {cwd: root, stdio: 'inherit'});
    else {
      await traefik(1);
      await solveBy('traefik');
      await install();
    }
  }
  console.log(`\n${((Date.now() - started) / 60_000).toFixed(1)} minutes in all`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
}

const code = await main(process.argv.slice(2));
await api().close();
process.exitCode = code;
