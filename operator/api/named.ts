/**
 * Messages that name the entry at fault. A server-side apply keeps what other field managers have added, so a manifest can be refused for
 * an entry that it does not have.
 */

/** The end of each message about values that field managers may have merged. */
export const takeOver = (lacking: 'this entry' | 'one of them') =>
  `If your manifest lacks ${lacking}, another field manager has added it, and an apply keeps it: docs/gitops.md says how to take it over`;

/** Control and format characters (such as right-to-left overrides) and line ends: no message repeats them. */
const unprintable = String.raw`[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]`;
const isPrintable = (text: string) => !new RegExp(unprintable, 'u').test(text);

/** A message with the values at fault, once in CEL and once in TypeScript. Empty: none can be named, and the rule's fixed message counts. */
export interface Named<T> {
  /** A CEL expression over `self`, as `messageExpression` takes it. */
  readonly cel: string;
  /** The same in TypeScript. */
  readonly text: (value: T) => string;
}

/**
 * A message out of pieces: fixed text, and values. Each value is a pair of a CEL expression (a string) and its TypeScript. Empty if `when`
 * does not hold or a value has characters that are not printable.
 */
export type Piece<T> = string | {readonly cel: string; readonly of: (value: T) => string | number | boolean};

const literal = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const celOf = <T>(pieces: readonly Piece<T>[]) =>
  pieces.map((piece) => (typeof piece === 'string' ? literal(piece) : piece.cel)).join(' + ');
const textOf = <T>(pieces: readonly Piece<T>[], value: T) =>
  pieces.map((piece) => (typeof piece === 'string' ? piece : String(piece.of(value)))).join('');
const printable = (cel: string) => `[${cel}].map(t, t.matches('${unprintable.replaceAll('\\', '\\\\')}') ? '' : t)[0]`;

/** A message out of pieces about a value. */
export const namedValues = <T>(pieces: readonly Piece<T>[]): Named<T> => ({
  cel: printable(celOf(pieces)),
  text: (value) => {
    const text = textOf(pieces, value);
    return isPrintable(text) ? text : '';
  },
});

/** A list's entries at fault. In CEL the pieces see the first entry as `l[0]`, and all of them as `l`. */
export interface Entries<T, E> {
  /** CEL: the list of entries at fault. */
  readonly cel: string;
  readonly of: (value: T) => readonly E[];
}

/** What a message about entries speaks of: the value, the first entry at fault, and how many entries there are at fault. */
export interface Fault<T, E> {
  readonly self: T;
  readonly first: E;
  readonly count: number;
}

/** A message out of pieces about the entries of a list that are at fault. */
export function namedEntries<T, E>(entries: Entries<T, E>, pieces: readonly Piece<Fault<T, E>>[]): Named<T> {
  const message = namedValues(pieces);
  return {
    cel: `[${entries.cel}].map(l, l.size() == 0 ? '' : ${message.cel})[0]`,
    text: (self) => {
      const found = entries.of(self);
      return found.length === 0 ? '' : message.text({self, first: found[0]!, count: found.length});
    },
  };
}

/** How many further entries are at fault. */
export const more: Piece<{readonly count: number}> = {
  cel: `(l.size() > 1 ? ' (and ' + string(l.size() - 1) + ' more)' : '')`,
  of: ({count}) => (count > 1 ? ` (and ${count - 1} more)` : ''),
};
