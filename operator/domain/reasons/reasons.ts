/** All reasons that a status can have, each as one row in a file of reasons/. docs/reference/reasons.md is generated from these rows. */
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
}
