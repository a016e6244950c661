/** The senders of requests: their permissions, and the pools that their requests are charged to. */
import type {FastifyRequest} from 'fastify';
import type {ApiKey} from '../../api/foreign.ts';
import type {Tenant} from '../../domain/tenant.ts';
import type {KeyUser} from '../../limits/bans.ts';
import type {Pool} from '../../limits/verdict.ts';
import type {NotRecognised} from './auth.ts';
import {Problem} from '../problems.ts';
import type {PathScope, Right, ServiceAccount} from './service-accounts.ts';
import type {Session} from '../session/sessions.ts';

/** Somebody in a namespace. `pools`: what their requests are charged to. */
interface InNamespace {
  namespace: string;
  tenant: Tenant;
  pools: readonly Pool[];
}

/** The holder of a key. */
export type KeyCaller = InNamespace & KeyUser & {kind: 'key'; key: ApiKey};
/** A program of the platform's, in the namespace that its request names; it has the right that the path needs there. */
export type BackendCaller = InNamespace & {
  kind: 'backend';
  account: ServiceAccount;
  /** Its own namespace belongs to the tenant too, so it is the tenant's program and not the platform's. */
  isTenants: boolean;
};
/** The page, for somebody who signed in. */
export type SessionCaller = InNamespace & {kind: 'session'; session: Session};
/** A caller that may act in a namespace. */
export type Actor = KeyCaller | BackendCaller | SessionCaller;
/** Who sent a request; somebody at an address is known no closer. */
export type Caller =
  | Actor
  | {kind: 'service-account'; account: ServiceAccount; pools: readonly Pool[]}
  | AnonymousCaller;
/** Somebody at an address, and why they are no closer known. */
export type AnonymousCaller = {kind: 'address'; pools: readonly Pool[]; why: NotRecognised};

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Required scope of the key. Absent if the path needs no key. */
    scope?: PathScope;
    /** The right that a ServiceAccount needs instead of the scope's: see `rightFor`. */
    right?: Partial<Right>;
    /** Whether a request uses a small quota of its own and never the plan's, so that it also works when the plan is used up. */
    ownQuota?: boolean | ((caller: KeyCaller, request: FastifyRequest) => boolean);
    /** Public file of the page. Files have a separate quota. */
    isFile?: boolean;
    /** Sign-ins and sign-outs have a separate pool for each address, so that other requests cannot block them. */
    isSignIn?: boolean;
    /** An event stream: it has log lines and metrics of its own. */
    isStream?: boolean;
  }
  interface FastifyRequest {
    caller: Caller;
  }
}

/** Who acts, and where. Only for paths that name a scope: the gate lets nobody else through to them. */
export const callerOf = (request: FastifyRequest): Actor => request.caller as Actor;

/** Whether a caller has a scope. The permissions of a ServiceAccount are Kubernetes' roles, which were checked when the request arrived. */
export const hasScope = (caller: Actor, scope: string): boolean =>
  caller.kind === 'backend' ||
  scope === 'any' ||
  (caller.kind === 'key' ? caller.key.spec.scopes : caller.session.scopes).includes(scope);

/** Throws where somebody would get more than they have. */
export function refuseMore(caller: Actor, scopes: readonly string[]): void {
  const more = scopes.find((scope) => !hasScope(caller, scope));
  if (more !== undefined)
    throw new Problem('scope-missing', `The caller lacks the scope ${more}, so it cannot grant this scope.`, {
      scope: more,
    });
}
