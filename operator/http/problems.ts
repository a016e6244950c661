/**
 * Every error of the API, once, as RFC 9457 has them. Each has a `type` that never changes: programs compare it, people follow
 * it. docs/reference/errors.md is generated from this table (`make crds`).
 */
import {z} from 'zod';

/** Path of the pages about problems. */
export const helpPath = '/problems/';
/** What all types begin with. */
export const problemBase = 'https://doorplate.dev/problems/';

interface ProblemType {
  status: number;
  title: string;
  means: string;
  remedy: string;
}

const table = {
  'malformed-request': {
    status: 400,
    title: 'The request cannot be read',
    means: 'It is not HTTP, its path is not a valid one, or its body is not JSON.',
    remedy: 'Correct the request; `detail` says where it ends to make sense.',
  },
  'invalid-input': {
    status: 400,
    title: 'The input is not valid',
    means: 'A field of the body, of the query or of the path is missing, unknown, or has a value that it cannot have.',
    remedy: 'Correct the fields that `errors` lists.',
  },
  'credentials-missing': {
    status: 401,
    title: 'An API key is needed',
    means: 'The request carries no API key, and no token of a ServiceAccount.',
    remedy: "Send `Authorization: Bearer dp_...`. The project's administrators make keys.",
  },
  'credentials-wrong': {
    status: 401,
    title: 'The API key or the token is not valid',
    means:
      'There is no such key: it is misspelled, cut off, or was revoked. Or the token of a ServiceAccount has expired, was not ' +
      "made for this API's audience, or its ServiceAccount is gone.",
    remedy: 'Compare the key with what was shown when it was made, or make a new one. Make a token with `--audience`.',
  },
  'key-expired': {
    status: 401,
    title: 'The API key has expired',
    means: 'The key, or this token of a key that was rotated, has reached its end.',
    remedy: 'Use the newer token, or make a new key.',
  },
  'link-used': {
    status: 401,
    title: 'The link leads nowhere any more',
    means: 'A link of the page signs in once, within five minutes of being made.',
    remedy: 'Go back to the platform and follow its link to the page again.',
  },
  'session-ended': {
    status: 401,
    title: 'The session has ended',
    means:
      'Its time is over, somebody signed out, or the API key that opened it was revoked, has expired, may do less or is banned.',
    remedy: 'Sign in again.',
  },
  'cross-site': {
    status: 403,
    title: 'Another site has sent this',
    means:
      'Only the page itself may use the cookie of the page, sign in and sign out: `Origin` and `Sec-Fetch-Site` ' +
      'say that this came from elsewhere.',
    remedy: 'Use the page; programs send an API key.',
  },
  'account-missing': {
    status: 403,
    title: 'The namespace belongs to no account',
    means: 'The platform serves only namespaces of an Account here (`api.requireAccount`), and this one has none.',
    remedy: 'Ask the platform to assign the namespace to your account.',
  },
  'scope-missing': {
    status: 403,
    title: 'The API key may not do this',
    means: 'The key lacks the scope that `scope` names.',
    remedy: 'Use a key that has it, or make one.',
  },
  'exceeds-caller': {
    status: 403,
    title: 'The request exceeds the bounds of the key',
    means:
      'A key makes, rotates and revokes only keys that can do no more than itself, that expire no later, and whose requests count in ' +
      'its own cap. It may always rotate and revoke itself, and revoke the keys that it made.',
    remedy: 'Ask for less, or use a key that has as much.',
  },
  'links-by-keys-off': {
    status: 403,
    title: 'The platform lets no key create sign-in links',
    means:
      'Links to the page are created by the backend of the platform. An API key, or a ServiceAccount in a namespace of the account ' +
      'itself, may create links only if the platform allows it.',
    remedy:
      'Follow the link to the page on the site of the platform, or sign in with the API key. The platform administrator can set ' +
      '`api.page.linksByKeys: true`.',
  },
  'quota-reached': {
    status: 403,
    title: 'The platform lets no more be made here',
    means:
      'A namespace holds so many API keys, and projects with domains, and no more (a ResourceQuota of Kubernetes).',
    remedy: 'Delete one that nobody needs, or ask the platform for more.',
  },
  'not-found': {
    status: 404,
    title: 'There is nothing here',
    means: "There is no such path, namespace, project, hostname or key, or it is not the caller's to see.",
    remedy:
      "Check the names. A key reaches the projects of one namespace; a ServiceAccount what Kubernetes' roles allow it.",
  },
  'method-not-allowed': {
    status: 405,
    title: 'This method is not possible here',
    means: 'The path exists, and answers other methods. The API sends no CORS headers to scripts of other sites.',
    remedy: 'Use one of those that the header `Allow` names. Call the API from your own server, not from a browser.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request took too long to arrive',
    means: 'Its head or its body was not complete in time.',
    remedy: 'Send it again on a new connection.',
  },
  'hostname-exists': {
    status: 409,
    title: 'The hostname is there already',
    means: 'The project has this hostname. Nothing was changed.',
    remedy: 'Read it, or change it with PUT.',
  },
  'primary-has-redirects': {
    status: 409,
    title: 'The primary still has redirects',
    means:
      'Other hostnames of the project redirect to this one, or the former primary is served until this one is Live.',
    remedy: 'Make another hostname the primary, or remove the other hostnames first.',
  },
  'managed-elsewhere': {
    status: 409,
    title: 'The domains are managed elsewhere',
    means:
      'Another program wrote the CustomDomain or the key and may write it again: a pipeline, or `kubectl apply`, for example in a ' +
      'restore. Verify still works.',
    remedy:
      'Change it where it comes from. If nothing else writes it any more, the platform hands it back to this API with ' +
      '`kubectl doorplate release NAME -n NAMESPACE` (`apikey/NAME` for a key).',
  },
  'key-exists': {
    status: 409,
    title: 'A key of that name is there already',
    means:
      'The namespace has an API key of this name with other properties. Nothing was changed, and a token is shown once only.',
    remedy: 'Choose another name, rotate that key, or revoke it first.',
  },
  'rotation-under-way': {
    status: 409,
    title: 'The key is being rotated already',
    means:
      'The key has a newer token, and its previous token is accepted until the time in `until`. To rotate it again would end that ' +
      'previous token before its time. Nothing was changed.',
    remedy: 'Wait until then. If nothing uses the previous token, send `dropPrevious: true`.',
  },
  'confirmation-needed': {
    status: 409,
    title: 'The sign-in must be confirmed',
    means:
      'The browser has a session of another namespace or user, or a page that is not on the site of the platform opened the link. ' +
      '`current` is the session that the browser has, `next` is the session that it would get. Nothing was changed, and the link can ' +
      'still be used.',
    remedy: 'The page shows both and asks. If `next` is you, send the same request with `confirmed: true`.',
  },
  'request-running': {
    status: 409,
    title: 'The same request is being answered',
    means: 'A request with this `Idempotency-Key` has come before and is not answered yet.',
    remedy: 'Try again after `Retry-After`, with the same `Idempotency-Key`.',
  },
  'request-done': {
    status: 409,
    title: 'The same request was answered before',
    means:
      'A request with this `Idempotency-Key` has succeeded, and its answer cannot be shown again: the page made it, or a program ' +
      'with another token.',
    remedy: 'Read what the request has changed. To make it again, send another `Idempotency-Key`.',
  },
  'changed-meanwhile': {
    status: 412,
    title: 'It has changed meanwhile',
    means: 'The header `If-Match` does not fit what stands now.',
    remedy: 'Read it again, and decide anew.',
  },
  'body-too-large': {
    status: 413,
    title: 'The body is too large',
    means: 'The body, or the extensions of its chunks, have more bytes than `detail` says.',
    remedy: 'Send less.',
  },
  'media-type': {
    status: 415,
    title: 'The body must be JSON',
    means: 'The header `Content-Type` names something else.',
    remedy: 'Send `Content-Type: application/json`.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'This Idempotency-Key belongs to another request',
    means: 'A request with this `Idempotency-Key` and another body has come in the last ten minutes.',
    remedy: 'Send a new `Idempotency-Key` with each new request, and the same one only with a retry.',
  },
  refused: {
    status: 422,
    title: 'The platform refuses this',
    means: 'Its rules for hostnames or for keys allow no such one; `detail` is their own message.',
    remedy: 'Follow `detail`.',
  },
  'rate-limited': {
    status: 429,
    title: 'The rate limit is used up',
    means:
      'All requests of this minute or this day have been made. All keys of an account share one pool. `strikes` says how many of ' +
      '`strikesToBan` strikes this key has in this network; who waits as told has none.',
    remedy: 'Wait as long as `Retry-After` says; then back off exponentially. A higher plan has a higher limit.',
  },
  'key-banned': {
    status: 429,
    title: 'The API key is banned for a while',
    means:
      'It went on sending requests although each was refused, for minutes. The ban is of the key in this network alone.',
    remedy: 'Wait as long as `Retry-After` says, and mend the client: each further ban lasts twice as long.',
  },
  'too-many-streams': {
    status: 429,
    title: 'Too many event streams are open',
    means:
      'The caller, or all callers of the account together, have as many event streams open as they may have. The quota is not used up.',
    remedy: 'Close a stream that you no longer read, or share one stream. Then connect again after `Retry-After`.',
  },
  'headers-too-large': {
    status: 431,
    title: 'The headers are too large',
    means: 'Path, query and headers have more bytes together than `detail` says.',
    remedy: 'Shorten the query, or send fewer cookies and headers.',
  },
  'internal-error': {
    status: 500,
    title: 'Something went wrong here',
    means: 'The fault is on this side.',
    remedy: 'Try again later; tell the platform the id in `X-Request-Id`.',
  },
  'kubernetes-failed': {
    status: 502,
    title: 'The platform could not do this',
    means: "The platform's own cluster answered with an error.",
    remedy: 'Try again after `Retry-After`.',
  },
  unavailable: {
    status: 503,
    title: 'The service is not available now',
    means:
      "It is starting, the platform's own cluster cannot be reached, or a change before this one is not taken up yet.",
    remedy: 'Try again after `Retry-After`.',
  },
} as const satisfies Record<string, ProblemType>;

export type ProblemName = keyof typeof table;
export const problems: Readonly<Record<ProblemName, ProblemType>> = table;
export const isProblem = (name: string): name is ProblemName => Object.hasOwn(table, name);

/** Who a session belongs to. */
export const signedInSchema = z
  .object({
    account: z.string().nullable().describe('Name of the account; null if the namespace belongs to none.'),
    namespace: z.string().describe('The namespace.'),
    subject: z.string().nullable().describe("The platform's name for its user; null if the link named none."),
  })
  .describe('Who a session belongs to.')
  .meta({id: 'SessionOwner'});

const fieldError = z
  .object({
    field: z.string().describe('Where: body.hostname, query.limit.'),
    message: z.string().describe('What is wrong with it.'),
  })
  .describe('A field that is wrong.')
  .meta({id: 'FieldError'});
/** The body of every error, `application/problem+json`. */
export const problemSchema = z
  .object({
    type: z.string().describe('What kind of problem it is: a URI that never changes. Compare this.'),
    title: z.string().describe('The kind in words; the same for all of a type.'),
    status: z.int32().describe('The HTTP status.'),
    detail: z.string().describe('What happened here, and what to do.'),
    help: z.string().optional().describe('A page about this kind of problem: a URI reference.'),
    errors: z.array(fieldError).optional().describe('The fields that are wrong.'),
    scope: z.string().optional().describe('The scope that is missing.'),
    strikes: z
      .int32()
      .optional()
      .describe('Minutes one after the other in which so much was refused that each counts as a strike.'),
    strikesToBan: z.int32().optional().describe('So many strikes ban the key in this network for a while.'),
    until: z.string().meta({format: 'date-time'}).optional().describe('When it is over. RFC 3339, UTC.'),
    current: signedInSchema.nullable().optional().describe('Whose session the browser has; null: nobody is signed in.'),
    next: signedInSchema.optional().describe('Whose session the browser would get.'),
    manager: z.string().optional().describe('Who manages what was to be changed, in words for people.'),
  })
  .describe('An error (RFC 9457).')
  .meta({id: 'Problem'});

type Members = Omit<z.output<typeof problemSchema>, 'type' | 'title' | 'status' | 'detail' | 'help'>;

/** The HTTP status of a problem. */
export const statusOf = (type: ProblemName): number => table[type].status;

/** Thrown to end a request; the server answers with it. `detail` is shown to the caller: nothing internal. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly type: ProblemName;
  readonly members: Members;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    type: ProblemName,
    detail: string,
    {headers = {}, ...members}: Members & {headers?: Record<string, string>} = {},
  ) {
    super(detail);
    this.type = type;
    this.members = members;
    this.headers = headers;
  }

  get status(): number {
    return statusOf(this.type);
  }

  get body(): z.output<typeof problemSchema> {
    const {status, title} = table[this.type];
    return {type: problemBase + this.type, title, status, detail: this.message, ...this.members};
  }

  /** For the API itself, which serves the page at its `origin` (`https://HOST`); undefined: wherever it was asked. */
  bodyWithHelp(origin: string | undefined): z.output<typeof problemSchema> {
    return {...this.body, help: (origin ?? '') + helpPath + this.type};
  }
}
