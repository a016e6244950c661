import type {Certificate, CertificateRequest, Ingress} from '../api/foreign.ts';
import type {CertificateFacts, IssuedRequest} from '../domain/certificate.ts';
import {certificateFacts} from '../domain/certificate.ts';
import type {FreshAttempt} from '../domain/lifecycle.ts';
import {timestamp} from '../domain/conditions.ts';
import type {Applier} from '../kube/apply.ts';
import type {Cache} from '../kube/cache.ts';
import type {Client} from '../kube/client.ts';
import type {KubeObject, ObjectMeta, Resource} from '../kube/objects.ts';
import {keyOf, ownerReference} from '../kube/objects.ts';
import {certificateRequests, certificates, ingresses} from './resources.ts';

/** On every object that Doorplate writes: whose it is. The value is the owner's UID. */
export const ownerLabel = 'doorplate.dev/owner-uid';
export const managedBy = {'app.kubernetes.io/managed-by': 'doorplate'} as const;
/** Selects what Doorplate wrote, for caches. cert-manager copies a Certificate's labels to its CertificateRequests. */
export const ownedSelector = `app.kubernetes.io/managed-by=doorplate,${ownerLabel}`;

export interface Owner {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** Under what an Ingress is found by its hostname. */
export const byHost = {host: (i: Ingress) => i.spec.rules.map((r) => r.host)};

interface Desired {
  certificates: readonly Certificate[];
  ingresses: readonly Ingress[];
}

/** What applying has come to. */
export interface Applied {
  /** Something was written: what was gathered before is out of date. */
  changed: boolean;
  /** By the name of an object that could not be written because somebody else's has its name. */
  inTheWay: ReadonlyMap<string, string>;
}

/**
 * The objects that one of ours stands for: Certificates and Ingresses, in its own namespace (then owned by it, so that
 * Kubernetes collects them too) or in Doorplate's (found by the label, removed by the finalizer).
 */
export class Children {
  readonly #client: Client;
  readonly #applier: Applier;
  readonly #certificates: Cache<Certificate, Certificate>;
  readonly #ingresses: Cache<Ingress, Ingress>;
  readonly #requests: Cache<IssuedRequest, CertificateRequest>;

  constructor(p: {
    client: Client;
    applier: Applier;
    certificates: Cache<Certificate, Certificate>;
    ingresses: Cache<Ingress, Ingress>;
    requests: Cache<IssuedRequest, CertificateRequest>;
  }) {
    this.#client = p.client;
    this.#applier = p.applier;
    this.#certificates = p.certificates;
    this.#ingresses = p.ingresses;
    this.#requests = p.requests;
  }

  /** The facts about an owner's Certificate, if it stands. */
  certificate(owner: Owner, key: string): CertificateFacts | undefined {
    const certificate = this.#certificates.get(key);
    return certificate && this.#isOurs(owner)(certificate)
      ? certificateFacts(certificate, this.#requests.by('owner', owner.metadata.uid ?? ''))
      : undefined;
  }

  /** Whether an Ingress stands in the cluster exactly as desired. */
  stands(owner: Owner, desired: Ingress): boolean {
    return this.#applier.stands(this.#labelled(owner, desired), this.#ingresses.get(keyOf(desired)));
  }

  /** Writes what differs, then removes what is no longer desired: routes before certificates. */
  async apply(owner: Owner, desired: Desired): Promise<Applied> {
    const inTheWay = new Map<string, string>();
    const written = [
      ...(await this.#applyAll(owner, certificates, this.#certificates, desired.certificates, inTheWay)),
      ...(await this.#applyAll(owner, ingresses, this.#ingresses, desired.ingresses, inTheWay)),
    ];
    const removed = await this.#removeAllBut(owner, desired);
    return {changed: removed || written.includes(true), inTheWay};
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
    return this.#ingresses.by('host', hostname).some((i) => (i.metadata.labels?.[ownerLabel] === uid) !== others);
  }

  /** Since when an Ingress of an owner's stands under this key, ms since the epoch; undefined: none does. */
  since(owner: Owner, key: string): number | undefined {
    const ingress = this.#ingresses.get(key);
    return ingress && this.#isOurs(owner)(ingress)
      ? Date.parse(ingress.metadata.creationTimestamp ?? '') || 0
      : undefined;
  }

  /** Removes everything: the routes first (traffic stops), then the certificates. */
  async remove(owner: {metadata: Pick<ObjectMeta, 'uid'>}): Promise<void> {
    await this.#removeAllBut(owner, {certificates: [], ingresses: []});
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
        annotations: {...object.metadata.annotations, 'doorplate.dev/for': `${owner.kind} ${keyOf(owner)}`},
        ...(object.metadata.namespace === owner.metadata.namespace && {
          ownerReferences: [ownerReference(owner, {controller: true, blockOwnerDeletion: true})],
        }),
      },
    };
  }

  async #applyAll<T extends KubeObject>(
    owner: Owner,
    resource: Resource<T>,
    cache: Cache<T, T>,
    desired: readonly T[],
    inTheWay: Map<string, string>,
  ): Promise<boolean[]> {
    return Promise.all(
      desired.map(async (object) => {
        const result = await this.#applier.apply(resource, this.#labelled(owner, object), {
          existing: cache.get(keyOf(object)),
          isOurs: this.#isOurs(owner),
          cache,
        });
        if (result.outcome === 'NotOurs') inTheWay.set(object.metadata.name, `${resource.kind} ${keyOf(object)}`);
        return result.outcome === 'Created' || result.outcome === 'Applied';
      }),
    );
  }

  async #removeAllBut(owner: {metadata: Pick<ObjectMeta, 'uid'>}, desired: Desired): Promise<boolean> {
    const uid = owner.metadata.uid ?? '';
    const remove = async <T extends KubeObject>(
      resource: Resource<T>,
      cache: Cache<T, T>,
      keep: readonly T[],
    ): Promise<boolean> => {
      const kept = new Set(keep.map(keyOf));
      const outcomes = await Promise.all(
        cache
          .by('owner', uid)
          .filter((o) => !kept.has(keyOf(o)))
          .map((o) => this.#applier.remove(resource, o)),
      );
      return outcomes.some((outcome) => outcome !== 'Going');
    };
    const routes = await remove(ingresses, this.#ingresses, desired.ingresses);
    const certs = await remove(certificates, this.#certificates, desired.certificates);
    return routes || certs;
  }
}
