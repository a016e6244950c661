/** Certificates that rest (domain/certificates/retained.ts): laid down, found again, and deleted when that is over. */
import type {Certificate, CertificateRequest} from '../../api/foreign.ts';
import type {IssuedRequest} from '../../domain/certificates/certificate.ts';
import {isReordered, isRetained} from '../../domain/certificates/certificate.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import type {Beside, Retention} from '../../domain/certificates/retained.ts';
import {
  mayBeRetained,
  mayReturn,
  retentionEnds,
  retainedCertificate,
  retainedForTenant,
} from '../../domain/certificates/retained.ts';
import type {Tenant} from '../../domain/tenant.ts';
import type {Applier} from '../../kube/writes/apply.ts';
import type {Cache} from '../../kube/cache/cache.ts';
import {isRefusal} from '../../kube/errors.ts';
import {keyOf} from '../../kube/objects.ts';
import {forAnnotation, managedBy, ownerLabel} from '../../resources/labels.ts';
import {certificates} from '../../resources/resources.ts';

export interface RetainedCertificatesDeps {
  applier: Applier;
  certificates: Pick<Cache<Certificate, Certificate>, 'by' | 'kept' | 'observe'>;
  requests: Pick<Cache<IssuedRequest, CertificateRequest>, 'by'>;
  /** Certificates take along the requests by which their orders are known: called with their hostnames, and waited for. */
  beforeCertificatesAreRemoved: (going: readonly Certificate[]) => Promise<void>;
  /** Whether the installed cert-manager can be asked not to renew a Certificate. */
  mayDisableRenewal: () => Promise<boolean>;
}

export class RetainedCertificates {
  readonly #deps: RetainedCertificatesDeps;

  constructor(deps: RetainedCertificatesDeps) {
    this.#deps = deps;
  }

  of(hostname: Hostname): Certificate[] {
    return this.#deps.certificates.by('hostname', hostname).filter(isRetained);
  }

  /**
   * A retained Certificate in a namespace that a tenant may use again for its hostname. If several exist, the Certificate with the longest
   * validity.
   */
  find(hostname: Hostname, namespace: string, tenant: Tenant, now: number): Certificate | undefined {
    return this.of(hostname)
      .filter((c) => c.metadata.namespace === namespace && mayReturn(c, tenant, now))
      .toSorted((a, b) => retentionEnds(b) - retentionEnds(a) || a.metadata.name.localeCompare(b.metadata.name))[0];
  }

  /** Lays a Certificate of ours down. Returns whether it rests: where the API server refuses that, it is deleted. */
  async lay(certificate: Certificate, rest: Retention): Promise<boolean> {
    const {applier, certificates: cache, mayDisableRenewal} = this.#deps;
    const {uid, labels, annotations} = certificate.metadata;
    const intent = retainedCertificate(certificate, rest, await mayDisableRenewal());
    const {metadata} = intent;
    const kept = {
      labels: {...metadata.labels, ...managedBy, [ownerLabel]: labels?.[ownerLabel] ?? ''},
      annotations: {...metadata.annotations, [forAnnotation]: annotations?.[forAnnotation] ?? ''},
    };
    try {
      const {outcome} = await applier.apply(
        certificates,
        {...intent, metadata: {...metadata, ...kept}},
        {existing: certificate, isOurs: (o) => o.metadata.uid === uid, cache, onlyExisting: true},
      );
      return outcome === 'Applied';
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await applier.remove(certificates, certificate);
      return false;
    }
  }

  /** Deletes the Certificates that are retained for other tenants, before a hostname becomes this tenant's. */
  async makeWay(hostname: Hostname, tenant: Tenant): Promise<void> {
    await this.#remove(this.of(hostname).filter((c) => !retainedForTenant(c, tenant)));
  }

  /** Everything that rests of a hostname goes. */
  async end(hostname: Hostname): Promise<void> {
    await this.#remove(this.of(hostname));
  }

  /**
   * Deletes the Certificates that may not be retained any longer. Returns the end of the next one's time, ms since the epoch; Infinity if
   * there is none.
   */
  async tend(hostname: Hostname, beside: Beside): Promise<number> {
    const {requests} = this.#deps;
    const all = Map.groupBy(this.of(hostname), (c) =>
      mayBeRetained(c, {...beside, reordered: isReordered(c, requests.by('certificate', keyOf(c)))}),
    );
    await this.#remove(all.get(false) ?? []);
    return Math.min(Infinity, ...(all.get(true) ?? []).map(retentionEnds));
  }

  async #remove(over: readonly Certificate[]): Promise<void> {
    const {applier, beforeCertificatesAreRemoved} = this.#deps;
    const going = over.filter((c) => c.metadata.deletionTimestamp === undefined);
    if (going.length === 0) return;
    await beforeCertificatesAreRemoved(going);
    for (const certificate of going) await applier.remove(certificates, certificate);
  }
}
