/**
 * Certificates of one hostname in a town (rivals.ts): in memory, by an API server's rules about them, with a cert-manager that issues at
 * once and renews what it finds due. What lays them to rest and takes them back is the operator's own code.
 */
import assert from 'node:assert/strict';
import type {Certificate, DomainClaim} from '../../operator/api/foreign.ts';
import {OwnedObjects} from '../../operator/controllers/writers/owned-objects.ts';
import {RetainedCertificates} from '../../operator/controllers/writers/retained-certificates.ts';
import type {IssuedRequest} from '../../operator/domain/certificates/certificate.ts';
import {hasCondition, isRetained} from '../../operator/domain/certificates/certificate.ts';
import {retainedFor} from '../../operator/domain/certificates/retained.ts';
import {timestamp} from '../../operator/domain/times.ts';
import {Applier} from '../../operator/kube/writes/apply.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {ApiError} from '../../operator/kube/errors.ts';
import {keyOf, type KubeObject} from '../../operator/kube/objects.ts';
import {certificates as kind} from '../../operator/resources/resources.ts';
import {days, leaf} from './world.ts';

const lifetimeMs = 45 * days;
const renewalMs = 30 * days;

const beforeCertificatesAreRemoved = () => Promise.resolve();
const conflict = () =>
  new ApiError({status: 409, body: JSON.stringify({kind: 'Status', reason: 'Conflict', message: 'conflict'})});

export class TownCertificates {
  readonly resting: RetainedCertificates;
  readonly ownedObjects: OwnedObjects;
  /** How many orders the CA has had. */
  orders = 0;
  /** Since then there has been none. */
  certifiedAt = -Infinity;
  readonly #now: () => number;
  readonly #all = new Map<string, Certificate>();
  #uids = 0;

  constructor(now: () => number) {
    this.#now = now;
    const client = {
      applyPatch: (_: unknown, object: Certificate) => this.#apply(object),
      get: (_: unknown, key: string) => Promise.resolve(this.#all.get(key)),
      delete: (_: unknown, key: string, {uid}: {uid?: string}) => {
        if (this.#all.get(key)?.metadata.uid !== uid) return Promise.resolve('NotFound');
        this.#all.delete(key);
        this.certifiedAt = this.#now();
        return Promise.resolve('Deleted');
      },
    } as unknown as Client;
    const applier = new Applier(client, {fieldManager: 'doorplate', hashAnnotation: 'doorplate.dev/intent'});
    const certificates = {
      resource: kind,
      by: (index: string, value: string) =>
        this.standing.filter((c) =>
          index === 'hostname'
            ? c.spec.dnsNames.includes(value)
            : !isRetained(c) && c.metadata.labels?.['doorplate.dev/owner-uid'] === value,
        ),
      get: (key: string) => this.#all.get(key),
      observe: () => {},
      kept: (certificate: Certificate) => certificate,
    } as never;
    const requests = {by: (_: string, key: string) => this.#requests(key)} as never;
    const none = {by: () => []} as never;
    this.resting = new RetainedCertificates({
      applier,
      certificates,
      requests,
      beforeCertificatesAreRemoved,
      mayDisableRenewal: async () => false,
    });
    const {resting} = this;
    this.ownedObjects = new OwnedObjects({
      client,
      applier,
      certificates,
      routes: none,
      requests,
      resting,
      beforeCertificatesAreRemoved,
    });
  }

  get standing(): Certificate[] {
    return [...this.#all.values()];
  }

  #requests(key: string): IssuedRequest[] {
    const {name, namespace, uid} = this.#all.get(key)!.metadata;
    const annotations = {'cert-manager.io/certificate-name': name, 'cert-manager.io/certificate-revision': '1'};
    const ownerReferences = [{apiVersion: 'cert-manager.io/v1', kind: 'Certificate', name, uid: uid ?? ''}];
    return [{metadata: {name: `${name}-1`, namespace, annotations, ownerReferences}, leafSha256: leaf}];
  }

  /** A server-side apply of the one field manager that there is. */
  #apply({metadata: {resourceVersion, uid, ...metadata}, ...object}: Certificate): Promise<KubeObject> {
    const key = keyOf({metadata});
    const before = this.#all.get(key);
    this.certifiedAt = this.#now();
    if (resourceVersion === '1' ? before !== undefined : before?.metadata.uid !== uid)
      return Promise.reject(conflict());
    const status = before?.status ?? this.#issued();
    this.#all.set(key, {...object, metadata: {...metadata, uid: uid ?? `certificate-${++this.#uids}`}, status});
    return Promise.resolve(this.#all.get(key)!);
  }

  #issued(): Certificate['status'] {
    this.orders++;
    return {
      conditions: [{type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: ''}],
      revision: 1,
      notAfter: timestamp(this.#now() + lifetimeMs),
      renewalTime: timestamp(this.#now() + renewalMs),
    };
  }

  /** cert-manager looks at what is due. Throws where that rests: it would be an order without proof. */
  renew(): void {
    for (const [key, certificate] of this.#all) {
      if (Date.parse(certificate.status?.renewalTime ?? '') > this.#now()) continue;
      assert(!isRetained(certificate), `${key} rests and is renewed`);
      this.#all.set(key, {...certificate, status: this.#issued()});
    }
  }

  /** Somebody deletes the Secrets of all keys: cert-manager is about to ask for others. */
  loseKeys(): void {
    const issuing = {
      type: 'Issuing',
      status: 'True' as const,
      reason: 'DoesNotExist',
      message: '',
      lastTransitionTime: '',
    };
    for (const [key, certificate] of this.#all)
      this.#all.set(
        key,
        isRetained(certificate)
          ? {...certificate, status: {...certificate.status, conditions: [...certificate.status!.conditions!, issuing]}}
          : {...certificate, status: this.#issued()},
      );
  }

  /** Throws where something rests whose key is gone: cert-manager is about to ask for another. */
  assertWhole(): void {
    for (const certificate of this.standing)
      if (isRetained(certificate))
        assert(!hasCondition(certificate, 'Issuing'), `${keyOf(certificate)} rests, and its key is gone`);
  }

  /** A namespace goes with all that is in it. */
  clear(namespace: string): void {
    for (const [key, {metadata}] of this.#all)
      if (metadata.namespace === namespace) {
        this.#all.delete(key);
        this.certifiedAt = this.#now();
      }
  }

  /** Throws where something rests for none of those whose claim is written; of none: there is to be no claim. */
  assertOnlyOf(identities: readonly DomainClaim['spec']['tenant'][], when: string): void {
    for (const certificate of this.standing)
      if (isRetained(certificate))
        assert(
          identities.some((identity) => retainedFor(certificate, identity)),
          `${keyOf(certificate)} rests for another: ${when}`,
        );
  }
}
