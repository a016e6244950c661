/** docs/reference/api.md and docs/how-to/page.md, as somebody follows them: each of their commands, in their order, and their YAML. */
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
import {buildPage} from '../support/page-world.ts';
import {serviceAccounts} from '../support/service-account.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/reference/api.md'), 'utf8');
/** Each on one line. */
const commandsOf = (text: string): string[] =>
  text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => /^ {4}(curl|[A-Z]+=)/.test(line))
    .map((line) => line.trim());
const rbac = (plural: string, kind: string) =>
  defineResource<KubeObject>({group: 'rbac.authorization.k8s.io', version: 'v1', plural, kind, namespaced: false});

let world: ApiWorld;
beforeAll(async () => {
  execFileSync(join(root, 'test/api/install.sh'), {stdio: 'inherit'});
  buildPage();
  world = await ApiWorld.start({page: {enabled: true}}, {rbac: true});
  for (const name of ['platform', 'acme']) await world.tenant(name, 'pro');
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

/** Prints the status of each answer; a key that was made just now is known in a moment, a stream is left after 10 s. */
const curl = `curl() {
  local status limit=120
  [[ "$*" != */events* ]] || limit=10
  for try in $(seq 100); do
    status=$(command curl --silent --max-time $limit --output /dev/null --write-out '%{http_code}' "$@" || true)
    [ "$status" = 401 ] || break
    sleep 0.1
  done
  echo "$status"
}`;

test.each(['reference/api', 'how-to/page'])('every command of docs/%s.md does what it says', async (name) => {
  const commands = commandsOf(readFileSync(join(root, `docs/${name}.md`), 'utf8'));
  const file = (of: string): string => join(world.server.dir, of);
  writeFileSync(
    file('kubeconfig'),
    world.server.kubeconfig({'client-certificate': file('admin.crt'), 'client-key': file('admin.key')}),
  );
  const script = commands.map((line) => line.replace('https://api.example.net', `http://127.0.0.1:${world.port}`));
  const {stdout} = await promisify(execFile)('bash', ['-euc', [curl, ...script].join('\n')], {
    env: {
      ...process.env,
      KUBECONFIG: file('kubeconfig'),
      PATH: `${join(root, 'operator/cli')}:${bin}:${join(root, 'node_modules/.bin')}:${process.env.PATH}`,
    },
  });
  const asked = commands.filter((line) => line.startsWith('curl'));
  const answered = stdout.trim().split('\n');
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.map((line, i) => `${answered[i]} ${line}`).filter((line) => !/^20\d /.test(line))).toEqual([]);
  expect(answered.length).toBe(asked.length);
});

test('docs/reference/http-api.md is made of what a running API says of itself', async () => {
  const answer = await fetch(`http://127.0.0.1:${world.port}/openapi.json`);
  expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(await describeApi())));
});
