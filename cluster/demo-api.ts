/** The demo's part about the API: a key, a request of each kind, and an account that is driven over its limit. */
import {acmeRoot, apply, eventually, fetchEdge, sh} from './cluster.ts';
import type {Reply} from './cluster.ts';

export const apiHost = 'api.platform.test';

/** What the demo shows and asserts with. */
export interface Stage {
  show: (text: string) => void;
  assert: (holds: boolean, what: string) => void;
}

export interface Ask {
  method?: string;
  key?: string;
  body?: object;
  headers?: Record<string, string>;
}

/** What the API answered; the demo asserts what it reads of it. */
// oxlint-disable-next-line typescript/no-explicit-any
type Answer = Reply & {json: any};

/** One request of the API, through the edge. */
export async function ask(path: string, {method = 'GET', key, body, headers = {}}: Ask = {}): Promise<Answer> {
  const reply = await fetchEdge(`https://${apiHost}${path}`, {
    method,
    ca: await acmeRoot(),
    body: body && JSON.stringify(body),
    headers: {
      ...(key !== undefined && {authorization: `Bearer ${key}`}),
      ...(body && {'content-type': 'application/json'}),
      ...headers,
    },
  });
  return {...reply, json: reply.body === '' ? undefined : JSON.parse(reply.body)};
}

/** Makes a key as a person with kubectl does; one of that name that is left from before goes first. */
export async function makeKey(namespace: string, name: string, ...scopes: string[]): Promise<string> {
  await sh('kubectl', ['delete', 'apikey', '-n', namespace, name, '--ignore-not-found']);
  const token = (
    await sh('node', [
      'operator/cli/main.ts',
      'key',
      'create',
      name,
      '-n',
      namespace,
      ...scopes.flatMap((s) => ['--scope', s]),
    ])
  ).trim();
  await eventually('the API knows the key', async () => (await ask('/v1/account', {key: token})).status === 200);
  return token;
}

/** A program of the platform's, which may act for a customer: its ServiceAccount has the role `edit` in their namespace. */
async function platformToken(namespace: string): Promise<string> {
  const subject = {kind: 'ServiceAccount', namespace: 'platform', name: 'backend'};
  await apply([
    {apiVersion: 'v1', kind: 'Namespace', metadata: {name: subject.namespace}},
    {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {namespace: subject.namespace, name: subject.name}},
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: {namespace, name: 'platform-backend'},
      roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit'},
      subjects: [subject],
    },
  ]);
  return (
    await sh('kubectl', ['create', 'token', subject.name, '-n', subject.namespace, '--audience', 'doorplate'])
  ).trim();
}

/** A link to the page, as the platform's backend asks for it. */
export async function makeLink(namespace: string, body: object): Promise<string> {
  const token = await platformToken(namespace);
  return eventually('the API creates a link', async () => {
    const {status, json} = await ask('/v1/sessions', {
      method: 'POST',
      key: token,
      body,
      headers: {'doorplate-namespace': namespace},
    });
    if (status !== 201) throw new Error(JSON.stringify(json));
    return json.url as string;
  });
}

/** Adds a hostname to a project through the API, which owns the domains of that project from then on. The hostname waits for its record. */
export async function addDomain({show, assert}: Stage, key: string, project: string, hostname: string): Promise<void> {
  const path = `/v1/projects/${project}/domains`;
  const added = await ask(path, {method: 'POST', key, body: {hostname}});
  assert(added.status === 201 || added.status === 200, `POST ${path} adds ${hostname}`);
  const waiting = await eventually('the missing record is reported', async () => {
    const {json} = await ask(`${path}/${hostname}`, {key});
    return json.reason === 'RecordMissing' && json;
  });
  show(waiting.message as string);
}

/** The page: a link signs in once. Returns another one, for who looks at the demo. */
export async function showPage({show, assert}: Stage, namespace: string, project: string): Promise<string> {
  const {hash, origin} = new URL(await makeLink(namespace, {project}));
  const follow = () =>
    ask('/session', {method: 'POST', body: {link: hash.slice(1), confirmed: true}, headers: {origin}});
  const signedIn = await follow();
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!;
  show(
    `${origin}/sign-in#... -> ${signedIn.status}\nSet-Cookie: ${String(signedIn.headers['set-cookie']).replace(cookie, '__Host-doorplate=...')}`,
  );
  assert(
    signedIn.status === 200 && signedIn.json.namespace === namespace,
    `the link signs in to the page, only for the namespace ${namespace}`,
  );
  assert((await follow()).status === 401, 'and it works once');
  const domains = await ask(`/v1/projects/${project}/domains`, {headers: {cookie}});
  assert(
    domains.status === 200 && domains.json.hosts.length > 0,
    'with its cookie, the page reads the domains from the API',
  );
  const stolen = await ask('/v1/projects/none/domains', {
    method: 'POST',
    body: {hostname: 'x.example.com'},
    headers: {cookie, origin: 'https://evil.example'},
  });
  assert(stolen.status === 403 && stolen.json.type.endsWith('cross-site'), 'another site cannot use the cookie');
  return makeLink(namespace, {project, scopes: ['domains:read', 'domains:write', 'keys:write']});
}

const limitsOf = ({headers}: Reply): string =>
  ['limit', 'remaining', 'reset']
    .map((name) => `X-RateLimit-${name[0]!.toUpperCase()}${name.slice(1)}: ${headers[`x-ratelimit-${name}`]}`)
    .join('  ');

/**
 * Drives an account on the plan free over its limit. Resolves at the first refusal with what asserts, later, that the wait which
 * it names is enough: the rest of the demo goes on meanwhile.
 */
export async function driveOverLimit({show, assert}: Stage): Promise<() => Promise<void>> {
  await apply([
    {apiVersion: 'doorplate.dev/v1alpha1', kind: 'Account', metadata: {name: 'hobby'}, spec: {planRef: {name: 'free'}}},
    {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'hobby', labels: {'doorplate.dev/account': 'hobby'}}},
  ]);
  await eventually('the API answers', async () => (await ask('/openapi.json')).status === 200);
  const key = await makeKey('hobby', 'demo', 'domains:read');
  let last = await ask('/v1/projects', {key});
  let sent = 1;
  for (; last.status === 200 && sent < 200; sent++) last = await ask('/v1/projects', {key});
  show(
    `${sent} requests later:\nHTTP 429  ${limitsOf(last)}  Retry-After: ${last.headers['retry-after']}\n${last.json.detail}`,
  );
  assert(
    last.status === 429 && last.headers['x-ratelimit-remaining'] === '0' && last.headers['x-ratelimit-limit'] === '60',
    'the plan free has 60 requests a minute; the API refuses the next one and returns Retry-After',
  );
  const again = Date.now() + Number(last.headers['retry-after']) * 1000;
  return async () => {
    await new Promise((resolve) => {
      setTimeout(resolve, Math.max(0, again - Date.now()));
    });
    const reply = await ask('/v1/projects', {key});
    assert(reply.status === 200, `after Retry-After the account on the plan free is served again: ${limitsOf(reply)}`);
  };
}

/** A request of each kind, for a project whose primary is `primary`. Returns the key. */
export async function showApi(
  {show, assert}: Stage,
  namespace: string,
  project: string,
  primary: string,
): Promise<string> {
  const key = await makeKey(namespace, 'demo', 'domains:read', 'domains:write', 'keys:write');
  const told = async (path: string, options: Ask = {}): Promise<Answer> => {
    const reply = await ask(path, {...options, key});
    show(`${(options.method ?? 'GET').padEnd(6)} ${path} -> ${reply.status}\n       ${limitsOf(reply)}`);
    return reply;
  };
  const account = await told('/v1/account');
  assert(
    account.json.plan === 'pro' && account.json.usage.minute.limit === 300,
    'the account is on the plan pro: 300 requests a minute',
  );
  const domains = await told(`/v1/projects/${project}/domains`);
  assert(
    domains.status === 200 && domains.json.domains.primary === primary,
    `the domains of the project: ${JSON.stringify(domains.json.domains)}`,
  );
  const host = await told(`/v1/projects/${project}/domains/${primary}`);
  assert(host.json.phase === 'Live' && host.json.waitingFor === 'Nobody', host.json.message);
  const refused = await told(`/v1/projects/${project}/domains`, {
    method: 'POST',
    body: {hostname: 'new.customer.test'},
  });
  assert(refused.status === 409 && refused.json.type.endsWith('managed-elsewhere'), refused.json.detail);
  const verify = await told(`/v1/projects/${project}/domains/${primary}/verify`, {method: 'POST'});
  assert(verify.status === 202, 'Verify works for objects that kubectl owns, too');
  const made = await told('/v1/keys', {method: 'POST', body: {name: 'temporary', scopes: ['domains:read']}});
  assert(made.status === 201 || made.status === 200, 'the API creates a key with fewer scopes');
  const gone = await told('/v1/keys/temporary', {method: 'DELETE'});
  assert(gone.status === 204, 'and revoked');
  const missing = await told('/v1/projects/nobodys');
  assert(
    missing.status === 404 && missing.headers['content-type'] === 'application/problem+json',
    'a missing object is a problem (RFC 9457) with the same headers',
  );
  return key;
}
