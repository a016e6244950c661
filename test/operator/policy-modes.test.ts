/**
 * Doorplate on a cluster that has other teams already, as Helm installs it there: what changes for whom with each mode and scope of the
 * admission policy. A real API server with roles; no Pod runs. Which policy refuses what, where it denies: test/cluster/policy.test.ts.
 */
import {execFile} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {kubectlDoorplate} from '../support/cli.ts';
import {eventually} from '../support/kube-api.ts';
import {ApiServer, bin} from '../support/kube-server.ts';
import {root} from '../support/pages.ts';
import {
  Api,
  apiKey,
  certificate,
  certificateKinds,
  configMap,
  create,
  customDomain,
  ingress,
  liftBan,
  type Manifest,
  patch,
  routeKinds,
  ruleOf,
  secret,
  serverSideApply,
  solverLabels,
  standIn,
  type Write,
} from '../support/policy.ts';

const teams = ['team-a', 'team-b', 'team-c'];
/** Of an Account since after the installation. */
const customer = 'acme';
const userOf = (namespace: string, name: string) => `system:serviceaccount:${namespace}:${name}`;
const [pipeline, mesh] = [userOf('ci', 'deployer'), userOf('mesh', 'controller')];
const certManager = userOf('cert-manager', 'cert-manager');
const developer = (namespace: string) => userOf(namespace, 'developer');
const as = (user: string) => ({'Impersonate-User': user});

/** What stands before anybody installs anything: by whom, and by which tool. */
interface Standing {
  user: string;
  tool: string;
  object: Manifest;
}
const standing = (user: string, tool: string, namespace: string, object: Manifest): Standing => ({
  user,
  tool,
  object: {...object, metadata: {...object.metadata, namespace}},
});
const route = (name: string): Manifest => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: {name},
  spec: {a: 'b'},
});
const order = (name: string): Manifest => ({
  apiVersion: 'acme.cert-manager.io/v1',
  kind: 'Order',
  metadata: {name},
  spec: {a: 'b'},
});
/** Of no type that the API server reads: it would warn. */
const opaque = (name: string): Manifest => ({...secret(name), type: 'Opaque'});
const web = ingress('web', {rules: [ruleOf('web.example')]});
const theirs: Standing[] = [
  standing(pipeline, 'helm', 'team-a', web),
  standing(developer('team-a'), 'kubectl', 'team-a', certificate('web', 'web.example')),
  standing(developer('team-b'), 'kubectl', 'team-b', web),
  // Of such a name as those of hostnames have.
  standing(developer('team-b'), 'kubectl', 'team-b', opaque('cache-0123456789abc')),
  standing(developer('team-b'), 'kubectl', 'team-b', opaque('plain')),
  standing(mesh, 'mesh', 'team-c', route('mesh')),
  standing(pipeline, 'helm', 'team-c', configMap('web')),
  standing(
    certManager,
    'cert-manager-challenges',
    'team-a',
    ingress('solver', {rules: [ruleOf('web.example')]}, {labels: solverLabels}),
  ),
  standing(certManager, 'cert-manager-orders', 'team-a', order('web')),
  standing(certManager, 'cert-manager-certificates-issuing', 'team-a', opaque('web-0123456789abc')),
];
const placeOf = ({object: {kind, metadata}}: Standing) => `${metadata.namespace} ${kind} ${metadata.name}`;

interface Deed {
  user: string;
  what: string;
  write: Write;
}
/** Adds to what stands, as its writer would. */
const changed = (one: Standing): Deed => {
  const {apiVersion, kind, metadata} = one.object;
  const body = {metadata: {annotations: {changed: 'again'}}};
  return {
    user: one.user,
    what: `changes ${placeOf(one)}`,
    write: patch(metadata.namespace, apiVersion, kind, metadata.name, body),
  };
};
/** A dry run by its body: where there is one, the query does not count. */
const deleted = (one: Standing): Deed => {
  const {write, ...deed} = changed(one);
  const body = {apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'], propagationPolicy: 'Foreground'};
  return {...deed, what: `deletes ${placeOf(one)}`, write: {method: 'DELETE', path: write.path, body}};
};
const created = (user: string, namespace: string, object: Manifest): Deed => ({
  user,
  what: `creates a ${object.kind} in ${namespace}`,
  write: create(namespace, object),
});
const preview = ingress('preview', {rules: [ruleOf('preview.example')]});
/** What teams, the pipeline and the controller do on any day. */
const deeds: Deed[] = [
  ...theirs.map(changed),
  ...theirs.filter(({user}) => user !== certManager).map(deleted),
  ...teams.map((team) => created(developer(team), team, preview)),
  ...teams.map((team) => created(pipeline, team, certificate('preview', 'preview.example'))),
  ...teams.map((team) => created(mesh, team, route('preview'))),
];

let server: ApiServer;
let api: Api;
let folder: string;

const run = async (file: string, ...args: string[]): Promise<string> =>
  (
    await promisify(execFile)(join(bin, file), args, {
      cwd: root,
      env: {HOME: folder, PATH: process.env.PATH, KUBECONFIG: join(folder, 'kubeconfig')},
      maxBuffer: 16 << 20,
    })
  ).stdout;

/** The chart with the values that have no default, and these; returns what Helm says to whoever installs. */
const helm = async (...sets: string[]): Promise<string> => {
  const values = [
    'image.repository=registry.example.net/doorplate',
    'platform.zone=apps.example.net',
    'edge.addresses={192.0.2.10}',
    'issuerRef.name=acme',
    'ingressClassName=edge',
  ];
  const all = [...values, ...sets].flatMap((set) => ['--set', set]);
  return run('helm', 'upgrade', '--install', 'doorplate', 'charts/doorplate', '-n', 'doorplate-system', ...all);
};

/** What the API server answers to a dry run: nothing where the write passes without a word. */
async function answerTo({user, write}: Pick<Deed, 'user' | 'write'>): Promise<string> {
  const {status, message, warnings} = await api.send(write, as(user), 'dryRun=All');
  return [status === 200 || status === 201 ? '' : `${status} ${message}`, warnings]
    .filter((said) => said !== '')
    .join(' ');
}
const answers = async (all: readonly Deed[]): Promise<string[]> => {
  const said: string[] = [];
  for (const deed of all) {
    const answer = await answerTo(deed);
    if (answer !== '') said.push(`${deed.user} ${deed.what}: ${answer}`);
  }
  return said;
};

/** Resolves when a write is answered so: policies hold a moment after they were written. */
const comesTo = (deed: Pick<Deed, 'user' | 'write'>, answer: RegExp) =>
  eventually(async () => {
    expect([deed.write.path, await answerTo(deed)]).toEqual([deed.write.path, expect.stringMatching(answer)]);
    return true;
  }, 60_000);
const byCustomer = {user: developer(customer), write: create(customer, preview)};
const bindings = ['routes', 'secrets'] as const;
type Binding = (typeof bindings)[number];
/** What one of the teams writes that is of each binding: the API server hears of them one by one. */
const byTeam: Record<Binding, Pick<Deed, 'user' | 'write'>> = {
  routes: {user: developer('team-a'), write: create('team-a', preview)},
  secrets: {user: developer('team-a'), write: create('team-a', opaque('preview-0123456789abc'))},
};
const passes = () => /^$/;
const refused = (binding: string) => new RegExp(`^403 .*-${binding}' denied request: only `);
const warned = (binding: string) => new RegExp(`^299 .*-${binding}'`);
async function teamComesTo(answer: (binding: Binding) => RegExp): Promise<void> {
  for (const binding of bindings) await comesTo(byTeam[binding], answer(binding));
}

/** How many writes a binding has refused, warned of or noted, as the API server counts them. */
async function counted(binding: Binding | 'routes-elsewhere'): Promise<number> {
  const metrics = await run('kubectl', 'get', '--raw', '/metrics');
  const lines = metrics
    .split('\n')
    .filter((line) => line.startsWith('apiserver_validating_admission_policy_check_total{'));
  const its = lines.filter((line) => line.includes(`-${binding}"`));
  return its.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

async function makeWorld(): Promise<void> {
  const rights = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {name: 'writers'},
    // More than `admin`: what refuses is the policy.
    rules: [
      {
        apiGroups: ['networking.k8s.io', 'gateway.networking.k8s.io', 'cert-manager.io', 'acme.cert-manager.io'],
        resources: ['*'],
        verbs: ['*'],
      },
      {apiGroups: ['doorplate.dev'], resources: ['customdomains', 'customdomains/status', 'apikeys'], verbs: ['*']},
      {apiGroups: [''], resources: ['secrets', 'configmaps', 'namespaces'], verbs: ['*']},
    ],
  };
  const users = [pipeline, mesh, certManager, ...[...teams, customer].map(developer)];
  const bound = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: {name: 'writers'},
    roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'writers'},
    subjects: users.map((name) => ({apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name})),
  };
  const places = [...teams, customer].map((name) => ({apiVersion: 'v1', kind: 'Namespace', metadata: {name}}));
  for (const object of [...[...routeKinds, ...certificateKinds].map(standIn), ...places, rights, bound])
    await api.make(object);
  for (const {user, tool, object} of theirs)
    await eventually(async () => {
      const write = serverSideApply(object);
      const path = write.path.replace(/\?.*/, `?fieldManager=${tool}&force=true`);
      const {status, message} = await api.send({...write, path}, as(user));
      if (status !== 201 && status !== 200) throw new Error(message);
      return true;
    });
}

const check = (...args: string[]) =>
  kubectlDoorplate({credentials: server.credentials, namespace: 'default'}, ['policy', 'check', ...args]);

let asItWas: string[];
let notes: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-modes-'));
  server = await ApiServer.start({rbac: true, audit: true});
  const [cert, key] = ['admin.crt', 'admin.key'].map((name) => join(server.dir, name));
  writeFileSync(join(folder, 'kubeconfig'), server.kubeconfig({'client-certificate': cert, 'client-key': key}));
  api = new Api(server.credentials);
  await makeWorld();
  asItWas = await answers(deeds);
  await run(
    'helm',
    'install',
    'doorplate-crds',
    'charts/doorplate-crds',
    '-n',
    'doorplate-system',
    '--create-namespace',
  );
  notes = await helm();
  await api.make({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {name: customer, labels: {'doorplate.dev/account': 'acme'}},
  });
  await eventually(async () => {
    for (const team of teams)
      await api.make({...customDomain('own', `${team}.example`), metadata: {name: 'own', namespace: team}});
    return true;
  });
});
afterAll(async () => {
  await api?.close();
  await server?.stop();
  rmSync(folder, {recursive: true});
});

/** What of Doorplate's own a team can't write, with all rights, in a Namespace that is no Account's. */
const ofDoorplate = (namespace: string): Write[] => [
  patch(namespace, 'doorplate.dev/v1alpha1', 'CustomDomain', 'own', {status: {phase: 'Live'}}, 'status'),
  create(namespace, configMap('x', {labels: {'app.kubernetes.io/managed-by': 'doorplate'}})),
  patch(undefined, 'v1', 'Namespace', namespace, {metadata: {labels: {'doorplate.dev/account': 'rich'}}}),
  create(namespace, apiKey('x', liftBan('2026-01-02T00:00:00Z').metadata)),
];
async function expectOwnRefused(): Promise<void> {
  for (const write of ofDoorplate('team-a')) await comesTo({user: developer('team-a'), write}, /^403 .* only /);
}

describe('Doorplate on a cluster with other teams', () => {
  test('installed with the values that it needs, refuses its customers’ own routes, and changes nothing for the teams', async () => {
    expect(asItWas).toEqual([]);
    expect(notes).toContain('kubectl doorplate policy check');
    await comesTo(byCustomer, refused('routes'));
    await eventually(async () => {
      await answerTo(byTeam.routes);
      return (await counted('routes-elsewhere')) > 0;
    });
    expect(await answers(deeds)).toEqual([]);
    await expectOwnRefused();
  });

  test.each([
    ['Audit', passes],
    ['Warn', warned],
  ])('with mode %s and scope All refuses nobody but who writes what is its own', async (mode, answer) => {
    await helm(`admissionPolicy.mode=${mode}`, 'admissionPolicy.scope=All');
    const before = await counted('routes');
    await comesTo(byCustomer, answer('routes'));
    await teamComesTo(answer);
    expect(await counted('routes')).toBeGreaterThan(before);
    await expectOwnRefused();
  });

  test('lists beforehand what it refuses with mode Deny and scope All, and nothing when that was excepted as it says', async () => {
    await helm();
    await comesTo(byCustomer, refused('routes'));
    await teamComesTo(passes);
    const {code, out} = await check('-o', 'json');
    const {objects} = JSON.parse(out) as {objects: {namespace: string; kind: string; name: string}[]};
    const listed = objects.map(({namespace, kind, name}) => `${namespace} ${kind} ${name}`);
    const {told} = await check();
    expect([code, listed.length]).toEqual([5, 5]);

    await helm('admissionPolicy.scope=All');
    await teamComesTo(refused);
    const denied: string[] = [];
    for (const one of theirs)
      if (refused('(routes|secrets)').test(await answerTo(changed(one)))) denied.push(placeOf(one));
    expect(denied.toSorted()).toEqual(listed.toSorted());

    const [except = ''] = /kubectl label namespace .*/.exec(told) ?? [];
    await run('kubectl', ...except.split(' ').slice(1));
    await teamComesTo(passes);
    expect(await answers(deeds)).toEqual([]);
    await comesTo(byCustomer, refused('routes'));
    const after = await check('-o', 'json');
    expect([after.code, JSON.parse(after.out)]).toEqual([0, {objects: [], notChecked: []}]);
  });

  test('tells by the audit log, beforehand, whom it refuses with mode Deny and scope All', async () => {
    await run('kubectl', 'label', 'namespace', ...teams, 'doorplate.dev/admission-');
    await helm('admissionPolicy.mode=Audit', 'admissionPolicy.scope=All');
    await comesTo(byCustomer, passes());
    const counts = await Promise.all(bindings.map(counted));
    await eventually(
      async () =>
        (await answers(deeds)).length === 0 &&
        (await Promise.all(bindings.map(counted))).every((n, i) => n > counts[i]!),
    );
    const log = () => readFileSync(join(server.dir, 'audit.log'), 'utf8');
    const before = log().length;
    await answers(deeds);
    // A line of the log is written before the request is answered.
    const auditLog = log().slice(before);
    const {code, out} = await kubectlDoorplate(
      {credentials: server.credentials, namespace: 'default'},
      ['policy', 'audit', 'audit.log', '-o', 'json'],
      {read: () => Promise.resolve(auditLog)},
    );
    const told = (JSON.parse(out) as Record<'user' | 'namespace' | 'resource', string>[]).map(
      ({user, namespace, resource}) => `${user} ${namespace} ${resource}`,
    );

    await helm('admissionPolicy.scope=All');
    await teamComesTo(refused);
    const denied = new Set<string>();
    for (const deed of deeds) {
      const [, group, namespace, resource] =
        /^\/apis?\/(?:([^/]+)\/)?v1\/namespaces\/([^/]+)\/([^/]+)/.exec(deed.write.path) ?? [];
      const kind = group === undefined ? resource : `${resource}.${group}`;
      if ((await answerTo(deed)).startsWith('403')) denied.add(`${deed.user} ${namespace} ${kind}`);
    }
    expect([code, told.length > 5, told]).toEqual([5, true, [...denied].toSorted()]);
  });

  test('lets a pipeline and a controller go on that are excepted by their names, and refuses the teams', async () => {
    await helm('admissionPolicy.scope=All', `admissionPolicy.exceptUsers={${pipeline},${mesh}}`);
    await teamComesTo(refused);
    const excepted = deeds.filter(({user}) => user === pipeline || user === mesh);
    await eventually(async () => (await answers(excepted)).length === 0);
    expect(excepted.length).toBeGreaterThan(8);
  });
});
