/**
 * Every test that docs/explanation/security.md names must have run and passed, by jest's own reports.
 *
 *   node test/evidence.ts REPORTS [--all]     the folder of the reports; all: every suite has run
 *
 * Says which could not be judged because their suite did not run; exits 1 when any of the others did not pass.
 */
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {judge, namedIn, resultsIn} from './support/evidence.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const page = 'docs/explanation/security.md';
const [reports = '', ...flags] = process.argv.slice(2);
const results = resultsIn(reports, root);
const judged = namedIn(readFileSync(`${root}${page}`, 'utf8')).map((named) => ({
  named,
  verdict: judge(named, results, {root, all: flags.includes('--all')}),
}));

const count = {passed: 0, unjudged: 0, wrong: 0};
for (const {
  named: {file, title},
  verdict,
} of judged) {
  if (verdict === 'passed') {
    count.passed++;
    continue;
  }
  if (verdict === 'not run') {
    count.unjudged++;
    console.log(`its suite did not run: ${file}: ${title}`);
    continue;
  }
  count.wrong++;
  console.error(`${page} names ${file}: ${title}\n  ${verdict.wrong}`);
}
console.log(
  `${page}: of ${judged.length} tests that it names, ${count.passed} passed, ${count.unjudged} could not be judged`,
);
process.exitCode = count.wrong > 0 || judged.length === 0 ? 1 : 0;
