/**
 * Conditional reads (RFC 9110, 13.1.2): the answer to a GET has a weak ETag. A client that sends it in `If-None-Match` gets 304 without a
 * body while nothing has changed. The charge is decided when the answer is known:
 *
 *   request with If-None-Match ---> pool of conditional reads --- 304 ---------> nothing more
 *                                                              \- any other ---> the plan ---- refused ---> 429 in place of the answer
 */
import {createHash} from 'node:crypto';
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify';
import {z} from 'zod';
import type {CallerQuota} from '../../limits/verdict.ts';
import type {Gate} from './gate.ts';
import {matchesTag} from './preconditions.ts';
import {Problem} from '../problems.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The JSON answer has an ETag. Never set it for an event stream: the stream would not be charged to the plan. */
    hasETag?: boolean;
  }
  interface FastifyRequest {
    /** The standing of the pool of conditional reads, while the request of a key has not been charged to the plan. */
    unpaid: CallerQuota | undefined;
  }
}

/** Adds ETags and 304 to the paths that say `hasETag`. Call it before paths are added. */
export function addConditionalReads(server: FastifyInstance, gate: Pick<Gate, 'chargeAnswer'>): void {
  server.decorateRequest('unpaid', undefined);
  describe(server);
  server.addHook('onSend', async (request, reply, payload) => {
    // A path that cannot be decoded has no route.
    if (!request.routeOptions?.config.hasETag) return payload;
    if (isCurrent(request, reply, payload)) {
      void reply.status(304).removeHeader('content-type');
      // The length of the whole answer belongs to HEAD in any case.
      return request.method === 'HEAD' ? payload : null;
    }
    try {
      await gate.chargeAnswer(request, (headers) => void reply.headers(headers));
      return payload;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return refuse(reply, error);
    }
  });
}

/** Sets the ETag of a 200; returns true if the client has this answer. The weak tag begins with the version that the handler has set. */
function isCurrent({headers}: FastifyRequest, reply: FastifyReply, payload: unknown): boolean {
  if (reply.statusCode !== 200 || typeof payload !== 'string') return false;
  const hash = createHash('sha256').update(payload).digest('base64url').slice(0, 22);
  const version = reply.getHeader('etag');
  const etag = version === undefined ? `W/"${hash}"` : `W/${String(version).slice(0, -1)}.${hash}"`;
  void reply.headers({etag, 'cache-control': 'private, no-cache'});
  return matchesTag(headers['if-none-match'], etag);
}

/** The answer that replaces one that is written already: an error that a hook throws here may replace an error, and would lose its form. */
function refuse(reply: FastifyReply, problem: Problem): string {
  void reply
    .removeHeader('etag')
    .status(problem.status)
    .headers({...problem.headers, 'cache-control': 'no-store', 'content-type': 'application/problem+json'});
  return JSON.stringify(problem.body);
}

/** Adds 304 and `If-None-Match` to the description of these paths. */
function describe(server: FastifyInstance): void {
  server.addHook('onRoute', (route) => {
    if (!route.config?.hasETag) return;
    const {headers = z.object({}), response = {}} = (route.schema ?? {}) as {headers?: z.ZodObject; response?: object};
    const ifNoneMatch = z
      .string()
      .optional()
      .describe('The `ETag` of your copy. The answer is 304 without a body while the copy is current.');
    route.schema = {
      ...route.schema,
      answerHeaders: ['ETag'],
      headers: z.looseObject({...headers.shape, 'if-none-match': ifNoneMatch}),
      ...(route.schema?.response !== undefined && {response: {...response, 304: z.null()}}),
    };
  });
}
