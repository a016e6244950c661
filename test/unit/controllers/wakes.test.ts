/** Which keys each change wakes. That a key that is not woken stays as it was is shown in test/operator. */
import {beforeEach, expect, test} from '@jest/globals';
import {pino} from 'pino';
import type {Certificate, CustomDomain, DomainClaim, Ingress} from '../../../operator/api/foreign.ts';
import {wakeAccounts} from '../../../operator/controllers/account.ts';
import {type Caches, makeCaches} from '../../../operator/controllers/state/caches.ts';
import {wakeClaims} from '../../../operator/controllers/writers/claims.ts';
import {wakeDomains} from '../../../operator/controllers/custom-domain.ts';
import {wakeProjects} from '../../../operator/controllers/project.ts';
import {orderOwner} from '../../../operator/resources/relations.ts';
import {cachedRoute} from '../../../operator/controllers/state/rendering.ts';
import {ingresses} from '../../../operator/resources/resources.ts';
import {finalizer} from '../../../operator/resources/projections.ts';
import type {Client} from '../../../operator/kube/client/client.ts';
import type {ObjectMeta} from '../../../operator/kube/objects.ts';
import type {ChangeSource} from '../../../operator/kube/controller/wake.ts';
import {domain, enterprise, project} from '../../support/world.ts';

const named = (name: string, more: Partial<ObjectMeta> = {}): ObjectMeta => ({
  name,
  namespace: 'acme',
  uid: `uid-${name}`,
  resourceVersion: '1',
  ...more,
});
const object = (kind: string, metadata: ObjectMeta, rest: object = {}) => ({apiVersion: 'v1', kind, metadata, ...rest});
const ofDocs = {labels: {'doorplate.dev/owner-uid': 'uid-domain'}};
const ofSite = {labels: {'doorplate.dev/owner-uid': 'uid-site'}};

/** Two CustomDomains of the Project docs, and a Project of another Service. */
const docs = domain({primary: 'docs.example.com', redirects: [{from: 'old.example.com'}]});
const newer = domain({name: 'newer', uid: 'uid-newer', primary: 'next.example.com'});
const site = {...project(), metadata: named('site'), spec: {...project().spec, serviceRef: {name: 'shop', port: 80}}};
const account = object(
  'Account',
  {name: 'acme', resourceVersion: '1'},
  {spec: {planRef: {name: enterprise.metadata.name}}},
);
const claim = (holder?: string) =>
  object(
    'DomainClaim',
    {name: 'docs.example.com', resourceVersion: '1'},
    {
      ...(holder !== undefined && {status: {holder: {uid: holder}}}),
    },
  ) as DomainClaim;
const ingress = (owner: Partial<ObjectMeta>) =>
  cachedRoute(object('Ingress', named('route', owner), {spec: {rules: [{host: 'old.example.com'}]}}) as Ingress);
const certificate = (owner: Partial<ObjectMeta>) =>
  object('Certificate', named('cert', owner), {spec: {dnsNames: ['site.example.com']}}) as Certificate;
const resting = object('Certificate', named('resting', {labels: {...ofDocs.labels, 'doorplate.dev/resting': 'true'}}), {
  spec: {dnsNames: ['rests.example.com']},
}) as Certificate;
const requestFor = (name: string) => named('request', {annotations: {'cert-manager.io/certificate-name': name}});

let tell: Map<string, ((...told: unknown[]) => void)[]>;
let woken: string[];

/** Something that tells what the test says. */
function source(name: string): ChangeSource<[]> & ChangeSource<[string]> {
  return {
    onChange(handler: (...told: never[]) => void) {
      tell.set(name, [...(tell.get(name) ?? []), handler as (...told: unknown[]) => void]);
    },
  };
}

const versioned = <T extends {metadata: ObjectMeta}>(o: T): T => ({
  ...o,
  metadata: {...o.metadata, resourceVersion: '1'},
});

/** Caches that hold what `observe` puts in, and tell what the test says. */
function filled(): Caches {
  const caches = makeCaches({} as Client, pino({level: 'silent'}), ingresses);
  for (const one of [docs, newer]) caches.domains.observe(versioned(one));
  for (const one of [project(), site]) caches.projects.observe(versioned(one));
  caches.claims.observe(claim('uid-domain'));
  caches.accounts.observe(account as never);
  caches.certificates.observe(resting);
  for (const [name, cache] of Object.entries(caches)) Object.assign(cache, source(name));
  return caches;
}

beforeEach(() => {
  [tell, woken] = [new Map(), []];
  const caches = filled();
  const [tenants, cas, edgeAddresses] = [source('tenants'), source('cas'), source('edgeAddresses')];
  const [orders, firsts, plainHttp] = [source('orders'), source('firsts'), source('plainHttp')];
  const [edgeHealth, waiting] = [source('edgeHealth'), source('waiting')];
  const places = {movedBy: () => ['acme/moved'], movedByNamespace: () => ['acme/moved']};
  const looks = {dns: source('dns'), edge: source('edge'), issuance: source('issuance')};
  const edges = {edgeAddresses, edgeHealth};
  const tables = {
    domain: wakeDomains(caches, {tenants, cas, ...edges, looks, orders, firsts, waiting, plainHttp}),
    project: wakeProjects(caches, {tenants, cas, orders, places, plainHttp}),
    claim: wakeClaims(caches),
    account: wakeAccounts(caches),
  };
  for (const [name, table] of Object.entries(tables))
    for (const wake of table) wake((key, how) => woken.push(`${how?.urgent ? 'urgent ' : ''}${name} ${key}`));
});

const gone = undefined;
const both = ['domain acme/docs', 'domain acme/newer'];
const changed = (one: CustomDomain, metadata: Partial<ObjectMeta>) => ({
  ...one,
  metadata: {...one.metadata, ...metadata},
});
const changedSpec = changed(
  {...docs, spec: {...docs.spec, primary: 'other.example.com'}},
  {generation: (docs.metadata.generation ?? 0) + 1},
);
const dropped = {...docs, spec: {...docs.spec, primary: 'other.example.com'}};
const ofDomain = ['domain acme/docs', 'project acme/docs'];
const anew = (one: CustomDomain) => changed(one, {uid: 'uid-anew'});

test.each<[situation: string, source: string, told: unknown[], wakes: string[]]>([
  ['a CustomDomain comes', 'domains', [newer, undefined], ['urgent domain acme/newer', 'project acme/docs']],
  [
    'a CustomDomain changes',
    'domains',
    [changedSpec, docs],
    ['urgent domain acme/docs', 'project acme/docs', 'claim docs.example.com'],
  ],
  [
    'a CustomDomain is made anew while nobody watched',
    'domains',
    [anew(docs), docs],
    [...ofDomain, 'claim docs.example.com'],
  ],
  [
    'somebody asks for a check',
    'domains',
    [changed(docs, {annotations: {'doorplate.dev/requestedAt': 'now'}}), docs],
    ['urgent domain acme/docs', 'project acme/docs'],
  ],
  [
    'a CustomDomain is being deleted',
    'domains',
    [changed(docs, {deletionTimestamp: '2026-11-22T00:00:00Z', finalizers: [finalizer]}), docs],
    ['urgent domain acme/docs', 'project acme/docs'],
  ],
  [
    'Doorplate has cleaned up after a deleted CustomDomain that others keep',
    'domains',
    [
      changed(docs, {deletionTimestamp: '2026-11-22T00:00:00Z', finalizers: ['example.com/keep']}),
      changed(docs, {deletionTimestamp: '2026-11-22T00:00:00Z', finalizers: [finalizer, 'example.com/keep']}),
    ],
    ['domain acme/docs', 'project acme/docs', 'claim docs.example.com'],
  ],
  ['the status of a CustomDomain changes', 'domains', [{...docs, status: {}}, docs], ofDomain],
  [
    'a hostname leaves the status of a CustomDomain that no longer names it',
    'domains',
    [dropped, {...dropped, status: {hosts: [{hostname: 'docs.example.com'}]}}],
    [...ofDomain, 'claim docs.example.com'],
  ],
  ['a CustomDomain goes', 'domains', [gone, docs], [...ofDomain, 'claim docs.example.com']],
  ['there is a free place for a hostname that was refused', 'waiting', ['acme/docs'], ['domain acme/docs']],
  ['another CustomDomain of a Project is the first', 'firsts', ['acme/docs'], both],
  ['a Project changes', 'projects', [project(), project()], [...both, 'project acme/docs', 'project acme/moved']],
  ['a Project goes', 'projects', [gone, site], ['project acme/site', 'project acme/moved']],
  ['a Namespace passes to another Account', 'namespaces', [named('acme'), named('acme')], ['project acme/moved']],
  ["a tenant's plan changes", 'tenants', ['acme'], [...both, 'project acme/docs', 'project acme/site']],
  ["another tenant's plan changes", 'tenants', ['other'], []],
  [
    'a claim passes to another holder',
    'claims',
    [claim('uid-newer'), claim('uid-domain')],
    [...both, 'claim docs.example.com'],
  ],
  [
    'a claim of a default host goes',
    'claims',
    [gone, claim('uid-site')],
    ['domain acme/docs', 'project acme/site', 'claim docs.example.com'],
  ],
  ['a claim of nobody comes', 'claims', [claim(), undefined], ['domain acme/docs', 'claim docs.example.com']],
  ['an Ingress of a CustomDomain changes', 'routes', [ingress(ofDocs), ingress(ofDocs)], ['domain acme/docs']],
  ['an Ingress of a Project changes', 'routes', [ingress(ofSite), ingress(ofSite)], ['project acme/site']],
  [
    'an Ingress passes to another owner',
    'routes',
    [ingress(ofSite), ingress(ofDocs)],
    ['domain acme/docs', 'project acme/site'],
  ],
  ['an Ingress of nobody goes', 'routes', [gone, ingress({})], ['domain acme/docs', 'claim old.example.com']],
  // A hostname that is handed over waits for the routes of its successor.
  ['an Ingress of nobody comes', 'routes', [ingress({}), gone], ['domain acme/docs', 'claim old.example.com']],
  [
    'a Certificate of a CustomDomain changes',
    'certificates',
    [certificate(ofDocs), certificate(ofDocs)],
    ['domain acme/docs'],
  ],
  [
    'a Certificate of a Project goes',
    'certificates',
    [gone, certificate(ofSite)],
    ['project acme/site', 'claim site.example.com'],
  ],
  [
    'a Certificate of a Project comes',
    'certificates',
    [certificate(ofSite), gone],
    ['project acme/site', 'claim site.example.com'],
  ],
  [
    'a Certificate begins to rest',
    'certificates',
    [resting, {...certificate(ofDocs), metadata: {...resting.metadata, ...ofDocs}}],
    ['domain acme/docs', 'claim rests.example.com'],
  ],
  ['a Certificate that rests goes', 'certificates', [gone, resting], ['claim rests.example.com']],
  [
    'a CertificateRequest of one that rests comes',
    'requests',
    [object('CertificateRequest', requestFor('resting')), undefined],
    ['claim rests.example.com'],
  ],
  ['a CertificateRequest of a CustomDomain comes', 'requests', [certificate(ofDocs), undefined], ['domain acme/docs']],
  ['a CertificateRequest of a Project comes', 'requests', [certificate(ofSite), undefined], ['project acme/site']],
  ['a Service changes', 'services', [object('Service', named('shop')), undefined], ['project acme/site']],
  [
    'the endpoints of a Service change',
    'slices',
    [object('EndpointSlice', named('shop-x', {labels: {'kubernetes.io/service-name': 'shop'}})), undefined],
    ['project acme/site'],
  ],
  [
    'an ingress class changes',
    'ingressClasses',
    [undefined, undefined],
    [...both, 'project acme/docs', 'project acme/site'],
  ],
  ['the Ingress for plain HTTP of a CustomDomain is needed no more', 'plainHttp', ['uid-domain'], ['domain acme/docs']],
  ['the Ingress for plain HTTP of a Project is needed no more', 'plainHttp', ['uid-site'], ['project acme/site']],
  ['an Account changes', 'accounts', [account, account], ['account acme']],
  ['a Plan comes', 'plans', [enterprise, undefined], ['account acme']],
  ['a Plan changes', 'plans', [enterprise, enterprise], []],
  ['a Plan goes', 'plans', [gone, enterprise], ['account acme']],
  [
    'a CA gives itself another name, or stops answering',
    'cas',
    [],
    [...both, 'project acme/docs', 'project acme/site'],
  ],
  ['the edge has another address', 'edgeAddresses', [], both],
  ['every Live hostname must be probed', 'edgeHealth', [], both],
  ['DNS answers', 'dns', ['acme/docs'], ['domain acme/docs']],
  ['the edge answers', 'edge', ['acme/docs'], ['domain acme/docs']],
  ['an attempt at a certificate was read about', 'issuance', ['acme/docs'], ['domain acme/docs']],
  ['the order book answers a CustomDomain', 'orders', ['acme/docs'], ['domain acme/docs']],
  ['the order book answers a Project', 'orders', [orderOwner('acme/docs')], ['project acme/docs']],
])('When %s, these are woken and no others', (_, from, told, wakes) => {
  for (const handler of tell.get(from) ?? []) handler(...told);
  expect(woken.toSorted()).toEqual(wakes.toSorted());
});
