import type {Party} from '../../api/custom-domain.ts';
import type {ReasonHealth} from '../status/health.ts';

/**
 * Texts about a reason for a customer without technical knowledge. Each is a template (template.ts) with parameters (parameters.ts). All
 * but the title are whole sentences.
 */
export interface CustomerTexts {
  /** The state of the domain, in a few words, without parameters. Titles are unique among reasons. */
  title: string;
  /** The meaning of the state for the customer or the visitors. */
  body: string;
  /** The next step of the customer, or that no step is needed. */
  next: string;
  /** The usual time until the state ends, after the customer's step if there is one. Empty if no usual time is known. */
  howLong: string;
}

/** A reason that a status may give: what it means, what to do, whose turn it is, and how tools that wait should take it. */
export interface Reason {
  means: string;
  remedy: string;
  waitingFor: Party;
  health: ReasonHealth;
  /** Grace after which a pending reason counts as stalled: see `edgeGraceMs`. Reasons that wait for DNS stall after `propagationTime`. */
  stalledAfter?: 'edgeGrace';
  /** As a refusal, what it leaves alone of a hostname that is proven (rule 8); always, where nobody knows whether it is refused. */
  sparesVerified?: 'ForGraceTime' | 'Always';
  /** The subject that several reasons describe in turn. */
  about?: 'Caa' | 'Budget' | 'Edge';
  /** Conditions that the reason sets, besides those of the phase. */
  conditions?: {Verified?: 'Unknown'; CertificateReady?: 'False'; RoutesReady?: 'False'};
  /** DNS has answered that something is not there, which resolvers may repeat for a time of its own (RFC 2308). */
  isNegativeAnswer?: true;
  /** The records that were seen may come of a wildcard. */
  mayBeWildcard?: true;
}
