/** The records that a customer creates, formatted for a DNS provider's form and for a message. */

import type {ZoneStatus} from '../../api/custom-domain.ts';
import type {verificationMethods} from '../../api/domain-claim.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import {recordName} from '../hostnames/hostname.ts';

/** The question to verify: whether the hostname's DNS was set for this Project. */
export interface Question {
  hostname: Hostname;
  /** The Project's default hostname: the value of the CNAME, and the target of an ALIAS or ANAME. */
  target: Hostname;
  /** Value of the TXT record at {@link challengeName}, unique to this tenant; undefined if verification by TXT is not possible. */
  token?: string;
}

/** `owned`: the tenant owns the hostname already, so that resolvers may be asked although some servers lack its record (rule 3). */
export type CheckedQuestion = Question & {owned?: true};

/**
 * Verification method: a CNAME to the Project's default hostname; the edge's addresses with the TXT; those addresses alone
 * (`AddressOnly`).
 */
export type Proof = (typeof verificationMethods)[number];

const challengeLabel = '_doorplate-challenge';

/** Name of the TXT with the token: below the hostname itself, not below its zone. */
export const challengeName = (hostname: Hostname) => `${challengeLabel}.${hostname}`;

/** Whether verification by TXT is possible: a token exists, and the record's name is valid (RFC 1035, 2.3.4). */
export const canVerifyByTxt = (question: Question): question is Question & {token: string} =>
  question.token !== undefined && challengeName(question.hostname).length <= 253;

/** The place in DNS at which the records of a name are created. */
export interface RecordPlace {
  /** The name is a zone cut or the registrable name. */
  apex: boolean;
  /** The name has records of other types, so it cannot have a CNAME (RFC 1034, 3.6.2). */
  noCname?: true;
  /** Zone of the name, as DNS delegates it; undefined if it is not known. */
  zone?: ZoneStatus;
}

export interface DnsRecord {
  /** The provider's own type if it is known. Otherwise `ALIAS` means any record that leads to a name in place of a CNAME. */
  type: 'CNAME' | 'ALIAS' | 'ANAME' | 'A' | 'AAAA' | 'TXT';
  /** Relative to the zone, `@` for the zone itself. */
  name: string;
  zone: Hostname;
  value: string;
  /** Seconds. */
  ttl: number;
  /** How the provider treats the record at an apex. */
  note?: string;
  /** Address records that work as well as an ALIAS, `A 192.0.2.1`; absent if the edge's single addresses are not all known. */
  alternatives?: string[];
}

/** TTL of the records that a customer creates, in seconds. */
export const ttl = 3600;

/** A name as the provider's form asks for it: relative to the zone in DNS, else to the registrable name. */
export function inZone(hostname: Hostname, {apex, zone}: RecordPlace): {name: string; zone: Hostname} {
  if (apex) return {name: '@', zone: hostname};
  return zone ? {name: hostname.slice(0, -zone.name.length - 1), zone: zone.name} : recordName(hostname);
}

/** Only the TXT record. */
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
 * Formats records as `CNAME docs -> HOST (TTL 3600) in the zone example.com at Cloudflare`, with the provider if it is known. Several
 * records are joined by "and". Requires at least one record.
 */
export function sayRecords(records: readonly DnsRecord[], {zone}: RecordPlace): string {
  const each = records.map(({type, name, value, note, alternatives}) => {
    const words = `${type === 'ALIAS' && note === undefined ? 'ALIAS or ANAME' : type} ${name} -> ${value}`;
    if (note !== undefined) return `${words} (${note})`;
    return alternatives ? `${words} (or ${alternatives.join(', ')})` : words;
  });
  const where = zone?.provider === undefined ? '' : ` at ${zone.provider}`;
  return `${each.join(' and ')} (TTL ${ttl}) in the zone ${records[0]?.zone ?? ''}${where}`;
}
