/** DomainClaims: written on behalf of who holds them, released when that is gone, and dropped when their quarantine is over. */
import type {Certificate, CustomDomain, DomainClaim} from '../api/foreign.ts';
import type {Order} from '../domain/budget.ts';
import {mergeOrders} from '../domain/budget.ts';
import {isResting} from '../domain/certificate.ts';
import type {ClaimWrite} from '../domain/claim-write.ts';
import {gives, keptForMs, release, remember} from '../domain/claim.ts';
import type {Tenant} from '../domain/tenant.ts';
import type {Policy} from '../domain/world.ts';
import type {Cache, Change} from '../kube/cache.ts';
import type {Client} from '../kube/client.ts';
import type {Result} from '../kube/controller.ts';
import {isAlreadyExists, isConflict} from '../kube/errors.ts';
import type {HasMeta, Key, Resource} from '../kube/objects.ts';
import {doAll, settleAll} from '../kube/side-by-side.ts';
import {by, each, itself, type KeysOf, on, type Wake, whenNewOrGone} from '../kube/wake.ts';
import type {Caches} from './caches.ts';
import type {CertificateTimes} from './certificate-times.ts';
import type {Children} from './children.ts';
import {forAnnotation} from './labels.ts';
import type {OrderBook} from './order-book.ts';
import {certificateOf, hostnamesOf, namesOf, uidOf} from './relations.ts';
import {keptHosts} from './rendering.ts';
import {customDomains, domainClaims, projects} from './resources.ts';
import type {Resting} from './resting.ts';
import type {Tenants} from './tenants.ts';

/** How many times claims are written again before the queue's backoff takes over. */
const rounds = 4;

/** Before a hostname becomes a tenant's: what rests of it for others goes. */
type MakeWay = (hostname: string, tenant: Tenant) => Promise<void>;

/** The tenant for which claims are written. `confirmTenant` throws a StaleReadError if the Namespace has another tenant now. */
interface Winner {
  tenant: Tenant;
  confirmTenant: () => Promise<void>;
}

/** Writes claims: each write succeeds against what was read, or not at all. */
export class Claims {
  readonly #client: Client;
  readonly #cache: Cache<DomainClaim, DomainClaim>;
  readonly #makeWay: MakeWay;

  constructor(client: Client, cache: Cache<DomainClaim, DomainClaim>, makeWay: MakeWay) {
    this.#client = client;
    this.#cache = cache;
    this.#makeWay = makeWay;
  }

  of = (hostname: string): DomainClaim | undefined => this.#cache.get(hostname);

  /**
   * Writes claims for a tenant. Where another was quicker, the cache has that one's claim then. Before a hostname becomes the tenant's, the
   * tenant is confirmed, and what rests of the hostname for others goes. Returns what became of each write that was begun.
   */
  async writeAll(
    writes: readonly ClaimWrite[],
    {tenant, confirmTenant}: Winner,
  ): Promise<PromiseSettledResult<void>[]> {
    if (writes.some(gives)) await confirmTenant();
    return settleAll(writes, async (write) => {
      if (gives(write)) await this.#makeWay(write.hostname, tenant);
      await this.write(write);
    });
  }

  /** Brings the copy of a claim up to date. Throws what the API server throws. */
  async read(hostname: string): Promise<DomainClaim | undefined> {
    const live = await this.#client.get(domainClaims, hostname);
    if (live) this.#cache.observe(live);
    return live;
  }

  /** Sees to it that the claims of these hostnames know the orders that `ordersOf` tells of. */
  async remember(hostnames: readonly string[], ordersOf: (claim: DomainClaim) => readonly Order[]): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const writes = hostnames.flatMap((hostname) => {
        const claim = this.of(hostname);
        return (claim && remember(claim, ordersOf(claim))) ?? [];
      });
      if (writes.length === 0) return;
      // Way is made for nobody: that asks for this.
      await doAll(writes, (write) => this.write(write));
    }
    throw new Error('claims keep changing while they are written');
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

export interface ClaimDeps extends Pick<Caches, 'domains' | 'projects'> {
  client: Client;
  policy: Policy;
  claims: Claims;
  children: Children;
  resting: Resting;
  orders: OrderBook;
  tenants: Pick<Tenants, 'of'>;
  certified: Pick<CertificateTimes, 'of'>;
  now?: () => number;
}

/** The hostnames that a CustomDomain has in its spec or its status. */
const namedBy = (domain: CustomDomain): string[] => [
  ...hostnamesOf(domain),
  ...(domain.status?.hosts ?? []).map((h) => h.hostname),
];

/** The hostnames that a CustomDomain holds and no longer names: no other change of it is a claim's. */
const droppedBy =
  (claims: Caches['claims']): KeysOf<Change<CustomDomain>> =>
  (now, before) => {
    if (!now || !before) return [];
    const names = new Set(namedBy(now));
    const isHeld = (hostname: string) => claims.get(hostname)?.status?.holder?.uid === now.metadata.uid;
    return namedBy(before).filter((hostname) => !names.has(hostname) && isHeld(hostname));
  };

/**
 * What wakes a claim: a change of it, of a Certificate that rests for it (or of its request), that who holds it comes, goes or drops
 * the hostname, and that a route or a Certificate of the hostname comes or goes. Its key is the hostname, whether there is a claim or not.
 */
export const wakeClaims = (c: Caches): Wake[] => [
  on(c.claims, itself),
  on(c.domains, whenNewOrGone(by(c.claims, 'holder', uidOf)), droppedBy(c.claims)),
  on(c.projects, whenNewOrGone(by(c.claims, 'holder', uidOf))),
  on(c.routes, whenNewOrGone(each(keptHosts))),
  on(c.certificates, each(restingNames), whenNewOrGone<Certificate>(each(namesOf))),
  on(
    c.requests,
    each((request: HasMeta) => certificateOf(request).flatMap((key) => restingNames(c.certificates.get(key)))),
  ),
];

/** The hostname of a Certificate that rests. */
const restingNames = (certificate: Certificate | undefined): string[] =>
  certificate && isResting(certificate) ? namesOf(certificate) : [];

export class ClaimReconciler {
  readonly #deps: ClaimDeps;

  constructor(deps: ClaimDeps) {
    this.#deps = deps;
  }

  /**
   * Brings one claim to what it should be, and the Certificates that rest for it. Throws what the API server throws; the queue tries
   * again.
   */
  async reconcile(hostname: Key): Promise<Result> {
    const {claims, resting, tenants} = this.#deps;
    await this.#endStrays(hostname);
    const now = (this.#deps.now ?? Date.now)();
    const claim = claims.of(hostname);
    const {holder} = claim?.status ?? {};
    const restEnds = await resting.tend(hostname, {now, claim, tenant: holder && tenants.of(holder.namespace)});
    const result = await this.#reconcileClaim(hostname, now, restEnds);
    const next = Math.min(restEnds - now, result === 'awaitChange' ? Infinity : result.requeueAfterMs, 86_400_000);
    return restEnds === Infinity ? result : {requeueAfterMs: Math.max(1000, next)};
  }

  /**
   * What stands for a hostname goes where its owner is gone: its finalizer was taken off by force, it went while no operator ran, or all
   * was restored under other UIDs. No claim need know of it.
   */
  async #endStrays(hostname: string): Promise<void> {
    const {domains, projects: projectCache, children, client} = this.#deps;
    for (const [uid, {resource, key}] of children.ownersOf(hostname)) {
      if ([domains, projectCache].some((cache) => cache.by('uid', uid).length > 0)) continue;
      // The copies may be behind.
      const standing = await client.get(resource, key);
      const [kind, owner = ''] = standing?.metadata.annotations?.[forAnnotation]?.split(' ') ?? [];
      const of: Resource | undefined = [customDomains, projects].find((r) => r.kind === kind);
      if (of && (await client.get(of, owner))?.metadata.uid !== uid) await children.remove({metadata: {uid}});
    }
  }

  async #reconcileClaim(hostname: Key, now: number, restEnds: number): Promise<Result> {
    const {claims, client, policy, orders, resting, certified} = this.#deps;
    const claim = claims.of(hostname);
    if (!claim || claim.metadata.deletionTimestamp) return 'awaitChange';
    const drop = async (): Promise<Result> => {
      await resting.end(hostname);
      const {uid, resourceVersion} = claim.metadata;
      await client.delete(domainClaims, hostname, {uid, resourceVersion});
      return 'awaitChange';
    };
    const {holder, quarantinedUntil} = claim.status ?? {};
    if (!holder) {
      if (quarantinedUntil === undefined || claim.spec.proof === 'Platform') return 'awaitChange';
      const left = Date.parse(quarantinedUntil) - now;
      if (left > 0) return {requeueAfterMs: Math.min(left, 86_400_000)};
      return drop();
    }
    if (await this.#stands(hostname, holder)) return 'awaitChange';
    const known = mergeOrders(claim.status?.orders ?? [], orders.orders(hostname), policy.budgets, now);
    const certifiedAt = certified.of(hostname);
    const keepMs = keptForMs(claim, policy, {orders: known, restEnds, certifiedAt, now});
    if (keepMs === 0) return drop();
    await claims.write(release(claim, now, keepMs, known));
    return 'awaitChange';
  }

  /**
   * Whether the holder exists and still names the hostname, or something of it stands for that: a route, or a Certificate that does not
   * rest yet. What one that is gone has left is removed.
   */
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
        children.ownersOf(hostname).has(uid)
      );
    }
    if (kind === 'Project' && projectCache.by('uid', uid).length > 0) return true;
    // The copy may be behind: only the API server's own word takes a hostname away.
    const live: HasMeta | undefined = await (kind === 'CustomDomain'
      ? client.get(customDomains, `${namespace}/${name}`)
      : client.get(projects, `${namespace}/${name}`));
    if (live?.metadata.uid === uid) return true;
    // Where nothing stands for this hostname any more, what stands for the holder's others goes before its claims all the same.
    await children.remove({metadata: {uid}});
    return false;
  }
}
