/** What may be written into a Plan, an Account, a Project, a CustomDomain and an ApiKey: one table through zod and through a real API server. */
import {execFile} from 'node:child_process';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {customDomainKind} from '../../operator/api/custom-domain.ts';
import {accountKind} from '../../operator/api/account.ts';
import {apiKeyKind} from '../../operator/api/api-key.ts';
import {fit} from '../../operator/domain/status/status-size.ts';
import {longestSpec, longestStatusOf} from '../support/longest.ts';
import {domainClaimKind, verificationMethods} from '../../operator/api/domain-claim.ts';
import {planKind} from '../../operator/api/plan.ts';
import {projectKind} from '../../operator/api/project.ts';
import {apiVersionOf, type KubeObject, pathOf, type Resource} from '../../operator/kube/objects.ts';
import {accounts, apiKeys, customDomains, domainClaims, plans, projects} from '../../operator/resources/resources.ts';
import {Transport} from '../../operator/kube/client/transport.ts';
import {namespaces} from '../support/kube-api.ts';
import {type ApiServer, bin} from '../support/kube-server.ts';
import {Platform} from '../support/platform.ts';
import type {z} from 'zod';
import type {Row} from './specs.ts';
import {
  accounts as accountRows,
  apiKeys as apiKeyRows,
  customDomains as customDomainRows,
  domainClaims as domainClaimRows,
  plans as planRows,
  projects as projectRows,
} from './specs.ts';

const namespace = 'crds';
const kinds: {resource: Resource; schema: z.ZodType; rows: Row[]}[] = [
  {resource: plans as Resource, schema: planKind.spec, rows: planRows},
  {resource: accounts as Resource, schema: accountKind.spec, rows: accountRows},
  {resource: domainClaims as Resource, schema: domainClaimKind.spec, rows: domainClaimRows},
  {resource: customDomains as Resource, schema: customDomainKind.spec, rows: customDomainRows},
  {resource: projects as Resource, schema: projectKind.spec, rows: projectRows},
  {resource: apiKeys as Resource, schema: apiKeyKind.spec, rows: apiKeyRows},
];

interface Cause {
  reason: string;
  message: string;
  field: string;
}
interface Answer {
  status: number;
  body: KubeObject & {
    spec: Record<string, unknown>;
    status?: Record<string, unknown>;
    message?: string;
    details?: {causes?: Cause[]};
  };
}

let server: ApiServer;
let api: Transport;
let kubectl: (...args: string[]) => Promise<string>;

/** A busy API server gives up on the largest objects (504), which says nothing of them: asked again, a few times. */
async function ask(request: Parameters<Transport['request']>[0]): ReturnType<Transport['request']> {
  for (let tries = 5; ; tries--) {
    const reply = await api.request(request);
    if (reply.status !== 504 || tries === 1) return reply;
  }
}

async function send(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  resource: Resource,
  object?: object,
  {name, dryRun = false}: {name?: string; dryRun?: boolean} = {},
): Promise<Answer> {
  const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const {status, body} = await ask({
    method,
    path: pathOf(resource, {namespace: resource.namespaced ? namespace : undefined, name}),
    contentType,
    query: {dryRun: dryRun ? 'All' : undefined},
    ...(object && {body: JSON.stringify(object)}),
  });
  return {status, body: JSON.parse(body) as Answer['body']};
}

const objectOf = (resource: Resource, name: string, spec: unknown): object => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  metadata: {name, ...(resource.namespaced && {namespace})},
  spec,
});
const tryOut = (resource: Resource, spec: unknown) =>
  send('POST', resource, objectOf(resource, 'tried-out', spec), {dryRun: true});

/** What zod has against a spec, as the API server writes it. */
function complaints(schema: (typeof kinds)[number]['schema'], spec: unknown): {field: string; message: string}[] {
  const result = schema.safeParse(spec);
  return result.success
    ? []
    : result.error.issues.map((i) => ({
        field: i.path.reduce<string>((at, p) => (typeof p === 'number' ? `${at}[${p}]` : `${at}.${String(p)}`), 'spec'),
        message: i.message,
      }));
}

beforeAll(async () => {
  server = await Platform.server();
  const file = (name: string) => join(server.dir, name);
  const user = {'client-certificate': file('admin.crt'), 'client-key': file('admin.key')};
  await writeFile(file('kubeconfig'), server.kubeconfig(user));
  // What kubectl has learnt of a server stays with it: another may have the same port an hour later.
  const env = {...process.env, KUBECONFIG: file('kubeconfig'), KUBECACHEDIR: file('kubectl')};
  kubectl = async (...args) => (await promisify(execFile)(join(bin, 'kubectl'), args, {env})).stdout;
  api = new Transport(server.credentials);
  await send('POST', namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name: namespace}});
});

afterAll(async () => {
  await api.close();
  await server.stop();
});

describe.each(kinds)('$resource.kind', ({resource, schema, rows}) => {
  const cases = (wanted: boolean): [string, Row][] =>
    rows.filter((r) => (r.refusedAt === undefined) === wanted).map((r) => [r.name, r]);

  test.each(cases(true))('is accepted: %s', async (_, {spec}) => {
    expect(complaints(schema, spec)).toEqual([]);
    const {status, body} = await tryOut(resource, spec);
    expect([status, body.message]).toEqual([201, undefined]);
  });

  test.each(cases(false))('is refused: %s', async (_, {spec, refusedAt, message = ''}) => {
    // The API server alone knows of other field managers.
    const [own] = message.split('. If your manifest lacks');
    const found = complaints(schema, spec);
    expect(found).toContainEqual({field: refusedAt, message: expect.stringContaining(own!)});
    expect(JSON.stringify(found)).not.toContain('field manager');
    const {status, body} = await tryOut(resource, spec);
    expect([status, body.details?.causes]).toEqual([
      422,
      expect.arrayContaining([expect.objectContaining({field: refusedAt, message: expect.stringContaining(message)})]),
    ]);
  });

  test('has rows of both kinds, each once', () => {
    expect(new Set(rows.map((r) => r.name)).size).toBe(rows.length);
    expect([cases(true).length > 0, cases(false).length > 0]).toEqual([true, true]);
  });
});

/** A claim that records a verification method. */
const claimBy = (verifiedBy: string) => ({
  ...objectOf(domainClaims as Resource, 'docs.example.com', {tenant: {account: 'acme'}, proof: 'DNS'}),
  status: {generation: 0, verifiedBy, verifiedAt: '2026-01-01T00:00:00Z'},
});
const createBy = (verifiedBy: string) => send('POST', domainClaims as Resource, claimBy(verifiedBy), {dryRun: true});

describe('A DomainClaim', () => {
  test.each(verificationMethods)('records the verification method %s', async (method) => {
    const {status, body} = await createBy(method);
    expect([status, body.status]).toEqual([201, claimBy(method).status]);
  });

  test('records no other method', async () => {
    const {status, body} = await createBy('Word');
    expect([status, body.details?.causes?.[0]?.field]).toEqual([422, 'status.verifiedBy']);
    expect(domainClaimKind.status.safeParse(claimBy('Word').status).success).toBe(false);
  });
});

describe('A CustomDomain', () => {
  const spec = {projectRef: {name: 'docs'}, primary: 'docs.example.com', redirects: [{from: 'old.example.com'}]};

  test('has the defaults of the schema, in zod and in the cluster alike', async () => {
    const {body} = await tryOut(customDomains as Resource, spec);
    const defaulted = {...spec, redirects: [{from: 'old.example.com', status: 301}]};
    expect(body.spec).toEqual(defaulted);
    expect(customDomainKind.spec.parse(spec)).toEqual(defaulted);
    const withNull = {...spec, redirects: [{from: 'old.example.com', status: null}]};
    expect([
      (await tryOut(customDomains as Resource, withNull)).body.spec,
      customDomainKind.spec.safeParse(withNull).data,
    ]).toEqual([defaulted, defaulted]);
  });

  test('begins with observedGeneration -1, so that nobody takes it for observed', async () => {
    const {status, body} = await send(
      'POST',
      customDomains as Resource,
      objectOf(customDomains as Resource, 'fresh', spec),
    );
    expect([status, body.status]).toEqual([201, {observedGeneration: -1}]);
  });

  test('has no status but by the status subresource', async () => {
    const forged = {
      observedGeneration: 1,
      phase: 'Live',
      hosts: [{hostname: 'docs.example.com', verifiedAt: '2026-01-01T00:00:00Z'}],
    };
    const created = await send(
      'POST',
      customDomains as Resource,
      {...objectOf(customDomains as Resource, 'forged', spec), status: forged},
      {dryRun: true},
    );
    expect([created.status, created.body.status]).toEqual([201, {observedGeneration: -1}]);
    await send('POST', customDomains as Resource, objectOf(customDomains as Resource, 'later', spec));
    const patched = await send('PATCH', customDomains as Resource, {status: forged}, {name: 'later', dryRun: true});
    expect(patched.status).toBe(200);
    expect(patched.body.status).not.toMatchObject({phase: 'Live'});
  });

  test('belongs to one Project for ever; everything else may change', async () => {
    await send('POST', customDomains as Resource, objectOf(customDomains as Resource, 'immutable', spec));
    const change = (to: object) =>
      send('PATCH', customDomains as Resource, {spec: to}, {name: 'immutable', dryRun: true});
    const moved = await change({projectRef: {name: 'shop'}});
    expect([moved.status, moved.body.details?.causes]).toEqual([
      422,
      [
        expect.objectContaining({
          field: 'spec.projectRef',
          message: expect.stringContaining(
            'is immutable: delete this CustomDomain and create one for the other project',
          ),
        }),
      ],
    ]);
    const other = await change({primary: 'new.example.com', redirects: [{from: 'docs.example.com', status: 308}]});
    expect(other.status).toBe(200);
  });
});

test('A Project has the defaults of the schema, in zod and in the cluster alike, and begins with observedGeneration -1', async () => {
  const spec = {serviceRef: {name: 'web', port: 80}};
  const {body} = await tryOut(projects as Resource, spec);
  expect([body.spec, body.status]).toEqual([{...spec, defaultHost: 'Serve'}, {observedGeneration: -1}]);
  expect(projectKind.spec.parse(spec)).toEqual({...spec, defaultHost: 'Serve'});
});

test('An Account has a name that a label can hold, for namespaces to name it', async () => {
  const [good, refused] = await Promise.all(
    [63, 64].map((length) =>
      send('POST', accounts as Resource, objectOf(accounts as Resource, 'a'.repeat(length), {planRef: {name: 'pro'}}), {
        dryRun: true,
      }),
    ),
  );
  expect(good!.status).toBe(201);
  expect([refused!.status, refused!.body.message]).toEqual([
    422,
    expect.stringContaining('the name of an Account has at most 63 characters'),
  ]);
});

test('An ApiKey has a name that fits into its token, and begins with observedGeneration -1', async () => {
  const spec = {hashes: [{sha256: 'a'.repeat(64)}], scopes: ['domains:read']};
  const [good, refused] = await Promise.all(
    [63, 64].map((length) =>
      send('POST', apiKeys as Resource, objectOf(apiKeys as Resource, 'a'.repeat(length), spec), {dryRun: true}),
    ),
  );
  expect([good!.status, good!.body.spec, good!.body.status]).toEqual([201, spec, {observedGeneration: -1}]);
  expect([refused!.status, refused!.body.message]).toEqual([
    422,
    expect.stringContaining('the name of an ApiKey has at most 63 characters'),
  ]);
});

test('A Plan has no status: what is not promised is not waited for', async () => {
  const spec = {
    rateLimit: {requestsPerMinute: 1, requestsPerDay: 1},
    customDomains: {allowed: false, maxHostnamesPerProject: 0},
  };
  const {status, body} = await send(
    'POST',
    plans as Resource,
    {...objectOf(plans as Resource, 'tried-out', spec), status: {observedGeneration: 1}},
    {dryRun: true},
  );
  expect([status, body.status]).toEqual([201, undefined]);
});

/** The CustomDomains of all namespaces that a field selector finds. */
const select = (selector: string) => kubectl('get', 'customdomains', '-A', '--field-selector', selector, '-o', 'name');

describe('kubectl', () => {
  test.each([
    ['dpdom', 'CustomDomain'],
    ['customdomain', 'CustomDomain'],
    ['dpproj', 'Project'],
    ['dpplan', 'Plan'],
    ['dpacct', 'Account'],
    ['project', 'Project'],
    ['plan', 'Plan'],
    ['account', 'Account'],
    ['dpclaim', 'DomainClaim'],
    ['dpkey', 'ApiKey'],
    ['apikey', 'ApiKey'],
  ])('knows %s', async (word, kind) => {
    expect(await kubectl('explain', word)).toMatch(new RegExp(`^GROUP: +doorplate\\.dev\nKIND: +${kind}\n`));
  });

  test('finds all kinds in the category doorplate', async () => {
    expect(
      (await kubectl('api-resources', '--categories=doorplate', '-o', 'name')).trim().split('\n').toSorted(),
    ).toEqual([
      'accounts.doorplate.dev',
      'apikeys.doorplate.dev',
      'customdomains.doorplate.dev',
      'domainclaims.doorplate.dev',
      'plans.doorplate.dev',
      'projects.doorplate.dev',
    ]);
  });

  test('lists all kinds together by the category, of namespaces and of the cluster', async () => {
    const domain = {projectRef: {name: 'listed'}, primary: 'listed.example.com'};
    await send('POST', customDomains as Resource, objectOf(customDomains as Resource, 'listed', domain));
    await send('POST', accounts as Resource, objectOf(accounts as Resource, 'listed', {planRef: {name: 'pro'}}));
    const names = (await kubectl('get', 'doorplate', '-A', '-o', 'name')).split('\n');
    expect(names).toEqual(
      expect.arrayContaining(['customdomain.doorplate.dev/listed', 'account.doorplate.dev/listed']),
    );
    expect(await kubectl('get', 'doorplate', '-A')).toMatch(/account\.doorplate\.dev\/listed +pro/);
  });

  test.each([
    ['spec.primary', 'selected.example.com'],
    ['spec.projectRef.name', 'selected'],
  ])('selects CustomDomains by %s', async (field, value) => {
    for (const [name, primary] of [
      ['selected', 'selected.example.com'],
      ['other', 'other.example.com'],
    ] as const) {
      const spec = {projectRef: {name}, primary};
      await send('POST', customDomains as Resource, objectOf(customDomains as Resource, name, spec));
    }
    expect(await select(`${field}=${value}`)).toBe('customdomain.doorplate.dev/selected\n');
    expect(await select(`${field}=none`)).toBe('');
  });

  test.each([
    ['dpdom', [], 'NAME PRIMARY PHASE HOSTS READY REASON AGE'],
    ['dpdom', ['-o', 'wide'], 'NAME PRIMARY PHASE HOSTS READY REASON AGE WAITING-FOR SINCE WAITING TARGET MESSAGE'],
    ['dpproj', [], 'NAME HOST DEPLOYED READY REASON AGE'],
    ['dpproj', ['-o', 'wide'], 'NAME HOST DEPLOYED READY REASON AGE URL MESSAGE'],
  ])('get %s %j shows %s', async (word, args, columns) => {
    await send(
      'POST',
      projects as Resource,
      objectOf(projects as Resource, 'shown', {serviceRef: {name: 'web', port: 80}}),
    );
    await send(
      'POST',
      customDomains as Resource,
      objectOf(customDomains as Resource, 'shown', {projectRef: {name: 'shown'}, primary: 'docs.example.com'}),
    );
    expect((await kubectl('get', word, '-n', namespace, ...args)).split('\n')[0]!.trim().split(/ +/).join(' ')).toBe(
      columns,
    );
  });

  test.each(['dpdom', 'dpproj'])('explains every field of %s', async (word) => {
    // Of the fields below spec and status; metadata is Kubernetes' own.
    const fields = (await kubectl('explain', word, '--recursive'))
      .split('\n')
      .flatMap((line) => /^ {4,}(\w+)\t/.exec(line)?.[1] ?? []);
    expect(fields.length).toBeGreaterThan(word === 'dpproj' ? 10 : 25);
    for (const path of word === 'dpproj'
      ? ['spec.serviceRef.port', 'spec.defaultHost', 'status.firstDeployTime']
      : ['spec.primary', 'spec.redirects.status', 'status.hosts.waitingFor', 'status.dnsRecords.observed']) {
      expect(await kubectl('explain', `${word}.${path}`)).toMatch(/DESCRIPTION:\n {4}\S+/);
    }
    const crd = JSON.parse(
      await kubectl(
        'get',
        'crd',
        word === 'dpproj' ? 'projects.doorplate.dev' : 'customdomains.doorplate.dev',
        '-o',
        'json',
      ),
    ) as {spec: {versions: {schema: {openAPIV3Schema: Schema}}[]}};
    const {spec, status} = crd.spec.versions[0]!.schema.openAPIV3Schema.properties!;
    expect([...undescribed(spec!, 'spec'), ...undescribed(status!, 'status')]).toEqual([]);
  });
});

test('The largest CustomDomain, 501 hostnames of 253 characters with all that can be said of them, leaves its owner 128 KiB of metadata', async () => {
  const resource = customDomains as Resource;
  expect((await send('POST', resource, objectOf(resource, 'largest', longestSpec))).status).toBe(201);
  const {status, body} = await ask({
    method: 'PATCH',
    path: `${pathOf(resource, {namespace, name: 'largest'})}/status`,
    contentType: 'application/merge-patch+json',
    // As the operator writes it.
    query: {dryRun: 'All', fieldManager: 'doorplate'},
    body: JSON.stringify({status: fit(longestStatusOf('AwaitingVerification'))}),
  });
  expect(status).toBe(200);
  const bytes = Buffer.byteLength(body);
  console.log(`${bytes} bytes, managedFields among them`);
  expect(bytes).toBeLessThan((1536 - 128) * 1024);
  await send('DELETE', resource, undefined, {name: 'largest'});
});

interface Schema {
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
}

/** The paths of a schema without a description. */
function undescribed(schema: Schema, path: string): string[] {
  return [
    ...(schema.description ? [] : [path]),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) => undescribed(property, `${path}.${name}`)),
    ...(schema.items ? undescribed(schema.items, `${path}[]`) : []),
  ];
}
