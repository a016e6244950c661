/** The records that a customer creates, as a DNS provider's form asks for them and as a message says them. */

import type {ZoneStatus} from '../api/custom-domain.ts';
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

/**
 * The verification method: a CNAME to the Project's default hostname; the edge's addresses with the TXT; or the addresses alone
 * (`AddressOnly`).
 */
export type Proof = 'CNAME' | 'TXT' | 'Addresses';

const challengeLabel = '_doorplate-challenge';

/** Name of the TXT record with the token: below the hostname itself, not below its zone. */
export const challengeName = (hostname: Hostname) => `${challengeLabel}.${hostname}`;

/** Whether verification through TXT is possible: a token exists, and the record's name is a valid name (RFC 1035, 2.3.4). */
export const canProveByTxt = (question: Question): question is Question & {token: string} =>
  question.token !== undefined && challengeName(question.hostname).length <= 253;

/** The place in DNS at which a hostname's records are created. */
export interface RecordPlace {
  /** A zone cut at the name, or the registrable name. */
  apex: boolean;
  /** Its zone, as the DNS delegates it; undefined where that is not known. */
  zone?: ZoneStatus;
}

export interface DnsRecord {
  /** In the provider's words, where those are known; otherwise `ALIAS` stands for whatever leads to a name in place of a CNAME. */
  type: 'CNAME' | 'ALIAS' | 'ANAME' | 'A' | 'AAAA' | 'TXT';
  /** Relative to the zone, `@` for the zone itself. */
  name: string;
  zone: Hostname;
  value: string;
  /** Seconds. */
  ttl: number;
  /** The provider's note about records at an apex. */
  note?: string;
  /** Address records that do as well as an ALIAS, `A 192.0.2.1`; absent where the edge's addresses are not all known one by one. */
  alternatives?: string[];
}

/** TTL of the records that a customer creates, in seconds. */
export const ttl = 3600;

/** A name as the provider's form asks for it: relative to the zone that DNS names, else to the registrable name. */
export function inZone(hostname: Hostname, {apex, zone}: RecordPlace): {name: string; zone: Hostname} {
  if (apex) return {name: '@', zone: hostname};
  return zone ? {name: hostname.slice(0, -zone.name.length - 1), zone: zone.name} : recordName(hostname);
}

/** The TXT alone. */
export function txtRecord(question: Question & {token: string}, place: RecordPlace): DnsRecord {
  const {name, zone} = inZone(question.hostname, place);
  return {
    type: 'TXT',
    name: name === '@' ? challengeLabel : `${challengeLabel}.${name}`,
    zone,
    value: question.token,
    ttl,
  };
}

/**
 * `CNAME docs -> HOST (TTL 3600) in the zone example.com at Cloudflare`, the provider where it is known; several are joined by "and".
 * At least one record.
 */
export function sayRecords(records: readonly DnsRecord[], {zone}: RecordPlace): string {
  const each = records.map(({type, name, value, note, alternatives}) => {
    const words = `${type === 'ALIAS' && note === undefined ? 'ALIAS or ANAME' : type} ${name} -> ${type === 'TXT' ? `"${value}"` : value}`;
    if (note !== undefined) return `${words} (${note})`;
    return alternatives ? `${words} (or ${alternatives.join(', ')})` : words;
  });
  const where = zone?.provider === undefined ? '' : ` at ${zone.provider}`;
  return `${each.join(' and ')} (TTL ${ttl}) in the zone ${records[0]?.zone ?? ''}${where}`;
}
