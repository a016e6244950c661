/**
 * Generates `docs/internals/guarantees.md`: each guarantee with its tests and its mutants. The guarantees are the table of docs/rules.md and
 * the tables of threats in docs/explanation/security.md. A mutant names the guarantee that it breaks.
 */
import type {Mutant} from '../mutants/mutant.ts';
import {isMeant, type Named, namedIn} from './evidence.ts';

/** A rule of docs/rules.md. `text` and `keptBy` are Markdown. */
export interface Rule {
  number: number;
  text: string;
  keptBy: string;
}

/** A row of a table of threats: the attack, the protection, and the tests that the row names. */
export interface Threat {
  section: string;
  what: string;
  stoppedBy: string;
  tests: readonly Named[];
}

/** The cells of the rows of a Markdown table; no cell has a `|` of its own. */
const cells = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The rules of docs/rules.md. */
export const rulesIn = (page: string): Rule[] =>
  page
    .split('\n')
    .filter((line) => /^\| \d+ \|/.test(line))
    .map((line) => {
      const [number = '', text = '', keptBy = ''] = cells(line);
      return {number: Number(number), text, keptBy};
    });

/** How the header of a table of threats begins. The page has other tables too. */
const threatHeader = '| an attacker tries to |';

/** The rows of the tables of threats in docs/explanation/security.md. */
export function threatsIn(page: string): Threat[] {
  let section = '';
  let isInTable = false;
  return page.split('\n').flatMap((line) => {
    if (line.startsWith('## ')) section = line.slice(3);
    isInTable = line.startsWith(threatHeader) || (isInTable && line.startsWith('|'));
    if (!isInTable || line.startsWith(threatHeader) || line.startsWith('|---')) return [];
    const [what = '', stoppedBy = ''] = cells(line);
    return [{section, what, stoppedBy, tests: namedIn(line)}];
  });
}

/** The mutants that break a rule: they say so. */
export const mutantsOfRule = ({number}: Rule, mutants: readonly Mutant[]): Mutant[] =>
  mutants.filter(({breaks}) => breaks.startsWith(`rule ${number},`));

const redOf = ({test, title}: Mutant): Named => ({file: test, title: title.split(' › ').at(-1)!});

/** The mutants of a threat: those that turn one of its tests red, and those that say that they belong to it. */
export const mutantsOfThreat = ({what, tests}: Threat, mutants: readonly Mutant[]): Mutant[] =>
  mutants.filter((mutant) => mutant.threats.includes(what) || tests.some((named) => isMeant(named, redOf(mutant))));

/** What is wrong: a promise without a mutant, a mutant of a row that is not there. */
export function missing(rules: readonly Rule[], threats: readonly Threat[], mutants: readonly Mutant[]): string[] {
  const known = new Set(threats.map(({what}) => what));
  return [
    ...rules
      .filter((rule) => mutantsOfRule(rule, mutants).length === 0)
      .map(({number}) => `rule ${number} has no mutant`),
    ...threats
      .filter((threat) => mutantsOfThreat(threat, mutants).length === 0)
      .map(({section, what}) => `${section}: no mutant of "${what}"`),
    ...mutants.flatMap(({name, threats: of}) =>
      of
        .filter((threat) => !known.has(threat))
        .map((threat) => `${name}: docs/explanation/security.md has no row "${threat}"`),
    ),
  ];
}

const code = (text: string): string => `\`${text}\``;
const lines = (texts: readonly string[]): string => [...new Set(texts)].map(code).join('<br>');

/** Each test with the mutants that turn it red. */
const table = (mutants: readonly Mutant[]): string =>
  [...Map.groupBy(mutants, ({test, title}) => `${test}: ${title}`)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([test, of]) => `| ${code(test)} | ${lines(of.map(({name}) => name))} |\n`)
    .join('');

const ruleSection = (rule: Rule, mutants: readonly Mutant[]): string => `
### Rule ${rule.number}

${rule.text}

Enforced by: ${rule.keptBy}

| test | mutants that turn it red |
|---|---|
${table(mutantsOfRule(rule, mutants))}`;

function threatRow(threat: Threat, mutants: readonly Mutant[]): string {
  const of = mutantsOfThreat(threat, mutants);
  const named = threat.tests.map(({file, title}) => `${file}: ${title}`);
  // A mutant's own test is in the table where docs/explanation/security.md does not name it.
  const others = of
    .filter((m) => !threat.tests.some((t) => isMeant(t, redOf(m))))
    .map((m) => `${m.test}: ${redOf(m).title}`);
  return `| ${threat.what} | ${lines([...named, ...others])} | ${lines(of.map(({name}) => name))} |\n`;
}

const intro = `<!-- Generated from docs/rules.md, docs/explanation/security.md and test/mutants by \`make crds\`. Do not edit. -->
# Tests of the rules

This page lists the tests and the mutants of each rule ([Rules](../rules.md)) and of each threat ([Security](../explanation/security.md)). It is for people who change the source.

A mutant is a small change of the source that takes one guarantee away. It is an entry in a file of \`test/mutants\`. \`make mutants\` applies each mutant, and the
test that it names must fail. A rule or a threat without a test or without a mutant fails the checks.

## Rules
`;

/** Relative links of a page in docs/, for a page in docs/internals/. */
const fromInternals = (text: string): string => text.replaceAll(/\]\((?![a-z]+:|#)/g, '](../');

/** The page, whole. */
export function guaranteesPage(rules: readonly Rule[], threats: readonly Threat[], mutants: readonly Mutant[]): string {
  const sections = [...Map.groupBy(threats, ({section}) => section)].map(
    ([section, of]) =>
      `\n## ${section}\n\n| an attacker tries to | tests | mutants |\n|---|---|---|\n${of.map((threat) => threatRow(threat, mutants)).join('')}`,
  );
  const ruleSections = rules.map((rule) => ruleSection(rule, mutants)).join('');
  return intro + fromInternals(ruleSections) + sections.join('');
}
