import {readdirSync, readFileSync} from 'node:fs';
import {builtinModules} from 'node:module';
import {dirname, join} from 'node:path';
import {describe, expect, test} from '@jest/globals';
import {mutants} from '../../mutants/mutant.ts';

const kit = new URL('../../../operator/kube/', import.meta.url);
const files = readdirSync(kit, {recursive: true})
  .map(String)
  .filter((name) => name.endsWith('.ts') || name.endsWith('.md'));
const read = (name: string): string => readFileSync(new URL(name, kit), 'utf8');
const sources = files.filter((name) => name.endsWith('.ts'));

/** What a source imports, whatever form it takes: static, type-only, re-export, dynamic. */
function imports(source: string): string[] {
  return [...source.matchAll(/\b(?:from|import)\s*\(?\s*(['"])([^'"]+)\1/g)].map((match) => match[2]!);
}

describe('the kit', () => {
  test('is there', () => {
    expect(sources.length).toBeGreaterThan(15);
    expect(imports("import {x} from './x.ts';\nexport * from \"../y.ts\";\nawait import('z');\nimport 'w';")).toEqual([
      './x.ts',
      '../y.ts',
      'z',
      'w',
    ]);
  });

  test('has a broken copy of each guarantee that its README numbers, and of nothing else', () => {
    const numbered = [...read('README.md').matchAll(/^(\d+)\. \*\*/gm)].map((match) => Number(match[1]));
    const broken = mutants()
      .flatMap(({name}) => /^kit-(\d+)-/.exec(name)?.[1] ?? [])
      .map(Number);
    expect(numbered).toEqual(Array.from({length: numbered.length}, (_, i) => i + 1));
    expect([...new Set(broken)].toSorted((a, b) => a - b)).toEqual(numbered);
  });

  test.each(sources)('%s imports nothing of ours from outside', (name) => {
    const allowed = new Set(['pino', 'prom-client', 'undici', '@kubernetes/client-node']);
    for (const from of imports(read(name))) {
      const ours = from.startsWith('.') && sources.includes(join(dirname(name), from));
      const nodes = from.startsWith('node:') && builtinModules.includes(from.slice(5));
      expect({name, from, fine: ours || nodes || allowed.has(from)}).toEqual({name, from, fine: true});
    }
  });

  test.each(files)('%s has no word about what the operator is for', (name) => {
    const words =
      /domain|hostname|\bdns\b|certificate[^s-]*request|cert-manager|ingress|doorplate|redirect|issuer|tls-?secret|acme/i;
    const found = read(name)
      .split('\n')
      .filter((line) => words.test(line));
    expect({name, found}).toEqual({name, found: []});
  });
});
