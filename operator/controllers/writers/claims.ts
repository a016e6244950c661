/** DomainClaims: written for the owners of hostnames, released when the owner is gone, and deleted when their quarantine is over. */
import type {Certificate, CustomDomain, DomainClaim} from '../../api/foreign.ts';
import type {Order} from '../../domain/certificates/budget.ts';
import {mergeOrders} from '../../domain/certificates/budget.ts';
import {isRetained} from '../../domain/certificates/certificate.ts';
import type {ClaimWrite} from '../../domain/claims/claim-write.ts';
import {correctTimes} from '../../domain/claims/claim-write.ts';
import {gives, keptForMs, release, remember} from '../../domain/claims/claim.ts';
import type {Tenant} from '../../domain/tenant.ts';
import type {Policy} from '../../domain/world.ts';
import type {Cache, Change} from '../../kube/cache/cache.ts';
import type {Client} from '../../kube/client/client.ts';
import type {Result} from '../../kube/controller/controller.ts';
import {isAlreadyExists, isConflict} from '../../kube/errors.ts';
import type {HasMeta, Key, Resource} from '../../kube/objects.ts';
import {doAll, settleAll} from '../../kube/writes/side-by-side.ts';
import {by, each, itself, type KeysOf, on, type Wake, whenNewOrGone} from '../../kube/controller/wake.ts';
import type {Caches} from '../state/caches.ts';
import type {CertificateTimes} from '../state/certificate-times.ts';
import type {OwnedObjects} from './owned-objects.ts';
import {forAnnotation} from '../../resources/labels.ts';
import type {OrderQueues} from '../orders/order-queues.ts';
import {isCleanedUp} from '../../resources/projections.ts';
import {certificateOf, hostnamesOf, namesOf, uidOf} from '../../resources/relations.ts';
import {cachedHostnames} from '../state/rendering.ts';
import {customDomains, domainClaims, projects} from '../../resources/resources.ts';
import type {RetainedCertificates} from './retained-certificates.ts';
import type {Tenants} from '../state/tenants.ts';

/** How many times claims are written again before the queue's backoff takes over. */
const rounds = 4;

/** Deletes the Certificates that are retained for other tenants, before a hostname becomes this tenant's. */
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
   * Writes claims for a tenant. If another writer was faster, the cache has that writer's claim afterwards. Before a hostname becomes the
   * tenant's, the tenant is confirmed, and Certificates that are retained for other tenants are deleted. Returns the outcome of each write
   * that was started.
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
      // No retained Certificate is deleted here, because that deletion calls this function.
      await doAll(writes, (write) => this.write(write));
    }
    throw new Error('the claims kept changing during the writes');
  }

  /** Throws errors of the API server. If another writer was faster, updates the cache instead. */
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
  ownedObjects: OwnedObjects;
  resting: RetainedCertificates;
  orders: Pick<OrderQueues, 'orders'>;
  tenants: Pick<Tenants, 'of'>;
  certified: Pick<CertificateTimes, 'of'>;
  now?: () => number;
}

/** The hostnames in the spec or the status of a CustomDomain. */
const namedBy = (domain: CustomDomain): string[] => [
  ...hostnamesOf(domain),
  ...(domain.status?.hosts ?? []).map((h) => h.hostname),
];

/** Only when Doorplate has cleaned up after a deleted object that other finalizers keep. */
const whenCleanedUp =
  (keysOf: KeysOf<Change<CustomDomain>>): KeysOf<Change<CustomDomain>> =>
  (now, before) =>
    now && isCleanedUp(now) && !(before && isCleanedUp(before)) ? keysOf(now, before) : [];

/** The hostnames that a CustomDomain owns and no longer names. No other change of it concerns a claim. */
const droppedBy =
  (claims: Caches['claims']): KeysOf<Change<CustomDomain>> =>
  (now, before) => {
    if (!now || !before) return [];
    const names = new Set(namedBy(now));
    const isHeld = (hostname: string) => claims.get(hostname)?.status?.holder?.uid === now.metadata.uid;
    return namedBy(before).filter((hostname) => !names.has(hostname) && isHeld(hostname));
  };

/**
 * The changes that wake a claim. The claim, a Certificate retained for it or the CertificateRequest changes; the owner appears, disappears
 * or drops the hostname; a route or Certificate of the hostname appears or disappears. The key is the hostname, whether or not a claim
 * exists. An owner that is deleted disappears when Doorplate has cleaned up after it.
 */
export const wakeClaims = (c: Caches): Wake[] => [
  on(c.claims, itself),
  on(
    c.domains,
    whenNewOrGone(by(c.claims, 'holder', uidOf)),
    whenCleanedUp(by(c.claims, 'holder', uidOf)),
    droppedBy(c.claims),
  ),
  on(c.projects, whenNewOrGone(by(c.claims, 'holder', uidOf))),
  on(c.routes, whenNewOrGone(each(cachedHostnames))),
  on(c.certificates, each(retainedNames), whenNewOrGone<Certificate>(each(namesOf))),
  on(
    c.requests,
    each((request: HasMeta) => certificateOf(request).flatMap((key) => retainedNames(c.certificates.get(key)))),
  ),
];

/** The hostname of a Certificate that rests. */
const retainedNames = (certificate: Certificate | undefined): string[] =>
  certificate && isRetained(certificate) ? namesOf(certificate) : [];

export class ClaimReconciler {
  readonly #deps: ClaimDeps;

  constructor(deps: ClaimDeps) {
    this.#deps = deps;
  }

  /** Reconciles one claim and the Certificates that are retained for it. Throws errors of the API server, so that the queue retries. */
  async reconcile(hostname: Key): Promise<Result> {
    const {claims, resting, tenants} = this.#deps;
    await this.#endStrays(hostname);
    const now = (this.#deps.now ?? Date.now)();
    const claim = claims.of(hostname);
    const {holder} = claim?.status ?? {};
    const retentionEnds = await resting.tend(hostname, {now, claim, tenant: holder && tenants.of(holder.namespace)});
    const result = await this.#reconcileClaim(hostname, now, retentionEnds);
    const next = Math.min(retentionEnds - now, result === 'awaitChange' ? Infinity : result.requeueAfterMs, 86_400_000);
    return retentionEnds === Infinity ? result : {requeueAfterMs: Math.max(1000, next)};
  }

  /**
   * Removes routes and Certificates of a hostname whose owner is gone: its finalizer was removed by force, it was deleted while no operator
   * ran, or everything was restored with other UIDs. A claim need not exist.
   */
  async #endStrays(hostname: string): Promise<void> {
    const {domains, projects: projectCache, ownedObjects, client} = this.#deps;
    for (const [uid, {resource, key}] of ownedObjects.ownersOf(hostname)) {
      const owners: HasMeta[] = [domains, projectCache].flatMap((cache): HasMeta[] => cache.by('uid', uid));
      if (owners.some((one) => !isCleanedUp(one))) continue;
      // The copies may be behind.
      const standing = await client.get(resource, key);
      const [kind, owner = ''] = standing?.metadata.annotations?.[forAnnotation]?.split(' ') ?? [];
      const of: Resource | undefined = [customDomains, projects].find((r) => r.kind === kind);
      const live = of && (await client.get(of, owner));
      if (of && (live?.metadata.uid !== uid || isCleanedUp(live))) await ownedObjects.remove({metadata: {uid}});
    }
  }

  async #reconcileClaim(hostname: Key, now: number, retentionEnds: number): Promise<Result> {
    const {claims, client, policy, orders, resting, certified} = this.#deps;
    const claim = claims.of(hostname);
    if (!claim || claim.metadata.deletionTimestamp) return 'awaitChange';
    const correction = correctTimes(claim, now, policy);
    if (correction) {
      await claims.write(correction);
      return 'awaitChange';
    }
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
    const known = mergeOrders(claim.status?.orders ?? [], orders.orders(hostname), policy.orderMemoryMs, now);
    const certifiedAt = certified.of(hostname);
    const keepMs = keptForMs(claim, policy, {orders: known, retentionEnds, certifiedAt, now});
    if (keepMs === 0) return drop();
    await claims.write(release(claim, now, keepMs, known));
    return 'awaitChange';
  }

  /**
   * Whether the owner exists, is not cleaned up, and still names the hostname, or one of its routes or unretained Certificates for it
   * exists. Removes the objects that a deleted owner has left.
   */
  async #stands(
    hostname: string,
    {kind, uid, namespace, name}: NonNullable<NonNullable<DomainClaim['status']>['holder']>,
  ): Promise<boolean> {
    const {domains, projects: projectCache, ownedObjects, client} = this.#deps;
    const [domain] = kind === 'CustomDomain' ? domains.by('uid', uid) : [];
    if (domain && !isCleanedUp(domain)) {
      return (
        hostnamesOf(domain).includes(hostname) ||
        (domain.status?.hosts ?? []).some((h) => h.hostname === hostname) ||
        ownedObjects.ownersOf(hostname).has(uid)
      );
    }
    if (kind === 'Project' && projectCache.by('uid', uid).length > 0) return true;
    // The copy may be behind: only the API server's own word takes a hostname away.
    const live: HasMeta | undefined = await (kind === 'CustomDomain'
      ? client.get(customDomains, `${namespace}/${name}`)
      : client.get(projects, `${namespace}/${name}`));
    if (live?.metadata.uid === uid && !isCleanedUp(live)) return true;
    // Even if no object of this hostname is left, the objects of the owner's other hostnames are removed before its claims.
    await ownedObjects.remove({metadata: {uid}});
    return false;
  }
}
