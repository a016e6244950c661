/** Errors between this process and the API server, by type. Each message names the request, so that one log line is enough. */
import {secondsToWait} from './retry-after.ts';

/** A cause inside a Status, such as one field manager conflict. */
export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  kind?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** The API server refused the request. `reason` comes from metav1.Status ('' when the body is no Status). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly reason: string;
  readonly details: StatusDetails;
  /** The server's message, without the request. */
  readonly says: string;
  /** The body as received. */
  readonly body: string;
  /** The wait that the server requested, by header or Status; otherwise undefined. */
  readonly retryAfterMs: number | undefined;

  constructor(answer: {status: number; body: string; request?: string; retryAfter?: string}) {
    const parsed = parseStatus(answer.body);
    const said = parsed.message ?? answer.body.slice(0, 200);
    const seconds = secondsToWait(answer.retryAfter) ?? Number(parsed.details?.retryAfterSeconds ?? Number.NaN);
    const asked = Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
    const wait = asked === undefined ? '' : ` (asks to wait ${asked} s)`;
    super(
      `${answer.request ?? 'request'}: ${[answer.status, parsed.reason].filter(Boolean).join(' ')}: ${said}${wait}`,
    );
    this.says = said;
    this.status = answer.status;
    this.reason = parsed.reason ?? '';
    this.details = parsed.details ?? {};
    this.body = answer.body;
    this.retryAfterMs = asked === undefined ? undefined : asked * 1000;
  }
}

/**
 * An error that includes another error's text in its message. The other error is not set as `cause`, because loggers append causes
 * to the message a second time.
 */
abstract class BecauseError extends Error {
  readonly #because: unknown;

  constructor(what: string, because: unknown) {
    super(`${what}: ${reasonOf(because)}`);
    this.#because = because;
  }

  get because(): unknown {
    return this.#because;
  }
}

/**
 * No answer came: the connection was refused or cut, or the answer came too late. The result of a write is unknown. `because` is
 * the error from undici or the system. If the request's own signal aborted, the signal's reason is thrown instead.
 */
export class NoAnswerError extends BecauseError {
  override readonly name = 'NoAnswerError';

  constructor(request: string, because: unknown) {
    super(`${request}: no answer`, because);
  }
}

/** The answer exceeds the size limit (`longestAnswer`), so reading stopped. `because` is undici's error. */
export class AnswerTooLongError extends BecauseError {
  override readonly name = 'AnswerTooLongError';

  constructor(request: string, because: unknown) {
    super(`${request}: the answer is too long`, because);
  }
}

/** The client's guard refused a write: nothing was sent. `because` is the guard's error. */
export class WriteRefusedError extends BecauseError {
  override readonly name = 'WriteRefusedError';

  constructor(request: string, because: unknown) {
    super(`${request}: not sent`, because);
  }
}

/** Node reports a host with several addresses as an AggregateError without a message. */
function reasonOf(error: unknown): string {
  const {message, errors, code} = Object(error) as {message?: unknown; errors?: unknown; code?: unknown};
  if (message === '' && Array.isArray(errors)) return errors.map(reasonOf).join('; ');
  return (
    ([message, code].find((text) => typeof text === 'string' && text !== '') as string | undefined) ?? String(error)
  );
}

/** Thrown by a reconcile if no retry can help until the object changes. It is logged once, counted, and not retried. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

/** Thrown by a reconcile that found its cached copies stale: it starts over without an error log. */
export class StaleReadError extends Error {
  override readonly name = 'StaleReadError';
}

function parseStatus(body: string): {reason?: string; message?: string; details?: StatusDetails} {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function isStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status;
}

export function isNotFound(error: unknown): error is ApiError {
  return isStatus(error, 404);
}

/** The API server has no such kind: its CustomResourceDefinition is missing. Excludes an object or a namespace that does not exist. */
export function isKindMissing(error: unknown): error is ApiError {
  return isNotFound(error) && error.details.name === undefined;
}

/** A stale resourceVersion, a wrong uid, or a field manager conflict. Excludes AlreadyExists, which is 409 too. */
export function isConflict(error: unknown): error is ApiError {
  return isStatus(error, 409) && error.reason !== 'AlreadyExists';
}

export function isAlreadyExists(error: unknown): error is ApiError {
  return isStatus(error, 409) && error.reason === 'AlreadyExists';
}

/** The server's history no longer contains the resourceVersion or continue token: list again. */
export function isGone(error: unknown): error is ApiError {
  return isStatus(error, 410);
}

/**
 * The object exceeds the size limit of the API server or etcd. Only an oversized request has a distinct status, 413. The limits of
 * etcd (1.5 MiB by default) and gRPC return a 500 (seen with Kubernetes 1.36).
 */
export function isTooLarge(error: unknown): error is ApiError {
  return (
    isStatus(error, 413) || (isStatus(error, 500) && /request is too large|message larger than max/.test(error.says))
  );
}

export function isInvalid(error: unknown): error is ApiError {
  return isStatus(error, 422);
}

/** The API server accepts no objects into a namespace that is deleted or being deleted (apiserver: plugin/namespace/lifecycle). */
export function isNamespaceGone(error: unknown): error is ApiError {
  return (
    (isStatus(error, 403) && (error.details.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating')) ||
    (isNotFound(error) && error.details.kind === 'namespaces')
  );
}

/**
 * The API server or an admission webhook refuses this object, and will refuse it again: its schema, its size, a missing permission.
 * Excludes a namespace that is being deleted, because its objects are no longer needed.
 */
export function isRefusal(error: unknown): error is ApiError {
  return (
    error instanceof ApiError &&
    ([400, 403, 422].includes(error.status) || isTooLarge(error)) &&
    !isNamespaceGone(error)
  );
}

/**
 * The error is not about the written object: any other request would get the same error. Causes: no answer, a process that does not
 * lead, an API server that rejects our credentials or asks all clients to wait.
 */
export function isOfAll(error: unknown): boolean {
  if (error instanceof ApiError) return [401, 429, 503].includes(error.status);
  return error instanceof NoAnswerError || error instanceof WriteRefusedError;
}

/**
 * The API server or an admission webhook refused this object only. Writes of other objects may succeed, and so may a later write of
 * this one. Excludes stale reads and a namespace that is being deleted.
 */
export function isOfOne(error: unknown): error is ApiError {
  return error instanceof ApiError && !isOfAll(error) && !isConflict(error) && !isNamespaceGone(error);
}

/** The API server refused a server-side apply because other managers own fields with other values. */
export function isFieldManagerConflict(error: unknown): error is ApiError {
  return isConflict(error) && (error.details.causes ?? []).some((cause) => cause.reason === 'FieldManagerConflict');
}

/** The wait that the server requested, in ms; undefined when it requested none. */
export function retryAfterMs(error: unknown): number | undefined {
  return error instanceof ApiError ? error.retryAfterMs : undefined;
}
