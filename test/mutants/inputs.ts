/**
 * The inputs of a mutant's verdict: all files on which it depends. A verdict is valid until one of them changes.
 *
 * - The mutant itself: its edits, its test and the test's title.
 * - The test file and all modules that it imports, directly or not. They are found in the sources.
 * - The files and folders that the test reads while it runs: the chart, kinds, examples, scripts. They are observed when verdicts are
 *   recorded ({@link ReadTrace}), whichever process reads them.
 * - The tools: dependencies, the cluster's binaries, the runner of the mutants.
 *
 * A module counts by its code: comments, types, layout and the folder that it is in do not change a verdict. Tests that read sources as
 * text ({@link readsText}) are the exception.
 *
 * Not among them: Debian's packages (Chromium, redis-server, nginx), whose versions change on a machine at any time, and the network.
 */
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, dirname, join, normalize} from 'node:path';
import {transformSync} from '@swc/core';
import {isOfPolicy, type Mutant} from './mutant.ts';

/** Paths below the checkout; a folder ends with `/`. As the input of a test it stands for all files below it. */
const tools = [
  'package.json',
  'package-lock.json',
  'jest.config.js',
  'test/jest/',
  'test/mutants/jest-child.ts',
  'test/mutants/jest-process.ts',
  'test/mutants/matching.ts',
  'test/mutants/mutant.ts',
  'test/mutants/red.ts',
  'test/mutants/symbols.ts',
  'cluster/build.sh',
  'cluster/versions.env',
  'cluster/modules/',
];

/** What tests of a folder use without reading it themselves: API servers are lent with the kinds, Go programs are built beforehand. */
const alsoUsed: readonly [string, readonly string[]][] = [
  ['test/operator/', ['crds/']],
  ['test/api/', ['crds/']],
  ['test/page/', ['crds/', 'dashboard/']],
  ['test/crds/', ['crds/']],
  ['test/gitops/', ['test/gitops/']],
];

const ofPolicy = [
  'charts/doorplate/',
  'crds/',
  'examples/demo/values.yaml',
  'test/mutants/manifests.ts',
  'test/mutants/policy.ts',
  'test/mutants/policy-rows.ts',
  'test/mutants/policy-rules.ts',
];

/** Tests that read sources as text. For them a comment is an input too, and a script of package.json. */
const readsText: ReadonlySet<string> = new Set([
  'test/unit/docs-pages.test.ts',
  'test/unit/house.test.ts',
  'test/unit/sbom.test.ts',
]);

/** A module that is imported by its path. Types alone are erased before Node.js loads a module, so they are not inputs. */
const imported =
  /\b(?:import|export)(?!\s+type\b)\s*(?:[^'";]*?\bfrom\s*)?['"](\.[^'"]+)['"]|\b(?:import|new URL)\(\s*['"](\.[^'"]+\.[jt]sx?)['"]/g;

const isModule = (path: string): boolean => /\.[jt]sx?$/.test(path);

/** A module's code without comments, types and layout. Throws when the text is not TypeScript. */
const codeOf = (path: string, text: string): string =>
  transformSync(text, {
    filename: path,
    swcrc: false,
    configFile: false,
    minify: true,
    jsc: {
      target: 'es2024',
      parser: {syntax: 'typescript', tsx: path.endsWith('x')},
      transform: {verbatimModuleSyntax: true},
      minify: {compress: false, mangle: false},
    },
  }).code;

/** An import with the name of its module's file alone. */
const withoutFolder = (whole: string, from?: string, dynamic?: string): string => {
  const path = (from ?? dynamic)!;
  return whole.replace(path, basename(path));
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Reads a checkout's files, each once. */
export class Inputs {
  readonly #root: string;
  readonly #texts = new Map<string, string | undefined>();
  readonly #closures = new Map<string, readonly string[]>();
  readonly #digests = new Map<string, string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** A test file and the modules that it imports, directly or not, sorted. */
  modulesOf(file: string): readonly string[] {
    const known = this.#closures.get(file);
    if (known) return known;
    const found = new Set([file]);
    // A set hands out what is added while it is walked.
    for (const path of found)
      for (const next of this.#importsOf(path)) if (this.#text(next) !== undefined) found.add(next);
    const sorted = [...found].toSorted();
    this.#closures.set(file, sorted);
    return sorted;
  }

  /** The digest of a mutant and its inputs. `read`: what its test reads besides its modules. */
  digestOf(mutant: Mutant, read: readonly string[]): string {
    const {test, title, edits} = mutant;
    const asText = readsText.has(test);
    const own = isOfPolicy(mutant) ? ofPolicy : (alsoUsed.find(([folder]) => test.startsWith(folder))?.[1] ?? []);
    const modules = isOfPolicy(mutant) ? this.modulesOf('test/mutants/policy.ts') : this.modulesOf(test);
    const others = [...new Set([...read, ...own, ...tools])].filter((path) => !modules.includes(path)).toSorted();
    const hash = createHash('sha256').update(
      JSON.stringify({test: basename(test), title, edits: edits.map((edit) => ({...edit, file: basename(edit.file)}))}),
    );
    const line = (path: string) => `${basename(path)} ${asText ? this.#digest(path) : this.#linked(path)}`;
    for (const text of modules.map(line).toSorted()) hash.update(`\n${text}`);
    for (const path of others) hash.update(`\n${path} ${asText ? this.#digest(path) : this.#meaning(path)}`);
    return hash.digest('hex').slice(0, 16);
  }

  /** The digest of the part of a file, or of all files in a folder, that can change a verdict. */
  #meaning(path: string): string {
    return this.#once(`meaning ${path}`, () => {
      if (path === 'package.json') return sha256(withoutScripts(this.#text(path)) ?? 'absent');
      if (path.endsWith('/') && !path.endsWith('//'))
        return sha256(this.#folder(path, (inside) => this.#meaning(inside)) ?? 'absent');
      const code = isModule(path) ? this.#code(path) : undefined;
      return code === undefined ? this.#digest(path) : sha256(code.replace(imported, withoutFolder));
    });
  }

  /** The digest of a module and of its imports, so that no other module can take the place of an import. */
  #linked(path: string): string {
    const imports = this.#importsOf(path).map((of) => this.#meaning(of));
    return sha256([this.#meaning(path), ...imports].join(' '));
  }

  /** A module's code; undefined if there is no such module. */
  #code(path: string): string | undefined {
    const text = this.#text(path);
    if (text === undefined) return undefined;
    return this.#once(`code ${path}`, () => codeOf(path, Buffer.from(text, 'latin1').toString()));
  }

  #importsOf(path: string): string[] {
    if (!isModule(path)) return [];
    return [...(this.#text(path) ?? '').matchAll(imported)].map(([, from, dynamic]) =>
      normalize(join(dirname(path), (from ?? dynamic)!)),
    );
  }

  /** Of a file its text; of a folder the names in it, or, where all files below it are inputs, these. */
  #digest(path: string): string {
    return this.#once(path, () => sha256(this.#contents(path) ?? 'absent'));
  }

  #once(name: string, compute: () => string): string {
    const known = this.#digests.get(name);
    if (known !== undefined) return known;
    const computed = compute();
    this.#digests.set(name, computed);
    return computed;
  }

  #contents(path: string): string | undefined {
    if (!path.endsWith('/')) return this.#text(path);
    if (path.endsWith('//')) return namesIn(join(this.#root, path))?.join('\n');
    return this.#folder(path, (inside) => this.#digest(inside));
  }

  #folder(path: string, digest: (inside: string) => string): string | undefined {
    return namesIn(join(this.#root, path))
      ?.map((name) => `${name} ${digest(path + name)}`)
      .join('\n');
  }

  #text(path: string): string | undefined {
    if (!this.#texts.has(path)) {
      const file = join(this.#root, path);
      this.#texts.set(
        path,
        statSync(file, {throwIfNoEntry: false})?.isFile() ? readFileSync(file, 'latin1') : undefined,
      );
    }
    return this.#texts.get(path);
  }
}

/** package.json without its scripts. */
const withoutScripts = (text: string | undefined): string | undefined =>
  text && JSON.stringify({...(JSON.parse(text) as Record<string, unknown>), scripts: undefined});

/** What is in a folder, sorted; folders end with `/`. Undefined when there is no such folder. */
function namesIn(folder: string): string[] | undefined {
  if (!statSync(folder, {throwIfNoEntry: false})?.isDirectory()) return undefined;
  return readdirSync(folder, {withFileTypes: true})
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .filter((name) => !/^(node_modules|dist|\.git|\.cluster)\/?$/.test(name))
    .toSorted();
}

/**
 * Which files of a copy of the checkout are read, by whichever process: the kernel notes the time of access. Linux mounts with
 * `relatime` by default, where a file's time of access is set when it is not later than the time of its last change.
 */
export class ReadTrace {
  readonly #root: string;
  readonly #paths: readonly string[];

  /** Throws when the file system of the copy does not note times of access. */
  constructor(root: string) {
    this.#root = root;
    const walk = (folder: string): string[] =>
      (namesIn(join(root, folder)) ?? []).flatMap((name) =>
        name.endsWith('/') ? [folder + name, ...walk(folder + name)] : [folder + name],
      );
    this.#paths = walk('');
    const probe = mkdtempSync(join(tmpdir(), 'doorplate-atime-'));
    writeFileSync(join(probe, 'file'), 'x');
    touch(probe, ['file']);
    readFileSync(join(probe, 'file'));
    const noted = statSync(join(probe, 'file')).atimeMs > 0;
    rmSync(probe, {recursive: true});
    if (!noted)
      throw new Error(
        `${tmpdir()} is mounted with noatime, so reads cannot be observed: set TMPDIR to a folder without it`,
      );
  }

  /** Forgets what has been read so far. */
  begin(): void {
    touch(this.#root, this.#paths);
  }

  /** What has been read since {@link begin}; a folder whose names were read ends with `//`. */
  read(): string[] {
    return this.#paths.flatMap((path) => {
      const atimeMs = statSync(join(this.#root, path), {throwIfNoEntry: false})?.atimeMs ?? 0;
      if (atimeMs === 0) return [];
      return path.endsWith('/') ? `${path}/` : path;
    });
  }
}

const touch = (cwd: string, paths: readonly string[]): void => {
  execFileSync('touch', ['-a', '-d', '@0', '--', ...paths], {cwd});
};
