/** Texts of others, made fit to be shown, and the order of texts. */

/** For sorting: by code units, whatever the language of the machine. */
export const byText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** DNS data is attacker input: what is not printable ASCII is written as \DDD (RFC 1035, 5.1), and long data is cut. */
export function printable(data: string): string {
  const safe = [...Buffer.from(data.slice(0, 254), 'utf8')]
    .map((b) => (b > 32 && b < 127 ? String.fromCharCode(b) : `\\${String(b).padStart(3, '0')}`))
    .join('');
  return safe.length > 253 ? `${safe.slice(0, 250)}...` : safe;
}

/** How much of what somebody else wrote is quoted, in characters. */
const longestQuote = 400;

/**
 * A text of somebody else as one line of printable ASCII, cut. Challenge tokens and key authorisations (RFC 8555, 8.1) are
 * left out: they say nothing to a reader.
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

/** Controls, invisible formats such as bidi marks, lone surrogates, and separators that are no space. */
const invisible = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** External text with its letters, cut. Characters that a terminal acts on are written as \u{HEX}. */
export function visible(text: string, longest: number): string {
  const safe = text
    .slice(0, longest)
    .replaceAll(invisible, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
  return safe.length > longest || text.length > longest ? `${safe.slice(0, longest - 3)}...` : safe;
}
