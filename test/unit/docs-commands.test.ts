/** Blocks of shell in pages that need nothing but this checkout, as somebody copies them; and the examples of the chart's values. */
import {execFile} from 'node:child_process';
import {mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from '@jest/globals';
import {bin} from '../support/kube-server.ts';
import {outputOf, wrongOutput, writeOutputs} from '../support/outputs.ts';
import {codeOf, filesOf, indentedBlocks, pagePaths, readPage, root, scriptsOf, waysToRun} from '../support/pages.ts';

const pages = pagePaths().map(readPage);
/** Where commands run: the checkout as they see it, and the files that pages have them write. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'doorplate-docs-'));
  for (const name of readdirSync(root)) symlinkSync(join(root, name), join(folder, name));
});
afterAll(() => {
  rmSync(folder, {recursive: true});
  writeOutputs(readPage);
});

async function run(script: string): Promise<string> {
  const path = [join(root, 'operator/cli'), join(root, 'node_modules/.bin'), bin, process.env.PATH].join(':');
  const {stdout} = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env: {...process.env, HOME: folder, PATH: path, KUBECONFIG: join(folder, 'none')},
    maxBuffer: 16 << 20,
  });
  return stdout;
}

const runnable = pages.flatMap((page) => scriptsOf(page, 'run').map((block) => ({page, block})));

const ways = new Set<string>(waysToRun);

describe('A block of shell', () => {
  test('is marked in one of the ways that are known', () => {
    const strange = pages.flatMap(({path, blocks}) =>
      blocks
        .filter(({info: [language, ...words]}) => language === 'sh' && !words.every((w) => ways.has(w)))
        .map(({line}) => `${path}:${line}`),
    );
    expect(strange).toEqual([]);
    expect(runnable.length).toBeGreaterThan(1);
  });

  test('is followed by its output, or is marked as silent', () => {
    const bare = pages.flatMap((page) =>
      page.blocks
        .filter(({info}) => info[0] === 'sh' && !info.includes('silent'))
        .filter((block) => outputOf(page, block) === undefined)
        .map(({line}) => `${page.path}:${line}`),
    );
    expect(bare).toEqual([]);
  });

  test('is fenced: no page has an indented block of code', () => {
    const indented = pages.flatMap(({path, text}) => indentedBlocks(text).map((line) => `${path}:${line}`));
    expect(indented).toEqual([]);
  });

  test.each(runnable.map(({page, block}) => [`${page.path}: ${block.under}`, page, block] as const))(
    'does what it says: %s',
    async (_, page, block) => {
      for (const [name, content] of filesOf(page)) writeFileSync(join(folder, name), content);
      expect(wrongOutput(page, block, await run(block.text))).toBeUndefined();
    },
  );
});

const values = pages.flatMap(({path, blocks}) =>
  blocks.filter(({info}) => info.join(' ') === 'yaml values').map(({text, line}) => [path, line, text] as const),
);

test.each(values)('%s, line %d: these values are what the chart takes', async (_, line, text) => {
  const file = `values-${line}.yaml`;
  writeFileSync(join(folder, file), text);
  expect(await run(`helm template doorplate charts/doorplate -f examples/demo/values.yaml -f ${file}`)).toContain(
    'kind: Deployment',
  );
});

describe('A command that is copied', () => {
  const notes = readFileSync(join(root, 'charts/doorplate/templates/NOTES.txt'), 'utf8');
  const commands = [...pages.flatMap(codeOf), notes].flatMap((text) => text.split('\n').map((line) => line.trim()));

  test('for an upgrade names the image: Helm would keep the older one, which does not know the newer settings', () => {
    const upgrades = commands.filter((line) => /helm upgrade doorplate charts\/doorplate\b/.test(line));
    expect(upgrades.length).toBeGreaterThan(1);
    expect(upgrades.filter((line) => !/ --set(-string)? image\.(digest|tag)=\S/.test(line))).toEqual([]);
  });

  test('for logs of Pods by a label asks for all lines: kubectl shows ten of each Pod unless told otherwise', () => {
    const logs = commands.filter((line) => /^kubectl .*\blogs\b.* (-l|--selector)\b/.test(line));
    expect(logs.length).toBeGreaterThan(1);
    expect(logs.filter((line) => !/ --tail=-1\b/.test(line))).toEqual([]);
  });
});

/** Commands of README.md: where `make test` runs each, and a text that shows it there. docs/reference/support.md lists what it does not run. */
const runners: readonly (readonly [RegExp, string, string])[] = [
  [/^kubectl /, 'test/operator/docs.test.ts', "scriptsOf(readme, 'api-server')"],
  [/^helm install doorplate(-crds)? charts\/doorplate/, 'docs/how-to/install.md', 'helm install doorplate'],
  [/^make demo$/, 'test/run.ts', 'cluster/demo.ts'],
  [/^(make test|npm test|make mutants)$/, 'test/run.ts', 'test/mutants/run.ts'],
  [/^examples\/kind\/up\.sh$/, 'docs/reference/support.md', '`up.sh`, which needs Docker and kind, was not run'],
];

test('Each command of README.md is run by make test, or docs/reference/support.md lists it', () => {
  const shell = readPage('README.md').blocks.filter(({info}) => info[0] === 'sh');
  const commands = shell.flatMap(({text}) => text.split('\n').filter((line) => /^[a-z]/.test(line)));
  expect(commands.length).toBeGreaterThan(8);
  // .ci/run runs it.
  expect(commands).toContain('make test');
  expect(commands.filter((command) => !runners.some(([form]) => form.test(command)))).toEqual([]);
  for (const [, file, shown] of runners)
    expect([file, readFileSync(join(root, file), 'utf8')]).toEqual([file, expect.stringContaining(shown)]);
});
