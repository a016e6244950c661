/**
 * How a pipeline takes over what another field manager wrote (docs/how-to/gitops.md): its table, step by step, with server-side apply by two
 * managers on a real API server. The page quotes each message and each JSON patch verbatim.
 */
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {accountKind} from '../../operator/api/account.ts';
import {apiKeyKind} from '../../operator/api/api-key.ts';
import {crd, type CustomKind} from '../../operator/api/crd.ts';
import {customDomainKind} from '../../operator/api/custom-domain.ts';
import {domainClaimKind} from '../../operator/api/domain-claim.ts';
import {planKind} from '../../operator/api/plan.ts';
import {projectKind} from '../../operator/api/project.ts';
import {apiVersionOf, type KubeObject, pathOf, type Resource} from '../../operator/kube/objects.ts';
import {Transport} from '../../operator/kube/client/transport.ts';
import {accounts, apiKeys, customDomains, domainClaims, plans, projects} from '../../operator/resources/resources.ts';
import {crds, eventually, namespaces} from '../support/kube-api.ts';
import {ApiServer} from '../support/kube-server.ts';
import {installKinds} from '../support/platform.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/how-to/gitops.md', import.meta.url)), 'utf8');
const namespace = 'take-over';
/** The server's kinds come from the schemas, not from the files in crds/, so that a mutant of a schema reaches the server. */
const kinds: CustomKind[] = [customDomainKind, projectKind, planKind, accountKind, apiKeyKind, domainClaimKind];

type Patch = readonly {op: 'add' | 'remove' | 'replace' | 'test'; path: string; value?: unknown}[];
interface Situation {
  name: string;
  resource?: Resource;
  /** Git applies this first. */
  before: object;
  /** A person, by `kubectl edit`. */
  edit?: Patch;
  /** Another pipeline applies this. */
  other?: object;
  /** Then Git applies this. */
  next: object;
  /** The answer to it: the API server's message, or what else stays. */
  refused?: string;
  /** Git's apply is accepted, but this is the spec. */
  stays?: object;
  /** Whether a forced apply is refused in the same way. Otherwise a forced apply takes the entry over. */
  forced?: true;
  patch?: Patch;
  /** The spec in the end. */
  after: object;
}

const docs = 'docs.example.com';
const base = {projectRef: {name: 'docs'}, primary: docs};
const old = {from: 'old.example.com'};
const hash = {sha256: 'a'.repeat(64)};
const served = (from: string, status = 301) => ({from, status});
const takeOver = (lacking: string) =>
  `If your manifest lacks ${lacking}, another field manager has added it, and an apply keeps it: the page GitOps of Doorplate's documentation shows how to take it over`;
const addEntry = (value: object): Patch => [{op: 'add', path: '/spec/redirects/-', value}];
const removeEntry = (at: number, from: string): Patch => [
  {op: 'test', path: `/spec/redirects/${at}/from`, value: from},
  {op: 'remove', path: `/spec/redirects/${at}`},
];
const many = (count: number, end: string) => Array.from({length: count}, (_, i) => ({from: `n${i}${end}`}));

const situations: Situation[] = [
  {
    name: 'A person added a redirect, and Git makes it the primary',
    before: {...base, redirects: [old]},
    edit: addEntry({from: 'new.example.com'}),
    next: {...base, primary: 'new.example.com', redirects: [old, {from: docs}]},
    refused:
      'the redirect from new.example.com must not come from the primary: use another hostname, or remove the redirect. ' +
      takeOver('this entry'),
    forced: true,
    patch: [...removeEntry(1, 'new.example.com'), {op: 'replace', path: '/spec/primary', value: 'new.example.com'}],
    after: {...base, primary: 'new.example.com', redirects: [served(old.from), served(docs)]},
  },
  {
    name: 'A person set `to` in an entry, and Git changes the primary',
    before: {...base, redirects: [old]},
    edit: [{op: 'add', path: '/spec/redirects/0/to', value: docs}],
    next: {...base, primary: 'new.example.com', redirects: [old]},
    refused:
      'the redirect from old.example.com must go to the primary, not to docs.example.com: enter the primary, or omit `to`. ' +
      takeOver('this entry'),
    forced: true,
    patch: [{op: 'remove', path: '/spec/redirects/0/to'}],
    after: {...base, primary: 'new.example.com', redirects: [served(old.from)]},
  },
  {
    name: 'A person changed a status that Git has',
    before: {...base, redirects: [served(old.from)]},
    edit: [{op: 'replace', path: '/spec/redirects/0/status', value: 308}],
    next: {...base, redirects: [served(old.from)]},
    refused:
      'Apply failed with 1 conflict: conflict with "kubectl-edit" using doorplate.dev/v1alpha1: .spec.redirects[from="old.example.com"].status',
    after: {...base, redirects: [served(old.from)]},
  },
  {
    name: 'A person changed a status that Git leaves to its default',
    before: {...base, redirects: [old]},
    edit: [{op: 'replace', path: '/spec/redirects/0/status', value: 308}],
    next: {...base, redirects: [old]},
    stays: {...base, redirects: [served(old.from, 308)]},
    forced: true,
    patch: [{op: 'remove', path: '/spec/redirects/0/status'}],
    after: {...base, redirects: [served(old.from)]},
  },
  {
    name: 'Git removes an entry that another pipeline applies, too',
    before: {...base, redirects: [old]},
    other: {...base, redirects: [old]},
    next: base,
    stays: {...base, redirects: [served(old.from)]},
    forced: true,
    patch: removeEntry(0, old.from),
    after: {...base, redirects: []},
  },
  {
    name: 'Another pipeline has the hostname in another spelling',
    before: base,
    other: {...base, redirects: [{from: 'Old.example.com'}]},
    next: {...base, redirects: [old]},
    refused:
      'the redirect from Old.example.com and another redirect are the same hostname (case and a trailing dot make no difference): ' +
      `a hostname may have only one redirect. ${takeOver('one of them')}`,
    forced: true,
    patch: [
      {op: 'test', path: '/spec/redirects/0/from', value: 'Old.example.com'},
      {op: 'replace', path: '/spec/redirects/0/from', value: 'old.example.com'},
    ],
    after: {...base, redirects: [served(old.from)]},
  },
  {
    name: 'Two lists together have more than 50 names with capitals',
    before: base,
    other: {...base, redirects: [{from: 'Old.example.com'}]},
    next: {...base, redirects: many(50, '.Example.net')},
    refused:
      'at most 50 redirects may have capital letters or a trailing dot, but 51 have, such as Old.example.com: ' +
      `write the others in lower case and without the dot. ${takeOver('this entry')}`,
    forced: true,
    patch: removeEntry(0, 'Old.example.com'),
    after: {...base, redirects: many(50, '.Example.net').map(({from}) => served(from))},
  },
  {
    name: 'Two lists together have more than 500 entries',
    before: base,
    other: {...base, redirects: [old]},
    next: {...base, redirects: many(500, '.example.net')},
    refused: 'spec.redirects: Too many: 501: must have at most 500 items',
    forced: true,
    patch: removeEntry(0, old.from),
    after: {...base, redirects: many(500, '.example.net').map(({from}) => served(from))},
  },
  {
    name: 'A person added a scope to an ApiKey that Git applies',
    resource: apiKeys as Resource,
    before: {hashes: [hash], scopes: ['domains:read']},
    edit: [{op: 'add', path: '/spec/scopes/-', value: 'keys:write'}],
    next: {hashes: [hash], scopes: ['domains:read']},
    stays: {hashes: [hash], scopes: ['domains:read', 'keys:write']},
    forced: true,
    patch: [
      {op: 'test', path: '/spec/scopes/1', value: 'keys:write'},
      {op: 'remove', path: '/spec/scopes/1'},
    ],
    after: {hashes: [hash], scopes: ['domains:read']},
  },
  {
    name: 'A DomainClaim names an account, and Git names a namespace',
    resource: domainClaims as Resource,
    before: {},
    edit: [{op: 'add', path: '/spec', value: {tenant: {account: 'acme'}}}],
    next: {tenant: {namespaceUID: '5c3e0b9e'}},
    refused: `name either the account (acme) or the namespaceUID (5c3e0b9e), not both. ${takeOver('one of them')}`,
    forced: true,
    patch: [
      {op: 'remove', path: '/spec/tenant/account'},
      {op: 'add', path: '/spec/tenant/namespaceUID', value: '5c3e0b9e'},
    ],
    after: {tenant: {namespaceUID: '5c3e0b9e'}, proof: 'Platform'},
  },
  {
    name: 'A person set one limit of an Account, and Git the other',
    resource: accounts as Resource,
    before: {planRef: {name: 'pro'}, rateLimit: {requestsPerMinute: 60, requestsPerDay: 1000}},
    edit: [{op: 'replace', path: '/spec/rateLimit/requestsPerDay', value: 2000}],
    next: {planRef: {name: 'pro'}, rateLimit: {requestsPerMinute: 5000}},
    refused:
      'requestsPerDay (2000) must be at least requestsPerMinute (5000): a lower limit would be used up within a minute. ' +
      takeOver('one of them'),
    forced: true,
    patch: [{op: 'replace', path: '/spec/rateLimit/requestsPerDay', value: 100_000}],
    after: {planRef: {name: 'pro'}, rateLimit: {requestsPerMinute: 5000, requestsPerDay: 100_000}},
  },
];

interface Answer {
  status: number;
  message: string;
  spec: object | undefined;
  managers: string[];
}

let server: ApiServer;
let api: Transport;

async function send(
  method: 'POST' | 'PATCH',
  resource: Resource,
  {name, contentType, body, query = {}}: {name?: string; contentType: string; body: object; query?: object},
): Promise<Answer> {
  const path = pathOf(resource, {namespace: resource.namespaced ? namespace : undefined, name});
  const reply = await api.request({method, path, contentType, query: {...query}, body: JSON.stringify(body)});
  const {message = '', spec, metadata} = JSON.parse(reply.body) as KubeObject & {message?: string; spec?: object};
  const managers = (metadata as {managedFields?: {manager: string}[]}).managedFields ?? [];
  return {status: reply.status, message, spec, managers: managers.map((entry) => entry.manager).toSorted()};
}

const apply = (manager: string, resource: Resource, name: string, spec: object, force = false) =>
  send('PATCH', resource, {
    name,
    contentType: 'application/apply-patch+yaml',
    query: {fieldManager: manager, force: String(force)},
    body: {apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: {name}, spec},
  });
const change = (manager: string, resource: Resource, name: string, body: Patch) =>
  send('PATCH', resource, {name, contentType: 'application/json-patch+json', query: {fieldManager: manager}, body});

/** Applies the other manager's write: the statuses of the requests. */
async function prepare({before, edit, other}: Situation, resource: Resource, name: string): Promise<number[]> {
  if (Object.keys(before).length === 0) {
    const body = {apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: {name}, spec: edit![0]!.value};
    const query = {fieldManager: 'kubectl-create'};
    return [(await send('POST', resource, {contentType: 'application/json', body, query})).status];
  }
  const answers = [await apply('git', resource, name, before)];
  if (edit) answers.push(await change('kubectl-edit', resource, name, edit));
  if (other) answers.push(await apply('other', resource, name, other));
  return answers.map(({status}) => status);
}

/** Result of Git's apply: the refusal, or the spec. Tries the forced apply as well if it makes no difference. */
async function applied(
  {next, forced, refused}: Situation,
  resource: Resource,
  name: string,
): Promise<(string | object)[]> {
  const answers = [await apply('git', resource, name, next)];
  if (forced) answers.push(await apply('git', resource, name, next, true));
  return answers.map(({status, message, spec}) =>
    status < 400 ? spec! : message.includes(refused!) ? refused! : message,
  );
}

beforeAll(async () => {
  server = await ApiServer.start();
  const client = server.client();
  await installKinds(client, kinds.map(crd) as unknown as Parameters<typeof installKinds>[1], []);
  await client.close();
  api = new Transport(server.credentials);
  const body = {apiVersion: 'v1', kind: 'Namespace', metadata: {name: namespace}};
  await send('POST', namespaces as Resource, {contentType: 'application/json', body});
});
afterAll(async () => {
  await api.close();
  await server.stop();
});

describe('What another field manager wrote', () => {
  test.each(situations.map((s, i): [string, Situation, string] => [s.name, s, `s${i}.example.com`]))(
    'is taken over as docs/how-to/gitops.md says: %s',
    async (_, situation, name) => {
      const {resource = customDomains as Resource, next, refused, stays, forced, patch, after} = situation;
      for (const status of await prepare(situation, resource, name)) expect([200, 201]).toContain(status);
      const expected = refused ?? stays;
      expect(await applied(situation, resource, name)).toEqual(forced ? [expected, expected] : [expected]);
      const patched = patch ? (await change('kubectl-patch', resource, name, patch)).status : 200;
      const taken = await apply('git', resource, name, next, patch === undefined);
      expect([patched, taken.status, taken.spec]).toEqual([200, 200, after]);
      for (const text of [situation.name, refused?.split(' If your')[0] ?? '', shown(patch)])
        expect(page).toContain(text);
    },
  );
});

describe('Null, as a template leaves it', () => {
  const endless = {...hash, expireTime: null};
  const limited = {rateLimit: {requestsPerMinute: 1, requestsPerDay: 1}};
  test.each<[string, Resource, object]>([
    ['CustomDomain: redirects', customDomains as Resource, {...base, redirects: null}],
    [
      'CustomDomain: to and status of a redirect',
      customDomains as Resource,
      {...base, redirects: [{...old, to: null, status: null}]},
    ],
    ['Project: defaultHost', projects as Resource, {serviceRef: {name: 'web', port: 80}, defaultHost: null}],
    [
      'Plan: maxProjects',
      plans as Resource,
      {...limited, customDomains: {allowed: true, maxHostnamesPerProject: 1}, maxProjects: null},
    ],
    ['Account: rateLimit', accounts as Resource, {planRef: {name: 'pro'}, rateLimit: null}],
    [
      'ApiKey: both ends and the cap',
      apiKeys as Resource,
      {hashes: [endless], scopes: ['a:b'], expireTime: null, rateLimit: null},
    ],
    ['DomainClaim: proof', domainClaims as Resource, {tenant: {account: 'acme'}, proof: null}],
  ])('is applied: %s', async (what, resource, spec) => {
    const answer = await apply(
      'git',
      resource,
      `${what.toLowerCase().replaceAll(/[: ]+/g, '-')}.null.example.com`,
      spec,
    );
    expect([answer.status, answer.message]).toEqual([201, '']);
  });

  test('keeps the redirects of others', async () => {
    await apply('git', customDomains as Resource, 'kept', {...base, redirects: null});
    await apply('other', customDomains as Resource, 'kept', {...base, redirects: [old]});
    const answer = await apply('git', customDomains as Resource, 'kept', {...base, redirects: null}, true);
    expect([answer.status, answer.spec]).toEqual([200, {...base, redirects: [served(old.from)]}]);
  });

  test('is refused for a tenant of a DomainClaim, which says who owns a hostname', async () => {
    const spec = {tenant: {account: 'acme', namespaceUID: null}};
    const answer = await apply('git', domainClaims as Resource, 'null.example.com', spec);
    expect([answer.status, answer.message]).toEqual([422, expect.stringContaining('spec.tenant.namespaceUID')]);
  });
});

test('A refusal repeats no control characters that somebody wrote', async () => {
  const spec = {tenant: {account: 'acme', namespaceUID: '\u001b[2J'}};
  const {status, message} = await apply('git', domainClaims as Resource, 'escape.example.com', spec);
  expect([status, message]).toEqual([422, expect.stringMatching(/: name either the account or the namespaceUID$/)]);
});

test('A refusal of many repeated hostnames of the greatest length has no CEL source', async () => {
  const long = many(425, `.${Array(4).fill('a'.repeat(60)).join('.')}`);
  const redirects = [...long, ...long.slice(0, 75).map(({from}) => ({from: `${from}.`}))];
  const {status, message} = await apply('git', customDomains as Resource, 'many', {...base, redirects});
  expect([status, message]).toEqual([422, expect.stringContaining('but 75 have, such as n0.')]);
  expect(message).not.toMatch(/failed rule|self\./);
});

test('An atomic list is taken over by a forced apply', async () => {
  const [one, two] = ['a', 'b'].map((digit) => ({sha256: digit.repeat(64)}));
  await apply('other', apiKeys as Resource, 'ci', {hashes: [one], scopes: ['a:b']});
  const spec = {hashes: [two], scopes: ['a:b']};
  expect((await apply('git', apiKeys as Resource, 'ci', spec)).status).toBe(409);
  expect((await apply('git', apiKeys as Resource, 'ci', spec, true)).spec).toEqual(spec);
});

describe('The scopes of an ApiKey, which an older release had as an atomic list', () => {
  const resource = apiKeys as Resource;
  const twice = {
    contentType: 'application/json',
    query: {dryRun: 'All'},
    body: {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: {name: 'twice'},
      spec: {hashes: [hash], scopes: ['a:b', 'a:b']},
    },
  };

  /** Changes the type of the list, and waits until the API server follows it: as a set it names the repeated entry. */
  async function listIs(type: 'atomic' | 'set'): Promise<void> {
    const kind = crd(apiKeyKind) as {spec: {versions: {schema: {openAPIV3Schema: object}}[]}};
    const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/scopes/x-kubernetes-list-type';
    expect(JSON.stringify(kind)).toContain('"x-kubernetes-list-type":"set"');
    const name = 'apikeys.doorplate.dev';
    expect((await change('doorplate', crds as Resource, name, [{op: 'replace', path, value: type}])).status).toBe(200);
    await eventually(async () => {
      const {message} = await send('POST', resource, twice);
      return message.includes('Duplicate value') === (type === 'set');
    }, 60_000);
  }

  const both = {hashes: [hash], scopes: ['domains:read', 'keys:write']};
  const one = {hashes: [hash], scopes: ['domains:read']};

  test('are owned scope by scope after one apply of the same manifest: a scope that the next apply lacks is then removed', async () => {
    await listIs('atomic');
    for (const name of ['unchanged', 'changed']) expect((await apply('git', resource, name, both)).status).toBe(201);
    await listIs('set');
    expect((await apply('git', resource, 'unchanged', both)).spec).toEqual(both);
    expect((await apply('git', resource, 'unchanged', one)).spec).toEqual(one);
    // docs/how-to/upgrade.md warns of this: the API server knows no owner of single scopes yet.
    expect((await apply('git', resource, 'changed', one)).spec).toEqual(both);
  });
});

/** The text of a patch on the page. */
const shown = (patch: Patch | undefined): string => (patch ? `\`${JSON.stringify(patch)}\`` : '--force-conflicts');
