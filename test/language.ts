/**
 * language.ts [--worst N]: checks that comments of operator/ and dashboard/ are plain and that operator/ declares no type name twice.
 * Prints the figures. `--worst N` lists the N sentences with the highest share of function words, and sentences without a named subject.
 * Exits with 1 if a figure exceeds its limit.
 */
import {globSync, readFileSync} from 'node:fs';
import {parseArgs} from 'node:util';
import {commentsOf, declaredTwice, hardShare, sentencesOf, typeNamesOf} from './support/language.ts';

/** At most this share of sentences, in percent. These limits may only fall. */
const limits = {hard: 1, unnamed: 2};

const root = new URL('../', import.meta.url);
const {values} = parseArgs({options: {worst: {type: 'string', default: '10'}}});
const files = globSync('{operator,dashboard}/**/*.{ts,tsx}', {
  cwd: root,
  exclude: (path) => /node_modules|dist/.test(path),
}).map((path) => ({path, text: readFileSync(new URL(path, root), 'utf8')}));

const sentences = files.flatMap(({path, text}) =>
  commentsOf(text)
    .flatMap(sentencesOf)
    .map((sentence) => ({path, ...sentence})),
);
const percent = (of: readonly unknown[]): number => (100 * of.length) / sentences.length;
const hard = sentences.filter(({share}) => share >= hardShare);
const unnamed = sentences.filter(({hasUnnamedSubject}) => hasUnnamedSubject);
const twice = declaredTwice(
  new Map(files.filter(({path}) => path.startsWith('operator/')).map(({path, text}) => [path, typeNamesOf(text)])),
);

console.log(`${sentences.length} sentences in comments of ${files.length} files`);
console.log(
  `${percent(hard).toFixed(1)} % consist of function words to ${100 * hardShare} % or more (at most ${limits.hard} %)`,
);
console.log(`${percent(unnamed).toFixed(1)} % begin without a named subject (at most ${limits.unnamed} %)`);
console.log(`${twice.size} type names are declared in more than one file of operator/ (none may be)`);

const isWrong = percent(hard) > limits.hard || percent(unnamed) > limits.unnamed || twice.size > 0;
if (isWrong || process.argv.includes('--worst')) {
  const worst = sentences.toSorted((a, b) => b.share - a.share).slice(0, Number(values.worst));
  for (const {path, share, text} of worst) console.log(`  ${share.toFixed(2)} ${path}: ${text}`);
  for (const {path, text} of unnamed.slice(0, Number(values.worst))) console.log(`  ${path}: ${text}`);
  for (const [name, of] of twice) console.log(`  ${name}: ${of.join(', ')}`);
}
if (isWrong) {
  console.log('Rewrite the sentences that are listed: name the subject, then the verb (CONTRIBUTING.md, "Language").');
  process.exitCode = 1;
}
