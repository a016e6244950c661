/** The parts of other projects' kinds that Doorplate reads or writes, and our own kinds as objects. */
import type {KubeObject} from '../kube/objects.ts';
import type {AccountSpec, AccountStatus} from './account.ts';
import type {CustomDomainSpec, CustomDomainStatus} from './custom-domain.ts';
import type {DomainClaimSpec, DomainClaimStatus} from './domain-claim.ts';
import type {PlanSpec} from './plan.ts';
import type {ProjectSpec, ProjectStatus} from './project.ts';
import type {Condition} from './rules.ts';

export interface Plan extends KubeObject {
  spec: PlanSpec;
}
export interface Account extends KubeObject {
  spec: AccountSpec;
  status?: AccountStatus;
}
export interface Project extends KubeObject {
  spec: ProjectSpec;
  status?: ProjectStatus;
}
export interface CustomDomain extends KubeObject {
  spec: CustomDomainSpec;
  status?: CustomDomainStatus;
}
/** Cluster-scoped; its name is the hostname. */
export interface DomainClaim extends KubeObject {
  spec: DomainClaimSpec;
  status?: DomainClaimStatus;
}

export interface ServicePort {
  name?: string;
  port: number;
}
export interface Service extends KubeObject {
  spec: {ports?: ServicePort[]; type?: string};
}

/** discovery.k8s.io/v1. `ready` absent means ready (KEP-752). */
export interface EndpointSlice extends KubeObject {
  endpoints?: {conditions?: {ready?: boolean}}[];
}

export interface IngressBackend {
  service: {name: string; port: {number?: number; name?: string}};
}
export interface Ingress extends KubeObject {
  spec: {
    ingressClassName: string;
    tls?: {hosts: string[]; secretName?: string}[];
    rules: {host: string; http: {paths: {path: string; pathType: 'Prefix' | 'Exact'; backend: IngressBackend}[]}}[];
  };
}
export interface IngressClass extends KubeObject {
  spec?: {controller?: string};
}

/** cert-manager.io/v1; the status as far as it is read. */
export interface Certificate extends KubeObject {
  spec: {
    secretName: string;
    dnsNames: string[];
    issuerRef: {name: string; kind: string; group: string};
    privateKey: {algorithm: 'ECDSA'; size: 256; rotationPolicy: 'Always'};
  };
  status?: {conditions?: Condition[]; revision?: number; notAfter?: string; renewalTime?: string};
}
export interface CertificateRequest extends KubeObject {
  status?: {conditions?: Condition[]; certificate?: string; failureTime?: string};
}

/** acme.cert-manager.io/v1; the status as far as it is read. */
export interface AcmeOrder extends KubeObject {
  status?: {state?: string; reason?: string};
}
export interface AcmeChallenge extends KubeObject {
  status?: {state?: string; reason?: string};
}
/** An Issuer or a ClusterIssuer. */
export interface AcmeIssuer extends KubeObject {
  spec?: {acme?: {server?: string; caBundle?: string; skipTLSVerify?: boolean}};
  status?: {acme?: {uri?: string}};
}
