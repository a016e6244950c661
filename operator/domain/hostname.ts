import {hash} from 'node:crypto';
import {domainToASCII, domainToUnicode} from 'node:url';
import {parse} from 'tldts';
import {fold} from '../api/hostname-rules.ts';

/** A hostname in the one form that Doorplate compares, queries and writes: lower case, A-labels, no trailing dot. */
export type Hostname = string;

/**
 * The normal form of a hostname that a user wrote (UTS #46, non-transitional, then RFC 1035 lengths), or undefined where
 * it has none: an invalid Punycode label, a forbidden code point, a label that grows beyond 63 octets, an IPv4 address.
 */
export function normalise(written: string): Hostname | undefined {
  // domainToASCII reads as a URL does: it would drop a path, decode %2E and skip a tab.
  if (/[^-.A-Za-z0-9\u0080-\u{10ffff}]/u.test(written)) return undefined;
  const ascii = domainToASCII(fold(written));
  if (ascii === '' || ascii.length > 253) return undefined;
  if (!/^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(ascii)) return undefined;
  // domainToASCII leaves labels that decode to nothing valid as they are, and writes 1.2.3.0x4 as the address that it is.
  if (/(^|\.)xn--/.test(domainToUnicode(ascii)) || /\.[0-9]+$/.test(ascii)) return undefined;
  return ascii;
}

/** Whether `name` is `ancestor` or stands below it. Both in normal form. */
export const within = (name: Hostname, ancestor: Hostname) => name === ancestor || name.endsWith(`.${ancestor}`);

const psl = {extractHostname: false, validateHostname: false} as const;

/** Whether the hostname is a public suffix of the ICANN section (publicsuffix.org), such as co.uk: nobody's to attach. */
export function isPublicSuffix(name: Hostname): boolean {
  const {isIcann, publicSuffix} = parse(name, {...psl, allowPrivateDomains: false});
  return publicSuffix === name && (isIcann ?? false);
}

/**
 * The name that was registered and that the customer's DNS provider therefore knows: example.com of docs.example.com. Below a
 * private suffix too (docs.example.uk.com: example.uk.com), which sells or lends names as a registry does.
 */
export const registrableName = (name: Hostname): Hostname =>
  parse(name, {...psl, allowPrivateDomains: true}).domain ?? name;

/**
 * Whether the hostname is itself what was registered, so that its zone's SOA stands there and a CNAME can't (RFC 1034, 3.6.2).
 * Below a private suffix one may be possible all the same; it proves there as anywhere.
 */
export const isApexByName = (name: Hostname) => registrableName(name) === name;

// Letters that are written from right to left (Unicode, Bidi_Class R and AL): they would turn round what stands beside them.
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * A hostname for people: an internationalised one with its Unicode form, `xn--bcher-kva.example (bücher.example)`,
 * where that is safe to show.
 */
export function shown(name: Hostname): string {
  const unicode = domainToUnicode(name);
  return unicode === name || rightToLeft.test(unicode) || !/^[-.\p{L}\p{M}\p{N}]+$/u.test(unicode)
    ? name
    : `${name} (${unicode})`;
}

/** How a DNS provider's form asks for a record: its name relative to the zone, `@` for the zone itself. */
export function recordName(name: Hostname): {name: string; zone: Hostname} {
  const zone = registrableName(name);
  return {name: name === zone ? '@' : name.slice(0, -zone.length - 1), zone};
}

// Crockford's base32 in lower case: no letter that is taken for a digit.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** The first `length` characters of the base32 of a SHA-256 over the parts; 5 bits a character. */
export function digest(length: number, ...parts: (string | number)[]): string {
  // Each part ends in a NUL, which none can contain: ('ab', 'c') and ('a', 'bc') differ.
  const bytes = hash('sha256', parts.map((p) => `${p}\0`).join(''), 'buffer');
  let out = '';
  for (let i = 0; i < length; i++) {
    const bit = i * 5;
    const pair = (bytes[bit >> 3]! << 8) | bytes[(bit >> 3) + 1]!;
    out += alphabet[(pair >> (11 - (bit & 7))) & 31];
  }
  return out;
}

/** Dots made hyphens, cut to `max` characters, no hyphen at the end: the readable part of a name that a digest makes unique. */
export const readable = (name: string, max: number) => name.replaceAll('.', '-').slice(0, max).replace(/-+$/, '');

/** The parts of every Project's default hostname. */
interface ProjectHostParts {
  installation: string;
  zone: Hostname;
  namespace: string;
  name: string;
  /** 0 unless that host's claim is another tenant's. */
  counter?: number;
}

/**
 * The default host of a Project: `<project>-<namespace>-<13 characters>.<zone>`, the first label at most 63 octets
 * (RFC 1035). The characters are made of installation, tenant, namespace, name and counter alone: so it survives plan changes,
 * and with an Account restores and re-creation, and no other tenant can ever have it, whether anybody remembers it or not.
 * `tenant`: the Account, or the UID of the Namespace, as a claim names it.
 */
export const projectHost = ({
  tenant: {account, namespaceUID = ''},
  ...p
}: ProjectHostParts & {tenant: {account?: string; namespaceUID?: string}}): Hostname =>
  hostNamed(
    p,
    digest(
      13,
      'host of a tenant',
      p.installation,
      account === undefined ? 'namespace' : 'account',
      account ?? namespaceUID,
      p.namespace,
      p.name,
      p.counter ?? 0,
    ),
  );

/** The same as releases made it whose hosts did not depend on the tenant: it is a tenant's by its claim alone. */
export const formerProjectHost = (p: ProjectHostParts): Hostname =>
  hostNamed(p, digest(13, 'host', p.installation, p.namespace, p.name, p.counter ?? 0));

const hostNamed = ({name, namespace, zone}: ProjectHostParts, unique: string): Hostname =>
  `${readable(`${name}-${namespace}`, 63 - 14)}-${unique}.${zone}`;

/** Names of objects that were asked for: one event of a CustomDomain asks for those of all its hostnames, several times each. */
const objectNames = new Map<string, string>();
const mostObjectNames = 4096;

/** Name of the objects (Certificate, Ingress, Secret) of one hostname of one CustomDomain or Project: a DNS label. */
export function objectNameOf(ownerUid: string, name: Hostname): string {
  const of = `${ownerUid} ${name}`;
  let known = objectNames.get(of);
  if (known === undefined) {
    known = `${readable(name, 63 - 14)}-${digest(13, 'object', ownerUid, name)}`;
    if (objectNames.size === mostObjectNames) objectNames.clear();
    objectNames.set(of, known);
  }
  return known;
}

/** Whether it is such a name of a hostname's, of whatever owner. */
export const isObjectName = (object: string, name: Hostname) =>
  object.slice(0, -14) === readable(name, 63 - 14) && /^-[0-9a-hjkmnp-tv-z]{13}$/.test(object.slice(-14));
