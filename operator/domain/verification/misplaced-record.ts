/**
 * Misplaced records. Most DNS providers append the zone to the name that a customer types, so a hostname that is typed in full becomes
 * `www.example.com.example.com`.
 */

import type {Hostname} from '../hostnames/hostname.ts';
import {recordName, shown} from '../hostnames/hostname.ts';
import type {Finding, Refuted, Verdict} from './method.ts';
import {recordsFor} from './methods.ts';
import type {Question} from './records.ts';
import {canVerifyByTxt, challengeName, txtRecord} from './records.ts';

/** A name at which a record may be misplaced, and the test that recognizes the record. */
export interface MisplacedRecord {
  name: Hostname;
  wanted: 'Host' | 'TXT';
  is: (found: Finding) => boolean;
  /** The correct text for the name field of the provider's form. */
  typed: string;
}

/** Names at which to search for a record that a verdict reports as missing; empty for all other verdicts. */
export function misplacedRecordsOf(question: Question, verdict: Verdict): MisplacedRecord[] {
  if (verdict.kind !== 'Refuted') return [];
  const {hostname, target} = question;
  const zone = verdict.zone?.name ?? recordName(hostname).zone;
  const misplacedRecords: MisplacedRecord[] = [];
  if (verdict.reason === 'RecordMissing' && !verdict.apex) {
    const typed = recordsFor(question, verdict, {edgeAddresses: []})[0]?.name ?? hostname;
    misplacedRecords.push({name: `${hostname}.${zone}`, wanted: 'Host', is: ({cname}) => cname[0] === target, typed});
  }
  if (verdict.txt?.state === 'Missing' && canVerifyByTxt(question)) {
    const is = ({txt = []}: Finding) => txt.includes(question.token);
    const {name: typed} = txtRecord(question, verdict);
    for (const name of [`${challengeName(hostname)}.${zone}`, hostname])
      misplacedRecords.push({name, wanted: 'TXT', is, typed});
  }
  return misplacedRecords.filter(({name}) => name.length <= 253);
}

/** Adds the name with the misplaced record to a verdict. */
export const withMisplacedRecord = (verdict: Refuted, {name, wanted, typed}: MisplacedRecord): Refuted => ({
  ...verdict,
  details: {...verdict.details, place: shown(name)},
  message:
    `${verdict.message} The ${wanted === 'TXT' ? 'TXT' : 'CNAME'} is at ${shown(name)} instead. ` +
    `Move it: enter only ${typed} as its name.`,
});
