/** The meaning of each phase for the conditions of a hostname. A new phase does not compile until it has a row here. */
import type {Phase} from '../../api/custom-domain.ts';

export interface PhaseRow {
  /** The hostname may be attached. */
  isAccepted: boolean;
  /** The hostname is verified as its tenant's. */
  isProven: boolean;
  /** An edge probe has seen the edge serve or redirect the hostname. */
  isLive: boolean;
}

export const phaseRows: Record<Phase, PhaseRow> = {
  NotAccepted: {isAccepted: false, isProven: false, isLive: false},
  AwaitingVerification: {isAccepted: true, isProven: false, isLive: false},
  Verified: {isAccepted: true, isProven: true, isLive: false},
  Live: {isAccepted: true, isProven: true, isLive: true},
  Removing: {isAccepted: true, isProven: false, isLive: false},
};
