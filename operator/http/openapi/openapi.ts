/** Describes the API for programs (/openapi.json, OpenAPI 3.0) and for people (/docs), from the routes' own schemas. */
import swagger from '@fastify/swagger';
import type {FastifyInstance, FastifyReply, FastifySchema} from 'fastify';
import {createJsonSchemaTransform, jsonSchemaTransformObject} from 'fastify-type-provider-zod';
import {z} from 'zod';
import {version} from '../../version.ts';
import {answers} from '../answers.ts';
import {docsPage, problemPage} from './docs-page.ts';
import {helpPath, isProblem, Problem} from '../problems.ts';
import {sendFile, staticFile, type StaticFile} from './static-file.ts';
import {type AnswerHeader, finish, type OpenApiDocument} from './openapi-document.ts';

const about = `This API manages the custom domains of published projects.

Every answer has \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (Unix seconds). They describe the window,
minute or day, with the fewest requests left. \`RateLimit\` and \`RateLimit-Policy\` (draft-ietf-httpapi-ratelimit-headers)
list each pool that counts the request. All keys of an account share one pool. If the pool is used up, the API answers 429 with
\`Retry-After\`. Wait that long, then back off exponentially. A key that continues to send requests is banned for a while.

Programs of the platform send a token of their ServiceAccount instead of a key, with the audience of this API. They name the
namespace of each request in \`Doorplate-Namespace\`. Roles of Kubernetes decide their rights there. Each ServiceAccount has its own quota.

Errors are \`application/problem+json\` (RFC 9457). Their \`type\` never changes, and \`help\` leads to a page about the error.`;

declare module 'fastify' {
  interface FastifySchema {
    /** Headers of its successful answers beside those that every answer has. */
    answerHeaders?: readonly AnswerHeader[];
  }
}

/** Whose API it is. */
export interface ApiOwner {
  /** The platform's name; empty: Doorplate's own. */
  name: string;
  /** `https://HOST`; undefined: wherever the document is read. */
  origin: string | undefined;
}

/** A path of the API has a name, which becomes that of a function in customers' code. */
function refuseNameless(server: FastifyInstance): void {
  server.addHook('onRoute', ({url, method, schema}) => {
    if (url.startsWith('/v1/') && !schema?.hide && schema?.operationId === undefined)
      throw new Error(`${String(method)} ${url} has no operationId: choose a verb and a noun, it never changes`);
  });
}

/** Call it before any other route is added: it sees those that come after. */
export async function addDocs(server: FastifyInstance, {name, origin}: ApiOwner): Promise<void> {
  refuseNameless(server);
  // One of its own: it remembers the named schemas that it saw first.
  const toJsonSchema = createJsonSchemaTransform({});
  await server.register(swagger, {
    openapi: {
      // Not 3.1: oapi-codegen and openapi-generator make worse clients of its types that may be null.
      openapi: '3.0.3',
      info: {
        title: name === '' ? 'Doorplate API' : `${name} Domains API`,
        description: about,
        version,
        license: {name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0.html'},
      },
      servers: [{url: origin ?? '/'}],
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
    transform: (route) => {
      const {schema, url} = toJsonSchema(route);
      const {answerHeaders, ...rest} = schema as FastifySchema;
      return {url, schema: {...rest, ...(answerHeaders && {'x-answer-headers': answerHeaders})}};
    },
    transformObject: (document) => finish(jsonSchemaTransformObject(document) as OpenApiDocument) as never,
  });
  let file: Promise<StaticFile> | undefined;
  server.get(
    '/openapi.json',
    {
      schema: {
        operationId: 'getOpenApi',
        summary: 'Read this description',
        tags: ['Description'],
        security: [],
        response: answers({200: z.record(z.string(), z.unknown()).describe('OpenAPI 3.0.')}, [], {open: true}),
      },
    },
    async (request, reply) => {
      file ??= staticFile('application/json; charset=utf-8', Buffer.from(JSON.stringify(server.swagger())));
      return sendFile(request, reply.header('cache-control', 'no-cache').serializer(String), await file) as never;
    },
  );
  addPages(server);
}

const sendPage = (reply: FastifyReply, html: string): FastifyReply =>
  reply
    .type('text/html; charset=utf-8')
    .header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    )
    .send(html);

/** For people: the reference, and what each problem means. */
function addPages(server: FastifyInstance): void {
  server.get('/docs', {schema: {hide: true}}, async (_, reply) =>
    sendPage(reply, docsPage(server.swagger() as Parameters<typeof docsPage>[0])),
  );
  server.get<{Params: {name: string}}>(`${helpPath}:name`, {schema: {hide: true}}, async ({params: {name}}, reply) => {
    if (!isProblem(name))
      throw new Problem('not-found', 'The problem does not exist. GET /docs lists the answers of each path.');
    return sendPage(reply, problemPage(name));
  });
}
