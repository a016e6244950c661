/** The TXT with the tenant's token, beside addresses of the edge: for an apex, and for a flattened or private-suffix name. */

import {shown} from '../hostname.ts';
import {addressesOf, few, inPlaceOfCname, isOfEdge} from './addresses.ts';
import type {Case, Finding, ProofKind, Refuted} from './proof.ts';
import {bounded, refuted, wildcardWords} from './proof.ts';
import type {ReasonName} from '../reasons.ts';
import {canProveByTxt, challengeName, sayRecords, txtRecord} from '../records.ts';
import {printable} from '../text.ts';

export const txt: ProofKind = {
  records: (question, place, edge) => {
    const instead = inPlaceOfCname(question, place, edge);
    return canProveByTxt(question) ? [...instead, txtRecord(question, place)] : instead;
  },

  needs: (question, rules, isApex, found) => {
    const all = [...found.a, ...found.aaaa];
    const decides = found.cname.length === 0 && all.length > 0 && !(isApex && rules.addressOnly);
    return canProveByTxt(question) && decides && all.every((a) => isOfEdge(a, rules));
  },

  judge(c, found, challenge) {
    const {question, place} = c;
    if (!canProveByTxt(question)) {
      const name = shown(question.hostname);
      const message = `${name} has the edge's addresses, which prove no tenant, and cannot be proven by TXT.`;
      return place.apex ? lacking(c, found, 'TXTMissing', message) : flattened(c, found);
    }
    if (challenge && 'unknown' in challenge) return {kind: 'Unknown', ...challenge.unknown, ...place};
    const {txt: values, cname} = challenge ?? {txt: [], cname: []};
    if (cname.length === 0 && values.includes(question.token)) return {kind: 'Proven', by: 'TXT', ...place};
    const observed = bounded([
      ...cname.map((to) => `CNAME ${printable(to)}`),
      ...values.map((value) => `TXT ${printable(value)}`),
    ]);
    if (observed.length > 0) {
      const isQuoted = cname.length === 0 && values.some((value) => unquoted(value) === question.token);
      return {...mismatch(c, found, observed, isQuoted), txt: {state: 'Wrong', observed}};
    }
    return {...missing(c, found), txt: {state: 'Missing', observed: []}};
  },
};

const unquoted = (value: string) => value.replaceAll(/^["'\s]+|["'\s]+$/g, '');

const wantedTxt = ({question, place}: Case) =>
  canProveByTxt(question) ? sayRecords([txtRecord(question, place)], place) : '';

function lacking(c: Case, found: Finding, reason: ReasonName, message: string): Refuted {
  const state = c.place.apex ? 'Found' : 'Conflicting';
  return refuted(c, reason, {state, observed: bounded(addressesOf(found))}, message, found.ttlSeconds);
}

/** A proxy or a flattened record hides the CNAME. */
function flattened(c: Case, found: Finding): Refuted {
  const {question, wildcard, wanted} = c;
  const {by, instead} = wildcardWords(c);
  const hides = wildcard
    ? `${by} and no CNAME. Create ${wanted}${instead}`
    : ` and no CNAME: a proxy or a flattened record hides it. Switch that off and create ${wanted}`;
  const or = canProveByTxt(question) ? `; or leave it and create ${wantedTxt(c)}` : '';
  const message = `${shown(question.hostname)} has the edge's address (${few(addressesOf(found))})${hides}${or}.`;
  return lacking(c, found, 'ProxiedOrFlattened', message);
}

function mismatch(c: Case, found: Finding, observed: string[], isQuoted: boolean): Refuted {
  const at = challengeName(c.question.hostname);
  const some = observed.slice(0, 2).join(', ');
  const more = observed.length > 2 ? ` and ${observed.length - 2} more` : '';
  const what = isQuoted
    ? `the TXT at ${at} has quotes or blanks around its value (${some}): write the value alone`
    : `${at} has ${some}${more}`;
  const message = `${shown(c.question.hostname)} has the edge's addresses, but ${what}. Needed there: ${wantedTxt(c)}.`;
  return lacking(c, found, 'TXTMismatch', message);
}

function missing(c: Case, found: Finding): Refuted {
  if (!c.place.apex) return flattened(c, found);
  const [name, at] = [shown(c.question.hostname), challengeName(c.question.hostname)];
  const message =
    `${name} has the edge's addresses, which prove no tenant, and there is no TXT at ${at}. ` +
    `Create ${wantedTxt(c)}.`;
  return lacking(c, found, 'TXTMissing', message);
}
