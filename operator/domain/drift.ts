/** How long a proof counts that DNS gives no longer (rule 3). */

import type {DomainClaimStatus} from '../api/domain-claim.ts';
import type {DomainClaim} from '../api/foreign.ts';
import type {ClaimWrite} from './claim-write.ts';
import type {Verdict} from './proofs/proof.ts';
import {denies} from './proofs/proof.ts';
import type {Proof} from './records.ts';
import {timestamp} from './times.ts';

/** The claim's record of a lost verification (rule 3). */
export interface Drift {
  /** Something about it has changed: to be written on the claim. */
  write?: ClaimWrite;
  /** Every confirmation has been had. */
  confirmed: boolean;
  /** When to look again, ms since the epoch; undefined: as ever. */
  nextLook?: number;
}

/** How long until a doubt that could not be asked about is looked into again. */
export const doubtMs = 60_000;

/** Whether a CDN hides what a hostname was proven by: a CNAME or addresses. It hides no TXT. */
export const isHidden = (verdict: Verdict | undefined, provenBy: Proof | undefined): boolean =>
  verdict?.kind === 'Refuted' && verdict.behind !== undefined && (provenBy === 'CNAME' || provenBy === 'Addresses');

/**
 * Drift of a held hostname: the first authoritative negative, then one confirmation after each of `afterMs` since it; a positive
 * answer ends it. `hidden`: a CDN hides the proof ({@link isHidden}); that is no negative, and once one is confirmed no positive answer.
 * Times stand on the claim, so a restart loses none.
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
  // A DNS check counts once, however many decisions use it.
  if (checkedAt < due || at === negativeAt) return {confirmed, nextLook: Math.max(due, checkedAt + 1000)};
  const now = counted + 1;
  return {
    confirmed: now >= afterMs.length,
    write: write({negativeSince, negativeAt: at, negatives: now}),
    ...(now < afterMs.length && {nextLook: Math.max(since + (afterMs[now] ?? 0), checkedAt + 1000)}),
  };
}
