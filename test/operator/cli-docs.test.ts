/** Follows docs/reference/kubectl-doorplate.md with the real kubectl: runs each command verbatim and in order. */
import {execFile} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {parse} from 'yaml';
import {Customer} from '../support/customer.ts';
import {configMaps, eventually} from '../support/kube-api.ts';
import {renderPolicies} from '../mutants/manifests.ts';
import {bin} from '../support/kube-server.ts';
import {wrongOutput, writeOutputs} from '../support/outputs.ts';
import {readPage, root, scriptsOf} from '../support/pages.ts';
import {RunningOperator, settingsFor} from '../support/operator.ts';
import {home, Platform} from '../support/platform.ts';
import {Api} from '../support/policy.ts';

const page = readPage('docs/reference/kubectl-doorplate.md');
const blocks = scriptsOf(page, 'cli');

let platform: Platform;
let operator: RunningOperator;
let folder: string;
beforeAll(async () => {
  platform = await Platform.start();
  operator = await RunningOperator.start(platform);
  await platform.client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {name: 'doorplate-public', namespace: home},
    data: {'config.yaml': JSON.stringify(settingsFor(platform))},
  });
  const customer = await Customer.create(platform, 'pro', 'acme');
  await customer.deploy('docs');
  await eventually(async () => (await customer.project('docs'))?.status?.firstDeployTime !== undefined);
  const administrator = new Api(platform.server.credentials);
  for (const policy of await renderPolicies(root)) await administrator.make(policy);
  await administrator.make({apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'team-a'}});
  await administrator.close();
  folder = mkdtempSync(join(tmpdir(), 'doorplate-docs-'));
  writeFileSync(join(folder, 'audit.log'), '{"verb": "list", "user": {"username": "admin"}}\n');
  const {text: manifest} = page.blocks.find(({info}) => info[0] === 'yaml')!;
  writeFileSync(join(folder, 'custom-domain.yaml'), manifest);
  writeFileSync(join(folder, 'kustomization.yaml'), 'resources: [custom-domain.yaml, shop.yaml]\n');
  const shop = {
    ...(parse(manifest) as object),
    metadata: {name: 'shop'},
    spec: {projectRef: {name: 'shop'}, primary: 'shop.example.com'},
  };
  writeFileSync(join(folder, 'shop.yaml'), JSON.stringify(shop));
  const file = (name: string): string => join(platform.server.dir, name);
  writeFileSync(
    join(folder, 'kubeconfig'),
    platform.server.kubeconfig({'client-certificate': file('admin.crt'), 'client-key': file('admin.key')}),
  );
});
afterAll(async () => {
  await operator?.stop();
  await platform?.stop();
  rmSync(folder, {recursive: true});
});

const run = (command: string): Promise<{code: number; said: string}> =>
  new Promise((resolve) => {
    const path = `${join(root, 'operator/cli')}:${bin}:${process.env.PATH}`;
    const env = {...process.env, HOME: folder, PATH: path, KUBECONFIG: join(folder, 'kubeconfig')};
    execFile('bash', ['--norc', '-c', command], {cwd: folder, env}, (error, stdout, stderr) =>
      resolve({code: error ? Number(error.code) : 0, said: stdout + stderr}),
    );
  });

/** What the customer does at the provider with the zone file that the page had written. */
function importZone(): void {
  const text = readFileSync(join(folder, 'example.com.zone'), 'utf8');
  const [, origin = ''] = /^\$ORIGIN (.*)\.$/m.exec(text) ?? [];
  for (const [, name, target] of text.matchAll(/^(\S+) \d+ IN CNAME (.*)\.$/gm))
    platform.dns.point(`${name}.${origin}`, target);
}

test('every command of docs/reference/kubectl-doorplate.md prints what the page shows', async () => {
  expect(blocks.length).toBeGreaterThan(12);
  const wrong: string[] = [];
  for (const block of blocks) {
    const {text} = block;
    if (text.includes(' verify ')) importZone();
    if (text.includes('owners.json'))
      await run('kubectl get customdomains,apikeys -n acme -o json --show-managed-fields > owners.json');
    const {code, said} = await run(text);
    // A page names an exit code other than 0 in a comment.
    if (code !== Number(/# exits with (\d)/.exec(text)?.[1] ?? 0)) wrong.push(`${text}\nended with ${code}: ${said}`);
    else wrong.push(...[wrongOutput(page, block, said) ?? []].flat());
  }
  expect(wrong).toEqual([]);
});
afterAll(() => writeOutputs(readPage));
