import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, test} from '@jest/globals';
import {rows} from '../support/policy.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** What is named as `test/FILE.test.ts: TEST`, in order. */
const namedIn = (page: string): [file: string, title: string][] =>
  [...page.matchAll(/`(test\/[^`:\s]+\.test\.ts): ([^`]+)`/g)].map((m) => [m[1]!, m[2]!]);

/** Every string of a source that a test or a row of a table can be called by: an argument, an item, a name, a key. No comment. */
function titlesIn(source: string): Set<string> {
  const code = source.replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');
  const strings = [...code.matchAll(/(?:\(|\[|\{|,|\bname: |\btitle: )\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")/g)];
  return new Set(strings.map((m) => m[1]!.slice(1, -1).replaceAll(/\\(['"\\])/g, '$1')));
}

const titlesOf = (file: string): Set<string> =>
  new Set([...titlesIn(read(file)), ...(file === 'test/cluster/policy.test.ts' ? rows.map((r) => r.title) : [])]);

describe('docs/security.md', () => {
  const page = read('docs/security.md');

  test('names only tests that there are', () => {
    const named = namedIn(page);
    expect(named.length).toBeGreaterThan(50);
    const lost = named
      .filter(([file, title]) => !existsSync(join(root, file)) || !titlesOf(file).has(title))
      .map(([file, title]) => `${file}: ${title}`);
    expect(lost).toEqual([]);
  });

  test('names a test in every line of its tables', () => {
    const lines = page.split('\n').filter((l) => l.startsWith('| ') && !l.startsWith('| somebody tries to |'));
    expect(lines.length).toBeGreaterThan(25);
    expect(lines.filter((l) => namedIn(l).length === 0)).toEqual([]);
  });

  test('names every test in the one form that is looked for', () => {
    expect(page.match(/test\/[\w/-]+\.test\.ts: /g)?.length).toBe(namedIn(page).length);
  });

  test('would not be believed if it named one that is not there, or is only spoken of', () => {
    const titles = titlesIn(
      "// test('a comment', () => {});\n * test('another', ...)\ntest('one', () => { expect('x').toBe(y['z']); });\ntest.each([\n  ['a row', 1],\n])('of %s', () => {});",
    );
    expect([...titles].filter((t) => ['a comment', 'another', 'one', 'a row', 'of %s', 'two'].includes(t))).toEqual([
      'one',
      'a row',
      'of %s',
    ]);
  });
});
