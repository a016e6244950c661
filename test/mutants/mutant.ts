/**
 * What a mutant is, as a file beside this one. NAME.mutant:
 *
 *   # breaks: the guarantee, in a few words
 *   # red: test/unit/dns/names.test.ts › describe › test
 *   # in: operator/dns/names.ts › normalise
 *   - expression
 *   + what replaces it
 *
 * `in` names a file and a symbol of it (see `places`), or, of what is not TypeScript, a file alone. What the `-` lines say
 * occurs exactly once in the symbol's text, however either is laid out: line breaks, indentation and a comma behind the last
 * element do not count (matching.ts), so a formatter breaks no mutant. What the `+` lines say takes its place, or nothing
 * does. More than one `in`, each with its lines, where one guarantee is kept in two places.
 *
 * `# threat: TEXT`, behind `red`, where its test is none of those that docs/security.md names: the first column of the row that it
 * belongs to. Every row has a mutant (test/support/guarantees.ts).
 *
 * A mutant of the admission policy edits what the chart renders (its addresses: manifests.ts), or leaves a part of it out,
 * and names a row of the policy's table:
 *
 *   # red: test/cluster/policy.test.ts › row
 *   # without: ValidatingAdmissionPolicy/routes › matchConditions[of-a-challenge]
 */
import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {replaceOnce} from './matching.ts';
import {parseSource, places} from './symbols.ts';

const here = fileURLToPath(new URL('./', import.meta.url));

/** One change: of `from`, which stands once at its place, to `to`; or, without a change, of the place to nothing. */
export interface Edit {
  /** A file, or a kind and a name of what the chart renders. */
  file: string;
  /** A symbol of the file, or a path of the object. */
  symbol: string | undefined;
  change: {from: string; to: string} | undefined;
}

export interface Mutant {
  name: string;
  breaks: string;
  /** The test that must turn red: its file, and its title behind the titles of its describes, joined by ` › `. */
  test: string;
  title: string;
  /** The rows of docs/security.md that it says it belongs to, by their first column. */
  threats: readonly string[];
  edits: readonly Edit[];
}

/** Does it edit the admission policy, as the chart renders it? */
export const isOfPolicy = ({test}: Mutant): boolean => test === 'test/cluster/policy.test.ts';

/** All mutants, by name. Throws when a file does not have the form. */
export const mutants = (): Mutant[] =>
  readdirSync(here)
    .filter((f) => f.endsWith('.mutant'))
    .toSorted()
    .map((f) => read(f, readFileSync(join(here, f), 'utf8')));

/** A mutant out of its file. Throws when that does not have the form. */
export function read(file: string, text: string): Mutant {
  const breaks = /^# breaks: (.+)$/m.exec(text)?.[1];
  const [test, ...title] = /^# red: (.+)$/m.exec(text)?.[1]?.split(' › ') ?? [];
  if (breaks === undefined || test === undefined || title.length === 0)
    throw new Error(`${file}: it must say "# breaks: RULE" and "# red: FILE › TEST"`);
  const [head = '', ...blocks] = text.split(/^(?=# (?:in|without): )/m);
  const early = head.split('\n').find((line) => !/^$|^# (breaks|red|threat): /.test(line));
  if (early !== undefined || blocks.length === 0)
    throw new Error(`${file}: it must say "# in: PLACE" or "# without: PLACE" in front of this: ${early ?? 'the end'}`);
  const edits = blocks.map((block) => editOf(file, block));
  const threats = [...head.matchAll(/^# threat: (.+)$/gm)].map(([, threat]) => threat!);
  return {name: file.replace(/\.mutant$/, ''), breaks, test, title: title.join(' › '), threats, edits};
}

function editOf(file: string, block: string): Edit {
  const [heading = '', ...lines] = block.split('\n');
  const [path = '', symbol] = heading.slice(heading.indexOf(':') + 1).split(' › ');
  const place = {file: path.trim(), symbol: symbol?.trim()};
  const strange = lines.find((line) => !/^$|^[-+]( |$)/.test(line));
  if (strange !== undefined) throw new Error(`${file}: a line does not begin with "- " or "+ ": ${strange}`);
  const [from, to] = ['-', '+'].map((sign) =>
    lines
      .filter((l) => l.startsWith(sign))
      .map((l) => l.slice(2))
      .join('\n')
      .trimStart(),
  );
  if (heading.startsWith('# without: ')) {
    if (from !== '' || to !== '') throw new Error(`${file}: what is left out as a whole has no lines`);
    return {...place, change: undefined};
  }
  if (from === '' || from === to) throw new Error(`${file}: its "-" lines must say something else than its "+" lines`);
  return {...place, change: {from: from!, to: to!}};
}

/** A source with an edit made. Throws when the edit has no place in it, or more than one. */
export function edited(source: string, {file, symbol, change}: Edit): string {
  if (change === undefined) throw new Error('only a part of a policy can be left out as a whole');
  if (symbol === undefined) {
    if (file.endsWith('.ts')) throw new Error('name a symbol of it: it is TypeScript');
    return replaceOnce(source, change);
  }
  const where = places(source, symbol);
  if (where.length === 0) throw new Error('there is no such symbol');
  return replaceOnce(source, change, where);
}

/** What `make` returns; what it throws says at which edit's place that was. */
export function at<T>({file, symbol}: Edit, make: () => T): T {
  try {
    return make();
  } catch (e) {
    const place = symbol === undefined ? file : `${file} › ${symbol}`;
    throw new Error(`${place}: ${e instanceof Error ? e.message : String(e)}`, {cause: e});
  }
}

/** What the edits make of the files of a checkout. Throws, naming its place, when one has none. */
function sourcesOf(edits: readonly Edit[], root: string): Map<string, string> {
  const sources = new Map<string, string>();
  for (const edit of edits) {
    const path = join(root, edit.file);
    if (!existsSync(path)) throw new Error(`there is no ${edit.file}`);
    const source = sources.get(edit.file) ?? readFileSync(path, 'utf8');
    sources.set(
      edit.file,
      at(edit, () => edited(source, edit)),
    );
  }
  return sources;
}

/** Does something while a mutant is applied to a copy of the checkout. Throws when it does not apply. */
export async function broken({edits}: Mutant, root: string, work: () => Promise<void>): Promise<void> {
  const after = sourcesOf(edits, root);
  const before = [...after.keys()].map((file) => [file, readFileSync(join(root, file))] as const);
  for (const [file, source] of after) writeFileSync(join(root, file), source);
  try {
    await work();
  } finally {
    for (const [file, source] of before) writeFileSync(join(root, file), source);
  }
}

/** Throws when a mutant can't be applied to the checkout as it stands, and says why. Changes nothing, runs no test. */
export function mustApply({edits}: Mutant, root: string): void {
  for (const [file, source] of sourcesOf(edits, root)) if (/\.tsx?$/.test(file)) parseSource(source);
}
