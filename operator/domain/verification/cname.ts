/** A CNAME to exactly the Project's host. A chain that ends there proves nothing about who set it. */

import {shown, within} from '../hostnames/hostname.ts';
import type {Case, VerificationMethod} from './method.ts';
import {bounded, refuted, wildcardWords} from './method.ts';
import {inZone, ttl} from './records.ts';
import {printable} from '../text.ts';

export const cname: VerificationMethod = {
  records: (question, place) => [{type: 'CNAME', ...inZone(question.hostname, place), ttl, value: question.target}],

  judge(c, found) {
    const {target} = c.question;
    const [first] = found.cname;
    if (first === undefined) return undefined;
    if (found.cname.length === 1 && first === target) return {kind: 'Proven', by: 'CNAME', ...c.place};
    const seen = {state: 'Wrong', observed: bounded(found.cname.map((to) => `CNAME ${printable(to)}`))} as const;
    const isIndirect = found.chain.includes(target) && !hasZoneAppended(c, first);
    const reason = isIndirect ? 'IndirectCNAME' : 'TargetMismatch';
    return refuted(c, reason, seen, wrongTarget(c, first, isIndirect), found.ttlSeconds);
  },
};

/** Forms of DNS providers read a value without a dot at its end as relative to the zone (RFC 1035, 5.1). */
const hasZoneAppended = ({question: {hostname, target}}: Case, to: string) =>
  to.startsWith(`${target}.`) && within(hostname, to.slice(target.length + 1));

function wrongTarget(c: Case, to: string, isIndirect: boolean): string {
  const {question, wildcard, wanted} = c;
  const {by, instead} = wildcardWords(c);
  const is = `${shown(question.hostname)} is a CNAME to ${printable(to)}${by}`;
  if (hasZoneAppended(c, to)) {
    return (
      `${is}: the DNS provider has put the zone behind the value. ` +
      `Write it with a dot at its end, ${question.target}., so that it is: ${wanted}.`
    );
  }
  if (isIndirect) {
    const verb = wildcard ? 'create' : 'change it to';
    return `${is}, which leads on to the host. Point it straight there: ${verb} ${wanted}${instead}.`;
  }
  return `${is}. ${wildcard ? 'Create' : 'Change it to'} ${wanted}${instead}.`;
}
