/** docs/reference/kubectl-doorplate.md, as somebody follows it: each of its commands, verbatim, in their order, by the real kubectl. */
import {execFile} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {parse} from 'yaml';
import {Customer} from '../support/customer.ts';
import {configMaps, eventually} from '../support/kube-api.ts';
import {renderPolicies} from '../mutants/manifests.ts';
import {bin} from '../support/kube-server.ts';
import {RunningOperator, settingsFor} from '../support/operator.ts';
import {home, Platform} from '../support/platform.ts';
import {Api} from '../support/policy.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/reference/kubectl-doorplate.md'), 'utf8');
const commands = page
  .split('\n')
  .flatMap((line) => /^ {4}(kubectl .*?)(?: +#.*)?$/.exec(line)?.[1] ?? [])
  // They need the API, krew or a kubelet: test/api/usage.test.ts, test/unit/cli/package.test.ts, test/cluster/preflight.test.ts.
  .filter((command) => !/doorplate usage|port-forward|krew|doorplate preflight/.test(command));
const exitCodeOf = (command: string): number =>
  Number(
    page
      .split('\n')
      .find((line) => line.includes(`    ${command} `) && /# exits with \d/.test(line))
      ?.match(/\d$/)?.[0] ?? 0,
  );

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
  const [, manifest = ''] = /```yaml\n([^`]*)```/.exec(page) ?? [];
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

test('every command of docs/reference/kubectl-doorplate.md does what it says', async () => {
  expect(commands.length).toBeGreaterThan(12);
  const wrong: string[] = [];
  for (const command of commands) {
    if (command.includes(' verify ')) importZone();
    if (command.includes('owners.json'))
      await run('kubectl get customdomains,apikeys -n acme -o json --show-managed-fields > owners.json');
    const {code, said} = await run(command);
    if (code !== exitCodeOf(command)) wrong.push(`${command}\nended with ${code}: ${said}`);
  }
  expect(wrong).toEqual([]);
});
