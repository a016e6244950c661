/**
 * The table of status reasons. Each reason is one row, with its texts for customers in English. docs/reference/reasons.md is
 * generated from these rows.
 */
import type {HostDetails} from '../../api/custom-domain.ts';
import type {Reason, ReasonRow} from './reason.ts';
import {type ReasonName, table} from './table.ts';
import {english} from './texts/en.ts';

export type {ReasonName};

const rows = Object.entries<ReasonRow>(table);
export const reasons = Object.fromEntries(
  rows.map(([name, row]) => [name, {...row, customer: english.texts[name as ReasonName]}]),
) as Readonly<Record<ReasonName, Reason>>;

/** The row of a reason that was read from a status; undefined if another release wrote the reason. */
export const reasonOf = (name: string): Reason | undefined =>
  Object.hasOwn(reasons, name) ? reasons[name as ReasonName] : undefined;

/** Why an object or a hostname is not accepted. */
export interface Refusal {
  reason: ReasonName;
  message: string;
  details?: HostDetails | undefined;
}
