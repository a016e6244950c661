/** Errors between Doorplate and the API server. Each message names the request, so that a log line is enough. */

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

/** The API server answered, and the answer is no. `reason` is that of metav1.Status ('' when the body was none). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly reason: string;
  readonly details: StatusDetails;
  /** The server's message, without the request. */
  readonly says: string;
  /** The body as received. */
  readonly body: string;
  /** The wait that the server asked for, by header or Status, else undefined. */
  readonly retryAfterMs: number | undefined;

  constructor(answer: {status: number; body: string; request?: string; retryAfter?: string}) {
    const parsed = parseStatus(answer.body);
    const said = parsed.message ?? answer.body.slice(0, 200);
    const seconds = Number(answer.retryAfter ?? parsed.details?.retryAfterSeconds ?? Number.NaN);
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

/** An error that quotes another error. The other error is not the `cause`, because loggers would append its message once more. */
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
 * No answer came: refused, cut, too late. Whether a write was done nobody can say. `because` is what undici or the system threw;
 * a request whose own signal aborted throws the signal's reason instead.
 */
export class NoAnswerError extends BecauseError {
  override readonly name = 'NoAnswerError';

  constructor(request: string, because: unknown) {
    super(`${request}: no answer`, because);
  }
}

/** The answer is longer than what is read of one (`longestAnswer`), and so is given up. `because` is what undici threw. */
export class AnswerTooLongError extends BecauseError {
  override readonly name = 'AnswerTooLongError';

  constructor(request: string, because: unknown) {
    super(`${request}: the answer is too long`, because);
  }
}

/** The client's guard refused a write: nothing was sent. `because` is what the guard threw. */
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

/** Thrown by a reconcile that no retry can help until the object changes: logged once, counted, not retried. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

/** Thrown by a reconcile whose copies have turned out to be behind: it starts over, quietly. */
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

/** A stale resourceVersion, another uid than expected, or a field manager conflict; not AlreadyExists, which is 409 too. */
export function isConflict(error: unknown): error is ApiError {
  return isStatus(error, 409) && error.reason !== 'AlreadyExists';
}

export function isAlreadyExists(error: unknown): error is ApiError {
  return isStatus(error, 409) && error.reason === 'AlreadyExists';
}

/** The resourceVersion or continue token is no longer in the server's history: list again. */
export function isGone(error: unknown): error is ApiError {
  return isStatus(error, 410);
}

/**
 * Whether the object would be larger than the API server or etcd accepts. The API server's request limit has its own status, 413; the
 * limits of etcd (1.5 MiB by default) and gRPC cause a 500 (seen with Kubernetes 1.36).
 */
export function isTooLarge(error: unknown): error is ApiError {
  return (
    isStatus(error, 413) || (isStatus(error, 500) && /request is too large|message larger than max/.test(error.says))
  );
}

export function isInvalid(error: unknown): error is ApiError {
  return isStatus(error, 422);
}

/** Nothing is taken into a namespace that is being deleted, or is gone (apiserver: plugin/namespace/lifecycle). */
export function isNamespaceGone(error: unknown): error is ApiError {
  return (
    (isStatus(error, 403) && (error.details.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating')) ||
    (isNotFound(error) && error.details.kind === 'namespaces')
  );
}

/**
 * The API server, or who it asks (admission), refuses this very object, and will again: its schema, its size, a right that is missing.
 * Not that its namespace is going, after which nobody wants it.
 */
export function isRefusal(error: unknown): error is ApiError {
  return (
    error instanceof ApiError &&
    ([400, 403, 422].includes(error.status) || isTooLarge(error)) &&
    !isNamespaceGone(error)
  );
}

/**
 * It is not about the object that was written: whoever asks next would hear the same. No answer, a process that does not lead, an
 * API server that knows nobody or asks everybody to wait.
 */
export function isOfAll(error: unknown): boolean {
  if (error instanceof ApiError) return [401, 429, 503].includes(error.status);
  return error instanceof NoAnswerError || error instanceof WriteRefusedError;
}

/**
 * Whether the API server, or admission, has refused this very object. Writes of other objects may succeed, and a later write of this object
 * as well. A stale read or a namespace that is being deleted does not count.
 */
export function isOfOne(error: unknown): error is ApiError {
  return error instanceof ApiError && !isOfAll(error) && !isConflict(error) && !isNamespaceGone(error);
}

/** Server-side apply refused because other managers own fields with other values. */
export function isFieldManagerConflict(error: unknown): error is ApiError {
  return isConflict(error) && (error.details.causes ?? []).some((cause) => cause.reason === 'FieldManagerConflict');
}

/** How long the server asked us to wait, in ms; undefined when it did not say. */
export function retryAfterMs(error: unknown): number | undefined {
  return error instanceof ApiError ? error.retryAfterMs : undefined;
}
