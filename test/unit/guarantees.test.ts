/** docs/internals/guarantees.md: no promise without a test and a mutant. */
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {describe, expect, test} from '@jest/globals';
import {type Mutant, mutants, read} from '../mutants/mutant.ts';
import {guaranteesPage, missing, mutantsOfThreat, rulesIn, type Threat, threatsIn} from '../support/guarantees.ts';

const page = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../docs/${name}.md`, import.meta.url)), 'utf8');
const [rules, threats, all] = [rulesIn(page('rules')), threatsIn(page('explanation/security')), mutants()];

describe('docs/internals/guarantees.md', () => {
  test('is made of all rules and of all rows of the threats', () => {
    expect(rules.map(({number}) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(threats.length).toBeGreaterThan(80);
    expect(new Set(threats.map(({what}) => what)).size).toBe(threats.length);
  });

  test('has no promise without a test and a mutant', () => {
    expect(missing(rules, threats, all)).toEqual([]);
    expect(threats.filter(({tests}) => tests.length === 0)).toEqual([]);
  });

  test('is in step with its sources: `make crds`', () => {
    expect(page('internals/guarantees')).toBe(guaranteesPage(rules, threats, all));
  });
});

const mutant = (name: string, head: string): Mutant =>
  read('x.mutants', `# mutant: ${name}\n# breaks: ${head}\n# in: operator/x.ts › x\n- a\n+ b\n`);

describe('A promise', () => {
  const broken = mutant('rule-1-x', 'rule 1, no ACME before proof\n# red: test/unit/a.test.ts › A › of c is d');
  const [rule] = rules;
  const threat: Threat = {
    section: 'A route',
    what: 'take it',
    stoppedBy: 'the policy',
    tests: [{file: 'test/unit/b.test.ts', title: 'of %s is %s'}],
  };

  test('of a rule without a mutant is told', () => {
    expect(missing([rule!], [], [broken])).toEqual([]);
    expect(missing([rule!], [], [])).toEqual(['rule 1 has no mutant']);
    expect(missing([{...rule!, number: 10}], [], [broken])).toEqual(['rule 10 has no mutant']);
  });

  test('of a row is held by the mutants of its tests, whatever fills their placeholders, and by those that say so', () => {
    const [byTest, byWord, other] = [
      mutant('a', 'x\n# red: test/unit/b.test.ts › B › of c is d'),
      mutant('b', 'x\n# red: test/unit/c.test.ts › C › c\n# threat: take it'),
      mutant('c', 'x\n# red: test/unit/b.test.ts › B › of c'),
    ];
    expect(mutantsOfThreat(threat, [broken, byTest, byWord, other]).map(({name}) => name)).toEqual(['a', 'b']);
    expect(missing([], [threat], [broken])).toEqual(['A route: no mutant of "take it"']);
  });

  test('that a mutant names, and that is not there, is told', () => {
    const strange = mutant('b', 'x\n# red: test/unit/c.test.ts › C › c\n# threat: give it');
    expect(missing([], [], [strange])).toEqual(['b: docs/explanation/security.md has no row "give it"']);
  });
});
