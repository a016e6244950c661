/**
 * The steps by which a hostname is decided, in the manner of cert-manager's policies (internal/controller/certificates/policies): a
 * list is asked in its order, and the first step that answers ends it. A step may also ask for something (a look, an order, a time to
 * decide again) and leave the answer to the next ones; what was asked for on the way counts, whoever answers.
 */
import type {HostDetails, HostStatus, Party, Phase} from '../../api/custom-domain.ts';
import type {Routing} from '../routes/hand-over.ts';
import type {OrderRequest} from '../certificates/issuance.ts';
import type {ReasonName} from '../reasons/reasons.ts';
import type {FreshAttempt, Look} from '../world.ts';

/** The reported state of a hostname. `waitingFor`: the actor, if it differs from the reason's. */
export interface HostReport {
  phase: Phase;
  reason: ReasonName;
  message: string;
  details?: HostDetails | undefined;
  waitingFor?: Party;
}

/** What a step asks for. */
export interface Asks {
  looks?: readonly Look[];
  /** When to decide again, ms since the epoch. */
  wakeAt?: readonly number[];
  orderRequest?: OrderRequest;
  freshAttempt?: FreshAttempt;
  /** Whether the requested check is answered later. */
  unanswered?: true;
  /** The hostname still uses a certificate that a requested reissue replaces. */
  reissuing?: true;
  /** Its answer is of a moment: what follows is on its way. */
  passing?: true;
}

/** What a step comes to. `routing`: in place of the objects that the hostname needs otherwise. */
export interface Outcome extends Asks {
  answer?: HostReport;
  routing?: Routing;
}

export type Step<H> = (host: H) => Outcome | undefined;

export const say = (
  phase: Phase,
  {reason, message, details, waitingFor}: Omit<HostReport, 'phase'>,
): {answer: HostReport} => ({
  answer: {phase, reason, message, ...(details && {details}), ...(waitingFor && {waitingFor})},
});

/** Repeats the published report in the same words. After a restart it stays until more is known, so that status does not flap. */
export const sayAgain = ({phase, reason, message, details, waitingFor}: HostStatus): {answer: HostReport} =>
  say(phase, {reason: reason as ReasonName, message, details, waitingFor});

/** The outcomes of the steps up to the first that answers. Throws where none does. */
export function run<H>(steps: readonly Step<H>[], host: H): {answer: HostReport; outcomes: Outcome[]} {
  const outcomes: Outcome[] = [];
  for (const step of steps) {
    const outcome = step(host);
    if (!outcome) continue;
    outcomes.push(outcome);
    if (outcome.answer) return {answer: outcome.answer, outcomes};
  }
  throw new Error('no step answers');
}
