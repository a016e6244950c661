/** Keeps the {@link OrderQueues} up to date with the objects in the cluster. */
import type {Certificate, CustomDomain, Project} from '../../api/foreign.ts';
import type {Order} from '../../domain/certificates/budget.ts';
import {hasCondition, type IssuedRequest, revisionOf} from '../../domain/certificates/certificate.ts';
import {type CaError, caErrorOf} from '../../domain/certificates/ca-error.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import {isObjectName, objectNameOf} from '../../domain/hostnames/hostname.ts';
import type {OrderRequest} from '../../domain/certificates/issuance.ts';
import {homeOf, useOf} from '../../domain/routes/routes.ts';
import {tenantKey} from '../../domain/tenant.ts';
import {timestamp} from '../../domain/times.ts';
import type {Syncable} from '../../kube/cache/cache.ts';
import {type HasMeta, keyOf} from '../../kube/objects.ts';
import type {Caches} from '../state/caches.ts';
import type {CaProgress} from './ca-progress.ts';
import type {OrderQueues} from './order-queues.ts';
import {orderOwner, ownerOf} from '../../resources/relations.ts';
import type {Tenants} from '../state/tenants.ts';

/** Where the orders are entered. */
export type OrderBook = Pick<OrderQueues, 'observe' | 'supersede' | 'recall' | 'pass' | 'grant' | 'enter' | 'standing'>;

export interface OrderSources {
  book: OrderBook;
  progress: Pick<CaProgress, 'note' | 'forget'>;
  caches: Pick<Caches, 'requests' | 'certificates' | 'domains' | 'projects' | 'claims'>;
  tenants: Tenants;
  /** Doorplate's own namespace. */
  namespace: string;
}

const toldBy = (error: CaError | undefined): Pick<Order, 'cause' | 'refusedUntil'> =>
  error ? {cause: error.cause, ...(error.retryAt !== undefined && {refusedUntil: timestamp(error.retryAt)})} : {};

/** The order that a CertificateRequest represents. */
export const orderOf = (request: IssuedRequest): Order => {
  const {metadata, failure, leafSha256, endedAt, issuerRef} = request;
  return {
    at: metadata.creationTimestamp ?? '',
    outcome: failure !== undefined ? 'Failed' : leafSha256 !== undefined ? 'Issued' : 'Pending',
    ...(endedAt !== undefined && {endedAt}),
    ...(failure !== undefined && toldBy(caErrorOf(failure))),
    ...(issuerRef && {issuer: issuerRef.name}),
    // cert-manager counts the certificates that it has issued for the Certificate.
    ...(revisionOf(request) > 1 && {renewal: true}),
  };
};

/** The hostnames that a CustomDomain has proven, by its status. */
const provenBy = ({status}: CustomDomain): string[] =>
  (status?.hosts ?? []).filter((h) => h.verifiedAt !== undefined).map((h) => h.hostname);

const hostOf = ({status}: Project): string[] => (status?.host === undefined ? [] : [status.host]);

const isOf = ({metadata}: IssuedRequest, certificate: Certificate): boolean =>
  metadata.ownerReferences?.some(({uid}) => uid === certificate.metadata.uid) ?? false;

/**
 * Enters all existing objects when this process becomes leader, then every change. It is synced when the book is complete, so that no order
 * is granted from incomplete data; until then the previous leader grants orders and moves the queue. A request counts only if its
 * Certificate is one of ours: tenants may be allowed to create CertificateRequests, and those use no budget.
 */
export class OrderTracker implements Syncable {
  readonly synced: Promise<void>;
  #resolveSynced: () => void = () => {};
  #isSynced = false;
  readonly #sources: OrderSources;
  /** The orders of existing requests, by the request's UID. */
  readonly #entered = new Map<string, {hostname: Hostname; at: string}>();

  constructor(sources: OrderSources) {
    this.#sources = sources;
    const {book, caches} = sources;
    const {requests, certificates} = caches;
    requests.onChange((now, before) => {
      if (!this.#isSynced) return;
      if (now) this.#enter(now);
      else if (before) this.#leave(before);
    });
    // The watch may have reported requests before their Certificate.
    certificates.onChange((now, before) => {
      if (now && !before && this.#isSynced) this.#enterThoseOf(now);
    });
    // or before its owner's status said that the hostname is the owner's.
    const owners =
      <T extends HasMeta>(held: (owner: T) => readonly string[]) =>
      (now?: T, before?: T) => {
        const had = new Set(before && held(before));
        if (!now || !this.#isSynced || held(now).every((hostname) => had.has(hostname))) return;
        for (const certificate of certificates.by('owner', now.metadata.uid ?? '')) this.#enterThoseOf(certificate);
      };
    caches.domains.onChange(owners(provenBy));
    caches.projects.onChange(owners(hostOf));
    caches.claims.onChange((now, before) => book.pass((now ?? before)!.metadata.name));
    this.synced = new Promise((resolve) => (this.#resolveSynced = resolve));
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Once, when this process leads and all caches have synced. */
  begin(): void {
    this.#enterAll();
    this.#isSynced = true;
    this.#resolveSynced();
  }

  #enterAll(): void {
    const {book, caches} = this.#sources;
    // First, because whether a request is a renewal depends on earlier orders.
    for (const {metadata, status} of caches.claims.list()) book.recall(metadata.name, status?.orders ?? []);
    for (const request of caches.requests.list()) this.#enter(request);
    for (const certificate of caches.certificates.list()) this.#enterStanding(certificate);
    for (const domain of caches.domains.list()) this.#enqueueDomain(domain);
    for (const project of caches.projects.list()) this.#enqueueProject(project);
  }

  /** The previous process created this Certificate, and cert-manager has not ordered yet. The order is expected, so it counts. */
  #enterStanding(certificate: Certificate): void {
    const {caches, tenants} = this.#sources;
    const key = keyOf(certificate);
    const isAskedFor = caches.requests.by('certificate', key).some((request) => isOf(request, certificate));
    if (hasCondition(certificate, 'Ready') || isAskedFor) return;
    const hostname = this.#hostnameOf(certificate);
    if (hostname === undefined) return;
    const [uid = ''] = ownerOf(certificate);
    const [domain] = caches.domains.by('uid', uid);
    const owner = domain ?? caches.projects.by('uid', uid)[0]!;
    const tenant = tenants.of(owner.metadata.namespace ?? '');
    const since = Date.parse(certificate.metadata.creationTimestamp ?? '');
    if (!tenant) return;
    const name = domain ? keyOf(owner) : orderOwner(keyOf(owner));
    this.#sources.book.standing(name, tenantKey(tenant), {
      certificate: key,
      hostname,
      issuer: certificate.spec.issuerRef.name,
      since,
    });
  }

  #enterThoseOf(certificate: Certificate): void {
    for (const request of this.#sources.caches.requests.by('certificate', keyOf(certificate))) this.#enter(request);
  }

  #enter(request: IssuedRequest): void {
    const {namespace, annotations} = request.metadata;
    const key = `${namespace}/${annotations?.['cert-manager.io/certificate-name']}`;
    const certificate = this.#sources.caches.certificates.get(key);
    if (!certificate || !isOf(request, certificate)) return;
    const hostname = this.#hostnameOf(certificate);
    if (hostname === undefined) return;
    const order = orderOf(request);
    this.#entered.set(request.metadata.uid ?? '', {hostname, at: order.at});
    this.#sources.book.observe(key, hostname, order, request.ordered ?? false);
    this.#sources.progress.note(request);
  }

  /** A request is gone. Its order ends without a certificate, unless the CA may be signing. */
  #leave({metadata, signing}: IssuedRequest): void {
    const {uid = ''} = metadata;
    const entered = this.#entered.get(uid);
    this.#entered.delete(uid);
    this.#sources.progress.forget({metadata});
    if (entered && !signing) this.#sources.book.supersede(entered.hostname, entered.at);
  }

  /**
   * The hostname of one of our Certificates. The owner that its label names has verified the hostname, and the Certificate has the name
   * that this owner or a former owner gives it.
   */
  #hostnameOf(certificate: Certificate): Hostname | undefined {
    const {book, caches, namespace} = this.#sources;
    const [uid = ''] = ownerOf(certificate);
    const [hostname = ''] = certificate.spec.dnsNames;
    if (!isObjectName(certificate.metadata.name, hostname)) return undefined;
    const [domain] = caches.domains.by('uid', uid);
    const [project] = caches.projects.by('uid', uid);
    const home = (domain ?? project)?.metadata.namespace;
    if (home === undefined || ![home, namespace].includes(certificate.metadata.namespace ?? '')) return undefined;
    const holds = domain ? provenBy(domain) : project ? hostOf(project) : [];
    return holds.includes(hostname) || book.grant(keyOf(certificate))?.kind === 'Granted' ? hostname : undefined;
  }

  /** Queues each hostname that waited for its order before a restart, at its former position. */
  #enqueueDomain(domain: CustomDomain): void {
    const {namespace: home = '', uid = ''} = domain.metadata;
    for (const {hostname, role, reason, since, details, certificate: had} of domain.status?.hosts ?? []) {
      // A release before this field wrote the reason alone.
      const queuedAt = details?.queuedAt ?? (reason === 'IssuanceQueued' ? since : undefined);
      if (queuedAt === undefined) continue;
      const name = had?.name ?? objectNameOf(uid, hostname);
      const certificate = `${homeOf(useOf(role), home, this.#sources)}/${name}`;
      this.#enqueue(keyOf(domain), home, {hostname, certificate, since: Date.parse(queuedAt)});
    }
  }

  #enqueueProject(project: Project): void {
    const {namespace: home = '', uid = ''} = project.metadata;
    const {host, redirect, conditions = []} = project.status ?? {};
    const waiting = conditions.find(({reason}) => reason === 'IssuanceQueued' || reason === 'IssuanceBudgetExhausted');
    if (host === undefined || !waiting) return;
    // A redirect source has its Certificate in Doorplate's namespace. The decision sets the role later.
    const certificate = `${redirect ? this.#sources.namespace : home}/${objectNameOf(uid, host)}`;
    const since = Date.parse(waiting.lastTransitionTime);
    this.#enqueue(orderOwner(keyOf(project)), home, {hostname: host, certificate, since});
  }

  #enqueue(owner: string, namespace: string, orderRequest: Omit<OrderRequest, 'state'>): void {
    const {book, tenants} = this.#sources;
    const tenant = tenants.of(namespace);
    // Without a tenant the Namespace is gone, and the order request with it.
    if (tenant) book.enter(owner, tenantKey(tenant), {...orderRequest, state: 'Wanted'});
  }
}
