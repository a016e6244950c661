/** `kubectl doorplate`. */
import {readFile} from 'node:fs/promises';
import {text} from 'node:stream/consumers';
import {setTimeout as wait} from 'node:timers/promises';
import {clusterOf} from './cluster.ts';
import {complete} from './complete.ts';
import {programFor, run} from './program.ts';
import type {Surroundings} from './surroundings.ts';

const around: Surroundings = {
  out: (said) => process.stdout.write(said),
  tell: (said) => process.stderr.write(said),
  // It heeds NO_COLOR, FORCE_COLOR and TERM (node:tty).
  colours: process.stdout.isTTY && process.stdout.hasColors(),
  read: (file) => (file === '-' ? text(process.stdin) : readFile(file, 'utf8')),
  cluster: clusterOf,
  now: Date.now,
  wait: (ms) => wait(ms),
};

/** A reader such as `head` may stop early. The command still ends normally with its own exit code. */
const passOverUnread = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE') throw error;
};
for (const stream of [process.stdout, process.stderr]) stream.on('error', passOverUnread);

/** A function, because the packed plugin is a CommonJS file, which has no await at its top level. */
async function main([first, ...words]: readonly string[]): Promise<void> {
  if (first === '__complete') around.out(await complete(programFor(around), words, around));
  else process.exitCode = await run(process.argv.slice(2), around);
}

void main(process.argv.slice(2));
