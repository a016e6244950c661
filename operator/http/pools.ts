/** The pools that requests are charged to: which there are, and how many requests each has. */
import type {ApiKey} from '../api/foreign.ts';
import {quotaOf, type Tenant, tenantKey} from '../domain/tenant.ts';
import type {Pool, Quota} from '../limits/limiter.ts';
import {networkOf} from './address.ts';
import {claimedBy, type ServiceAccount} from './service-accounts.ts';

/** The pool that all keys of a tenant share. */
export const planPool = (tenant: Tenant): Pool => ({id: `tenant:${tenantKey(tenant)}`, quota: quotaOf(tenant)});

/** The pool of a key with a cap of its own, beside the plan's; none for a key without one. */
export const capPools = ({metadata: {uid = ''}, spec: {rateLimit}}: ApiKey): Pool[] =>
  rateLimit ? [{id: `key:${uid}`, quota: rateLimit}] : [];

/** For what a client needs when its plan's quota is used up: to see the account, and to revoke its key. Of all keys of a tenant. */
export const ownPool = (tenant: Tenant): Pool => ({id: `own:${tenantKey(tenant)}`, quota: {requestsPerMinute: 60}});

export const serviceAccountPool = (quota: Quota, {username}: ServiceAccount): Pool => ({
  id: `service-account:${username}`,
  quota,
});

/** Of the page, for all who use it in one namespace: whatever the plan, and however much of that is used up. */
export const pagePool = (namespace: string): Pool => ({
  id: `page:${namespace}`,
  quota: {requestsPerMinute: 600, requestsPerDay: 100_000},
});

/** Of the page's files, for each address. */
export const filesPool = (address: string): Pool => ({
  id: `files:${networkOf(address)}`,
  quota: {requestsPerMinute: 1200},
});

/** Links and sessions of a tenant: each is kept until it ends, so that without a limit one tenant could push out all others'. */
export const signInPool = (by: 'key' | 'backend', tenant: Tenant): Pool => ({
  id: `sign-in:${by}:${tenantKey(tenant)}`,
  quota: {requestsPerMinute: 120, requestsPerDay: 5000},
});

/** What an address is charged for, each by itself: who asks wrongly in one way keeps nobody from another. */
export type AddressUse = 'address' | 'cookie' | 'sign-in' | 'token';

export const addressPool = (quota: Quota, use: AddressUse, address: string): Pool => ({
  id: `${use}:${networkOf(address)}`,
  quota,
});

/** So many programs of a network may ask wrongly, each as often as an address may. */
const programsOfNetwork = 10;

/** Of whom a token is nobody has said yet. A program whose token is not valid keeps no other of its network from asking. */
export function tokenPools(quota: Quota, address: string, token: string): Pool[] {
  const network = addressPool(quota, 'token', address);
  return [
    {...network, id: `${network.id} ${claimedBy(token)}`},
    {...network, quota: {requestsPerMinute: quota.requestsPerMinute * programsOfNetwork}},
  ];
}
