/**
 * What every request passes first: who is it, may it go on, how many are left. So the headers of the limit are on every
 * answer, whatever becomes of the request.
 */
import type {FastifyReply, FastifyRequest} from 'fastify';
import type {ApiKey} from '../../api/foreign.ts';
import {type Tenant, tenantKey} from '../../domain/tenant.ts';
import type {RefusalFacts, Strikes} from '../../limits/bans.ts';
import {banHeaders, limitHeaders, type HeaderValues, withPool} from '../../limits/headers.ts';
import type {Limiter} from '../../limits/limiter.ts';
import type {Limits} from '../../limits/limits.ts';
import type {Pool, Quota, QuotaRefusal, CallerQuota, QuotaVerdict} from '../../limits/verdict.ts';
import {shortestWindow} from '../../api/windows.ts';
import {networkOf} from './address.ts';
import {accountMissing, lacksAccount, type NotRecognised, recognise, tokenEnds} from './auth.ts';
import {type BackendCaller, type Caller, hasScope, type KeyCaller, type AnonymousCaller} from './caller.ts';
import {mayGoOn} from './may-go-on.ts';
import {namespaceNeeded, namespaceOf, refuseOther} from './namespace-header.ts';
import {
  addressPools,
  type AddressUse,
  capPools,
  conditionalPools,
  filesPool,
  ownPool,
  planPool,
  serviceAccountPool,
  tokenPools,
} from './pools.ts';
import {isConditional} from './preconditions.ts';
import {Problem} from '../problems.ts';
import {banned, noCredentials, rateLimited, unknown} from './refusals.ts';
import {jwtOf, rightFor} from './service-accounts.ts';
import type {ServiceAccounts} from './service-accounts.ts';
import {readCookie} from '../session/cookie.ts';
import {passSession} from '../session/pass.ts';
import {checkSameOrigin, isSameOrigin} from '../session/same-origin.ts';
import type {Sessions} from '../session/sessions.ts';

/** Takes headers for the answer; the last of a name counts. */
type Tell = (headers: HeaderValues) => void;

export interface GateDeps {
  /** Counts for plans, keys and ServiceAccounts. */
  limiter: Limits['limiter'];
  /** Counts for addresses, and for what costs no plan: in memory alone. */
  local: Pick<Limiter, 'take' | 'look' | 'undo'>;
  bans: Pick<Limits['bans'], 'until' | 'refused'>;
  findKey: (key: string) => ApiKey | undefined;
  tenantOf: (namespace: string) => Tenant | undefined;
  serviceAccounts: Pick<ServiceAccounts, 'audience' | 'remembered' | 'wasGood' | 'recognise' | 'may'>;
  /** Absent where there is no page. */
  sessions?: Pick<Sessions, 'find' | 'wasGood'>;
  /** Origin of the page, `https://HOST`; undefined: the host of each request. */
  pageOrigin?: string;
  /** Quota of an address without a valid key, for each {@link AddressUse}. */
  addressQuota: Quota;
  /** Whether tenants without an Account are refused. */
  requireAccount?: boolean;
  /** Quota of each ServiceAccount. */
  serviceAccountQuota: Quota;
  /** Unix ms. */
  now: () => number;
  /** A key was used, at that time. */
  used: (key: ApiKey, atMs: number) => void;
  refused: (why: 'rate-limited' | 'key-banned') => void;
  /** A request of a key was let through, for that scope. */
  letThrough: (caller: KeyCaller, scope: string) => void;
}

/** Counts a refusal and returns the facts that the client is shown. */
type OnRefusal = (facts: RefusalFacts) => ReturnType<Limits['bans']['refused']>;

const factsOf = ({exhausted, minuteLimit, nowSeconds, retryAfterSeconds, ...ends}: QuotaRefusal): RefusalFacts => ({
  minuteLimit,
  endsInSeconds: (ends[`${exhausted}End`] ?? Infinity) - nowSeconds,
  ...(exhausted !== shortestWindow && {windowOverSeconds: nowSeconds + retryAfterSeconds}),
});

export class Gate {
  readonly #deps: GateDeps;

  constructor(deps: GateDeps) {
    this.#deps = deps;
  }

  /** Charges the request, sets the headers of the limit, and checks access. Throws the {@link Problem} that ends it. */
  async pass(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.charge(request, reply);
    const {scope} = request.routeOptions.config;
    if (scope === undefined) return;
    const {caller} = request;
    if (caller.kind === 'address') throw unknown(caller.why);
    const named = namespaceOf(request);
    if (caller.kind === 'service-account') {
      request.caller = await this.#enter(
        caller,
        namespaceNeeded(named),
        request,
        (headers) => void reply.headers(headers),
      );
      return;
    }
    refuseOther(caller.namespace, named);
    if (!hasScope(caller, scope)) throw new Problem('scope-missing', `This needs the scope ${scope}.`, {scope});
    if (caller.kind === 'key') this.#deps.letThrough(caller, scope);
  }

  /** Charges the request and sets the headers of the limit, also where it has no route. Throws the {@link Problem} that ends it. */
  async charge(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const jwt = jwtOf(request.headers.authorization);
    const tell: Tell = (headers) => void reply.headers(headers);
    if (jwt === undefined) await this.#passOther(request, tell);
    else await this.#passToken(jwt, request, tell);
  }

  /**
   * For the platform's own APIs: charges a request that came with this header `Authorization`, and tells the headers of the limit.
   * Whose key it is; throws the {@link Problem} that ends the request.
   */
  async passKey(
    {authorization, address}: {authorization: string | undefined; address: string},
    tell: Tell,
  ): Promise<KeyCaller> {
    const caller = this.#byKey(authorization, address);
    await this.#charge(caller, false, tell);
    if (caller.kind === 'address') throw unknown(caller.why);
    return caller;
  }

  /** See {@link mayGoOn}. */
  mayGoOn(request: FastifyRequest): Promise<boolean> {
    return mayGoOn(this.#deps, request);
  }

  /** Charges the answer to a conditional read, which is not 304, to the plan. Throws the {@link Problem} to answer in its place. */
  async chargeAnswer(request: FastifyRequest, tell: Tell): Promise<void> {
    const {caller, unpaid} = request;
    if (unpaid === undefined || caller.kind !== 'key') return;
    request.unpaid = undefined;
    await this.#take(this.#deps.limiter, caller.pools, tell, this.#struck(caller), unpaid);
  }

  /** Charges a pool beside that of the request itself, `what` it counts. Throws the {@link Problem} that ends the request. */
  async passBeside(pool: Pool, what: string, tell: Tell): Promise<void> {
    const verdict = await this.#deps.local.take([pool]);
    if (verdict.allowed) return;
    tell(limitHeaders(verdict));
    this.#deps.refused('rate-limited');
    throw rateLimited(verdict, what);
  }

  /** The headers for an answer that depends on no caller. */
  headersFor(address: string): HeaderValues {
    return limitHeaders(this.#deps.local.look(addressPools(this.#deps.addressQuota, 'address', address)));
  }

  /** Charges a request that could not be parsed to its address. Such a request is refused in any case. */
  chargeBroken(address: string): HeaderValues {
    const verdict = this.#deps.local.take(addressPools(this.#deps.addressQuota, 'address', address));
    // Counters in memory answer at once.
    return verdict instanceof Promise ? this.headersFor(address) : limitHeaders(verdict);
  }

  #stranger(address: string, why: NotRecognised, uses: AddressUse = 'address'): AnonymousCaller {
    return {kind: 'address', pools: addressPools(this.#deps.addressQuota, uses, address), why};
  }

  /** Recognizes a key if the request has one, else the page's cookie. Files need neither. */
  async #passOther(request: FastifyRequest, tell: Tell): Promise<void> {
    const {headers, routeOptions, ip} = request;
    const {authorization, cookie} = headers;
    // A path that cannot be decoded has no route.
    const {isFile, isSignIn, scope, ownQuota: own} = routeOptions?.config ?? {};
    if (isFile) {
      request.caller = {...this.#stranger(ip, noCredentials), pools: [filesPool(ip)]};
      return void (await this.#take(this.#deps.local, request.caller.pools, tell));
    }
    const {sessions, pageOrigin} = this.#deps;
    // Paths that need no sign-in are open to requests from other sites, with a cookie or without.
    const token = sessions && scope !== undefined && authorization === undefined ? readCookie(cookie) : undefined;
    if ((isSignIn || token !== undefined) && !isSameOrigin(request, pageOrigin))
      return this.#passCrossSite(request, tell);
    if (isSignIn) {
      request.caller = this.#stranger(ip, noCredentials, request.method === 'DELETE' ? 'sign-out' : 'sign-in');
      return void (await this.#take(this.#deps.local, request.caller.pools, tell));
    }
    if (sessions && token !== undefined) {
      const stranger = this.#stranger(ip, noCredentials, 'cookie');
      return passSession({...this.#deps, sessions}, {token, request, stranger}, (verdict) =>
        this.#judge(verdict, tell),
      );
    }
    const caller = this.#byKey(authorization, ip);
    request.caller = caller;
    const ends = caller.kind === 'key' ? tokenEnds(caller.key, caller.hash) : undefined;
    if (ends !== undefined) tell({'doorplate-key-expires': ends});
    if (caller.kind === 'key' && isConditional(request)) return this.#takeConditional(caller, request, tell);
    await this.#charge(
      caller,
      typeof own === 'function' ? caller.kind === 'key' && own(caller, request) : own === true,
      tell,
    );
  }

  /** Cross-site requests use a separate pool: the tenant pays nothing, and the address keeps its quota for the page. */
  async #passCrossSite(request: FastifyRequest, tell: Tell): Promise<void> {
    request.caller = this.#stranger(request.ip, noCredentials, 'cross-site');
    await this.#take(this.#deps.local, request.caller.pools, tell);
    checkSameOrigin(request, this.#deps.pageOrigin);
  }

  #byKey(authorization: string | undefined, address: string): KeyCaller | AnonymousCaller {
    const {findKey, tenantOf, now} = this.#deps;
    const who = recognise(authorization, findKey, now());
    if ('problem' in who) return this.#stranger(address, who);
    const {key, hash} = who;
    const {namespace = ''} = key.metadata;
    const tenant = tenantOf(namespace);
    // The key was seen before its namespace: for a moment, while this process starts.
    if (!tenant)
      return this.#stranger(address, {
        problem: 'credentials-wrong',
        detail: 'The namespace of this key is not known yet. Try again.',
      });
    if (lacksAccount(this.#deps, tenant)) return this.#stranger(address, accountMissing(namespace));
    const pools = [planPool(tenant), ...capPools(key)];
    return {kind: 'key', key, hash, network: networkOf(address), namespace, tenant, pools};
  }

  async #charge(caller: KeyCaller | AnonymousCaller, isOwn: boolean, tell: Tell): Promise<void> {
    const {limiter, local} = this.#deps;
    if (caller.kind !== 'key') return void (await this.#take(local, caller.pools, tell));
    await this.#admit(caller, tell);
    if (isOwn) return this.#takeOwn(caller, tell);
    await this.#take(limiter, caller.pools, tell, this.#struck(caller));
  }

  #struck =
    (caller: KeyCaller): OnRefusal =>
    (facts) =>
      this.#deps.bans.refused(caller, facts);

  /** Notes that a key is used. Throws if it is banned. */
  async #admit(caller: KeyCaller, tell: Tell): Promise<void> {
    const {bans, limiter, now, used, refused} = this.#deps;
    const until = bans.until(caller);
    if (until !== undefined) {
      refused('key-banned');
      tell(banHeaders(until, await limiter.look(caller.pools)));
      throw banned(caller.network, until);
    }
    used(caller.key, now());
  }

  /** Charges the pool of conditional reads, and shows what is left of the plan. What the answer costs: {@link chargeAnswer}. */
  async #takeConditional(caller: KeyCaller, request: FastifyRequest, tell: Tell): Promise<void> {
    const {limiter} = this.#deps;
    await this.#admit(caller, tell);
    const verdict = await this.#take(limiter, conditionalPools(caller.pools), tell, this.#struck(caller));
    tell(limitHeaders(withPool(await limiter.look(caller.pools), verdict)));
    request.unpaid = verdict;
  }

  /** Charges the account's own pool, and shows what is left of the plan beside it: that is what clients read the account for. */
  async #takeOwn({tenant, pools}: KeyCaller, tell: Tell): Promise<void> {
    const {limiter, local} = this.#deps;
    const verdict = await local.take([ownPool(tenant)]);
    this.#judge(verdict, tell);
    tell(limitHeaders(withPool(await limiter.lookUp(pools), verdict)));
  }

  /**
   * Recognizes the token of a ServiceAccount. A question to the API server is charged to the address, so that invented tokens cannot
   * overload it. A valid token costs the address nothing.
   */
  async #passToken(token: string, request: FastifyRequest, tell: Tell): Promise<void> {
    const {serviceAccounts, limiter, local, addressQuota, serviceAccountQuota} = this.#deps;
    const {audience} = serviceAccounts;
    const stranger: AnonymousCaller = {
      kind: 'address',
      pools: tokenPools(addressQuota, request.ip, token),
      why: {
        problem: 'credentials-wrong',
        detail: `The token is not valid: it has expired, its ServiceAccount no longer exists, or it lacks the audience ${audience}.`,
      },
    };
    request.caller = stranger;
    const remembered = serviceAccounts.remembered(token);
    const charge = remembered || serviceAccounts.wasGood(token) ? undefined : await local.take(stranger.pools);
    if (charge) this.#judge(charge, tell);
    const account = remembered === undefined ? await serviceAccounts.recognise(token) : remembered;
    if (!account) return this.#chargeLate(charge, stranger, tell);
    if (charge) local.undo(stranger.pools, charge);
    const pools = [serviceAccountPool(serviceAccountQuota, account)];
    request.caller = {kind: 'service-account', account, pools};
    await this.#take(limiter, pools, tell);
  }

  /** Enters the namespace that the request names. Without the right, the answer is the same as for a namespace that does not exist. */
  async #enter(
    {account, pools}: Extract<Caller, {kind: 'service-account'}>,
    namespace: string,
    request: FastifyRequest,
    tell: Tell,
  ): Promise<BackendCaller> {
    const {serviceAccounts, tenantOf} = this.#deps;
    const {scope = 'any', right, ownQuota: isOwn} = request.routeOptions.config;
    const {verb, resource} = rightFor(scope, request.method, right);
    const tenant = tenantOf(namespace);
    // The API server is not asked about namespaces that do not exist.
    const allowed = tenant !== undefined && (await serviceAccounts.may(account, {verb, resource}, namespace));
    if (!allowed)
      throw new Problem(
        'not-found',
        `The namespace ${namespace} does not exist, or this ServiceAccount may not ${verb} ${resource}.doorplate.dev in it.`,
      );
    const home = tenantOf(account.username.split(':')[2] ?? '');
    const isTenants = home !== undefined && tenantKey(home) === tenantKey(tenant);
    if (isTenants && lacksAccount(this.#deps, tenant)) throw unknown(accountMissing(namespace));
    // A tenant's own program: as many ServiceAccounts as it may make, it has one plan.
    if (isOwn !== true && isTenants) await this.#take(this.#deps.limiter, [planPool(tenant)], tell);
    return {kind: 'backend', account, namespace, tenant, isTenants, pools};
  }

  async #take(
    limiter: Pick<Limits['limiter'], 'take'>,
    pools: readonly Pool[],
    tell: Tell,
    onRefusal?: OnRefusal,
    beside?: CallerQuota,
  ): Promise<QuotaVerdict> {
    const verdict = await limiter.take(pools);
    this.#judge(verdict, tell, verdict.allowed ? undefined : await onRefusal?.(factsOf(verdict)), beside);
    return verdict;
  }

  /** Tells the headers of the limit, with those of a pool `beside`; throws where it refuses. */
  #judge(verdict: QuotaVerdict, tell: Tell, strikes?: Strikes, beside?: CallerQuota): void {
    tell(limitHeaders(beside ? withPool(verdict, beside) : verdict));
    if (verdict.allowed) return;
    this.#deps.refused('rate-limited');
    throw rateLimited(verdict, 'requests', strikes);
  }

  /** A token or a cookie that was valid before is charged like any other invalid one. */
  async #chargeLate(charge: QuotaVerdict | undefined, {pools}: AnonymousCaller, tell: Tell): Promise<void> {
    if (!charge) await this.#take(this.#deps.local, pools, tell);
  }
}
