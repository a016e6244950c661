/** `make bench`: what is promised in figures, measured beside peers in the same run. */
import {availableParallelism, cpus, loadavg, totalmem} from 'node:os';
import {join} from 'node:path';
import {Fixture, folder} from './fixture.ts';
import {heard, Measured, type Outcome} from './measured.ts';
import {rows, rowsOf} from './rows.ts';
import type {BenchContext} from './table.ts';

const words = process.argv.slice(2);
const usage = `usage: make bench [ROW=ROW,...] [LONG=1] [DOMAINS=NUMBER]

Measures these rows, or all: each prints a table, beside a peer or a floor where there is one, and says whether it reached what it had to.

${Object.entries(rows)
  .map(([name, {what}]) => `  ${name.padEnd(8)}${what}`)
  .join('\n')}

DOMAINS   how many, where a row is about many: 1,000 unless told, 10,000 with LONG=1; P1b and P14 1,000 at most, P1c 250
LONG=1    the large sizes and long times, for which CI has no time

P2 to P7 share one platform of Live domains, which is kept in dist/bench/DOMAINS: one that was ended goes on where it was. With LONG=1
what a row has come to is kept there, too: it is told again, and not measured again. To begin anew remove that folder.
`;

function settingsOf(env: NodeJS.ProcessEnv): Omit<BenchContext, 'say'> {
  const long = Boolean(env.LONG);
  const domains = Number(env.DOMAINS || (long ? 10_000 : 1000));
  if (!Number.isInteger(domains) || domains < 10) throw new Error('DOMAINS must be a number of 10 or more');
  return {long, domains};
}

const started = Date.now();
const say = (text: string): void => console.log(`[${((Date.now() - started) / 1000).toFixed(1).padStart(6)}s] ${text}`);
let fixture: Fixture | undefined;

async function measure(name: string, context: BenchContext): Promise<boolean> {
  const {run} = rows[name]!;
  if ('alone' in run) return (await run.alone())(context);
  fixture ??= await Fixture.make(context);
  return (await run.onFixture())(context, fixture);
}

/** As it was measured before this bench was ended, or now. */
async function outcomeOf(name: string, context: BenchContext, measured: Measured | undefined): Promise<Outcome> {
  const before = await measured?.get(name);
  if (before) {
    console.log([...before.said, '(measured before)'].join('\n'));
    return before;
  }
  const outcome = await heard(() => measure(name, context));
  await measured?.keep(name, outcome);
  return outcome;
}

/** Ends the platform of Live domains; false when something is wrong with what stands. */
async function endFixture(): Promise<boolean> {
  if (!fixture) return true;
  const wrong = await fixture.wrong();
  const well = 'every domain Ready, no double order, no failed reconcile';
  say(`the end state: ${wrong.length === 0 ? well : `WRONG: ${wrong.join(', ')}`}`);
  await fixture.world.stop();
  fixture = undefined;
  return wrong.length === 0;
}

/** How many promises were not kept. */
async function main(): Promise<number> {
  const wanted = rowsOf(words);
  const context = {...settingsOf(process.env), say};
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), ${(totalmem() / 2 ** 30).toFixed(0)} GiB`;
  console.log(`${machine}, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)} at the start`);
  const lastOnFixture = wanted.findLast((name) => 'onFixture' in rows[name]!.run);
  const missed: string[] = [];
  const measured = context.long ? new Measured(join(folder, String(context.domains), 'rows.json')) : undefined;
  for (const name of wanted) {
    say(`row ${name}: ${rows[name]!.what}`);
    try {
      if (!(await outcomeOf(name, context, measured)).reached) missed.push(name);
    } catch (error) {
      missed.push(name);
      say(`row ${name} FAILED: ${error instanceof Error ? error.stack : String(error)}`);
    }
    if (name === lastOnFixture && !(await endFixture())) missed.push('the end state');
  }
  say(missed.length === 0 ? `all ${wanted.length} rows reached` : `missed: ${missed.join(', ')}`);
  return missed.length;
}

if (words.some((word) => word === '--help' || word === 'help')) console.log(usage);
else {
  try {
    process.exitCode = (await main()) > 0 ? 1 : 0;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exitCode = 2;
  }
}
