/** The pages that somebody follows from nothing to Live and back, block by block, verbatim, by the real helm and kubectl. */
import {execFile} from 'node:child_process';
import {mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test} from '@jest/globals';
import {Customer} from '../support/customer.ts';
import {ApiServer, bin} from '../support/kube-server.ts';
import {completeHooks} from '../support/installation.ts';
import {RunningOperator} from '../support/operator.ts';
import {filesOf, type Page, readPage, root, scriptsOf} from '../support/pages.ts';
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

/** The scripts of a page, below these headings or all of them; its files are written first. */
function begin(page: Page, under?: string) {
  for (const [name, text] of filesOf(page)) writeFileSync(join(folder, name), text);
  const scripts = scriptsOf(page, 'api-server').filter((block) => under === undefined || block.under === under);
  expect(scripts.length).toBeGreaterThan(0);
  return scripts;
}

/** Lines of shell that a page has in indented blocks, without what is said of them. */
const indented = ({text}: Page, command: string): string[] =>
  text.split('\n').flatMap((line) => new RegExp(`^ {4}(${command} .*?)(?: +#.*)?$`).exec(line)?.[1] ?? []);

test('docs/tutorials/first-domain.md leads from a customer to Live and back; README.md does the same in fewer words', async () => {
  const platform = await Platform.start();
  let operator: RunningOperator | undefined;
  try {
    operator = await RunningOperator.start(platform);
    useCluster(platform.server);
    const acme = Customer.of(platform, 'acme');
    const said: Record<string, string> = {};
    for (const {text, under, info} of begin(readPage('docs/tutorials/first-domain.md'))) {
      if (under === 'The customer publishes a project') {
        await acme.service('docs');
        await acme.endpoints('docs');
      }
      if (info.includes('dns')) await acme.point(['docs.example.com', 'old.example.com'], 'docs');
      said[under] = await follow(text);
    }
    expect(said['The customer adds a hostname']).toContain('CNAME docs docs-acme-');
    expect(said['When it does not go on']).toContain('docs.example.com Live Serving');
    await operator.rest();

    const readme = readPage('README.md');
    await follow('kubectl config set-context --current --namespace=acme');
    const [platforms, customers] = readme.blocks.filter(({info}) => info[0] === 'yaml').map(({text}) => text);
    for (const manifest of [platforms, customers]) await follow(`kubectl apply -f - <<'END'\n${manifest}\nEND`);
    const commands = indented(readme, 'kubectl');
    expect(commands.length).toBeGreaterThan(5);
    for (const command of commands) await follow(command);
    // What stands there in capitals is for the reader to fill in.
    const others = ['docs/how-to/api-keys.md', 'docs/reference/quotas.md'].flatMap((page) =>
      indented(readPage(page), 'kubectl'),
    );
    const whole = others.filter((command) => !/\b[A-Z]{4,}\b/.test(command) && !commands.includes(command));
    expect(whole.length).toBeGreaterThan(2);
    for (const command of whole) await follow(command);
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
    for (const {text} of begin(install!)) expect(await follow(text)).toContain('enterprise');
    const helm = indented(upgrade!, 'helm');
    expect(helm.length).toBe(3);
    // What stands there in capitals is for the reader to fill in; no Pod runs here.
    for (const command of helm) await follow(command.replace('DIGEST', `sha256:${'a'.repeat(64)}`));
    const claim = `{apiVersion: doorplate.dev/v1alpha1, kind: DomainClaim, metadata: {name: www.example.com},
      spec: {tenant: {account: acme}, proof: DNS}, status: {generation: 3, token: abc}}`;
    await follow(`kubectl apply -f - <<'END'\n${claim}\nEND`);
    await follow('kubectl create namespace acme && kubectl label namespace acme doorplate.dev/account=acme');
    const domain = `{apiVersion: doorplate.dev/v1alpha1, kind: CustomDomain, metadata: {name: docs, namespace: acme},
      spec: {projectRef: {name: docs}, primary: docs.example.com}}`;
    await follow(`kubectl apply --server-side --field-manager=doorplate-api -f - <<'END'\n${domain}\nEND`);
    const [save, ...restore] = begin(backup!);
    await follow(save!.text);
    await follow('kubectl delete domainclaim www.example.com && kubectl delete customdomain docs -n acme');
    const said: string[] = [];
    for (const {text} of restore) said.push(await follow(text));
    expect(said.join('')).toContain(
      "The CustomDomain docs in the namespace acme is the API's again. Former owner: kubectl-client-side-apply.",
    );
    await follow('kubectl delete customdomain docs -n acme');
    expect(await follow('kubectl get domainclaim www.example.com -o jsonpath={.status.generation}')).toContain('3');
    for (const {text} of begin(uninstall!, 'Doorplate alone')) await follow(text);
    expect(await follow('kubectl get crd -o name')).toContain('customdomains.doorplate.dev');
    const project = `{apiVersion: doorplate.dev/v1alpha1, kind: Project, metadata: {name: web, namespace: acme, finalizers: [doorplate.dev/routes]},
      spec: {serviceRef: {name: web, port: 80}}}`;
    await follow(`kubectl apply -f - <<'END'\n${project}\nEND`);
    for (const heading of ['Without Helm', 'If the Job cannot run', 'The namespace first', 'For good'])
      for (const {text} of begin(uninstall!, heading)) await follow(text);
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
