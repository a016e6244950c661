/**
 * A release demands that all mutants were red with the very files that are released. A full run of the mutants notes a digest of
 * these files in dist/mutants; `make release` calls this program, which compares it.
 *
 *   node test/mutants/full-run.ts      exits 1, and names the remedy, unless all mutants were red with the files of this checkout
 */
import {execFile} from 'node:child_process';
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';

const run = promisify(execFile);
const note = 'dist/mutants';
/** A full run writes this file itself. */
const written = 'test/mutants/verdicts.json';

/** All files of a checkout that git would commit, as they are on disk: paths below it. */
export async function filesOf(root: string): Promise<string[]> {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const {stdout} = await run('git', list, {cwd: root, maxBuffer: 1 << 26});
  return [...new Set(stdout.split('\0'))].filter((path) => path !== '' && existsSync(join(root, path)));
}

async function digestOf(root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const path of (await filesOf(root)).toSorted())
    if (path !== written) hash.update(`${path}\0`).update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

/** Notes that all mutants were red with the files of a checkout. */
export async function noteFullRun(root: string): Promise<void> {
  mkdirSync(join(root, 'dist'), {recursive: true});
  writeFileSync(join(root, note), await digestOf(root));
}

/** Whether all mutants were red with the files that a checkout has now. */
export async function hadFullRun(root: string): Promise<boolean> {
  return existsSync(join(root, note)) && readFileSync(join(root, note), 'utf8') === (await digestOf(root));
}

if (
  process.argv[1] === fileURLToPath(import.meta.url) &&
  !(await hadFullRun(fileURLToPath(new URL('../../', import.meta.url))))
) {
  console.error(
    'This commit is not verified by all mutants. Run `make mutants` on it first (25 minutes), then `make release` again.',
  );
  process.exitCode = 1;
}
