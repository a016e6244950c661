/** The pages with commands for the HTTP API, as a reader follows them: each block in its order, and its output; and the YAML of docs/reference/api.md. */
import {execFile, execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {parseAllDocuments} from 'yaml';
import {describeApi} from '../../operator/generate/description.ts';
import {defineResource} from '../../operator/kube/objects.ts';
import type {KubeObject} from '../../operator/kube/objects.ts';
import {ApiWorld} from '../support/api-role.ts';
import {bin} from '../support/kube-server.ts';
import {wrongOutput, writeOutputs} from '../support/outputs.ts';
import {pagePaths, readPage, scriptsOf} from '../support/pages.ts';
import {buildPage} from '../support/page-world.ts';
import {serviceAccounts} from '../support/service-account.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/reference/api.md'), 'utf8');
const rbac = (plural: string, kind: string) =>
  defineResource<KubeObject>({group: 'rbac.authorization.k8s.io', version: 'v1', plural, kind, namespaced: false});

let world: ApiWorld;
beforeAll(async () => {
  execFileSync(join(root, 'test/api/install.sh'), {stdio: 'inherit'});
  buildPage();
  world = await ApiWorld.start({page: {enabled: true}}, {rbac: true});
  for (const name of ['platform', 'acme'])
    await world.tenant(name, 'pro', {requestsPerMinute: 300, requestsPerDay: 10_000});
  await world.project('acme', 'docs');
  await world.client.create(serviceAccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: {namespace: 'platform', name: 'backend'},
  });
  const [first = ''] = /(?<=```yaml\n)apiVersion: rbac[^`]*/.exec(page) ?? [];
  for (const document of parseAllDocuments(first)) {
    const object = document.toJS() as KubeObject;
    await world.client.create(
      object.kind === 'ClusterRole'
        ? rbac('clusterroles', 'ClusterRole')
        : rbac('clusterrolebindings', 'ClusterRoleBinding'),
      object,
    );
  }
});
afterAll(async () => {
  await world?.stop();
});

/**
 * `kubectl doorplate key create` returns when the API knows the key. curl leaves a stream after 10 s, and fails for a failed request whose
 * answer no page shows.
 */
const functions = `
kubectl() {
  local out; out=$(command kubectl "$@"); echo "$out"
  [[ "$*" == *'key create'* ]] || return 0
  for try in $(seq 30); do
    [ "$(command curl -s -o /dev/null -w '%{http_code}' "$API/v1/account" -H "Authorization: Bearer \${out##*$'\n'}")" = 401 ] || return 0
    sleep 0.5 # each try counts for callers without a key
  done
}
curl() {
  local limit=120
  [[ "$*" != */events* ]] || limit=10
  command curl $fail --max-time $limit "$@" || [[ $? = 28 && $limit = 10 ]]
}`;
const mark = '==== block ====';
const documented = pagePaths()
  .map(readPage)
  .flatMap((each) => (scriptsOf(each, 'api').length > 0 ? [[each.path, each] as const] : []));
afterAll(() => writeOutputs(readPage));

test('Pages have commands for the API', () => {
  expect(documented.length).toBeGreaterThan(3);
});

test.each(documented)('every command of %s prints what the page shows', async (_, each) => {
  const blocks = scriptsOf(each, 'api');
  const file = (of: string): string => join(world.server.dir, of);
  writeFileSync(
    file('kubeconfig'),
    world.server.kubeconfig({'client-certificate': file('admin.crt'), 'client-key': file('admin.key')}),
  );
  const script = blocks.map(({text, info}) => {
    const fail = info.includes('silent') ? '--fail-with-body' : '';
    return `echo '${mark}'\nfail=${fail}\n${text.replaceAll('https://api.example.net', `http://127.0.0.1:${world.port}`)}`;
  });
  const api = `API=http://127.0.0.1:${world.port}`;
  const {stdout} = await promisify(execFile)(
    'bash',
    ['-euo', 'pipefail', '-c', [api, functions, ...script].join('\n')],
    {
      env: {
        ...process.env,
        KUBECONFIG: file('kubeconfig'),
        PATH: `${join(root, 'operator/cli')}:${bin}:${join(root, 'node_modules/.bin')}:${process.env.PATH}`,
      },
    },
  );
  const outputs = stdout
    .replaceAll(`http://127.0.0.1:${world.port}`, 'https://api.example.net')
    .split(`${mark}\n`)
    .slice(1);
  expect(outputs.length).toBe(blocks.length);
  expect(blocks.flatMap((block, i) => wrongOutput(each, block, outputs[i]!) ?? [])).toEqual([]);
});

test('docs/reference/http-api.md is made of what a running API says of itself', async () => {
  const answer = await fetch(`http://127.0.0.1:${world.port}/openapi.json`);
  expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(await describeApi())));
});
