/**
 * `make mutants`: each mutant (its form: mutant.ts) breaks one guarantee. The test that it names must fail with it, through an
 * assertion, and must pass without it. Mutants are applied to copies of the checkout, with its uncommitted changes.
 *
 *   node test/mutants/run.ts [NAME...]      all mutants, or those whose names contain one of these
 *   node test/mutants/run.ts --changed      only the mutants whose inputs have changed since their verdict was recorded (inputs.ts)
 *   node test/mutants/run.ts --record       write the verdicts into verdicts.json; a full run is also noted for `make release`
 *   node test/mutants/run.ts --check        check that each mutant still applies and is in its file; run no test
 */
import {execFile} from 'node:child_process';
import {cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync} from 'node:fs';
import {availableParallelism, tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import type {BrowserServer} from 'playwright-core';
import {type ApiServer, lentServers} from '../support/kube-server.ts';
import {launchShared, sharedChromium} from '../support/page-world.ts';
import {Platform} from '../support/platform.ts';
import {mustBeAtHome} from './homes.ts';
import {brokenPolicies, renderPolicies} from './manifests.ts';
import {filesOf, noteFullRun} from './full-run.ts';
import {JestProcess} from './jest-process.ts';
import {isOfPolicy, type Mutant, mustApply} from './mutant.ts';
import {allMutants} from './policy-rules.ts';
import {judgePolicies} from './policy.ts';
import {isInconclusive, judge, type Tell} from './red.ts';
import {Verdicts} from './verdicts.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const started = Date.now();
const isPure = ({test}: Mutant) => test.startsWith('test/unit/');
/** So many mutants of one test file follow each other, and share the run of its tests without one; fewer of those that wait. */
const mostInARow = {pure: 12, waiting: 6};
/** At most so many inconclusive mutants run again. More of them have a common cause that a second run does not change. */
const mostAgain = 30;
/** What never comes with a mutant is waited for so long (test/support/patience.ts): enough for what comes on a busy machine. */
const PATIENCE_MS = '30000';

/** Copies all files that git would commit, with their changes, and links the dependencies. */
async function copy(to: string): Promise<string> {
  mkdirSync(to);
  for (const path of await filesOf(root)) {
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

/** `reads` gets what their tests have read, by test file, if it is given. */
async function judgeAll(
  all: readonly Mutant[],
  tell: Tell,
  reads: Map<string, Set<string>> | undefined,
): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'doorplate-mutants-'));
  const [servers, processes, browsers]: [ApiServer[], JestProcess[], BrowserServer[]] = [[], [], []];
  const rest = all.filter((m) => !isOfPolicy(m));
  const cache = join(scratch, 'cache');
  const workers = Math.max(2, availableParallelism());
  try {
    const start = async (name: string, env: Record<string, string> = {}): Promise<JestProcess> => {
      const place = {root: await copy(join(scratch, name)), cache, env: {...env, PATIENCE_MS}};
      const jest = new JestProcess(reads ? {...place, reads} : place);
      processes.push(jest);
      return jest;
    };
    // A copy has no history of its own, out of which the release comes from which an upgrade is tried.
    const {stdout: history} = await run('git', ['rev-parse', '--absolute-git-dir'], {cwd: root});
    const chromium = all.some(({test}) => test.startsWith('test/page/')) ? await launchShared() : undefined;
    if (chromium) browsers.push(chromium);
    // An API server takes longer to start than a test to turn red: a worker's mutants have one in common.
    const startWithServer = async (name: string): Promise<JestProcess> => {
      const server = await Platform.lendServer();
      servers.push(server);
      const env = {
        [lentServers]: server.dir,
        GIT_DIR: history.trim(),
        ...(chromium && {[sharedChromium]: chromium.wsEndpoint()}),
      };
      return start(name, env);
    };
    const inconclusive = new Map<Mutant, [wrong: string, tookMs: number | undefined]>();
    const tellIfConclusive: Tell = (mutant, wrong, tookMs) => {
      if (wrong !== undefined && isInconclusive(wrong)) inconclusive.set(mutant, [wrong, tookMs]);
      else tell(mutant, wrong, tookMs);
    };
    const judgeThese = (of: readonly Mutant[], jest: JestProcess) => judge(of, jest, tellIfConclusive);
    // First what only computes: four API servers more would starve the cluster that other suites have beside this.
    const pure = byTest(rest.filter(isPure), mostInARow.pure);
    await abreast(workers, pure, (i) => start(`pure-${i}`), judgeThese);
    await judgePolicies(root, all.filter(isOfPolicy), tell);
    // These wait more than they work, and for seconds: last, when the suites that come first leave them some.
    const others = rest.filter((m) => !isPure(m));
    const waiting = byTest(others, mostInARow.waiting);
    await abreast(3 * workers, waiting, (i) => startWithServer(`waiting-${i}`), judgeThese);
    // A busy machine stops tests and API servers. One after the other, with an API server that is new, these tell more.
    if (inconclusive.size > mostAgain)
      for (const [mutant, [wrong, tookMs]] of inconclusive) tell(mutant, wrong, tookMs);
    else {
      for (const [{name}, [wrong]] of inconclusive) console.log(`runs again, alone: ${name}: ${wrong}`);
      const again = byTest([...inconclusive.keys()], mostInARow.waiting);
      await abreast(
        1,
        again,
        () => startWithServer('again'),
        (of, jest) => judge(of, jest, tell),
      );
    }
  } finally {
    await Promise.all([...processes, ...servers].map(async (o) => o.stop()));
    await Promise.all(browsers.map((browser) => browser.close()));
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
const flags = ['--check', '--changed', '--record'] as const;

async function main(args: readonly string[]): Promise<number> {
  const [check, changed, record] = flags.map((flag) => args.includes(flag));
  const wanted = args.filter((a) => !flags.some((flag) => flag === a));
  const known = await allMutants(root);
  const named = known.filter((m) => wanted.length === 0 || wanted.some((w) => m.name.includes(w)));
  if (named.length === 0) throw new Error('there is no such mutant');
  const verdicts = new Verdicts(root);
  const all = changed ? named.filter((m) => !verdicts.isCurrent(m)) : named;
  if (changed)
    console.log(
      `${all.length} mutants to run; ${named.length - all.length} were verified before, and their inputs have not changed`,
    );
  const wrongs = new Set<Mutant>();
  const tell: Tell = (mutant, wrong, tookMs) => {
    if (wrong !== undefined) wrongs.add(mutant);
    if (wrong === undefined && check) return;
    const after = tookMs === undefined ? '' : ` after ${seconds(tookMs)} s`;
    const verdict = wrong === undefined ? `red${after}` : `NOT RED${after}`;
    console.log(
      `[${seconds(Date.now() - started).padStart(6)}s] ${verdict}  ${mutant.name} (${mutant.breaks})${wrong === undefined ? '' : `: ${wrong}`}`,
    );
  };
  const reads = record ? new Map<string, Set<string>>() : undefined;
  if (check) await checkAll(all, tell);
  else await judgeAll(all, tell, reads);
  if (reads) {
    const whole = all.length === known.length;
    verdicts.noteRead(reads, {whole});
    verdicts.noteRed(all, (mutant) => !wrongs.has(mutant));
    verdicts.save(known);
    if (whole && wrongs.size === 0) await noteFullRun(root);
  }
  console.log(`${all.length - wrongs.size} passed, ${wrongs.size} failed`);
  return wrongs.size > 0 ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2)).catch((e: unknown) => {
  console.error(e instanceof Error ? e.message : e);
  return 1;
});
