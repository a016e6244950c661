/** The npm package of the plugin in an empty folder, without the checkout and its dependencies; and the manifest for krew. */
import {execFile, execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {bundle, krewManifest, npmPackage} from '../../../cluster/plugin.ts';
import {version} from '../../../operator/version.ts';

let folder: string;
let server: Server;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-package-'));
  const bundled = join(folder, 'bundled');
  mkdirSync(bundled);
  await bundle(bundled);
  execFileSync('tar', ['-xzf', join(folder, npmPackage(bundled, folder)), '-C', folder]);
  rmSync(bundled, {recursive: true});
  server = createServer((_, answer) =>
    answer.end(JSON.stringify({metadata: {labels: {'app.kubernetes.io/version': '9.8.7'}}})),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as AddressInfo;
  const config = {
    'current-context': 'a',
    clusters: [{name: 'a', cluster: {server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true}}],
    users: [{name: 'a', user: {token: 't'}}],
    contexts: [{name: 'a', context: {cluster: 'a', user: 'a', namespace: 'acme'}}],
  };
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(config));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, {recursive: true});
});

const run = (file: string, ...args: string[]): Promise<{code: number; stdout: string; stderr: string}> =>
  new Promise((resolve) => {
    const env = {HOME: folder, KUBECONFIG: join(folder, 'kubeconfig')};
    execFile(process.execPath, [join(folder, 'package', file), ...args], {cwd: folder, env}, (error, stdout, stderr) =>
      resolve({code: error ? Number(error.code) : 0, stdout, stderr}),
    );
  });

const read = (file: string) => readFileSync(join(folder, 'package', file), 'utf8');

test('shows both versions, and so reads a kubeconfig and asks a cluster', async () => {
  const both = `Client: ${version}\nServer: 9.8.7\n`;
  expect(await run('main.js', 'version')).toEqual({code: 0, stdout: both, stderr: ''});
});

test('has its help, its exit codes and the modules that a command imports when it runs', async () => {
  const [help, wrong, checked] = await Promise.all([
    run('main.js', '--help'),
    run('main.js', 'nonsense'),
    run('main.js', 'check', 'docs.example.com'),
  ]);
  expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('Usage: kubectl doorplate')]);
  expect(wrong.code).toBe(2);
  expect([checked.code, checked.stderr]).toEqual([
    1,
    expect.stringContaining("the platform's settings could not be read"),
  ]);
});

test('completes a command line by the program that kubectl runs for that', async () => {
  expect(await run('complete.js', 'vers')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^version\t.*\n:4\n$/),
  });
});

test('declares its programs, and contains its licence and the licences of the packages in it', () => {
  const {bin, dependencies} = JSON.parse(read('package.json')) as {bin: object; dependencies?: object};
  expect(Object.keys(bin)).toEqual(['kubectl-doorplate', 'kubectl_complete-doorplate']);
  expect(dependencies).toBeUndefined();
  expect(read('main.js')).toMatch(/^#!\/usr\/bin\/env node\n/);
  expect(read('LICENSE')).toContain('Apache License');
  for (const name of ['commander', 'undici', 'zod']) expect(read('licenses.txt')).toContain(`${name} `);
});

test('the manifest for krew names an archive with its checksum for each platform', () => {
  const names = ['linux-amd64', 'linux-arm64', 'windows-amd64', 'node'];
  const archives = new Map(names.map((name) => [name, `sum of ${name}`]));
  const {spec} = krewManifest({url: 'https://a.example', archives}) as {
    spec: {version: string; shortDescription: string; platforms: {uri: string; sha256: string}[]};
  };
  expect(spec.platforms.map(({uri, sha256}) => [uri, sha256])).toEqual(
    names.map((name) => [`https://a.example/doorplate-${version}-${name}.tar.gz`, `sum of ${name}`]),
  );
  expect(spec.version).toBe(`v${version}`);
  // krew's own rules for an entry of its index.
  expect(spec.shortDescription.length).toBeLessThanOrEqual(50);
  expect(spec.shortDescription).not.toMatch(/\.$/);
});
