/**
 * The platform's own programs. Each one sends a token of its ServiceAccount that was created for this API (TokenReview with an audience,
 * KEP-1205), and Kubernetes' roles decide its permissions (SubjectAccessReview). Answers of the API server are cached for a moment, never
 * beyond the lifetime of the token. A failed request is no answer, and throws.
 */
import {createHash} from 'node:crypto';
import {z} from 'zod';
import type {Client} from '../../kube/client/client.ts';
import {NoAnswerError} from '../../kube/errors.ts';
import {defineResource} from '../../kube/objects.ts';
import type {KubeObject, Resource} from '../../kube/objects.ts';

/** The owner of a token, as the API server reported it. */
export interface ServiceAccount {
  /** system:serviceaccount:NAMESPACE:NAME */
  username: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}

/** A permission, in the words of Kubernetes' roles. */
export interface Right {
  verb: 'get' | 'list' | 'create' | 'update' | 'delete';
  resource: 'customdomains' | 'apikeys';
}

const verbs: Readonly<Record<string, Right['verb']>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  DELETE: 'delete',
};

/**
 * The scopes that paths of the API require, and what a ServiceAccount needs in their place. The verb follows from the method, unless the
 * row or the path names another one.
 */
const rights = {
  any: {resource: 'customdomains'},
  'domains:read': {resource: 'customdomains'},
  'domains:write': {resource: 'customdomains'},
  'keys:write': {resource: 'apikeys'},
  'usage:read': {resource: 'apikeys'},
  // A ServiceAccount that may create keys may create one with this scope.
  'audit:read': {resource: 'apikeys', verb: 'create'},
} as const satisfies Record<string, Pick<Right, 'resource'> & Partial<Right>>;

/** A scope that a path can require. `any` accepts each key. */
export type PathScope = keyof typeof rights;

/** The right that a ServiceAccount needs in the namespace. `right`: what the path requires instead of the scope's row. */
export const rightFor = (scope: PathScope, method: string, right: Partial<Right> = {}): Right => ({
  verb: verbs[method] ?? 'update',
  ...rights[scope],
  ...right,
});

type TokenReview = KubeObject & {
  spec: {token: string; audiences: string[]};
  status?: {authenticated?: boolean; audiences?: string[]; user?: ServiceAccount};
};
type AccessReview = KubeObject & {spec: object; status?: {allowed?: boolean}};
type Review = TokenReview | AccessReview;

const tokenReviews = defineResource<TokenReview>({
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  namespaced: false,
});
const accessReviews = defineResource<AccessReview>({
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
});

/** How long an answer is believed. */
const goodForMs = 10_000;
const badForMs = 2000;
/** A request does not wait for longer. */
const answerWithinMs = 3000;
/** Answers that are kept at most; the oldest goes first. */
const atMost = 10_000;

interface RememberedAnswer<T> {
  answer: T;
  untilMs: number;
}

export class ServiceAccounts {
  readonly audience: string;
  readonly #client: Pick<Client, 'create'>;
  readonly #now: () => number;
  readonly #trustedNow: () => number;
  readonly #withinMs: number;
  readonly #known = new Map<string, RememberedAnswer<unknown>>();
  readonly #asking = new Map<string, Promise<unknown>>();

  /** `now`: Unix ms, by the system's clock, by which a token ends. `trustedNow`: by a clock that nobody sets, by which an answer ages. */
  constructor(p: {
    client: Pick<Client, 'create'>;
    audience: string;
    now: () => number;
    trustedNow: () => number;
    answerWithinMs?: number;
  }) {
    this.#client = p.client;
    this.audience = p.audience;
    this.#now = p.now;
    this.#trustedNow = p.trustedNow;
    this.#withinMs = p.answerWithinMs ?? answerWithinMs;
  }

  /** The token's owner, if known without a request; null if the token is invalid, undefined if the API server must be asked. */
  remembered(token: string): ServiceAccount | null | undefined {
    return claimsOf(token)?.aud.includes(this.audience) ? this.#recall<ServiceAccount | null>(keyOf(token)) : null;
  }

  /** Whether the API server has accepted this token and not refused it since. */
  wasGood(token: string): boolean {
    return Boolean(this.#known.get(keyOf(token))?.answer);
  }

  /** The token's owner; null if the token is invalid. Throws if the API server does not answer. */
  async recognise(token: string): Promise<ServiceAccount | null> {
    const key = keyOf(token);
    return this.#ask(key, async () => {
      const {status} = await this.#review<TokenReview>(tokenReviews, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        metadata: {name: ''},
        spec: {token, audiences: [this.audience]},
      });
      const {authenticated, audiences, user} = status ?? {};
      // An API server that knows no audiences names none: it would let any token pass.
      const good =
        authenticated === true &&
        audiences?.includes(this.audience) &&
        user?.username.startsWith('system:serviceaccount:');
      const leftMs = (claimsOf(token)?.exp ?? 0) * 1000 - this.#now();
      return good ? {answer: user!, forMs: Math.min(goodForMs, leftMs)} : {answer: null, forMs: badForMs};
    });
  }

  /** Whether Kubernetes' roles allow it. Throws where the API server gives no answer. */
  async may(
    {username: user, uid, groups, extra}: ServiceAccount,
    {verb, resource}: Right,
    namespace: string,
  ): Promise<boolean> {
    const key = `${user} ${uid} ${verb} ${resource} ${namespace}`;
    return (
      this.#recall<boolean>(key) ??
      this.#ask(key, async () => {
        const resourceAttributes = {namespace, verb, group: 'doorplate.dev', resource};
        const {status} = await this.#review<AccessReview>(accessReviews, {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          metadata: {name: ''},
          spec: {user, uid, groups, extra, resourceAttributes},
        });
        const answer = status?.allowed === true;
        return {answer, forMs: answer ? goodForMs : badForMs};
      })
    );
  }

  #recall<T>(key: string): T | undefined {
    const known = this.#known.get(key);
    return known && known.untilMs > this.#trustedNow() ? (known.answer as T) : undefined;
  }

  /** Asks once for all that wait for the same answer, and keeps it. */
  #ask<T>(key: string, ask: () => Promise<{answer: T; forMs: number}>): Promise<T> {
    const asking = this.#asking.get(key) ?? this.#keep(key, ask).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking as Promise<T>;
  }

  async #keep<T>(key: string, ask: () => Promise<{answer: T; forMs: number}>): Promise<T> {
    const {answer, forMs} = await ask();
    this.#known.delete(key);
    this.#known.set(key, {answer, untilMs: this.#trustedNow() + forMs});
    if (this.#known.size > atMost) this.#known.delete(this.#known.keys().next().value!);
    return answer;
  }

  async #review<T extends Review>(resource: Resource<T>, review: T): Promise<T> {
    const signal = AbortSignal.timeout(this.#withinMs);
    try {
      return await this.#client.create(resource, review, {signal});
    } catch (error) {
      throw signal.aborted
        ? new NoAnswerError(`POST ${resource.plural}`, new Error(`none within ${this.#withinMs} ms`))
        : error;
    }
  }
}

/** A JSON Web Token (RFC 7519) of an Authorization header; an API key is none. */
export const jwtOf = (header: string | undefined): string | undefined =>
  /^Bearer +(eyJ[\w-]+\.[\w-]+\.[\w-]+)$/i.exec(header ?? '')?.[1];

const claimsSchema = z.object({
  aud: z.union([z.string().transform((one) => [one]), z.array(z.string())]),
  exp: z.number(),
  sub: z.string().default(''),
});

/** The claims in a token, unverified. They save requests to the API server about hopeless tokens. */
function claimsOf(token: string): z.output<typeof claimsSchema> | undefined {
  try {
    return claimsSchema.safeParse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())).data;
  } catch {
    return undefined;
  }
}

/** The owner that a token claims, in a fixed number of characters, unverified. */
export const claimedBy = (token: string): string => keyOf(claimsOf(token)?.sub ?? '').slice(0, 16);

/** Tokens themselves are not kept. */
const keyOf = (token: string): string => createHash('sha256').update(token).digest('hex');
