/**
 * A mutant is an entry of a `.mutants` file below this folder:
 *
 *   # mutant: names-keep-their-case
 *   # breaks: the guarantee, in a few words
 *   # red: test/unit/dns/names.test.ts › describe › test
 *   # in: operator/dns/names.ts › normalise
 *   - expression
 *   + what replaces it
 *
 * A name is used once in all files. The first `in` decides which file an entry belongs to (homes.ts): here `dns/names.mutants`.
 * To move entries there, run `node test/mutants/arrange.ts`.
 *
 * `in` names a file and a symbol in it (see `places`), or, if the file is not TypeScript, the file alone. The `-` lines occur
 * exactly once in the symbol's text. Line breaks, indentation and a comma behind the last element do not count (matching.ts),
 * so a formatter breaks no mutant. The `+` lines replace them; without `+` lines the text is removed. An entry has several
 * `in`, each with its lines, if one guarantee is kept in several places.
 *
 * `# threat: TEXT` follows `red` if docs/explanation/security.md does not name the test: TEXT is the first column of the row that the mutant
 * belongs to. Every row has a mutant (test/support/guarantees.ts).
 *
 * A mutant of the admission policy edits the rendered chart (addresses: manifests.ts), or leaves a part of it out. It names a
 * row of the policy's table:
 *
 *   # red: test/cluster/policy.test.ts › row
 *   # without: ValidatingAdmissionPolicy/routes › matchConditions[of-a-challenge]
 *
 * Mutants that leave out one part of the policy are generated (policy-rules.ts). Write one only if it needs a `threat`.
 */
import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join, relative} from 'node:path';
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
  /** The file that has it, below this folder. */
  file: string;
  breaks: string;
  /** The test that must turn red: its file, and its title behind the titles of its describes, joined by ` › `. */
  test: string;
  title: string;
  /** The rows of docs/explanation/security.md that it says it belongs to, by their first column. */
  threats: readonly string[];
  edits: readonly Edit[];
}

/** The test of the admission policy: each row of the policy's table is a test of its title. */
export const policyTest = 'test/cluster/policy.test.ts';

/** Does it edit the admission policy, as the chart renders it? */
export const isOfPolicy = ({test}: Mutant): boolean => test === policyTest;

/** All mutants, sorted by name. Throws if a file or an entry does not have the form, or if two entries have one name. */
export function mutants(): Mutant[] {
  const all = new Map<string, Mutant>();
  for (const {file, text} of entries()) {
    const mutant = read(file, text);
    const other = all.get(mutant.name);
    if (other !== undefined) throw new Error(`${mutant.name} is in ${other.file} and in ${file}: rename one of them`);
    all.set(mutant.name, mutant);
  }
  return [...all.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** An entry as text, and its file: a path below this folder. */
export interface Entry {
  file: string;
  text: string;
}

/** The entries of all `.mutants` files. Throws if this folder has a file of another kind, or a file does not begin with an entry. */
export const entries = (): Entry[] =>
  readdirSync(here, {recursive: true, withFileTypes: true})
    .filter((f) => f.isFile() && !f.name.endsWith('.ts') && f.name !== 'verdicts.json')
    .map((f) => relative(here, join(f.parentPath, f.name)))
    .toSorted()
    .flatMap((file) => entriesIn(file, readFileSync(join(here, file), 'utf8')));

/** The entries of one file. */
export function entriesIn(file: string, content: string): Entry[] {
  if (!file.endsWith('.mutants')) throw new Error(`${file}: move its mutants into a .mutants file`);
  const texts = content.split(/^(?=# mutant: )/m);
  if (!texts[0]!.startsWith('# mutant: ')) throw new Error(`${file}: it must begin with "# mutant: NAME"`);
  return texts.map((text) => ({file, text}));
}

/** A mutant from the text of an entry of a file. Throws if the text does not have the form. */
export function read(file: string, text: string): Mutant {
  const name = /^# mutant: (.+)$/m.exec(text)?.[1];
  const breaks = /^# breaks: (.+)$/m.exec(text)?.[1];
  const [test, ...title] = /^# red: (.+)$/m.exec(text)?.[1]?.split(' › ') ?? [];
  const where = `${file}: ${name}`;
  if (name === undefined || breaks === undefined || test === undefined || title.length === 0)
    throw new Error(`${where}: it must say "# mutant: NAME", "# breaks: RULE" and "# red: FILE › TEST"`);
  const [head = '', ...blocks] = text.split(/^(?=# (?:in|without): )/m);
  const early = head.split('\n').find((line) => !/^$|^# (mutant|breaks|red|threat): /.test(line));
  if (early !== undefined || blocks.length === 0)
    throw new Error(
      `${where}: it must say "# in: PLACE" or "# without: PLACE" in front of this: ${early ?? 'the end'}`,
    );
  const edits = blocks.map((block) => editOf(where, block));
  const threats = [...head.matchAll(/^# threat: (.+)$/gm)].map(([, threat]) => threat!);
  return {name, file, breaks, test, title: title.join(' › '), threats, edits};
}

function editOf(where: string, block: string): Edit {
  const [heading = '', ...lines] = block.split('\n');
  const [path = '', symbol] = heading.slice(heading.indexOf(':') + 1).split(' › ');
  const place = {file: path.trim(), symbol: symbol?.trim()};
  const strange = lines.find((line) => !/^$|^[-+]( |$)/.test(line));
  if (strange !== undefined) throw new Error(`${where}: a line does not begin with "- " or "+ ": ${strange}`);
  const [from, to] = ['-', '+'].map((sign) =>
    lines
      .filter((l) => l.startsWith(sign))
      .map((l) => l.slice(2))
      .join('\n')
      .trimStart(),
  );
  if (heading.startsWith('# without: ')) {
    if (from !== '' || to !== '') throw new Error(`${where}: what is left out as a whole has no lines`);
    return {...place, change: undefined};
  }
  if (from === '' || from === to) throw new Error(`${where}: its "-" lines must say something else than its "+" lines`);
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
    if (!existsSync(path))
      throw new Error(
        `there is no ${edit.file}. If it was moved: node test/mutants/arrange.ts --moved ${edit.file} TO`,
      );
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
