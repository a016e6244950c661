import type {Certificate, CertificateRequest} from '../api/foreign.ts';
import type {CertificateFacts, IssuedRequest} from '../domain/certificate.ts';
import {certificateFacts, isResting} from '../domain/certificate.ts';
import type {Hostname} from '../domain/hostname.ts';
import {objectNameOf} from '../domain/hostname.ts';
import type {Obstacle} from '../domain/obstacle.ts';
import type {Rest} from '../domain/resting.ts';
import type {Tenant} from '../domain/tenant.ts';
import {timestamp} from '../domain/times.ts';
import type {FreshAttempt} from '../domain/world.ts';
import type {Applier} from '../kube/apply.ts';
import type {Cache} from '../kube/cache.ts';
import type {Client} from '../kube/client.ts';
import {type ApiError, isRefusal, StaleReadError} from '../kube/errors.ts';
import type {HasMeta, Key, KubeObject, ObjectMeta, Resource} from '../kube/objects.ts';
import {keyOf, ownerReference} from '../kube/objects.ts';
import {doAll, failureOf, settleAll} from '../kube/side-by-side.ts';
import {forAnnotation, managedBy, ownerLabel} from './labels.ts';
import {ownerOf} from './relations.ts';
import type {KeptRoute, RouteObject} from './rendering.ts';
import type {Resting} from './resting.ts';
import {certificateRequests, certificates} from './resources.ts';

export interface Owner {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

interface Desired {
  certificates: readonly Certificate[];
  /** Those of them (`namespace/name`) that come back from their rest. */
  returning: readonly string[];
  routes: readonly RouteObject[];
}

/** What becomes of a Certificate that is no longer desired: it rests so, or (undefined) it is deleted. */
export type Leaving = (certificate: Certificate) => Rest | undefined;

/** Where a hostname's Certificate is to be found, and for whom. */
export interface Place {
  owner: Owner;
  hostname: Hostname;
  namespace: string;
  /** Undefined: the hostname is not held, so that none may come back from its rest. */
  tenant: Tenant | undefined;
  /** ms since the epoch. */
  now: number;
}

/** What applying has come to. */
export interface Applied {
  /** Something was written: what was gathered before is out of date. */
  changed: boolean;
  /** Not all that differs was tried: the rest is for another turn, after others had theirs. */
  unfinished: boolean;
  /** By the name of an object that could not be written: why. */
  obstacles: ReadonlyMap<string, Obstacle>;
  /** The API server failed at some object alone: all else was tried, and the reconcile throws this when it has told what it can. */
  failed?: ApiError | undefined;
}

/** What one turn of applying has come to so far. */
interface Turn {
  written: number;
  unfinished: boolean;
  obstacles: Map<string, Obstacle>;
}

/** When so many objects of one owner have been written, the rest waits for another turn. A default host has five. */
export const writesPerTurn = 100;

export interface ChildrenDeps {
  client: Client;
  applier: Applier;
  certificates: Cache<Certificate, Certificate>;
  routes: Cache<KeptRoute, RouteObject>;
  requests: Cache<IssuedRequest, CertificateRequest>;
  resting: Resting;
  /** Certificates take along the requests by which their orders are known: called with their hostnames, and waited for. */
  beforeCertificatesGo: (hostnames: readonly string[]) => Promise<void>;
}

/**
 * The objects that one of ours stands for: Certificates and routes, in its own namespace (then owned by it, so that
 * Kubernetes collects them too) or in Doorplate's (found by the label, removed by the finalizer).
 */
export class Children {
  readonly #client: Client;
  readonly #applier: Applier;
  readonly #certificates: Cache<Certificate, Certificate>;
  readonly #routes: Cache<KeptRoute, RouteObject>;
  readonly #requests: Cache<IssuedRequest, CertificateRequest>;
  readonly #resting: Resting;
  readonly #beforeCertificatesGo: ChildrenDeps['beforeCertificatesGo'];

  constructor(p: ChildrenDeps) {
    this.#client = p.client;
    this.#applier = p.applier;
    this.#certificates = p.certificates;
    this.#routes = p.routes;
    this.#requests = p.requests;
    this.#resting = p.resting;
    this.#beforeCertificatesGo = p.beforeCertificatesGo;
  }

  /** The facts about the Certificate of an owner's hostname: its own, or else one that rests there for its tenant. */
  certificate({owner, hostname, namespace, tenant, now}: Place): CertificateFacts | undefined {
    const own = this.#certificates
      .by('hostname', hostname)
      .filter((c) => c.metadata.namespace === namespace && !isResting(c) && this.#isOurs(owner)(c));
    const name = objectNameOf(owner.metadata.uid ?? '', hostname);
    const certificate =
      own.find((c) => c.metadata.name === name) ??
      own[0] ??
      (tenant && this.#resting.find(hostname, namespace, tenant, now));
    return certificate && certificateFacts(certificate, this.#requests.by('certificate', keyOf(certificate)));
  }

  /** Whether a route stands in the cluster exactly as desired. */
  stands(owner: Owner, desired: RouteObject): boolean {
    return this.#applier.stands(this.#labelled(owner, desired), this.#routes.get(keyOf(desired)), this.#routes);
  }

  /**
   * Removes what is no longer desired, routes before certificates, then writes what differs, routes first: no write that fails keeps
   * anything standing, or another from being tried, but where each would meet the same. Removals are done whole; of writes, those that
   * come after {@link writesPerTurn} are left for another turn. `beforeOrders` is waited for when the routes are written, and says which
   * Certificates are desired then. Throws, when nothing is under way any more: what no other write would escape either (`isOfOne`), and
   * what kept a route or a Certificate from being deleted.
   */
  async apply(
    owner: Owner,
    desired: Desired,
    leaving: Leaving,
    beforeOrders: (soFar: Applied) => Promise<Pick<Desired, 'certificates' | 'returning'>> = async () => desired,
  ): Promise<Applied> {
    const {removed, failed} = await this.#removeAllBut(owner, desired, leaving);
    const turn: Turn = {written: 0, unfinished: false, obstacles: new Map()};
    const soFar = (): Applied => ({...turn, changed: removed || turn.written > 0});
    const routed = await this.#applyAll(owner, this.#routes, desired.routes, turn);
    const then = await beforeOrders(soFar());
    const certified = await this.#applyAll(owner, this.#certificates, then.certificates, turn, then.returning);
    const unwritten = failureOf([...routed, ...certified]);
    return {...soFar(), failed: failed ?? unwritten};
  }

  /** Begins an attempt anew. Throws a conflict where the Certificate has changed meanwhile. */
  async attempt({certificate, request, mark}: FreshAttempt, now: number): Promise<void> {
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

  /** Whether there is a route for a hostname: of this owner, or (`others`) of any but this one. */
  routes(uid: string, hostname: string, {others = false} = {}): boolean {
    return this.#routes.by('host', hostname).some((r) => (r.metadata.labels?.[ownerLabel] === uid) !== others);
  }

  /** Whose routes and Certificates stand for a hostname, by UID; of each one object. What rests is nobody's. */
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

  /** Since when a route of an owner's stands under this key, ms since the epoch; undefined: none does. */
  since(owner: Owner, key: string): number | undefined {
    const route = this.#routes.get(key);
    return route && this.#isOurs(owner)(route) ? Date.parse(route.metadata.creationTimestamp ?? '') || 0 : undefined;
  }

  /** Removes everything: the routes first (traffic stops), then the certificates. */
  async remove(owner: {metadata: Pick<ObjectMeta, 'uid'>}, leaving: Leaving = () => undefined): Promise<void> {
    const {failed} = await this.#removeAllBut(owner, {certificates: [], returning: [], routes: []}, leaving);
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
        ...(object.metadata.namespace === owner.metadata.namespace && {
          ownerReferences: [ownerReference(owner, {controller: true, blockOwnerDeletion: true})],
        }),
      },
    };
  }

  async #applyAll<T extends KubeObject, P extends HasMeta>(
    owner: Owner,
    cache: Cache<P, T>,
    desired: readonly T[],
    turn: Turn,
    returning: readonly string[] = [],
  ): Promise<PromiseSettledResult<void>[]> {
    const {resource} = cache;
    return settleAll(desired, async (intent) => {
      const {name} = intent.metadata;
      const object = `${resource.kind} ${keyOf(intent)}`;
      const labelled = this.#labelled(owner, intent);
      const existing = cache.get(keyOf(intent));
      if (turn.written >= writesPerTurn) {
        turn.unfinished ||= !this.#applier.stands(labelled, existing, cache);
        return;
      }
      try {
        // What comes back is taken as it is, or not at all: a new one would be an order that nothing has held back.
        const returns = returning.includes(keyOf(intent));
        if (returns && !existing) throw new StaleReadError(`${object} rested, and is gone`);
        const {outcome} = await this.#applier.apply(resource, labelled, {
          existing,
          isOurs: returns ? (o) => o.metadata.uid === existing?.metadata.uid : this.#isOurs(owner),
          onlyExisting: returns,
          cache,
        });
        if (outcome === 'NotOurs') turn.obstacles.set(name, {kind: 'NameTaken', object});
        if (outcome === 'Created' || outcome === 'Applied') turn.written++;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        turn.obstacles.set(name, {kind: 'WriteRefused', object, says: error.says});
      }
    });
  }

  async #removeAllBut(
    owner: {metadata: Pick<ObjectMeta, 'uid'>},
    desired: Desired,
    leaving: Leaving,
  ): Promise<{removed: boolean; failed: ApiError | undefined}> {
    const uid = owner.metadata.uid ?? '';
    const undesired = <T extends KubeObject, P extends HasMeta>(cache: Cache<P, T>, keep: readonly T[]): P[] => {
      const kept = new Set(keep.map(keyOf));
      return cache.by('owner', uid).filter((o) => !kept.has(keyOf(o)));
    };
    const routes = await this.#end(undesired(this.#routes, desired.routes));
    const certs = await this.#leave(undesired(this.#certificates, desired.certificates), leaving);
    return {removed: routes || certs.changed, failed: certs.failed};
  }

  /** Routes go. Returns whether that has changed anything. */
  async #end(routes: readonly KeptRoute[]): Promise<boolean> {
    const outcomes = await doAll(routes, (route) => this.#applier.remove(this.#routes.resource, route));
    return outcomes.some((outcome) => outcome !== 'Going');
  }

  /** Certificates rest, or go. Returns whether that has changed anything, and at what the API server failed of those that are to rest. */
  async #leave(
    certs: readonly Certificate[],
    leaving: Leaving,
  ): Promise<{changed: boolean; failed: ApiError | undefined}> {
    if (certs.length > 0) await this.#beforeCertificatesGo(certs.flatMap((c) => c.spec.dnsNames));
    const all = certs.map((certificate) => ({certificate, rest: leaving(certificate)}));
    const laid = await settleAll(
      all.filter(({rest}) => rest),
      ({certificate, rest}) => this.#resting.lay(certificate, rest!),
    );
    const going = all.flatMap(({certificate, rest}) => (rest ? [] : certificate));
    const gone = await doAll(going, (c) => this.#applier.remove(this.#certificates.resource, c));
    return {
      changed: laid.some((o) => o.status === 'fulfilled' && o.value) || gone.some((outcome) => outcome !== 'Going'),
      failed: failureOf(laid),
    };
  }
}
