import {globSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {describe, expect, test} from '@jest/globals';
import {tokenPattern} from '../../operator/domain/api-key.ts';
import {judge, namedIn, resultsIn} from '../support/evidence.ts';
import {threatsIn} from '../support/guarantees.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

// Whether these tests have passed, test/evidence.ts says when they have run.
describe('docs/explanation/security.md', () => {
  const page = readFileSync(join(root, 'docs/explanation/security.md'), 'utf8');

  test('names a test in every row of its tables of threats', () => {
    const rows = threatsIn(page);
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter(({tests}) => tests.length === 0)).toEqual([]);
  });

  test('names every test in the one form that is looked for', () => {
    expect(namedIn(page).length).toBeGreaterThan(50);
    expect(page.match(/test\/[\w/-]+\.test\.ts: /g)?.length).toBe(namedIn(page).length);
  });
});

test('A name that a page gives with the file that declares it is in that file', () => {
  const pages = [...globSync('docs/**/*.md', {cwd: root}), 'README.md', 'CONTRIBUTING.md'];
  const named = /((?:`[\w.]+`(?:, | and )?)+) \(\[[^\]]+\]\((?:\.\.\/)*(operator\/[^)]+\.ts)\)\)/g;
  const told = pages.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(named)].flatMap(([, names = '', file = '']) =>
      [...names.matchAll(/\w+/g)].flatMap(([name]) => (name === 'and' ? [] : [{page, name, file}])),
    ),
  );
  expect(told.length).toBeGreaterThan(20);
  const has = ({file, name}: {file: string; name: string}) =>
    new RegExp(`\\b${name}\\b`).test(readFileSync(join(root, file), 'utf8'));
  expect(told.filter((each) => !has(each))).toEqual([]);
});

describe('What a page names as evidence', () => {
  const file = 'test/unit/docs.test.ts';
  const results = new Map([
    [
      file,
      [
        {title: 'one', status: 'passed'},
        {title: 'two', status: 'failed'},
        {title: 'three', status: 'pending'},
        {title: 'of a is b', status: 'passed'},
        {title: 'of c is d', status: 'passed'},
        {title: 'in $ (1)', status: 'passed'},
        {title: 'each x', status: 'passed'},
        {title: 'each y', status: 'failed'},
      ],
    ],
  ]);
  const verdict = (title: string, {in: of = file, all = false} = {}) => judge({file: of, title}, results, {root, all});

  test.each([
    ['a test that passed', 'one', 'passed'],
    ['a title with placeholders, all of which passed', 'of %s is %s', 'passed'],
    ['a title with the fields of a row', 'of $name is $what.value', 'passed'],
    ['a title with signs of a pattern', 'in $ (1)', 'passed'],
    ['a test that failed', 'two', {wrong: 'it is failed'}],
    ['a test that was skipped', 'three', {wrong: 'it is pending'}],
    ['a title with placeholders, one of which failed', 'each %s', {wrong: 'it is failed: each y'}],
    ['a title that no test has', 'four', {wrong: 'no test of the file has this title'}],
    ['a part of a title', 'on', {wrong: 'no test of the file has this title'}],
  ])('is judged by what ran: %s', (_, title, expected) => {
    expect(verdict(title)).toEqual(expected);
  });

  test('is not judged where its suite did not run, and is wrong where every suite did, or there is no such file', () => {
    const other = {in: 'test/unit/policy.test.ts'};
    expect(verdict('one', other)).toBe('not run');
    expect(verdict('one', {...other, all: true})).toEqual({wrong: 'no run had such a file'});
    expect(verdict('one', {in: 'test/unit/none.test.ts'})).toEqual({wrong: 'no run had such a file'});
  });

  test('is found in the reports of jest', () => {
    const folder = mkdtempSync(join(tmpdir(), 'doorplate-reports-'));
    try {
      const ran = {title: 'one', status: 'passed'};
      writeFileSync(
        join(folder, 'unit.json'),
        JSON.stringify({testResults: [{name: join(root, file), assertionResults: [ran]}]}),
      );
      writeFileSync(
        join(folder, 'dns.json'),
        JSON.stringify({testResults: [{name: join(root, 'test/dns/x.test.ts'), assertionResults: []}]}),
      );
      expect([...resultsIn(folder, root)].toSorted()).toEqual([
        ['test/dns/x.test.ts', []],
        [file, [ran]],
      ]);
    } finally {
      rmSync(folder, {recursive: true});
    }
  });
});

test('docs/how-to/api-keys.md publishes the form of a token as it is checked', () => {
  const [, published = ''] =
    /regex = '''\\b(.+)\\b'''/.exec(readFileSync(join(root, 'docs/how-to/api-keys.md'), 'utf8')) ?? [];
  expect(`^${published}$`).toBe(tokenPattern.source);
});
