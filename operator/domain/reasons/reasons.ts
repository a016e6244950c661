/**
 * The table of status reasons. Each reason is one row. Its texts for customers are in texts/, which the decisions about a hostname do
 * not import. docs/reference/reasons.md is generated from both.
 */
import type {HostDetails} from '../../api/custom-domain.ts';
import {acceptanceReasons} from './acceptance.ts';
import {certificateReasons} from './certificate.ts';
import {otherReasons} from './others.ts';
import {proofReasons} from './proof.ts';
import type {Reason} from './reason.ts';
import {servingReasons} from './serving.ts';

const table = {...acceptanceReasons, ...proofReasons, ...certificateReasons, ...servingReasons, ...otherReasons};

export type ReasonName = keyof typeof table;

export const reasons: Readonly<Record<ReasonName, Reason>> = table;

/** The row of a reason that was read from a status; undefined if another release wrote the reason. */
export const reasonOf = (name: string): Reason | undefined =>
  Object.hasOwn(reasons, name) ? reasons[name as ReasonName] : undefined;

/** Why an object or a hostname is not accepted. */
export interface Refusal {
  reason: ReasonName;
  message: string;
  details?: HostDetails | undefined;
}
