/** What keeps the source easy to find one's way in: short files and functions, imports that lead one way. */
import {globSync, readFileSync} from 'node:fs';
import {join} from 'node:path/posix';
import {describe, expect, test} from '@jest/globals';
import {assignedByClosures, circlesOf, functionsOf, importsOf} from '../support/source.ts';

const [mostLines, mostFunctionLines, mostColumns] = [350, 60, 140];

const root = new URL('../../', import.meta.url);
const isDomain = (path: string) => path.startsWith('operator/domain/');
const files = globSync('operator/**/*.ts', {cwd: root}).map((path) => {
  const text = readFileSync(new URL(path, root), 'utf8');
  const lines = text.trimEnd().split('\n');
  const imports = importsOf(text).map((from) => (from.startsWith('.') ? join(path, '..', from) : from));
  return {path, text, lines, imports};
});

describe('The source', () => {
  test('is read whole', () => {
    const found = new Set(files.map(({path}) => path));
    expect(found.size).toBeGreaterThan(100);
    const ours = files.flatMap(({imports}) => imports.filter((from) => from.startsWith('operator/')));
    expect(ours.filter((path) => !found.has(path))).toEqual([]);
  });

  test(`has no file of more than ${mostLines} lines`, () => {
    expect(
      files.filter(({lines}) => lines.length > mostLines).map(({path, lines}) => `${path}: ${lines.length}`),
    ).toEqual([]);
  });

  test(`has no function of more than ${mostFunctionLines} lines`, () => {
    const long = files.flatMap(({path, text}) =>
      functionsOf(text)
        .filter(({lines}) => lines > mostFunctionLines)
        .map(({line, lines}) => `${path}:${line}: ${lines}`),
    );
    expect(long).toEqual([]);
  });

  test(`has no line of more than ${mostColumns} columns`, () => {
    const wide = files.flatMap(({path, lines}) =>
      lines.flatMap((line, i) => (line.length > mostColumns ? [`${path}:${i + 1}: ${line.length}`] : [])),
    );
    expect(wide).toEqual([]);
  });

  test('has no files that import each other in a circle, types counted', () => {
    expect(circlesOf(new Map(files.map(({path, imports}) => [path, imports])))).toEqual([]);
  });
});

describe('The kind of object as which routes are written', () => {
  const imported = /import [^;]*\bIngress\b[^;]* from/;

  test('is imported by its rendering alone, by who chooses one, and by the list of kinds', () => {
    expect(files.flatMap(({path, text}) => (imported.test(text) ? [path] : [])).toSorted()).toEqual([
      'operator/controllers/state/rendering.ts',
      'operator/domain/routes/ingress.ts',
      'operator/resources/resources.ts',
    ]);
  });
});

describe('The controllers', () => {
  const controllers = files.filter(({path}) => path.startsWith('operator/controllers/'));

  test('have no variable that a function inside another assigns: a plan is data', () => {
    const assigned = controllers.flatMap(({path, text}) => assignedByClosures(text).map((name) => `${path}: ${name}`));
    expect(assigned).toEqual([]);
  });

  test.each(['custom-domain', 'project'])(
    'reconcile a %s by the list of stages and at most 40 lines around it',
    (name) => {
      const {text, lines} = controllers.find(({path}) => path === `operator/controllers/${name}.ts`)!;
      const begin = lines.findIndex((line) => line.includes('async reconcile(')) + 1;
      const reconcile = functionsOf(text).find(({line}) => line === begin);
      expect(reconcile?.lines).toBeLessThanOrEqual(40);
    },
  );
});

describe('The domain', () => {
  /** What these do depends on nothing but what they are given. */
  const pure = new Set(['tldts', 'node:crypto', 'node:net', 'node:url', 'node:zlib']);
  const domain = files.filter(({path}) => isDomain(path));

  test('imports nothing but itself, the API and pure functions', () => {
    const others = domain.flatMap(({path, imports}) =>
      imports
        .filter((from) => !/^operator\/(domain|api)\//.test(from) && !pure.has(from))
        .map((from) => `${path}: ${from}`),
    );
    expect(others).toEqual([]);
  });

  test('keeps no state in its modules', () => {
    expect(domain.filter(({text}) => /^(export )?let /m.test(text)).map(({path}) => path)).toEqual([]);
  });

  test('reads no clock, draws no lots and waits for nothing', () => {
    const effects =
      /\bDate\.now\(|new Date\(\)|Math\.random|\brandom(Bytes|UUID)|set(Timeout|Interval)\(|\bprocess\.|\bfetch\(/;
    expect(domain.filter(({text}) => effects.test(text)).map(({path}) => path)).toEqual([]);
  });
});

const circles = (imports: Record<string, string[]>) => circlesOf(new Map(Object.entries(imports)));

describe('These checks', () => {
  test('see every kind of import', () => {
    const source =
      "import {x} from 'a';\nimport type {Y} from 'b';\nexport * from 'c';\nexport {z} from 'd';\nawait import('e');\nimport 'f';";
    expect(importsOf(source)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test('see every kind of function, and count its lines', () => {
    const source =
      '// é\nconst a = () => {\n};\nclass B {\n  c() {\n\n  }\n  #d() {}\n  constructor() {}\n}\nfunction e() {\n}';
    expect(functionsOf(source)).toEqual([
      {line: 2, lines: 2},
      {line: 5, lines: 3},
      {line: 8, lines: 1},
      {line: 9, lines: 1},
      {line: 11, lines: 2},
    ]);
  });

  test('see a variable that an inner function assigns, and none that is its own', () => {
    const source =
      'let m = 0;\nfunction f(p) {\n  let a = 0, b = 0;\n  a = 1;\n  const g = () => {\n    let b = 0;\n    b = 2;\n    a++;\n    p = 3;\n  };\n}';
    expect(assignedByClosures(source)).toEqual(['a', 'p']);
  });

  test('see a circle of any length, and no circle where two import one', () => {
    expect(circles({a: ['b', 'c'], b: ['c'], c: []})).toEqual([]);
    expect(circles({a: ['b'], b: ['c'], c: ['b']})).toEqual([
      ['b', 'c', 'b'],
      ['c', 'b', 'c'],
    ]);
  });
});
