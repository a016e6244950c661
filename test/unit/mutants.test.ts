import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, test} from '@jest/globals';
import {brokenPolicies} from '../mutants/manifests.ts';
import {edited, read} from '../mutants/mutant.ts';
import {byAssertion, judge, soundly, verdicts} from '../mutants/red.ts';

const head = '# breaks: a rule\n# red: test/unit/x.test.ts › describe › title\n';
const source = [
  '// é, which is two bytes',
  "import {x} from './x.ts';",
  "export const limits = {most: '日本', least: 1};",
  'export function take(n: number): boolean {',
  '  if (n > 1) {',
  '    return x(n) > 1;',
  '  }',
  '  return false;',
  '}',
  'class Queue {',
  '  #size = 1;',
  '  take() { return this.#size > 1; }',
  '  #grow() { return this.#size > 2; }',
  '}',
  '',
].join('\n');

const after = (symbol: string, minus: string, plus: string) =>
  edited(source, {file: 'operator/x.ts', symbol, change: {from: minus, to: plus}});

const by = (matcher: () => void): string => {
  try {
    matcher();
  } catch (e) {
    return (e as Error).stack!;
  }
  throw new Error('it did not fail');
};

describe('A mutant', () => {
  test('is read out of its headings and its lines', () => {
    const mutant = read(
      'a.mutant',
      `${head}# in: operator/x.ts › take\n-   if (n > 1) {\n-     return x(n) > 1;\n+   if (n > 2) {\n+     return x(n) > 1;\n# in: charts/x.yaml\n- a: 1\n# without: ValidatingAdmissionPolicy/routes › matchConditions[of-a-challenge]\n`,
    );
    expect(mutant).toEqual({
      name: 'a',
      breaks: 'a rule',
      test: 'test/unit/x.test.ts',
      title: 'describe › title',
      threats: [],
      edits: [
        {
          file: 'operator/x.ts',
          symbol: 'take',
          change: {from: 'if (n > 1) {\n    return x(n) > 1;', to: 'if (n > 2) {\n    return x(n) > 1;'},
        },
        {file: 'charts/x.yaml', symbol: undefined, change: {from: 'a: 1', to: ''}},
        {file: 'ValidatingAdmissionPolicy/routes', symbol: 'matchConditions[of-a-challenge]', change: undefined},
      ],
    });
  });

  test('says to which rows of docs/security.md it belongs', () => {
    const threats = '# threat: take it\n# threat: keep it\n';
    expect(read('a.mutant', `${head}${threats}# in: operator/x.ts › take\n- a\n+ b\n`).threats).toEqual([
      'take it',
      'keep it',
    ]);
  });

  test.each([
    [
      'without a rule',
      '# red: test/unit/x.test.ts › title\n# in: operator/x.ts › take\n- a\n+ b\n',
      'it must say "# breaks: RULE"',
    ],
    ['without a test', '# breaks: a rule\n# in: operator/x.ts › take\n- a\n+ b\n', 'it must say "# breaks: RULE"'],
    ['without a place', `${head}- a\n+ b\n`, 'it must say "# in: PLACE"'],
    ['that takes nothing out', `${head}# in: operator/x.ts › take\n+ b\n`, 'its "-" lines must say something else'],
    ['that changes nothing', `${head}# in: operator/x.ts › take\n- a\n+ a\n`, 'its "-" lines must say something else'],
    ['with a line that is neither', `${head}# in: operator/x.ts › take\n- a\n  b\n`, 'a line does not begin with'],
    ['with lines for what is left out', `${head}# without: operator/x.ts › take\n- a\n`, 'has no lines'],
  ])('%s is refused', (_, text, message) => {
    expect(() => read('a.mutant', text)).toThrow(message);
  });

  test.each([
    ['a function', 'take', 'n > 1', 'n > 2', ['  if (n > 2) {']],
    [
      'several lines of it',
      'take',
      'if (n > 1) {\n    return x(n) > 1;',
      'if (n > 2) {\n    return true;',
      ['  if (n > 2) {', '    return true;'],
    ],
    ['a const', 'limits', 'least: 1', 'least: 2', ["export const limits = {most: '日本', least: 2};"]],
    ['a class', 'Queue', '#size = 1', '#size = 2', ['  #size = 2;']],
    ['a method', 'Queue.take', '> 1', '> 9', ['  take() { return this.#size > 9; }']],
    ['a private method', 'Queue.#grow', '> 2', '> 9', ['  #grow() { return this.#size > 9; }']],
  ])('changes %s, and nothing else', (_, symbol, minus, plus, changed) => {
    const before = source.split('\n');
    expect(
      after(symbol, minus, plus)
        .split('\n')
        .filter((line, i) => line !== before[i]),
    ).toEqual(changed);
  });

  test.each([
    ['a symbol that is not there', 'give', 'n > 1', 'there is no such symbol'],
    ['a symbol that is only imported', 'x', 'x', 'there is no such symbol'],
    ['an expression of another symbol', 'Queue.take', 'n > 1', 'it does not have this: n > 1'],
    ['an expression that is there twice', 'take', '> 1', 'has this 2 times'],
  ])('does not apply to %s', (_, symbol, minus, message) => {
    expect(() => after(symbol, minus, 'y')).toThrow(message);
  });

  test('names a symbol where the file is TypeScript, and none elsewhere', () => {
    const edit = {symbol: undefined, change: {from: 'a: 1', to: 'a: 2'}};
    expect(() => edited(source, {...edit, file: 'operator/x.ts'})).toThrow('name a symbol');
    expect(edited('a: 1\nb: 2\n', {...edit, file: 'charts/x.yaml'})).toBe('a: 2\nb: 2\n');
  });

  test.each([
    ['in one line', 'take(n, {a: 1, b: 2});'],
    ['in many', 'take(\n  n,\n  {\n    a: 1,\n    b: 2,\n  },\n);'],
  ])('does not depend on the layout: %s', (_, statement) => {
    const change = (from: string, to: string) =>
      edited(`function x() {\n  ${statement}\n}\n`, {file: 'operator/x.ts', symbol: 'x', change: {from, to}});
    expect(change('take(n, {a: 1, b: 2})', 'y()')).toContain('y();');
    expect(change('take(\n  n,\n  {a: 1, b: 2},\n)', 'y()')).toContain('y();');
    expect(change('b: 2,', 'c: 3,')).toMatch(/a: 1,\s*c: 3,\s*}/);
    expect(change('a: 1,', '')).toMatch(/{\s*b: 2/);
    expect(() => change('ta ke', 'y')).toThrow('it does not have this');
    expect(() => change('take,', 'y')).toThrow('it does not have this');
  });
});

const apiVersion = 'admissionregistration.k8s.io/v1';
const named = (name: string) => ({name: `doorplate-system-doorplate-${name}`});
const rule = (operations: string[], resources: string[]) => ({operations, resources});
const validation = (expression: string, message: string) => ({expression, message});
const policy = (name: string, spec: object) => ({
  apiVersion,
  kind: 'ValidatingAdmissionPolicy',
  metadata: named(name),
  spec,
});
const binding = (name: string, of: string) => ({
  apiVersion,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: named(name),
  spec: {policyName: named(of).name},
});

describe('A mutant of the admission policy', () => {
  const routes = {
    variables: [
      {name: 'new', expression: '!has(old)\n|| old == null'},
      {name: 'old', expression: 'has(old)'},
    ],
    matchConstraints: {resourceRules: [rule(['CREATE', 'UPDATE'], ['ingresses']), rule(['DELETE'], ['*'])]},
    validations: [validation('variables.old', 'only Doorplate writes'), validation('variables.new', 'nobody deletes')],
  };
  const rendered = [policy('routes', routes), policy('other', {}), binding('one', 'routes'), binding('two', 'routes')];
  const broken = (lines: string) => brokenPolicies(rendered, read('a.mutant', `${head}${lines}`).edits);
  const inRoutes = (path: string, lines: string) =>
    broken(`# in: ValidatingAdmissionPolicy/routes › ${path}\n${lines}`)[0]!.spec;

  test.each([
    [
      'an expression, by a name',
      'variables[new].expression',
      '- || old == null\n+ && old == null\n',
      {variables: [{name: 'new', expression: '!has(old)\n&& old == null'}, routes.variables[1]]},
    ],
    [
      'a list, by a value beside it',
      'matchConstraints.resourceRules[ingresses].operations',
      '- CREATE,\n',
      {matchConstraints: {resourceRules: [rule(['UPDATE'], ['ingresses']), rule(['DELETE'], ['*'])]}},
    ],
    [
      'an expression, by words of its message',
      'validations[Doorplate writes].expression',
      '- variables.old\n+ true\n',
      {validations: [validation('true', 'only Doorplate writes'), routes.validations[1]]},
    ],
  ])('changes %s', (_, path, lines, changed) => {
    expect(inRoutes(path, lines)).toEqual({...routes, ...changed});
  });

  test('leaves an element, or a whole object, out', () => {
    const [without] = broken('# without: ValidatingAdmissionPolicy/routes › matchConstraints.resourceRules[DELETE]\n');
    const [rules] = routes.matchConstraints.resourceRules;
    expect(without!.spec).toEqual({...routes, matchConstraints: {resourceRules: [rules]}});
    const left = broken('# without: ValidatingAdmissionPolicyBinding/one\n').map((o) => o.metadata);
    expect(left).toEqual([named('routes'), named('two')]);
  });

  test('is of the policy that it edits and of its bindings alone, and changes nothing of what was rendered', () => {
    const before = structuredClone(rendered);
    const names = broken('# in: ValidatingAdmissionPolicy/routes › variables[new].expression\n- null\n+ 1\n');
    expect(names.map((o) => o.metadata)).toEqual([named('routes'), named('one'), named('two')]);
    expect(rendered).toEqual(before);
  });

  test.each([
    ['an object that is not rendered', 'ValidatingAdmissionPolicy/gone › variables[new]', 'renders no such object'],
    ['a key that is not there', 'ValidatingAdmissionPolicy/routes › variables[new].gone', 'it has no gone'],
    ['words of no element', 'ValidatingAdmissionPolicy/routes › validations[x]', 'it has 0 elements [x], not one'],
    ['words of two', 'ValidatingAdmissionPolicy/routes › validations[e]', 'it has 2 elements [e], not one'],
  ])('does not apply to %s, and says where', (_, place, message) => {
    expect(() => broken(`# without: ${place}\n`)).toThrow(`${place}: `);
    expect(() => broken(`# without: ${place}\n`)).toThrow(message);
  });
});

describe('A test is red by an assertion', () => {
  test.each([
    ['a matcher', by(() => expect(1).toBe(2)), true],
    ['a matcher of what was thrown', by(() => expect(() => {}).toThrow('x')), true],
    [
      'assert, as jest tells it',
      'assert.strictEqual(received, expected)\n\nExpected value to strictly be equal to:\n  2',
      true,
    ],
    [
      'a matcher in a property',
      `Error: Property failed after 1 tests\n{ seed: 1 }\n    at buildError\n\n[cause]: ${by(() => expect(1).toBe(2))}`,
      true,
    ],
    [
      'assert in a property, with words of its own',
      'Error: Property failed after 1 tests\n{ seed: 1 }\n    at buildError\n\n[cause]: AssertionError [ERR_ASSERTION]: both are routed',
      true,
    ],
    [
      'an error in a property',
      'Error: Property failed after 1 tests\n{ seed: 1 }\n    at buildError\n\n[cause]: TypeError: x is not a function',
      false,
    ],
    ['an error', 'TypeError: x is not a function', false],
    ['an error that speaks of expectations', 'Error: what did you expect(1)?', false],
    ['a time-out', 'Error: thrown: "Exceeded timeout of 100 ms for a test.', false],
    ['a hook', `${by(() => expect(1).toBe(2))}\n    at _callCircusHook (jestAdapterInit.js:1:1)`, false],
  ])('when what failed is %s, or it is not', (_, failure, is) => {
    expect(byAssertion([failure])).toBe(is);
  });
});

test('A test that fails by no assertion runs once more, and no other', async () => {
  const answers = [
    {red: 'expect(received).toBe(expected)', cut: 'NoAnswerError: other side closed', stuck: 'Exceeded timeout'},
    {cut: 'expect(received).toEqual(expected)', stuck: 'Exceeded timeout'},
  ];
  const asked: (readonly string[])[] = [];
  const run = async (_: string, titles: readonly string[]) => {
    asked.push(titles);
    const failures = Object.entries(answers.shift() ?? {});
    return new Map(failures.map(([title, failure]) => [title, {status: 'failed', failures: [failure]} as const]));
  };
  const {all} = await verdicts({run}, 'a.test.ts', ['red', 'cut', 'stuck']);
  expect(asked).toEqual([
    ['red', 'cut', 'stuck'],
    ['cut', 'stuck'],
  ]);
  expect([...all].map(([title, {failures}]) => `${title}: ${byAssertion(failures)}`)).toEqual([
    'red: true',
    'cut: true',
    'stuck: false',
  ]);
});

test('A test that fails without a mutant runs once more, and only it', async () => {
  const asked: (readonly string[])[] = [];
  const run = async (_: string, titles: readonly string[]) => {
    asked.push(titles);
    const status = (title: string) => {
      // jest tells of the others of the file, too.
      if (!titles.includes(title)) return 'pending';
      return title === 'never' || (title === 'once' && asked.length === 1) ? 'failed' : 'passed';
    };
    return new Map(['green', 'once', 'never'].map((title) => [title, {status: status(title), failures: []}]));
  };
  const {all, again} = await soundly({run}, 'a.test.ts', ['green', 'once', 'never']);
  expect(asked).toEqual([
    ['green', 'once', 'never'],
    ['once', 'never'],
  ]);
  expect([...all].map(([title, {status}]) => `${title} ${status}`)).toEqual([
    'green passed',
    'once passed',
    'never failed',
  ]);
  expect([...again]).toEqual(['once', 'never']);
});

test('A mutant whose test failed by luck, with it and without, is looked at once more', async () => {
  const root = mkdtempSync(join(tmpdir(), 'doorplate-mutant-'));
  const file = join(root, 'charts/x.yaml');
  mkdirSync(join(root, 'charts'));
  writeFileSync(file, 'a: 1\n');
  const ran: string[] = [];
  const lucky = by(() => expect(1).toBe(2));
  // The first time on each the machine is busy; the mutant itself changes nothing.
  const run = async () => {
    const on = readFileSync(file, 'utf8').trim();
    const verdict = ran.includes(on) ? {status: 'passed', failures: []} : {status: 'failed', failures: [lucky]};
    ran.push(on);
    return new Map([['describe › title', verdict]]);
  };
  const told: (string | undefined)[] = [];
  try {
    const mutant = read('a.mutant', `${head}# in: charts/x.yaml\n- a: 1\n+ a: 2\n`);
    await judge([mutant], {run, renew: async () => {}, place: {root, cache: ''}}, (_, wrong) => told.push(wrong));
  } finally {
    rmSync(root, {recursive: true});
  }
  expect(ran).toEqual(['a: 2', 'a: 1', 'a: 1', 'a: 2']);
  expect(told).toEqual(['SURVIVED: describe › title']);
});
