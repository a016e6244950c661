/**
 * `make bench`: what DESIGN.md promises in figures, measured beside peers in the same run.
 *
 *   node test/bench/run.ts [ROW...]      ROW=kit for some rows only; LONG=1 for the sizes that CI has no time for
 *
 * A row is a file of this folder that exports `run`. It prints a table and answers whether it reached what it had to.
 */
import {availableParallelism, cpus, totalmem} from 'node:os';
import type {Row} from './table.ts';

/** In order. Loaded when wanted: a row may need what others do not. */
const rows: Record<string, () => Promise<{run: Row}>> = {
  kit: () => import('./kit.ts'),
};

const wanted = process.argv
  .slice(2)
  .flatMap((word) => word.split(/[\s,]+/))
  .filter(Boolean);
const unknown = wanted.find((name) => !(name in rows));
if (unknown !== undefined) {
  console.error(`there is no row ${JSON.stringify(unknown)}; there are ${Object.keys(rows).join(', ')}`);
  process.exit(2);
}
const started = Date.now();
const say = (text: string): void => console.log(`[${((Date.now() - started) / 1000).toFixed(1).padStart(6)}s] ${text}`);

console.log(
  `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node ${process.version}`,
);
let missed = 0;
for (const name of wanted.length > 0 ? wanted : Object.keys(rows)) {
  say(`row ${name}`);
  const {run} = await rows[name]!();
  try {
    if (!(await run({say, long: Boolean(process.env.LONG)}))) missed++;
  } catch (error) {
    missed++;
    say(`row ${name} FAILED: ${error instanceof Error ? error.stack : String(error)}`);
  }
}
process.exitCode = missed > 0 ? 1 : 0;
