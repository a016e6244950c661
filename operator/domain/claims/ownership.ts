/** Ownership of a hostname, from its claim and the current DNS records. */

import type {DomainClaim} from '../../api/foreign.ts';
import type {Order} from '../certificates/budget.ts';
import {mergeOrders, toRemember} from '../certificates/budget.ts';
import type {CertificateFacts} from '../certificates/certificate.ts';
import type {ClaimWrite} from './claim-write.ts';
import {correctTimes} from './claim-write.ts';
import type {ClaimState} from './claim.ts';
import {claimStateOf, tokenFor} from './claim.ts';
import type {Drift} from './drift.ts';
import {driftOf, isHidden} from './drift.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import {within} from '../hostnames/hostname.ts';
import {failureOf} from '../certificates/issuance.ts';
import type {Verdict} from '../verification/method.ts';
import type {Question} from '../verification/records.ts';
import type {Verification} from './verification.ts';
import {recordVerification, verificationOf} from './verification.ts';
import type {HostFacts, World} from '../world.ts';

export interface Ownership {
  claim: DomainClaim | undefined;
  /** Claims to write. */
  claims: ClaimWrite[];
  standing: ClaimState;
  /** The platform's own claim counts as the verification. */
  byPlatform: boolean;
  /** All orders of the hostname, as far as they are known. */
  orders: readonly Order[];
  /** The claim's record of a verification that DNS no longer confirms. */
  drift: Drift | undefined;
  /** The hostname was verified before, and the verification is still valid. */
  verified: boolean;
  /** The verification that the claim records, once `claims` are written. */
  verification: Verification;
  /** The verification is valid although a CDN hides the records now. */
  hidden: boolean;
  /** DNS has ended the verification. A new verification is awaited. */
  lost: boolean;
  /** End of the grace period in which the hostname is still served, ms since the epoch. */
  servedUntil?: number;
}

/** The records that DNS must have for a hostname to be this tenant's. */
export const questionOf = (
  {policy, tenant}: Pick<World, 'policy' | 'tenant'>,
  hostname: Hostname,
  target: Hostname,
  claim: DomainClaim | undefined,
): Question => ({
  hostname,
  target,
  token: tokenFor(policy.installation, tenant, hostname, claim),
});

export function ownershipOf(
  world: World,
  hostname: Hostname,
  facts: HostFacts,
  reported: Verification & {liveAt?: string},
): Ownership {
  const {now, policy} = world;
  let {verifiedAt} = reported;
  const {verdict, checkedAt} = facts;
  const claims: ClaimWrite[] = [];
  const {claim, correction} = claimOf(world, hostname);
  const orders = knownOrders(world, facts, claim);
  // Verification wins no hostname before the claim is written. A hostname that another owner has taken over is lost at once.
  const standing = claimStateOf({
    now,
    installation: policy.installation,
    hostname,
    holder: world.domain,
    tenant: world.tenant,
    claim,
    verdict,
    checkedAt,
    orders,
    verified: verifiedAt !== undefined,
    reported,
    isLetGo: facts.rival?.isLetGo ?? false,
    rival: facts.rival?.looks ?? [],
    takeoverConfirmationsMs: policy.takeoverConfirmationsMs,
  });
  if (standing.kind === 'Winning') claims.push(standing.write);
  const byPlatform = standing.kind === 'Held' && standing.byPlatform;
  if (standing.kind === 'Claimed' || standing.kind === 'Unproven') verifiedAt = undefined;

  // Drift: a verification is valid until an authoritative negative is confirmed (rule 3).
  const hides = verifiedAt !== undefined && isHidden(verdict, claim?.status?.verifiedBy);
  const drift =
    standing.kind === 'Held' && claim && !byPlatform && (verifiedAt !== undefined || verdict?.kind === 'Proven')
      ? driftOf(claim, verdict, checkedAt, policy.driftConfirmationsMs, hides)
      : undefined;
  if (standing.kind === 'Held' && claim) {
    const recorded = recordVerification(claim, facts, {write: drift?.write, reportedAt: verifiedAt});
    claims.push(...(recorded ? [recorded] : rememberOrders(claim, orders, facts.certificate)));
  }
  const ends = drift?.confirmed ? driftEnds(world, claim, verdict, reported.liveAt) : undefined;
  const lost = ends !== undefined && now >= ends;
  return {
    claim,
    claims: correction && claims.length === 0 ? [correction] : claims,
    standing,
    byPlatform,
    orders,
    drift,
    lost,
    verified: verifiedAt !== undefined && !lost,
    verification: verificationOf(undefined, undefined, (claims[0] ?? claim)?.status),
    hidden: hides && drift?.confirmed === false,
    ...(ends !== undefined && !lost && {servedUntil: ends}),
  };
}

/** The claim of a hostname with possible times, and the write that corrects it. Every other write of the claim includes the correction. */
function claimOf({claims, now, policy}: World, hostname: Hostname): {claim?: DomainClaim; correction?: ClaimWrite} {
  const claim = claims.get(hostname);
  const correction = correctTimes(claim, now, policy);
  if (!claim || !correction) return claim ? {claim} : {};
  return {claim: {...claim, status: correction.status}, correction};
}

/** Merges the orders that the hostname's claim records with the orders that its objects show. */
function knownOrders(
  {now, policy}: World,
  {orders = [], certificate, diagnosis}: HostFacts,
  claim: DomainClaim | undefined,
): readonly Order[] {
  const failure = certificate && diagnosis && failureOf(certificate, diagnosis);
  return mergeOrders(claim?.status?.orders ?? [], [...orders, failure ?? []].flat(), policy.orderMemoryMs, now);
}

/** Records orders that no CertificateRequest shows any more. This write comes before all actions that depend on it. */
function rememberOrders(
  claim: DomainClaim,
  orders: readonly Order[],
  certificate: CertificateFacts | undefined,
): ClaimWrite[] {
  const {spec, status, metadata} = claim;
  const remembered = toRemember(orders, status?.orders ?? [], certificate);
  if (!remembered) return [];
  return [{hostname: metadata.name, before: claim, spec, status: {generation: 0, ...status, orders: remembered}}];
}

/**
 * Time until which a Live hostname is served after its negative is confirmed, ms since the epoch. The grace period begins with the
 * confirmation. It is zero if DNS now names another Project here.
 */
function driftEnds(
  {now, policy}: World,
  claim: DomainClaim | undefined,
  verdict: Verdict | undefined,
  liveAt: string | undefined,
): number {
  if (liveAt === undefined) return now;
  if (
    verdict?.kind === 'Refuted' &&
    verdict.observed.some((o) => o.startsWith('CNAME ') && within(o.slice('CNAME '.length), policy.zone))
  )
    return now;
  const confirmedAt = claim?.status?.negativeAt;
  return (confirmedAt === undefined ? now : Date.parse(confirmedAt)) + policy.graceTimeMs;
}
