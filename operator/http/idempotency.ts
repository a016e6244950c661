/**
 * `Idempotency-Key` on POST (draft-ietf-httpapi-idempotency-key-header): a client whose connection broke sends the same request again
 * and gets the first answer instead of a second change. Answers are stored for ten minutes. They can contain the token of a new key, so
 * they are encrypted with a secret that is derived from the caller's token. A failed request is removed, so that a retry runs it.
 *
 *   (nothing) --the first request--> running, a minute at most --success--> done, ten minutes --> (nothing)
 *                                       |--failure--> (nothing)
 */
import {createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes} from 'node:crypto';
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify';
import {z} from 'zod';
import type {RecordStore} from '../limits/records.ts';
import {asked} from './asked.ts';
import {type Actor, callerOf} from './gate/caller.ts';
import type {Gate} from './gate/gate.ts';
import {idempotencyPool} from './gate/pools.ts';
import {Problem, problems, problemSchema} from './problems.ts';

export interface IdempotencyDeps {
  records: RecordStore;
  gate: Pick<Gate, 'passBeside'>;
  /** Unix ms, by the clock that records end by. */
  now: () => number;
}

/** A request that must run at most once. */
interface Once {
  name: string;
  bodyHash: string;
  /** An AES-256 key; undefined if the answer is not stored. */
  secret: Buffer | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    once: Once | undefined;
  }
}

/** The stored record of a request. `answer`: encrypted, base64. */
interface ReplayRecord {
  bodyHash: string;
  state: 'Running' | 'Done';
  answer?: string;
}

interface ReplayableAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const runningSeconds = 60;
const doneSeconds = 600;
const headerName = 'idempotency-key';
const keptHeaders = ['content-type', 'content-language', 'vary', 'location', 'etag'];

export const idempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters, such as a random UUID')
  .optional()
  .describe(
    'Identifies the request for ten minutes. A repetition with the same key and body is not executed again, and gets the same answer.',
  );

const sha256 = (...parts: string[]): string => createHash('sha256').update(parts.join('\0')).digest('hex');

function idOf(caller: Actor): string {
  if (caller.kind === 'key') return `key ${caller.key.metadata.uid}`;
  return caller.kind === 'session' ? `session ${caller.session.id}` : caller.account.username;
}

/** Derived from the caller's token, which is stored nowhere. Undefined for a session: its answers are not stored. */
const secretOf = ({raw: {headers}}: FastifyRequest, caller: Actor, key: string): Buffer | undefined =>
  caller.kind === 'session'
    ? undefined
    : Buffer.from(hkdfSync('sha256', headers.authorization ?? '', key, 'doorplate idempotency', 32));

function encrypt(answer: ReplayableAnswer, secret: Buffer): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', secret, nonce);
  const text = Buffer.concat([cipher.update(JSON.stringify(answer)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
}

/** Undefined if it was encrypted with another token. */
function decrypt(kept: string, secret: Buffer): ReplayableAnswer | undefined {
  const bytes = Buffer.from(kept, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, 12)).setAuthTag(bytes.subarray(12, 28));
  try {
    return JSON.parse(
      Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString(),
    ) as ReplayableAnswer;
  } catch {
    return undefined;
  }
}

const remembered = <T>(answer: Promise<T>): Promise<T> =>
  asked(answer, 'Requests with an Idempotency-Key cannot be remembered now. Try again.');

/** Adds it to the POSTs of `/v1/`. Call it before paths are added. */
export class Idempotency {
  readonly #deps: IdempotencyDeps;
  /** Records that this process has stored, by UID of the ApiKey: name of the record to its end (Unix seconds). */
  readonly #ofKeys = new Map<string, Map<string, number>>();

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps;
  }

  addTo(server: FastifyInstance): void {
    server.decorateRequest('once', undefined);
    server.addHook('onRoute', (route) => {
      if (route.method !== 'POST' || !route.url.startsWith('/v1/')) return;
      const {headers = z.object({}), response = {}} = (route.schema ?? {}) as {
        headers?: z.ZodObject;
        response?: object;
      };
      const [conflict, reused] = [problems['request-done'].status, problems['idempotency-key-reused'].status];
      route.schema = {
        ...route.schema,
        headers: z.looseObject({...headers.shape, [headerName]: idempotencyKey}),
        response: {[conflict]: problemSchema, [reused]: problemSchema, ...response},
      };
      route.preHandler = [
        route.preHandler ?? [],
        (request: FastifyRequest, reply: FastifyReply) => this.#begin(request, reply),
      ].flat() as never;
      route.onSend = [
        route.onSend ?? [],
        (request: FastifyRequest, reply: FastifyReply, payload: unknown) => this.#end(request, reply, payload),
      ].flat() as never;
    });
  }

  /** Deletes the records of a deleted ApiKey. Records of other processes are unreadable without its token, and expire. */
  forget(keyUid: string): void {
    const names = this.#ofKeys.get(keyUid)?.keys() ?? [];
    this.#ofKeys.delete(keyUid);
    for (const name of names) this.#deps.records.take(name).catch(() => {});
  }

  async #begin(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const key = request.raw.headers[headerName];
    if (typeof key !== 'string') return;
    const {records, gate, now} = this.#deps;
    const caller = callerOf(request);
    await gate.passBeside(idempotencyPool(caller.tenant), 'requests with an Idempotency-Key', (headers) =>
      reply.headers(headers),
    );
    const once: Once = {
      name: `idempotency:${sha256(idOf(caller), caller.namespace, request.url, key)}`,
      bodyHash: sha256(JSON.stringify(request.body ?? null)),
      secret: secretOf(request, caller, key),
    };
    const text = JSON.stringify({bodyHash: once.bodyHash, state: 'Running'} satisfies ReplayRecord);
    const endsSeconds = Math.ceil(now() / 1000) + runningSeconds;
    const there = await remembered(records.claim({name: once.name, text, endsSeconds}, now()));
    if (there === undefined) {
      request.once = once;
      return;
    }
    const {status, headers, body} = answerAgain(JSON.parse(there) as ReplayRecord, once);
    await reply.status(status).headers(headers).header('idempotency-replayed', 'true').send(body);
  }

  /** Removes the record of a failed request; stores the answer of a successful one. */
  async #end(request: FastifyRequest, reply: FastifyReply, body: unknown): Promise<unknown> {
    const {once} = request;
    if (!once) return body;
    const {records, now} = this.#deps;
    try {
      if (reply.statusCode >= 400) await remembered(records.take(once.name));
      else await this.#keep(once, callerOf(request), answerOf(reply, body), now());
    } catch (error) {
      // The request itself has succeeded. A retry gets `request-running` for a minute, and runs after that.
      request.log.warn({err: error, requestId: request.id}, 'an answer could not be kept for its Idempotency-Key');
    }
    return body;
  }

  async #keep({name, bodyHash, secret}: Once, caller: Actor, answer: ReplayableAnswer, nowMs: number): Promise<void> {
    const endsSeconds = Math.ceil(nowMs / 1000) + doneSeconds;
    const kept: ReplayRecord = {bodyHash, state: 'Done', ...(secret && {answer: encrypt(answer, secret)})};
    await remembered(this.#deps.records.put({name, text: JSON.stringify(kept), endsSeconds}, nowMs));
    if (caller.kind === 'key') this.#remember(caller.key.metadata.uid ?? '', name, endsSeconds, nowMs);
  }

  #remember(keyUid: string, name: string, endsSeconds: number, nowMs: number): void {
    const names = this.#ofKeys.get(keyUid) ?? new Map<string, number>();
    // In the order of their last record, so that expired ones come first.
    this.#ofKeys.delete(keyUid);
    this.#ofKeys.set(keyUid, names.set(name, endsSeconds));
    for (const [uid, each] of this.#ofKeys) {
      for (const [old, ends] of each) {
        if (ends * 1000 > nowMs) break;
        each.delete(old);
      }
      if (each.size > 0) break;
      this.#ofKeys.delete(uid);
    }
  }
}

const answerOf = (reply: FastifyReply, body: unknown): ReplayableAnswer => ({
  status: reply.statusCode,
  headers: Object.fromEntries(
    keptHeaders.flatMap((name) => (reply.hasHeader(name) ? [[name, String(reply.getHeader(name))]] : [])),
  ),
  body: typeof body === 'string' ? body : '',
});

/** The stored answer. Throws a {@link Problem} if there is none for this request. */
function answerAgain({bodyHash, state, answer}: ReplayRecord, once: Once): ReplayableAnswer {
  if (bodyHash !== once.bodyHash)
    throw new Problem(
      'idempotency-key-reused',
      'A request with this Idempotency-Key had another body. Send a new key with each new request.',
    );
  if (state === 'Running')
    throw new Problem('request-running', 'The same request is in progress. Try again in a second.', {
      headers: {'retry-after': '1'},
    });
  const again = answer !== undefined && once.secret ? decrypt(answer, once.secret) : undefined;
  if (again) return again;
  throw new Problem(
    'request-done',
    'The same request has succeeded, and its answer is not available to you. Read the state after it.',
  );
}
