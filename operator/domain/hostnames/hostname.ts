import {hash} from 'node:crypto';
import {domainToASCII, domainToUnicode} from 'node:url';
import {parse} from 'tldts';
import {fold, hostnameRules, needsALabel} from '../../api/hostname-rules.ts';

/** A hostname in the only form that Doorplate compares, queries and writes: lower case, A-labels, no trailing dot. */
export type Hostname = string;

/**
 * The normal form of a hostname that a user wrote (UTS #46, non-transitional, then RFC 1035 lengths). Undefined if no normal form exists:
 * for an invalid Punycode label, a forbidden code point, a label that grows beyond 63 bytes, or an IPv4 address.
 */
export function normalise(written: string): Hostname | undefined {
  // domainToASCII reads its input like a URL: it would drop a path, decode %2E and skip a tab.
  if (/[^-.A-Za-z0-9\u0080-\u{10ffff}]/u.test(written)) return undefined;
  const ascii = domainToASCII(fold(written));
  if (ascii === '' || ascii.length > 253) return undefined;
  if (!/^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(ascii)) return undefined;
  // domainToASCII keeps labels that decode to nothing valid, and writes 1.2.3.0x4 as an IPv4 address.
  if (/(^|\.)xn--/.test(domainToUnicode(ascii)) || /\.[0-9]+$/.test(ascii)) return undefined;
  return ascii;
}

/**
 * What to write in place of a hostname with characters that a CustomDomain cannot have, such as an emoji. Undefined for all others.
 * Registries decide whether such a name exists at all: most follow IDNA2008, which allows no symbol.
 */
export function aLabelAdvice(written: string): string | undefined {
  if (!needsALabel(written)) return undefined;
  const name = normalise(written);
  if (name === undefined) {
    return normalise(written.replaceAll(/[\u200c\u200d]/g, '')) === undefined
      ? undefined
      : 'joined emoji have no ASCII form (UTS #46), so choose another hostname';
  }
  return hostnameRules.every((rule) => rule.holds(name))
    ? `write ${domainToUnicode(name)} as ${name}, the ASCII form that DNS uses and most browsers show`
    : undefined;
}

/** Whether `name` is `ancestor` or a name below it. Both in normal form. */
export const within = (name: Hostname, ancestor: Hostname) => name === ancestor || name.endsWith(`.${ancestor}`);

const psl = {extractHostname: false, validateHostname: false} as const;

/** Whether the hostname is a public suffix of the ICANN section (publicsuffix.org), such as co.uk. No tenant may attach it. */
export function isPublicSuffix(name: Hostname): boolean {
  const {isIcann, publicSuffix} = parse(name, {...psl, allowPrivateDomains: false});
  return publicSuffix === name && (isIcann ?? false);
}

/**
 * The registered name, which the customer's DNS provider therefore knows: example.com for docs.example.com. Names below a private suffix
 * count too (docs.example.uk.com: example.uk.com), because such a suffix sells or lends names like a registry.
 */
export const registrableName = (name: Hostname): Hostname =>
  parse(name, {...psl, allowPrivateDomains: true}).domain ?? name;

/**
 * Whether the hostname is itself the registered name, so that it has its zone's SOA and cannot have a CNAME (RFC 1034, 3.6.2). Below a
 * private suffix a CNAME may be possible; it verifies the hostname as usual.
 */
export const isApexByName = (name: Hostname) => registrableName(name) === name;

// Letters that are written from right to left (Unicode, Bidi_Class R and AL): they would reverse the text beside them.
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * A hostname for people, such as `xn--bcher-kva.example (bücher.example)`. An internationalized hostname has its Unicode form added if
 * that is safe to show.
 */
export function shown(name: Hostname): string {
  const unicode = domainToUnicode(name);
  return unicode === name || rightToLeft.test(unicode) || !/^[-.\p{L}\p{M}\p{N}]+$/u.test(unicode)
    ? name
    : `${name} (${unicode})`;
}

/** A record's name as a DNS provider's form asks for it: relative to the zone, `@` for the zone itself. */
export function recordName(name: Hostname): {name: string; zone: Hostname} {
  const zone = registrableName(name);
  return {name: name === zone ? '@' : name.slice(0, -zone.length - 1), zone};
}

// Crockford's base32 in lower case: it has no letter that looks like a digit.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** The first `length` characters of the base32 form of a SHA-256 over the parts; 5 bits per character. */
export function digest(length: number, ...parts: (string | number)[]): string {
  // Each part ends in a NUL, which no part can contain: ('ab', 'c') and ('a', 'bc') differ.
  const bytes = hash('sha256', parts.map((p) => `${p}\0`).join(''), 'buffer');
  let out = '';
  for (let i = 0; i < length; i++) {
    const bit = i * 5;
    const pair = (bytes[bit >> 3]! << 8) | bytes[(bit >> 3) + 1]!;
    out += alphabet[(pair >> (11 - (bit & 7))) & 31];
  }
  return out;
}

/** The readable part of a name that a digest makes unique: dots become hyphens, at most `max` characters, no hyphen at the end. */
export const readable = (name: string, max: number) => name.replaceAll('.', '-').slice(0, max).replace(/-+$/, '');

/** The inputs for every default hostname of a Project. */
interface ProjectHostParts {
  installation: string;
  zone: Hostname;
  namespace: string;
  name: string;
  /** 0 unless the claim for that hostname is another tenant's. */
  counter?: number;
}

/**
 * The default hostname of a Project: `<project>-<namespace>-<13 characters>.<zone>`, with a first label of at most 63 bytes (RFC 1035).
 * The characters depend only on installation, tenant, namespace, name and counter. So the hostname survives plan changes and, with an
 * Account, restores and re-creation. No other tenant can ever get it, even if no claim remembers it. `tenant`: the Account, or the UID of
 * the Namespace, as a claim names it.
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

/** The default hostname as former releases created it, independent of the tenant. Only its claim ties it to a tenant. */
export const formerProjectHost = (p: ProjectHostParts): Hostname =>
  hostNamed(p, digest(13, 'host', p.installation, p.namespace, p.name, p.counter ?? 0));

const hostNamed = ({name, namespace, zone}: ProjectHostParts, unique: string): Hostname =>
  `${readable(`${name}-${namespace}`, 63 - 14)}-${unique}.${zone}`;

/** Cache of object names: one event of a CustomDomain needs the names for all its hostnames, several times each. */
const objectNames = new Map<string, string>();
const mostObjectNames = 4096;

/** Name of the objects (Certificate, Ingress, Secret) for one hostname of one CustomDomain or Project: a DNS label. */
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

/** Whether an object has such a name for this hostname, with any owner. */
export const isObjectName = (object: string, name: Hostname) =>
  object.slice(0, -14) === readable(name, 63 - 14) && /^-[0-9a-hjkmnp-tv-z]{13}$/.test(object.slice(-14));
