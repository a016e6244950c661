/** The cluster's cgroups on a made-up tree, as a machine has it with cgroup v1 and v2: folders and files in place of the kernel's. */
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterEach, beforeEach, expect, test} from '@jest/globals';

const script = fileURLToPath(new URL('../../../cluster/env.sh', import.meta.url));
const group = 'doorplate-test';

let tree: string;
beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'cgroups-'));
});
afterEach(() => {
  rmSync(tree, {recursive: true});
});

const put = (path: string, text = ''): void => {
  mkdirSync(join(tree, dirname(path)), {recursive: true});
  writeFileSync(join(tree, path), text);
};
const read = (path: string): string => readFileSync(join(tree, path), 'utf8');
/** Calls functions of env.sh. Returns what they print. */
const call = (functions: string): string =>
  execFileSync('bash', ['-c', `. ${script}; CGROUP=${group}; ${functions}`], {
    env: {...process.env, CGROUPS: tree},
    encoding: 'utf8',
    stdio: 'pipe',
  });
/** Folders with the cluster's cgroup, relative to the tree. */
const withGroup = (): string[] =>
  readdirSync(tree, {recursive: true, encoding: 'utf8'})
    .filter((path) => path.endsWith(group))
    .map(dirname)
    .toSorted();

const controllers = 'cpuset cpu io memory hugetlb pids rdma misc\n';
const asked = ['+cpuset', '+cpu', '+io', '+memory', '+hugetlb', '+pids', ''].join('\n');

test('cgroup v1: the cluster has a cgroup in the hierarchy of each controller, and in the one of v2 beside them', () => {
  for (const hierarchy of ['cpu', 'memory', 'pids', 'unified']) put(`${hierarchy}/cgroup.procs`);
  put('unified/cgroup.controllers');
  put('unified/cgroup.subtree_control');
  put(`unified/${group}/cgroup.controllers`);
  mkdirSync(join(tree, 'no-hierarchy'));
  call('create_cgroups');
  expect(withGroup()).toEqual(['cpu', 'memory', 'pids', 'unified']);
});

test('cgroup v2: the cluster has one cgroup, below the root, and both give the controllers of the kubelet on', () => {
  put('cgroup.controllers', controllers);
  put('cgroup.procs');
  put('cgroup.subtree_control', 'memory pids\n');
  for (const slice of ['system.slice', 'user.slice']) put(`${slice}/cgroup.procs`);
  // The kernel creates these files together with the folder.
  put(`${group}/cgroup.controllers`, controllers);
  put(`${group}/cgroup.subtree_control`);
  put(`${group}/cpu.weight`, '100\n');
  call('create_cgroups');
  expect(withGroup()).toEqual(['.']);
  expect(read('cgroup.subtree_control')).toBe('memory pids\n+cpuset\n+cpu\n+io\n+hugetlb\n');
  expect(read(`${group}/cgroup.subtree_control`)).toBe(asked);
  expect(read(`${group}/cpu.weight`)).toBe('400\n');
});

test('cgroup v2: where the root has processes of its own, the message says how to start the container', () => {
  put('cgroup.controllers', controllers);
  mkdirSync(join(tree, 'cgroup.subtree_control'));
  expect(() => call('create_cgroups')).toThrow('--privileged --cgroupns=host');
});
