/**
 * `make mutants`: each patch beside this file breaks one rule of the design in a way that somebody could; the test that it
 * names must turn red by it, and must be green without it. Works on copies of the checkout as it stands, uncommitted
 * changes among it; the checkout itself is not touched.
 *
 *   node test/mutants/run.ts [NAME...]      only the patches whose names contain one of these
 *
 * A patch is a unified diff (git apply -p1 -C1: what stands around a change may have changed) under two lines:
 *   # breaks: <the rule>
 *   # red: <test file> › <describe> › <test>
 * Those of the admission policy name a row of its table, `test/cluster/policy.test.ts › <row>`: see policy.ts.
 */
import {execFile} from 'node:child_process';
import {cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync} from 'node:fs';
import {availableParallelism, tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {judgePolicies} from './policy.ts';

const run = promisify(execFile);
const here = fileURLToPath(new URL('./', import.meta.url));
const root = join(here, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'doorplate-mutants-'));
const started = Date.now();

interface Mutant {
  name: string;
  file: string;
  breaks: string;
  test: string;
  title: string;
}

function read(name: string): Mutant {
  const file = join(here, name);
  const head = readFileSync(file, 'utf8');
  const breaks = /^# breaks: (.+)$/m.exec(head)?.[1];
  const [test, ...title] = /^# red: (.+)$/m.exec(head)?.[1]?.split(' › ') ?? [];
  if (breaks === undefined || test === undefined || title.length === 0)
    throw new Error(`${name}: it must say "# breaks: RULE" and "# red: FILE › TEST"`);
  return {name: name.replace(/\.patch$/, ''), file, breaks, test, title: title.join(' › ')};
}

/** Everything that git would take, as it stands on disk, and the dependencies by a link. */
async function copy(to: string): Promise<void> {
  const {stdout} = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    maxBuffer: 1 << 26,
  });
  for (const path of new Set(stdout.split('\0'))) {
    if (path === '' || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(to, path)), {recursive: true});
    cpSync(join(root, path), join(to, path));
  }
  symlinkSync(join(root, 'node_modules'), join(to, 'node_modules'));
}

type Verdicts = ReadonlyMap<string, string>;

/** What became of the tests of a file that have these titles. Empty where the file does not load. */
async function jest(copyOf: string, test: string, titles: readonly string[]): Promise<Verdicts> {
  const report = join(copyOf, 'mutants-report.json');
  rmSync(report, {force: true});
  const only = [
    '-t',
    `^(${titles.map((t) => t.replaceAll(' › ', ' ').replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})$`,
  ];
  const flags = [
    '--testTimeout=120000',
    '--runInBand',
    '--silent',
    '--ci',
    '--json',
    `--outputFile=${report}`,
    '--cacheDirectory',
    join(scratch, 'cache'),
  ];
  await run(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      'node_modules/jest/bin/jest.js',
      '--rootDir',
      copyOf,
      '--runTestsByPath',
      join(copyOf, test),
      ...only,
      ...flags,
    ],
    {cwd: copyOf, maxBuffer: 1 << 26, timeout: 300_000},
  ).catch(() => {});
  if (!existsSync(report)) return new Map();
  const {testResults} = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: {assertionResults: {ancestorTitles: string[]; title: string; status: string}[]}[];
  };
  return new Map(
    testResults.flatMap((r) =>
      r.assertionResults.map((a): [string, string] => [[...a.ancestorTitles, a.title].join(' › '), a.status]),
    ),
  );
}

const baselines = new Map<string, Promise<Verdicts>>();

/** What is wrong with a mutant, or undefined when its test turns red by it and by nothing else. */
async function judge(mutant: Mutant, copyOf: string): Promise<string | undefined> {
  // One baseline for all mutants of a file, of a copy that nothing else changes meanwhile.
  let baseline = baselines.get(mutant.test);
  if (!baseline)
    baselines.set(
      mutant.test,
      (baseline = jest(copyOf, mutant.test, [
        ...new Set(mutants.filter((m) => m.test === mutant.test).map((m) => m.title)),
      ])),
    );
  const before = (await baseline).get(mutant.title);
  if (before !== 'passed')
    return before === undefined
      ? `there is no such test: ${mutant.test} › ${mutant.title}`
      : `its test is ${before} without it: ${mutant.title}`;
  let after: string | undefined;
  try {
    await broken(mutant, copyOf, async () => {
      after = (await jest(copyOf, mutant.test, [mutant.title])).get(mutant.title);
    });
  } catch (e) {
    return (e as Error).message;
  }
  if (after === undefined) return `its test did not run: ${mutant.test} does not load with it`;
  return after === 'failed' ? undefined : `SURVIVED: ${mutant.title}`;
}

/** Does something while a mutant is applied to a copy. Throws when it does not apply. */
async function broken({file}: Mutant, copyOf: string, work: () => Promise<void>): Promise<void> {
  const git = (...args: string[]) =>
    run('git', ['apply', ...args, '-p1', '-C1', file], {
      cwd: copyOf,
      env: {...process.env, GIT_CEILING_DIRECTORIES: scratch},
    });
  await git().catch((e: {stderr?: string}) => {
    throw new Error(`does not apply: ${e.stderr?.trim().split('\n')[0] ?? String(e)}`);
  });
  try {
    await work();
  } finally {
    await git('-R');
  }
}

function tell({name, breaks}: Mutant, wrong: string | undefined): void {
  if (wrong === undefined) passed++;
  else failed++;
  console.log(
    `[${((Date.now() - started) / 1000).toFixed(1).padStart(6)}s] ${wrong === undefined ? 'red' : 'NOT RED'}  ${name} (${breaks})${wrong === undefined ? '' : `: ${wrong}`}`,
  );
}

const wanted = process.argv.slice(2);
let [passed, failed] = [0, 0];
let mutants: Mutant[] = [];
try {
  mutants = readdirSync(here)
    .filter((f) => f.endsWith('.patch'))
    .toSorted()
    .map(read)
    .filter((m) => wanted.length === 0 || wanted.some((w) => m.name.includes(w)));
  if (mutants.length === 0) throw new Error('there is no such patch');
  const ofPolicy = mutants.filter((m) => m.test === 'test/cluster/policy.test.ts');
  const queue = mutants.filter((m) => !ofPolicy.includes(m));
  const workers = Array.from({length: Math.min(queue.length, Math.max(2, availableParallelism()))}, async (_, i) => {
    const copyOf = join(scratch, String(i));
    mkdirSync(copyOf);
    await copy(copyOf);
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) tell(mutant, await judge(mutant, copyOf));
  });
  await Promise.all(workers);
  if (ofPolicy.length > 0) {
    const copyOf = join(scratch, 'policy');
    mkdirSync(copyOf);
    await copy(copyOf);
    await judgePolicies(copyOf, ofPolicy, (mutant, work) => broken(mutant, copyOf, work), tell);
  }
} catch (e) {
  failed++;
  console.error(e instanceof Error ? e.message : e);
} finally {
  rmSync(scratch, {recursive: true, force: true});
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
