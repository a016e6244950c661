/** What the API is, for programs (/openapi.json, OpenAPI 3.1) and for people (/docs): both out of the routes' own schemas. */
import {STATUS_CODES} from 'node:http';
import swagger from '@fastify/swagger';
import type {FastifyInstance} from 'fastify';
import {jsonSchemaTransform, jsonSchemaTransformObject} from 'fastify-type-provider-zod';
import {z} from 'zod';
import {answers} from './answers.ts';
import {docsPage} from './docs-page.ts';
import {namespaceHeader, namespaceSchema} from './namespace-header.ts';

const about = `Custom domains of published projects.

Every answer carries \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (Unix seconds): those of the window,
minute or day, that has the fewest requests left. \`RateLimit\` and \`RateLimit-Policy\` (draft-ietf-httpapi-ratelimit-headers)
list each pool that counts the request. All keys of an account share one pool. After its last request the API answers 429 with
\`Retry-After\`: wait that long, then back off exponentially. A key that keeps sending is banned for a while.

A program of the platform's comes with a token of its ServiceAccount in place of a key, made for this API's audience, and names the
namespace of each request in \`Doorplate-Namespace\`. It may do there what Kubernetes' roles allow it, and has a quota of its own.

Errors are \`application/problem+json\` (RFC 9457); their \`type\` never changes.`;

interface Document {
  components?: {schemas?: Record<string, unknown>};
  paths?: Record<
    string,
    Record<
      string,
      {
        security?: object[];
        parameters?: object[];
        responses?: Record<string, {description?: string; content?: Record<string, unknown>; headers?: object}>;
      }
    >
  >;
}

const integer = (description: string): object => ({description, schema: {type: 'integer'}});
/** On every answer. */
const headers = {
  'X-RateLimit-Limit': integer('Requests in the window, minute or day, that has the fewest left.'),
  'X-RateLimit-Remaining': integer('Requests left in it.'),
  'X-RateLimit-Reset': integer('When it ends: Unix time in seconds.'),
};
/** Of every path that needs a key or a token. */
const namespaceParameter = {
  name: namespaceHeader,
  in: 'header',
  required: false,
  schema: z.toJSONSchema(namespaceSchema, {io: 'input'}),
  description:
    'The namespace of the request. Needed with the token of a ServiceAccount. A key reaches its own namespace only, and need not name it.',
};
const retryAfter = {'Retry-After': integer('How many seconds to wait.')};

/** Adds what is the same for all answers, and takes out what is for Kubernetes only. */
function finish(document: Document): Document {
  for (const operation of Object.values(document.paths ?? {}).flatMap((methods) => Object.values(methods))) {
    if (operation.security === undefined) operation.parameters = [...(operation.parameters ?? []), namespaceParameter];
    for (const [status, response] of Object.entries(operation.responses ?? {})) {
      response.description = STATUS_CODES[status] ?? status;
      response.headers = {...headers, ...(['429', '502', '503'].includes(status) && retryAfter)};
      const json = response.content?.['application/json'];
      if (Number(status) >= 400 && json) response.content = {'application/problem+json': json};
    }
  }
  delete document.components?.schemas?.ProblemInput;
  return JSON.parse(
    JSON.stringify(document, (name, value: unknown) => (name.startsWith('x-kubernetes-') ? undefined : value)),
  ) as Document;
}

/** Call it before any other route is added: it sees those that come after. */
export async function addDocs(server: FastifyInstance): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {title: 'Doorplate', description: about, version: '1.0.0'},
      components: {
        securitySchemes: {
          key: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'dp_<namespace>.<name>_<secret>',
            description: 'An API key.',
          },
          serviceAccount: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: "For the platform's own programs: a token of a ServiceAccount.",
          },
        },
      },
      security: [{key: []}, {serviceAccount: []}],
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => finish(jsonSchemaTransformObject(document) as Document) as never,
  });
  server.get(
    '/openapi.json',
    {
      schema: {
        summary: 'This description',
        tags: ['Description'],
        security: [],
        response: answers({200: z.record(z.string(), z.unknown()).describe('OpenAPI 3.1.')}, [], {open: true}),
      },
    },
    async () => server.swagger(),
  );
  server.get('/docs', {schema: {hide: true}}, async (_, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header(
        'content-security-policy',
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
      )
      .send(docsPage(server.swagger() as Parameters<typeof docsPage>[0])),
  );
}
