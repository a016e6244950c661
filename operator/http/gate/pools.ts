/** The pools that requests are charged to: which there are, and how many requests each has. */
import type {ApiKey} from '../../api/foreign.ts';
import {lineOf} from '../../domain/api-key.ts';
import {quotaOf, type Tenant, tenantKey} from '../../domain/tenant.ts';
import type {Pool, Quota} from '../../limits/verdict.ts';
import {networkOf, siteOf} from './address.ts';
import {claimedBy, type ServiceAccount} from './service-accounts.ts';

/** The pool that all keys of a tenant share. */
export const planPool = (tenant: Tenant): Pool => ({
  id: `tenant:${tenantKey(tenant)}`,
  quota: quotaOf(tenant),
  policy: 'plan',
});

/**
 * The pools of caps, beside the plan's pool: the key's own cap, and the caps of the keys that created it. The latter count even after those
 * keys are deleted.
 */
export const capPools = (key: ApiKey): Pool[] =>
  lineOf(key).flatMap(({name, uid, rateLimit}) =>
    rateLimit ? [{id: `key:${uid}`, quota: rateLimit, policy: `key-${name}`}] : [],
  );

/** For reading the account and revoking a key when the plan's quota is used up. All keys of a tenant share it. */
export const ownPool = (tenant: Tenant): Pool => ({
  id: `own:${tenantKey(tenant)}`,
  quota: {requestsPerMinute: 60},
  policy: 'account',
});

/** A conditional read has so many times the minute of each pool that it would be charged to. */
const conditionalReads = 10;

/** The pools of conditional reads, one for each pool of the key. They have no daily limit. */
export const conditionalPools = (pools: readonly Pool[]): Pool[] =>
  pools.map(({id, quota, policy}) => ({
    id: `conditional:${id}`,
    quota: times(quota, conditionalReads),
    policy: policy === 'plan' ? 'conditional' : `conditional-${policy}`,
  }));

export const serviceAccountPool = (quota: Quota, {username}: ServiceAccount): Pool => ({
  id: `service-account:${username}`,
  quota,
  policy: 'service-account',
});

/**
 * For the page, whatever the plan has left: all sessions of a tenant share it, and the plan pays for what goes beyond it. Opening the page
 * takes about ten requests, and a change some three, so this is an hour of work a day.
 */
export const pagePool = (tenant: Tenant): Pool => ({
  id: `page:${tenantKey(tenant)}`,
  quota: {requestsPerMinute: 60, requestsPerDay: 500},
  policy: 'page',
});

/** For removing hostnames and revoking keys on the page when the pools of the page and of the plan are used up. */
export const removalPool = (tenant: Tenant): Pool => ({
  id: `removal:${tenantKey(tenant)}`,
  quota: {requestsPerMinute: 60},
  policy: 'removal',
});

/** The pool for the page's files, one for each address. */
export const filesPool = (address: string): Pool => ({
  id: `files:${networkOf(address)}`,
  quota: {requestsPerMinute: 1200},
  policy: 'files',
});

/** Links and sessions of a tenant. Each is stored until it ends, so their number is limited per tenant. */
export const signInPool = (by: 'key' | 'backend', tenant: Tenant): Pool => ({
  id: `sign-in:${by}:${tenantKey(tenant)}`,
  quota: {requestsPerMinute: 120, requestsPerDay: 5000},
  policy: 'sign-in',
});

/** Requests with an `Idempotency-Key`. Their answers are stored, so their number is limited per tenant. */
export const idempotencyPool = (tenant: Tenant): Pool => ({
  id: `idempotency:${tenantKey(tenant)}`,
  quota: {requestsPerMinute: 120},
  policy: 'idempotency',
});

/** Each use of an address has a pool of its own, so that wrong keys, and requests of other sites, do not prevent sign-in. */
export type AddressUse = 'address' | 'cookie' | 'cross-site' | 'sign-in' | 'sign-out' | 'token';

/** The quota of an IPv6 /48 is this many times that of a /64, and the quota of a network this many times that of an invalid token. */
const networksOfSite = 10;
const programsOfNetwork = 10;

const times = ({requestsPerMinute}: Quota, n: number): Quota => ({requestsPerMinute: requestsPerMinute * n});

/** The network of the address; for IPv6 its /48 too, so that a /48 with 65,536 networks is no way round the limit. */
export function addressPools(quota: Quota, use: AddressUse, address: string): [Pool, ...Pool[]] {
  const [network, site] = [networkOf(address), siteOf(address)];
  const pool: Pool = {id: `${use}:${network}`, quota, policy: use};
  return site === undefined
    ? [pool]
    : [pool, {id: `${use}:${site}`, quota: times(quota, networksOfSite), policy: `${use}-site`}];
}

/** The pools of a token before its TokenReview. A program with an invalid token must not lock out other programs of its network. */
export function tokenPools(quota: Quota, address: string, token: string): Pool[] {
  const [network, ...site] = addressPools(quota, 'token', address);
  return [
    {...network, id: `${network.id} ${claimedBy(token)}`},
    {...network, quota: times(quota, programsOfNetwork), policy: 'token-network'},
    ...site.map((pool) => ({...pool, quota: times(pool.quota, programsOfNetwork)})),
  ];
}
