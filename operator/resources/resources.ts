/** The API resources that Doorplate reads and writes. */
import {group, version} from '../api/crd.ts';
import type {
  Account,
  AcmeChallenge,
  AcmeIssuer,
  AcmeOrder,
  ApiKey,
  Certificate,
  CertificateRequest,
  CustomDomain,
  CustomResourceDefinition,
  DomainClaim,
  EndpointSlice,
  Ingress,
  IngressClass,
  Plan,
  Project,
  Service,
} from '../api/foreign.ts';
import type {KubeObject} from '../kube/objects.ts';
import {defineResource} from '../kube/objects.ts';

export const plans = defineResource<Plan>({group, version, plural: 'plans', kind: 'Plan', namespaced: false});
export const accounts = defineResource<Account>({
  group,
  version,
  plural: 'accounts',
  kind: 'Account',
  namespaced: false,
});
export const apiKeys = defineResource<ApiKey>({group, version, plural: 'apikeys', kind: 'ApiKey', namespaced: true});
export const projects = defineResource<Project>({
  group,
  version,
  plural: 'projects',
  kind: 'Project',
  namespaced: true,
});
export const customDomains = defineResource<CustomDomain>({
  group,
  version,
  plural: 'customdomains',
  kind: 'CustomDomain',
  namespaced: true,
  // A CustomDomain of 501 hostnames may have 1.5 MiB.
  pageSize: 50,
});
export const domainClaims = defineResource<DomainClaim>({
  group,
  version,
  plural: 'domainclaims',
  kind: 'DomainClaim',
  namespaced: false,
});
export const namespaces = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
});
export const services = defineResource<Service>({
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
  namespaced: true,
});
export const endpointSlices = defineResource<EndpointSlice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
});
export const ingresses = defineResource<Ingress>({
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'ingresses',
  kind: 'Ingress',
  namespaced: true,
});
export const ingressClasses = defineResource<IngressClass>({
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'ingressclasses',
  kind: 'IngressClass',
  namespaced: false,
});
export const certificates = defineResource<Certificate>({
  group: 'cert-manager.io',
  version: 'v1',
  plural: 'certificates',
  kind: 'Certificate',
  namespaced: true,
});
export const acmeOrders = defineResource<AcmeOrder>({
  group: 'acme.cert-manager.io',
  version: 'v1',
  plural: 'orders',
  kind: 'Order',
  namespaced: true,
});
export const acmeChallenges = defineResource<AcmeChallenge>({
  group: 'acme.cert-manager.io',
  version: 'v1',
  plural: 'challenges',
  kind: 'Challenge',
  namespaced: true,
});
export const issuers = defineResource<AcmeIssuer>({
  group: 'cert-manager.io',
  version: 'v1',
  plural: 'issuers',
  kind: 'Issuer',
  namespaced: true,
});
export const clusterIssuers = defineResource<AcmeIssuer>({
  group: 'cert-manager.io',
  version: 'v1',
  plural: 'clusterissuers',
  kind: 'ClusterIssuer',
  namespaced: false,
});
export const certificateRequests = defineResource<CertificateRequest>({
  group: 'cert-manager.io',
  version: 'v1',
  plural: 'certificaterequests',
  kind: 'CertificateRequest',
  namespaced: true,
});
export const customResourceDefinitions = defineResource<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});
