/** The records that a customer creates, as a DNS provider's form asks for them and as a message says them. */
import type {Hostname} from './hostname.ts';
import {recordName} from './hostname.ts';

/** What must be proven: that the name's DNS was set for this Project. */
export interface Question {
  hostname: Hostname;
  /** The Project's host: the value of the CNAME, and what an ALIAS or ANAME points to. */
  target: Hostname;
  /** The value of the TXT record at {@link challengeName} that is this tenant's alone; undefined: no proof by TXT is possible. */
  token?: string;
}

/** By what a name was proven: a CNAME to the Project's host; the edge's addresses with the TXT; those addresses alone (`AddressOnly`). */
export type Proof = 'CNAME' | 'TXT' | 'Addresses';

const challengeLabel = '_doorplate-challenge';

/** Where the TXT with the token stands: below the hostname itself, not below its zone. */
export const challengeName = (hostname: Hostname) => `${challengeLabel}.${hostname}`;

/** Whether a proof by TXT is possible at all: there is a token, and its name is one (RFC 1035, 2.3.4). */
export const canProveByTxt = (question: Question): question is Question & {token: string} =>
  question.token !== undefined && challengeName(question.hostname).length <= 253;

export interface DnsRecord {
  /** `ALIAS` stands for whatever the provider calls it (ANAME, flattened CNAME): addresses in place of a CNAME. */
  type: 'CNAME' | 'ALIAS' | 'TXT';
  /** Relative to the zone, `@` for the zone itself. */
  name: string;
  zone: Hostname;
  value: string;
  /** Seconds. */
  ttl: number;
  /** Address records that do as well as an ALIAS, `A 192.0.2.1`; absent where the edge's addresses are not all known one by one. */
  alternatives?: string[];
}

const ttl = 3600;

/**
 * What the customer must create. A subdomain: a CNAME. An apex (a zone cut at the name, or the registrable name), where none
 * may stand (RFC 1034, 3.6.2), and a name that was proven otherwise (`by`): an ALIAS, and the TXT unless `by` says that
 * addresses alone were enough, or there is no token (platforms with `AddressOnly`). An apex is its own zone.
 */
export function recordsFor(
  question: Question,
  apex: boolean,
  edgeAddresses: readonly string[],
  by?: Proof,
): DnsRecord[] {
  const {name, zone} = apex ? {name: '@', zone: question.hostname} : recordName(question.hostname);
  if (by === 'CNAME' || (!apex && by === undefined)) return [{type: 'CNAME', name, zone, value: question.target, ttl}];
  const listed = edgeAddresses.length <= 4 && !edgeAddresses.some((a) => a.includes('/'));
  const alias: DnsRecord = {
    type: 'ALIAS',
    name,
    zone,
    value: question.target,
    ttl,
    ...(listed && {alternatives: edgeAddresses.map(addressRecord).toSorted()}),
  };
  return canProveByTxt(question) && by !== 'Addresses' ? [alias, txtRecord(question, apex)] : [alias];
}

/** The TXT alone. */
export function txtRecord(question: Question & {token: string}, apex: boolean): DnsRecord {
  const {name, zone} = apex ? {name: '@', zone: question.hostname} : recordName(question.hostname);
  return {
    type: 'TXT',
    name: name === '@' ? challengeLabel : `${challengeLabel}.${name}`,
    zone,
    value: question.token,
    ttl,
  };
}

const addressRecord = (address: string) => `${address.includes(':') ? 'AAAA' : 'A'} ${address}`;

/** `CNAME docs -> HOST (TTL 3600) in the zone example.com`; several are joined by "and". At least one record. */
export function sayRecords(records: readonly DnsRecord[]): string {
  const each = records.map(({type, name, value, alternatives}) => {
    const words = `${type === 'ALIAS' ? 'ALIAS or ANAME' : type} ${name} -> ${type === 'TXT' ? `"${value}"` : value}`;
    return alternatives && alternatives.length > 0 ? `${words} (or ${alternatives.join(', ')})` : words;
  });
  return `${each.join(' and ')} (TTL ${ttl}) in the zone ${records[0]?.zone ?? ''}`;
}

/** What the customer's admin types into the provider's form, in words. */
export const instruction = (question: Question, apex: boolean, edgeAddresses: readonly string[]) =>
  sayRecords(recordsFor(question, apex, edgeAddresses));
