/**
 * The API's HTTP server: fastify, with zod schemas that check what comes in and what goes out. Every answer, whatever becomes of
 * the request, carries the headers of the limit and an id; every error is a {@link Problem}.
 */
import {randomUUID} from 'node:crypto';
import {METHODS} from 'node:http';
import {fastify, LogController} from 'fastify';
import type {FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply, FastifyRequest} from 'fastify';
import {hasZodFastifySchemaValidationErrors, serializerCompiler, validatorCompiler} from 'fastify-type-provider-zod';
import type {Logger} from 'pino';
import {z} from 'zod';
import {answerBrokenRequests, hostFault} from '../kube/broken-requests.ts';
import {within} from './gate/address.ts';
import {brokenProblem} from './broken-requests.ts';
import type {Caller} from './gate/caller.ts';
import {addCustomerTexts} from './texts/customer-texts.ts';
import {addConditionalReads} from './gate/conditional.ts';
import type {Gate} from './gate/gate.ts';
import {addDocs, type ApiOwner} from './openapi/openapi.ts';
import {Problem} from './problems.ts';
import type {ProblemName} from './problems.ts';
import {ManagedElsewhere} from './store/managers.ts';
import {fromKubernetes} from './kubernetes-errors.ts';

export interface ServerOptions {
  log: Logger;
  gate: Gate;
  /** Addresses and networks of proxies whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[];
  /** False until all caches have synced: until then every request gets 503. */
  ready: () => boolean;
  /** Called with each answer: the path as it was registered, or `none`. */
  onAnswer?: (answer: {method: string; route: string; status: number; seconds: number}) => void;
  /** Time in which a client must read an answer to its end, ms. Default: 60 s. */
  answerReadWithinMs?: number;
  /** Doorplate's own, wherever it is asked, by default. */
  owner?: ApiOwner;
  /** Adds the paths. */
  routes: (server: FastifyInstance) => void;
}

/** Limits of a request before its sender is known. */
export const bounds = {
  headerBytes: 16 << 10,
  bodyBytes: 16 << 10,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  /** Longer than the idle time of the edges (nginx 60 s, Traefik 90 s), so it is never us who close under a request being sent. */
  keepAliveTimeoutMs: 100_000,
  connections: 10_000,
  answerReadWithinMs: 60_000,
} as const;

const nobodys: ApiOwner = {name: '', origin: undefined};

/** The server, ready to listen. */
export async function makeServer(options: ServerOptions): Promise<FastifyInstance> {
  const {log, gate, trustedProxies, routes, answerReadWithinMs = bounds.answerReadWithinMs, owner = nobodys} = options;
  const server: FastifyInstance = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({disableRequestLogging: true}),
    genReqId: () => randomUUID(),
    trustProxy: trustedProxies.length > 0 ? within(trustedProxies) : false,
    bodyLimit: bounds.bodyBytes,
    requestTimeout: bounds.requestTimeoutMs,
    keepAliveTimeout: bounds.keepAliveTimeoutMs,
    http: {
      maxHeaderSize: bounds.headerBytes,
      headersTimeout: bounds.headersTimeoutMs,
      connectionsCheckingInterval: 2000,
      // Node's own answer says nothing of limits: see `refuseWhoever`.
      requireHostHeader: false,
    },
    routerOptions: {maxParamLength: 512},
    // A request that comes while we stop is answered; the connection then closes.
    return503OnClosing: false,
    // `answerBrokenRequests` answers in its place.
    clientErrorHandler: () => {},
    frameworkErrors: (error, request, reply) =>
      void refuseEarly(options, error, request as FastifyRequest, reply as unknown as FastifyReply),
  });
  server.server.maxConnections = bounds.connections;
  answerBroken(server, options);
  // Nothing but JSON is read.
  server.removeContentTypeParser('text/plain');
  server.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler);
  server.decorateRequest('caller');
  server.addHook('onRequest', async (request, reply) => {
    void reply
      .header('x-request-id', request.id)
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff');
    refuseWhoever(options, request, reply);
    await gate.pass(request, reply);
    passOverBody(request);
  });
  // An event stream is not among these: it is cut by what it leaves unread.
  server.addHook('onSend', async (_, {raw}) => {
    const timer = setTimeout(() => raw.destroy(), answerReadWithinMs);
    raw.once('close', () => clearTimeout(timer));
  });
  server.addHook('onResponse', async (request, reply) => answered(options, request, reply));
  server.setErrorHandler((error: FastifyError, request, reply) => send(reply, toProblem(error, request), owner));
  server.setNotFoundHandler(() => {
    throw new Problem('not-found', 'The path does not exist. GET /openapi.json lists all paths.');
  });
  addMethods(server);
  const methods = collectMethods(server);
  refuseUnknownQuery(server);
  addToAnswers(server, gate);
  await addDocs(server, owner);
  routes(server);
  refuseOtherMethods(server, methods);
  await server.ready();
  return server;
}

/** ETags, and texts for customers. Call it before paths are added. */
function addToAnswers(server: FastifyInstance, gate: Gate): void {
  addConditionalReads(server, gate);
  addCustomerTexts(server);
}

/** Throws where it does not matter who sent the request. */
function refuseWhoever({gate, ready}: ServerOptions, {raw, ip}: FastifyRequest, reply: FastifyReply): void {
  const refuse = (problem: Problem): never => {
    void reply.headers(gate.headersFor(ip));
    throw problem;
  };
  // No key is known yet: a valid key would be refused as wrong.
  if (!ready())
    refuse(new Problem('unavailable', 'The service is starting. Try again.', {headers: {'retry-after': '2'}}));
  const fault = hostFault(raw);
  if (fault !== undefined) refuse(new Problem('malformed-request', fault));
}

/** Many clients say that they send JSON, or an empty form, where a path takes no body: nothing of it is read. */
function passOverBody({raw: {headers}, routeOptions}: FastifyRequest): void {
  if ((routeOptions.schema as {body?: unknown} | undefined)?.body !== undefined) return;
  for (const name of ['content-type', 'content-length', 'transfer-encoding']) delete headers[name];
}

/** Answers in place of Node.js, which sends no headers of the limit. Bytes that are not a request are charged to their address. */
function answerBroken({server}: FastifyInstance, {gate, owner = nobodys}: ServerOptions): void {
  // An unknown expectation is passed over, as RFC 9110, 10.1.1 allows.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  answerBrokenRequests(server, (broken) =>
    brokenProblem(
      broken,
      (address) => gate.chargeBroken(address),
      (problem) => problem.bodyWithHelp(owner.origin),
    ),
  );
}

/** For an error before any hook ran, such as a path that cannot be decoded. It is charged like any other request. */
async function refuseEarly(
  {gate, owner}: ServerOptions,
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  void reply.header('x-request-id', request.id);
  const refused = await gate.charge(request, reply).catch((problem: unknown) => problem);
  await send(reply, toProblem(refused ?? error, request), owner);
}

function send(reply: FastifyReply, problem: Problem, {origin} = nobodys): FastifyReply {
  return reply
    .status(problem.status)
    .headers({...problem.headers})
    .header('content-type', 'application/problem+json')
    .serializer(JSON.stringify)
    .send(problem.bodyWithHelp(origin));
}

const byCode: Record<string, [ProblemName, string]> = {
  FST_ERR_BAD_URL: ['malformed-request', 'The path cannot be decoded: a % must be followed by two hex digits.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['body-too-large', `A body has at most ${bounds.bodyBytes} bytes.`],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['media-type', 'Send the body as JSON: Content-Type: application/json.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['malformed-request', 'The body is not JSON.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['malformed-request', 'The body is empty. It must be JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['malformed-request', 'The length of the body differs from Content-Length.'],
};

function toProblem(error: unknown, request: FastifyRequest): Problem {
  if (error instanceof ManagedElsewhere)
    request.log.info({manager: error.manager, requestId: request.id}, 'managed-elsewhere');
  if (error instanceof Problem) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const {validationContext = 'request', validation} = error;
    const errors = validation.map(({instancePath, message = 'is not valid'}) => ({
      field: [validationContext, ...instancePath.split('/').filter(Boolean)].join('.'),
      message,
    }));
    return new Problem('invalid-input', errors.map((e) => `${e.field}: ${e.message}`).join('; '), {errors});
  }
  const {code = '', statusCode = 500} = error as FastifyError;
  const known = byCode[code];
  if (known) return new Problem(...known);
  const kubernetes = fromKubernetes(error);
  if (kubernetes) {
    request.log.warn({err: error, requestId: request.id}, 'Kubernetes failed');
    return kubernetes;
  }
  if (statusCode >= 400 && statusCode < 500) return new Problem('malformed-request', 'The request cannot be read.');
  request.log.error({err: error, requestId: request.id}, 'a request failed');
  return new Problem('internal-error', `The API has an internal fault. Report this id to the platform: ${request.id}`);
}

/**
 * Refuses unknown query parameters of the API's paths: a path that ignored `dryRun` would write. Call it before paths are added. The page
 * and descriptions accept any parameter that a link adds.
 */
function refuseUnknownQuery(server: FastifyInstance): void {
  server.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/v1/')) return;
    const {querystring = z.object({})} = (route.schema ?? {}) as {querystring?: z.ZodObject};
    route.schema = {...route.schema, querystring: querystring.strict()};
  });
}

/** All that Node.js parses, so that 405 answers them. */
function addMethods(server: FastifyInstance): void {
  for (const method of METHODS)
    if (!server.supportedMethods.includes(method) && method !== 'CONNECT') server.addHttpMethod(method);
}

/** The methods of each path, as paths are added. */
function collectMethods(server: FastifyInstance): ReadonlyMap<string, Set<string>> {
  const methods = new Map<string, Set<string>>();
  server.addHook('onRoute', ({url, method}) => {
    const known = methods.get(url) ?? new Set();
    for (const one of [method].flat()) known.add(one);
    methods.set(url, known);
  });
  return methods;
}

/** No answer has CORS headers, so that no script of another site can use a key. docs/reference/api.md says what to do. */
const noCors =
  'This API sends no CORS headers, because each visitor of a page can copy a key in it. Call the API from your own server, ' +
  "or send people to the platform's page.";

/** 405 with `Allow` (RFC 9110, 15.5.6) for every other method of a path. */
function refuseOtherMethods(server: FastifyInstance, methods: ReadonlyMap<string, Set<string>>): void {
  // A copy, because the routes that are added here are reported as well.
  for (const [url, known] of new Map(methods)) {
    const allow = [...known].toSorted().join(', ');
    const refuse = async ({method, headers}: FastifyRequest): Promise<never> => {
      const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
      throw new Problem('method-not-allowed', isPreflight ? noCors : `This path accepts ${allow}.`, {headers: {allow}});
    };
    // Runs before the body is read, which would be refused for another reason.
    server.route({
      url,
      method: server.supportedMethods.filter((m) => !known.has(m)),
      exposeHeadRoute: false,
      schema: {hide: true},
      onRequest: refuse,
      handler: refuse,
    });
  }
}

/** The sender of a request, as far as a log may name it. */
export function whoIs(caller: Caller | undefined): object {
  if (caller === undefined || caller.kind === 'address') return {};
  if (caller.kind === 'session') return {session: caller.namespace, subject: caller.session.subject};
  return caller.kind === 'key'
    ? {key: `${caller.namespace}/${caller.key.metadata.name}`}
    : {serviceAccount: caller.account.username};
}

function answered({log, onAnswer}: ServerOptions, request: FastifyRequest, reply: FastifyReply): void {
  const {method, id: requestId, caller} = request;
  const route = request.is404 ? 'none' : (request.routeOptions.url ?? 'none');
  const {statusCode: status, elapsedTime} = reply;
  if (request.routeOptions.config.isStream && status === 200) return;
  log.info({requestId, method, route, status, ms: Math.round(elapsedTime), ...whoIs(caller)}, 'answered');
  onAnswer?.({method, route, status, seconds: elapsedTime / 1000});
}
