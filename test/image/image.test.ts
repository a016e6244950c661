/**
 * The image as the Dockerfile alone builds it, from a copy of the files that git has, with buildah and the stand-in for the base image
 * (cluster/base.sh). npm's cache and settings come from this machine, as volumes.
 */
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {execFileSync, spawnSync} from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'doorplate-image-'));
const image = `localhost/doorplate-test:${process.pid}`;

/** Runs a script with the functions of cluster/base.sh; returns its output. */
const bash = (script: string): string =>
  execFileSync('bash', ['-c', `. cluster/env.sh; . cluster/base.sh; ${script}`], {
    cwd: root,
    env: {...process.env, image, folder},
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 << 20,
  }).toString();

let container = '';
/** Where the image's files are. */
let files = '';
/** All paths in the image, before anything has run in it. */
let paths: string[] = [];

/** A setting of this machine's npm. */
const npm = (name: string): string => execFileSync('npm', ['config', 'get', name], {cwd: root}).toString().trim();

beforeAll(() => {
  const settings = ['cache=/npm-cache', 'prefer-offline=true', `registry=${npm('registry')}`];
  const cafile = npm('cafile');
  if (existsSync(cafile)) settings.push('cafile=/npm-ca.crt');
  writeFileSync(join(folder, 'npmrc'), settings.join('\n'));
  // npm creates it with its first download only, and a volume needs it.
  mkdirSync(npm('cache'), {recursive: true});
  const volumes = [`${npm('cache')}:/npm-cache`, `${folder}/npmrc:/usr/local/etc/npmrc:ro`];
  if (existsSync(cafile)) volumes.push(`${cafile}:/npm-ca.crt:ro`);

  // Each stage has a name: its layers outlive this run, and the next run removes those that it replaces. The last stage is built without
  // cached layers, because buildah 1.28 takes a cached label although a build argument in it has changed.
  container = bash(`
    mkdir $folder/checkout
    git ls-files -z --cached --others --exclude-standard | tar --null -T - --ignore-failed-read -cf - 2>/dev/null | tar -xf - -C $folder/checkout
    stand_in "$(dpkg --print-architecture)" >&2
    for stage in packages bundle rootfs; do
      name=localhost/doorplate-test-$stage:latest
      before=$(bh images -q $name 2>/dev/null || true)
      bh build -q --layers ${volumes.map((volume) => `-v ${volume}`).join(' ')} --target $stage -t $name $folder/checkout >/dev/null
      [ -z "$before" ] || [ "$before" = "$(bh images -q $name)" ] || bh rmi "$before" >/dev/null 2>&1 || true
    done
    stages=$(printf -- '--build-context %s=container-image://localhost/doorplate-test-%s:latest ' bundle{,} rootfs{,})
    bh build -q --ignorefile /dev/null $stages --build-arg VERSION=1.2.3 --build-arg SOURCE=https://git.example.com/doorplate \
      -t $image $folder/checkout >/dev/null
    bh from $image`).trim();
  files = bash(`bh mount ${container}`).trim();
  paths = globSync('**', {cwd: files}).toSorted();
}, 600_000);

afterAll(() => {
  rmSync(folder, {recursive: true, force: true});
  // After a failed build, containers can be missing. The test then reports the error of the build.
  if (files) bash(`bh umount ${container} >/dev/null`);
  if (container) bash(`bh rm ${container} >/dev/null`);
  bash('! bh images -q $image >/dev/null 2>&1 || bh rmi $image >/dev/null');
});

/** Runs a command in the image, as the image's user. */
const run = (...command: string[]) => {
  const line = `. cluster/env.sh; . cluster/base.sh; bh run ${container} -- "$@"`;
  const {status, stdout} = spawnSync('bash', ['-c', line, 'bash', ...command], {cwd: root});
  return {status, stdout: stdout.toString()};
};

describe('The image that the Dockerfile builds from a checkout', () => {
  test('runs the version of Node.js that the tests use, as a user without rights', () => {
    expect(run('/usr/local/bin/node', '-p', 'process.version+process.getuid()')).toEqual({
      status: 0,
      stdout: `${process.version}65532\n`,
    });
    expect(run('/usr/local/bin/node', '/app/main.js', '--help').stdout).toMatch(/^usage: doorplate ROLE/);
  });

  test('has one program, and no shell, package manager or module beside the bundle', () => {
    const programs = paths.filter((path) => {
      const found = statSync(`${files}/${path}`, {throwIfNoEntry: false});
      return found?.isFile() && found.mode & 0o111 && !/\.so(\.|$)/.test(path);
    });
    expect(programs).toEqual(['usr/local/bin/node']);
    expect(paths.filter((path) => /node_modules|\.node$/.test(path))).toEqual([]);
  });

  test('has the bundle that `make image` and `make release` put into theirs', () => {
    execFileSync('cluster/bundle.sh', [join(folder, 'app')], {cwd: root});
    const {status, stdout} = spawnSync('diff', ['-r', '-q', join(folder, 'app'), `${files}/app`]);
    expect({status, stdout: stdout.toString()}).toEqual({status: 0, stdout: ''});
  });

  test('has the licence of each package that the bundle contains', () => {
    const texts = readFileSync(`${files}/app/licenses.txt`, 'utf8')
      .split(`\n${'-'.repeat(80)}\n\n`)
      .slice(1);
    const names = texts.map((text) => text.split(' ')[0]);
    const looked = [
      'fastify',
      'undici',
      'zod',
      '@kubernetes/client-node',
      'react',
      'wouter',
      'esbuild',
      'vite',
      'jest',
    ];
    expect(looked.filter((name) => names.includes(name))).toEqual(looked.slice(0, 6));
    expect(texts.filter((text) => text.split('\n').length < 3)).toEqual([]);
    expect(existsSync(`${files}/app/LICENSE`)).toBe(true);
  });

  test('names its Debian packages where scanners look, each with its licence', () => {
    const packages = readdirSync(`${files}/var/lib/dpkg/status.d`);
    expect(packages).toEqual(expect.arrayContaining(['base-files', 'libc6', 'libgcc-s1', 'libstdc++6']));
    for (const name of packages) {
      const entry = readFileSync(`${files}/var/lib/dpkg/status.d/${name}`, 'utf8');
      expect(entry).toMatch(new RegExp(`^Package: ${name.replaceAll('+', '\\+')}$`, 'm'));
      expect(entry).toMatch(/^Version: \S+$/m);
      expect(statSync(`${files}/usr/share/doc/${name}/copyright`).size).toBeGreaterThan(100);
    }
    expect(statSync(`${files}/usr/share/doc/node/copyright`).size).toBeGreaterThan(100_000);
    expect(readFileSync(`${files}/etc/debian_version`, 'utf8')).toMatch(/^12\./);
  });

  test('has the labels of its builder, and nothing of the machine that built it', () => {
    const {OCIv1} = JSON.parse(bash('bh inspect --type image $image')) as {OCIv1: {config: object}};
    expect(OCIv1.config).toMatchObject({
      User: '65532:65532',
      Entrypoint: ['/usr/local/bin/node', '--enable-source-maps', '/app/main.js'],
      Labels: {
        'org.opencontainers.image.title': 'doorplate',
        'org.opencontainers.image.licenses': 'Apache-2.0',
        'org.opencontainers.image.version': '1.2.3',
        'org.opencontainers.image.source': 'https://git.example.com/doorplate',
        'org.opencontainers.image.base.name': expect.stringMatching(/^node:.*-bookworm-slim$/),
      },
    });
    expect(paths.filter((path) => !path.includes('/'))).toEqual(['.', 'app', 'etc', 'lib', 'lib64', 'usr', 'var']);
  });
});

test('The version of Node.js in the Dockerfile is the one of package.json', () => {
  const {devDependencies} = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  expect(readFileSync(`${root}Dockerfile`, 'utf8')).toContain(`\nARG NODE_VERSION=${devDependencies.node}\n`);
});
