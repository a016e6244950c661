/**
 * The stages of one hostname. Each has what the one before it has, and what holds only from there on, so that nothing that needs a
 * proof can be asked for without one (rule 1).
 *
 *   Host -- accept --> Accepted -- own --> Owned -- prove --> Proven -- plan --> Planned
 */

import type {DnsRecordStatus, HostStatus, ZoneStatus} from '../../api/custom-domain.ts';
import type {IssuerRef, Project} from '../../api/foreign.ts';
import type {ClaimWrite} from '../claim-write.ts';
import type {Routing} from '../hand-over.ts';
import type {Hostname} from '../hostname.ts';
import type {WantedHost} from '../hosts.ts';
import type {IssuanceStep, IssuanceWorld} from '../issuance.ts';
import type {Ownership} from '../ownership.ts';
import type {ProvenBy, Refuted} from '../proofs/proof.ts';
import type {Refusal} from '../reasons.ts';
import type {Question} from '../records.ts';
import type {HostFacts, World} from '../world.ts';

/** One hostname of the spec, and what is known of it. Of the primary it knows only whether that is Live (rule 2). */
export interface Host {
  world: World;
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
 * A hostname that is no longer acceptable and is served all the same, because it was proven before. `ends`: when that is over, ms
 * since the epoch; undefined where nobody knows whether it is refused.
 */
export interface Spared {
  refusal: Refusal;
  servedUntil: string;
  ends?: number;
}

/** It may be attached. */
export interface Accepted extends Host {
  project: Project;
  /** The Project's host. */
  target: Hostname;
  spared?: Spared;
}

/** What status keeps of a hostname, whatever is said of it. Times are RFC 3339. */
export interface RetainedStatus {
  addedAt?: string;
  verifiedAt?: string;
  liveAt?: string;
  servedUntil?: string;
  zone?: ZoneStatus;
  redirect?: HostStatus['redirect'];
  records: DnsRecordStatus[];
  /** What speaks against it, while it is spared. */
  refusal?: Refusal;
  /** It is served on although DNS proves it no longer. */
  drifted: boolean;
  claims: ClaimWrite[];
  /** When something ends that it has, ms since the epoch. */
  ends: number[];
}

/** Whose it is has been read from its claim and from DNS. */
export interface Owned extends Accepted, RetainedStatus {
  addedAt: string;
  ownership: Ownership;
  question: Question;
  isProven: boolean;
  /** The newest check, where it proves the hostname, or where a CDN hides what proved it. */
  upheld?: ProvenBy | Refuted;
}

/** The platform has set another issuer; `from` is the one that a Certificate stays with for now, `step` what it waits for. */
export interface Move {
  from: IssuerRef;
  step?: IssuanceStep;
  readsCaa: boolean;
}

/** It is proven to be this tenant's: from here on there may be a Certificate, an order and routes. */
export interface Proven extends Owned {
  verifiedAt: string;
  wasLive: boolean;
  /** Not acceptable, and never Live before: nothing new is ordered, nothing that it has is lost. */
  onHold: boolean;
  /** It is becoming the primary, or is it no longer: what it was stands until what it becomes does. */
  changing: boolean;
  issuance: IssuanceWorld;
  move?: Move;
}

/** With the objects that it needs. */
export interface PlannedHost extends Proven {
  routing: Routing;
  /** Those of its former role, while it is changing. */
  former: Routing;
  /** When the edge has surely taken in what it becomes, ms since the epoch. */
  settlesAt?: number;
  /** A redirect source that was the primary: it serves until its redirect stands. */
  servesStill: boolean;
}
