/** versions.env, the Go modules of the local cluster, and the choice between two versions of cert-manager. */
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect, test} from '@jest/globals';

const cluster = fileURLToPath(new URL('../../../cluster/', import.meta.url));
const text = (path: string): string => readFileSync(`${cluster}${path}`, 'utf8');

test.each([
  ['KUBERNETES_VERSION', 'kubernetes', 'k8s.io/kubernetes'],
  ['ETCD_VERSION', 'etcd', 'go.etcd.io/etcd/server/v3'],
  ['CONTAINERD_VERSION', 'containerd', 'github.com/containerd/containerd/v2'],
  ['COREDNS_VERSION', 'tools', 'github.com/coredns/coredns'],
  ['TRAEFIK_VERSION', 'tools', 'github.com/traefik/traefik/v3'],
  ['CERT_MANAGER_VERSION', 'tools', 'github.com/cert-manager/cert-manager'],
  ['OLDER_CERT_MANAGER_VERSION', 'older-cert-manager', 'github.com/cert-manager/cert-manager'],
  ['PEBBLE_VERSION', 'tools', 'github.com/letsencrypt/pebble/v2'],
])('%s is the version that the module %s requires', (name, module, path) => {
  const version = new RegExp(`^${name}=(.+)$`, 'm').exec(text('versions.env'))?.[1];
  expect(text(`modules/${module}/go.mod`)).toMatch(new RegExp(`^(require )?\\s*${path} ${version}$`, 'm'));
});

/** The version and the Go module of cert-manager that env.sh selects. */
const selected = (choice: Record<string, string>): string[] =>
  execFileSync('bash', ['-c', `. ${cluster}env.sh; echo $CERT_MANAGER_VERSION $CERT_MANAGER_MODULE`], {
    env: {PATH: process.env.PATH, HOME: process.env.HOME, ...choice},
    encoding: 'utf8',
    stdio: 'pipe',
  })
    .trim()
    .split(' ');

test('CERT_MANAGER selects one of two versions, the newer by default, and a module of its own', () => {
  const [newer, older] = [selected({}), selected({CERT_MANAGER: 'older'})];
  expect([newer[1], older[1]]).toEqual(['tools', 'older-cert-manager']);
  expect(newer[0]).not.toBe(older[0]);
  expect(selected({CERT_MANAGER: 'newer'})).toEqual(newer);
  expect(() => selected({CERT_MANAGER: '1.20'})).toThrow('set it to newer or older');
});
