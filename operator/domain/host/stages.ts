/**
 * The stages of one hostname. Each stage has the members of the stage before it, plus members that are valid from there on. A step that
 * needs a verified hostname therefore cannot be called without one (rule 1).
 *
 *   Host -- accept --> Accepted -- own --> Owned -- prove --> Proven -- plan --> Planned
 */

import type {DnsRecordStatus, HostStatus, ZoneStatus} from '../../api/custom-domain.ts';
import type {IssuerRef, Project} from '../../api/foreign.ts';
import type {ClaimWrite} from '../claims/claim-write.ts';
import type {EdgeWatch} from '../routes/edge-watch.ts';
import type {Routing} from '../routes/hand-over.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import type {WantedHost} from '../hostnames/hosts.ts';
import type {IssuanceStep, IssuanceWorld} from '../certificates/issuance.ts';
import type {Ownership} from '../claims/ownership.ts';
import type {ProvenBy, Refuted} from '../verification/method.ts';
import type {Refusal} from '../reasons/reasons.ts';
import type {Proof, Question} from '../verification/records.ts';
import type {DecisionWorld, HostFacts} from '../world.ts';

/** One hostname of the spec with its facts. It knows only whether the primary is Live (rule 2). */
export interface Host {
  world: DecisionWorld;
  want: WantedHost;
  hostname: Hostname;
  role: HostStatus['role'];
  facts: HostFacts;
  before: HostStatus | undefined;
  primary: {hostname: Hostname; live: boolean};
  /** Somebody has asked for a check that has not been made yet. */
  asked: boolean;
}

/**
 * A refused hostname that is still served, because it was verified before. `ends`: end of the grace period, ms since the epoch; undefined
 * while the refusal is uncertain.
 */
export interface Spared {
  refusal: Refusal;
  /** RFC 3339. */
  refusedFrom: string;
  ends?: number;
}

/** It may be attached. */
export interface Accepted extends Host {
  project: Project;
  /** The Project's host. */
  target: Hostname;
  spared?: Spared;
}

/** Members that status keeps for a hostname in every state. Times are RFC 3339. */
export interface RetainedStatus {
  addedAt?: string;
  verifiedAt?: string;
  /** The method of the newest DNS check that verified the hostname. */
  verifiedBy?: Proof;
  liveAt?: string;
  servedUntil?: string;
  refusedFrom?: string;
  zone?: ZoneStatus;
  redirect?: HostStatus['redirect'];
  records: DnsRecordStatus[];
  /** The refusal of a hostname that is still served. */
  refusal?: Refusal;
  /** It is served on although DNS proves it no longer. */
  drifted: boolean;
  claims: ClaimWrite[];
  /** When something ends that it has, ms since the epoch. */
  ends: number[];
}

/** The hostname's owner is known from its claim and from DNS. */
export interface Owned extends Accepted, RetainedStatus {
  addedAt: string;
  ownership: Ownership;
  question: Question;
  isVerified: boolean;
  /** The newest check, where it proves the hostname, or where a CDN hides what proved it. */
  upheld?: ProvenBy | Refuted;
  /** Set if another CustomDomain of the tenant owns the hostname. Until it is over, the existing objects stay. */
  succession?: {isOver: true} | {isOver: false; wakeAt: number};
}

/** The platform has set another issuer; `from` is the one that a Certificate stays with for now, `step` what it waits for. */
export interface Move {
  from: IssuerRef;
  step?: IssuanceStep;
  readsCaa: boolean;
}

/** A requested new certificate. `said`: what a Live hostname's message adds about it. */
export interface Reissue {
  said: string;
  /** The obstacle or the order request. */
  step?: Pick<IssuanceStep, 'orderRequest' | 'wakeAt'>;
  /** The attempt begins now. */
  begins?: true;
  readsCaa: boolean;
}

/** The hostname is verified for this tenant. From here on it may have a Certificate, an order and routes. */
export interface Proven extends Owned {
  verifiedAt: string;
  wasLive: boolean;
  /** Not acceptable, and never Live before: nothing new is ordered, nothing that it has is lost. */
  onHold: boolean;
  /** Whether it is becoming the primary or ceasing to be it. The old objects stay until the new ones work. */
  changing: boolean;
  issuance: IssuanceWorld;
  move?: Move;
  reissue?: Reissue;
}

/** With the objects that it needs. */
export interface PlannedHost extends Proven {
  routing: Routing;
  /** The routing of its former role during a change. */
  former: Routing;
  /** When the edge has surely taken in what it becomes, ms since the epoch. */
  settlesAt?: number;
  /** A redirect source that was the primary: it serves until its redirect stands. */
  servesStill: boolean;
  /** The edge probes of a Live hostname, and the fault that they have confirmed. */
  edge?: EdgeWatch;
}
