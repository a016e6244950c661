/** Exit codes of commands, so that scripts need not parse output. */
import type {Party} from '../api/custom-domain.ts';
import {type ReasonName, reasons} from '../domain/reasons/reasons.ts';

export const exitCodes = {Done: 0, Failed: 1, Usage: 2, Waiting: 3, Customer: 4, Platform: 5} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Meanings of exit codes beyond 0, 1 and 2. */ const meanings = {
  Waiting: 'Doorplate or the certificate authority is working; no action is required',
  Customer: 'the customer must act',
  Platform: 'the platform must act',
} as const;
export type SpecialEnd = keyof typeof meanings;

/** The exit codes of a command that reports a state by them, as --help lists them. `when`: the option that enables these codes. */
export const exitCodesHelp = (ends: readonly SpecialEnd[], when?: string): string =>
  [
    `Exit codes${when === undefined ? '' : ` with ${when}`}:`,
    '  0  everything is done',
    '  1  the request was refused, or the cluster is not reachable',
    '  2  the command line is invalid',
    ...ends.map((end) => `  ${exitCodes[end]}  ${meanings[end]}`),
  ].join('\n');

/** An object that may need an action: a hostname, a Project, a key. */
export interface ReportedObject {
  reason: string;
  waitingFor: Party;
}

/** Whether nothing is left to do. A reason of a newer Doorplate counts as something. */
const isDone = ({reason}: ReportedObject): boolean => reasons[reason as ReasonName]?.health === 'done';

export const exitCodeOf = (standing: ReportedObject): ExitCode => {
  if (isDone(standing)) return exitCodes.Done;
  const {waitingFor} = standing;
  return waitingFor === 'Customer' || waitingFor === 'Platform' ? exitCodes[waitingFor] : exitCodes.Waiting;
};

const gravest = [exitCodes.Customer, exitCodes.Platform, exitCodes.Waiting];

/** Of several: who runs the command is most often the customer, who should hear of what is theirs first. */
export function exitCodeOfAll(standings: readonly ReportedObject[]): ExitCode {
  const codes = new Set(standings.map(exitCodeOf));
  return gravest.find((code) => codes.has(code)) ?? exitCodes.Done;
}
