/** The meaning of each phase for the conditions of a hostname. A new phase does not compile until it has a row here. */
import type {Phase} from '../../api/custom-domain.ts';

export interface PhaseRow {
  /** The hostname may be attached. */
  isAccepted: boolean;
  /** The hostname is verified as its tenant's. */
  isVerified: boolean;
  /** An edge probe has seen the edge serve or redirect the hostname. */
  isLive: boolean;
}

export const phaseRows: Record<Phase, PhaseRow> = {
  NotAccepted: {isAccepted: false, isVerified: false, isLive: false},
  AwaitingVerification: {isAccepted: true, isVerified: false, isLive: false},
  Verified: {isAccepted: true, isVerified: true, isLive: false},
  Live: {isAccepted: true, isVerified: true, isLive: true},
  Removing: {isAccepted: true, isVerified: false, isLive: false},
};
