/** Addresses of the edge, in place of a CNAME. They prove no tenant; alone they prove an apex where `AddressOnly` says so. */
import {type Hostname, shown} from '../hostnames/hostname.ts';
import {isIn} from '../networks.ts';
import type {Case, Edge, Finding, VerificationMethod, Refuted, Verdict} from './method.ts';
import {bounded, mostObserved, refuted, thenHere, wildcardWords} from './method.ts';
import {apexNote, atApexOf, followsAtApex} from './providers.ts';
import type {ReasonName} from '../reasons/reasons.ts';
import type {DnsRecord, RecordPlace, Question} from './records.ts';
import {canVerifyByTxt, inZone, ttl} from './records.ts';
import {capitalised, printable} from '../text.ts';

export const addresses: VerificationMethod = {
  records: inPlaceOfCname,

  judge(c, found) {
    const {question, rules, place, wildcard, wanted} = c;
    const {by, instead} = wildcardWords(c);
    const name = shown(question.hostname);
    const seen = addressesOf(found);
    if (seen.length === 0) {
      const seconds = found.negativeTtlSeconds ?? found.ttlSeconds;
      if (place.noCname) {
        const missing = {state: 'Missing', observed: bounded([...c.types])} as const;
        const message = `${name} has no address. ${besideOthers(c, `create ${wanted}`)}`;
        return {...refuted(c, 'CNAMENotPossible', missing, message, seconds), details: {types: typesOf(c)}};
      }
      const lacks = place.apex ? 'address' : found.exists === true ? 'CNAME and no address' : 'record';
      const message = `${name} has no ${lacks}${otherTypesBy(c)}. Create ${wanted}${instead}.`;
      return refuted(c, 'RecordMissing', {state: 'Missing', observed: []}, message, seconds);
    }
    const strange = [found.a, found.aaaa].map((family) => family.filter((a) => !isOfEdge(a, rules))) as [
      string[],
      string[],
    ];
    if (strange.some((family) => family.length > 0)) {
      const conflicting = {state: 'Conflicting', observed: bounded(seen)} as const;
      if (place.apex) return strangeAtApex(c, found, conflicting, strange);
      const action = `create ${wanted}${instead}${thenHere(few(seen))}`;
      if (place.noCname) {
        const message = `${name} has ${few(seen)}. ${besideOthers(c, `delete ${few(seen)} and ${action}`)}`;
        const details = {types: typesOf(c), remove: few(seen)};
        return {...refuted(c, 'CNAMENotPossible', conflicting, message, found.ttlSeconds), details};
      }
      const remedy =
        wildcard === undefined ? `Delete ${seen.length > 1 ? 'them' : 'it'} and ${action}` : capitalised(action);
      const message = `${name} has ${few(seen)}${by} and no CNAME. ${remedy}.`;
      return refuted(c, 'ConflictingRecord', conflicting, message, found.ttlSeconds);
    }
    return place.apex && rules.addressOnly ? {kind: 'Proven', by: 'Addresses', ...place} : undefined;
  },
};

/** The instruction for a name with records of other types, so it cannot have a CNAME. */
export function besideOthers({question, types}: Case, action: string): string {
  const has = `It also has ${recordsOfTypes(types)}, so it cannot have a CNAME.`;
  if (types.includes('DNAME') || !canVerifyByTxt(question)) return `${has} Attach another name.`;
  // Browsers follow an HTTPS record before an address (RFC 9460, 3).
  const https = types.includes('HTTPS')
    ? ' If the HTTPS record is from a former provider, delete it: browsers would go there.'
    : '';
  return `${has} Keep the ${recordsOfTypes(types)}, and ${action}.${https}`;
}

const mostTypes = 10;
export const typesOf = ({types}: Case): string => types.slice(0, mostTypes).join(', ');

/** `MX`, `MX and TXT`, `MX, SRV and TXT`, with the word for records. */
const recordsOfTypes = (types: readonly string[]) =>
  `${types.length > 1 ? `${types.slice(0, -1).join(', ')} and ${types.at(-1)} records` : `${types[0]} records`}`;

const otherTypesBy = ({types, wildcard}: Case) =>
  wildcard !== undefined && types.length > 0
    ? `; the wildcard record *.${printable(wildcard)} gives it ${recordsOfTypes(types)}`
    : '';

function strangeAtApex(
  c: Case,
  {ttlSeconds}: Finding,
  seen: Pick<Refuted, 'state' | 'observed'>,
  [a, aaaa]: [string[], string[]],
): Refuted {
  const [reason, type, wrong] =
    a.length > 0 ? (['ConflictingA', 'A', a] as const) : (['ConflictingAAAA', 'AAAA', aaaa] as const);
  const named = few(wrong.map((address) => `${type} ${printable(address)}`).toSorted());
  const [are, them] = wrong.length > 1 ? ['are', 'them'] : ['is', 'it'];
  const name = shown(c.question.hostname);
  const message = `${name} has ${named}, which ${are} not the edge's. Delete ${them}. Required: ${c.wanted}${thenHere(named)}.`;
  return {...refuted(c, reason, seen, message, ttlSeconds), details: {remove: named}};
}

/** All addresses of a name, in words, sorted. */
export const addressesOf = ({a, aaaa}: Finding): string[] =>
  [...a.map((address) => `A ${printable(address)}`), ...aaaa.map((address) => `AAAA ${printable(address)}`)].toSorted();

export const few = (records: string[]) =>
  records.slice(0, 4).join(', ') + (records.length > 4 ? ` and ${records.length - 4} more` : '');

/** Whether an address is the edge's. */
export const isOfEdge = (address: string, {edgeAddresses}: Edge): boolean => isIn(address, edgeAddresses);

const refusals = new Set<ReasonName>(['ConflictingA', 'ConflictingAAAA', 'ConflictingRecord', 'CNAMENotPossible']);

/** Whether the edge's current addresses would change a verdict: the addresses were unknown, or the edge's own addresses were refused. */
export function isOutdated(verdict: Verdict | undefined, edge: Edge): boolean {
  if (verdict?.kind === 'Unknown') return verdict.reason === 'NoEdgeAddress' && edge.edgeAddresses.length > 0;
  if (verdict?.kind !== 'Refuted' || !refusals.has(verdict.reason)) return false;
  const {observed} = verdict;
  // Observed addresses are cut to a maximum. Beyond it, missing addresses prove nothing.
  if (observed.length === 0 || observed.length === mostObserved) return false;
  return observed.every((record) => isOfEdge(record.split(' ')[1] ?? '', edge));
}

/** Records that replace a CNAME at a name that cannot have one. */
export function inPlaceOfCname(question: Question, place: RecordPlace, edge: Edge): DnsRecord[] {
  const to = {...inZone(question.hostname, place), ttl};
  return recordsOfProvider(question, place, edge).map((record) => ({...to, ...record}));
}

const withoutAddresses = (edgeHostname: Hostname | undefined) =>
  edgeHostname === undefined
    ? 'ask the platform for its addresses'
    : "the platform's addresses change, so attach a name below it, such as www";

type Instead = Pick<DnsRecord, 'type' | 'value' | 'note' | 'alternatives'>;

/** The edge's addresses where the provider follows no name at an apex, they are all known one by one, and they last. */
function recordsOfProvider(
  {target}: Question,
  {apex, zone}: RecordPlace,
  {edgeAddresses, edgeHostname}: Edge,
): Instead[] {
  const isListed =
    edgeHostname === undefined && edgeAddresses.length <= 4 && !edgeAddresses.some((a) => a.includes('/'));
  const listed = isListed ? edgeAddresses.map(addressRecord).toSorted(byText) : [];
  // Few providers have an ALIAS below an apex.
  if (!apex && listed.length > 0) return listed;
  const provider = apex ? zone?.provider : undefined;
  const has = atApexOf(provider);
  if (provider === undefined || has === undefined) {
    return [{type: 'ALIAS', value: target, ...(listed.length > 0 && {alternatives: listed.map(textOf)})}];
  }
  const note = apexNote(provider);
  if (has !== 'Addresses') return [{type: has, value: target, note}];
  if (edgeHostname !== undefined && followsAtApex(provider, edgeHostname))
    return [{type: 'ALIAS', value: edgeHostname, note: `${note}, and this is one`}];
  if (listed.length === 0) return [{type: 'ALIAS', value: target, note: `${note}: ${withoutAddresses(edgeHostname)}`}];
  return listed.map((record, i) => ({...record, ...(i === 0 && {note})}));
}

const addressRecord = (value: string) => ({type: value.includes(':') ? ('AAAA' as const) : ('A' as const), value});
const textOf = ({type, value}: Instead) => `${type} ${value}`;
const byText = (a: Instead, b: Instead) => (textOf(a) < textOf(b) ? -1 : 1);
