/** Types of verification: findings of DNS checks, and verdicts about them. */
import type {HostDetails} from '../../api/custom-domain.ts';
import type {CaaVerdict} from '../certificates/caa.ts';
import type {Cdn} from './cdns.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import type {ReasonName} from '../reasons/reasons.ts';
import {printable} from '../text.ts';
import type {DnsRecord, RecordPlace, Proof, Question} from './records.ts';

/** The finding of one DNS server about a name (`operator/dns/client.ts`). Names are in lower case, without a trailing dot. */
export interface Finding {
  server: {address: string; port?: number; name?: string};
  failure?: string;
  cname: string[];
  a: string[];
  aaaa: string[];
  chain: string[];
  /** False: no such name (NXDOMAIN). */
  exists?: boolean;
  /** The DNAME above the name from which the server made the CNAME (RFC 6672). */
  dname?: {name: string; target: string};
  /** Types of records at the name beside CNAME and addresses, if they were asked for. */
  types?: string[];
  /** Values of TXT records, where those were asked for. */
  txt?: string[];
  /** HTTPS records, if they were asked for: the TargetName ('' for the name itself), the port and the address hints (RFC 9460). */
  https?: {to: string; port?: number; hints: string[]}[];
  /** Seconds for which resolvers may repeat this negative answer (RFC 2308). */
  negativeTtlSeconds?: number;
  /** Seconds for which resolvers may repeat this positive answer. */
  ttlSeconds?: number;
}

/** The findings about a name. `failure` is set if no server could be asked. */
export interface Observation {
  zone?: string;
  /** Names of that zone's servers, as it is delegated. */
  nameServers?: readonly string[];
  findings: Finding[];
  failure?: {failure: string; detail: string};
  /** The records at {@link challengeName}, if they were queried. */
  challenge?: Observation;
  /** The wildcard directly below this name gives the records: random names have the same ones (RFC 4592). */
  wildcard?: Hostname;
  /** A random name beside it has a CNAME to the same random label below the same parent: the server makes them up. */
  madeUp?: true;
  /** Types of records at the name beside CNAME and addresses, if they were asked for. */
  types?: readonly string[];
  /** For how long resolvers may repeat that something was not there: by the SOA that the zone's own servers have (RFC 2308, 5). */
  negativeTtlSeconds?: number;
}

/** What leads to the platform. */
export interface Edge {
  /** The edge's own: addresses, or CIDRs where an ALIAS rotates. Empty: nobody knows them yet. */
  edgeAddresses: readonly string[];
  /** The name that leads to them, where they change: then no customer is told to write them down. */
  edgeHostname?: Hostname;
}

/** The platform's rules for verification. */
export interface VerificationRules extends Edge {
  /** `apexOwnership: AddressOnly`, of a platform with one tenant: the edge's addresses at an apex prove it. */
  addressOnly: boolean;
  /** Behind these the TXT alone proves a name. */
  cdns: readonly Cdn[];
}

export type RecordState = 'Missing' | 'Wrong' | 'Conflicting' | 'Found' | 'Unknown';

/**
 * The answer to "is this name the tenant's?". `Unknown` is never "no": whoever holds a proof keeps it (rule 3); of what is
 * `Refuted`, only what {@link denies} counts against it. `observed` is sorted and bounded, so that an equal answer is an
 * equal verdict. Its place decides which records are needed (recordsFor).
 */
export type Verdict = ProvenBy | Refuted | Unknown;

export interface ProvenBy extends RecordPlace {
  kind: 'Proven';
  by: Proof;
  /** Where HTTPS records of the name lead browsers, if they were asked for. Absent: here, as its addresses do. */
  browsersGo?: 'Elsewhere' | 'Unknown';
  caa?: CaaVerdict;
  /** The same for each issuer by its name, if CAA records were read. */
  caaOf?: Readonly<Record<string, CaaVerdict>>;
}

export interface Refuted extends RecordPlace {
  kind: 'Refuted';
  reason: ReasonName;
  /** Without a time: {@link messageAt} adds until when resolvers may repeat the old answer. */
  message: string;
  details?: HostDetails;
  /** State of the CNAME or ALIAS record. */
  state: RecordState;
  observed: string[];
  /** State of the TXT record, if it was queried. */
  txt?: {state: RecordState; observed: string[]};
  /** The records come of the wildcard directly below this name. */
  wildcard?: Hostname;
  /** At most half of the zone's servers lack the record, and most resolvers see it. */
  isMinority?: true;
  /** The CDN that the name is behind: a CNAME or an address may stand behind it that would prove it ({@link mayBeVerified}). */
  behind?: string;
  caa?: CaaVerdict;
  caaOf?: Readonly<Record<string, CaaVerdict>>;
  /** For how long from the check on resolvers may repeat what was seen, by the zone's own servers. */
  oldAnswerSeconds?: number;
}

export interface Unknown extends RecordPlace {
  kind: 'Unknown';
  reason: ReasonName;
  message: string;
  details?: HostDetails;
}

/**
 * True for a negative answer of the zone's own servers. `PropagationPending` is no negative answer, nor is a record that only a minority of
 * these servers lacks while resolvers confirm it.
 */
export const denies = (verdict: Verdict) =>
  verdict.kind === 'Refuted' && verdict.reason !== 'PropagationPending' && !verdict.isMinority;

/**
 * Whether a name is verified, or may be behind a CDN that hides its records. A hidden name wins nothing, and counts as a negative against
 * another tenant's verification ({@link denies}).
 */
export const mayBeVerified = (verdict: Verdict): verdict is ProvenBy | Refuted =>
  verdict.kind === 'Proven' || (verdict.kind === 'Refuted' && verdict.behind !== undefined);

/** The question and the facts that do not depend on the answering server. */
export interface Case {
  question: Question;
  rules: VerificationRules;
  place: RecordPlace;
  /** {@link Observation.wildcard}. */
  wildcard: Hostname | undefined;
  /** {@link Observation.types}; empty: none, or not asked for. */
  types: readonly string[];
  madeUp: boolean;
  /** The records that prove it, in words. */
  wanted: string;
}

/** The answer for the TXT: its values, a CNAME in its place, or why it is unknown. Undefined: not queried. */
export type Challenge =
  | {txt: string[]; cname: string[]; dname?: Finding['dname']}
  | {unknown: Pick<Unknown, 'reason' | 'message'>}
  | undefined;

/** A way to prove a name. */
export interface VerificationMethod {
  /** The records that the customer must create. */
  records(question: Question, place: RecordPlace, edge: Edge): DnsRecord[];
  /** Whether the TXT has to be asked for, beside what was found at the name itself. */
  needs?(question: Question, rules: VerificationRules, isApex: boolean, found: Finding): boolean;
  /** The verdict over what one server answered; undefined: another kind of proof decides. */
  judge(c: Case, found: Finding, challenge: Challenge): Verdict | undefined;
}

/** `seconds`: for how long resolvers may repeat what was found. */
export const refuted = (
  {place, wildcard}: Case,
  reason: ReasonName,
  {state, observed}: Pick<Refuted, 'state' | 'observed'>,
  message: string,
  seconds?: number,
): Refuted => ({
  kind: 'Refuted',
  reason,
  message,
  state,
  observed,
  ...place,
  ...(wildcard !== undefined && {wildcard}),
  ...(seconds !== undefined && {oldAnswerSeconds: seconds}),
});

export const mostObserved = 16;
export const bounded = (records: string[]) => records.toSorted().slice(0, mostObserved);

/**
 * How a message names a wildcard, and what a record at the hostname does to it (RFC 4592, 2.2.1 and 3.3.1): the wildcard stops answering
 * for the topmost name that comes into being, and for all names below that. `instead` begins with a semicolon.
 */
export function wildcardWords({wildcard, question: {hostname}}: Pick<Case, 'wildcard' | 'question'>): {
  by: string;
  instead: string;
} {
  if (wildcard === undefined) return {by: '', instead: ''};
  const ended = endedBy(hostname, wildcard);
  const ends = `; the wildcard record then no longer answers for ${ended} and the names below it`;
  return {
    by: ` by the wildcard record *.${printable(wildcard)}`,
    instead: ended === hostname ? ends : `${ends}: if they are in use, give ${ended} and *.${ended} its value first`,
  };
}

/** The topmost name at or above a hostname for which a wildcard directly below `wildcard` ends when a record is created there. */
const endedBy = (hostname: Hostname, wildcard: Hostname): Hostname =>
  `${hostname
    .slice(0, -wildcard.length - 1)
    .split('.')
    .at(-1)}.${wildcard}`;

/**
 * The names that need records before a TXT is created below a hostname, so that a wildcard's answers stay the same (RFC 4592, 2.2.2 and
 * 3.3.1): the hostname, the names between it and the wildcard, and all names below these.
 */
export function ownRecords(hostname: Hostname, wildcard: Hostname): string {
  const labels = hostname.slice(0, -wildcard.length - 1).split('.');
  const names = labels.flatMap((_, i) => {
    const name = `${labels.slice(i).join('.')}.${wildcard}`;
    return [name, `*.${name}`];
  });
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** The instruction to replace a record, or a server, that answers for every name below `above`. */
export const replaceForAll = (above: string, wanted: string) =>
  `Replace that with records for single names, including ${wanted}. Other names below ${printable(above)} ` +
  'then need their own records.';

/** What following an instruction changes for visitors. Begins with a semicolon. */
export const thenHere = (from: string) => `; visitors then reach this platform instead of ${from}`;

/** Over plain HTTP the edge redirects to HTTPS, which the CDN asks for over plain HTTP again. */
export const originOverHttps = (it: string): string =>
  `${it} must connect to its origin over HTTPS (Cloudflare: Full (strict), not Flexible); otherwise visitors get an endless redirect.`;
