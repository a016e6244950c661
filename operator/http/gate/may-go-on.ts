/** Checks whether the caller of an open event stream still has access. */
import type {FastifyRequest} from 'fastify';
import type {ApiKey} from '../../api/foreign.ts';
import type {Bans} from '../../limits/bans.ts';
import {recognise} from './auth.ts';
import {jwtOf, rightFor, type ServiceAccounts} from './service-accounts.ts';
import {readCookie} from '../session/cookie.ts';
import type {Sessions} from '../session/sessions.ts';

export interface GoOnDeps {
  bans: Pick<Bans, 'until'>;
  findKey: (key: string) => ApiKey | undefined;
  serviceAccounts: Pick<ServiceAccounts, 'remembered' | 'recognise' | 'may'>;
  /** Absent where there is no page. */
  sessions?: Pick<Sessions, 'find'>;
  /** Unix ms. */
  now: () => number;
}

/**
 * Whether an open event stream may continue: its key is still valid with all of its scopes, or its ServiceAccount still has access. A
 * failed check ends nothing.
 */
export async function mayGoOn(deps: GoOnDeps, request: FastifyRequest): Promise<boolean> {
  const {findKey, bans, now, serviceAccounts} = deps;
  const {
    caller,
    headers: {authorization},
    routeOptions: {
      config: {scope = 'any', right},
    },
  } = request;
  if (caller.kind === 'key') {
    const who = recognise(authorization, findKey, now());
    if (!('key' in who) || who.key.metadata.uid !== caller.key.metadata.uid) return false;
    const {scopes} = who.key.spec;
    return caller.key.spec.scopes.every((had) => scopes.includes(had)) && bans.until(caller) === undefined;
  }
  if (caller.kind === 'session') return sessionGoesOn(deps, request);
  const token = jwtOf(authorization);
  if (caller.kind !== 'backend' || token === undefined) return false;
  try {
    const remembered = serviceAccounts.remembered(token);
    const account = remembered === undefined ? await serviceAccounts.recognise(token) : remembered;
    return (
      account !== null && (await serviceAccounts.may(account, rightFor(scope, request.method, right), caller.namespace))
    );
  } catch {
    return true;
  }
}

async function sessionGoesOn({sessions}: GoOnDeps, {headers: {cookie}}: FastifyRequest): Promise<boolean> {
  try {
    return !('problem' in (await sessions!.find(readCookie(cookie) ?? '')));
  } catch {
    return true;
  }
}
