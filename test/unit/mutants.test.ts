import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, test} from '@jest/globals';
import {brokenPolicies} from '../mutants/manifests.ts';
import {arranged, homeOf, moved, mustBeAtHome} from '../mutants/homes.ts';
import {edited, entriesIn, read} from '../mutants/mutant.ts';
import {byAssertion, isInconclusive, judge, soundly, verdicts} from '../mutants/red.ts';

const head = '# mutant: a\n# breaks: a rule\n# red: test/unit/x.test.ts › describe › title\n';
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
      'x.mutants',
      `${head}# in: operator/x.ts › take\n-   if (n > 1) {\n-     return x(n) > 1;\n+   if (n > 2) {\n+     return x(n) > 1;\n# in: charts/x.yaml\n- a: 1\n# without: ValidatingAdmissionPolicy/routes › matchConditions[of-a-challenge]\n`,
    );
    expect(mutant).toEqual({
      name: 'a',
      file: 'x.mutants',
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

  test('says to which rows of docs/explanation/security.md it belongs', () => {
    const threats = '# threat: take it\n# threat: keep it\n';
    expect(read('x.mutants', `${head}${threats}# in: operator/x.ts › take\n- a\n+ b\n`).threats).toEqual([
      'take it',
      'keep it',
    ]);
  });

  test.each([
    [
      'without a name',
      '# breaks: a rule\n# red: test/unit/x.test.ts › title\n# in: operator/x.ts › take\n- a\n+ b\n',
      'it must say "# mutant: NAME",',
    ],
    [
      'without a rule',
      '# mutant: a\n# red: test/unit/x.test.ts › title\n# in: operator/x.ts › take\n- a\n+ b\n',
      '"# breaks: RULE" and "# red: FILE › TEST"',
    ],
    [
      'without a test',
      '# mutant: a\n# breaks: a rule\n# in: operator/x.ts › take\n- a\n+ b\n',
      '"# breaks: RULE" and "# red: FILE › TEST"',
    ],
    ['without a place', `${head}- a\n+ b\n`, 'it must say "# in: PLACE"'],
    ['that takes nothing out', `${head}# in: operator/x.ts › take\n+ b\n`, 'its "-" lines must say something else'],
    ['that changes nothing', `${head}# in: operator/x.ts › take\n- a\n+ a\n`, 'its "-" lines must say something else'],
    ['with a line that is neither', `${head}# in: operator/x.ts › take\n- a\n  b\n`, 'a line does not begin with'],
    ['with lines for what is left out', `${head}# without: operator/x.ts › take\n- a\n`, 'has no lines'],
  ])('%s is refused', (_, text, message) => {
    expect(() => read('x.mutants', text)).toThrow(message);
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

const entry = (name: string, place: string) =>
  `# mutant: ${name}\n# breaks: a rule\n# red: test/unit/x.test.ts › title\n# in: ${place}\n- a\n+ b\n`;

describe('A .mutants file', () => {
  test('has entries one below the other', () => {
    const [one, two] = [entry('one', 'operator/x.ts › take'), entry('two', 'operator/x.ts › Queue')];
    const found = entriesIn('x.mutants', `${one}\n${two}`);
    expect(found.map(({file, text}) => read(file, text))).toEqual([read('x.mutants', one), read('x.mutants', two)]);
  });

  test.each([
    ['of another kind', 'a.mutant', entry('a', 'operator/x.ts › take'), 'move its mutants into a .mutants file'],
    ['that begins with something else', 'x.mutants', '# breaks: a rule\n', 'it must begin with "# mutant: NAME"'],
    ['without an entry', 'x.mutants', '', 'it must begin with "# mutant: NAME"'],
  ])('%s is refused', (_, file, content, message) => {
    expect(() => entriesIn(file, content)).toThrow(`${file}: ${message}`);
  });

  test.each([
    ['operator/domain/claim.ts', 'domain/claim.mutants'],
    ['operator/config.ts', 'config.mutants'],
    ['charts/doorplate/templates/api.yaml', 'charts/doorplate/templates/api.mutants'],
    ['charts/doorplate/values.schema.json', 'charts/doorplate/values.schema.mutants'],
    ['dashboard/src/app.tsx', 'dashboard/src/app.mutants'],
    ['docs/.vitepress/links.ts', 'docs/.vitepress/links.mutants'],
    ['ValidatingAdmissionPolicy/routes', 'policy/routes.mutants'],
    ['ValidatingAdmissionPolicyBinding/labels-owner', 'policy/labels.mutants'],
  ])('mirrors a source: %s is at home in %s', (place, home) => {
    expect(homeOf(place)).toBe(home);
  });

  test('has the mutants whose first place names it, and refuses others with the remedy', () => {
    const text = `${entry('a', 'operator/x.ts › take')}# in: operator/y.ts › give\n- a\n`;
    expect(() => mustBeAtHome(read('x.mutants', text))).not.toThrow();
    expect(() => mustBeAtHome(read('y.mutants', text))).toThrow(
      'it is in y.mutants and belongs into x.mutants. To move it: node test/mutants/arrange.ts',
    );
  });

  test('is arranged: each mutant at home, sorted by name, and the same after a second time', () => {
    const [x, y, z] = [entry('x', 'operator/x.ts › take'), entry('y', 'operator/x.ts › give'), entry('z', 'a/b.yaml')];
    const files = arranged([
      {file: 'all.mutants', text: `${y}\n\n`},
      {file: 'all.mutants', text: z},
      {file: 'x.mutants', text: x},
    ]);
    expect(Object.fromEntries(files)).toEqual({'x.mutants': `${x}\n${y}`, 'a/b.mutants': z});
    expect(arranged([...files].flatMap(([file, content]) => entriesIn(file, content)))).toEqual(files);
  });
});

describe('After a move a mutant names', () => {
  const text = entry('a', 'operator/x/y.ts › Queue.take');
  const at = (place: string) => entry('a', place);

  test.each([
    ['a folder', 'operator/x', 'operator/z', at('operator/z/y.ts › Queue.take')],
    ['a file', 'operator/x/y.ts', 'operator/z.ts', at('operator/z.ts › Queue.take')],
    ['a class', 'operator/x/y.ts › Queue', 'operator/x/y.ts › Fifo', at('operator/x/y.ts › Fifo.take')],
    ['a symbol', 'operator/x/y.ts › Queue.take', 'operator/z.ts › take', at('operator/z.ts › take')],
    ['a test', 'test/unit/x.test.ts', 'test/unit/z.test.ts', text.replace('x.test.ts', 'z.test.ts')],
  ])('%s by the new name', (_, from, to, expected) => {
    expect(moved(text, from, to)).toBe(expected);
  });

  test.each(['operator/x/y', 'operator/x/y.ts › Que', 'operator/x/y.t', 'a', 'b'])('nothing else: %s', (from) => {
    expect(moved(text, from, 'z')).toBe(text);
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
  const broken = (lines: string) => brokenPolicies(rendered, read('x.mutants', `${head}${lines}`).edits);
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
    const mutant = read('x.mutants', `${head}# in: charts/x.yaml\n- a: 1\n+ a: 2\n`);
    await judge([mutant], {run, renew: async () => {}, place: {root, cache: ''}}, (_, wrong) => told.push(wrong));
  } finally {
    rmSync(root, {recursive: true});
  }
  expect(ran).toEqual(['a: 2', 'a: 1', 'a: 1', 'a: 2']);
  expect(told).toEqual(['SURVIVED: describe › title']);
});

test('A mutant runs again if its test did not run, ended in no assertion, or failed without it; not if it survived', () => {
  const complaints = [
    'there is no such test: a.test.ts › title',
    'its test did not run: a.test.ts does not load with it',
    'its test fails, but by no assertion: title: Error: a replica ended with 1',
    'its test is failed without it: title: Error',
    'SURVIVED: title',
  ];
  expect(complaints.map(isInconclusive)).toEqual([true, true, true, true, false]);
});
