/** What can go wrong between us and the API server, told apart. Anything else that a request throws is a transport error: retry. */

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
  /** The body as received. */
  readonly body: string;
  /** The wait that the server asked for, by header or Status, else undefined. */
  readonly retryAfterMs: number | undefined;

  constructor(answer: {status: number; body: string; request?: string; retryAfter?: string}) {
    const parsed = parseStatus(answer.body);
    const said = parsed.message ?? answer.body.slice(0, 200);
    super(`${answer.request ?? 'request'}: ${[answer.status, parsed.reason].filter(Boolean).join(' ')}: ${said}`);
    this.status = answer.status;
    this.reason = parsed.reason ?? '';
    this.details = parsed.details ?? {};
    this.body = answer.body;
    const seconds = Number(answer.retryAfter ?? this.details.retryAfterSeconds ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
  }
}

/** Thrown by a reconcile that no retry can help until the object changes: logged once, counted, not retried. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
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

export function isInvalid(error: unknown): error is ApiError {
  return isStatus(error, 422);
}

/** Server-side apply refused because other managers own fields with other values. */
export function isFieldManagerConflict(error: unknown): error is ApiError {
  return isConflict(error) && (error.details.causes ?? []).some(cause => cause.reason === 'FieldManagerConflict');
}

/** How long the server asked us to wait, in ms; undefined when it did not say. */
export function retryAfterMs(error: unknown): number | undefined {
  return error instanceof ApiError ? error.retryAfterMs : undefined;
}
