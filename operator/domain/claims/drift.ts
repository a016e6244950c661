/** How long a verification counts after DNS no longer confirms it (rule 3). */

import type {DomainClaimStatus} from '../../api/domain-claim.ts';
import type {DomainClaim} from '../../api/foreign.ts';
import type {ClaimWrite} from './claim-write.ts';
import type {Verdict} from '../verification/method.ts';
import {denies} from '../verification/method.ts';
import type {Proof} from '../verification/records.ts';
import {timestamp} from '../times.ts';

/** The claim's record of a verification that DNS no longer confirms (rule 3). */
export interface Drift {
  /** The record has changed and must be written to the claim. */
  write?: ClaimWrite;
  /** All confirmations are complete. */
  confirmed: boolean;
  /** Time of the next check, ms since the epoch; undefined: by the usual schedule. */
  nextLook?: number;
}

/** Delay before a doubt is checked again after an inconclusive DNS check, ms. */
export const doubtMs = 60_000;

/**
 * Whether a CDN may hide the records that verified a hostname: a CNAME or addresses. A CDN hides no TXT. The method is undefined in a claim
 * of an earlier release until a check verifies the hostname again; its records may be hidden.
 */
export const isHidden = (verdict: Verdict | undefined, verifiedBy: Proof | undefined): boolean =>
  verdict?.kind === 'Refuted' && verdict.behind !== undefined && verifiedBy !== 'TXT';

/**
 * Drift of an owned hostname: the first authoritative negative, then one confirmation after each time of `afterMs` since that negative. A
 * positive answer ends the drift. `hidden`: a CDN hides the records ({@link isHidden}). This is not a negative, and after the last
 * confirmation it is not a positive answer either. The claim has the times, so a restart loses none.
 */
export function driftOf(
  claim: DomainClaim,
  verdict: Verdict | undefined,
  checkedAt: number | undefined,
  afterMs: readonly number[],
  hidden = false,
): Drift {
  const {
    status = {generation: 0},
    spec,
    metadata: {name: hostname},
  } = claim;
  const {negativeSince, negativeAt, negatives: counted = 0, ...rest} = status;
  const write = (change: Partial<DomainClaimStatus>): ClaimWrite => ({
    hostname,
    before: claim,
    spec,
    status: {...rest, ...change},
  });
  const since = negativeSince === undefined ? undefined : Date.parse(negativeSince);
  const confirmed = since !== undefined && counted >= afterMs.length;
  if (verdict === undefined || checkedAt === undefined)
    return {confirmed, ...(since !== undefined && !confirmed && {nextLook: since + (afterMs[counted] ?? 0)})};
  if (verdict.kind === 'Proven' || (hidden && !confirmed))
    return since === undefined ? {confirmed: false} : {confirmed: false, write: write({})};
  if (!denies(verdict)) return {confirmed, ...(since !== undefined && {nextLook: checkedAt + doubtMs})};
  const at = timestamp(checkedAt);
  if (since === undefined) {
    return {
      confirmed: afterMs.length === 0,
      write: write({negativeSince: at, negativeAt: at, negatives: 0}),
      nextLook: checkedAt + (afterMs[0] ?? doubtMs),
    };
  }
  if (confirmed) return {confirmed};
  const due = since + (afterMs[counted] ?? 0);
  // Each check counts once, even if several decisions use it.
  if (checkedAt < due || at === negativeAt) return {confirmed, nextLook: Math.max(due, checkedAt + 1000)};
  const now = counted + 1;
  return {
    confirmed: now >= afterMs.length,
    write: write({negativeSince, negativeAt: at, negatives: now}),
    ...(now < afterMs.length && {nextLook: Math.max(since + (afterMs[now] ?? 0), checkedAt + 1000)}),
  };
}
