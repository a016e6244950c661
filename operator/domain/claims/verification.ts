/** The record of a verification in a claim: the method of the newest DNS check that verified the hostname, and the verification's time. */

import type {DomainClaimStatus} from '../../api/domain-claim.ts';
import type {DomainClaim} from '../../api/foreign.ts';
import type {ClaimWrite} from './claim-write.ts';
import type {Verdict} from '../verification/method.ts';
import {timestamp} from '../times.ts';

export type Verification = Pick<DomainClaimStatus, 'verifiedBy' | 'verifiedAt'>;

/**
 * The verification after a check: with the check's own method if it verifies the hostname, otherwise as it was before. `checkedAt`: time of
 * the check, ms since the epoch.
 */
export function verificationOf(
  verdict: Verdict | undefined,
  checkedAt: number | undefined,
  {verifiedBy, verifiedAt}: Verification = {},
): Verification {
  const isVerified = verdict?.kind === 'Proven' && checkedAt !== undefined;
  const by = isVerified ? verdict.by : verifiedBy;
  const at = verifiedAt ?? (isVerified ? timestamp(checkedAt) : undefined);
  return {...(by !== undefined && {verifiedBy: by}), ...(at !== undefined && {verifiedAt: at})};
}

/**
 * The write that records a check's verification in the claim of an owned hostname. Undefined if the claim has the method already: a check
 * with the same answer changes nothing. `write`: another write to the claim; the verification is added to this write. `reportedAt`: time
 * of the verification in status; without one, the end of a drift (`write`) begins a new verification.
 */
export function recordVerification(
  claim: DomainClaim,
  {verdict, checkedAt}: {verdict?: Verdict | undefined; checkedAt?: number | undefined},
  {write, reportedAt}: {write: ClaimWrite | undefined; reportedAt: string | undefined},
): ClaimWrite | undefined {
  if (verdict?.kind !== 'Proven') return write;
  const {metadata, spec, status = {generation: 0}} = claim;
  if (!write && status.verifiedBy === verdict.by && status.verifiedAt !== undefined) return undefined;
  const verifiedAt = reportedAt ?? (write ? undefined : status.verifiedAt);
  const next = write ?? {hostname: metadata.name, before: claim, spec, status};
  const verification = verificationOf(verdict, checkedAt, verifiedAt === undefined ? {} : {verifiedAt});
  return {...next, status: {...next.status, ...verification}};
}
