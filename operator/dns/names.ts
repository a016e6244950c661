/**
 * Domain names as text. Everything in this folder speaks of names in one form: lower case, no trailing dot, the root is ''.
 */

const LONGEST_NAME = 253;
const LONGEST_LABEL = 63;

/** Only ASCII letters fold (RFC 4343): `toLowerCase` would make a `k` of the Kelvin sign, and so a match of something that is none. */
export const lowerCase = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/**
 * Writes blank, control and non-ASCII bytes as `\DDD`, as in a zone file (RFC 1035, 5.1), so that the name can go into a status or a
 * terminal.
 */
export function printableOctets(text: string): string {
  return text.replace(/[^\x21-\x7e]/gu, (character) =>
    [...Buffer.from(character)].map((octet) => `\\${String(octet).padStart(3, '0')}`).join(''),
  );
}

/** The one form of a name that came off the wire. */
export const canonicalName = (text: string) => printableOctets(lowerCase(text).replace(/\.$/, ''));

/** Whether a canonical name can be asked for: labels of 1 to 63 octets, 253 in all (RFC 1035, 2.3.4). The root can. */
export function isAskable(name: string): boolean {
  if (name === '') return true;
  return (
    name.length <= LONGEST_NAME &&
    /^[\x21-\x5b\x5d-\x7e]+$/.test(name) &&
    name.split('.').every((label) => label.length > 0 && label.length <= LONGEST_LABEL)
  );
}

/** Whether `name` is `ancestor` itself or stands below it. Both canonical. */
export function isAtOrBelow(name: string, ancestor: string): boolean {
  return ancestor === '' || name === ancestor || name.endsWith(`.${ancestor}`);
}

/** The name and what stands above it, longest first, without the root: `a.b.c` gives `a.b.c`, `b.c`, `c`. */
export function selfAndAncestors(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}
