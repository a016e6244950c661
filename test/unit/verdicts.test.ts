/** Recorded verdicts of mutants: one that is stale is found, so its mutant runs again. */
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from '@jest/globals';
import {hadFullRun, noteFullRun} from '../mutants/full-run.ts';
import {Inputs, ReadTrace} from '../mutants/inputs.ts';
import {read} from '../mutants/mutant.ts';
import {Verdicts} from '../mutants/verdicts.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'doorplate-verdicts-'));
  for (const [path, text] of Object.entries(checkout)) write(path, text);
});
afterEach(() => {
  rmSync(root, {recursive: true});
});

const testFile = 'test/unit/x.test.ts';
const checkout = {
  [testFile]: "import {take} from '../../operator/x.ts';\nimport type {Y} from '../../operator/y.ts';\n",
  'operator/x.ts': "export {deep} from './deep/deep.ts';\nexport const take = () => 1;\n",
  'operator/y.ts': 'export type Y = string;\n',
  'operator/deep/deep.ts': "export const deep = () => import('./late.ts');\nnew URL('./worker.ts', import.meta.url);\n",
  'operator/deep/late.ts': 'export const late = 1;\n',
  'operator/deep/worker.ts': 'export const worker = 1;\n',
  'operator/other.ts': 'export const other = 1;\n',
  'charts/doorplate/values.yaml': 'a: 1\n',
  'charts/doorplate/templates/a.yaml': 'a: 1\n',
  'crds/kind.yaml': 'kind: 1\n',
  'package-lock.json': '{}',
  'test/jest/runtime.ts': 'export {};\n',
};

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), {recursive: true});
  writeFileSync(join(root, path), text);
}

const mutant = (edit = '- 1\n+ 2\n', red = testFile) =>
  read('x.mutants', `# mutant: x\n# breaks: a rule\n# red: ${red} › title\n# in: operator/x.ts › take\n${edit}`);
const readByTest = ['charts/doorplate/values.yaml', 'charts/doorplate/templates//'];

const changeOf = (path: string): string => {
  if (path.endsWith('.ts')) return 'export const changed = 1;\n';
  return path.endsWith('.json') ? ' ' : '\n# changed';
};

/** What is recorded after the mutant was red. */
function recorded() {
  const record = {read: {}, red: {}};
  const verdicts = new Verdicts(root, record);
  verdicts.noteRead(new Map([[testFile, new Set([testFile, 'operator/x.ts', ...readByTest])]]), {whole: true});
  verdicts.noteRed([mutant()], () => true);
  return record;
}

describe('The modules of a test file', () => {
  test('are those that it imports, directly or not, as values', () => {
    expect(new Inputs(root).modulesOf(testFile)).toEqual([
      'operator/deep/deep.ts',
      'operator/deep/late.ts',
      'operator/deep/worker.ts',
      'operator/x.ts',
      testFile,
    ]);
  });
});

describe('A recorded verdict', () => {
  test('names what its test reads besides its modules', () => {
    expect(recorded().read).toEqual({[testFile]: readByTest.toSorted()});
  });

  test('is current while its inputs do not change', () => {
    const record = recorded();
    write('operator/other.ts', 'export const other = 2;\n');
    write('operator/y.ts', 'export type Y = number;\n');
    write('charts/doorplate/templates/a.yaml', 'a: 2\n');
    expect(new Verdicts(root, record).isCurrent(mutant())).toBe(true);
  });

  test.each([
    ['its test file', testFile],
    ['a module that the test imports', 'operator/x.ts'],
    ['a module that such a module imports', 'operator/deep/deep.ts'],
    ['a module that is imported late', 'operator/deep/late.ts'],
    ['the module of a worker thread', 'operator/deep/worker.ts'],
    ['a file that the test reads', 'charts/doorplate/values.yaml'],
    ['the list of files in a folder that the test reads', 'charts/doorplate/templates/b.yaml'],
    ['a dependency', 'package-lock.json'],
    ['how tests are run', 'test/jest/runtime.ts'],
  ])('is stale when %s changes', (_, path) => {
    const record = recorded();
    write(path, `${(checkout as Record<string, string>)[path] ?? ''}${changeOf(path)}`);
    expect(new Verdicts(root, record).isCurrent(mutant())).toBe(false);
  });

  test('is current when comments, types, layout or the folder of a module change', () => {
    const record = recorded();
    write(
      'operator/x.ts',
      "/** Better. */\nexport {deep}\n  from './d/deep.ts';\nexport const take = (): number => 1;\n",
    );
    for (const name of ['deep', 'late', 'worker'])
      write(`operator/d/${name}.ts`, checkout[`operator/deep/${name}.ts` as keyof typeof checkout]);
    rmSync(join(root, 'operator/deep'), {recursive: true});
    expect(new Verdicts(root, record).isCurrent(mutant())).toBe(true);
  });

  test('is stale when a module of the same name is imported in place of another', () => {
    write('operator/deep/deep.ts', `${checkout['operator/deep/deep.ts']}import '../late.ts';\n`);
    write('operator/late.ts', 'export const late = 2;\n');
    const record = recorded();
    const swapped = checkout['operator/deep/deep.ts'].replace('./late.ts', '../late.ts');
    write('operator/deep/deep.ts', `${swapped}import './late.ts';\n`);
    expect(new Verdicts(root, record).isCurrent(mutant())).toBe(false);
  });

  test('is stale when a comment changes that its test reads', () => {
    const ofHouse = mutant('- 1\n+ 2\n', 'test/unit/house.test.ts');
    write('test/unit/house.test.ts', "import '../../operator/x.ts';\n");
    const record = {read: {}, red: {}};
    new Verdicts(root, record).noteRed([ofHouse], () => true);
    expect(new Verdicts(root, record).isCurrent(ofHouse)).toBe(true);
    write('operator/x.ts', `${checkout['operator/x.ts']}// a comment\n`);
    expect(new Verdicts(root, record).isCurrent(ofHouse)).toBe(false);
  });

  test('is stale when its edit or its test changes', () => {
    const record = recorded();
    const isCurrent = (changed: ReturnType<typeof mutant>) => new Verdicts(root, record).isCurrent(changed);
    expect(isCurrent(mutant())).toBe(true);
    expect(isCurrent(mutant('- 1\n+ 3\n'))).toBe(false);
    expect(isCurrent(mutant('- 1\n+ 2\n', `${testFile} › other`))).toBe(false);
  });

  test('is stale when a kind changes that the API server of its test is lent with', () => {
    const onServer = mutant('- 1\n+ 2\n', 'test/operator/x.test.ts');
    write('test/operator/x.test.ts', 'export {};\n');
    const record = {read: {}, red: {}};
    new Verdicts(root, record).noteRed([onServer], () => true);
    expect(new Verdicts(root, record).isCurrent(onServer)).toBe(true);
    write('crds/kind.yaml', 'kind: 2\n');
    expect(new Verdicts(root, record).isCurrent(onServer)).toBe(false);
  });

  test('is gone when its mutant was not red', () => {
    const record = recorded();
    new Verdicts(root, record).noteRed([mutant()], () => false);
    expect(new Verdicts(root, record).isCurrent(mutant())).toBe(false);
  });
});

describe('A trace', () => {
  test('has the files and folders that this process and others read since it began', () => {
    const trace = new ReadTrace(root);
    readFileSync(join(root, 'operator/other.ts'));
    trace.begin();
    readFileSync(join(root, 'operator/x.ts'));
    readdirSync(join(root, 'crds'));
    execFileSync('cat', [join(root, 'charts/doorplate/values.yaml')]);
    expect(trace.read().toSorted()).toEqual(['charts/doorplate/values.yaml', 'crds//', 'operator/x.ts']);
  });
});

test('A release is refused when a file has changed since the full run', async () => {
  execFileSync('git', ['init', '-q', root]);
  write('.gitignore', 'dist/\n');
  expect(await hadFullRun(root)).toBe(false);
  await noteFullRun(root);
  write('test/mutants/verdicts.json', '{}');
  expect(await hadFullRun(root)).toBe(true);
  write('operator/x.ts', 'export const take = () => 2;\n');
  expect(await hadFullRun(root)).toBe(false);
});
