import type {Span} from './symbols.ts';

/** A text without what a formatter may change, and for each of its characters where it stands in the whole. */
interface Squeezed {
  text: string;
  at: number[];
}

const closing = /\s*[)\]}]/y;
const isWord = (character: string | undefined) => character !== undefined && /[\w$]/.test(character);

/** Keeps one blank between two words and none elsewhere; no comma before a closing bracket. */
function squeeze(whole: string): Squeezed {
  const kept: Squeezed = {text: '', at: []};
  const keep = (character: string, index: number) => {
    kept.text += character;
    kept.at.push(index);
  };
  for (const {0: piece, index} of whole.matchAll(/\s+|\S/g)) {
    const next = whole[index + piece.length];
    if (/^\s/.test(piece)) {
      if (isWord(kept.text.at(-1)) && isWord(next)) keep(' ', index);
    } else {
      closing.lastIndex = index + 1;
      if (piece !== ',' || !closing.test(whole)) keep(piece, index);
    }
  }
  return kept;
}

/** Where `part` stands in `whole`, whatever the layout of either. */
function occurrences(whole: string, part: string): Span[] {
  const [{text, at}, {text: wanted}] = [squeeze(whole), squeeze(part)];
  const found: Span[] = [];
  for (let i = text.indexOf(wanted); i !== -1; i = text.indexOf(wanted, i + 1))
    found.push({start: at[i]!, end: at[i + wanted.length - 1]! + 1});
  return found;
}

/** The same, of an element with a comma behind it, which it has not where it is the last and a formatter saw to it. */
const elements = (whole: string, element: string): Span[] =>
  occurrences(whole, element).flatMap(({start, end}) => {
    const behind = /^\s*(,|(?=[)\]}]))/.exec(whole.slice(end));
    return behind === null ? [] : [{start, end: end + (behind[1] === ',' ? behind[0].length : 0)}];
  });

/**
 * A text in which `from`, which must stand once in these spans of it, is replaced by `to`. Throws when it stands there never
 * or more often.
 */
export function replaceOnce(
  text: string,
  {from, to}: {from: string; to: string},
  spans: readonly Span[] = [{start: 0, end: text.length}],
): string {
  const [, element] = /^([^]+),\s*$/.exec(from) ?? [];
  const found = spans.flatMap(({start, end}) => {
    const piece = text.slice(start, end);
    const there = element === undefined ? occurrences(piece, from) : elements(piece, element);
    return there.map((o) => ({start: start + o.start, end: start + o.end}));
  });
  const [only, ...more] = found;
  if (only === undefined) throw new Error(`it does not have this: ${from}`);
  if (more.length > 0) throw new Error(`it has this ${found.length} times, not once: ${from}`);
  return text.slice(0, only.start) + to + text.slice(only.end);
}
