/** Measures how plain the language of comments is, and which type names are declared more than once. */
import {parseSource} from '../mutants/symbols.ts';

/** Words that carry no meaning of their own: pronouns, articles, prepositions, auxiliaries, conjunctions, question words. */
const functionWords: ReadonlySet<string> = new Set(
  `a after again all also an and another any are as at be been before being by can could did do does each else even for from had has
   have he her here his if in into is it its least less may more most must no nor not of off on once one ones only or other others
   out over own same shall she should since so some still such than that the their them then there these they this those to too
   under until up was we were what when where which while who whom whose will with without would yet you`.split(/\s+/),
);

/** A sentence that opens with one of these words often leaves its subject unnamed. */
const opening = /^(What|Who|Whoever|Whose|Where|Of|By|One|That|Those)\b/;

/** Share of function words from which a sentence counts as hard to read. */
export const hardShare = 0.7;

export interface Sentence {
  text: string;
  /** How many words it has. */
  words: number;
  /** Share of function words, 0 to 1. */
  share: number;
  hasUnnamedSubject: boolean;
}

/** The comments of a source that have lines of their own. Consecutive lines are one comment. */
export function commentsOf(source: string): string[] {
  const comments: string[] = [];
  let block: string[] = [];
  let isInside = false;
  for (const line of [...source.split('\n').map((text) => text.trim()), '']) {
    const begins = line.startsWith('/*');
    if (isInside || begins) {
      block.push(line.replace(/^\/\*+|\*+\/$|^\*(?!\/)\s?/g, '').trim());
      isInside = !line.endsWith('*/');
    } else if (line.startsWith('//')) {
      block.push(line.replace(/^\/\/+\s?/, ''));
    } else if (block.length > 0) {
      comments.push(block.join(' ').trim());
      block = [];
    }
  }
  return comments;
}

/** The sentences of a comment that have 6 to 60 words. Shorter and longer texts are labels, lists and tables. */
export function sentencesOf(comment: string): Sentence[] {
  return comment.split(/(?<=[.:;])\s/).flatMap((part) => {
    const text = part.trim();
    const words = text.match(/[A-Za-z'][\w'.]*/g) ?? [];
    if (words.length < 6 || words.length > 60) return [];
    const count = words.filter((word) => functionWords.has(word.toLowerCase().replace(/\.+$/, ''))).length;
    return [{text, words: words.length, share: count / words.length, hasUnnamedSubject: opening.test(text)}];
  });
}

/** The paragraphs of a page in Markdown, without code, tables, headings and the addresses of links. */
export function proseOf(markdown: string): string[] {
  const text = markdown
    .replaceAll(/<!--[^]*?-->/g, '')
    .replaceAll(/^ *```[^]*?^ *```/gm, '')
    .replaceAll(/^(\|.*|#.*|---.*|!\[.*)$/gm, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/<[^>]+>/g, '');
  // List items count as separate paragraphs.
  return text.split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/).map((paragraph) => paragraph.replaceAll(/\s+/g, ' ').trim());
}

/** A word that texts for people do not use. */
export interface ForbiddenWord {
  /** A regular expression without regard to case. */
  word: string;
  /** What to write in its place. */
  instead: string;
}

/**
 * The forbidden words in a text, each with what to write. Fenced blocks, code in backquotes and addresses of links are exempt. `flags`: `gi`,
 * or `g` for texts in which capitals begin values of the API, such as `Nobody`.
 */
export function forbiddenIn(markdown: string, words: readonly ForbiddenWord[], flags: 'g' | 'gi' = 'gi'): string[] {
  const text = markdown
    .replaceAll(/<!--[^]*?-->/g, '')
    .replaceAll(/^ *```[^]*?^ *```/gm, '')
    .replaceAll(/``[^\n]*?``|`[^`\n]*`/g, '')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/https?:\/\/\S+/g, '');
  return words.flatMap(({word, instead}) =>
    [...text.matchAll(new RegExp(`\\b(?:${word})\\b`, flags))].map(([found]) => `"${found}": write ${instead}`),
  );
}

/** Links of a page whose text is the name of a file. */
export const fileLinksIn = (markdown: string): string[] =>
  [...markdown.matchAll(/\[`?[\w./-]+\.(?:md|ts|tsx|yaml|sh|json|svg|conf)`?\]\(/g)].map(([link]) => link.slice(0, -1));

const declarations = /^(TsInterfaceDeclaration|TsTypeAliasDeclaration|ClassDeclaration|TsEnumDeclaration)$/;

/** The names of types and classes that a source declares outside of functions. */
export function typeNamesOf(source: string): string[] {
  interface Declaration {
    type: string;
    declaration?: Declaration;
    id?: {value: string};
    identifier?: {value: string};
  }
  const {body} = parseSource(source) as unknown as {body: Declaration[]};
  return body
    .map((item) => (item.type === 'ExportDeclaration' ? item.declaration! : item))
    .flatMap(({type, id, identifier}) => (declarations.test(type) ? [(id ?? identifier)!.value] : []));
}

/** The files that declare each name, for names that more than one file declares. */
export function declaredTwice(names: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const [file, declared] of names)
    for (const name of new Set(declared)) files.set(name, [...(files.get(name) ?? []), file]);
  return new Map([...files].filter(([, of]) => of.length > 1));
}
