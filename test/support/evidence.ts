/** What a page names as evidence, and what became of it in the runs of jest. */
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join, relative} from 'node:path';

/** A test as a page names it: `` `test/FILE.test.ts: TITLE` ``. */
export interface Named {
  file: string;
  title: string;
}

/** A test that has run: its title without those of its describes, and what jest says became of it. */
export interface Ran {
  title: string;
  status: string;
}

/** By file, as seen from the checkout. A file that did not load is there, and has no test. */
export type Results = ReadonlyMap<string, readonly Ran[]>;

/** What a page names, in order. */
export const namedIn = (page: string): Named[] =>
  [...page.matchAll(/`(test\/[^`:\s]+\.test\.ts): ([^`]+)`/g)].map((m) => ({file: m[1]!, title: m[2]!}));

interface Report {
  testResults: {name: string; assertionResults: Ran[]}[];
}

/** The results out of all reports (jest --json) in a folder; `root`: the checkout that they are of. */
export function resultsIn(folder: string, root: string): Results {
  const reports = readdirSync(folder)
    .filter((f) => f.endsWith('.json'))
    .map((f) => JSON.parse(readFileSync(join(folder, f), 'utf8')) as Report);
  return new Map(
    reports.flatMap((r) => r.testResults).map(({name, assertionResults}) => [relative(root, name), assertionResults]),
  );
}

/** The titles that a title stands for: those of `test.each` have placeholders. */
const pattern = (title: string): RegExp =>
  new RegExp(
    `^${title
      .split(/%[sdifjop#]|\$[\w.]+/)
      .map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('.+')}$`,
    's',
  );

/** Whether a test is one that is named. */
export const isMeant = (named: Named, {file, title}: Named): boolean =>
  named.file === file && pattern(named.title).test(title);

export type Verdict = 'passed' | 'not run' | {wrong: string};

/**
 * What the results say of a test that is named. Where it stands for several, all must have passed. A file that no run
 * had is `not run`, unless every suite has run or there is no such file.
 */
export function judge({file, title}: Named, results: Results, {root, all}: {root: string; all: boolean}): Verdict {
  const ran = results.get(file);
  if (!ran) return all || !existsSync(join(root, file)) ? {wrong: 'no run had such a file'} : 'not run';
  const meant = ran.filter((t) => pattern(title).test(t.title));
  if (meant.length === 0) return {wrong: 'no test of the file has this title'};
  const bad = meant.find((t) => t.status !== 'passed');
  return bad ? {wrong: `it is ${bad.status}${bad.title === title ? '' : `: ${bad.title}`}`} : 'passed';
}
