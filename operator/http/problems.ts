/**
 * Every error of the API, once, as RFC 9457 has them. Each has a `type` that never changes: programs compare it, people follow
 * it. docs/reference/errors.md is generated from this table (`make crds`).
 */
import {z} from 'zod';
import {listOfCauses} from './causes.ts';

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
    means: 'The request is not valid HTTP, its path is not valid, or its body is not JSON.',
    remedy: 'Correct the request. `detail` names the fault.',
  },
  'invalid-input': {
    status: 400,
    title: 'The input is not valid',
    means: 'A field of the body, the query or the path is missing, unknown, or has an invalid value.',
    remedy: 'Correct the fields that `errors` lists.',
  },
  'credentials-missing': {
    status: 401,
    title: 'An API key is needed',
    means: 'The request has no API key and no token of a ServiceAccount.',
    remedy: "Send `Authorization: Bearer dp_...`. The project's administrators create keys.",
  },
  'credentials-wrong': {
    status: 401,
    title: 'The API key or the token is not valid',
    means:
      'The key does not exist. It may be misspelled, cut off or revoked. Or the token of a ServiceAccount has expired, has ' +
      "another audience than this API's, or its ServiceAccount no longer exists.",
    remedy: 'Compare the key with the token from its creation, or create a new key. Create a token with `--audience`.',
  },
  'key-expired': {
    status: 401,
    title: 'The API key has expired',
    means: 'The key has expired. Or the key was rotated, and this previous token has expired.',
    remedy: 'Use the newer token, or create a new key.',
  },
  'link-used': {
    status: 401,
    title: 'The link is no longer valid',
    means: 'A sign-in link works once, within five minutes of its creation.',
    remedy: 'Go back to the platform and follow its link to the page again.',
  },
  'session-ended': {
    status: 401,
    title: 'The session has ended',
    means:
      'The session has expired, or was ended: by sign-out, by the API, or with its API key or namespace. `cause` names the case.',
    remedy: 'Sign in again.',
  },
  'cross-site': {
    status: 403,
    title: 'Another site has sent this request',
    means:
      'Only the page itself may use the cookie of the page, sign in and sign out. `Origin` and `Sec-Fetch-Site` ' +
      'show that this request came from another site.',
    remedy: 'Use the page. Programs send an API key.',
  },
  'account-missing': {
    status: 403,
    title: 'The namespace belongs to no account',
    means: 'This API serves only namespaces of an Account (`api.requireAccount`), and this namespace has none.',
    remedy: 'Ask the platform to assign the namespace to your account.',
  },
  'scope-missing': {
    status: 403,
    title: 'The API key lacks the permission',
    means: 'The key lacks the scope that `scope` names.',
    remedy: 'Use a key with this scope, or create one.',
  },
  'exceeds-caller': {
    status: 403,
    title: 'The request exceeds the bounds of the key',
    means:
      'A key creates, rotates and revokes only keys with no more rights, with no later end, and with requests that count in ' +
      'its own cap. It may always rotate and revoke itself, and revoke the keys that it created.',
    remedy: 'Request less, or use a key with these rights.',
  },
  'links-by-keys-off': {
    status: 403,
    title: 'API keys may not create sign-in links',
    means:
      'The backend of the platform creates links to the page. An API key, or a ServiceAccount in a namespace of the account ' +
      'itself, may create links only if the platform allows it.',
    remedy:
      'Follow the link to the page on the site of the platform, or sign in with the API key. The platform administrator can set ' +
      '`api.page.linksByKeys: true`.',
  },
  'quota-reached': {
    status: 403,
    title: 'The quota of the platform is used up',
    means:
      'The number of API keys, and of projects with domains, is limited in each namespace (a ResourceQuota of Kubernetes).',
    remedy: 'Delete a key, or the domains of a project, that you no longer need. Or ask the platform for more.',
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    means: 'The path, the namespace, the project, the hostname or the key does not exist, or you have no right to it.',
    remedy:
      'Check the names. A key reaches the projects of one namespace. For a ServiceAccount, roles of Kubernetes decide.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'This method is not possible here',
    means: 'The path exists for other methods. The API sends no CORS headers to scripts of other sites.',
    remedy: 'Use a method of the header `Allow`. Call the API from your own server, not from a browser.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request took too long to arrive',
    means: 'The headers or the body were not complete in time.',
    remedy: 'Send the request again on a new connection.',
  },
  'hostname-exists': {
    status: 409,
    title: 'The hostname exists already',
    means: 'The project has this hostname already. Nothing was changed.',
    remedy: 'Read the hostname, or change it with PUT.',
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
    title: 'Another program manages the domains',
    means:
      'Another program wrote the CustomDomain or the key and may write it again: a pipeline, or `kubectl apply`, for example in a ' +
      'restore. Verify still works.',
    remedy:
      'Change it in that program. If no program writes it any more, ask the platform administrator to run ' +
      '`kubectl doorplate release NAME -n NAMESPACE` (for a key, `apikey/NAME`).',
  },
  'key-exists': {
    status: 409,
    title: 'A key of this name exists already',
    means:
      'The namespace has an API key of this name with other properties. Nothing was changed. A token is shown only once.',
    remedy: 'Choose another name, rotate that key, or revoke it first.',
  },
  'rotation-under-way': {
    status: 409,
    title: 'A rotation of the key is in progress',
    means:
      'The key has a newer token, and its previous token is valid until the time in `until`. A new rotation would end the ' +
      'previous token earlier. Nothing was changed.',
    remedy: 'Wait until then. If no program uses the previous token, send `dropPrevious: true`.',
  },
  'confirmation-needed': {
    status: 409,
    title: 'The sign-in must be confirmed',
    means:
      'The browser has a session of another namespace or user, or a page of another site than the platform opened the link. ' +
      '`current` is the session of the browser, `next` is the session of the link. Nothing was changed, and the link is ' +
      'still valid.',
    remedy: 'The page shows both sessions and asks. If `next` is yours, send the same request with `confirmed: true`.',
  },
  'request-running': {
    status: 409,
    title: 'The same request is in progress',
    means: 'An earlier request with this `Idempotency-Key` has no answer yet.',
    remedy: 'Try again after `Retry-After`, with the same `Idempotency-Key`.',
  },
  'request-done': {
    status: 409,
    title: 'The same request was answered before',
    means:
      'A request with this `Idempotency-Key` has succeeded, and its answer cannot be shown again: the page sent it, or a program ' +
      'with another token.',
    remedy: 'Read the state after that request. To repeat the request, send another `Idempotency-Key`.',
  },
  'changed-meanwhile': {
    status: 412,
    title: 'The object has changed',
    means: 'The header `If-Match` does not match the current version.',
    remedy: 'Read the object again, and repeat your change if it still applies.',
  },
  'body-too-large': {
    status: 413,
    title: 'The body is too large',
    means: 'The body, or the extensions of its chunks, have more bytes than the limit in `detail`.',
    remedy: 'Send a smaller body.',
  },
  'media-type': {
    status: 415,
    title: 'The body must be JSON',
    means: 'The header `Content-Type` names another type.',
    remedy: 'Send `Content-Type: application/json`.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'This Idempotency-Key belongs to another request',
    means: 'In the last ten minutes, the API received this `Idempotency-Key` with another body.',
    remedy: 'Send a new `Idempotency-Key` with each new request, and the same one only with a retry.',
  },
  refused: {
    status: 422,
    title: 'The platform refuses the request',
    means:
      'A rule for hostnames or API keys forbids the request. `detail` is the message of the rule. `cause` is absent ' +
      'if the rule is an admission policy of the platform.',
    remedy: 'Follow `detail`.',
  },
  'rate-limited': {
    status: 429,
    title: 'The rate limit is used up',
    means:
      'All requests of this minute or this day are used. All keys of an account share one pool. `strikes` is the number of ' +
      'strikes of this key in this network, of `strikesToBan`. A key that waits for `Retry-After` gets no strikes.',
    remedy: 'Wait for `Retry-After`, then back off exponentially. A higher plan has higher limits.',
  },
  'key-banned': {
    status: 429,
    title: 'The API key is banned for a while',
    means:
      'The key continued to send requests for minutes, although each was refused. The ban applies to this key in this network only.',
    remedy: 'Wait for `Retry-After`, and correct the client. Each further ban lasts twice as long.',
  },
  'too-many-streams': {
    status: 429,
    title: 'Too many event streams are open',
    means:
      'The caller, or all callers of the account together, have the maximum number of open event streams. The quota is not used up.',
    remedy: 'Close a stream that you no longer read, or share one stream. Then connect again after `Retry-After`.',
  },
  'headers-too-large': {
    status: 431,
    title: 'The headers are too large',
    means: 'Path, query and headers together have more bytes than the limit in `detail`.',
    remedy: 'Shorten the query, or send fewer cookies and headers.',
  },
  'internal-error': {
    status: 500,
    title: 'Internal error',
    means: 'The API has an internal fault.',
    remedy: 'Try again later. Report the id in `X-Request-Id` to the platform.',
  },
  'kubernetes-failed': {
    status: 502,
    title: 'The platform could not carry out the request',
    means: "The platform's cluster answered with an error.",
    remedy: 'Try again after `Retry-After`.',
  },
  unavailable: {
    status: 503,
    title: 'The service is not available now',
    means: "The API is starting, the platform's cluster is unreachable, or an earlier change is not complete yet.",
    remedy: 'Try again after `Retry-After`.',
  },
} as const satisfies Record<string, ProblemType>;

export type ProblemName = keyof typeof table;
export const problems: Readonly<Record<ProblemName, ProblemType>> = table;
export const isProblem = (name: string): name is ProblemName => Object.hasOwn(table, name);

/** Who a session belongs to. */
export const signedInSchema = z
  .object({
    account: z.string().nullable().describe('Name of the account. Null if the namespace belongs to none.'),
    namespace: z.string().describe('The namespace.'),
    subject: z.string().nullable().describe("The platform's name for its user. Null if the link names none."),
  })
  .describe('The owner of a session.')
  .meta({id: 'SessionOwner'});

const fieldError = z
  .object({
    field: z.string().describe('The field, such as body.hostname or query.limit.'),
    message: z.string().describe('The fault of the field.'),
  })
  .describe('A field with a fault.')
  .meta({id: 'FieldError'});
/** The body of every error, `application/problem+json`. */
export const problemSchema = z
  .object({
    type: z.string().describe('The kind of problem: a URI that never changes. Compare this.'),
    title: z.string().describe('Name of the problem type, for people.'),
    status: z.int32().describe('The HTTP status.'),
    detail: z.string().describe('The facts of this problem, and the next step.'),
    help: z.string().optional().describe('A page about this kind of problem: a URI reference.'),
    errors: z.array(fieldError).optional().describe('The fields with a fault.'),
    scope: z.string().optional().describe('The missing scope.'),
    strikes: z.int32().optional().describe('Strikes of the key in this network, in consecutive minutes.'),
    strikesToBan: z.int32().optional().describe('Number of strikes that ban the key in this network.'),
    until: z.string().meta({format: 'date-time'}).optional().describe('End of the problem. RFC 3339, UTC.'),
    current: signedInSchema.nullable().optional().describe('The session of the browser. Null: none.'),
    next: signedInSchema.optional().describe('The session of the link or the key.'),
    manager: z.string().optional().describe('The other manager of the object, in words for people.'),
    cause: z.string().optional().describe(`The exact cause, for your own texts: ${listOfCauses}.`),
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
