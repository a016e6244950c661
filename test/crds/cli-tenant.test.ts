/**
 * `kubectl doorplate` as a tenant runs it: with a role in one namespace, the chart's own roles, and no operator: what its status
 * would say is written by the test.
 */
import {execFile} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {parseAllDocuments} from 'yaml';
import {accountKind} from '../../operator/api/account.ts';
import {apiKeyKind} from '../../operator/api/api-key.ts';
import {crd} from '../../operator/api/crd.ts';
import {type CustomDomainStatus, customDomainKind} from '../../operator/api/custom-domain.ts';
import {domainClaimKind} from '../../operator/api/domain-claim.ts';
import type {CustomDomain, Plan} from '../../operator/api/foreign.ts';
import {planKind} from '../../operator/api/plan.ts';
import {projectKind} from '../../operator/api/project.ts';
import {
  accounts,
  apiKeys,
  customDomains,
  domainClaims,
  namespaces,
  plans,
  projects,
} from '../../operator/resources/resources.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {type KubeObject, type Resource, defineResource} from '../../operator/kube/objects.ts';
import {configMaps, eventually, crds} from '../support/kube-api.ts';
import {ApiServer, bin} from '../support/kube-server.ts';
import {roleBindings, serviceAccounts, tokenOf} from '../support/service-account.ts';
import {StandInDns} from '../support/stand-in-dns.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const apiVersion = 'doorplate.dev/v1alpha1';
const target = 'docs-acme-k3v9x2m4q7w1z.apps.platform.test';
const rbac = {group: 'rbac.authorization.k8s.io', version: 'v1'};
const kinds: Record<string, Resource> = {
  ConfigMap: configMaps,
  ClusterRole: defineResource({...rbac, plural: 'clusterroles', kind: 'ClusterRole', namespaced: false}),
  ClusterRoleBinding: defineResource({
    ...rbac,
    plural: 'clusterrolebindings',
    kind: 'ClusterRoleBinding',
    namespaced: false,
  }),
  Role: defineResource({...rbac, plural: 'roles', kind: 'Role', namespaced: true}),
  RoleBinding: roleBindings,
};

let server: ApiServer;
let client: Client;
let dns: StandInDns;
let folder: string;
/** kubeconfigs. */
let tenant: string;
let platform: string;

/** What the chart makes for tenants to read, and the roles that it gives them. */
async function installChart(): Promise<void> {
  const args = [
    'template',
    'doorplate',
    `${root}charts/doorplate`,
    '-n',
    'doorplate-system',
    '-f',
    `${root}examples/demo/values.yaml`,
  ];
  const sets = ['--set', `dns.recursive={${dns.address}}`, '--set', 'caaIdentities={ca.test}'];
  const {stdout} = await promisify(execFile)(`${bin}/helm`, [...args, ...sets], {maxBuffer: 16 << 20});
  const objects = parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject | null);
  for (const object of objects) {
    const kind = object && kinds[object.kind];
    if (!kind || !/-(public|view|edit)$/.test(object.metadata.name)) continue;
    const namespace = kind.namespaced ? {namespace: 'doorplate-system'} : {};
    await client.create(kind, {...object, metadata: {...object.metadata, ...namespace}});
  }
}

/** Kubernetes' own role `edit`, which nobody puts together here, as no controller runs. */
const rolesOfEdit = [
  'system:aggregate-to-view',
  'system:aggregate-to-edit',
  'doorplate-system-doorplate-view',
  'doorplate-system-doorplate-edit',
];

async function makeTenant(): Promise<string> {
  const editor = {namespace: 'acme', name: 'editor'};
  await client.create(serviceAccounts, {apiVersion: 'v1', kind: 'ServiceAccount', metadata: editor});
  for (const [role, namespace] of rolesOfEdit.flatMap((each) => [[each, 'acme'] as const, [each, 'free'] as const])) {
    await client.create(roleBindings, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: {namespace, name: role.replaceAll(':', '-')},
      roleRef: {apiGroup: rbac.group, kind: 'ClusterRole', name: role},
      subjects: [{kind: 'ServiceAccount', ...editor}],
    });
  }
  return tokenOf(client, editor, 'https://kubernetes.default.svc');
}

function kubeconfig(name: string, user: object): string {
  const config = JSON.parse(server.kubeconfig(user)) as {contexts: {context: object}[]};
  Object.assign(config.contexts[0]!.context, {namespace: 'acme'});
  writeFileSync(join(folder, name), JSON.stringify(config));
  return join(folder, name);
}

const planOf = (name: string, domains: Plan['spec']['customDomains']): Plan => ({
  apiVersion,
  kind: 'Plan',
  metadata: {name},
  spec: {rateLimit: {requestsPerMinute: 300, requestsPerDay: 10_000}, customDomains: domains},
});

/** A Project that has been deployed. */
async function publish(namespace: string, host: string): Promise<void> {
  await client.create(projects, {
    apiVersion,
    kind: 'Project',
    metadata: {name: 'docs', namespace},
    spec: {serviceRef: {name: 'docs', port: 80}, defaultHost: 'Serve'},
  });
  const status = {observedGeneration: 1, host, firstDeployTime: '2026-01-01T00:00:00Z'};
  await client.patch(projects, `${namespace}/docs`, {status}, {type: 'merge', subresource: 'status'});
}

let token: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-cli-'));
  [server, dns] = await Promise.all([ApiServer.start({rbac: true}), StandInDns.start('apps.platform.test')]);
  client = server.client();
  for (const kind of [planKind, accountKind, projectKind, customDomainKind, domainClaimKind, apiKeyKind]) {
    await client.create(crds, crd(kind) as unknown as KubeObject);
  }
  for (const kind of [plans, accounts, projects, customDomains, domainClaims, apiKeys]) {
    await eventually(() => client.list(kind as Resource));
  }
  for (const [name, account] of [['doorplate-system'], ['acme', 'acme'], ['free']] as const) {
    const labels = account === undefined ? {} : {labels: {'doorplate.dev/account': account}};
    await client.create(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name, ...labels}});
  }
  await installChart();
  await client.create(plans, planOf('pro', {allowed: true, maxHostnamesPerProject: 10}));
  await client.create(accounts, {
    apiVersion,
    kind: 'Account',
    metadata: {name: 'acme'},
    spec: {planRef: {name: 'pro'}},
  });
  await publish('acme', target);
  await publish('free', 'docs-free-0123456789abc.apps.platform.test');
  token = await makeTenant();
  tenant = kubeconfig('tenant.json', {token});
  const file = (name: string): string => join(server.dir, name);
  platform = kubeconfig('platform.json', {'client-certificate': file('admin.crt'), 'client-key': file('admin.key')});
});
afterAll(async () => {
  await client?.close();
  await dns?.stop();
  await server?.stop();
  rmSync(folder, {recursive: true});
});

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}
/** `tells`: is called with each part of what is written to stderr. */
const exec = (
  file: string,
  args: readonly string[],
  env: Record<string, string>,
  tells: (text: string) => void = () => {},
): Promise<Ended> =>
  new Promise((resolve) => {
    const options = {cwd: folder, env: {HOME: folder, PATH: `${bin}:${process.env.PATH}`, ...env}};
    execFile(file, [...args], options, (error, stdout, stderr) =>
      resolve({code: error ? Number(error.code) : 0, stdout, stderr}),
    ).stderr!.on('data', (chunk) => tells(String(chunk)));
  });
const cliFolder = join(root, 'operator/cli');
const cli = (config: string, ...args: string[]) =>
  exec(join(cliFolder, 'kubectl-doorplate'), args, {KUBECONFIG: config});

/** Makes the CustomDomain `docs`, with what an operator would say of it. */
async function attach(status: Partial<CustomDomainStatus>): Promise<CustomDomain> {
  await client.delete(customDomains, 'acme/docs');
  const domain = await client.create<CustomDomain>(customDomains, {
    apiVersion,
    kind: 'CustomDomain',
    metadata: {name: 'docs', namespace: 'acme'},
    spec: {projectRef: {name: 'docs'}, primary: 'docs.example.com'},
  });
  return say(status, domain);
}

const say = (status: Partial<CustomDomainStatus>, {metadata: {generation}}: CustomDomain): Promise<CustomDomain> =>
  client.patch<CustomDomain>(
    customDomains,
    'acme/docs',
    {status: {observedGeneration: generation, ...status}},
    {type: 'merge', subresource: 'status'},
  );

/** The words of a table, line by line. */
const words = (text: string): string[][] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

/** So long ago. */
const since = (hours: number) => ({since: new Date(Date.now() - hours * 3_600_000).toISOString()});

type Host = NonNullable<CustomDomainStatus['hosts']>[number];
const host = (change: Partial<Host>): Host => ({
  hostname: 'docs.example.com',
  role: 'Primary',
  phase: 'AwaitingVerification',
  reason: 'RecordMissing',
  message: 'docs.example.com has no record.',
  since: new Date(Date.now() - 10 * 3_600_000).toISOString(),
  addedAt: '2026-01-01T00:00:00Z',
  waitingFor: 'Customer',
  ...change,
});
const cname = {
  hostname: 'docs.example.com',
  type: 'CNAME',
  name: 'docs',
  zone: 'example.com',
  value: target,
  ttl: 3600,
  state: 'Missing',
} as const;
const live = host({phase: 'Live', reason: 'Serving', message: 'docs.example.com is served.', waitingFor: 'Nobody'});

const requestedReissue = async () =>
  (await client.get(customDomains, 'acme/docs'))?.metadata.annotations?.['doorplate.dev/reissueRequestedAt'];

describe('A tenant', () => {
  beforeAll(async () => {
    await attach({hosts: [host({})], dnsRecords: [cname]});
  });

  test('reads where each hostname stands', async () => {
    const {code, stdout} = await cli(tenant, 'status');
    expect([code, stdout.split('\n').map((line) => line.split(/ +/))]).toEqual([
      0,
      [
        ['HOSTNAME', 'CUSTOMDOMAIN', 'ROLE', 'PHASE', 'REASON', 'WAITING-FOR', 'SINCE'],
        ['docs.example.com', 'docs', 'Primary', 'AwaitingVerification', 'RecordMissing', 'Customer', '10h'],
        [''],
      ],
    ]);
  });

  test('reads what is not done, who has to act and since when, the oldest first', async () => {
    const domain = await attach({hosts: [host({})]});
    const source = {role: 'RedirectSource', phase: 'Verified'} as const;
    await say(
      {
        hosts: [
          live,
          host({hostname: 'a.example.com', ...source, reason: 'IssuanceQueued', waitingFor: 'Nobody', ...since(3)}),
          host({hostname: 'b.example.com', ...source, reason: 'IssuanceStalled', waitingFor: 'Platform', ...since(5)}),
          host({hostname: 'c.example.com', ...since(30)}),
        ],
      },
      domain,
    );
    const [status, kubectlSays] = await Promise.all([
      cli(tenant, 'status', '--waiting'),
      exec(join(bin, 'kubectl'), ['get', 'customdomains', '-o', 'wide'], {KUBECONFIG: tenant}),
    ]);
    await attach({hosts: [host({})], dnsRecords: [cname]});
    expect(words(status.stdout).slice(1)).toEqual([
      ['c.example.com', 'docs', 'Primary', 'AwaitingVerification', 'RecordMissing', 'Customer', '30h'],
      ['b.example.com', 'docs', 'RedirectSource', 'Verified', 'IssuanceStalled', 'Platform', '5h'],
      ['a.example.com', 'docs', 'RedirectSource', 'Verified', 'IssuanceQueued', 'Nobody', '3h'],
    ]);
    // kubectl's columns name the first that waits for somebody.
    const [head = '', row = ''] = kubectlSays.stdout.split('\n');
    const below = (column: string) => row.slice(head.search(new RegExp(`\\b${column}(?=\\s)`))).split(/\s/)[0];
    expect(['WAITING-FOR', 'SINCE', 'WAITING'].map(below)).toEqual(['Platform', '5h', 'b.example.com']);
  });

  test('has the records as a zone file, and as JSON', async () => {
    const [zone, json] = await Promise.all([
      cli(tenant, 'records', 'docs', '-o', 'zone'),
      cli(tenant, 'records', 'docs.example.com', '-o', 'json'),
    ]);
    expect(zone.stdout).toBe(`$ORIGIN example.com.\ndocs 3600 IN CNAME ${target}.\n`);
    expect(JSON.parse(json.stdout)).toEqual([{namespace: 'acme', ...cname, observed: []}]);
  });

  test('is told what is missing, who has to act and until when, by the exit code too', async () => {
    const {code, stdout} = await cli(tenant, 'why', 'Docs.Example.com');
    expect(code).toBe(4);
    expect(stdout).toBe(`docs.example.com (CustomDomain docs): RecordMissing (AwaitingVerification, for 10h)
  Found    The hostname has no DNS record.
  Record   CNAME docs -> ${target} (TTL 3600) in the zone example.com
  Needed   Create the records that the message names.
  Who      the customer
  Until    2026-01-08 00:00 UTC: automatic checks end then
  Message  docs.example.com has no record.

Project docs: Pending
  Found    It was created just now. Doorplate checks it next.
  Needed   The message names the next step.
  Who      no one: Doorplate continues automatically
  Message  It was created just now. Doorplate checks it next.
`);
  });

  test('asks for a check', async () => {
    const began = Date.now();
    const {code, stderr} = await cli(tenant, 'verify', 'docs');
    expect([code, stderr]).toEqual([0, 'A check of the CustomDomain docs in the namespace acme was requested.\n']);
    const asked = (await client.get(customDomains, 'acme/docs'))?.metadata.annotations?.['doorplate.dev/requestedAt'];
    expect(Date.parse(asked ?? '')).toBeGreaterThanOrEqual(began);
  });

  test('waits for what comes of it, and is told each change', async () => {
    const domain = await attach({hosts: [host({})]});
    let heard = '';
    const waited = exec(
      join(cliFolder, 'kubectl-doorplate'),
      ['verify', 'docs', '--wait'],
      {KUBECONFIG: tenant},
      (text) => {
        heard += text;
      },
    );
    const lastHandledReconcileAt = await eventually(
      async () =>
        (await client.get(customDomains, 'acme/docs'))?.metadata.annotations?.['doorplate.dev/requestedAt'] ?? false,
    );
    await say({hosts: [host({phase: 'Verified', reason: 'Issuing', waitingFor: 'CertificateAuthority'})]}, domain);
    await eventually(() => heard.includes('Verified'));
    await say({hosts: [live], lastHandledReconcileAt: String(lastHandledReconcileAt)}, domain);
    const {code, stdout, stderr} = await waited;
    const told = stderr.split('\n').filter((line) => line.startsWith('docs.example.com'));
    expect([code, stdout]).toEqual([0, '']);
    expect(told.slice(-2).map((line) => line.split(/ {3}/).slice(1, 3))).toEqual([
      ['Verified', 'Issuing'],
      ['Live', 'Serving'],
    ]);
  });

  test('is not told that all is done by what was Live before the check', async () => {
    await attach({hosts: [live]});
    const {code, stderr} = await cli(tenant, 'verify', 'docs', '--wait', '--timeout', '1s');
    expect([code, stderr]).toEqual([3, expect.stringContaining('the check is not finished yet')]);
  });

  test('requests new certificates, and waits until all are replaced', async () => {
    const domain = await attach({hosts: [live]});
    const late = await cli(tenant, 'reissue', 'docs.example.com', '--wait', '--timeout', '1s');
    expect([late.code, late.stderr]).toEqual([3, expect.stringContaining('not all certificates are replaced yet')]);
    const former = await requestedReissue();
    const waited = cli(tenant, 'reissue', 'docs', '--wait');
    const lastHandledReissueAt = await eventually(async () => {
      const value = await requestedReissue();
      return value !== former && value;
    });
    await say({hosts: [live], lastHandledReissueAt: String(lastHandledReissueAt)}, domain);
    expect(await waited).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(
        'New certificates for the CustomDomain docs in the namespace acme were requested.',
      ),
    });
  });

  test('lists keys and revokes one', async () => {
    await cli(tenant, 'key', 'create', 'ci', '--expires', '90d');
    const {stdout} = await cli(tenant, 'key', 'list');
    expect(stdout).toMatch(
      /^NAME +SCOPES +READY +REASON +LAST-USED +EXPIRES\nci +domains:read +False +Pending +- +\d{4}-/,
    );
    expect(await cli(tenant, 'key', 'revoke', 'ci')).toMatchObject({code: 0});
    expect(await client.get(apiKeys, 'acme/ci')).toBeUndefined();
    expect(await cli(tenant, 'key', 'revoke', 'ci')).toMatchObject({
      code: 1,
      stderr: 'error: there is no ApiKey ci in the namespace acme: kubectl doorplate key list -n acme\n',
    });
  });

  test('revokes all keys that are there, and names the one that is not', async () => {
    await cli(tenant, 'key', 'create', 'ci');
    expect(await cli(tenant, 'key', 'revoke', 'none', 'ci')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'ApiKey ci was revoked in the namespace acme.\n' +
        'error: there is no ApiKey none in the namespace acme: kubectl doorplate key list -n acme\n',
    });
    expect(await client.get(apiKeys, 'acme/ci')).toBeUndefined();
  });

  test.each([
    ['a CustomDomain that is not there', ['why', 'none'], 'there is no CustomDomain none in the namespace acme'],
    [
      'another namespace',
      ['status', '-n', 'other'],
      'you may not list customdomains in the namespace other. Ask for the role view',
    ],
    ['all namespaces', ['status', '-A'], 'you may not list customdomains. Ask for the role view'],
    [
      'settings that are elsewhere',
      ['check', 'x.example.com', '--settings', 'default/none'],
      "the platform's settings could not be read: the ConfigMap default/none",
    ],
    ['a file that is not there', ['check', '-f', 'none.yaml'], "none.yaml can't be read: ENOENT"],
    ['a hostname that the API server refuses', ['check', '192.0.2.1'], 'the CustomDomain docs would be refused: spec.'],
  ])('that names %s is told what to do', async (_, args, said) => {
    expect(await cli(tenant, ...args)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`error: ${said}`),
    });
  });
});

const hold = (hostname: string): Promise<KubeObject> =>
  client.create(domainClaims, {
    apiVersion,
    kind: 'DomainClaim',
    metadata: {name: hostname},
    spec: {tenant: {account: 'somebody-else'}, proof: 'Platform'},
  });

const checkedInFree = async () => (await cli(tenant, 'check', 'spare.example.com', '-n', 'free', '-o', 'json')).stdout;

describe('A tenant that checks hostnames before they are applied', () => {
  beforeAll(async () => {
    await client.delete(customDomains, 'acme/docs');
    for (const hostname of ['taken.example.com', 'spare.example.com']) dns.point(hostname, target);
    await hold('taken.example.com');
  });

  test('is told nothing of the claims of others: what is held reads as what is not', async () => {
    const [taken, spare] = await Promise.all(
      ['taken', 'spare'].map((name) => cli(tenant, 'check', `${name}.example.com`)),
    );
    expect(taken!.stdout).toBe(spare!.stdout.replaceAll('spare', 'taken'));
    expect([taken!.code, spare!.code]).toEqual([0, 0]);
    expect(taken!.stdout + taken!.stderr).not.toContain('somebody-else');
    expect(taken!.stderr).toBe(spare!.stderr);
  });

  test('is told what could not be checked with their rights', async () => {
    const {stderr} = await cli(tenant, 'check', 'spare.example.com');
    expect(stderr).toBe(
      '\nNot checked: the plan, because you may not read the Account acme; whether another tenant owns a hostname, because you may not read DomainClaims.\n',
    );
  });

  test('has DNS and CAA records checked all the same', async () => {
    dns.forbid('docs.blocked.test');
    dns.point('docs.blocked.test', target);
    const {code, stdout} = await cli(tenant, 'check', 'docs.blocked.test', 'old.example.com');
    expect(code).toBe(4);
    expect(stdout).toMatch(/docs\.blocked\.test +Primary +Verified +CAABlocksIssuer +Customer\n/);
    expect(stdout).toMatch(/old\.example\.com +RedirectSource +AwaitingVerification +RecordMissing +Customer\n/);
  });

  test('of a namespace without an Account is told by the default plan', async () => {
    expect(JSON.parse(await checkedInFree())).toMatchObject({hosts: [{reason: 'PlanNotFound'}]});
    await client.create(plans, planOf('free', {allowed: false, maxHostnamesPerProject: 0}));
    expect(JSON.parse(await checkedInFree())).toMatchObject({hosts: [{reason: 'PlanUpgradeRequired'}]});
  });

  test('has it all with the rights of the platform', async () => {
    const {code, stdout, stderr} = await cli(platform, 'check', 'taken.example.com');
    expect([code, stderr]).toEqual([4, '']);
    expect(stdout).toContain('HostnameClaimed');
  });
});

/** A hostname that was Live before something happened, and is served until then. */
const servedUntil = new Date(Date.now() + 48 * 3_600_000).toISOString().replace(/\.\d+/, '.000');
const endsSoon = (reason: string, message: string): Partial<Host> => ({
  ...live,
  reason,
  message: `${message} docs.example.com is served until then.`,
  waitingFor: 'Customer',
  verifiedAt: '2026-01-01T00:00:00Z',
  liveAt: '2026-01-01T00:00:00Z',
  certificate: {name: 'docs', notAfter: '2030-01-01T00:00:00Z'},
  servedUntil,
});
const works = {...endsSoon('Serving', ''), waitingFor: 'Nobody', servedUntil: undefined} as const;

/** The phases and reasons that a check foresees for the CustomDomain `docs` and further hostnames, and its exit code. */
async function checked(...hostnames: string[]) {
  const {code, stdout} = await cli(tenant, 'check', ...hostnames, '-o', 'json');
  const {hosts} = JSON.parse(stdout) as {hosts: (Host & {clear: boolean})[]};
  return {code, hosts: hosts.map((h) => `${h.clear} ${h.phase} ${h.reason} ${h.servedUntil ?? '-'}`), read: hosts};
}

describe('A tenant that checks what status says already', () => {
  beforeAll(() => {
    for (const name of ['docs', 'new', 'old']) dns.point(`${name}.example.com`, target);
  });
  afterAll(() => client.delete(customDomains, 'acme/docs'));

  test('learns that a hostname is served until a time, because the plan has no custom domains any more', async () => {
    const refused = 'The account acme is on the plan tiny, which does not allow custom domains. Upgrade the plan.';
    await attach({hosts: [host(endsSoon('PlanUpgradeRequired', refused))]});
    const {code, hosts, read} = await checked('docs.example.com', 'new.example.com');
    expect([code, hosts]).toEqual([
      4,
      [`false Live PlanUpgradeRequired ${servedUntil}`, 'false NotAccepted PlanUpgradeRequired -'],
    ]);
    expect(read.map(({message}) => message)).toEqual([`${refused} docs.example.com is served until then.`, refused]);
    const {stdout} = await cli(tenant, 'check', 'docs.example.com');
    expect(stdout).toMatch(/Until .*: it is served until then/);
  });

  test('learns that the plan refuses it after that', async () => {
    await attach({hosts: [host({phase: 'NotAccepted', reason: 'PlanUpgradeRequired'})]});
    expect(await checked('docs.example.com')).toMatchObject({
      code: 4,
      hosts: ['false NotAccepted PlanUpgradeRequired -'],
    });
  });

  test('learns how many hostnames the plan allows by those that it refuses', async () => {
    const domain = await attach({});
    const spec = {redirects: [{from: 'old.example.com'}]};
    const changed = await client.patch<CustomDomain>(customDomains, 'acme/docs', {spec}, {type: 'merge'});
    expect(changed.metadata.uid).toBe(domain.metadata.uid);
    const old = {...endsSoon('HostnameLimitReached', 'The plan allows 1.'), hostname: 'old.example.com'};
    await say({hosts: [host(works), host({...old, role: 'RedirectSource', addedAt: '2026-01-02T00:00:00Z'})]}, changed);
    const {code, hosts} = await checked('docs.example.com', 'new.example.com');
    expect([code, hosts]).toEqual([
      4,
      [
        'true Live Serving -',
        'false NotAccepted HostnameLimitReached -',
        `false Live HostnameLimitReached ${servedUntil}`,
      ],
    ]);
  });

  test('learns until when a hostname is served whose record is gone', async () => {
    dns.point('docs.example.com', 'elsewhere.example');
    await attach({hosts: [host(endsSoon('DNSDrifted', 'It is gone.'))]});
    const {code, hosts} = await checked('docs.example.com');
    dns.point('docs.example.com', target);
    expect([code, hosts]).toEqual([4, [`false Live DNSDrifted ${servedUntil}`]]);
  });

  // All reasons: test/unit/cli/check/published.test.ts.
  test.each<[code: number, says: string, change: Partial<Host>]>([
    [5, 'Live EdgeUnreachable', works],
    [4, 'AwaitingVerification HostnameClaimed', {}],
    [4, 'AwaitingVerification VerificationExpired', {}],
  ])('ends with %i if status says %s, which the check does not see', async (code, says, change) => {
    const [phase, reason] = says.split(' ') as [Host['phase'], string];
    await attach({hosts: [host({...change, phase, reason, waitingFor: code === 5 ? 'Platform' : 'Customer'})]});
    expect(await checked('docs.example.com')).toMatchObject({code, hosts: [`false ${says} -`]});
  });

  test('ends with 0 if status says that it is served, or on its way', async () => {
    for (const change of [
      works,
      {...works, phase: 'Verified', reason: 'Issuing', waitingFor: 'CertificateAuthority'},
    ]) {
      await attach({hosts: [host(change as Partial<Host>)]});
      expect(await checked('docs.example.com')).toMatchObject({code: 0, hosts: [expect.stringMatching(/^true /)]});
    }
  });
});

describe('Any kubeconfig', () => {
  test('with a credential plugin works', async () => {
    const plugin = join(folder, 'credentials.sh');
    const answer = {apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: {token}};
    writeFileSync(plugin, `#!/bin/sh\ncat <<'END'\n${JSON.stringify(answer)}\nEND\n`, {mode: 0o755});
    const user = {exec: {apiVersion: 'client.authentication.k8s.io/v1', command: plugin, interactiveMode: 'Never'}};
    expect(await cli(kubeconfig('exec.json', user), 'status')).toMatchObject({code: 0});
  });

  test('with a credential plugin that fails is told of it', async () => {
    const user = {
      exec: {apiVersion: 'client.authentication.k8s.io/v1', command: 'no-such-plugin', interactiveMode: 'Never'},
    };
    const {code, stderr} = await cli(kubeconfig('failing.json', user), 'status');
    expect([code, stderr]).toEqual([1, expect.stringContaining('no-such-plugin')]);
  });

  test('of an OIDC provider, with a token that is still good, works', async () => {
    const config = {'id-token': token, 'client-id': 'x', 'idp-issuer-url': 'https://idp.invalid'};
    const user = {'auth-provider': {name: 'oidc', config}};
    expect(await cli(kubeconfig('oidc.json', user), 'status')).toMatchObject({code: 0});
  });

  test('has its names completed by kubectl', async () => {
    await attach({hosts: [live]});
    const path = {KUBECONFIG: tenant, PATH: `${cliFolder}:${bin}:${process.env.PATH}`};
    const {stdout} = await exec('kubectl', ['__complete', 'doorplate', 'why', 'd'], path);
    expect(stdout).toMatch(/^docs\s*\n:4\n$/);
  });
});
