/** Input and result of a decision about a CustomDomain: plain data, without functions that query anything. */

import type {CustomDomainStatus} from '../api/custom-domain.ts';
import type {Certificate, CustomDomain, DomainClaim, Project} from '../api/foreign.ts';
import type {OrderGrant, Order} from './certificates/budget.ts';
import type {IssuerPolicy, Issuers} from './certificates/choose-issuer.ts';
import type {CertificateFacts, PrivateKey} from './certificates/certificate.ts';
import type {ClaimWrite} from './claims/claim-write.ts';
import type {Diagnosis} from './certificates/diagnosis.ts';
import type {Hostname} from './hostnames/hostname.ts';
import type {WaitingRoom} from './hostnames/waiting.ts';
import type {OrderRequest} from './certificates/issuance.ts';
import type {WriteError} from './status/write-error.ts';
import type {Edge, Verdict} from './verification/method.ts';
import type {Question} from './verification/records.ts';
import type {RedirectorService, Route, ExistingRoutes, Use} from './routes/routes.ts';
import type {Tenant} from './tenant.ts';
import type {PublishedHosts} from './hostnames/published.ts';

/** The platform's settings that decisions need. All times in milliseconds. */
export interface Policy extends Edge, Issuers {
  installation: string;
  zone: Hostname;
  tls: 'Wildcard' | 'PerProject';
  ingressClassName: string;
  redirector: RedirectorService;
  deniedNames: readonly Hostname[];
  waitSchedule: readonly {everyMs: number; forMs: number}[];
  recheckIntervalMs: number;
  /** Rule 3: times after the first negative at which it must be confirmed. */
  driftConfirmationsMs: readonly number[];
  /** Confirmation times for a hostname that another tenant has verified. */
  takeoverConfirmationsMs: readonly number[];
  quarantineTimeMs: number;
  /** The edge's addresses verify an apex. Requires a platform with a single tenant. */
  addressOnly: boolean;
  propagationTimeMs: number;
  verificationExpiresAfterMs: number;
  issuanceStalledAfterMs: number;
  /** The time of which all orders are remembered. */
  orderMemoryMs: number;
  graceTimeMs: number;
  /** Rule 6: times after the first failed edge probe of a Live hostname at which the fault must be confirmed. */
  edgeConfirmationsMs: readonly number[];
  defaultPlan: string;
}

/** The certificate that one address of the edge presented for a hostname, if any. */
export interface EdgeFinding {
  edge: {address: string; port: number};
  leafSha256?: string;
  subjectAltNames?: string;
  /** RFC 3339, whole seconds, as in a Certificate's status. */
  notAfter?: string;
  unreachable?: string;
  /** Our redirector answered; set only if the probe asked for it. */
  redirector?: boolean;
}

/** An edge probe of one hostname: a finding for each address. `at`: its start, ms since the epoch. */
export interface EdgeProbe {
  findings: readonly EdgeFinding[];
  at: number;
}

/** The state of the edge's addresses, established by a sample of Live hostnames (controllers/probes/edge-health.ts). */
export interface EdgeState {
  /** Every Live hostname is probed once between `since` (ms since the epoch) and `since + withinMs`. */
  sweep: {since: number; withinMs: number};
  /** Addresses with a confirmed fault, as `address:port`. */
  faulty: ReadonlySet<string>;
}

/** Recent checks of a hostname for its tenant, in any object. */
export interface EarlierChecks {
  /** Time of the first of these checks. */
  since: number;
  last: number;
  /** Number of these checks that were the first of an object or of an entry in its spec, after checks of another one. */
  anew: number;
}

/** A CustomDomain of the same tenant that has become the owner of a hostname. */
export interface Successor {
  /** Creation time of its newest route for the hostname, ms since the epoch; undefined: it has none so far. */
  routedSince?: number;
  /** Its status shows that its routes are applied, so the redirector answers plain HTTP by it. */
  isAnnounced: boolean;
  /** It cannot write its routes: no ingress controller may serve both. */
  isBlocked: boolean;
}

/** The gathered facts about one hostname. */
export interface HostFacts {
  /** The newest verdict of this process; undefined before the first check. */
  verdict?: Verdict;
  /** Time of that check, ms since the epoch. */
  checkedAt?: number;
  /** Recent DNS checks of the hostname for this tenant, in any object. */
  earlier?: EarlierChecks;
  certificate?: CertificateFacts;
  /** The certificate of the role that the hostname is leaving. */
  formerCertificate?: CertificateFacts;
  /** Names of its Certificates that were retained and have kept the names from a former owner. */
  certificateNames?: Partial<Record<Use, string>>;
  /** Kinds of the keys with which its Certificates were taken over. */
  privateKeys?: Partial<Record<Use, PrivateKey>>;
  /** The issuer for its certificate: {@link chooseIssuer}. Undefined: the preferred one. */
  issuer?: IssuerPolicy;
  /** When to choose its issuer again, ms since the epoch. */
  issuerUntil?: number;
  /** CAA records decide whether another issuer is chosen, and have not been read. */
  readsCaa?: true;
  /** Its orders of the last days, by time, as far as this process knows. */
  orders?: readonly Order[];
  /** The answer to its order request. */
  grant?: OrderGrant;
  /** cert-manager's messages about a stuck attempt. */
  diagnosis?: Diagnosis;
  /** Time at which they were read, ms since the epoch. */
  diagnosedAt?: number;
  /**
   * Set if another owner has the claim: the records that verify that owner, and the DNS verdicts about them, newest last. `isLetGo`:
   * that CustomDomain belongs to the same tenant, and its spec no longer names the hostname. `isBeingDeleted`: that CustomDomain is.
   */
  rival?: {
    question: Question;
    looks: readonly {verdict: Verdict; at: number}[];
    isLetGo?: boolean;
    isBeingDeleted?: true;
  };
  /** Its existing routes. */
  standing?: Partial<Record<Use, ExistingRoutes>>;
  /** A route of another owner still exists for the hostname. */
  occupied?: boolean;
  /** All these routes belong to other CustomDomains of the tenant, which hand the hostname over. */
  succeeds?: boolean;
  /** The CustomDomain of the same tenant that owns the hostname now. */
  successor?: Successor;
  /** Another CustomDomain of the tenant names the hostname, and may still become its owner. */
  isAwaited?: boolean;
  /** Why its routes or its certificate could not be written. */
  writeError?: WriteError;
  /** Why its claim could not be written. */
  claimError?: WriteError;
  /** Results of the newest edge probe, for the current addresses of the edge. */
  edge?: EdgeFinding[];
  edgeLookedAt?: number;
  /** The newest edge probe is older than a current address of the edge. */
  edgeIncomplete?: true;
  /** The edge probes before the newest one, newest last, while they are to confirm a fault. */
  edgeEarlier?: readonly EdgeProbe[];
}

/** The complete input of a decision. */
export interface World {
  now: number;
  domain: CustomDomain;
  project: Project | undefined;
  /** The CustomDomain that has the Project: the first one that names it, which may be this CustomDomain. */
  first: Pick<CustomDomain, 'metadata'>;
  tenant: Tenant;
  policy: Policy;
  facts: ReadonlyMap<Hostname, HostFacts>;
  /** The existing claims, of any owner. */
  claims: ReadonlyMap<Hostname, DomainClaim>;
  /** The state of the edge's addresses; undefined before the first sample. */
  edge?: EdgeState;
  /** Room for the CustomDomain's hostnames that wait for verification. Undefined: no limit. */
  waiting?: WaitingRoom | undefined;
  /** When this process began to decide, ms since the epoch. For a standby: when it became the leader. */
  startedAt: number;
  /** A requested check (Verify, Re-verify) without an answer so far: the annotation's value, and the time when it was first seen. */
  request?: {value: string; seenAt: number};
}

/** A world with the published status by hostname. */
export interface DecisionWorld extends World {
  published: PublishedHosts;
}

/** Of an edge probe of a Live hostname. `confirms`: earlier results are kept, because together they confirm a fault. */
export interface WatchedLeaf extends Pick<CertificateFacts, 'leafSha256' | 'notAfter'> {
  confirms: boolean;
}

/** The largest share of its delay by which an observation may be early, so that many hostnames do not stay in step. None is late. */
export const jitter = 0.2;

/**
 * An observation that is due: a DNS check (of our records, or of the current owner's), an edge probe, or a read of cert-manager's
 * messages about an attempt. At Infinity, known results are kept and nothing is queried.
 */
export type Look = {hostname: Hostname; at: number} &
  /**
   * `caa`: includes the CAA records, because an order would follow. `rival`: checks the current owner's records. `owned`: the tenant owns
   * the hostname.
   */
  (
    | {what: 'dns'; question: Question; caa?: boolean; rival?: true; owned?: true}
    /** `whoAnswers`: the probe also finds out whether our redirector answers. */
    | {
        what: 'edge';
        whoAnswers: boolean;
        watches?: WatchedLeaf;
        question?: undefined;
        caa?: undefined;
        owned?: undefined;
      }
    | {
        what: 'issuance';
        attempt: {id: string; namespace: string; request: string};
        question?: undefined;
        caa?: undefined;
        owned?: undefined;
      }
  );

/**
 * Another attempt at a certificate, because a user requested it: Re-verify while the last attempt is stalled or has failed, or a reissue.
 * The newest CertificateRequest is deleted, and with it Order and Challenge; a reissue keeps one that was issued. If cert-manager is no
 * longer issuing, the Certificate is marked for issuance, as with `cmctl renew`. The mark alone is not enough: a request that failed in the
 * same second counts as the answer (cert-manager: requestmanager, deleteCurrentFailedRequests).
 */
export interface FreshAttempt {
  certificate: {namespace: string; name: string};
  request?: {namespace: string; name: string; uid: string};
  mark: boolean;
}

/** The desired state. */
export interface Decision {
  status: CustomDomainStatus;
  /** Hostnames whose entry is transient: the next state is expected soon. */
  passing: Hostname[];
  /**
   * Claims to write before anything else; then the CustomDomain is decided again. A hostname is won only when the API server accepts the
   * claim.
   */
  claims: ClaimWrite[];
  certificates: Certificate[];
  /** The retained ones among `certificates` (`namespace/name`), which are used again instead of created. */
  returning: string[];
  /** Hostnames whose verification or acceptance has ended: their Certificates are deleted, not retained. */
  forfeited: Hostname[];
  /** Hostnames that belong to another CustomDomain of the tenant, which does not serve them yet: their objects stay as they are. */
  handingOver: Hostname[];
  routes: Route[];
  freshAttempts: FreshAttempt[];
  /** Order requests, including those under way. */
  orderRequests: OrderRequest[];
  /** The observations that the next decision waits for. */
  looks: Look[];
  /** When to decide again without an event, ms since the epoch. */
  wakeAt?: number;
}
