import {execFile} from 'node:child_process';
import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync} from 'node:fs';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';

const run = promisify(execFile);

/** Installs what a lock file has into a folder, unless somebody has. */
const install = `set -e
[ ! -e "$2/done" ] || exit 0
rm -rf "$2"
mkdir -p "$2"
cp "$1/package.json" "$1/package-lock.json" "$2"
npm ci --prefix "$2" --no-audit --no-fund --loglevel=error
touch "$2/done"`;

/**
 * Packages that the checkout itself must not have, such as another version of TypeScript: those of a folder with `package.json` and
 * `package-lock.json`, in the cache. Returns their `node_modules`.
 */
export async function fromNpm(folder: string): Promise<string> {
  const lock = readFileSync(join(folder, 'package-lock.json'));
  const cache = join(process.env.DOORPLATE_CACHE || join(homedir(), '.cache/doorplate'), 'npm');
  const to = join(cache, createHash('sha256').update(lock).digest('hex').slice(0, 16));
  mkdirSync(cache, {recursive: true});
  await run('flock', [`${to}.lock`, 'bash', '-c', install, 'install', folder, to], {timeout: 900_000});
  return join(to, 'node_modules');
}
