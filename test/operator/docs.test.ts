/** The pages that somebody follows from nothing to Live and back, block by block, verbatim, by the real helm and kubectl. */
import {execFile} from 'node:child_process';
import {mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, afterEach, beforeEach, expect, test} from '@jest/globals';
import {Customer} from '../support/customer.ts';
import {ApiServer, bin} from '../support/kube-server.ts';
import {completeHooks} from '../support/installation.ts';
import {RunningOperator} from '../support/operator.ts';
import {wrongOutput, writeOutputs} from '../support/outputs.ts';
import {type Block, filesOf, type Page, readPage, root, scriptsOf} from '../support/pages.ts';
import {Platform} from '../support/platform.ts';

/** Where commands run: the checkout as they see it, and the files that pages have them write. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-docs-'));
  for (const name of readdirSync(root)) symlinkSync(join(root, name), join(folder, name));
});
afterEach(() => rmSync(folder, {recursive: true}));

function useCluster(server: ApiServer): void {
  const [cert, key] = ['admin.crt', 'admin.key'].map((name) => join(server.dir, name));
  writeFileSync(join(folder, 'kubeconfig'), server.kubeconfig({'client-certificate': cert, 'client-key': key}));
}

function run(script: string): Promise<{code: number; said: string}> {
  const path = `${join(root, 'operator/cli')}:${bin}:${process.env.PATH}`;
  const env = {...process.env, HOME: folder, PATH: path, KUBECONFIG: join(folder, 'kubeconfig')};
  return new Promise((resolve) => {
    execFile('bash', ['--norc', '-euo', 'pipefail', '-c', script], {cwd: folder, env}, (error, stdout, stderr) =>
      resolve({code: error ? Number(error.code) : 0, said: stdout + stderr}),
    );
  });
}

/** What a script printed; fails with it when it did not end well. */
async function follow(script: string): Promise<string> {
  const {code, said} = await run(script);
  expect([script, code, code === 0 ? '' : said]).toEqual([script, 0, '']);
  return said;
}

/** Runs a block of a page, and compares what it prints with the page. */
async function step(page: Page, block: Block, script = block.text): Promise<string> {
  const said = await follow(script);
  expect(wrongOutput(page, block, said)).toBeUndefined();
  return said;
}
afterAll(() => writeOutputs(readPage));

/** The scripts of a page, below these headings or all of them; its files are written first. */
function begin(page: Page, under?: string) {
  for (const [name, text] of filesOf(page)) writeFileSync(join(folder, name), text);
  const scripts = scriptsOf(page, 'api-server').filter((block) => under === undefined || block.under === under);
  expect(scripts.length).toBeGreaterThan(0);
  return scripts;
}

test('docs/tutorials/first-domain.md leads from a customer to Live and back; README.md does the same in fewer words', async () => {
  const platform = await Platform.start();
  let operator: RunningOperator | undefined;
  try {
    operator = await RunningOperator.start(platform);
    useCluster(platform.server);
    const acme = Customer.of(platform, 'acme');
    const said: Record<string, string> = {};
    const page = readPage('docs/tutorials/first-domain.md');
    for (const block of begin(page)) {
      const {under, info} = block;
      if (under === 'Publish a project') {
        await acme.service('docs');
        await acme.endpoints('docs');
      }
      if (info.includes('dns')) await acme.point(['docs.example.com', 'old.example.com'], 'docs');
      said[under] = await step(page, block);
    }
    expect(said['Add a hostname']).toContain('CNAME docs docs-acme-');
    expect(said.Troubleshoot).toContain('docs.example.com Live Serving');
    await operator.rest();

    const readme = readPage('README.md');
    await follow('kubectl config set-context --current --namespace=acme');
    const [platforms, customers] = readme.blocks.filter(({info}) => info[0] === 'yaml').map(({text}) => text);
    for (const manifest of [platforms, customers]) await follow(`kubectl apply -f - <<'END'\n${manifest}\nEND`);
    const blocks = scriptsOf(readme, 'api-server');
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) await step(readme, block);
    for (const other of ['docs/how-to/api-keys.md', 'docs/reference/quotas.md'].map(readPage))
      for (const block of begin(other)) await step(other, block);
  } finally {
    await operator?.stop();
    await platform.stop();
  }
});

test('docs/how-to/install.md installs, docs/how-to/upgrade.md upgrades and goes back, docs/how-to/uninstall.md leaves nothing, where no Pod runs', async () => {
  const server = await ApiServer.start();
  const [client, over] = [server.client(), new AbortController()];
  const hooks = completeHooks(client, over.signal);
  try {
    useCluster(server);
    const [install, upgrade, uninstall, backup] = ['install', 'upgrade', 'uninstall', 'backup'].map((name) =>
      readPage(`docs/how-to/${name}.md`),
    );
    const installed: string[] = [];
    for (const block of begin(install!)) installed.push(await step(install!, block));
    expect(installed.join('')).toContain('enterprise');
    // The reader fills in the digest; no Pod runs here.
    for (const block of begin(upgrade!))
      await step(upgrade!, block, block.text.replace('DIGEST', `sha256:${'a'.repeat(64)}`));
    const claim = `{apiVersion: doorplate.dev/v1alpha1, kind: DomainClaim, metadata: {name: www.example.com},
      spec: {tenant: {account: acme}, proof: DNS}, status: {generation: 3, token: abc}}`;
    await follow(`kubectl apply -f - <<'END'\n${claim}\nEND`);
    await follow('kubectl create namespace acme && kubectl label namespace acme doorplate.dev/account=acme');
    const domain = `{apiVersion: doorplate.dev/v1alpha1, kind: CustomDomain, metadata: {name: docs, namespace: acme},
      spec: {projectRef: {name: docs}, primary: docs.example.com}}`;
    await follow(`kubectl apply --server-side --field-manager=doorplate-api -f - <<'END'\n${domain}\nEND`);
    const [save, ...restore] = begin(backup!);
    await step(backup!, save!);
    await follow('kubectl delete domainclaim www.example.com && kubectl delete customdomain docs -n acme');
    const said: string[] = [];
    for (const block of restore) said.push(await step(backup!, block));
    expect(said.join('')).toContain(
      'The CustomDomain docs in the namespace acme is returned to the API. Former owner: kubectl-client-side-apply.',
    );
    await follow('kubectl delete customdomain docs -n acme');
    expect(await follow('kubectl get domainclaim www.example.com -o jsonpath={.status.generation}')).toContain('3');
    for (const block of begin(uninstall!, 'Doorplate alone')) await step(uninstall!, block);
    expect(await follow('kubectl get crd -o name')).toContain('customdomains.doorplate.dev');
    const project = `{apiVersion: doorplate.dev/v1alpha1, kind: Project, metadata: {name: web, namespace: acme, finalizers: [doorplate.dev/routes]},
      spec: {serviceRef: {name: web, port: 80}}}`;
    await follow(`kubectl apply -f - <<'END'\n${project}\nEND`);
    for (const heading of ['Without Helm', 'If the Job cannot run', 'The namespace first', 'All domains too'])
      for (const block of begin(uninstall!, heading)) await step(uninstall!, block);
    expect(await follow('kubectl get crd,clusterroles,validatingadmissionpolicies -o name')).not.toContain('doorplate');
    const all = 'deployments,services,configmaps,serviceaccounts,ingresses,networkpolicies,roles,jobs';
    expect(await follow(`kubectl get ${all} -n doorplate-system -o name`)).not.toContain('doorplate');
  } finally {
    over.abort();
    await hooks;
    await client.close();
    await server.stop();
  }
});
