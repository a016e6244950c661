/** Formats external texts so that they are safe to show, and sorts texts. */

/** Sorts by code units, independent of the machine's language. */
export const byText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** DNS data is attacker input: bytes other than printable ASCII are written as \DDD (RFC 1035, 5.1), and long data is cut. */
export function printable(data: string): string {
  const safe = [...Buffer.from(data.slice(0, 254), 'utf8')]
    .map((b) => (b > 32 && b < 127 ? String.fromCharCode(b) : `\\${String(b).padStart(3, '0')}`))
    .join('');
  return safe.length > 253 ? `${safe.slice(0, 250)}...` : safe;
}

/** Longest quote of an external text, in characters. */
const longestQuote = 400;

/**
 * Quotes an external text as one line of printable ASCII, cut. Challenge tokens and key authorizations (RFC 8555, 8.1) are left out,
 * because they do not help a reader.
 */
export function quote(text: string, longest = longestQuote): string {
  const plain = text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/(acme-challenge\/)[\w-]+/g, '$1...')
    .replaceAll(/[\w-]+\.[\w-]{43}(?![\w-])/g, '...');
  const safe = [...Buffer.from(plain, 'utf8')]
    .map((b) => (b >= 32 && b < 127 ? String.fromCharCode(b) : `\\${String(b).padStart(3, '0')}`))
    .join('');
  return safe.length > longest ? `${safe.slice(0, longest - 3)}...` : safe;
}

/** Control characters, invisible formats such as bidi marks, lone surrogates, and separators that are not spaces. */
const invisible = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** An external text with its own letters, cut. Characters that a terminal acts on are written as \u{HEX}. */
export function visible(text: string, longest: number): string {
  const safe = text
    .slice(0, longest)
    .replaceAll(invisible, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
  return safe.length > longest || text.length > longest ? `${safe.slice(0, longest - 3)}...` : safe;
}
