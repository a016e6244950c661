/** The pages about hostnames that wait, that must stop, and about customers who leave: each block in its order, by the real kubectl. */
import {execFile} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, afterEach, beforeEach, expect, test} from '@jest/globals';
import {certificates, namespaces} from '../../operator/resources/resources.ts';
import {Customer} from '../support/customer.ts';
import {configMaps, eventually} from '../support/kube-api.ts';
import {bin} from '../support/kube-server.ts';
import {RunningOperator, settingsFor} from '../support/operator.ts';
import {wrongOutput, writeOutputs} from '../support/outputs.ts';
import {type Block, filesOf, type Page, readPage, root, scriptsOf} from '../support/pages.ts';
import {home, Platform} from '../support/platform.ts';
import {Api} from '../support/policy.ts';

let folder: string;
let platform: Platform;
let operator: RunningOperator;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-docs-'));
  platform = await Platform.start();
  operator = await RunningOperator.start(platform);
  const [cert, key] = ['admin.crt', 'admin.key'].map((name) => join(platform.server.dir, name));
  const kubeconfig = platform.server.kubeconfig({'client-certificate': cert, 'client-key': key});
  writeFileSync(join(folder, 'kubeconfig'), kubeconfig);
  await platform.client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {name: 'doorplate-public', namespace: home},
    data: {'config.yaml': JSON.stringify(settingsFor(platform))},
  });
});
afterEach(async () => {
  await operator.stop();
  await platform.stop();
  rmSync(folder, {recursive: true});
});
afterAll(() => writeOutputs(readPage));

/** Exit codes of `kubectl doorplate` that report a state. */
const reports = [0, 3, 4, 5];

/** What a script prints; fails if it ends with an error. */
function follow(script: string): Promise<string> {
  const path = `${join(root, 'operator/cli')}:${bin}:${process.env.PATH}`;
  const env = {...process.env, HOME: folder, PATH: path, KUBECONFIG: join(folder, 'kubeconfig')};
  return new Promise((resolve, reject) => {
    execFile('bash', ['--norc', '-euo', 'pipefail', '-c', script], {cwd: folder, env}, (error, stdout, stderr) => {
      const code = error ? Number(error.code) : 0;
      if (reports.includes(code)) resolve(stdout + stderr);
      else reject(new Error(`${script}\nended with ${code}: ${stdout}${stderr}`));
    });
  });
}

/** Runs the blocks of a page, and compares their outputs. `before`: what happens before the block with this text. */
async function followPage(
  page: Page,
  way: 'api-server' | 'cli',
  before: (text: string) => Promise<unknown>,
  during: (block: Block, run: Promise<string>) => Promise<string> = (_, run) => run,
): Promise<void> {
  for (const [name, text] of filesOf(page)) writeFileSync(join(folder, name), text);
  const blocks = scriptsOf(page, way);
  expect(blocks.length).toBeGreaterThan(4);
  const wrong: string[] = [];
  for (const block of blocks) {
    await before(block.text);
    const said = await during(block, follow(block.text));
    wrong.push(...[wrongOutput(page, block, said) ?? []].flat());
    await operator.rest();
  }
  expect(wrong).toEqual([]);
}

/** The customer's project, and its hostnames, which the HTTP API has added. */
async function served(name: string, project: string, [primary, ...redirects]: readonly [string, ...string[]]) {
  const customer = await Customer.create(platform, 'pro', name);
  await customer.deploy(project);
  await customer.point([primary, ...redirects], project);
  await attach(customer, project, [primary, ...redirects]);
  await live(customer, project);
  return customer;
}

async function attach({namespace}: Customer, project: string, [primary, ...redirects]: readonly string[]) {
  const spec = {
    projectRef: {name: project},
    primary,
    ...(redirects[0] && {redirects: redirects.map((from) => ({from}))}),
  };
  const domain = {
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'CustomDomain',
    metadata: {name: project, namespace},
    spec,
  };
  await follow(
    `kubectl apply --server-side --field-manager=doorplate-api -f - <<'END'\n${JSON.stringify(domain)}\nEND`,
  );
}

async function live(customer: Customer, name: string): Promise<void> {
  await eventually(async () => {
    const hosts = Object.values(await customer.hosts(name));
    return hosts.length > 0 && hosts.every((host) => host.startsWith('Live'));
  });
  await operator.rest();
}

test('docs/how-to/take-a-hostname-down.md stops a hostname at once, keeps it down, and gives it back', async () => {
  const acme = await served('acme', 'docs', ['docs.example.com', 'old.example.com']);
  writeFileSync(join(folder, 'blocked.csv'), '# hostname, Account\nlogin.example.org,blocked\n');
  const seen: Record<string, string>[] = [];
  await followPage(readPage('docs/how-to/take-a-hostname-down.md'), 'api-server', async (text) => {
    if (text.includes('doorplate why')) seen.push(await acme.hosts('docs'));
  });
  expect(seen).toEqual([
    {'docs.example.com': 'AwaitingVerification HostnameClaimed', 'old.example.com': 'Live Redirecting'},
  ]);
  await live(acme, 'docs');
});

test('docs/how-to/end-a-customer.md downgrades, suspends, resumes and ends a customer', async () => {
  const acme = await served('acme', 'docs', ['docs.example.com', 'old.example.com']);
  const api = new Api(platform.server.credentials);
  // No namespace controller runs in this test.
  const finalize = async (): Promise<void> => {
    await eventually(
      async () => (await platform.client.get(namespaces, 'acme'))?.metadata.deletionTimestamp !== undefined,
    );
    const ended = {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'acme'}, spec: {finalizers: []}};
    await api.send({method: 'PUT', path: '/api/v1/namespaces/acme/finalize', body: ended});
  };
  try {
    await followPage(
      readPage('docs/how-to/end-a-customer.md'),
      'api-server',
      async (text) => {
        if (text.includes('doorplate status')) await follow('kubectl create -f acme.yaml').then(() => operator.rest());
        if (text.includes('acme-owners.json') && text.includes('release')) {
          await follow('kubectl delete -f acme.yaml');
          await operator.rest();
        }
        if (text.includes('delete apikeys')) {
          await live(acme, 'docs');
          await follow('kubectl doorplate key create ci -n acme --scope domains:read');
        }
      },
      async ({text}, run) => {
        if (text.includes('delete namespace')) await finalize();
        return run;
      },
    );
    expect(await acme.holder('docs.example.com')).toBe('nobody');
  } finally {
    await api.close();
  }
});

const policy = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: team-policy}
spec:
  matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [networking.k8s.io], apiVersions: [v1], resources: [ingresses]}]}
  validations: [{expression: "false", message: "every Ingress needs the label cost-center"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: team-policy}
spec: {policyName: team-policy, validationActions: [Deny]}`;

test('docs/how-to/troubleshoot.md shows each state of a hostname that does not work', async () => {
  await operator.stop();
  operator = await RunningOperator.start(platform, {issuanceStalledAfter: '1s'});
  const acme = await served('acme', 'docs', ['docs.example.com']);
  const globex = await Customer.create(platform, 'pro', 'globex');
  await globex.deploy('web');
  await globex.target('web');
  await attach(globex, 'web', ['www.example.net']);
  await operator.rest();
  let asked = 0;
  await followPage(readPage('docs/how-to/troubleshoot.md'), 'cli', async (text) => {
    if (text.includes('verify web') && text.includes('--wait')) await globex.point(['www.example.net'], 'web');
    if (text.includes('why www.example.net') && asked++ > 0) {
      // As if the hostname were new, and its certificate were not issued.
      await follow('kubectl delete customdomains.doorplate.dev web -n globex');
      await operator.rest();
      await follow(
        `kubectl delete domainclaim www.example.net && kubectl delete certificates -A -l doorplate.dev/resting`,
      );
      platform.certManager.ignore('www.example.net');
      await attach(globex, 'web', ['www.example.net']);
      await eventually(async () => (await globex.hosts('web'))['www.example.net'] === 'Verified IssuanceStalled');
    }
    if (text.includes('why new.example.com')) {
      await follow(`kubectl apply -f - <<'END'\n${policy}\nEND`);
      await acme.point(['new.example.com'], 'docs');
      await eventually(async () => {
        const probe = `kubectl create ingress probe --rule=probe.example.com/=web:80 -n globex --dry-run=server`;
        return follow(probe).then(
          () => false,
          () => true,
        );
      });
      await attach(acme, 'docs', ['docs.example.com', 'new.example.com']);
      await eventually(async () => (await acme.hosts('docs'))['new.example.com'] === 'Verified WriteRefused');
    }
    if (text.includes('reissue docs')) {
      await follow('kubectl delete validatingadmissionpolicybindings,validatingadmissionpolicies team-policy');
      await attach(acme, 'docs', ['docs.example.com']);
      await live(acme, 'docs');
    }
  });
  expect((await platform.client.list(certificates)).items.length).toBeGreaterThan(0);
});

test('docs/how-to/monitor.md lists hostnames, owners and warnings', async () => {
  const acme = await served('acme', 'docs', ['docs.example.com', 'old.example.com', 'new.example.com']);
  await attach(acme, 'docs', ['docs.example.com', 'old.example.com']);
  const globex = await Customer.create(platform, 'pro', 'globex');
  await globex.deploy('web');
  await globex.target('web');
  await attach(globex, 'web', ['www.example.net']);
  await operator.rest();
  await followPage(readPage('docs/how-to/monitor.md'), 'cli', async () => {});
  expect(await acme.hosts('docs')).toEqual({'docs.example.com': 'Live Serving', 'old.example.com': 'Live Redirecting'});
});
