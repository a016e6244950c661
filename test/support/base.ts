/** The release that upgrades are tried from: the commit that test/upgrade/BASE names. */
import {type ChildProcess, execFile, spawn} from 'node:child_process';
import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {cp, mkdir, mkdtemp, open, readFile, rename, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {freePort} from './free-ports.ts';
import {eventually} from './kube-api.ts';
import {cache} from './kube-server.ts';
import {settingsFor} from './operator.ts';
import {home, type Platform} from './platform.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

/** Package versions by where they stand, as a lock file has them. */
async function versionsIn(folder: string): Promise<Map<string, string | undefined>> {
  const {packages} = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, {version?: string}>;
  };
  return new Map(Object.entries(packages).flatMap(([path, {version}]) => (path === '' ? [] : [[path, version]])));
}

/** The sources of that release in a folder of their own, with the dependencies that they were locked to. */
export class Base {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Throws where the history does not reach back so far. */
  static async unpack(): Promise<Base> {
    const commit = (await readFile(join(root, 'test/upgrade/BASE'), 'utf8')).trim();
    await run('git', ['cat-file', '-e', `${commit}^{commit}`], {cwd: root}).catch(() => {
      throw new Error(
        `the history has no commit ${commit}, which test/upgrade/BASE names: git fetch --unshallow, or name another`,
      );
    });
    const base = new Base(await mkdtemp(join(tmpdir(), 'doorplate-base-')));
    const archive = join(base.folder, 'base.tar');
    await run('git', ['archive', '-o', archive, commit], {cwd: root});
    await run('tar', ['-xf', archive, '-C', base.folder]);
    await rm(archive);
    await base.#dependencies();
    return base;
  }

  /** Links the checkout's node_modules if its versions are equal, otherwise node_modules in the cache. */
  async #dependencies(): Promise<void> {
    const [then, now] = [await versionsIn(this.folder), await versionsIn(root)];
    const isSame = [...then].every(([path, version]) => now.get(path) === version);
    const installed = isSame ? root : await this.#installed();
    await symlink(join(installed, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** The folder in the cache where this release's dependencies are installed, one for each lock file. */
  async #installed(): Promise<string> {
    const lock = await readFile(join(this.folder, 'package-lock.json'));
    const folder = join(cache, 'base', createHash('sha256').update(lock).digest('hex').slice(0, 16));
    if (existsSync(folder)) return folder;
    await mkdir(join(cache, 'base'), {recursive: true});
    const unfinished = await mkdtemp(`${folder}-`);
    for (const file of ['package.json', 'package-lock.json']) await cp(join(this.folder, file), join(unfinished, file));
    try {
      await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {cwd: unfinished});
      await rename(unfinished, folder).catch((error: Error) => {
        // A second process can install the same dependencies first.
        if (!existsSync(folder)) throw error;
      });
    } finally {
      await rm(unfinished, {recursive: true, force: true});
    }
    return folder;
  }

  async remove(): Promise<void> {
    await rm(this.folder, {recursive: true, force: true});
  }
}

/** The operator of that release: a process of its own, as its image starts it. */
export class BaseOperator {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves when its controllers run. */
  static async start({folder}: Base, platform: Platform): Promise<BaseOperator> {
    const {server} = platform;
    const [config, kubeconfig] = [join(folder, 'config.json'), join(folder, 'kubeconfig')];
    const port = await freePort();
    await writeFile(config, JSON.stringify(settingsFor(platform)));
    const user = {'client-certificate': join(server.dir, 'admin.crt'), 'client-key': join(server.dir, 'admin.key')};
    await writeFile(kubeconfig, server.kubeconfig(user));
    const log = await open(join(folder, 'operator.log'), 'a');
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', process.execPath, 'operator/main.ts', 'operator'], {
      cwd: folder,
      stdio: ['ignore', log.fd, log.fd],
      env: {
        PATH: process.env.PATH,
        DOORPLATE_CONFIG: config,
        KUBECONFIG: kubeconfig,
        HEALTH_PORT: String(port),
        POD_NAMESPACE: home,
        POD_NAME: 'base',
      },
    });
    await log.close();
    const operator = new BaseOperator(child);
    await eventually(async () => {
      if (child.exitCode === null) return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
      throw new Error(`it has ended: ${(await readFile(join(folder, 'operator.log'), 'utf8')).slice(-2000)}`);
    }, 120_000);
    return operator;
  }

  /** In order. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await gone;
  }
}
