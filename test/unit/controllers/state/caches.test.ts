/** What is kept of objects, and by what it is found again. Nothing is listed or watched: `observe` puts in what a watch would bring. */
import {beforeEach, expect, test} from '@jest/globals';
import {pino} from 'pino';
import type {Ingress, Service} from '../../../../operator/api/foreign.ts';
import {type Caches, makeCaches} from '../../../../operator/controllers/state/caches.ts';
import {ingresses} from '../../../../operator/resources/resources.ts';
import type {Client} from '../../../../operator/kube/client/client.ts';
import type {Resource} from '../../../../operator/kube/objects.ts';

let caches: Caches;
beforeEach(() => {
  caches = makeCaches({} as Client, pino({level: 'silent'}), ingresses);
});

test('CustomDomains are listed in pages of 50, because one may be large; what is small in pages of 500', async () => {
  const limits = new Map<string, number | undefined>();
  const client = {
    async *pages({plural}: Resource, {limit}: {limit?: number}) {
      limits.set(plural, limit);
      yield {items: [], resourceVersion: '1'};
    },
    async *watch(_: Resource, {signal}: {signal: AbortSignal}) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield [];
    },
  } as unknown as Client;
  const {domains, claims} = makeCaches(client, pino({level: 'silent'}), ingresses);
  const stop = new AbortController();
  for (const cache of [domains, claims]) cache.start(stop.signal);
  await Promise.all([domains.synced, claims.synced]);
  stop.abort();
  await Promise.all([domains.stopped(), claims.stopped()]);
  expect(Object.fromEntries(limits)).toEqual({customdomains: 50, domainclaims: 500});
});

const metadata = {name: 'web', namespace: 'acme', uid: 'uid-web', resourceVersion: '7'};
const slice = (...ready: (boolean | undefined)[]) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {...metadata, name: 'web-x', labels: {'kubernetes.io/service-name': 'web', other: 'label'}},
  endpoints: ready.map((one) => ({addresses: ['192.0.2.7'], conditions: {ready: one}})),
});

const rules = (host: string) => [{host, http: {paths: [{path: '/', pathType: 'Prefix', backend: {}}]}}];
const ingress = (spec: Ingress['spec'], change: Partial<Ingress> = {}): Ingress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: {...metadata, labels: {'doorplate.dev/owner-uid': 'uid-domain'}},
  spec,
  ...change,
});

test('of an Ingress are kept whose it is, its hostnames, and a hash of what Doorplate sets', () => {
  const spec = {ingressClassName: 'edge', rules: rules('docs.example.com')};
  const labels = {'doorplate.dev/owner-uid': 'uid-domain', 'app.kubernetes.io/managed-by': 'doorplate'};
  const annotations = {'doorplate.dev/for': 'CustomDomain acme/web', 'doorplate.dev/intent': 'hash'};
  const owner = {
    apiVersion: 'doorplate.dev/v1alpha1',
    kind: 'CustomDomain',
    name: 'web',
    uid: 'uid-domain',
    controller: true,
  };
  const written = {...metadata, labels, annotations, ownerReferences: [owner]};
  const kept = caches.routes.kept(ingress(spec, {metadata: written}));
  expect(kept).toEqual({
    metadata: {
      ...metadata,
      labels: {'doorplate.dev/owner-uid': 'uid-domain'},
      annotations: {'doorplate.dev/intent': 'hash'},
    },
    hosts: ['docs.example.com'],
    says: expect.any(String),
  });
  const said = (change: Partial<Ingress['spec']>, meta: Partial<Ingress['metadata']> = {}) =>
    caches.routes.kept(ingress({...spec, ...change}, {metadata: {...written, ...meta}})).says;
  expect(said({defaultBackend: {service: {name: 'web'}}})).toBe(kept.says);
  const changes = [
    said({ingressClassName: 'other'}),
    said({rules: rules('docs.example.com').map((r) => ({...r, http: {paths: []}}))}),
    said({tls: [{hosts: ['docs.example.com'], secretName: 'docs'}]}),
    said({}, {labels: {...labels, 'app.kubernetes.io/managed-by': 'another'}}),
    said({}, {annotations: {...annotations, 'doorplate.dev/for': 'another'}}),
    said({}, {ownerReferences: []}),
  ];
  expect(new Set([kept.says, ...changes]).size).toBe(7);
});

test('of an Ingress a controller that is not the owner by our label is kept', () => {
  const theirs = {apiVersion: 'v1', kind: 'ConfigMap', name: 'mine', uid: 'uid-mine', controller: true};
  const kept = caches.routes.kept(ingress({}, {metadata: {...ingress({}).metadata, ownerReferences: [theirs]}}));
  expect(kept.metadata.ownerReferences).toEqual([theirs]);
});

test('an Ingress that somebody gave our label and no rules is kept, under its owner and under no hostname', () => {
  const without = ingress({defaultBackend: {service: {name: 'web', port: {number: 80}}}});
  caches.routes.observe(without);
  expect(caches.routes.by('owner', 'uid-domain')).toMatchObject([{metadata: without.metadata, hosts: []}]);
});

test('of a Service its ports and its type are kept', () => {
  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {...metadata, annotations: {large: 'x'.repeat(1000)}},
    spec: {type: 'ClusterIP', clusterIP: '10.0.0.7', ports: [{name: 'http', port: 80, targetPort: 8080}]},
  };
  caches.services.observe(service);
  expect(caches.services.get('acme/web')).toEqual({
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: {type: 'ClusterIP', ports: [{name: 'http', port: 80}]},
  });
});

test.each([
  ['one of many endpoints is ready', [false, true, false], true],
  ['an endpoint does not say, which means ready (KEP-752)', [undefined], true],
  ['no endpoint is ready', [false, false], false],
  ['there is no endpoint', [], false],
] as const)('of the endpoints of a Service only whether any is ready is kept: %s', (_, ready, kept) => {
  caches.slices.observe(slice(...ready));
  const endpoints = kept ? [{conditions: {ready: true}}] : [];
  const labels = {'kubernetes.io/service-name': 'web'};
  expect(caches.slices.by('service', 'acme/web')).toEqual([
    {metadata: {...metadata, name: 'web-x', labels}, endpoints},
  ]);
});

test('an EndpointSlice whose endpoints are null, as the API server sends none, has no ready endpoint', () => {
  caches.slices.observe({...slice(), endpoints: null as unknown as []});
  expect(caches.slices.unreadable).toBe(0);
  expect(caches.slices.by('service', 'acme/web')).toMatchObject([{endpoints: []}]);
});
