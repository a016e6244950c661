/**
 * Writes the pictures of the docs.
 *
 *   node docs/pictures/draw.ts            writes each picture beside this file
 *   node docs/pictures/draw.ts --check    writes nothing; exits 1 and lists the files that are out of step
 */
import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {edges} from './edges.ts';
import {lifecycle} from './lifecycle.ts';
import {limits} from './limits.ts';
import {ownership} from './ownership.ts';
import {parts} from './parts.ts';
import {policyRollOut} from './policy-roll-out.ts';
import {fileOf} from './svg.ts';
import {tenancy} from './tenancy.ts';

const pictures = [edges, lifecycle, limits, ownership, parts, policyRollOut, tenancy];
/** The size of a file in bytes, at most. */
const largest = 20_000;

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

for (const picture of pictures) {
  const path = fileURLToPath(new URL(`${picture.name}.svg`, import.meta.url));
  const content = fileOf(picture);
  const faults = [
    Buffer.byteLength(content) > largest && `is larger than ${largest} bytes`,
    process.argv.includes('--check') && contentOf(path) !== content && 'is out of step: run node docs/pictures/draw.ts',
  ].filter((fault) => fault !== false);
  for (const fault of faults) console.error(`docs/pictures/${picture.name}.svg ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
  if (!process.argv.includes('--check')) writeFileSync(path, content);
}
