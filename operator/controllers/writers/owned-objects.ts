import type {Certificate, CertificateRequest} from '../../api/foreign.ts';
import type {CertificateFacts, IssuedRequest} from '../../domain/certificates/certificate.ts';
import {certificateFacts, isRetained} from '../../domain/certificates/certificate.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import {objectNameOf} from '../../domain/hostnames/hostname.ts';
import type {Retention} from '../../domain/certificates/retained.ts';
import {hostnameOf, isGood} from '../../domain/certificates/retained.ts';
import type {Tenant} from '../../domain/tenant.ts';
import {timestamp} from '../../domain/times.ts';
import type {FreshAttempt} from '../../domain/world.ts';
import type {Applier} from '../../kube/writes/apply.ts';
import type {Cache} from '../../kube/cache/cache.ts';
import type {Client} from '../../kube/client/client.ts';
import {isKindMissing, StaleReadError} from '../../kube/errors.ts';
import type {HasMeta, Key, KubeObject, ObjectMeta, Resource} from '../../kube/objects.ts';
import {keyOf, ownerReference} from '../../kube/objects.ts';
import {doAll, failureOf, settleAll} from '../../kube/writes/side-by-side.ts';
import {forAnnotation, managedBy, ownerLabel} from '../../resources/labels.ts';
import {namesOf, ownerOf} from '../../resources/relations.ts';
import {type CachedRoute, hostsOf, type RouteObject} from '../state/rendering.ts';
import type {RetainedCertificates} from './retained-certificates.ts';
import {type Writes, writesPerTurn} from './writes.ts';
import {certificateRequests, certificates} from '../../resources/resources.ts';

export interface Owner {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** Desired Certificates. */
interface WantedCertificates {
  certificates: readonly Certificate[];
  /** Retained Certificates (`namespace/name`) that are used again. */
  returning: readonly string[];
  /** Hostnames whose Certificates stay for the successor. */
  handingOver?: readonly Hostname[];
}

/** Decides about a Certificate that is no longer desired: how it is retained, or undefined if it is deleted. */
export type Leaving = (certificate: Certificate) => Retention | undefined;

/** Identifies the Certificate to look up, and its owner. */
export interface CertificatePlace {
  owner: Owner;
  hostname: Hostname;
  namespace: string;
  /** Undefined if the owner does not own the hostname. Then no retained Certificate may be used. */
  tenant: Tenant | undefined;
  /** UIDs of the tenant's other CustomDomains that name the hostname: their Certificate there is used, too. */
  siblings?: ReadonlySet<string>;
  /** ms since the epoch. */
  now: number;
}

const missing = ({group, kind}: Resource): string =>
  group === certificates.group
    ? `cert-manager is not installed: the cluster has no kind ${kind}. Install it; the certificate follows within a minute.`
    : `the cluster has no kind ${kind}.`;

export interface OwnedObjectsDeps {
  client: Client;
  applier: Applier;
  certificates: Cache<Certificate, Certificate>;
  routes: Cache<CachedRoute, RouteObject>;
  requests: Cache<IssuedRequest, CertificateRequest>;
  resting: RetainedCertificates;
  /** Awaited before Certificates are deleted or retained: their orders are known from CertificateRequests that go with them. */
  beforeCertificatesAreRemoved: (going: readonly Certificate[]) => Promise<void>;
}

/**
 * The owned objects of a CustomDomain or Project: Certificates and routes. A label names the owner, and the finalizer removes them. Routes
 * in its own namespace have an owner reference, too, so that Kubernetes deletes them. Certificates have none: a foreground deletion would
 * delete them before they are retained, and each hostname that returns would cost an order.
 */
export class OwnedObjects {
  readonly #client: Client;
  readonly #applier: Applier;
  readonly #certificates: Cache<Certificate, Certificate>;
  readonly #routes: Cache<CachedRoute, RouteObject>;
  readonly #requests: Cache<IssuedRequest, CertificateRequest>;
  readonly #resting: RetainedCertificates;
  readonly #beforeCertificatesAreRemoved: OwnedObjectsDeps['beforeCertificatesAreRemoved'];

  constructor(p: OwnedObjectsDeps) {
    this.#client = p.client;
    this.#applier = p.applier;
    this.#certificates = p.certificates;
    this.#routes = p.routes;
    this.#requests = p.requests;
    this.#resting = p.resting;
    this.#beforeCertificatesAreRemoved = p.beforeCertificatesAreRemoved;
  }

  /**
   * The facts about the Certificate of an owner's hostname: the owner's Certificate, else a Certificate that is retained there for the
   * tenant, else the Certificate of a sibling, which hands the hostname over.
   */
  certificate({owner, hostname, namespace, tenant, siblings, now}: CertificatePlace): CertificateFacts | undefined {
    const there = this.#certificates
      .by('hostname', hostname)
      .filter((c) => c.metadata.namespace === namespace && !isRetained(c));
    const own = there.filter(this.#isOurs(owner));
    const name = objectNameOf(owner.metadata.uid ?? '', hostname);
    const certificate = own.find((c) => c.metadata.name === name) ?? own[0];
    const factsOf = (c: Certificate) => certificateFacts(c, this.#requests.by('certificate', keyOf(c)));
    if (certificate) return factsOf(certificate);
    const other =
      tenant &&
      (this.#resting.find(hostname, namespace, tenant, now) ??
        there.find((c) => isGood(c) && ownerOf(c).some((uid) => siblings?.has(uid))));
    return other && {...factsOf(other), resting: true};
  }

  /** Whether a route exists in the cluster exactly as desired. */
  stands(owner: Owner, desired: RouteObject): boolean {
    return this.#applier.stands(this.#labelled(owner, desired), this.#routes.get(keyOf(desired)), this.#routes);
  }

  /** Removes the routes of an owner for other hostnames than these. Returns whether anything has changed. */
  async removeRoutesOfOthers(owner: Owner, hostnames: ReadonlySet<string>): Promise<boolean> {
    const {uid = ''} = owner.metadata;
    const routes = this.#routes.by('owner', uid).filter(({hosts}) => !hosts.some((host) => hostnames.has(host)));
    return this.#removeRoutes(routes);
  }

  /** The hostnames for which an owner has routes. */
  routedBy({metadata: {uid = ''}}: Owner): ReadonlySet<string> {
    return new Set(this.#routes.by('owner', uid).flatMap(({hosts}) => hosts));
  }

  /**
   * Removes the routes of an owner that are no longer desired, then writes those that differ. No write that fails keeps another from being
   * tried, unless each would fail alike; failures are in `writes`. Routes of hostnames in `handingOver` stay. A route is created only if
   * the claim in the API server names the owner, because the cached claim may be stale. Writes beyond {@link writesPerTurn} are left for
   * another turn. Returns whether anything has changed. Throws what kept a route from being deleted.
   */
  async applyRoutes(
    owner: Owner,
    desired: readonly RouteObject[],
    writes: Writes,
    handingOver: readonly Hostname[] = [],
  ): Promise<boolean> {
    const undesired = this.#undesired(owner, this.#routes, desired);
    const stays = (hostname: string) => writes.unconfirmed.has(hostname) || handingOver.includes(hostname);
    const removed = await this.#removeRoutes(undesired.filter(({hosts}) => !hosts.some(stays)));
    const written = await this.#applyAll(owner, {cache: this.#routes, hostnamesOf: hostsOf}, desired, writes);
    return removed || written;
  }

  /** The same for Certificates; those that are no longer desired rest, or are deleted. */
  async applyCertificates(
    owner: Owner,
    {certificates: desired, returning, handingOver = []}: WantedCertificates,
    leaving: Leaving,
    writes: Writes,
  ): Promise<boolean> {
    const undesired = this.#undesired(owner, this.#certificates, desired);
    const left = await this.#leave(
      undesired.filter((certificate) => !handingOver.includes(hostnameOf(certificate))),
      leaving,
    );
    writes.add(left);
    const written = await this.#applyAll(
      owner,
      {cache: this.#certificates, hostnamesOf: namesOf},
      desired,
      writes,
      returning,
    );
    return written || left.some((o) => o.status === 'fulfilled' && o.value);
  }

  /**
   * Starts fresh attempts. All are tried, and failures that concern a single Certificate are in `writes`. Returns whether there was such a
   * failure. Throws any other failure, such as a conflict because the Certificate has changed since it was read.
   */
  async startAttempts(attempts: readonly FreshAttempt[], now: number, writes: Writes): Promise<boolean> {
    const known = writes.writeErrors.size;
    const outcomes = await settleAll(attempts, async (attempt) => {
      const {namespace, name} = attempt.certificate;
      try {
        await this.#start(attempt, now);
      } catch (error) {
        writes.failed(name, `${certificates.kind} ${namespace}/${name}`, error);
      }
    });
    writes.add(outcomes);
    return failureOf(outcomes) !== undefined || writes.writeErrors.size > known;
  }

  async #start({certificate, request, mark}: FreshAttempt, now: number): Promise<void> {
    if (request)
      await this.#client.delete(certificateRequests, `${request.namespace}/${request.name}`, {uid: request.uid});
    if (!mark) return;
    const key = `${certificate.namespace}/${certificate.name}`;
    const known = this.#certificates.get(key);
    if (!known) return;
    // As cmctl renew does (cert-manager: cmd/ctl renew, apiutil.SetCertificateCondition).
    const issuing = {
      type: 'Issuing',
      status: 'True',
      reason: 'ManuallyTriggered',
      message: 'Doorplate was asked for a fresh attempt',
      lastTransitionTime: timestamp(now),
      observedGeneration: known.metadata.generation,
    };
    const conditions = [...(known.status?.conditions ?? []).filter((c) => c.type !== 'Issuing'), issuing];
    this.#certificates.observe(
      await this.#client.patch(
        certificates,
        key,
        [
          {op: 'replace', path: '/metadata/resourceVersion', value: known.metadata.resourceVersion},
          {op: 'add', path: '/status/conditions', value: conditions},
        ],
        {type: 'json', subresource: 'status'},
      ),
    );
  }

  /** The owners of a hostname's routes by UID, each with the creation time of its newest route, ms since the epoch. */
  routedSince(hostname: string): ReadonlyMap<string, number> {
    const since = new Map<string, number>();
    for (const {metadata} of this.#routes.by('host', hostname)) {
      const uid = metadata.labels?.[ownerLabel] ?? '';
      since.set(uid, Math.max(since.get(uid) ?? 0, Date.parse(metadata.creationTimestamp ?? '') || 0));
    }
    return since;
  }

  /** The owners of a hostname's routes and Certificates, by UID, each with one of the objects. Retained Certificates have no owner. */
  ownersOf(hostname: string): Map<string, {resource: Resource; key: Key}> {
    const standing = [
      [this.#routes.resource, this.#routes.by('host', hostname)],
      [this.#certificates.resource, this.#certificates.by('hostname', hostname)],
    ] as const;
    return new Map(
      standing.flatMap(([resource, objects]) =>
        objects.flatMap((o) => ownerOf(o).map((uid) => [uid, {resource, key: keyOf(o)}] as const)),
      ),
    );
  }

  /** Creation time of an owner's route with this key, ms since the epoch; undefined if it does not exist. */
  since(owner: Owner, key: string): number | undefined {
    const route = this.#routes.get(key);
    return route && this.#isOurs(owner)(route) ? Date.parse(route.metadata.creationTimestamp ?? '') || 0 : undefined;
  }

  /** Removes everything: the routes first (traffic stops), then the certificates. */
  async remove(owner: {metadata: Pick<ObjectMeta, 'uid'>}, leaving: Leaving = () => undefined): Promise<void> {
    await this.#removeRoutes(this.#undesired(owner, this.#routes, []));
    const failed = failureOf(await this.#leave(this.#undesired(owner, this.#certificates, []), leaving));
    if (failed) throw failed;
  }

  #isOurs =
    (owner: Owner) =>
    (o: {metadata: ObjectMeta}): boolean =>
      o.metadata.labels?.[ownerLabel] === owner.metadata.uid ||
      (o.metadata.ownerReferences ?? []).some((r) => r.controller === true && r.uid === owner.metadata.uid);

  #labelled<T extends KubeObject>(owner: Owner, object: T): T {
    return {
      ...object,
      metadata: {
        ...object.metadata,
        labels: {...object.metadata.labels, ...managedBy, [ownerLabel]: owner.metadata.uid ?? ''},
        annotations: {...object.metadata.annotations, [forAnnotation]: `${owner.kind} ${keyOf(owner)}`},
        ...(object.kind !== certificates.kind &&
          object.metadata.namespace === owner.metadata.namespace && {
            ownerReferences: [ownerReference(owner, {controller: true, blockOwnerDeletion: true})],
          }),
      },
    };
  }

  async #applyAll<T extends KubeObject, P extends HasMeta>(
    owner: Owner,
    {cache, hostnamesOf}: {cache: Cache<P, T>; hostnamesOf: (object: T) => string[]},
    desired: readonly T[],
    writes: Writes,
    returning: readonly string[] = [],
  ): Promise<boolean> {
    const {resource} = cache;
    const changes = () => writes.written + writes.writeErrors.size + writes.withheld;
    const before = changes();
    const outcomes = await settleAll(desired, async (intent) => {
      const {name} = intent.metadata;
      const object = `${resource.kind} ${keyOf(intent)}`;
      const labelled = this.#labelled(owner, intent);
      const existing = cache.get(keyOf(intent));
      if (writes.written >= writesPerTurn) {
        writes.unfinished ||= !this.#applier.stands(labelled, existing, cache);
        return;
      }
      try {
        // A retained Certificate is used unchanged or not at all: a new Certificate would be an order without budget.
        const returns = returning.includes(keyOf(intent));
        if (returns && !existing) throw new StaleReadError(`${object} was retained, but is deleted`);
        const {outcome} = await this.#applier.apply(resource, labelled, {
          existing,
          isOurs: returns ? (o) => o.metadata.uid === existing?.metadata.uid : this.#isOurs(owner),
          onlyExisting: returns,
          mayCreate: () => writes.owns(hostnamesOf(intent)),
          cache,
        });
        if (outcome === 'NotOurs') writes.writeErrors.set(name, {kind: 'NameTaken', object});
        if (outcome === 'Withheld') writes.withheld++;
        if (outcome === 'Created' || outcome === 'Applied') writes.written++;
      } catch (error) {
        if (isKindMissing(error)) writes.writeErrors.set(name, {kind: 'WriteRefused', object, says: missing(resource)});
        else writes.failed(name, object, error);
      }
    });
    writes.add(outcomes);
    return changes() > before;
  }

  #undesired<T extends KubeObject, P extends HasMeta>(
    {metadata: {uid = ''}}: {metadata: Pick<ObjectMeta, 'uid'>},
    cache: Cache<P, T>,
    desired: readonly T[],
  ): P[] {
    const keys = new Set(desired.map(keyOf));
    return cache.by('owner', uid).filter((o) => !keys.has(keyOf(o)));
  }

  /** Returns whether that has changed anything. */
  async #removeRoutes(routes: readonly CachedRoute[]): Promise<boolean> {
    const outcomes = await doAll(routes, (route) => this.#applier.remove(this.#routes.resource, route));
    return outcomes.some((outcome) => outcome !== 'Going');
  }

  /** Retains Certificates without a route, or deletes them. A failure keeps no other Certificate from being tried. */
  async #leave(certs: readonly Certificate[], leaving: Leaving): Promise<PromiseSettledResult<boolean>[]> {
    return settleAll(certs, async (certificate) => {
      await this.#beforeCertificatesAreRemoved([certificate]);
      const rest = leaving(certificate);
      if (rest) return this.#resting.lay(certificate, rest);
      return (await this.#applier.remove(this.#certificates.resource, certificate)) !== 'Going';
    });
  }
}
