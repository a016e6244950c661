/**
 * language.ts [--worst N] [FOLDER]: checks that comments of operator/ and dashboard/, the pages of the docs, and the texts that programs show are
 * plain, and that operator/ declares no type name twice. FOLDER: only files below it. Prints the figures; lists the N worst sentences of each
 * kind of text if a figure exceeds its limit, or with `--worst`. Exits with 1 if a figure exceeds its limit.
 */
import {globSync, readFileSync} from 'node:fs';
import {parseArgs} from 'node:util';
import {parse} from 'yaml';
import {
  commentsOf,
  declaredTwice,
  fileLinksIn,
  forbiddenIn,
  type ForbiddenWord,
  hardShare,
  proseOf,
  type Sentence,
  sentencesOf,
  typeNamesOf,
} from './support/language.ts';
import {messagesOf} from './support/messages.ts';
import {pagePaths} from './support/pages.ts';

type Found = Sentence & {path: string};

/**
 * Texts of one kind. The shares are in percent of the sentences and may only fall; `hard`: sentences of function words to 70 % or more;
 * `unnamed`: sentences that begin without a named subject; `words`: words of a sentence on average.
 */
interface Kind {
  name: string;
  most: {hard: number; unnamed: number; words: number};
  sentences: readonly Found[];
  /** Places that are wrong whatever the shares are, such as a forbidden word. */
  wrong: readonly string[];
}

const root = new URL('../', import.meta.url);
const {values, positionals} = parseArgs({options: {worst: {type: 'string'}}, allowPositionals: true});
const files = globSync('{operator,dashboard}/**/*.{ts,tsx}', {
  cwd: root,
  exclude: (path) => /node_modules|dist/.test(path),
})
  .filter((path) => path.startsWith(positionals[0] ?? ''))
  .map((path) => ({path, text: readFileSync(new URL(path, root), 'utf8')}));

const sentencesIn = (path: string, texts: readonly string[]): Found[] =>
  texts.flatMap(sentencesOf).map((sentence) => ({path, ...sentence}));
const words = parse(readFileSync(new URL('docs/words.yaml', root), 'utf8')) as {docs: ForbiddenWord[]};
const within = (path: string): boolean => path.startsWith(positionals[0] ?? '');
const pages = pagePaths()
  .filter(within)
  .map((path) => ({path, text: readFileSync(new URL(path, root), 'utf8')}));
// These quote what they check: titles of tests, words that are not used.
const quotes = new Set(['docs/internals/guarantees.md', 'CHANGELOG.md']);

// German texts, the intros of generated pages (which count as pages) and licenses are no messages in English.
const others = /^operator\/generate\/|\/de(\/|\.ts)|^cluster\/licenses\.ts$/;
const messages = globSync('{operator,dashboard/src,cluster}/**/*.{ts,tsx}', {cwd: root})
  .filter((path) => within(path) && !others.test(path))
  .map((path) => ({path, texts: messagesOf(readFileSync(new URL(path, root), 'utf8'))}));

const twice = declaredTwice(
  new Map(files.filter(({path}) => path.startsWith('operator/')).map(({path, text}) => [path, typeNamesOf(text)])),
);
const kinds: readonly Kind[] = [
  {
    name: 'comments',
    most: {hard: 1, unnamed: 2, words: 25},
    sentences: files.flatMap(({path, text}) => sentencesIn(path, commentsOf(text))),
    wrong: [...twice].map(([name, of]) => `the type ${name} is declared in ${of.join(', ')}`),
  },
  {
    name: 'pages',
    most: {hard: 0.5, unnamed: 2, words: 18},
    sentences: pages.flatMap(({path, text}) => sentencesIn(path, proseOf(text))),
    wrong: pages.flatMap(({path, text}) => [
      // Generated tables list values of the API, such as `Nobody`.
      ...(quotes.has(path) ? [] : forbiddenIn(text, words.docs, text.startsWith('<!-- Generated') ? 'g' : 'gi')).map(
        (each) => `${path}: ${each}`,
      ),
      ...fileLinksIn(text).map((link) => `${path}: ${link} has a file name as its text: write the title of the page`),
    ]),
  },
  {
    name: 'messages',
    most: {hard: 0.5, unnamed: 1, words: 18},
    // A value counts as a word with a meaning.
    sentences: messages.flatMap(({path, texts}) =>
      sentencesIn(
        path,
        texts.map((text) => text.replaceAll('{}', ' Value ')),
      ),
    ),
    wrong: messages.flatMap(({path, texts}) =>
      texts.flatMap((text) => forbiddenIn(text, words.docs, 'g').map((each) => `${path}: ${each}`)),
    ),
  },
];

for (const {name, most, sentences, wrong} of kinds) {
  const percent = (of: readonly unknown[]): number => (100 * of.length) / Math.max(1, sentences.length);
  const hard = sentences.filter(({share}) => share >= hardShare);
  const unnamed = sentences.filter(({hasUnnamedSubject}) => hasUnnamedSubject);
  const average = sentences.reduce((sum, sentence) => sum + sentence.words, 0) / Math.max(1, sentences.length);
  const figures = [
    [percent(hard), most.hard, '% with 70 % function words or more'],
    [percent(unnamed), most.unnamed, '% that begin without a named subject'],
    [average, most.words, 'words on average'],
    [wrong.length, 0, 'forbidden words, links and names'],
  ] as const;
  console.log(
    `${name}: ${sentences.length} sentences; ${figures.map(([is, limit, of]) => `${+is.toFixed(1)} ${of} (at most ${limit})`).join('; ')}`,
  );
  const isWrong = figures.some(([is, limit]) => is > limit);
  if (isWrong) process.exitCode = 1;
  if (!isWrong && values.worst === undefined) continue;
  const n = Number(values.worst ?? 10);
  const long = sentences.filter(({words: count}) => count > 25).toSorted((a, b) => b.words - a.words);
  for (const {path, share, text} of hard.toSorted((a, b) => b.share - a.share).slice(0, n))
    console.log(`  ${share.toFixed(2)} ${path}: ${text}`);
  for (const {path, text} of unnamed.slice(0, n)) console.log(`  unnamed ${path}: ${text}`);
  for (const {path, words: count, text} of long.slice(0, n)) console.log(`  ${count} words ${path}: ${text}`);
  for (const each of wrong.slice(0, n)) console.log(`  ${each}`);
}
if (process.exitCode === 1)
  console.log('Rewrite the sentences that are listed: name the subject, then the verb (CONTRIBUTING.md, "Language").');
