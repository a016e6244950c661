/** Turns the description that fastify makes of the routes into a document of which generators make good clients. Pure. */
import {STATUS_CODES} from 'node:http';
import {examples} from './examples.ts';
import {namespaceParameter} from '../gate/namespace-header.ts';

/** Headers of successful answers that only some paths have. A route lists its own as `answerHeaders`. */
const someHeaders = {
  ETag: textHeader('Version of the answer, for `If-None-Match`. For domains also for `If-Match`.'),
  Location: textHeader('Path of the new hostname.'),
  'Content-Language': textHeader('Language of the texts in `customer`.'),
} as const;
export type AnswerHeader = keyof typeof someHeaders;

const refPrefix = '#/components/schemas/';
type OpenApiObject = Record<string, unknown>;
interface OpenApiOperation {
  security?: object[];
  parameters?: OpenApiObject[];
  requestBody?: {content?: OpenApiObject};
  responses?: OpenApiObject;
  'x-answer-headers'?: readonly AnswerHeader[];
}
export interface OpenApiDocument {
  components?: {schemas?: Record<string, OpenApiObject>; [of: string]: unknown};
  paths?: Record<string, Record<string, OpenApiOperation>>;
}

function header(type: 'integer' | 'string', description: string, format?: string): OpenApiObject {
  return {description, schema: {type, ...(format && {format})}};
}
function textHeader(description: string): OpenApiObject {
  return header('string', description);
}

const limitHeaders = {
  'X-RateLimit-Limit': header('integer', 'Limit of the window, minute or day, with the fewest requests left.', 'int32'),
  'X-RateLimit-Remaining': header('integer', 'Requests left in that window.', 'int32'),
  'X-RateLimit-Reset': header('integer', 'End of that window: Unix time in seconds.', 'int64'),
  RateLimit: textHeader('Requests left in each window that counts the request (draft-ietf-httpapi-ratelimit-headers).'),
  'RateLimit-Policy': textHeader('Quota of each of these windows.'),
  'Doorplate-Key-Expires': textHeader('Expiry of the key or its token, if one is set. RFC 3339, UTC.'),
  'X-Request-Id': textHeader('Id of the request, for questions to support.'),
};
const retryAfter = {'Retry-After': header('integer', 'Seconds to wait.', 'int32')};
/** Headers by the status of the answer. */
const headersByStatus: Record<string, OpenApiObject> = {
  409: retryAfter,
  429: retryAfter,
  502: retryAfter,
  503: retryAfter,
  401: {'WWW-Authenticate': textHeader('How to send an API key (RFC 9110, 11.6.1).')},
};
const replayed = {
  'Idempotency-Replayed': textHeader('`true`: the answer of an earlier request with this `Idempotency-Key`.'),
};
const allHeaders: OpenApiObject = {
  ...limitHeaders,
  ...someHeaders,
  ...replayed,
  ...Object.assign({}, ...Object.values(headersByStatus)),
};

/** Each header is described once, as a component. */
const referTo = (headers: object): OpenApiObject =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, {$ref: `#/components/headers/${name}`}]));

function ownHeaders({parameters, 'x-answer-headers': some = []}: OpenApiOperation, status: string): OpenApiObject {
  // A location is that of what the answer says was created.
  const names = some.filter((name) => (name === 'Location' ? status === '201' : status !== '204'));
  const isRepeatable = parameters?.some(({name}) => name === 'idempotency-key');
  return {...Object.fromEntries(names.map((name) => [name, someHeaders[name]])), ...(isRepeatable && replayed)};
}

const nameOf = (status: string): string => (STATUS_CODES[status] ?? status).replaceAll(/\W/g, '');
/** The answers that are problems are described once for each status, as components. */
const problemAnswer = (status: string): OpenApiObject => ({
  description: STATUS_CODES[status] ?? status,
  headers: referTo({...limitHeaders, ...headersByStatus[status]}),
  content: {'application/problem+json': {schema: {$ref: `${refPrefix}Problem`}}},
});

/** CSV is text, whatever its rows are in JSON. */
const withText = (content: OpenApiObject = {}): OpenApiObject => ({
  ...content,
  ...('text/csv' in content && {'text/csv': {schema: {type: 'string'}}}),
});

/** Returns the statuses of its problems. */
function finishOperation(operation: OpenApiOperation): string[] {
  if (operation.security === undefined) operation.parameters = [...(operation.parameters ?? []), namespaceParameter];
  const entries = Object.entries((operation.responses ?? {}) as Record<string, {content?: OpenApiObject}>);
  operation.responses = Object.fromEntries(
    entries.map(([status, {content}]) => {
      if (Number(status) >= 400) return [status, {$ref: `#/components/responses/${nameOf(status)}`}];
      const hasContent = !['204', '304'].includes(status);
      const headers = referTo({...limitHeaders, ...ownHeaders(operation, status)});
      return [
        status,
        {description: STATUS_CODES[status] ?? status, headers, ...(hasContent && {content: withText(content)})},
      ];
    }),
  );
  delete operation['x-answer-headers'];
  return entries.map(([status]) => status).filter((status) => Number(status) >= 400);
}

const isObject = (value: unknown): value is OpenApiObject => typeof value === 'object' && value !== null;

/** All values of a tree, each changed by `change`, from the leaves up. */
function mapTree(tree: unknown, change: (value: OpenApiObject) => OpenApiObject): unknown {
  if (Array.isArray(tree)) return tree.map((each) => mapTree(each, change));
  if (!isObject(tree)) return tree;
  return change(Object.fromEntries(Object.entries(tree).map(([name, value]) => [name, mapTree(value, change)])));
}

const mostInt32 = 2_147_483_647;
const bounds = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, -mostInt32 - 1, mostInt32];

/** Integers have the format that generators go by, in place of the bounds of the format. */
function asInteger(schema: OpenApiObject): OpenApiObject {
  const {type, enum: values} = schema;
  if (type === 'number' && Array.isArray(values) && values.every(Number.isInteger))
    return {...schema, type: 'integer', format: 'int32'};
  if (type !== 'integer') return schema;
  const {minimum, maximum, ...rest} = schema;
  const isShort = typeof maximum === 'number' && maximum <= mostInt32;
  const kept = Object.entries({minimum, maximum}).filter(([, bound]) => !bounds.includes(bound as number));
  return {...rest, format: schema.format ?? (isShort ? 'int32' : 'int64'), ...Object.fromEntries(kept)};
}

/** A yes or no of a query is text for zod. */
function asBoolean(schema: OpenApiObject): OpenApiObject {
  const {enum: values, default: by, ...rest} = schema;
  return String(values) === 'true,false' ? {...rest, type: 'boolean', default: by === 'true'} : schema;
}

/** OpenAPI 3.0 passes over what is beside a `$ref`. */
function asReference(schema: OpenApiObject): OpenApiObject {
  const {$ref, ...beside} = schema;
  return typeof $ref !== 'string' || Object.keys(beside).length === 0 ? schema : {...beside, allOf: [{$ref}]};
}

/** The format says it shorter. */
const withoutPattern = ({pattern, ...schema}: OpenApiObject): OpenApiObject =>
  schema.format === 'date-time' || pattern === undefined ? schema : {...schema, pattern};

const isForKubernetes = (name: string): boolean => name === '$schema' || name.startsWith('x-kubernetes-');

function forGenerators(schema: OpenApiObject): OpenApiObject {
  const kept = Object.fromEntries(Object.entries(schema).filter(([name]) => !isForKubernetes(name)));
  return [withoutPattern, asBoolean, asInteger, asReference].reduce((changed, change) => change(changed), kept);
}

/** A client takes members that a later version adds. */
const tolerant = (schema: OpenApiObject): OpenApiObject => {
  const {additionalProperties, ...rest} = schema;
  return additionalProperties === false ? rest : schema;
};

/** Words in place of a default: of a member with one, openapi-typescript makes a client that must send it. */
function optional(schema: OpenApiObject): OpenApiObject {
  const {default: by, description, ...rest} = schema;
  if (by === undefined) return schema;
  return {...rest, description: `${String(description)} Default: ${JSON.stringify(by)}.`};
}

function refsIn(tree: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(tree)) for (const each of tree) refsIn(each, found);
  else if (isObject(tree)) {
    if (typeof tree.$ref === 'string' && tree.$ref.startsWith(refPrefix)) found.add(tree.$ref.slice(refPrefix.length));
    for (const each of Object.values(tree)) refsIn(each, found);
  }
  return found;
}

/** The used schemas by name. Names of request schemas end in `Input`. */
function usedSchemas(paths: unknown, all: Record<string, OpenApiObject>): Map<string, OpenApiObject> {
  const used = new Set<string>();
  const visit = (names: Iterable<string>): void => {
    for (const name of names) {
      if (used.has(name)) continue;
      used.add(name);
      visit(refsIn(all[name]));
    }
  };
  visit(refsIn(paths));
  return new Map([...used].toSorted().map((name) => [name, all[name]!]));
}

/** Merges what both kinds of schemas say; throws where a name would mean one thing in a request and another in an answer. */
function named(used: ReadonlyMap<string, OpenApiObject>): Record<string, OpenApiObject> {
  const schemas: Record<string, OpenApiObject> = {};
  for (const [name, schema] of used) {
    const id = name.replace(/Input$/, '');
    if (id in schemas)
      throw new Error(`the schema ${id} is used in requests and in answers: give each schema its own id`);
    const example = (examples as Record<string, unknown>)[id];
    schemas[id] = {...schema, ...(example !== undefined && {example})};
  }
  return schemas;
}

/** The document, finished. */
export function finish(document: OpenApiDocument): OpenApiDocument {
  const operations = Object.values(document.paths ?? {}).flatMap((methods) => Object.values(methods));
  const statuses = [...new Set(operations.flatMap(finishOperation))].toSorted();
  for (const operation of operations) operation.responses = mapTree(operation.responses, tolerant) as OpenApiObject;
  const all = Object.entries(document.components?.schemas ?? {}).map(
    ([name, schema]) => [name, mapTree(schema, name.endsWith('Input') ? optional : tolerant) as OpenApiObject] as const,
  );
  const responses = Object.fromEntries(statuses.map((status) => [nameOf(status), problemAnswer(status)]));
  const schemas = named(usedSchemas([document.paths, responses], Object.fromEntries(all)));
  const components = {...document.components, schemas, responses, headers: allHeaders};
  const text = JSON.stringify(mapTree({...document, components}, forGenerators));
  return JSON.parse(text.replaceAll(/("#\/components\/schemas\/\w+?)Input"/g, '$1"')) as OpenApiDocument;
}
