/** The copies of cluster objects that the controllers read: the cached members of each kind, and the indexes. */
import type {Logger} from 'pino';
import type {
  Certificate,
  CertificateRequest,
  CustomDomain,
  DomainClaim,
  EndpointSlice,
  IngressClass,
  Project,
  Service,
} from '../../api/foreign.ts';
import type {IssuedRequest} from '../../domain/certificates/certificate.ts';
import {Cache} from '../../kube/cache/cache.ts';
import type {Client} from '../../kube/client/client.ts';
import type {HasMeta, Resource} from '../../kube/objects.ts';
import {issuedRequest} from './issued-request.ts';
import {bare, bareOwnedObject, bareOwner, identity} from '../../resources/projections.ts';
import {ownedSelector} from '../../resources/labels.ts';
import {cachedHostnames, type CachedRoute, cachedRoute, type RouteObject} from './rendering.ts';
import {
  certificateOf,
  holderOf,
  servedHostnamesOf,
  namesOf,
  namespaceOf,
  ownerOf,
  projectOf,
  servedProjectOf,
  serviceOf,
  serviceOfSlice,
  uidOf,
} from '../../resources/relations.ts';
import {
  certificateRequests,
  certificates,
  customDomains,
  domainClaims,
  endpointSlices,
  ingressClasses,
  projects,
  services,
} from '../../resources/resources.ts';
import {tenantCaches} from './tenants.ts';

/** Whether a slice has any ready endpoint, and no more: a Service of a thousand Pods is kept as one. */
export interface Readiness extends HasMeta {
  endpoints: {conditions: {ready: true}}[];
}

/** The ports of a Service and its addresses, inside the cluster and at its load balancer. The Service may be the edge's. */
const portsOf = ({apiVersion, kind, metadata, spec, status}: Service): Service => ({
  apiVersion,
  kind,
  metadata: identity(metadata),
  ...(status?.loadBalancer?.ingress && {
    status: {loadBalancer: {ingress: status.loadBalancer.ingress.map(placeOf)}},
  }),
  spec: {
    ports: spec.ports?.map(({name, port}) => ({name, port})),
    ...(spec.type !== undefined && {type: spec.type}),
    ...(spec.clusterIPs && {clusterIPs: spec.clusterIPs}),
  },
});

const placeOf = ({ip, hostname}: {ip?: string; hostname?: string}) => ({
  ...(ip !== undefined && {ip}),
  ...(hostname !== undefined && {hostname}),
});

/** The API server sends `endpoints: null` for none, whatever its types say. */
const readinessOf = ({metadata, endpoints}: EndpointSlice): Readiness => ({
  metadata: {
    ...identity(metadata),
    labels: {'kubernetes.io/service-name': metadata.labels?.['kubernetes.io/service-name'] ?? ''},
  },
  endpoints: (endpoints as EndpointSlice['endpoints'] | null)?.some((e) => e.conditions?.ready !== false)
    ? [{conditions: {ready: true}}]
    : [],
});

/** A Certificate that names only addresses or URIs may omit the DNS names. */
const withNames = (certificate: Certificate): Certificate => {
  const {dnsNames} = certificate.spec as Partial<Certificate['spec']>;
  return bareOwnedObject(dnsNames ? certificate : {...certificate, spec: {...certificate.spec, dnsNames: []}});
};

const controllerOf = ({apiVersion, kind, metadata, spec: {controller}}: IngressClass): IngressClass => ({
  apiVersion,
  kind,
  metadata: identity(metadata),
  spec: {controller},
});

/** One cache a kind. A Manager starts them. `routeObjects`: the kind of object as which routes are written. */
export function makeCaches(client: Client, log: Logger, routeObjects: Resource<RouteObject>) {
  const ofOurs = {log, labelSelector: ownedSelector};
  const byOwner = {owner: ownerOf};
  // Without cert-manager, routes and hostnames can still be removed.
  const ofCertManager = {...ofOurs, mayBeAbsent: true};
  return {
    claims: new Cache<DomainClaim, DomainClaim>(client, domainClaims, {
      log,
      project: bare,
      indexes: {holder: holderOf},
    }),
    ...tenantCaches(client, log),
    domains: new Cache<CustomDomain, CustomDomain>(client, customDomains, {
      log,
      project: bareOwner,
      indexes: {
        project: projectOf,
        servedProject: servedProjectOf,
        namespace: namespaceOf,
        uid: uidOf,
        hostname: servedHostnamesOf,
      },
    }),
    projects: new Cache<Project, Project>(client, projects, {
      log,
      project: bareOwner,
      indexes: {service: serviceOf, namespace: namespaceOf, uid: uidOf},
    }),
    services: new Cache<Service, Service>(client, services, {log, project: portsOf}),
    slices: new Cache<Readiness, EndpointSlice>(client, endpointSlices, {
      log,
      project: readinessOf,
      indexes: {service: serviceOfSlice},
    }),
    ingressClasses: new Cache<IngressClass, IngressClass>(client, ingressClasses, {log, project: controllerOf}),
    routes: new Cache<CachedRoute, RouteObject>(client, routeObjects, {
      ...ofOurs,
      project: cachedRoute,
      indexes: {...byOwner, host: cachedHostnames},
    }),
    certificates: new Cache<Certificate, Certificate>(client, certificates, {
      ...ofCertManager,
      project: withNames,
      indexes: {...byOwner, hostname: namesOf},
    }),
    requests: new Cache<IssuedRequest, CertificateRequest>(client, certificateRequests, {
      ...ofCertManager,
      project: issuedRequest,
      indexes: {certificate: certificateOf},
    }),
  };
}

export type Caches = ReturnType<typeof makeCaches>;
