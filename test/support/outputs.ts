/**
 * The outputs that pages show: a block `text output` directly below a block of shell. Tests run the shell and compare. With OUTPUTS=write
 * they write the real outputs into the pages in place of those that differ.
 */
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {type Block, type Page, root} from './pages.ts';

/** The number of the line behind the closing fence of a block, counted from 1. */
const lineBehind = ({line, text}: Block): number => line + text.split('\n').length + 2;

/** The documented output of a block of shell. */
export function outputOf(page: Page, block: Block): string | undefined {
  const next = page.blocks[page.blocks.indexOf(block) + 1];
  if (next?.info.join(' ') !== 'text output') return undefined;
  const between = page.text.split('\n').slice(lineBehind(block) - 1, next.line - 1);
  return between.every((line) => line.trim() === '') ? next.text : undefined;
}

/** Parts of an output that differ from run to run, each with a word in its place. */
const volatile: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?( ?Z| UTC)?(?!\w)/g, 'TIME'],
  [/\b\d\d:\d\d UTC\b/g, 'TIME'],
  [/\b\d{4}-\d\d-\d\d\b/g, 'DATE'],
  [/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d( [+-]\d{4}| GMT)?/g, 'TIME'],
  [/\b[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d \d{4}\b/g, 'TIME'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UID'],
  [/\bdp_[A-Za-z0-9_.-]+/g, 'TOKEN'],
  [/\b(doorplate-[a-z]+=)[\w-]{16,}/g, '$1TOKEN'],
  [/^(retry|id): [\w-]+$/g, '$1: VALUE'],
  [/W\/"[\w-]+"/g, 'W/"ETAG"'],
  [/(Resource Version: +)\d+/gi, '$1N'],
  // Objects of a hostname are named by it and a hash of their owner; default hostnames end with a hash.
  [/\b([a-z0-9-]+-example-(?:com|net|org))-[0-9a-hjkmnp-tv-z]{13}\b/g, '$1-HASH'],
  [/\b([a-z0-9-]+)-[a-z0-9]{6,13}(\.apps\.example\.net)/g, '$1-HASH$2'],
  [/\b\d+(\.\d+)? ?(ms|s|sec|min|m|h|d|days?|hours?|minutes?|seconds?)(\d+(s|m|h))*\b/g, 'SPAN'],
  [/\b(127\.0\.0\.1|localhost):\d+/g, '$1:PORT'],
  [/\b[0-9a-f]{64}\b/g, 'SHA256'],
  [/\b(uninstall-)[0-9a-f]{6,8}\b/g, '$1HASH'],
  [/\bsha256:[0-9a-f]{12,64}/g, 'sha256:DIGEST'],
];

/** The output as pages show it: the zone of the tests' platform has another name. */
const shown = (output: string): string => output.replaceAll('apps.platform.test', 'apps.example.net').trimEnd();

const plain = (line: string): string =>
  volatile
    .reduce((text, [form, word]) => text.replaceAll(form, word), shown(line))
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Whether a value of JSON has all that the documented one has. A string that ends with `...` is the beginning of the real one. */
function has(real: unknown, documented: unknown): boolean {
  if (typeof documented === 'string' && typeof real === 'string') {
    if (documented.endsWith('...')) return plain(real).startsWith(plain(documented.slice(0, -3)));
    return plain(real) === plain(documented);
  }
  if (Array.isArray(documented))
    return Array.isArray(real) && real.length === documented.length && documented.every((one, i) => has(real[i], one));
  if (typeof documented === 'object' && documented !== null)
    return (
      typeof real === 'object' &&
      real !== null &&
      Object.entries(documented).every(([name, value]) => has((real as Record<string, unknown>)[name], value))
    );
  return typeof documented === 'number' ? typeof real === 'number' : real === documented;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A documented line that ends with `...` is the beginning of the real one. */
const isLine = (real: string, documented: string): boolean =>
  documented.endsWith('...') ? real.startsWith(documented.slice(0, -3).trimEnd()) : real === documented;

/** Whether an output is the documented one. A documented line `...` matches any number of lines. */
export function isOutput(real: string, documented: string): boolean {
  const object = json(documented);
  if (object !== undefined && typeof object === 'object') return has(json(real), object);
  const [lines, wanted] = [real, documented].map((text) => text.trim().split('\n').map(plain)) as [string[], string[]];
  const fits = (at: number, of: number): boolean => {
    if (of === wanted.length) return at === lines.length;
    if (wanted[of] === '...') return fits(at, of + 1) || (at < lines.length && fits(at + 1, of));
    return at < lines.length && isLine(lines[at]!, wanted[of]!) && fits(at + 1, of + 1);
  };
  return fits(0, 0);
}

const writes = process.env.OUTPUTS === 'write';
const mostLines = 30;
/** The beginning of a long output, with the mark of left-out lines. */
function shortened(output: string): string {
  const lines = output.split('\n');
  return lines.length <= mostLines ? output : [...lines.slice(0, mostLines / 2), '...'].join('\n');
}

/** Real outputs to be written: by page and by the line of their block. */
const found = new Map<string, Map<number, string>>();

/** A block of shell whose real output is not the documented one; undefined if it is, if the block is `silent` or `varies`, or if outputs are written. */
export function wrongOutput(page: Page, block: Block, real: string): string | undefined {
  if (block.info.includes('silent') || block.info.includes('varies')) return undefined;
  const documented = outputOf(page, block);
  if (documented !== undefined && isOutput(real, documented)) return undefined;
  if (!writes) return `${page.path}:${block.line} prints\n${real}\nand the page shows\n${documented ?? 'nothing'}`;
  const ofPage = found.get(page.path) ?? new Map<number, string>();
  found.set(page.path, ofPage.set(block.line, shortened(shown(real))));
  return undefined;
}

/** Writes the real outputs that were found into their pages, from the last to the first. */
export function writeOutputs(read: (path: string) => Page): void {
  for (const [path, outputs] of found) {
    const page = read(path);
    const lines = readFileSync(join(root, path), 'utf8').split('\n');
    for (const [line, output] of [...outputs].toSorted(([a], [b]) => b - a)) {
      const block = page.blocks.find((each) => each.line === line)!;
      const old = outputOf(page, block);
      const next = page.blocks[page.blocks.indexOf(block) + 1];
      const [at, count] = old === undefined ? [lineBehind(block) - 1, 0] : [next!.line - 1, old.split('\n').length + 2];
      const indent = /^ */.exec(lines[line - 1]!)![0];
      const written = ['```text output', ...output.split('\n'), '```'].map((text) =>
        text === '' ? '' : indent + text,
      );
      lines.splice(at, count, ...(old === undefined ? ['', ...written] : written));
    }
    writeFileSync(join(root, path), lines.join('\n'));
  }
  found.clear();
}
