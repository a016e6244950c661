/** The API as the page uses it: with the session's cookie. Shapes and errors are the server's own. Texts are in the language of the page. */
import type {z} from 'zod';
import {secondsToWait} from '../../operator/kube/retry-after.ts';
import type {UsageView} from '../../operator/http/routes/usage.ts';
import {wantedLanguage} from './language.ts';
import type * as schemas from '../../operator/http/schemas.ts';

export type Host = z.output<typeof schemas.host>;
export type DnsRecord = Host['records'][number];
export type Project = z.output<typeof schemas.project>;
export type Account = z.output<typeof schemas.account>;
export type Usage = UsageView;
export type ApiKey = z.output<typeof schemas.key>;
export interface Domains {
  view: z.output<typeof schemas.domains>;
  /** Of what stands: a change is made only where nobody made another since. */
  etag: string;
}

/** Who a session belongs to. */
export interface SignedIn {
  /** Null: the namespace belongs to no account. */
  account: string | null;
  namespace: string;
  /** The platform's name for its user. */
  subject: string | null;
}

export interface Session extends SignedIn {
  scopes: string[];
  project: string | null;
  returnUrl: string | null;
  /** Name of the API key that signed in; null: the platform's link did. */
  key: string | null;
  ends: string;
}

/** A link that signs in. */
export interface Link {
  secret: string;
  /** Origin of the page that led to it; empty if that is not known. */
  referrer: string;
}

/** A sign-in that a person must confirm: the owner of the browser's session, and the owner of the session that the link opens. */
export interface Unconfirmed {
  current: SignedIn | null;
  next: SignedIn;
}

type Body = {type: string; detail: string; cause?: string} & Partial<Unconfirmed>;

/** The server has answered with an error (RFC 9457). The message is the server's own. */
export class Refused extends Error {
  readonly status: number;
  /** The last part of its `type`. */
  readonly problem: string;
  /** The exact cause, if the server names one: operator/http/causes.ts. */
  override readonly cause: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly unconfirmed: Unconfirmed | undefined;

  constructor(status: number, {type, detail, cause, current = null, next}: Body, retryAfter: string | null) {
    super(detail);
    this.status = status;
    this.cause = cause;
    this.problem = type.slice(type.lastIndexOf('/') + 1);
    this.retryAfterSeconds = secondsToWait(retryAfter);
    this.unconfirmed = this.problem === 'confirmation-needed' && next ? {current, next} : undefined;
  }
}

/** No answer of the server has come: offline, or the server is away. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('The server cannot be reached.', {cause});
  }
}

/** Whether the same request may succeed a little later. */
export const mayPass = (error: unknown): boolean =>
  error instanceof Unreachable || (error instanceof Refused && (error.status >= 500 || error.status === 429));

interface Ask {
  body?: object;
  ifMatch?: string;
  signal?: AbortSignal;
}

export async function ask<T>(
  method: string,
  path: string,
  {body, ifMatch, signal}: Ask = {},
): Promise<{value: T; etag: string}> {
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(path, {
      method,
      signal,
      credentials: 'same-origin',
      cache: 'no-store',
      headers: {
        'accept-language': wantedLanguage(),
        ...(body && {'content-type': 'application/json'}),
        ...(ifMatch && {'if-match': ifMatch}),
      },
      body: body && JSON.stringify(body),
    });
    text = await answer.text();
  } catch (error) {
    throw new Unreachable(error);
  }
  const json = answer.headers.get('content-type')?.includes('json') ? (JSON.parse(text) as unknown) : undefined;
  if (!answer.ok) {
    // Not ours: a proxy between has answered. An edge that has just lost the route says 404, which is not about what was asked.
    if (json === undefined) throw new Unreachable(new Error(`HTTP ${answer.status}, not as JSON`));
    throw new Refused(answer.status, json as Body, answer.headers.get('retry-after'));
  }
  return {value: json as T, etag: answer.headers.get('etag') ?? ''};
}

/** A whole list, page by page. */
async function all<T>(path: string, signal?: AbortSignal): Promise<T[]> {
  const items: T[] = [];
  for (let after = ''; ;) {
    const {value} = await ask<{items: T[]; next: string | null}>('GET', `${path}?limit=500${after}`, {signal});
    items.push(...value.items);
    if (value.next === null) return items;
    after = `&after=${encodeURIComponent(value.next)}`;
  }
}

const inProject = (project: string, ...rest: string[]): string =>
  ['/v1/projects', ...[project, ...rest].map(encodeURIComponent)].join('/');

export const api = {
  session: async (signal?: AbortSignal) => (await ask<Session>('GET', '/session', {signal})).value,
  signIn: async (by: ({link: string; referrer: string} | {key: string}) & {confirmed: boolean}) =>
    (await ask<Session>('POST', '/session', {body: by})).value,
  signOut: () => ask('DELETE', '/session'),
  projects: (signal?: AbortSignal) => all<Project>('/v1/projects', signal),
  project: async (name: string, signal?: AbortSignal) => (await ask<Project>('GET', inProject(name), {signal})).value,
  domains: async (project: string, signal?: AbortSignal): Promise<Domains> => {
    const {value: view, etag} = await ask<Domains['view']>('GET', inProject(project, 'domains'), {signal});
    return {view, etag};
  },
  account: async (signal?: AbortSignal) => (await ask<Account>('GET', '/v1/account', {signal})).value,
  /** Of the last 30 days. */
  usage: async (signal?: AbortSignal) => (await ask<Usage>('GET', '/v1/usage', {signal})).value,
  add: (
    project: string,
    hostname: string,
    status: number,
    {dryRun = false, signal}: {dryRun?: boolean; signal?: AbortSignal} = {},
  ) =>
    ask<Host>('POST', `${inProject(project, 'domains')}${dryRun ? '?dryRun=true' : ''}`, {
      body: {hostname, status},
      signal,
    }),
  remove: (project: string, hostname: string, ifMatch: string) =>
    ask('DELETE', inProject(project, 'domains', hostname), {ifMatch}),
  makePrimary: (project: string, hostname: string, ifMatch: string) =>
    ask('POST', inProject(project, 'domains', hostname, 'make-primary'), {ifMatch}),
  verify: async (project: string, hostname: string) =>
    (await ask<{requestedAt: string}>('POST', inProject(project, 'domains', hostname, 'verify'))).value,
  reissue: async (project: string, hostname: string) =>
    (await ask<{requestedAt: string}>('POST', inProject(project, 'domains', hostname, 'reissue'))).value,
  keys: (signal?: AbortSignal) => all<ApiKey>('/v1/keys', signal),
  makeKey: async (wanted: {name: string; scopes: string[]; expires?: string}) =>
    (await ask<ApiKey & {token: string | null}>('POST', '/v1/keys', {body: wanted})).value,
  rotateKey: async (name: string, wanted: {overlapSeconds: number; dropPrevious: boolean}) =>
    (
      await ask<ApiKey & {token: string}>('POST', `/v1/keys/${encodeURIComponent(name)}/rotate`, {
        body: wanted,
      })
    ).value,
  revokeKey: (name: string) => ask('DELETE', `/v1/keys/${encodeURIComponent(name)}`),
};
