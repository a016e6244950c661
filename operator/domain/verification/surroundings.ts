/**
 * What a check asks for around a hostname: whether its records come of a wildcard, and which records of other types it has. An instruction
 * must not take these away without words (docs/explanation/never-asked.md).
 */
import type {ReasonName} from '../reasons/reasons.ts';
import {reasons} from '../reasons/reasons.ts';
import {cdnAt} from './cdns.ts';
import type {Observation, VerificationRules, Verdict} from './method.ts';

/** Whether random names are worth asking for; at a zone's apex a wildcard above has no effect (RFC 4592, 4.2). */
export const mayBeWildcard = (verdict: Verdict) =>
  verdict.kind === 'Refuted' && !verdict.apex && reasons[verdict.reason].mayBeWildcard === true;

/** Whether the instruction creates a CNAME at a name that exists: then records of other types there matter. */
export const mayHaveOtherTypes = (verdict: Verdict, seen: Observation) =>
  verdict.kind === 'Refuted' &&
  !verdict.apex &&
  verdict.wildcard === undefined &&
  beforeCname.has(verdict.reason) &&
  seen.findings.some(({failure, exists, cname}) => failure === undefined && exists === true && cname.length === 0);

const beforeCname = new Set<ReasonName>(['RecordMissing', 'ConflictingRecord', 'ProxiedOrFlattened']);

const recordsIn = ({findings, types = []}: Observation) =>
  new Set([...findings.flatMap((f) => [...f.cname, ...f.a, ...f.aaaa]), ...types]);

const cdnsIn = ({findings}: Observation, {cdns}: VerificationRules) =>
  new Set(findings.flatMap((found) => cdnAt(found, cdns)?.name ?? []));

/** Whether two names have a record in common, or are behind the same CDN, whose addresses change. */
export const areAlike = (one: Observation, other: Observation, rules: VerificationRules): boolean =>
  !recordsIn(one).isDisjointFrom(recordsIn(other)) || !cdnsIn(one, rules).isDisjointFrom(cdnsIn(other, rules));

/** The types of records that the answering servers report, sorted. */
export const typesIn = ({findings}: Observation): string[] =>
  [...new Set(findings.flatMap(({types = []}) => types))].toSorted();
