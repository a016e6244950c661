/** Keeps the {@link OrderBook} by what stands in the cluster. */
import type {Certificate, CertificateRequest, CustomDomain, DomainClaim, Project} from '../api/foreign.ts';
import type {Order} from '../domain/budget.ts';
import type {IssuedRequest} from '../domain/certificate.ts';
import type {Hostname} from '../domain/hostname.ts';
import {objectNameOf} from '../domain/hostname.ts';
import {homeOf} from '../domain/routes.ts';
import {tenantKey} from '../domain/tenant.ts';
import type {Cache, Syncable} from '../kube/cache.ts';
import {keyOf} from '../kube/objects.ts';
import {ownerLabel} from './children.ts';
import type {OrderBook} from './order-book.ts';
import type {Tenants} from './tenants.ts';

export interface BookSources {
  book: OrderBook;
  requests: Cache<IssuedRequest, CertificateRequest>;
  certificates: Cache<Certificate, Certificate>;
  /** Indexed by `uid`. */
  domains: Cache<CustomDomain, CustomDomain>;
  /** Indexed by `uid`. */
  projects: Cache<Project, Project>;
  claims: Cache<DomainClaim, DomainClaim>;
  tenants: Tenants;
  /** Doorplate's own namespace. */
  namespace: string;
  waitFor: readonly Syncable[];
}

/** The order that a CertificateRequest stands for. */
export const orderOf = ({metadata, failure, leafSha256, endedAt}: IssuedRequest): Order => ({
  at: metadata.creationTimestamp ?? '',
  outcome: failure !== undefined ? 'Failed' : leafSha256 !== undefined ? 'Issued' : 'Pending',
  ...(endedAt !== undefined && {endedAt}),
});

/**
 * Enters all that stands when the caches have synced, then every change; synced when the book is whole, so that no order is
 * granted on half of it. A request counts when it is of a Certificate that is one of ours: tenants may be allowed to create
 * CertificateRequests, and those use up nobody's budget.
 */
export function keepBook({
  book,
  requests,
  certificates,
  domains,
  projects,
  claims,
  tenants,
  namespace,
  waitFor,
}: BookSources): Syncable {
  /** The hostname that a Certificate of ours is for: the owner that it names has proved it, and would have one of that name there. */
  const hostnameOf = ({metadata, spec}: Certificate): Hostname | undefined => {
    const uid = metadata.labels?.[ownerLabel] ?? '';
    const [hostname = ''] = spec.dnsNames;
    if (metadata.name !== objectNameOf(uid, hostname)) return undefined;
    const [domain] = domains.by('uid', uid);
    const [project] = projects.by('uid', uid);
    const home = (domain ?? project)?.metadata.namespace;
    const holds = domain
      ? book.grant(`${metadata.namespace}/${metadata.name}`)?.kind === 'Granted' ||
        domain.status?.hosts?.some((h) => h.hostname === hostname && h.verifiedAt !== undefined)
      : project?.status?.host === hostname;
    return holds && home !== undefined && [home, namespace].includes(metadata.namespace ?? '') ? hostname : undefined;
  };
  const tell = (request: IssuedRequest): void => {
    const {namespace: home, annotations, ownerReferences} = request.metadata;
    const key = `${home}/${annotations?.['cert-manager.io/certificate-name']}`;
    const certificate = certificates.get(key);
    if (!certificate || !ownerReferences?.some((o) => o.uid === certificate.metadata.uid)) return;
    const hostname = hostnameOf(certificate);
    if (hostname !== undefined) book.observe(key, hostname, orderOf(request), request.ordered ?? false);
  };

  let isSynced = false;
  requests.onChange((now) => {
    if (now && isSynced) tell(now);
  });
  // Its requests may have been told of first.
  certificates.onChange((now, before) => {
    if (now && !before && isSynced)
      for (const request of requests.by('owner', now.metadata.labels?.[ownerLabel] ?? '')) tell(request);
  });
  const whole = async (): Promise<void> => {
    await Promise.all(waitFor.map((c) => c.synced));
    for (const request of requests.list()) tell(request);
    for (const {
      metadata: {name},
      status,
    } of claims.list())
      book.recall(name, status?.orders ?? []);
    for (const domain of domains.list()) {
      const {namespace: home = '', uid = ''} = domain.metadata;
      const tenant = tenants.of(home);
      // Its namespace is gone, and it goes with it.
      if (!tenant) continue;
      for (const host of domain.status?.hosts ?? []) {
        if (host.reason !== 'IssuanceQueued') continue;
        const certificate = `${homeOf(host.role, home, {namespace})}/${objectNameOf(uid, host.hostname)}`;
        book.enter(keyOf(domain), tenantKey(tenant), {
          hostname: host.hostname,
          certificate,
          state: 'Wanted',
          since: Date.parse(host.since),
        });
      }
    }
    isSynced = true;
  };
  return {
    synced: whole(),
    get isSynced() {
      return isSynced;
    },
  };
}
