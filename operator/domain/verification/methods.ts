/**
 * The ways to prove that a name was set for a Project, in the order in which they are looked for.
 *
 *   CNAME to exactly the host                              Proven by CNAME
 *   edge's addresses, no CNAME   + TXT with the token      Proven by TXT (an apex; a flattened or private-suffix name)
 *                                an apex, AddressOnly      Proven by Addresses
 *   behind a CDN                 + TXT with the token      Proven by TXT; nothing else proves it
 *   anything else that is there, or isn't                  Refuted, with what to do
 */

import {addresses} from './addresses.ts';
import {cname} from './cname.ts';
import type {Case, Challenge, Edge, Finding, VerificationMethod, VerificationRules, Verdict} from './method.ts';
import {cdnOf, txt} from './txt.ts';
import type {DnsRecord, RecordPlace, Proof, Question} from './records.ts';
import {sayRecords} from './records.ts';

const proofs: Record<Proof, VerificationMethod> = {CNAME: cname, Addresses: addresses, TXT: txt};

/** The verdict over what one server answered. */
export function judge(c: Case, found: Finding, challenge: Challenge): Verdict {
  const kinds = cdnOf(found, c.rules) ? [txt] : Object.values(proofs);
  for (const kind of kinds) {
    const verdict = kind.judge(c, found, challenge);
    if (verdict) return verdict;
  }
  throw new Error('no proof decides');
}

/** Whether a verdict over what was found depends on the TXT. */
export const needsTxt = (question: Question, rules: VerificationRules, isApex: boolean, found: Finding): boolean =>
  Object.values(proofs).some((kind) => kind.needs?.(question, rules, isApex, found));

/**
 * The records that the customer must create. A subdomain gets a CNAME. An apex (a zone cut at the name, or the registrable name) cannot
 * have a CNAME (RFC 1034, 3.6.2), so it gets the provider's replacement and the TXT; a subdomain with records of other types gets the same.
 * `by`: the method that verified the name.
 */
export const recordsFor = (
  question: Question,
  place: RecordPlace,
  edge: Edge,
  by: Proof = place.apex || place.noCname ? 'TXT' : 'CNAME',
): DnsRecord[] => proofs[by].records(question, place, edge);

/** The customer's entries in the provider's form, as text. */
export const instruction = (question: Question, place: RecordPlace, edge: Edge) =>
  sayRecords(recordsFor(question, place, edge), place);
