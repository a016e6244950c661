/** Our own kinds as objects, those of Kubernetes, and of cert-manager's the parts that Doorplate reads or writes. */
import type {V1Endpoint, V1Ingress, V1IngressClass, V1Service} from '@kubernetes/client-node';
import type {NativeKind, KubeObject} from '../kube/objects.ts';
import type {AccountSpec, AccountStatus} from './account.ts';
import type {ApiKeySpec, ApiKeyStatus} from './api-key.ts';
import type {CustomDomainStatus} from './custom-domain.ts';
import type {CustomDomainSpec} from './custom-domain-spec.ts';
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
export interface ApiKey extends KubeObject {
  spec: ApiKeySpec;
  status?: ApiKeyStatus;
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

export type Service = NativeKind<V1Service>;
/** `ready` absent means ready (KEP-752). */
export type EndpointSlice = KubeObject & {endpoints?: Pick<V1Endpoint, 'conditions'>[]};
export type Ingress = NativeKind<V1Ingress>;
export type IngressClass = NativeKind<V1IngressClass>;

/** Which issuer of cert-manager; kind and group may be left out by others. */
export interface IssuerRef {
  name: string;
  kind?: string;
  group?: string;
}

/** cert-manager.io/v1; the status as far as it is read. */
export interface Certificate extends KubeObject {
  spec: {
    secretName: string;
    dnsNames: string[];
    issuerRef: IssuerRef;
    privateKey: {algorithm: 'ECDSA' | 'RSA'; size: number; rotationPolicy: 'Always'};
    /** A duration as Go writes it; undefined: by percentage of the lifetime. */
    renewBefore?: string;
    /** From 1.21. */
    renewal?: {policy: 'Disabled'};
  };
  status?: {
    conditions?: Condition[];
    revision?: number;
    notBefore?: string;
    notAfter?: string;
    /** Absent while `renewal` is disabled. */
    renewalTime?: string;
    acme?: {ari?: AriStatus};
  };
}

/** What cert-manager knows of the CA's renewal information (ARI, RFC 9773): from 1.21, with its feature gate ACMEUseARI. */
export interface AriStatus {
  /** RFC 3339. */
  nextCheck?: string;
  /** The certificate of the information. Versions without this field can take the information for that of the next certificate. */
  certID?: string;
}

/** A CustomResourceDefinition; the schema as far as it is read. */
export interface CustomResourceDefinition extends KubeObject {
  spec: {versions: {name: string; schema?: {openAPIV3Schema?: JsonSchema}}[]};
}
export interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  enum?: unknown[];
}

export interface CertificateRequest extends KubeObject {
  spec?: {issuerRef?: IssuerRef};
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
  spec?: {acme?: {server?: string; caBundle?: string; skipTLSVerify?: boolean; solvers?: AcmeSolver[]}};
  status?: {acme?: {uri?: string}; conditions?: Condition[]};
}

/**
 * A method by which an issuer answers challenges, and the hostnames that use it; without a selector, all hostnames that match no other
 * solver.
 */
export interface AcmeSolver {
  selector?: {dnsNames?: string[]; dnsZones?: string[]; matchLabels?: Record<string, string>};
  http01?: {ingress?: {ingressClassName?: string; class?: string; name?: string}; gatewayHTTPRoute?: object};
  dns01?: object;
}
