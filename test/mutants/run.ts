/**
 * `make mutants`: each mutant (its form: mutant.ts) breaks one rule of the design in a way that somebody could; the test that it
 * names must turn red by it, by an assertion, and must be green without it. Works on copies of the checkout as it stands,
 * uncommitted changes among it; the checkout itself is not touched.
 *
 *   node test/mutants/run.ts [NAME...]      only the mutants whose names contain one of these
 *   node test/mutants/run.ts --check        does each of them still apply, and is in its file? Runs no test
 */
import {execFile} from 'node:child_process';
import {cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync} from 'node:fs';
import {availableParallelism, tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {type ApiServer, lentServers} from '../support/kube-server.ts';
import {Platform} from '../support/platform.ts';
import {mustBeAtHome} from './homes.ts';
import {brokenPolicies, renderPolicies} from './manifests.ts';
import {JestProcess} from './jest-process.ts';
import {isOfPolicy, type Mutant, mustApply, mutants} from './mutant.ts';
import {judgePolicies} from './policy.ts';
import {judge, type Tell} from './red.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const started = Date.now();
const isPure = ({test}: Mutant) => test.startsWith('test/unit/');
/** So many mutants of one test file follow each other, and share the run of its tests without one; fewer of those that wait. */
const mostInARow = {pure: 12, waiting: 6};
/** What never comes with a mutant is waited for so long (test/support/patience.ts): enough for what comes on a busy machine. */
const PATIENCE_MS = '30000';

/** Everything that git would take, as it stands on disk, and the dependencies by a link. */
async function copy(to: string): Promise<string> {
  mkdirSync(to);
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
  return to;
}

/** Works on all items, some at a time, each worker with what it has made for itself. */
async function abreast<T, W>(
  workers: number,
  items: readonly T[],
  make: (worker: number) => Promise<W>,
  work: (item: T, by: W) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const ends = await Promise.allSettled(
    Array.from({length: Math.min(queue.length, workers)}, async (_, i) => {
      try {
        const own = await make(i);
        for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item, own);
      } catch (error) {
        queue.length = 0;
        throw error;
      }
    }),
  );
  // Only now: what another was making when one failed is there to be stopped.
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** A page that is broken is looked at for longest. */
const isOfPage = ([mutant]: readonly Mutant[]) => Number(mutant?.test.startsWith('test/page/'));

/** Mutants of one test file each, at most so many, and those first that take longest, so that the last to end is a small one. */
function byTest(all: readonly Mutant[], most: number): Mutant[][] {
  const files = Map.groupBy(all, ({test}) => test);
  return [...files.values()]
    .flatMap((of) => Array.from({length: Math.ceil(of.length / most)}, (_, i) => of.slice(i * most, (i + 1) * most)))
    .toSorted((a, b) => isOfPage(b) - isOfPage(a) || b.length - a.length);
}

async function judgeAll(all: readonly Mutant[], tell: Tell): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'doorplate-mutants-'));
  const [servers, processes]: [ApiServer[], JestProcess[]] = [[], []];
  const rest = all.filter((m) => !isOfPolicy(m));
  const cache = join(scratch, 'cache');
  const workers = Math.max(2, availableParallelism());
  try {
    const start = async (name: string, env: Record<string, string> = {}): Promise<JestProcess> => {
      const jest = new JestProcess({root: await copy(join(scratch, name)), cache, env: {...env, PATIENCE_MS}});
      processes.push(jest);
      return jest;
    };
    // A copy has no history of its own, out of which the release comes from which an upgrade is tried.
    const {stdout: history} = await run('git', ['rev-parse', '--absolute-git-dir'], {cwd: root});
    // An API server takes longer to start than a test to turn red: a worker's mutants have one in common.
    const startWithServer = async (name: string): Promise<JestProcess> => {
      const server = await Platform.lendServer();
      servers.push(server);
      const env = {[lentServers]: server.dir, GIT_DIR: history.trim()};
      return start(name, env);
    };
    const judgeThese = (of: readonly Mutant[], jest: JestProcess) => judge(of, jest, tell);
    // First what only computes: four API servers more would starve the cluster that other suites have beside this.
    const pure = byTest(rest.filter(isPure), mostInARow.pure);
    await abreast(workers, pure, (i) => start(`pure-${i}`), judgeThese);
    await judgePolicies(root, all.filter(isOfPolicy), tell);
    // These wait more than they work, and for seconds: last, when the suites that come first leave them some.
    const others = rest.filter((m) => !isPure(m));
    const waiting = byTest(others, mostInARow.waiting);
    await abreast(3 * workers, waiting, (i) => startWithServer(`waiting-${i}`), judgeThese);
  } finally {
    await Promise.all([...processes, ...servers].map(async (o) => o.stop()));
    rmSync(scratch, {recursive: true, force: true});
  }
}

/** Tells of each mutant why it can't be applied to the checkout, or undefined. */
async function checkAll(all: readonly Mutant[], tell: Tell): Promise<void> {
  const rendered = all.some(isOfPolicy) ? await renderPolicies(root) : [];
  for (const mutant of all)
    try {
      if (!existsSync(join(root, mutant.test))) throw new Error(`there is no ${mutant.test}`);
      mustBeAtHome(mutant);
      if (isOfPolicy(mutant)) brokenPolicies(rendered, mutant.edits);
      else mustApply(mutant, root);
      tell(mutant, undefined);
    } catch (e) {
      tell(mutant, (e as Error).message);
    }
}

const seconds = (ms: number) => (ms / 1000).toFixed(1);

async function main(args: readonly string[]): Promise<number> {
  const check = args.includes('--check');
  const wanted = args.filter((a) => a !== '--check');
  const all = mutants().filter((m) => wanted.length === 0 || wanted.some((w) => m.name.includes(w)));
  if (all.length === 0) throw new Error('there is no such mutant');
  let failed = 0;
  const tell: Tell = ({name, breaks}, wrong, tookMs) => {
    if (wrong !== undefined) failed++;
    if (wrong === undefined && check) return;
    const after = tookMs === undefined ? '' : ` after ${seconds(tookMs)} s`;
    const verdict = wrong === undefined ? `red${after}` : `NOT RED${after}`;
    console.log(
      `[${seconds(Date.now() - started).padStart(6)}s] ${verdict}  ${name} (${breaks})${wrong === undefined ? '' : `: ${wrong}`}`,
    );
  };
  if (check) await checkAll(all, tell);
  else await judgeAll(all, tell);
  console.log(`${all.length - failed} passed, ${failed} failed`);
  return failed > 0 ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2)).catch((e: unknown) => {
  console.error(e instanceof Error ? e.message : e);
  return 1;
});
