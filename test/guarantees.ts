/** Writes docs/internals/guarantees.md: part of `make crds`. Exits 1, and names it, when a promise has no mutant. */
import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {mutants} from './mutants/mutant.ts';
import {guaranteesPage, missing, rulesIn, threatsIn} from './support/guarantees.ts';

const page = (name: string): string => fileURLToPath(new URL(`../docs/${name}.md`, import.meta.url));
const [rules, threats] = [
  rulesIn(readFileSync(page('rules'), 'utf8')),
  threatsIn(readFileSync(page('explanation/security'), 'utf8')),
];
const all = mutants();
writeFileSync(page('internals/guarantees'), guaranteesPage(rules, threats, all));
const wrong = missing(rules, threats, all);
for (const line of wrong) console.error(line);
process.exitCode = wrong.length > 0 ? 1 : 0;
