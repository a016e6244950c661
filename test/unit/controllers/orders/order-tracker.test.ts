/** Nothing is listed or watched: `observe` puts in what a watch would bring. */
import {beforeEach, describe, expect, test} from '@jest/globals';
import {pino} from 'pino';
import type {CertificateRequest, CustomDomain, DomainClaim, Project} from '../../../../operator/api/foreign.ts';
import {CaProgress} from '../../../../operator/controllers/orders/ca-progress.ts';
import {OrderTracker} from '../../../../operator/controllers/orders/order-tracker.ts';
import {type Caches, makeCaches} from '../../../../operator/controllers/state/caches.ts';
import {OrderQueue} from '../../../../operator/controllers/orders/order-queue.ts';
import {OrderQueues} from '../../../../operator/controllers/orders/order-queues.ts';
import {ingresses} from '../../../../operator/resources/resources.ts';
import type {Tenants} from '../../../../operator/controllers/state/tenants.ts';
import {objectNameOf} from '../../../../operator/domain/hostnames/hostname.ts';
import type {Client} from '../../../../operator/kube/client/client.ts';
import {policy, t0} from '../../../support/world.ts';

let caches: Caches;
let book: OrderQueue;
let progress: CaProgress;
let version: number;
/** ms after t0. */
let later: number;
beforeEach(() => {
  [version, later, progress] = [0, 0, new CaProgress(() => t0 + later)];
  caches = makeCaches({} as Client, pino({level: 'silent'}), ingresses);
  const [{budgets}] = policy.issuers;
  const tenantOf = (hostname: string) => caches.claims.get(hostname)?.spec.tenant.account;
  book = new OrderQueue({issuer: 'letsencrypt', budgets, unheardAfterMs: 60_000, tenantOf, now: () => t0});
});

function keepBook(): OrderTracker {
  const tenants = {of: (namespace: string) => ({namespaceUID: namespace})} as Tenants;
  return new OrderTracker({book, progress, caches, tenants, namespace: 'doorplate-system'});
}

const meta = (name: string) => ({
  name,
  namespace: 'acme',
  uid: `uid-${name}`,
  resourceVersion: String(++version),
  creationTimestamp: '2026-03-01T12:00:00Z',
});

const domain = (name: string, hosts: readonly object[]) =>
  ({
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'CustomDomain',
    metadata: meta(name),
    spec: {projectRef: {name}, primary: `${name}.example.com`},
    status: {hosts},
  }) as unknown as CustomDomain;

const waiting = (name: string) => {
  const host = {hostname: `${name}.example.com`, role: 'Primary', reason: 'IssuanceQueued'};
  return domain(name, [{...host, since: '2026-03-01T12:00:00Z'}]);
};

const project = (host?: string) =>
  ({
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'Project',
    metadata: meta('web'),
    spec: {serviceRef: {name: 'web', port: 80}},
    ...(host && {status: {host}}),
  }) as unknown as Project;

/** A Certificate for a hostname; returns its name. */
function certificate(owner: string, hostname: string): string {
  const name = objectNameOf(`uid-${owner}`, hostname);
  const labels = {'doorplate.dev/owner-uid': `uid-${owner}`};
  caches.certificates.observe({
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: {...meta(name), labels},
    spec: {
      dnsNames: [hostname],
      secretName: name,
      issuerRef: {name: 'letsencrypt'},
      privateKey: {algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always'},
    },
  });
  return name;
}

/** The same, and the request that cert-manager has made for it. */
function order(owner: string, hostname: string, {issuer = 'letsencrypt', revision = '1'} = {}): CertificateRequest {
  const name = certificate(owner, hostname);
  const request: CertificateRequest = {
    apiVersion: 'cert-manager.io/v1',
    kind: 'CertificateRequest',
    metadata: {
      ...meta(`${name}-1`),
      annotations: {'cert-manager.io/certificate-name': name, 'cert-manager.io/certificate-revision': revision},
      ownerReferences: [{apiVersion: 'cert-manager.io/v1', kind: 'Certificate', name, uid: `uid-${name}`}],
    },
    spec: {issuerRef: {name: issuer}},
  };
  caches.requests.observe(request);
  return request;
}

const isStalled = () => progress.isStalled('letsencrypt');

/** cert-manager's message about the Order of a request. */
const withState = (request: CertificateRequest, state: string): CertificateRequest => {
  const message = `Waiting on certificate issuance from order acme/${request.metadata.name}: "${state}"`;
  const conditions = [{type: 'Ready', status: 'False' as const, reason: 'Pending', message, lastTransitionTime: ''}];
  return {...request, metadata: {...request.metadata, resourceVersion: String(++version)}, status: {conditions}};
};

describe('The book keeper', () => {
  test('enters the line as it stands when this process begins to lead', async () => {
    for (const name of ['served-by-another', 'waits-still']) caches.domains.observe(waiting(name));
    const keeper = keepBook();
    expect([book.waiting, keeper.isSynced]).toEqual([0, false]);
    // The one that leads meanwhile has served the first.
    for (const name of ['waits-still', 'came-later']) caches.domains.observe(waiting(name));
    caches.domains.observe(domain('served-by-another', []));
    keeper.begin();
    await keeper.synced;
    expect([book.waiting, keeper.isSynced]).toEqual([2, true]);
  });

  test('counts a Certificate that the process before has made and nothing was asked for yet, until its owner wants it no more', () => {
    const host = {hostname: 'docs.example.com', role: 'Primary', since: '2026-03-01T12:00:00Z'};
    caches.domains.observe(domain('docs', [{...host, verifiedAt: '2026-03-01T12:00:00Z'}]));
    certificate('docs', 'docs.example.com');
    keepBook().begin();
    const used = () => [...book.account()].map((limit) => limit.used);
    expect(new Set(used())).toEqual(new Set([1]));
    book.keep('acme/docs', 'acme', []);
    expect(new Set(used())).toEqual(new Set([0]));
  });

  test('knows earlier orders of another issuer before it judges whether a request is a renewal', () => {
    const [{budgets}] = policy.issuers;
    const queues = new OrderQueues({
      issuers: ['production', 'staging'].map((name) => ({name, budgets})),
      unheardAfterMs: 60_000,
      tenantOf: () => 'acme',
      now: () => t0,
    });
    const host = {hostname: 'docs.example.com', role: 'Primary', since: '2026-03-01T12:00:00Z'};
    caches.domains.observe(domain('docs', [{...host, verifiedAt: '2026-03-01T12:00:00Z'}]));
    const [at, endedAt] = ['2026-02-01T12:00:00Z', '2026-02-01T12:00:09Z'];
    caches.claims.observe({
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'DomainClaim',
      metadata: {...meta('docs.example.com'), namespace: undefined},
      status: {orders: [{at, endedAt, outcome: 'Issued', issuer: 'staging'}]},
    } as unknown as DomainClaim);
    order('docs', 'docs.example.com', {issuer: 'production', revision: '2'});
    book = queues as unknown as OrderQueue;
    keepBook().begin();
    expect([...queues.account()].map(({issuer, used}) => `${issuer} ${used}`)).toEqual(['production 1', 'staging 0']);
  });

  test("tells the book of each claim that changes, as its hostname may be another tenant's now", () => {
    keepBook();
    const passed: string[] = [];
    book.pass = (hostname) => passed.push(hostname);
    const claim = {
      apiVersion: 'doorplate.dev/v1alpha1',
      kind: 'DomainClaim',
      metadata: {...meta('docs.example.com'), namespace: undefined},
    } as unknown as DomainClaim;
    caches.claims.observe(claim);
    caches.claims.observe({...claim, metadata: {...claim.metadata, resourceVersion: String(++version)}});
    expect(passed).toEqual(['docs.example.com', 'docs.example.com']);
  });

  test('enters an order whose request is seen before the status says that the Project has the host', () => {
    caches.projects.observe(project());
    keepBook().begin();
    order('web', 'web.apps.test');
    expect(book.orders('web.apps.test')).toEqual([]);
    caches.projects.observe(project('web.apps.test'));
    expect(book.orders('web.apps.test')).toHaveLength(1);
  });

  test('enters an order whose request is seen before the status says that the hostname is proven', () => {
    const host = {
      hostname: 'docs.example.com',
      role: 'Primary',
      reason: 'IssuanceQueued',
      since: '2026-03-01T12:00:00Z',
    };
    caches.domains.observe(domain('docs', [host]));
    keepBook().begin();
    order('docs', 'docs.example.com');
    expect(book.orders('docs.example.com')).toEqual([]);
    caches.domains.observe(domain('docs', [{...host, verifiedAt: '2026-03-01T12:00:00Z'}]));
    expect(book.orders('docs.example.com')).toHaveLength(1);
  });

  test('tells for which orders the CA has no answer, until their requests are gone', () => {
    const handlers: Parameters<typeof caches.requests.onChange>[0][] = [];
    caches.requests.onChange = (handler) => handlers.push(handler);
    const host = {hostname: 'docs.example.com', role: 'Primary', verifiedAt: '2026-03-01T12:00:00Z'};
    caches.domains.observe(domain('docs', [host]));
    keepBook().begin();
    const request = caches.requests.kept(withState(order('docs', 'docs.example.com'), ''));
    handlers[0]!(request, undefined);
    later = 120_000;
    expect(isStalled()).toBe(true);
    handlers[0]!(undefined, request);
    expect(isStalled()).toBe(false);
  });

  test('does not judge the CA by a request that is for none of our Certificates', () => {
    keepBook().begin();
    caches.requests.observe(withState(order('somebody', 'docs.example.com'), ''));
    later = 120_000;
    expect(isStalled()).toBe(false);
  });
});
