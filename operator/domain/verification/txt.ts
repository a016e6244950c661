/**
 * The TXT with the tenant's token. Beside addresses of the edge: for an apex, and for a flattened or private-suffix name. And behind a
 * CDN, where nothing else can be seen.
 */

import type {Cdn} from './cdns.ts';
import {cdnAt} from './cdns.ts';
import {shown} from '../hostnames/hostname.ts';
import {addressesOf, besideOthers, few, inPlaceOfCname, isOfEdge, typesOf} from './addresses.ts';
import {cname} from './cname.ts';
import type {Case, Finding, VerificationMethod, Refuted, VerificationRules} from './method.ts';
import {bounded, originOverHttps, refuted, ownRecords, replaceForAll, thenHere, wildcardWords} from './method.ts';
import type {ReasonName} from '../reasons/reasons.ts';
import {canVerifyByTxt, challengeName, sayRecords, txtRecord} from './records.ts';
import {capitalised, printable} from '../text.ts';

/** The CDN that a name is behind. Addresses of the edge are the edge's, in whatever network that stands. */
export function cdnOf(found: Finding, rules: VerificationRules): Cdn | undefined {
  const all = [...found.a, ...found.aaaa];
  return all.length > 0 && all.every((a) => isOfEdge(a, rules)) ? undefined : cdnAt(found, rules.cdns);
}

export const txt: VerificationMethod = {
  records: (question, place, edge) => {
    const kind = place.apex || place.noCname ? {records: inPlaceOfCname} : cname;
    const instead = kind.records(question, place, edge);
    return canVerifyByTxt(question) ? [...instead, txtRecord(question, place)] : instead;
  },

  needs: (question, rules, isApex, found) => {
    if (!canVerifyByTxt(question)) return false;
    if (cdnOf(found, rules)) return true;
    const all = [...found.a, ...found.aaaa];
    const decides = found.cname.length === 0 && all.length > 0 && !(isApex && rules.addressOnly);
    return decides && all.every((a) => isOfEdge(a, rules));
  },

  judge(c, found, challenge) {
    const {question, place, rules} = c;
    const cdn = cdnOf(found, rules);
    const unproven = cdn ? behind(c, found, cdn) : missing(c, found);
    if (!canVerifyByTxt(question)) return unproven;
    if (challenge && 'unknown' in challenge) return {kind: 'Unknown', ...challenge.unknown, ...place};
    const {txt: values, cname: instead, dname} = challenge ?? {txt: [], cname: []};
    if (instead.length === 0 && values.includes(question.token)) return {kind: 'Proven', by: 'TXT', ...place};
    const observed = bounded([
      ...instead.map((to) => `CNAME ${printable(to)}`),
      ...values.map((value) => `TXT ${printable(value)}`),
    ]);
    if (dname) return {...belowDname(c, found, dname, cdn), txt: {state: 'Wrong', observed}};
    // If a wildcard gives the hostname's records, it gives those at the name of the TXT too.
    if (observed.length > 0 && c.wildcard === undefined) {
      const isQuoted = instead.length === 0 && values.some((value) => unquoted(value) === question.token);
      return {...mismatch(c, found, observed, {isQuoted, cdn}), txt: {state: 'Wrong', observed}};
    }
    return {...unproven, txt: {state: 'Missing', observed: []}};
  },
};

const unquoted = (value: string) => value.replaceAll(/^["'\s]+|["'\s]+$/g, '');

const wantedTxt = ({question, place}: Case) =>
  canVerifyByTxt(question) ? sayRecords([txtRecord(question, place)], place) : '';

function lacking(c: Case, found: Finding, reason: ReasonName, message: string): Refuted {
  const state = c.place.apex ? 'Found' : 'Conflicting';
  return refuted(c, reason, {state, observed: bounded(addressesOf(found))}, message, found.ttlSeconds);
}

/** A proxy or a flattened record hides the CNAME. */
function flattened(c: Case, found: Finding): Refuted {
  const {question, wildcard, wanted, place} = c;
  const {by, instead} = wildcardWords(c);
  const has = `${shown(question.hostname)} has the edge's address (${few(addressesOf(found))})${by}`;
  if (place.noCname)
    return {
      ...lacking(c, found, 'CNAMENotPossible', `${has}. ${besideOthers(c, `create ${wantedTxt(c)}`)}`),
      details: {types: typesOf(c)},
    };
  const or = canVerifyByTxt(question) ? `; or keep it and create ${wantedTxt(c)}` : '';
  const message =
    wildcard === undefined
      ? `${has} and no CNAME: a proxy or a flattened record hides it. ` +
        `Switch that off, so that visitors bypass it, and create ${wanted}${or}.`
      : `${has} and no CNAME. Create ${wanted}${instead}.`;
  return lacking(c, found, 'ProxiedOrFlattened', message);
}

/** A CDN's addresses differ from check to check, so they are not told one by one: an equal answer is an equal verdict. */
function atCdn({cname: [to], a, aaaa}: Finding, {name}: Cdn): string[] {
  if (to !== undefined) return [`CNAME ${printable(to)}`];
  return [...(a.length > 0 ? [`A of ${name}`] : []), ...(aaaa.length > 0 ? [`AAAA of ${name}`] : [])];
}

const refutedAtCdn = (c: Case, found: Finding, cdn: Cdn, reason: ReasonName, message: string): Refuted => ({
  ...refuted(c, reason, {state: 'Unknown', observed: atCdn(found, cdn)}, message, found.ttlSeconds),
  behind: cdn.name,
});

/** A CDN hides what is behind it. */
function behind(c: Case, found: Finding, cdn: Cdn): Refuted {
  const {question, wildcard, wanted} = c;
  const {by, instead} = wildcardWords(c);
  const [to] = found.cname;
  const where = to === undefined ? cdn.name : `${cdn.name} (CNAME ${printable(to)})`;
  const is = `${shown(question.hostname)} is behind ${where}${by}, which hides the record that would verify it.`;
  const plain =
    wildcard !== undefined
      ? `create ${wanted}${instead}${thenHere(cdn.name)}`
      : `switch ${cdn.name} off for this name and create ${wanted}, so that visitors reach this platform directly`;
  const proof = `${ownRecordsFirst(c, found)} ${wantedTxt(c)}, and set ${question.target} as the origin at ${cdn.name}`;
  const message = canVerifyByTxt(question)
    ? `${is} ${proof}; or ${plain}. ${originOverHttps(`If you keep ${cdn.name}, it`)}`
    : `${is} ${capitalised(plain)}.`;
  return refutedAtCdn(c, found, cdn, 'BehindCDN', message);
}

/** A TXT would end the wildcard for the hostname, unless it has the wildcard's records itself. */
function ownRecordsFirst({question: {hostname}, wildcard}: Case, {cname: [to]}: Finding): string {
  if (wildcard === undefined) return 'Create';
  const value = to === undefined ? 'the addresses of the wildcard' : `a CNAME to ${printable(to)}`;
  return `First give ${ownRecords(hostname, wildcard)} ${value}, because the TXT ends the wildcard for them. Then create`;
}

function mismatch(
  c: Case,
  found: Finding,
  observed: string[],
  {isQuoted, cdn}: {isQuoted: boolean; cdn: Cdn | undefined},
): Refuted {
  const at = challengeName(c.question.hostname);
  const some = observed.slice(0, 2).join(', ');
  const more = observed.length > 2 ? ` and ${observed.length - 2} more` : '';
  const what = isQuoted
    ? `the TXT at ${at} has quotes or spaces around its value (${some}): remove them`
    : `${at} has ${some}${more}`;
  const replaces = observed.some((record) => record.startsWith('CNAME ')) ? ' in place of that CNAME' : '';
  const where = cdn ? `is behind ${cdn.name}` : "has the edge's addresses";
  const message = `${shown(c.question.hostname)} ${where}, but ${what}. Required${replaces}: ${wantedTxt(c)}.`;
  const verdict = cdn ? refutedAtCdn(c, found, cdn, 'TXTMismatch', message) : lacking(c, found, 'TXTMismatch', message);
  return isQuoted ? {...verdict, details: {cause: 'Quoted'}} : verdict;
}

/** No TXT can be created below a DNAME (RFC 6672, 2.4). */
function belowDname(c: Case, found: Finding, {name}: NonNullable<Finding['dname']>, cdn: Cdn | undefined): Refuted {
  const message =
    `${challengeName(c.question.hostname)} is below the DNAME record at ${printable(name)}, which answers for every name below it. ` +
    replaceForAll(name, wantedTxt(c));
  const verdict = cdn
    ? refutedAtCdn(c, found, cdn, 'SynthesizedCNAME', message)
    : lacking(c, found, 'SynthesizedCNAME', message);
  return {...verdict, details: {place: printable(name)}};
}

/** The edge's addresses, and no TXT. */
function missing(c: Case, found: Finding): Refuted {
  if (!c.place.apex) return flattened(c, found);
  const [name, at] = [shown(c.question.hostname), challengeName(c.question.hostname)];
  const remedy = canVerifyByTxt(c.question)
    ? `. There is no TXT at ${at}. Create ${wantedTxt(c)}.`
    : '. A TXT record cannot verify it, either.';
  return lacking(c, found, 'TXTMissing', `${name} has the edge's addresses, which do not verify it${remedy}`);
}
