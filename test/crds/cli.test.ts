/** `kubectl doorplate` as a user runs it, against a real API server with roles. */
import {execFile} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {parse} from 'yaml';
import {apiKeyKind} from '../../operator/api/api-key.ts';
import {crd} from '../../operator/api/crd.ts';
import type {ApiKey} from '../../operator/api/foreign.ts';
import {apiKeys} from '../../operator/resources/resources.ts';
import {hashToken, parseToken, tokenPattern} from '../../operator/domain/api-key.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {defineResource, type KubeObject} from '../../operator/kube/objects.ts';
import {eventually, namespaces, crds} from '../support/kube-api.ts';
import {ApiServer, bin} from '../support/kube-server.ts';

const cliFolder = fileURLToPath(new URL('../../operator/cli', import.meta.url));
const rbac = {group: 'rbac.authorization.k8s.io', version: 'v1'};
const roles = defineResource<KubeObject>({...rbac, plural: 'clusterroles', kind: 'ClusterRole', namespaced: false});
const bindings = defineResource<KubeObject>({...rbac, plural: 'rolebindings', kind: 'RoleBinding', namespaced: true});
const accounts = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
});

let server: ApiServer;
let client: Client;
let folder: string;
/** kubeconfigs by who they are of. */
let editor: string;
let stranger: string;

/** A ServiceAccount of the namespace acme, as a kubeconfig whose context names that namespace. */
async function userOf(name: string): Promise<string> {
  await client.create(accounts, {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {name, namespace: 'acme'}});
  const tokens = defineResource<KubeObject & {status?: {token: string}}>({
    group: '',
    version: 'v1',
    plural: `serviceaccounts/${name}/token`,
    kind: 'TokenRequest',
    namespaced: true,
  });
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {name: '', namespace: 'acme'},
    spec: {},
  };
  return kubeconfig(name, server.kubeconfig({token: (await client.create(tokens, request)).status!.token}));
}
function kubeconfig(
  name: string,
  text: string,
  change: (config: {contexts: {context: object}[]; clusters: {cluster: object}[]}) => void = () => {},
): string {
  const config = JSON.parse(text) as Parameters<typeof change>[0];
  Object.assign(config.contexts[0]!.context, {namespace: 'acme'});
  change(config);
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify(config));
  return path;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-cli-'));
  server = await ApiServer.start({rbac: true});
  client = server.client();
  await client.create(crds, crd(apiKeyKind) as unknown as KubeObject);
  for (const name of ['acme', 'other'])
    await client.create(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name}});
  await client.create(roles, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {name: 'editor'},
    rules: [{apiGroups: ['doorplate.dev'], resources: ['apikeys'], verbs: ['create']}],
  } as KubeObject);
  for (const namespace of ['acme', 'gone']) {
    await client.create(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name: namespace}}).catch(() => {});
    await client.create(bindings, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: {name: 'editor', namespace},
      roleRef: {apiGroup: rbac.group, kind: 'ClusterRole', name: 'editor'},
      subjects: [{kind: 'ServiceAccount', name: 'editor', namespace: 'acme'}],
    } as KubeObject);
  }
  await eventually(() => client.list(apiKeys, {}));
  editor = await userOf('editor');
  stranger = await userOf('stranger');
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
  rmSync(folder, {recursive: true});
});

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}
const exec = (file: string, args: readonly string[], env: Record<string, string>): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(
      file,
      [...args],
      {cwd: folder, env: {HOME: folder, PATH: process.env.PATH, ...env}},
      (error, stdout, stderr) => resolve({code: error ? Number(error.code) : 0, stdout, stderr}),
    );
  });
const cli = (config: string, ...args: string[]) =>
  exec(join(cliFolder, 'kubectl-doorplate'), args, {KUBECONFIG: config});
const made = async (key: string) => client.get(apiKeys, key);
const all = async () => (await client.list(apiKeys, {})).items.map((k) => k.metadata.name);

describe('kubectl doorplate key create', () => {
  test('makes the ApiKey with the rights of the user, in the namespace of the context, and prints its token once, alone', async () => {
    const {code, stdout, stderr} = await cli(
      editor,
      'key',
      'create',
      'ci',
      '--scope',
      'domains:read',
      '--scope',
      'domains:write',
      '--expires',
      '90d',
      '--rate-limit',
      '10/500',
    );
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^ApiKey ci was created in the namespace acme: domains:read, domains:write, until .* Its token is above. It is not shown again.\n$/,
      ),
    ]);
    const [token = '', ...rest] = stdout.split('\n');
    expect([tokenPattern.test(token), parseToken(token), rest]).toEqual([true, {namespace: 'acme', name: 'ci'}, ['']]);
    const key = await made('acme/ci');
    expect(key?.spec).toEqual({
      hashes: [{sha256: hashToken(token)}],
      scopes: ['domains:read', 'domains:write'],
      expireTime: expect.any(String),
      rateLimit: {requestsPerMinute: 10, requestsPerDay: 500},
    });
    expect(JSON.stringify(key)).not.toContain(token);
    expect([
      stderr.includes(token),
      (key!.metadata as {managedFields?: {manager: string}[]}).managedFields?.[0]?.manager,
    ]).toEqual([false, 'kubectl-doorplate']);
  });

  test('is found by kubectl on the PATH', async () => {
    const {code, stdout} = await exec(join(bin, 'kubectl'), ['doorplate', 'key', 'create', 'by-kubectl'], {
      KUBECONFIG: editor,
      PATH: `${cliFolder}:${process.env.PATH}`,
    });
    expect([code, hashToken(stdout.trimEnd())]).toEqual([0, (await made('acme/by-kubectl'))?.spec.hashes[0]?.sha256]);
  });

  test('a name that is taken is refused with what to do, and no token is left behind', async () => {
    await cli(editor, 'key', 'create', 'taken');
    const before = await made('acme/taken');
    const {code, stdout, stderr} = await cli(editor, 'key', 'create', 'taken', '--token-file', 'taken.token');
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      'error: apikeys.doorplate.dev "taken" already exists. Choose another name, or delete that one first: kubectl delete apikeys taken\n',
    ]);
    expect([existsSync(join(folder, 'taken.token')), await made('acme/taken')]).toEqual([false, before]);
  });

  test('with --token-file prints no token', async () => {
    const {code, stdout, stderr} = await cli(editor, 'key', 'create', 'filed', '--token-file', 'filed.token');
    const token = readFileSync(join(folder, 'filed.token'), 'utf8').trimEnd();
    expect([code, stdout, stderr.includes(token), hashToken(token)]).toEqual([
      0,
      '',
      false,
      (await made('acme/filed'))?.spec.hashes[0]?.sha256,
    ]);
  });

  test.each<[string, () => string, string[], string]>([
    [
      'without rights',
      () => stranger,
      [],
      'you may not create apikeys in the namespace acme. Ask for the role edit there',
    ],
    [
      'without rights in another namespace',
      () => editor,
      ['-n', 'other'],
      'you may not create apikeys in the namespace other',
    ],
    [
      'in a namespace that is not there',
      () =>
        kubeconfig(
          'admin',
          server.kubeconfig({
            'client-certificate': join(server.dir, 'admin.crt'),
            'client-key': join(server.dir, 'admin.key'),
          }),
        ),
      ['-n', 'nowhere'],
      'there is no namespace nowhere. Name another one (-n), or create it',
    ],
    [
      'where nobody listens',
      () =>
        kubeconfig('silent', readFileSync(editor, 'utf8'), (c) =>
          Object.assign(c.clusters[0]!.cluster, {server: 'https://127.0.0.1:1'}),
        ),
      [],
      'the API server does not answer',
    ],
    [
      'as nobody',
      () => kubeconfig('nobody', server.kubeconfig({token: 'expired'})),
      [],
      'the API server does not know you: log in again',
    ],
    ['with another context than there is', () => editor, ['--context', 'none'], 'the kubeconfig has no context none'],
    ['without a kubeconfig', () => '', [], 'there is no kubeconfig: name one with --kubeconfig or KUBECONFIG'],
    [
      'with a kubeconfig that is not there',
      () => editor,
      ['--kubeconfig', 'none.yaml'],
      "the kubeconfig can't be read",
    ],
  ])('%s it makes nothing, prints no token, ends with 1 and says what to do', async (_, config, more, said) => {
    const before = await all();
    const {code, stdout, stderr} = await cli(config(), 'key', 'create', 'refused', ...more);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(`error: ${said}`)]);
    expect(await all()).toEqual(before);
  });

  test('with --dry-run makes nothing, and what it prints is an ApiKey that the cluster takes', async () => {
    const before = await all();
    const {code, stdout} = await cli(editor, 'key', 'create', 'for-git', '--dry-run', '--token-file', 'git.token');
    expect([code, await all()]).toEqual([0, before]);
    const token = readFileSync(join(folder, 'git.token'), 'utf8').trimEnd();
    const key = await client.create(apiKeys, parse(stdout) as ApiKey);
    expect([key.metadata.namespace, key.spec.hashes[0]?.sha256, stdout.includes(token)]).toEqual([
      'acme',
      hashToken(token),
      false,
    ]);
  });

  test('a wrong command line ends with 2 and makes nothing', async () => {
    expect(await cli(editor, 'key', 'create', 'wrong', '--scope', 'all')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('See: kubectl doorplate key create --help'),
    });
    expect(await made('acme/wrong')).toBeUndefined();
  });

  test('where the kind is not known it says that its chart is missing', async () => {
    await client.delete(crds, `apikeys.${apiKeys.group}`);
    await eventually(async () => (await client.get(crds, `apikeys.${apiKeys.group}`)) === undefined);
    const {code, stdout, stderr} = await cli(editor, 'key', 'create', 'refused');
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      expect.stringContaining(
        'error: the cluster does not know that kind of doorplate.dev. Check that the chart doorplate-crds is installed',
      ),
    ]);
  });
});
