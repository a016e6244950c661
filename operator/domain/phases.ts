/** What each phase of a hostname means for its conditions: a new phase does not compile until its row is here. */
import type {Phase} from '../api/custom-domain.ts';

export interface PhaseRow {
  /** It may be attached. */
  isAccepted: boolean;
  /** It is proven to be its tenant's. */
  isProven: boolean;
  /** It is seen to serve or to redirect. */
  isLive: boolean;
}

export const phaseRows: Record<Phase, PhaseRow> = {
  NotAccepted: {isAccepted: false, isProven: false, isLive: false},
  AwaitingVerification: {isAccepted: true, isProven: false, isLive: false},
  Verified: {isAccepted: true, isProven: true, isLive: false},
  Live: {isAccepted: true, isProven: true, isLive: true},
  Removing: {isAccepted: true, isProven: false, isLive: false},
};
