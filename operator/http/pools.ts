/** The pools that requests are charged to: which there are, and how many requests each has. */
import type {ApiKey} from '../api/foreign.ts';
import {quotaOf, type Tenant, tenantKey} from '../domain/tenant.ts';
import type {Pool, Quota} from '../limits/verdict.ts';
import {networkOf} from './address.ts';
import {claimedBy, type ServiceAccount} from './service-accounts.ts';

/** The pool that all keys of a tenant share. */
export const planPool = (tenant: Tenant): Pool => ({
  id: `tenant:${tenantKey(tenant)}`,
  quota: quotaOf(tenant),
  policy: 'plan',
});

/**
 * The pools of caps, beside the plan's pool: the cap of the key itself, and the caps of the keys that it comes from. Those count after
 * these keys are deleted, too.
 */
export const capPools = ({metadata: {name, uid = ''}, spec: {rateLimit, madeBy}}: ApiKey): Pool[] =>
  [{name, uid, rateLimit}, ...(madeBy?.keys ?? [])].flatMap((key) =>
    key.rateLimit ? [{id: `key:${key.uid}`, quota: key.rateLimit, policy: `key-${key.name}`}] : [],
  );

/** For reading the account and revoking a key when the plan's quota is used up. All keys of a tenant share it. */
export const ownPool = (tenant: Tenant): Pool => ({
  id: `own:${tenantKey(tenant)}`,
  quota: {requestsPerMinute: 60},
  policy: 'account',
});

export const serviceAccountPool = (quota: Quota, {username}: ServiceAccount): Pool => ({
  id: `service-account:${username}`,
  quota,
  policy: 'service-account',
});

/** For all users of the page in one namespace, whatever the plan. */
export const pagePool = (namespace: string): Pool => ({
  id: `page:${namespace}`,
  quota: {requestsPerMinute: 600, requestsPerDay: 100_000},
  policy: 'page',
});

/** Of the page's files, for each address. */
export const filesPool = (address: string): Pool => ({
  id: `files:${networkOf(address)}`,
  quota: {requestsPerMinute: 1200},
  policy: 'files',
});

/** Links and sessions of a tenant. Each is stored until it ends; without a limit one tenant could displace those of all others. */
export const signInPool = (by: 'key' | 'backend', tenant: Tenant): Pool => ({
  id: `sign-in:${by}:${tenantKey(tenant)}`,
  quota: {requestsPerMinute: 120, requestsPerDay: 5000},
  policy: 'sign-in',
});

/** Requests with an `Idempotency-Key`. Their answers are stored; without a limit one tenant could displace those of all others. */
export const idempotencyPool = (tenant: Tenant): Pool => ({
  id: `idempotency:${tenantKey(tenant)}`,
  quota: {requestsPerMinute: 120},
  policy: 'idempotency',
});

/** Each use of an address has a pool of its own, so that wrong keys do not prevent sign-in. */
export type AddressUse = 'address' | 'cookie' | 'sign-in' | 'token';

export const addressPool = (quota: Quota, use: AddressUse, address: string): Pool => ({
  id: `${use}:${networkOf(address)}`,
  quota,
  policy: use,
});

/** A network has this many times the quota of one program with an invalid token. */
const programsOfNetwork = 10;

/** For a token that was not reviewed yet. One program with an invalid token must not lock out the other programs of its network. */
export function tokenPools(quota: Quota, address: string, token: string): Pool[] {
  const network = addressPool(quota, 'token', address);
  return [
    {...network, id: `${network.id} ${claimedBy(token)}`},
    {...network, quota: {requestsPerMinute: quota.requestsPerMinute * programsOfNetwork}, policy: 'address'},
  ];
}
