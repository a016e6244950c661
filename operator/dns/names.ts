/** Domain names as text. All names in this folder are canonical: lower case, no trailing dot; the root is ''. */

const LONGEST_NAME = 253;
const LONGEST_LABEL = 63;

/** Folds only ASCII letters (RFC 4343): `toLowerCase` would turn the Kelvin sign into a `k`, and so create a false match. */
export const lowerCase = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/**
 * Escapes blank, control and non-ASCII bytes as `\DDD`, as in a zone file (RFC 1035, 5.1). The result is safe in a status or a
 * terminal.
 */
export function printableOctets(text: string): string {
  return text.replace(/[^\x21-\x7e]/gu, (character) =>
    [...Buffer.from(character)].map((octet) => `\\${String(octet).padStart(3, '0')}`).join(''),
  );
}

/** The canonical form of a name from the wire. */
export const canonicalName = (text: string) => printableOctets(lowerCase(text).replace(/\.$/, ''));

/** Whether a canonical name is valid in a question: labels of 1 to 63 bytes, 253 in total (RFC 1035, 2.3.4). The root is valid. */
export function isAskable(name: string): boolean {
  if (name === '') return true;
  return (
    name.length <= LONGEST_NAME &&
    /^[\x21-\x5b\x5d-\x7e]+$/.test(name) &&
    name.split('.').every((label) => label.length > 0 && label.length <= LONGEST_LABEL)
  );
}

/** Whether `name` equals `ancestor` or is below it. Both must be canonical. */
export function isAtOrBelow(name: string, ancestor: string): boolean {
  return ancestor === '' || name === ancestor || name.endsWith(`.${ancestor}`);
}

/** The name and its ancestors, longest first, without the root: `a.b.c` gives `a.b.c`, `b.c`, `c`. */
export function selfAndAncestors(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}
