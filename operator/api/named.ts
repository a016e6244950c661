/**
 * Messages that name the entry at fault. A server-side apply keeps what other field managers have added, so a manifest can be refused for
 * an entry that it does not have.
 */

/**
 * The end of each message about values that field managers may have merged. Only the API server adds it: a manifest alone, such
 * as a file that `kubectl doorplate check` reads, has no merged values.
 */
export const takeOver = (lacking: 'this entry' | 'one of them'): Merged => ({
  merged:
    `. If your manifest lacks ${lacking}, another field manager has added it, and an apply keeps it: ` +
    "the page GitOps of Doorplate's documentation shows how to take it over",
});

/** Control and format characters (such as right-to-left overrides) and line ends: no message repeats them. */
const unprintable = String.raw`[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]`;

/** A message with the values at fault, in CEL and in TypeScript. If it is empty, the rule's fixed message counts. */
export interface Named<T> {
  /** A CEL expression over `self`, as `messageExpression` takes it. */
  readonly cel: string;
  /** The same in TypeScript, without {@link takeOver}. */
  readonly text: (value: T) => string;
}

/** A value in a message: a CEL expression, and the same in TypeScript. */
export interface Value<T> {
  readonly cel: string;
  readonly of: (value: T) => string | number | boolean;
}
/** A text about merged values, which the API server alone shows. */
interface Merged {
  readonly merged: string;
}
/** A message consists of fixed texts and values. */
export type Piece<T> = string | Value<T> | Merged;

const literal = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
/**
 * A message in CEL. It has no `+`, because the API server takes the cost of `+` from the length of both texts, and for most it knows no
 * length. The cost of `format` depends on its fixed text alone.
 */
const celOf = <T>(pieces: readonly Piece<T>[]) => {
  const fixed = pieces.map((piece) => (typeof piece === 'string' ? piece : 'merged' in piece ? piece.merged : '%s'));
  const values = pieces.flatMap((piece) => (typeof piece === 'object' && 'cel' in piece ? piece.cel : []));
  return `${literal(fixed.join(''))}.format([${values.join(', ')}])`;
};
const textOf = <T>(pieces: readonly Piece<T>[], value: T) =>
  pieces
    .map((piece) => (typeof piece === 'string' ? piece : 'merged' in piece ? '' : String(piece.of(value))))
    .join('');

/** Whether users' texts can be shown. */
const celPrintable = (texts: readonly Value<never>[]) =>
  texts.map(({cel}) => `!${cel}.matches('${unprintable.replaceAll('\\', '\\\\')}')`).join(' && ');
const isPrintable = <T>(texts: readonly Value<T>[], value: T) =>
  texts.every(({of}) => !new RegExp(unprintable, 'u').test(String(of(value))));

/** A message about a value. `when`: whether it applies. `texts`: the values in it that users wrote. */
export const namedValues = <T>(
  pieces: readonly Piece<T>[],
  when?: {cel: string; of: (value: T) => boolean; texts: readonly Value<T>[]},
): Named<T> => ({
  cel: when ? `${when.cel} && ${celPrintable(when.texts)} ? ${celOf(pieces)} : ''` : celOf(pieces),
  text: (value) => (!when || (when.of(value) && isPrintable(when.texts, value)) ? textOf(pieces, value) : ''),
});

/** A list's entries at fault. */
export interface Entries<T, E> {
  readonly list: Omit<Value<T>, 'of'> & {readonly of: (value: T) => readonly E[]};
  /** Whether an entry is at fault, which CEL calls `r`. */
  readonly fault: {readonly cel: string; readonly of: (entry: E, value: T) => boolean};
  /** The values in the message that users wrote, in CEL over `r`. Skips entries with a text that is not printable. */
  readonly texts: readonly Value<E>[];
}

/** What a message about entries has: the first entry at fault (in CEL `l[0]`), and how many are at fault (`l.size()`). */
export interface Fault<E> {
  readonly first: E;
  readonly count: number;
}

/** A message about entries of a list. */
export const namedEntries = <T, E>(
  {list, fault, texts}: Entries<T, E>,
  pieces: readonly Piece<Fault<E>>[],
): Named<T> => ({
  cel:
    `[${list.cel}.filter(r, ${fault.cel} && ${celPrintable(texts)})]` +
    `.map(l, l.size() == 0 ? '' : ${celOf(pieces)})[0]`,
  text: (value) => {
    const found = list.of(value).filter((entry) => fault.of(entry, value) && isPrintable(texts, entry));
    return found.length === 0 ? '' : textOf(pieces, {first: found[0]!, count: found.length});
  },
});

/** How many further entries are at fault. */
export const more: Value<Fault<unknown>> = {
  cel: `(l.size() > 1 ? ' (and %s more)'.format([l.size() - 1]) : '')`,
  of: ({count}) => (count > 1 ? ` (and ${count - 1} more)` : ''),
};
