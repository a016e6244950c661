/** DomainClaims: written on behalf of who holds them, released when that is gone, and dropped when their quarantine is over. */
import type {CustomDomain, DomainClaim, Project} from '../api/foreign.ts';
import {mergeOrders} from '../domain/budget.ts';
import type {ClaimWrite} from '../domain/claim.ts';
import {release} from '../domain/claim.ts';
import {normalise} from '../domain/hostname.ts';
import type {Policy} from '../domain/lifecycle.ts';
import type {Cache} from '../kube/cache.ts';
import type {Client} from '../kube/client.ts';
import type {Result} from '../kube/controller.ts';
import {isAlreadyExists, isConflict} from '../kube/errors.ts';
import type {HasMeta, Key} from '../kube/objects.ts';
import type {Children} from './children.ts';
import type {OrderBook} from './order-book.ts';
import {customDomains, domainClaims, projects} from './resources.ts';

export type ClaimCache = Cache<DomainClaim, DomainClaim>;

/** Under what claims are found again: the UID of their holder. */
export const claimsByHolder = {holder: (c: DomainClaim) => [c.status?.holder?.uid ?? []].flat()};

/** The hostnames that a CustomDomain's spec names, normalised. */
export const hostnamesOf = ({spec: {primary, redirects = []}}: CustomDomain): string[] =>
  [primary, ...redirects.map((r) => r.from)].flatMap((h) => normalise(h) ?? []);

/** How often what follows from claims is decided anew before the queue's back-off takes over. */
const rounds = 4;

/** Writes claims: each write succeeds against what was read, or not at all. */
export class Claims {
  readonly #client: Client;
  readonly #cache: ClaimCache;

  constructor(client: Client, cache: ClaimCache) {
    this.#client = client;
    this.#cache = cache;
  }

  of = (hostname: string): DomainClaim | undefined => this.#cache.get(hostname);

  /**
   * Decides, writes the claims that the decision asks for, and decides anew, until it asks for none: only then is anything else
   * done. Where another was quicker, the next round sees that one's claim.
   */
  async settle<D extends {claims: readonly ClaimWrite[]}>(decide: () => D): Promise<D> {
    for (let round = 0; round < rounds; round++) {
      const decision = decide();
      if (decision.claims.length === 0) return decision;
      await Promise.all(decision.claims.map((write) => this.write(write)));
    }
    throw new Error('claims keep changing while they are decided upon');
  }

  /** Throws what the API server throws, but where another was quicker: then the cache has what stands. */
  async write({hostname, before, spec, status}: ClaimWrite): Promise<void> {
    try {
      this.#cache.observe(
        before === undefined
          ? await this.#client.create(domainClaims, {
              apiVersion: 'doorplate.dev/v1alpha1',
              kind: 'DomainClaim',
              metadata: {name: hostname},
              spec,
              status,
            })
          : await this.#client.patch(
              domainClaims,
              hostname,
              [
                {op: 'replace', path: '/metadata/resourceVersion', value: before.metadata.resourceVersion},
                {op: 'replace', path: '/spec', value: spec},
                {op: 'add', path: '/status', value: status},
              ],
              {type: 'json'},
            ),
      );
    } catch (error) {
      if (!isAlreadyExists(error) && !isConflict(error)) throw error;
      const live = await this.#client.get(domainClaims, hostname);
      if (!live || live.metadata.resourceVersion === before?.metadata.resourceVersion) throw error;
      this.#cache.observe(live);
    }
  }
}

export interface ClaimDeps {
  client: Client;
  policy: Policy;
  claims: Claims;
  /** Indexed by `uid`. */
  domains: Cache<CustomDomain, CustomDomain>;
  projects: Cache<Project, Project>;
  children: Children;
  orders: OrderBook;
  now?: () => number;
}

export class ClaimReconciler {
  readonly #deps: ClaimDeps;

  constructor(deps: ClaimDeps) {
    this.#deps = deps;
  }

  /** Brings one claim to what it should be. Throws what the API server throws; the queue tries again. */
  async reconcile(hostname: Key): Promise<Result> {
    const {claims, client, policy, orders} = this.#deps;
    const claim = claims.of(hostname);
    if (!claim || claim.metadata.deletionTimestamp) return 'awaitChange';
    const now = (this.#deps.now ?? Date.now)();
    const {holder, quarantinedUntil} = claim.status ?? {};
    if (!holder) {
      if (quarantinedUntil === undefined || claim.spec.proof === 'Platform') return 'awaitChange';
      const left = Date.parse(quarantinedUntil) - now;
      if (left > 0) return {requeueAfterMs: Math.min(left, 86_400_000)};
      const {uid, resourceVersion} = claim.metadata;
      await client.delete(domainClaims, hostname, {uid, resourceVersion});
      return 'awaitChange';
    }
    if (await this.#stands(hostname, holder)) return 'awaitChange';
    await claims.write(
      release(
        claim,
        now,
        policy.quarantineTimeMs,
        mergeOrders(claim.status?.orders ?? [], orders.orders(hostname), policy.budgets, now),
      ),
    );
    return 'awaitChange';
  }

  /** Whether the holder is there and names the hostname still, or has routes for it. What it has left behind is removed. */
  async #stands(
    hostname: string,
    {kind, uid, namespace, name}: NonNullable<NonNullable<DomainClaim['status']>['holder']>,
  ): Promise<boolean> {
    const {domains, projects: projectCache, children, client} = this.#deps;
    const [domain] = kind === 'CustomDomain' ? domains.by('uid', uid) : [];
    if (domain) {
      return (
        hostnamesOf(domain).includes(hostname) ||
        (domain.status?.hosts ?? []).some((h) => h.hostname === hostname) ||
        children.routes(uid, hostname)
      );
    }
    if (kind === 'Project' && projectCache.by('uid', uid).length > 0) return true;
    // The copy may be behind: only the API server's own word takes a hostname away.
    const live: HasMeta | undefined = await (kind === 'CustomDomain'
      ? client.get(customDomains, `${namespace}/${name}`)
      : client.get(projects, `${namespace}/${name}`));
    if (live?.metadata.uid === uid) return true;
    // Somebody has taken the finalizer off by force: the routes go first all the same.
    await children.remove({metadata: {uid}});
    return false;
  }
}
