/**
 * `make test`: everything that CI runs, on one cluster. Prints a line for each suite and, last, the sum as
 * `N passed, N failed`; exits 1 when anything failed or could not be run. Nothing is ever skipped: where the cluster or the demo
 * fails, what has not begun counts as failed.
 *
 *   node test/run.ts [SUITE...]      only these suites (with the cluster where they need it)
 *
 * A cluster that this run has brought up is taken down at its end; one that was up already is used and left.
 */
import {AsyncLocalStorage} from 'node:async_hooks';
import {spawn} from 'node:child_process';
import {createHash} from 'node:crypto';
import {existsSync, mkdtempSync, readFileSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';
import {isDeepStrictEqual} from 'node:util';
import {install} from '../cluster/cluster.ts';
import {edgeByService, twoEdges} from './support/edges.ts';
import {causes} from './support/causes.ts';
import {hurry} from './support/hurried.ts';
import {lentServers} from './support/kube-server.ts';
import {Platform} from './support/platform.ts';
import {Usage} from './support/usage.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const node = process.execPath;
const started = Date.now();
const scratch = mkdtempSync(join(tmpdir(), 'doorplate-test-'));
// Go's programs, API servers above all: a sixth less of the processor for more memory, up to a limit for each.
process.env.GOGC ??= '800';
process.env.GOMEMLIMIT ??= '3GiB';
const children = new Set<ReturnType<typeof spawn>>();
const usage = new Usage();
/** The name of the suite that runs. */
const suiteNow = new AsyncLocalStorage<string>();
/** Somebody has ended this run: what runs is ended, and nothing begins. */
let interrupted = false;

const say = (text: string) => console.log(`[${((Date.now() - started) / 1000).toFixed(1).padStart(7)}s] ${text}`);

interface RunOptions {
  keep?: boolean;
  hear?: ((chunk: Buffer) => void) | undefined;
  /** Also when somebody has ended this run: what tidies up. */
  always?: boolean;
  /** Added to this process' environment. */
  env?: Readonly<Record<string, string>>;
}

/** What takes longer hangs: a whole run has 75 minutes, and is to tell what it has seen. */
const longestMs = 70 * 60_000;

/** Runs a command; its output is shown, or kept and shown when it has ended. Resolves with its exit code; `hear` gets each chunk. */
function run(
  command: string,
  args: readonly string[],
  {keep = false, hear, always = false, env}: RunOptions = {},
): Promise<number> {
  if (interrupted && !always) return Promise.resolve(130);
  return new Promise((resolve) => {
    const stdio = keep || hear ? 'pipe' : 'inherit';
    const [program, ...rest] = usage.within(suiteNow.getStore() ?? 'set-up', [command, ...args]);
    const child = spawn(program, rest, {
      cwd: root,
      stdio: ['ignore', stdio, stdio],
      env: {...process.env, ...env},
    });
    children.add(child);
    const limit = setTimeout(() => {
      say(`FAILED: ${command} ${args.slice(0, 4).join(' ')} did not end within ${longestMs / 60_000} minutes`);
      child.kill('SIGKILL');
      // Whoever it has started may keep them open.
      for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    }, longestMs);
    const kept: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        hear?.(chunk);
        if (keep) kept.push(chunk);
        else process.stdout.write(chunk);
      });
    const end = (code: number) => {
      clearTimeout(limit);
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

/** Why nothing more begins. */
let givenUp: string | undefined;

/** What has failed, a line each: said again at the end, where whoever reads the last lines alone finds it. */
const failures: string[] = [];

function couldNotRun(error: unknown): Counts {
  const why = error instanceof Error ? error.message : String(error);
  say(`FAILED: ${why}`);
  failures.push(why);
  return {passed: 0, failed: 1};
}

/** The end of a failed command's output. */
const lastLines = (output: string): string[] =>
  output
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-10);

/**
 * Runs a command as one test, which passes when the command exits 0. After a failure, the run ends with the parts of the output that
 * `culprits` matches, or without `culprits` with the last lines.
 */
const command =
  (name: string, line: readonly string[], {niced = 0, culprits}: {niced?: number; culprits?: RegExp} = {}) =>
  async (): Promise<Counts> => {
    const [first = '', ...rest] = niced ? ['nice', '-n', `${niced}`, ...line] : line;
    let output = '';
    const code = await run(first, rest, {hear: (chunk) => (output += chunk.toString())});
    say(`${code === 0 ? 'passed' : 'FAILED'}: ${name}`);
    if (code === 0) return {passed: 1, failed: 0};
    failures.push(name, ...((culprits && output.match(culprits)) ?? lastLines(output)));
    return {passed: 0, failed: 1};
  };

/** Of jest's report, as far as it is read here. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numFailedTestSuites: number;
  numPendingTests: number;
  numRuntimeErrorTestSuites: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: {status: string; fullName: string; failureMessages: string[]}[];
  }[];
}

/** Its failed tests, and files that did not load, with the first line of why. */
const failedIn = ({testResults}: Report): string[] =>
  testResults.flatMap(({name, status, message, assertionResults}) => {
    const file = relative(root, name);
    const tests = assertionResults
      .filter((t) => t.status === 'failed')
      .map((t) => `${file} › ${t.fullName}: ${t.failureMessages[0]?.split('\n')[0]}`);
    return tests.length > 0 || status === 'passed' ? tests : [`${file}: ${message.trim().split('\n')[0]}`];
  });

interface JestOptions {
  workers?: number;
  keep?: boolean;
  /** It takes what the others leave of the processor. */
  niced?: number;
  env?: Readonly<Record<string, string>>;
}

/** Jest over folders. A suite that could not be loaded, and a run without a test, count as failed. */
const jest =
  (folders: readonly string[], {workers = 2, keep = false, niced = 0, env = {}}: JestOptions = {}) =>
  async (): Promise<Counts> => {
    const outputFile = join(scratch, `${folders[0]?.replaceAll('/', '-')}.json`);
    const line = [
      'node_modules/jest/bin/jest.js',
      ...folders,
      `--maxWorkers=${workers}`,
      ...(keep ? [] : ['--verbose']),
      '--json',
      `--outputFile=${outputFile}`,
      '--ci',
    ];
    const options = {keep, env};
    const code = await (niced ? run('nice', ['-n', `${niced}`, node, ...line], options) : run(node, line, options));
    if (!existsSync(outputFile)) {
      failures.push(`jest ${folders.join(' ')}: no report, exit code ${code}`);
      return {passed: 0, failed: 1};
    }
    const report = JSON.parse(readFileSync(outputFile, 'utf8')) as Report;
    const {numPassedTests, numFailedTests, numFailedTestSuites, numPendingTests, numRuntimeErrorTestSuites} = report;
    failures.push(...failedIn(report));
    // Skipped tests, files that did not load, hooks that failed: none of these is a pass.
    let failed = numFailedTests + numPendingTests + numRuntimeErrorTestSuites;
    if (failed === 0 && (code !== 0 || numFailedTestSuites > 0 || numPassedTests === 0)) failed = 1;
    return {passed: numPassedTests, failed};
  };

/** The same with an API server for each worker, which its test files borrow in turn: one starts slower than most files run. */
const jestWithServers =
  (folders: readonly string[], {workers = 2, niced = 0, ...options}: JestOptions = {}) =>
  async (): Promise<Counts> => {
    const servers = await Promise.all(Array.from({length: workers}, () => Platform.lendServer({niced})));
    usage.adopt(
      suiteNow.getStore()!,
      servers.flatMap((server) => server.pids),
    );
    const env = {[lentServers]: servers.map(({dir}) => dir).join(':')};
    try {
      return await jest(folders, {...options, workers, niced, env})();
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
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

type Values = readonly string[] | string;

/** The values of the demo, which the rest stands on. */
const usual: Values = [];
/** How Doorplate is installed; undefined where nobody knows. */
let standing: Values | undefined;

async function stand(values: Values): Promise<void> {
  if (isDeepStrictEqual(standing, values)) return;
  standing = undefined;
  await (typeof values === 'string' ? install([], values) : install(values));
  standing = values;
}

/** A suite while Doorplate is installed with these values, in place of some of the usual ones, or of all. */
const installed = (values: () => Values, suite: () => Promise<Counts>) => async (): Promise<Counts> => {
  if (interrupted) return {passed: 0, failed: 1};
  try {
    await stand(values());
    return await suite();
  } catch (e) {
    return couldNotRun(e);
  }
};

const bin = (name: string) => `node_modules/.bin/${name}`;

interface Suite {
  name: string;
  run: () => Promise<Counts>;
  /** It begins when these have ended; what waits for nothing common runs side by side. */
  after: readonly string[];
  cluster?: boolean;
  /** When it fails, nothing more begins. */
  vital?: boolean;
  /** Runs only if SUITES names it, because the suite needs a cluster of its own. */
  named?: boolean;
}

/**
 * The cluster is waited for more than it works: its tests run many at a time, and what needs none runs beside them, its
 * output kept until it has ended; mutants take what is left of the processor. Alone are the demo, and what restarts that on
 * which others stand.
 */
const suites: Suite[] = [
  {
    name: 'checks',
    after: [],
    run: () =>
      all(
        command('types', [bin('tsc'), '--noEmit']),
        command('types of the page', [bin('tsc'), '--noEmit', '-p', 'dashboard']),
        command('the page is built', [bin('vite'), 'build', 'dashboard', '--logLevel', 'warn']),
        command('the docs build, and no link is broken', [bin('vitepress'), 'build', 'docs']),
        command('lint', [bin('oxlint'), '--deny-warnings']),
        command('formatted: else `make format`', [bin('oxfmt'), '--check']),
        command('generated files are in step', [node, 'operator/generate/generate.ts', '--check']),
        command('pictures are in step', [node, 'docs/pictures/draw.ts', '--check']),
        command('comments, pages and messages are plain, type names are declared once', [node, 'test/language.ts']),
        command('every mutant applies', [node, 'test/mutants/run.ts', '--check']),
      ),
  },
  {name: 'dns', after: ['checks'], run: jest(['test/dns'], {keep: true})},
  // They compute; what the cluster's tests wait for comes first.
  {name: 'unit', after: ['dns'], run: jest(['test/unit'], {keep: true, niced: 5})},
  {
    name: 'mutants',
    after: ['dns'],
    // CI does not record: it cannot commit the file of verdicts.
    run: command(
      'every mutant turns its test red',
      [node, 'test/mutants/run.ts', '--changed', ...(process.env.CI ? [] : ['--record'])],
      {
        // At 19 its operators get too little time to read what DNS has answered; at 10 the cluster's tests take a third longer.
        niced: 15,
        culprits: /NOT RED .*/g,
      },
    ),
  },
  {name: 'demo', after: [], cluster: true, vital: true, run: command('make demo', [node, 'cluster/demo.ts'])},
  {name: 'cluster', after: ['demo'], cluster: true, run: jest(['test/cluster'], {workers: 12})},
  {
    name: 'hurried',
    after: ['cluster'],
    cluster: true,
    run: installed(() => hurry, jest(['test/hurried'], {workers: 12})),
  },
  {
    name: 'shipped',
    after: ['hurried'],
    cluster: true,
    run: installed(() => 'test/shipped/values.yaml', jest(['test/shipped'])),
  },
  {
    name: 'faults',
    after: ['shipped'],
    cluster: true,
    run: () =>
      all(
        installed(edgeByService, jest(['test/faults/edge-service'])),
        installed(edgeByService, jest(['test/faults/edge-drift'])),
        installed(twoEdges, jest(['test/faults/two-edges'])),
        installed(causes, jest(['test/faults/alerts'])),
        installed(() => usual, jest(['test/faults/expiry', 'test/faults/restart'])),
        jest(['test/faults/issuer']),
        jest(['test/faults/several-cas']),
        jest(['test/faults/kills'], {workers: 1}),
      ),
  },
  // Processes and API servers of their own, beside the faults, which wait for most of their time; these have to wait where there is a choice.
  {name: 'limits', after: ['hurried', 'unit'], run: jest(['test/limits'], {keep: true, niced: 5})},
  {name: 'api', after: ['limits'], run: jestWithServers(['test/api'], {keep: true, niced: 5, workers: 3})},
  {name: 'page', after: ['limits'], run: jestWithServers(['test/page'], {keep: true, niced: 5})},
  // It waits for half of its time.
  {
    name: 'operator',
    after: ['api', 'page'],
    run: jestWithServers(['test/operator'], {keep: true, niced: 5, workers: 3}),
  },
  // Tools of others judge what is written for them: statuses, alerts, queries.
  {name: 'gitops', after: ['api', 'page'], run: jest(['test/gitops', 'test/observability'], {keep: true, niced: 5})},
  // The Dockerfile, from a checkout without anything beside it.
  {name: 'image', after: ['api', 'page'], run: jest(['test/image'], {keep: true, niced: 5})},
  // Proxies with timeouts of a second: after what keeps the processor busy.
  {name: 'authorize', after: ['operator', 'gitops'], run: jest(['test/authorize'], {keep: true})},
  {name: 'crds', after: ['authorize'], run: jestWithServers(['test/crds'], {keep: true, niced: 5, workers: 3})},
  // Four minutes at a few hundred requests a second.
  {name: 'load', after: ['api', 'page'], run: jest(['test/load'], {keep: true})},
  // By what the suites before it have made the operator write.
  {
    name: 'log',
    after: ['faults', 'dns'],
    cluster: true,
    run: () =>
      all(
        command('every reason came up', [node, 'test/reasons.ts', scratch]),
        command('tools that wait understand every status that was written', [node, 'test/gitops/written.ts']),
        command('the operator sent no unexpected request', [node, 'test/invariants.ts']),
      ),
  },
  // It sets other records than the demo, whose objects it changes.
  {
    name: 'examples',
    after: ['log'],
    cluster: true,
    run: command('examples/kind/story.sh, the part without Docker, ends with a Live hostname', [
      'bash',
      '-c',
      '. .cluster/env; DOORPLATE_IMAGE=localhost/doorplate:$(cat dist/image.tag) EDGE_HTTPS=$DOORPLATE_EDGE_HTTPS ' +
        'DNS_IP=$DOORPLATE_DNS_IP ZONE_COMMAND=$PWD/cluster/dns.sh examples/kind/story.sh',
    ]),
  },
  // It takes Doorplate away.
  {name: 'uninstall', after: ['examples'], cluster: true, run: jest(['test/uninstall'], {keep: true})},
  // It puts other kinds and policies in place of those on which the suites before it stand.
  {name: 'upgrade', after: ['uninstall'], cluster: true, run: jest(['test/upgrade'], {keep: true})},
  {name: 'nodes', after: [], cluster: true, named: true, run: jest(['test/nodes'])}, // NODES=2
  // By jest's reports of all suites that have run.
  {
    name: 'evidence',
    after: ['load', 'crds', 'uninstall'],
    run: command('every test that the docs name passed', [
      node,
      'test/evidence.ts',
      scratch,
      ...(process.argv.length > 2 ? [] : ['--all']),
    ]),
  },
];

/** The cluster's cgroup, named as in cluster/env.sh. */
const clusterGroup = (): string =>
  `doorplate-${createHash('sha256')
    .update(realpathSync(`${root}.cluster`))
    .digest('hex')
    .slice(0, 8)}`;

async function main(): Promise<number> {
  const only = process.argv.slice(2);
  const unknown = only.find((name) => !suites.some((s) => s.name === name));
  if (unknown) {
    console.error(`there is no suite ${JSON.stringify(unknown)}; there are ${suites.map((s) => s.name).join(', ')}`);
    return 2;
  }
  const wanted = suites.filter((s) => (only.length === 0 ? !s.named : only.includes(s.name)));
  const ours = wanted.some((s) => s.cluster) && !existsSync(`${root}.cluster/env.json`);
  if (wanted.some((s) => s.cluster)) {
    say('the cluster and the image');
    if ((await run('cluster/up.sh', [])) !== 0 || (await run('cluster/image.sh', [])) !== 0) {
      givenUp = 'the cluster could not be started: see the lines above and cluster/README.md';
      say(`FAILED: ${givenUp}`);
    } else usage.watch('cluster itself', clusterGroup());
  }
  const lines: string[] = [];
  const total = {passed: 0, failed: 0};
  const ended = new Map<string, Promise<void>>();
  /** What a suite waits for; for what that waits for, where it is not wanted. All of it stands before the suite in the list. */
  const before = ({after}: Suite): Promise<void>[] =>
    suites.filter((s) => after.includes(s.name)).flatMap((s) => ended.get(s.name) ?? before(s));
  const begin = async (suite: Suite): Promise<void> => {
    await Promise.all(before(suite));
    const [began, unrun] = [Date.now(), givenUp];
    if (unrun === undefined) say(`suite ${suite.name}`);
    const counts =
      unrun === undefined
        ? await suiteNow.run(suite.name, () => suite.run().catch(couldNotRun))
        : {passed: 0, failed: 1};
    if (suite.vital && counts.failed > 0) givenUp ??= `${suite.name} failed`;
    total.passed += counts.passed;
    total.failed += counts.failed;
    const took =
      unrun === undefined ? `${((Date.now() - began) / 1000).toFixed(0).padStart(4)} s` : `not run: ${unrun}`;
    lines.push(
      `${suite.name.padEnd(8)} ${String(counts.passed).padStart(5)} passed, ${String(counts.failed).padStart(3)} failed  ${took}`,
    );
    say(lines.at(-1) ?? '');
  };
  for (const suite of wanted) ended.set(suite.name, begin(suite));
  await Promise.all(ended.values());
  if (ours) await run('cluster/down.sh', [], {always: true});
  else if (standing !== undefined)
    await installed(
      () => usual,
      async () => total,
    )();
  console.log(`\n${usage.table().join('\n')}`);
  usage.stop();
  console.log(`\n${lines.join('\n')}\n${((Date.now() - started) / 60_000).toFixed(1)} minutes in all\n`);
  for (const failure of failures) console.log(`FAILED: ${failure.slice(0, 400)}`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    interrupted = true;
    givenUp ??= `ended by ${signal}`;
    for (const child of children) child.kill(signal);
  });
process.exitCode = await main();
rmSync(scratch, {recursive: true, force: true});
