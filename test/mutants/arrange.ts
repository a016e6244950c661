/**
 * Moves each mutant into the `.mutants` file that its first place names (homes.ts), sorts each file by name, and deletes files
 * that are empty then. A second run changes nothing.
 *
 *   node test/mutants/arrange.ts                    after you edit a `# in:` line, or add a mutant to any file
 *   node test/mutants/arrange.ts --moved FROM TO    after you move a source, a test or a symbol: first writes TO for FROM
 *
 * Prints the files that it writes and deletes.
 */
import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {arranged, moved} from './homes.ts';
import {entries} from './mutant.ts';

const here = fileURLToPath(new URL('./', import.meta.url));

function main(args: readonly string[]): void {
  const [option, from, to, ...more] = args;
  if (option !== undefined && (option !== '--moved' || from === undefined || to === undefined || more.length > 0))
    throw new Error('usage: node test/mutants/arrange.ts [--moved FROM TO]');
  const before = entries();
  const after = from === undefined ? before : before.map(({file, text}) => ({file, text: moved(text, from, to!)}));
  if (from !== undefined && after.every(({text}, i) => text === before[i]!.text))
    throw new Error(`no mutant names ${from}`);

  const files = arranged(after);
  for (const [file, content] of files) write(file, content);
  for (const file of new Set(before.map((e) => e.file))) {
    if (files.has(file)) continue;
    rmSync(join(here, file));
    console.log(`deleted ${file}`);
  }
}

/** Writes a file if its content differs. */
function write(file: string, content: string): void {
  const path = join(here, file);
  try {
    if (readFileSync(path, 'utf8') === content) return;
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'ENOENT') throw e;
  }
  mkdirSync(dirname(path), {recursive: true});
  writeFileSync(path, content);
  console.log(`wrote ${file}`);
}

try {
  main(process.argv.slice(2));
} catch (e) {
  console.error(e instanceof Error ? e.message : e);
  process.exitCode = 1;
}
