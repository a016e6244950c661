/** Forty questions of readers, out of the issue trackers of peers: each is answered within two clicks from the start. */
import {readFileSync} from 'node:fs';
import {dirname, join, normalize} from 'node:path/posix';
import {fileURLToPath} from 'node:url';
import {describe, expect, test} from '@jest/globals';
import {parse} from 'yaml';
import {linksOf, readPage} from '../support/pages.ts';

interface Question {
  reader: 'platform-engineer' | 'tenant' | 'customer-admin' | 'api-author';
  question: string;
  /** The thread or page in which a reader asked it. */
  source: string;
  /** The page that answers it, and the heading of the answer. */
  page: string;
  heading: string;
}
const file = fileURLToPath(new URL('docs-questions.yaml', import.meta.url));
const questions = parse(readFileSync(file, 'utf8')) as Question[];

/** The pages that a page links to. */
const nextOf = (path: string): string[] =>
  linksOf(readPage(path))
    .map((href) => href.split('#')[0]!)
    .filter((href) => href.endsWith('.md') && !/^[a-z]+:/.test(href))
    .map((href) => normalize(join(dirname(path), href)));

/** The pages within so many clicks of a page. */
function within(clicks: number, start: string): Set<string> {
  const reached = new Set([start]);
  for (let i = 0; i < clicks; i++) for (const next of Array.from(reached, nextOf).flat()) reached.add(next);
  return reached;
}

describe('A question of a reader', () => {
  const starts = ['README.md', 'docs/README.md'].map((start) => [start, within(2, start)] as const);

  test('comes from each of the four groups, ten times', () => {
    const counts = Map.groupBy(questions, ({reader}) => reader);
    expect([...counts].map(([reader, of]) => [reader, of.length])).toEqual([
      ['platform-engineer', 10],
      ['tenant', 10],
      ['customer-admin', 10],
      ['api-author', 10],
    ]);
    expect(questions.filter(({source}) => !/^https:\/\/\S+$/.test(source))).toEqual([]);
  });

  test.each(questions.map((each) => [each.question, each] as const))('has its answer: %s', (_, {page, heading}) => {
    expect(
      starts.filter(([, reached]) => !reached.has(page)).map(([start]) => `${page} is too far from ${start}`),
    ).toEqual([]);
    expect(readPage(page).headings).toContain(heading);
  });
});
