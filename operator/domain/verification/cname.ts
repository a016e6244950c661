/** A CNAME to exactly the Project's host. A chain that ends there proves nothing about who set it. */

import {type Hostname, shown, within} from '../hostnames/hostname.ts';
import type {Case, Finding, VerificationMethod} from './method.ts';
import {bounded, refuted, replaceForAll, thenHere, wildcardWords} from './method.ts';
import {inZone, ttl} from './records.ts';
import {printable} from '../text.ts';

export const cname: VerificationMethod = {
  records: (question, place) => [{type: 'CNAME', ...inZone(question.hostname, place), ttl, value: question.target}],

  judge(c, found) {
    const {target} = c.question;
    const [first] = found.cname;
    if (first === undefined) return undefined;
    const made = madeOf(c, found);
    if (made) {
      const observed = bounded([`CNAME ${printable(first)}`]);
      const details = {place: printable(made.above)};
      return {
        ...refuted(c, 'SynthesizedCNAME', {state: 'Wrong', observed}, synthesized(c, first, made), found.ttlSeconds),
        details,
      };
    }
    if (found.cname.length === 1 && first === target) return {kind: 'Proven', by: 'CNAME', ...c.place};
    const seen = {state: 'Wrong', observed: bounded(found.cname.map((to) => `CNAME ${printable(to)}`))} as const;
    const isIndirect = found.chain.includes(target) && !hasZoneAppended(c, first);
    const reason = isIndirect ? 'IndirectCNAME' : 'TargetMismatch';
    const verdict = refuted(c, reason, seen, wrongTarget(c, first, isIndirect), found.ttlSeconds);
    return hasZoneAppended(c, first) ? {...verdict, details: {cause: 'ZoneAppended'}} : verdict;
  },
};

/**
 * The record above the name from which its server makes a CNAME for every name below. The customer created no CNAME for this name
 * (rule 3).
 */
function madeOf({question: {hostname}, madeUp}: Case, {dname}: Finding): {record: string; above: Hostname} | undefined {
  if (dname) return {record: `the DNAME record at ${printable(dname.name)}`, above: dname.name};
  const above = hostname.slice(hostname.indexOf('.') + 1);
  return madeUp ? {record: `the server of ${printable(above)}`, above} : undefined;
}

const synthesized = ({question, wanted}: Case, to: string, {record, above}: {record: string; above: Hostname}) =>
  `${shown(question.hostname)} is a CNAME to ${printable(to)} that ${record} creates for every name below it, so it does not verify ` +
  `this hostname. ${replaceForAll(above, wanted)}`;

/** Forms of DNS providers read a value without a dot at its end as relative to the zone (RFC 1035, 5.1). */
const hasZoneAppended = ({question: {hostname, target}}: Case, to: string) =>
  to.startsWith(`${target}.`) && within(hostname, to.slice(target.length + 1));

function wrongTarget(c: Case, to: string, isIndirect: boolean): string {
  const {question, wildcard, wanted} = c;
  const {by, instead} = wildcardWords(c);
  const is = `${shown(question.hostname)} is a CNAME to ${printable(to)}${by}`;
  if (hasZoneAppended(c, to)) {
    return (
      `${is}: the DNS provider has appended the zone to the value. ` +
      `End the value with a dot, ${question.target}., so that the record is: ${wanted}.`
    );
  }
  if (isIndirect) {
    const verb = wildcard !== undefined ? 'create' : 'change it to';
    return `${is}, which leads on to the default hostname. Point it there directly: ${verb} ${wanted}${instead}.`;
  }
  return `${is}. ${wildcard !== undefined ? 'Create' : 'Change it to'} ${wanted}${instead}${thenHere(printable(to))}.`;
}
