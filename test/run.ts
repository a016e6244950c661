/**
 * `make test`: everything that CI runs, on one cluster. Prints a line for each suite and, last, the sum as
 * `N passed, N failed`; exits 1 when anything failed or could not be run. Nothing is ever skipped.
 *
 *   node test/run.ts [SUITE...]      only these suites (with the cluster where they need it)
 *
 * A cluster that this run has brought up is taken down at its end; one that was up already is used and left.
 */
import {spawn} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {install} from '../cluster/cluster.ts';
import {hurry} from './support/hurried.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const node = process.execPath;
const started = Date.now();
const scratch = mkdtempSync(join(tmpdir(), 'doorplate-test-'));
const children = new Set<ReturnType<typeof spawn>>();

const say = (text: string) => console.log(`[${((Date.now() - started) / 1000).toFixed(1).padStart(7)}s] ${text}`);

/** Runs a command; its output is shown, or kept and shown when it has ended. Resolves with its exit code. */
function run(command: string, args: readonly string[], {keep = false} = {}): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, [...args], {
      cwd: root,
      stdio: ['ignore', keep ? 'pipe' : 'inherit', keep ? 'pipe' : 'inherit'],
    });
    children.add(child);
    const kept: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => kept.push(chunk));
    const end = (code: number) => {
      children.delete(child);
      process.stdout.write(Buffer.concat(kept));
      resolve(code);
    };
    child.on('error', (e) => {
      say(`${command}: ${e.message}`);
      end(127);
    });
    child.on('close', (code, signal) => end(code ?? (signal ? 128 : 1)));
  });
}

interface Counts {
  passed: number;
  failed: number;
}

/** A command that is one test: it passes when it exits 0. */
const command =
  (name: string, ...line: [string, ...string[]]) =>
  async (): Promise<Counts> => {
    const code = await run(line[0], line.slice(1));
    say(`${code === 0 ? 'passed' : 'FAILED'}: ${name}`);
    return code === 0 ? {passed: 1, failed: 0} : {passed: 0, failed: 1};
  };

/** Jest over folders; a suite that could not be loaded, and a run without a test, count as failed. */
const jest =
  (folders: readonly string[], {flags = [] as string[], keep = false} = {}) =>
  async (): Promise<Counts> => {
    const outputFile = join(scratch, `${folders[0]?.replaceAll('/', '-')}.json`);
    const code = await run(
      node,
      [
        '--experimental-vm-modules',
        '--disable-warning=ExperimentalWarning',
        'node_modules/jest/bin/jest.js',
        ...folders,
        ...flags,
        '--json',
        `--outputFile=${outputFile}`,
        '--ci',
      ],
      {keep},
    );
    if (!existsSync(outputFile)) return {passed: 0, failed: 1};
    const {numPassedTests, numFailedTests, numFailedTestSuites, numPendingTests, numRuntimeErrorTestSuites} =
      JSON.parse(readFileSync(outputFile, 'utf8')) as Record<
        'numPassedTests' | 'numFailedTests' | 'numFailedTestSuites' | 'numPendingTests' | 'numRuntimeErrorTestSuites',
        number
      >;
    // Skipped tests, files that did not load, hooks that failed: none of these is a pass.
    let failed = numFailedTests + numPendingTests + numRuntimeErrorTestSuites;
    if (failed === 0 && (code !== 0 || numFailedTestSuites > 0 || numPassedTests === 0)) failed = 1;
    return {passed: numPassedTests, failed};
  };

async function all(...parts: (() => Promise<Counts>)[]): Promise<Counts> {
  const sum = {passed: 0, failed: 0};
  for (const part of parts) {
    const {passed, failed} = await part();
    sum.passed += passed;
    sum.failed += failed;
  }
  return sum;
}

/** A suite while Doorplate is installed with these values; the usual installation comes back after it. */
const installed = (values: readonly string[], suite: () => Promise<Counts>) => async (): Promise<Counts> => {
  try {
    await install(values);
    const counts = await suite();
    await install();
    return counts;
  } catch (e) {
    say(`FAILED: ${e instanceof Error ? e.message : String(e)}`);
    return {passed: 0, failed: 1};
  }
};

const bin = (name: string) => `node_modules/.bin/${name}`;

interface Suite {
  name: string;
  run: () => Promise<Counts>;
  /** It begins when these have ended; what waits for nothing common runs side by side. */ after: readonly string[];
  cluster?: boolean;
}

/**
 * The cluster is waited for more than it works: what needs none runs beside, its output kept until it has ended. Alone on the
 * cluster are the demo, the quiet test (two minutes in which nobody may touch it), and what restarts that on which others stand.
 */
const suites: Suite[] = [
  {name: 'demo', after: [], cluster: true, run: command('make demo', node, 'cluster/demo.ts')},
  {
    name: 'checks',
    after: ['demo'],
    run: () =>
      all(
        command('types', bin('tsc'), '--noEmit'),
        command('lint', bin('oxlint'), '--deny-warnings'),
        command('generated files are in step', node, 'operator/api/generate.ts', '--check'),
      ),
  },
  {name: 'quiet', after: ['demo'], cluster: true, run: jest(['test/faults/quiet'])},
  {name: 'unit', after: ['checks'], run: jest(['test/unit'], {keep: true})},
  {name: 'dns', after: ['unit'], run: jest(['test/dns'], {keep: true})},
  {
    name: 'mutants',
    after: ['dns'],
    run: command('every mutant turns its test red', 'nice', node, 'test/mutants/run.ts'),
  },
  {
    name: 'cluster',
    after: ['quiet', 'dns'],
    cluster: true,
    run: jest(['test/cluster'], {flags: ['--maxWorkers=4', '--verbose']}),
  },
  {
    name: 'crds',
    after: ['cluster', 'dns'],
    cluster: true,
    run: jest(['test/crds'], {flags: ['--maxWorkers=2'], keep: true}),
  },
  {
    name: 'hurried',
    after: ['cluster'],
    cluster: true,
    run: installed(hurry, jest(['test/hurried'], {flags: ['--maxWorkers=4', '--verbose']})),
  },
  {
    name: 'faults',
    after: ['hurried', 'crds'],
    cluster: true,
    run: jest(['test/faults'], {flags: ['--runInBand', '--verbose', '--testPathIgnorePatterns=test/faults/quiet']}),
  },
  // By what the suites before it have made the operator write.
  {name: 'reasons', after: ['faults'], cluster: true, run: command('every reason came up', node, 'test/reasons.ts')},
];

async function main(): Promise<number> {
  const only = process.argv.slice(2);
  const unknown = only.find((name) => !suites.some((s) => s.name === name));
  if (unknown) {
    console.error(`there is no suite ${JSON.stringify(unknown)}; there are ${suites.map((s) => s.name).join(', ')}`);
    return 2;
  }
  const wanted = suites.filter((s) => only.length === 0 || only.includes(s.name));
  let broken = false;
  const ours = wanted.some((s) => s.cluster) && !existsSync(`${root}.cluster/env.json`);
  if (wanted.some((s) => s.cluster)) {
    say('the cluster and the image');
    if ((await run('cluster/up.sh', [])) !== 0 || (await run('cluster/image.sh', [])) !== 0) {
      say('FAILED: the cluster could not be started: see above, and cluster/README.md');
      broken = true;
    }
  }
  const lines: string[] = [];
  const total = {passed: 0, failed: 0};
  const ended = new Map<string, Promise<void>>();
  /** What a suite waits for; for what that waits for, where it is not wanted. All of it stands before the suite in the list. */
  const before = ({after}: Suite): Promise<void>[] =>
    suites.filter((s) => after.includes(s.name)).flatMap((s) => ended.get(s.name) ?? before(s));
  const begin = async (suite: Suite): Promise<void> => {
    await Promise.all(before(suite));
    say(`suite ${suite.name}`);
    const began = Date.now();
    const counts = suite.cluster && broken ? {passed: 0, failed: 1} : await suite.run();
    total.passed += counts.passed;
    total.failed += counts.failed;
    lines.push(
      `${suite.name.padEnd(8)} ${String(counts.passed).padStart(5)} passed, ${String(counts.failed).padStart(3)} failed  ${((Date.now() - began) / 1000).toFixed(0).padStart(4)} s`,
    );
    say(lines.at(-1) ?? '');
  };
  for (const suite of wanted) ended.set(suite.name, begin(suite));
  await Promise.all(ended.values());
  if (ours) await run('cluster/down.sh', []);
  console.log(`\n${lines.join('\n')}\n${((Date.now() - started) / 60_000).toFixed(1)} minutes in all\n`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    for (const child of children) child.kill(signal);
  });
process.exitCode = await main();
rmSync(scratch, {recursive: true, force: true});
