import type {Party} from '../../api/custom-domain.ts';
import type {ReasonHealth} from '../status/health.ts';

/** As the body of a customer's texts: the page shows the message of the condition. */
export const message = Symbol('message');

// Texts that several reasons share.
export const nothingToDo = 'You do not need to do anything.';
export const contactSupport = 'You do not need to change anything. Contact support if this lasts.';
/** The message names the actor, which may be the customer or another party. */
export const ownStep =
  'If the text above names a step for you, follow it and press Re-verify. Otherwise contact support.';
export const foundSoon = 'Saved records are usually found within a few minutes.';
export const takesEffectSoon = 'The change usually takes effect within a minute.';

/** Texts about a reason for a customer without technical knowledge. All but the title are whole sentences. */
export interface CustomerTexts {
  /** The state of the hostname, in a few words. Titles are unique among reasons. */
  title: string;
  /** The meaning of the state for the customer or the visitors. */
  body: string | typeof message;
  /** The next step of the customer, or that no step is needed. */
  next: string;
  /** The usual time until the state ends, after the customer's step if there is one. Empty if no usual time is known. */
  howLong: string;
  /** The color of the state on the page, if the phase and the actor do not determine it. */
  tone?: 'bad' | 'wait';
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
  customer: CustomerTexts;
}
