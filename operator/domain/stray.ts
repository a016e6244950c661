/**
 * Records that stand under another name than they should: most DNS providers put the zone behind what is typed as a name, so a
 * hostname that is typed whole stands at `www.example.com.example.com`.
 */

import type {Hostname} from './hostname.ts';
import {recordName, shown} from './hostname.ts';
import type {Finding, Refuted, Verdict} from './proofs/proof.ts';
import {recordsFor} from './proofs/proofs.ts';
import type {Question} from './records.ts';
import {canProveByTxt, challengeName, txtRecord} from './records.ts';

/** Where a record may stand by mistake, and how to know it there. */
export interface Stray {
  name: Hostname;
  wanted: 'Host' | 'TXT';
  is: (found: Finding) => boolean;
  /** What belongs into the provider's field for the name. */
  typed: string;
}

/** Where else to look for a record that a verdict finds missing; nowhere for every other verdict. */
export function straysOf(question: Question, verdict: Verdict): Stray[] {
  if (verdict.kind !== 'Refuted') return [];
  const {hostname, target} = question;
  const zone = verdict.zone?.name ?? recordName(hostname).zone;
  const strays: Stray[] = [];
  if (verdict.reason === 'RecordMissing' && !verdict.apex) {
    const typed = recordsFor(question, verdict, {edgeAddresses: []})[0]?.name ?? hostname;
    strays.push({name: `${hostname}.${zone}`, wanted: 'Host', is: ({cname}) => cname[0] === target, typed});
  }
  if (verdict.txt?.state === 'Missing' && canProveByTxt(question)) {
    const is = ({txt = []}: Finding) => txt.includes(question.token);
    const {name: typed} = txtRecord(question, verdict);
    for (const name of [`${challengeName(hostname)}.${zone}`, hostname]) strays.push({name, wanted: 'TXT', is, typed});
  }
  return strays.filter(({name}) => name.length <= 253);
}

/** The verdict with where the record was found instead. */
export const withStray = (verdict: Refuted, {name, wanted, typed}: Stray): Refuted => ({
  ...verdict,
  message:
    `${verdict.message} The ${wanted === 'TXT' ? 'TXT' : 'CNAME'} stands at ${shown(name)} instead: ` +
    `move it, with ${typed} alone as its name.`,
});
