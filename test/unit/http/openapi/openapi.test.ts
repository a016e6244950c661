/** openapi.json: of its names customers' code is made, so they are pinned here. */
import {readFileSync} from 'node:fs';
import {gunzipSync} from 'node:zlib';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {fastify} from 'fastify';
import type {FastifyInstance} from 'fastify';
import {serializerCompiler, validatorCompiler} from 'fastify-type-provider-zod';
import {z} from 'zod';
import {answers} from '../../../../operator/http/answers.ts';
import {describeApi} from '../../../../operator/generate/description.ts';
import {examples} from '../../../../operator/http/openapi/examples.ts';
import {addDocs} from '../../../../operator/http/openapi/openapi.ts';
import {Problem, problems} from '../../../../operator/http/problems.ts';

interface Tree {
  [of: string]: Tree;
}
interface Operation {
  operationId: string;
  responses: Record<string, {$ref?: string; headers?: Tree}>;
}
const described = JSON.parse(JSON.stringify(await describeApi())) as {
  openapi: string;
  info: object;
  servers: object[];
  paths: Record<string, Record<string, Operation>>;
  components: {schemas: Tree; responses: Record<string, {headers: Tree}>};
};
const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({path, method, ...operation})),
);
const {schemas, responses} = described.components;

/** All objects of a tree, with where they stand. */
function nodes(tree: unknown, at = ''): {at: string; node: Record<string, unknown>}[] {
  if (typeof tree !== 'object' || tree === null) return [];
  const below = Object.entries(tree).flatMap(([name, each]) => nodes(each, `${at}/${name}`));
  return [{at, node: tree as Record<string, unknown>}, ...below];
}

describe("The names in customers' code", () => {
  test('the operations are these, and none changes', () => {
    expect(operations.map(({operationId, method, path}) => `${operationId}: ${method} ${path}`).toSorted()).toEqual([
      'addHostname: post /v1/projects/{project}/domains',
      'createKey: post /v1/keys',
      'createSignInLink: post /v1/sessions',
      'endSession: delete /v1/sessions/{id}',
      'endUserSessions: delete /v1/sessions',
      'followChanges: get /v1/events',
      'followDomains: get /v1/projects/{project}/events',
      'getAccount: get /v1/account',
      'getAllUsage: get /v1/usage/all',
      'getDomains: get /v1/projects/{project}/domains',
      'getHostname: get /v1/projects/{project}/domains/{hostname}',
      'getOpenApi: get /openapi.json',
      'getProject: get /v1/projects/{project}',
      'getUsage: get /v1/usage',
      'listChanges: get /v1/audit',
      'listKeys: get /v1/keys',
      'listProjects: get /v1/projects',
      'listSessions: get /v1/sessions',
      'makePrimary: post /v1/projects/{project}/domains/{hostname}/make-primary',
      'reissueCertificates: post /v1/projects/{project}/domains/{hostname}/reissue',
      'removeHostname: delete /v1/projects/{project}/domains/{hostname}',
      'revokeKey: delete /v1/keys/{name}',
      'rotateKey: post /v1/keys/{name}/rotate',
      'setHostname: put /v1/projects/{project}/domains/{hostname}',
      'verifyHostname: post /v1/projects/{project}/domains/{hostname}/verify',
    ]);
  });

  test('the schemas are these, and none changes', () => {
    expect(Object.keys(schemas)).toEqual(
      `Account AccountKey ApiKey ApiKeyPage ApiKeyWithToken AuditActor AuditPage AuditRecord AuditState CustomerText DnsRecord
      DnsZone Domains DomainsSummary EndedSessions FieldError Hostname HostnameRedirect HostnameSettings KeyRotation
      KeyUsage NamespaceUsage NewApiKey NewHostname NewRateLimit NewSignInLink Plan PlanDomains Problem Project
      ProjectPage RateLimit RateLimitUsage Redirect RequestedCheck RequestedDomains RequestedReissue Session SessionOwner SessionPage
      SignInLink TakenOverField Usage UsagePage WindowUsage`.split(/\s+/),
    );
  });

  test('a path of the API without an operationId is refused at the start', async () => {
    const server = await emptyServer();
    expect(() => server.get('/v1/things', {schema: {summary: 'List things'}}, async () => ({}))).toThrow(
      'GET /v1/things has no operationId',
    );
    await server.close();
  });

  test('a schema of one name for two things is refused', async () => {
    const server = await emptyServer();
    const thing = z.object({n: z.int()}).meta({id: 'ThingOfTwoKinds'});
    const schema = {operationId: 'makeThing', body: thing, response: answers({200: thing})};
    server.post('/v1/things', {schema}, async () => ({n: 1}));
    await server.ready();
    expect(() => server.swagger()).toThrow('the schema ThingOfTwoKinds is used in requests and in answers');
    z.globalRegistry.remove(thing);
    await server.close();
  });
});

async function emptyServer(owner = {name: '', origin: undefined as string | undefined}): Promise<FastifyInstance> {
  const server = fastify().setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler);
  server.setErrorHandler((error, _, reply) =>
    error instanceof Problem ? reply.status(error.status).send(error.bodyWithHelp(owner.origin)) : reply.send(error),
  );
  await addDocs(server, owner);
  return server;
}

describe('What generators make of it', () => {
  test('each object is a named schema', () => {
    const nameless = nodes(described)
      .filter(
        ({at, node}) => node.type === 'object' && 'properties' in node && !/^\/components\/schemas\/\w+$/.test(at),
      )
      .map(({at}) => at);
    expect(nameless).toEqual([]);
  });

  test('whole numbers are integers with a format', () => {
    const all = nodes(described).filter(({node}) => node.type === 'number' || node.type === 'integer');
    expect(all.filter(({node}) => node.type === 'number').map(({at}) => at)).toEqual([]);
    expect(all.filter(({node}) => !['int32', 'int64'].includes(String(node.format))).map(({at}) => at)).toEqual([]);
    expect(schemas.Redirect!.properties!.status).toMatchObject({type: 'integer', format: 'int32'});
    expect(schemas.WindowUsage!.properties!.reset).toMatchObject({type: 'integer', format: 'int64'});
  });

  test('answers may have members that a later version adds', () => {
    const inRequests = new Set(
      Object.keys(schemas).filter((name) => /^New|^HostnameSettings$|^KeyRotation$/.test(name)),
    );
    for (const [name, schema] of Object.entries(schemas))
      expect([name, nodes(schema).some(({node}) => node.additionalProperties === false)]).toEqual([
        name,
        inRequests.has(name),
      ]);
  });

  test('a yes or no is a boolean', () => {
    const {parameters} = operations.find(({operationId}) => operationId === 'addHostname') as unknown as {
      parameters: {name: string; schema: object}[];
    };
    expect(parameters.find(({name}) => name === 'dryRun')!.schema).toEqual({type: 'boolean', default: false});
  });

  test('what a request may leave out has its default in words, so that no client must send it', () => {
    const {status} = schemas.NewHostname!.properties!;
    expect(status).not.toHaveProperty('default');
    expect(status!.description).toContain('Default: 301.');
    expect(schemas.NewHostname!.required).toEqual(['hostname']);
  });

  test('nothing is beside a reference', () => {
    expect(nodes(described).filter(({node}) => '$ref' in node && Object.keys(node).length > 1)).toEqual([]);
  });

  test('each example is one of its schema', () => {
    for (const name of Object.keys(examples)) expect(schemas[name]).toHaveProperty('example');
  });
});

const headersOf = (id: string, status: string): string[] => {
  const {$ref, headers} = operations.find(({operationId}) => operationId === id)!.responses[status]!;
  return Object.keys($ref ? responses[$ref.split('/').at(-1)!]!.headers : headers!);
};

describe('Answers', () => {
  const always = [
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'RateLimit',
    'RateLimit-Policy',
    'Doorplate-Key-Expires',
    'X-Request-Id',
  ];
  test.each([
    ['getDomains', '200', ['ETag', 'Content-Language']],
    ['addHostname', '201', ['ETag', 'Location', 'Content-Language', 'Idempotency-Replayed']],
    ['removeHostname', '204', []],
    ['listProjects', '401', ['WWW-Authenticate']],
    ['listProjects', '429', ['Retry-After']],
    ['listProjects', '503', ['Retry-After']],
    ['listProjects', '403', []],
  ])('%s has the headers of %s', (id, status, own) => {
    expect(headersOf(id, status)).toEqual([...always, ...own]);
  });

  test('each path has every status that can occur', () => {
    const open = ['400', '408', '429', '431', '500', '503'];
    const withKey = [...open, '401', '403', '404', '502'];
    const withBody = [...withKey, '413', '415'];
    for (const {operationId, path, responses: of, ...rest} of operations) {
      const wanted = path === '/openapi.json' ? open : 'requestBody' in rest ? withBody : withKey;
      expect([operationId, wanted.filter((status) => !(status in of))]).toEqual([operationId, []]);
    }
  });
});

describe('The document as it is served', () => {
  let server: FastifyInstance;
  beforeAll(async () => {
    server = await emptyServer({name: 'Acme <Cloud>', origin: 'https://api.example.net'});
  });
  afterAll(async () => {
    await server.close();
  });

  test("has the platform's name and address", async () => {
    const document = (await server.inject('/openapi.json')).json();
    expect(document).toMatchObject({
      openapi: '3.0.3',
      info: {title: 'Acme <Cloud> Domains API', license: {name: 'Apache-2.0'}},
      servers: [{url: 'https://api.example.net'}],
    });
    expect((await server.inject('/docs')).body).toContain('<h1>Acme &lt;Cloud&gt; Domains API');
    expect(described).toMatchObject({info: {title: 'Doorplate API'}, servers: [{url: '/'}]});
  });

  test('is compressed where the client takes that, and kept by it', async () => {
    const headers = {'accept-encoding': 'gzip'};
    const {headers: got, rawPayload} = await server.inject({url: '/openapi.json', headers});
    expect(got).toMatchObject({'content-encoding': 'gzip', vary: 'Accept-Encoding', etag: expect.stringMatching(/^"/)});
    const plain = await server.inject('/openapi.json');
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(gunzipSync(rawPayload).toString()).toBe(plain.body);
    const again = await server.inject({url: '/openapi.json', headers: {...headers, 'if-none-match': String(got.etag)}});
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });
});

describe('Help', () => {
  test('each problem leads to its page', async () => {
    const server = await emptyServer();
    for (const [name, {means}] of Object.entries(problems)) {
      const {help} = new Problem(name as keyof typeof problems, '').bodyWithHelp(undefined);
      const {statusCode, headers, body} = await server.inject(help!);
      expect([name, statusCode, headers['content-type']]).toEqual([name, 200, 'text/html; charset=utf-8']);
      expect(body).toContain(means.split(/[`'"<&]/)[0]);
    }
    await server.close();
  });

  test("is of the API's own address where that is known", () => {
    expect(new Problem('refused', '').bodyWithHelp('https://api.example.net').help).toBe(
      'https://api.example.net/problems/refused',
    );
  });

  test.each(['constructor', 'nothing', '%3Cscript%3E'])('there is no page of %s', async (name) => {
    const server = await emptyServer();
    const {statusCode, body} = await server.inject(`/problems/${name}`);
    expect([statusCode, body.includes('script>')]).toEqual([404, false]);
    await server.close();
  });
});

test('docs/reference/openapi.json is this description', () => {
  expect(JSON.parse(readFileSync(new URL('../../../../docs/reference/openapi.json', import.meta.url), 'utf8'))).toEqual(
    described,
  );
});
