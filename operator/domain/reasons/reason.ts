import type {Party} from '../../api/custom-domain.ts';
import type {ReasonHealth} from '../health.ts';

/** A reason that a status may give: what it means, what to do, whose turn it is, and how tools that wait should take it. */
export interface Reason {
  means: string;
  remedy: string;
  waitingFor: Party;
  health: ReasonHealth;
  /** What is pending at first is stalled when it lasts longer: see `edgeGraceMs`. What is awaited is after `propagationTime`. */
  stalledAfter?: 'edgeGrace';
  /** As a refusal, what it leaves alone of a hostname that is proven (rule 8); always, where nobody knows whether it is refused. */
  sparesProven?: 'ForGraceTime' | 'Always';
  /** What it is about, where several reasons tell of one thing in turn. */
  about?: 'Caa' | 'Budget' | 'Edge';
  /** What it says of conditions, beside what the phase says. */
  conditions?: {Verified?: 'Unknown'; CertificateReady?: 'False'; RoutesReady?: 'False'};
  /** DNS has answered that something is not there, which resolvers may repeat for a time of its own (RFC 2308). */
  isNegativeAnswer?: true;
  /** The records that were seen may come of a wildcard. */
  mayBeWildcard?: true;
}
