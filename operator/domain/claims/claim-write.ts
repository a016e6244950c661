/** Writes of claims, and the correction of their times. */
import type {DomainClaimSpec, DomainClaimStatus} from '../../api/domain-claim.ts';
import type {DomainClaim} from '../../api/foreign.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import {pastTime, skewMs, timestamp} from '../times.ts';

/** A claim to write. `before` is undefined to create the claim; the creation fails if the claim exists. */
export interface ClaimWrite {
  hostname: Hostname;
  before: DomainClaim | undefined;
  spec: DomainClaimSpec;
  status: DomainClaimStatus;
}

/**
 * The write that corrects a claim's times; undefined if no time is impossible. Impossible times come from a process whose clock ran
 * ahead. A past event counts from now at the latest, and a quarantine ends at the latest when one that begins now would. A claim without a
 * former owner dates from its creation.
 *
 * The correction is written, because later decisions count from it: a check that verifies the hostname must come after the release.
 */
export function correctTimes(
  claim: DomainClaim | undefined,
  now: number,
  {quarantineTimeMs, orderMemoryMs}: {quarantineTimeMs: number; orderMemoryMs: number},
): ClaimWrite | undefined {
  if (!claim?.status) return undefined;
  const {spec, status, metadata} = claim;
  const latestEnd = now + Math.max(quarantineTimeMs, orderMemoryMs);
  const {since, quarantinedUntil, verifiedAt, negativeSince, negativeAt} = status;
  const bounded = (time: string | undefined) => pastTime(time, now);
  const created = status.generation === 0 ? pastTime(metadata.creationTimestamp, now) : undefined;
  const corrected = {
    since: bounded(since) === since ? since : (created ?? bounded(since)),
    quarantinedUntil:
      quarantinedUntil !== undefined && Date.parse(quarantinedUntil) > latestEnd + skewMs
        ? timestamp(latestEnd)
        : quarantinedUntil,
    verifiedAt: bounded(verifiedAt),
    negativeSince: bounded(negativeSince),
    negativeAt: bounded(negativeAt),
  };
  const changed = Object.entries(corrected).filter(([name, time]) => time !== status[name as keyof typeof corrected]);
  if (changed.length === 0) return undefined;
  return {hostname: metadata.name, before: claim, spec, status: {...status, ...Object.fromEntries(changed)}};
}
