/** The meaning of each phase for a hostname's conditions. A new phase does not compile without a row. */
import type {Phase} from '../api/custom-domain.ts';

export interface PhaseRow {
  /** It may be attached. */
  isAccepted: boolean;
  /** Whether the hostname is verified for its tenant. */
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
