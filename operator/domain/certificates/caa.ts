import type {HostDetails} from '../../api/custom-domain.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import {registrableName, within} from '../hostnames/hostname.ts';
import {printable} from '../text.ts';

export interface CaaRecord {
  flags: number;
  tag: string;
  value: string;
}

/** The CAA records found by climbing from a hostname through its ancestors. `operator/dns/caa.ts` performs the search. */
export interface CaaSeen {
  /** The hostname or ancestor at which the climb ended. */
  of?: string;
  /** The name with the records: `of` itself, or the target of its CNAME chain. */
  foundAt?: string;
  /** Tags in lower case. */
  records?: readonly CaaRecord[];
  failure?: {name: string; failure: string; detail: string};
}

/** The CA that would receive the order. */
export interface CertificateAuthority {
  /** The CA's names in CAA records. */
  identities: readonly string[];
  /** The platform's own zone. */
  zone: Hostname;
  /** The ACME account that orders (RFC 8555, 7.1.2), if it is known. */
  accountUri?: string;
}

/** Whether the CA may issue. Only `Allowed` permits an order. */
export type CaaVerdict =
  | {kind: 'Allowed'}
  | {kind: 'Blocked'; message: string; by: 'Customer' | 'Platform'; miss: Miss; details?: HostDetails}
  | {kind: 'Unknown'; message: string; details?: HostDetails};

/** The critical bit (RFC 8659, 4.1), and the lowest bit, which many people mistake for it. Let's Encrypt honors both. */
const criticalBits = 0x80 | 0x01;
/** Properties that Let's Encrypt knows, so that they may be critical. RFC 9495 defines issuemail; issuevmc is for mark certificates. */
const knownTags: ReadonlySet<string> = new Set(['issue', 'issuewild', 'iodef', 'issuemail', 'issuevmc']);

/** Why an `issue` property does not allow the CA to issue. The first entry is nearest to allowing it. */
type IssueMiss = 'Method' | 'Account' | 'Malformed' | 'Letters' | 'Issuer';
/** What the records lack to allow the CA. `Critical`: no record that is added outweighs an unknown critical property. */
export type Miss = IssueMiss | 'Critical';
const misses: Record<IssueMiss, string> = {
  Method: 'which does not allow the validation method http-01',
  Account: "which allows only other accounts of the platform's certificate authority",
  Malformed: 'which has a malformed or repeated parameter, so it allows no certificate authority',
  Letters: "which must name the platform's certificate authority in lower case",
  Issuer: "which does not allow the platform's certificate authority",
};

/** Remedies for records that could not be read, by failure. */
const mends: Partial<Record<string, string>> = {
  BrokenDnssec:
    'At the registrar, correct the DS record of that zone, or remove it to switch DNSSEC off; ' +
    'or ask the DNS provider to sign the zone again.',
  TooLarge: 'Delete records until no more than that number are left.',
};

/**
 * Whether the CAA records allow the CA to issue for a hostname with HTTP-01. RFC 8659: without an `issue` property any CA may issue;
 * `issuewild` does not apply; an unknown critical property forbids every CA. RFC 8657: `validationmethods` counts, and `accounturi` must
 * equal `accountUri`, the platform's account, if that is known. Never looser than Let's Encrypt (Boulder, va/caa.go).
 */
export function judgeCaa(hostname: Hostname, seen: CaaSeen, ca: CertificateAuthority): CaaVerdict {
  if (seen.failure) {
    const {name, failure, detail} = seen.failure;
    return {
      kind: 'Unknown',
      details: {place: printable(name), ...(failure === 'BrokenDnssec' && {cause: 'Dnssec'})},
      message:
        `The CAA records of ${printable(name)} could not be read (${detail.slice(0, 200)}). ` +
        `The certificate authority would refuse, so no certificate is ordered for ` +
        `${hostname}. ${mends[failure] ?? 'The name servers of that zone must answer CAA queries.'}`,
    };
  }
  // Resolvers return records in any order. Sorting keeps the choice of the reported record stable.
  const records = (seen.records ?? [])
    .map((record) => ({...record, text: text(record)}))
    .toSorted((a, b) => (a.text < b.text ? -1 : 1));
  const unknown = records.find((r) => (r.flags & criticalBits) !== 0 && !knownTags.has(r.tag));
  if (unknown)
    return blocked(hostname, seen, ca, {
      miss: 'Critical',
      what: `${unknown.text}, a critical property that no certificate authority may ignore`,
    });
  const issue = records.filter((r) => r.tag === 'issue').map((r) => ({...r, miss: missOf(r.value, ca)}));
  if (issue.length === 0 || issue.some(({miss}) => miss === undefined)) return {kind: 'Allowed'};
  const nearest = (Object.keys(misses) as IssueMiss[]).find((miss) => issue.some((r) => r.miss === miss))!;
  const shown = issue
    .filter((r) => r.miss === nearest)
    .slice(0, 3)
    .map((r) => r.text)
    .join(', ');
  const parameter =
    nearest === 'Method'
      ? '; validationmethods=http-01'
      : nearest === 'Account'
        ? `; accounturi=${ca.accountUri ?? ''}`
        : '';
  return blocked(hostname, seen, ca, {
    miss: nearest,
    what: `${shown}, ${misses[nearest]}`,
    lacking: `CAA 0 issue "${ca.identities[0]}${parameter}"`,
  });
}

const text = ({flags, tag, value}: CaaRecord) =>
  `CAA ${flags} ${printable(tag)} "${printable(value).replaceAll('\\032', ' ')}"`;

/** `lacking`: the record that would allow the CA to issue. Undefined for a critical property, because no added record outweighs it. */
function blocked(
  hostname: Hostname,
  seen: CaaSeen,
  ca: CertificateAuthority,
  {miss, what, lacking}: {miss: Miss; what: string; lacking?: string},
): CaaVerdict {
  const {foundAt = '', of = foundAt} = seen;
  const [at, isAlias, registered] = [printable(foundAt), of !== foundAt, registrableName(hostname)];
  const via = isAlias ? `, to which the CNAME of ${printable(of)} leads,` : '';
  const told = `${at}${via} has ${what}. No certificate is ordered for ${hostname}.`;
  // The hostname's own CNAME leads to the platform's zone, and the platform runs the names behind it.
  if (within(foundAt, ca.zone) || (isAlias && of === hostname)) {
    return {
      kind: 'Blocked',
      by: 'Platform',
      miss,
      details: {place: at},
      message: `${told} The platform must ${lacking ? `add ${lacking} at ${at}` : 'remove that record, or its critical flag'}.`,
    };
  }
  const {message, details} = customersRemedy();
  return {kind: 'Blocked', by: 'Customer', miss, message: `${told} ${message}`, details};

  function customersRemedy(): {message: string; details: HostDetails} {
    if (!within(of, registered)) {
      const add = lacking ?? `CAA 0 issue "${ca.identities[0]}"`;
      return {
        message: `The owner of ${at} controls that record; a CAA record at ${registered} takes precedence. Add ${add} at ${registered}.`,
        details: {place: registered, add},
      };
    }
    if (!lacking) return {message: 'Remove that record, or its critical flag.', details: {place: at}};
    return {
      message: `Add ${lacking} at ${at}${isAlias ? `, or remove the CNAME of ${printable(of)}` : ''}.`,
      details: {place: at, add: lacking},
    };
  }
}

/** Why the value of an `issue` property does not allow the CA to issue with HTTP-01; undefined if it does. */
function missOf(value: string, ca: CertificateAuthority): IssueMiss | undefined {
  const [issuer = '', ...rest] = value.split(';').map(trimmed);
  // The CA compares names exactly.
  if (!ca.identities.includes(issuer)) return ca.identities.includes(issuer.toLowerCase()) ? 'Letters' : 'Issuer';
  const parameters = rest.length === 1 && rest[0] === '' ? [] : rest.map(parsed);
  const [accounts, methods] = ['accounturi', 'validationmethods'].map((tag) =>
    parameters.flatMap((p) => (p?.tag === tag ? [p.value] : [])),
  ) as [string[], string[]];
  if (parameters.includes(undefined) || accounts.length > 1 || methods.length > 1) return 'Malformed';
  if (!accounts.every((uri) => (ca.accountUri === undefined ? URL.canParse(uri) : uri === ca.accountUri)))
    return 'Account';
  return methods.every(allowsOurMethod) ? undefined : 'Method';
}

/**
 * Parses `tag = value` (RFC 8659, 4.2) with the characters that Let's Encrypt accepts: a tag has no hyphen, and may be empty. Undefined
 * if it is malformed.
 */
function parsed(part: string): {tag: string; value: string} | undefined {
  const equals = part.indexOf('=');
  const [tag, value] = [trimmed(part.slice(0, equals)), trimmed(part.slice(equals + 1))];
  return equals >= 0 && /^[A-Za-z0-9]*$/.test(tag) && /^[\x21-\x3a\x3c-\x7e]*$/.test(value) ? {tag, value} : undefined;
}

/** Reads the list up to our method, so that a malformed method counts only before it (RFC 8657, 4). */
function allowsOurMethod(list: string): boolean {
  const methods = list.split(',');
  const ours = methods.indexOf('http-01');
  return ours >= 0 && methods.slice(0, ours).every((method) => /^[A-Za-z0-9-]+$/.test(method));
}

/**
 * Removes the blanks around a text: only space and tab (RFC 5234, B.1: WSP). A regular expression would take quadratic time for very many
 * blanks.
 */
function trimmed(written: string): string {
  const isBlank = (at: number) => written[at] === ' ' || written[at] === '\t';
  let [from, to] = [0, written.length];
  while (from < to && isBlank(from)) from++;
  while (from < to && isBlank(to - 1)) to--;
  return written.slice(from, to);
}
