/**
 * How objects are related: by these a cache finds an object again (its indexes), and by these a change of one object wakes
 * another. Each gives names, UIDs or keys (`namespace/name`), none where there is no relation.
 */
import type {Certificate, CustomDomain, DomainClaim, Project} from '../api/foreign.ts';
import {isRetained} from '../domain/certificates/certificate.ts';
import {formerPrimary} from '../domain/hostnames/hosts.ts';
import {normalise} from '../domain/hostnames/hostname.ts';
import {type HasMeta, type Key, keyOf} from '../kube/objects.ts';
import {ownerLabel} from './labels.ts';

export const nameOf = ({metadata: {name}}: HasMeta): string[] => [name];
export const namespacedNameOf = (object: HasMeta): Key[] => [keyOf(object)];
export const namespaceOf = ({metadata: {namespace = ''}}: HasMeta): string[] => [namespace];
export const uidOf = ({metadata: {uid = ''}}: HasMeta): string[] => [uid];

/** The UID of the owner that the label of an object of ours names; a Certificate that rests has none. */
export const ownerOf = ({metadata}: HasMeta): string[] =>
  isRetained({metadata}) ? [] : [metadata.labels?.[ownerLabel] ?? []].flat();

/** The hostnames of a Certificate; none if it is not formed like ours. */
export const namesOf = ({spec}: {spec: Partial<Certificate['spec']>}): string[] => spec.dnsNames ?? [];

/** The Certificate of a CertificateRequest. */
export const certificateOf = ({metadata: {namespace, annotations}}: HasMeta): Key[] => [
  `${namespace}/${annotations?.['cert-manager.io/certificate-name'] ?? ''}`,
];

/** The UID of a claim's owner. */
export const holderOf = ({status}: DomainClaim): string[] => [status?.holder?.uid ?? []].flat();

/** The hostnames that the spec of a CustomDomain names, normalised. */
export const hostnamesOf = ({spec: {primary, redirects}}: CustomDomain): string[] =>
  [primary, ...(redirects ?? []).map((r) => r.from)].flatMap((h) => normalise(h) ?? []);

/** These hostnames, and a former primary that is still served. */
export const servedHostnamesOf = (domain: CustomDomain): string[] => [
  ...hostnamesOf(domain),
  ...[formerPrimary(domain) ?? []].flat(),
];

/** The Project of a CustomDomain. */
export const projectKey = ({metadata, spec}: CustomDomain): Key => `${metadata.namespace}/${spec.projectRef.name}`;
export const projectOf = (domain: CustomDomain): Key[] => [projectKey(domain)];

/** The Project of a CustomDomain of which any hostname is Live. */
export const servedProjectOf = (domain: CustomDomain): Key[] =>
  domain.status?.hosts?.some((h) => h.phase === 'Live') ? projectOf(domain) : [];

/** The Service of a Project. */
export const serviceOf = ({metadata, spec}: Project): Key[] => [`${metadata.namespace}/${spec.serviceRef.name}`];

/** The Service of an EndpointSlice. */
export const serviceOfSlice = ({metadata: {namespace, labels}}: HasMeta): Key[] => [
  `${namespace}/${labels?.['kubernetes.io/service-name'] ?? ''}`,
];

const ofProject = 'Project ';
/** The key of a Project in the order book. It differs from all keys of CustomDomains. */
export const orderOwner = (project: Key): string => `${ofProject}${project}`;
/** The key of the Project with this key in the order book; undefined for a CustomDomain. */
export const projectIsQueued = (owner: string): Key | undefined =>
  owner.startsWith(ofProject) ? owner.slice(ofProject.length) : undefined;
