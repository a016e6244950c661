/** Lets requests of the page in by its cookie, and charges them. */
import type {FastifyRequest} from 'fastify';
import type {ApiKey} from '../../api/foreign.ts';
import type {Tenant} from '../../domain/tenant.ts';
import type {Limiter} from '../../limits/limiter.ts';
import type {Pool, QuotaRefusal, QuotaVerdict} from '../../limits/verdict.ts';
import {accountMissing, lacksAccount, type NotRecognised} from '../gate/auth.ts';
import {hasScope, type SessionCaller, type AnonymousCaller} from '../gate/caller.ts';
import {capPools, pagePool, planPool, removalPool} from '../gate/pools.ts';
import type {Session, Sessions} from './sessions.ts';

export interface SessionPassDeps {
  /** Counts for tenants. */
  limiter: Pick<Limiter, 'take'>;
  /** Counts for addresses. */
  local: Pick<Limiter, 'take' | 'undo'>;
  sessions: Pick<Sessions, 'find' | 'wasGood'>;
  findKey: (key: string) => ApiKey | undefined;
  tenantOf: (namespace: string) => Tenant | undefined;
  /** Whether tenants without an Account are refused. */
  requireAccount?: boolean;
}

/**
 * Finds the session of a cookie, sets the request's caller, and charges the request. An unknown cookie is charged to the address before
 * the store is asked, and a valid one costs the address nothing. `judge` gets each verdict, and throws where it refuses.
 */
export async function passSession(
  deps: SessionPassDeps,
  {token, request, stranger}: {token: string; request: FastifyRequest; stranger: AnonymousCaller},
  judge: (verdict: QuotaVerdict) => void,
): Promise<void> {
  const {sessions, local, limiter, tenantOf} = deps;
  request.caller = stranger;
  const charge = sessions.wasGood(token) ? undefined : await local.take(stranger.pools);
  if (charge) judge(charge);
  const session = await find(deps, token);
  if ('problem' in session) {
    request.caller = {...stranger, why: session};
    // A session that was valid before is charged like any other caller.
    if (!charge) judge(await local.take(stranger.pools));
    return;
  }
  if (charge) local.undo(stranger.pools, charge);
  const {namespace} = session;
  const tenant = tenantOf(namespace)!;
  const caps = capsOf(session, deps.findKey);
  const choices = [
    [pagePool(tenant), ...caps],
    [planPool(tenant), ...caps],
  ];
  const caller: SessionCaller = {kind: 'session', session, namespace, tenant, pools: choices[0]!};
  request.caller = caller;
  if (removes(request, caller)) choices.push([removalPool(tenant)]);
  judge(await takeFirst(limiter, choices));
}

async function find(deps: SessionPassDeps, token: string): Promise<Session | NotRecognised> {
  const session = await deps.sessions.find(token);
  if ('problem' in session || !lacksAccount(deps, deps.tenantOf(session.namespace)!)) return session;
  return accountMissing(session.namespace);
}

/** The caps of the key that opened the session, or that made its link. */
function capsOf({namespace, key}: Session, findKey: SessionPassDeps['findKey']): Pool[] {
  const found = key && findKey(`${namespace}/${key.name}`);
  return found ? capPools(found) : [];
}

/** Whether a request takes something away, and its session may do so. */
const removes = ({method, routeOptions}: FastifyRequest, caller: SessionCaller): boolean =>
  method === 'DELETE' && hasScope(caller, routeOptions.config.scope ?? 'any');

/** Charges the first choice that admits the request; if none does, the refusal with the shortest wait. */
async function takeFirst(
  limiter: SessionPassDeps['limiter'],
  choices: readonly (readonly Pool[])[],
): Promise<QuotaVerdict> {
  let refusal: QuotaRefusal | undefined;
  for (const pools of choices) {
    const verdict = await limiter.take(pools);
    if (verdict.allowed) return verdict;
    if (!refusal || verdict.retryAfterSeconds < refusal.retryAfterSeconds) refusal = verdict;
  }
  return refusal!;
}
