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

/** By what a name was proven: a CNAME to the Project's host; the edge's addresses with the TXT; those addresses alone (`AddressOnly`). */
export type Proof = 'CNAME' | 'TXT' | 'Addresses';

const challengeLabel = '_doorplate-challenge';

/** Where the TXT with the token stands: below the hostname itself, not below its zone. */
export const challengeName = (hostname: Hostname) => `${challengeLabel}.${hostname}`;

/** Whether a proof by TXT is possible at all: there is a token, and its name is one (RFC 1035, 2.3.4). */
export const canProveByTxt = (question: Question): question is Question & {token: string} =>
  question.token !== undefined && challengeName(question.hostname).length <= 253;

/** Where a name's records are made. */
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
  /** What the provider makes of it at an apex. */
  note?: string;
  /** Address records that do as well as an ALIAS, `A 192.0.2.1`; absent where the edge's addresses are not all known one by one. */
  alternatives?: string[];
}

/** Of the records that a customer creates, in seconds. */
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
