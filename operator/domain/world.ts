/** Inputs and result of a decision about a CustomDomain: plain data. */

import type {CustomDomainStatus} from '../api/custom-domain.ts';
import type {Certificate, CustomDomain, DomainClaim, IssuerRef, Project} from '../api/foreign.ts';
import type {Budgets, OrderGrant, Order} from './budget.ts';
import type {CertificateFacts, PrivateKey} from './certificate.ts';
import type {ClaimWrite} from './claim-write.ts';
import type {Diagnosis} from './diagnosis.ts';
import type {Hostname} from './hostname.ts';
import type {OrderWish} from './issuance.ts';
import type {Obstacle} from './obstacle.ts';
import type {Edge, Verdict} from './proofs/proof.ts';
import type {Question} from './records.ts';
import type {RedirectorService, Route, StandingRoutes, Use} from './routes.ts';
import type {Tenant} from './tenant.ts';

/** The platform's settings that decisions need. All times are in milliseconds. */
export interface Policy extends Edge {
  installation: string;
  zone: Hostname;
  tls: 'Wildcard' | 'PerProject';
  issuerRef: IssuerRef;
  ingressClassName: string;
  redirector: RedirectorService;
  /** The CA's names in CAA records; empty: nobody knows them, CAA is not looked at. */
  caaIdentities: readonly Hostname[];
  deniedNames: readonly Hostname[];
  waitSchedule: readonly {everyMs: number; forMs: number}[];
  recheckIntervalMs: number;
  /** Rule 3: times after the first negative at which it must be seen again. */
  driftConfirmationsMs: readonly number[];
  /** The same pauses for a hostname that another tenant has verified. */
  takeoverConfirmationsMs: readonly number[];
  quarantineTimeMs: number;
  /** Whether the edge's addresses verify an apex. Only for platforms with a single tenant. */
  addressOnly: boolean;
  propagationTimeMs: number;
  verificationExpiresAfterMs: number;
  issuanceStalledAfterMs: number;
  budgets: Budgets;
  graceTimeMs: number;
  defaultPlan: string;
}

/** The result of an edge probe of one address for a hostname: a leaf, or nothing. */
export interface EdgeFinding {
  edge: {address: string; port: number};
  leafSha256?: string;
  subjectAltNames?: string;
  /** RFC 3339, whole seconds, as in a Certificate's status. */
  notAfter?: string;
  unreachable?: string;
  /** Where that was asked: our redirector answered. */
  redirector?: boolean;
}

/** Checks of a hostname for its tenant of late, by whatever object. */
export interface EarlierChecks {
  /** The first of them. */
  since: number;
  last: number;
  /** How many of them were the first check of an object or of an entry in its spec, after checks of another object. */
  anew: number;
}

/** The facts about one hostname. */
export interface HostFacts {
  /** The newest verdict of this process; undefined before the first check. */
  verdict?: Verdict;
  /** When it was made, ms since the epoch. */
  checkedAt?: number;
  /** When its DNS was asked of late for this tenant, by whatever object. */
  earlier?: EarlierChecks;
  certificate?: CertificateFacts;
  /** Names of its Certificates that have rested and kept the names that a former owner gave them. */
  certificateNames?: Partial<Record<Use, string>>;
  /** The keys that its Certificates were taken over with. */
  privateKeys?: Partial<Record<Use, PrivateKey>>;
  /** Its orders of the last days, by time, as far as this process knows. */
  orders?: readonly Order[];
  /** The answer to its order request. */
  grant?: OrderGrant;
  /** cert-manager's objects for an attempt that makes no progress. */
  diagnosis?: Diagnosis;
  /** When that was read, ms since the epoch. */
  diagnosedAt?: number;
  /** Its claim is another's: what proves that one's right, and what DNS has said of it, newest last. */
  rival?: {question: Question; looks: readonly {verdict: Verdict; at: number}[]};
  /** What stands of its routes. */
  standing?: Partial<Record<Use, StandingRoutes>>;
  /** A route of another's stands for it still. */
  occupied?: boolean;
  /** Why its routes or its certificate could not be written. */
  obstacle?: Obstacle;
  /** Why its claim could not be written. */
  claimError?: Obstacle;
  /** The newest look at the edge. */
  edge?: EdgeFinding[];
  edgeLookedAt?: number;
}

/** Everything that a decision depends on. */
export interface World {
  now: number;
  domain: CustomDomain;
  project: Project | undefined;
  /** The first of the CustomDomains that name the same Project: this object, or the owner of the Project. */
  first: Pick<CustomDomain, 'metadata'>;
  tenant: Tenant;
  policy: Policy;
  facts: ReadonlyMap<Hostname, HostFacts>;
  /** The claims that there are, whoever holds them. */
  claims: ReadonlyMap<Hostname, DomainClaim>;
  /** When this process began to decide, ms since the epoch: a standby, when it began to lead. */
  startedAt: number;
  /** A check that was asked for (Verify, Re-verify) and is not answered yet: the annotation's value, and when it was first seen. */
  request?: {value: string; seenAt: number};
}

/**
 * A look at the world that is due: a DNS check (of what proves our right, or the present holder's), a probe of the edge, or what
 * cert-manager says of an attempt. At Infinity: what is known is needed still, and nothing is asked.
 */
export type Look = {hostname: Hostname; at: number} &
  /** `caa`: with its CAA records, because an order would follow. `rival`: whether the present holder's right stands. */
  (
    | {what: 'dns'; question: Question; caa?: boolean; rival?: true}
    /** `whoAnswers`: whether that is our redirector is asked, too. */
    | {what: 'edge'; whoAnswers: boolean; question?: undefined; caa?: undefined}
    | {
        what: 'issuance';
        attempt: {id: string; namespace: string; request: string};
        question?: undefined;
        caa?: undefined;
      }
  );

/**
 * Another attempt at a certificate, requested through Re-verify while the issuance makes no progress or has failed: the newest
 * CertificateRequest is deleted, with its Order and Challenge. If cert-manager has stopped, the Certificate is also marked for issuance, as
 * `cmctl renew` does. The mark alone is not enough: a request that failed in the same second counts as the answer (cert-manager:
 * requestmanager, deleteCurrentFailedRequests).
 */
export interface FreshAttempt {
  certificate: {namespace: string; name: string};
  request?: {namespace: string; name: string; uid: string};
  mark: boolean;
}

/** What should be. */
export interface Decision {
  status: CustomDomainStatus;
  /** Hostnames whose entry is of a moment: what follows is on its way. */
  passing: Hostname[];
  /** To be written before anything else, and then decided anew: nothing is won before the API server says so. */
  claims: ClaimWrite[];
  certificates: Certificate[];
  /** Retained Certificates (`namespace/name`) that are used again instead of being created. */
  returning: string[];
  /** Hostnames whose proof or acceptance is over: their Certificates go and do not rest. */
  forfeited: Hostname[];
  routes: Route[];
  freshAttempts: FreshAttempt[];
  /** Order requests, waiting or granted. */
  wishes: OrderWish[];
  /** The looks that the next decision waits for. */
  looks: Look[];
  /** When to decide again although nothing has happened, ms since the epoch. */
  wakeAt?: number;
}
