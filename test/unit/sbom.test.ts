import {describe, expect, test} from '@jest/globals';
import {packagesIn, partOf, type Sbom, sbom} from '../../cluster/sbom.ts';

const component = (ref: string) => ({
  'bom-ref': ref,
  type: 'library',
  name: ref.split('@')[0]!,
  version: '1',
  purl: `pkg:npm/${ref}`,
});
/** Of `doorplate`: what each package needs. */
const known = (needs: Record<string, string[]>): Sbom => ({
  metadata: {component: component('doorplate@1')},
  components: Object.keys(needs)
    .filter((ref) => ref !== 'doorplate@1')
    .map(component),
  dependencies: Object.entries(needs).map(([ref, dependsOn]) => ({ref, dependsOn})),
});

describe('What an image is made of', () => {
  test('are the packages that are imported, all that these need, and what is added', () => {
    const all = known({
      'doorplate@1': ['web@1', 'tester@1'],
      'web@1': ['deep@1', 'log@2'],
      'tester@1': ['log@1'],
      'deep@1': ['web@1'],
      'log@1': [],
      'log@2': [],
    });
    const {components, dependencies} = partOf(all, new Set(['web', 'log', 'other']), [component('libc@2')]);
    expect(components.map((c) => c['bom-ref'])).toEqual(['web@1', 'deep@1', 'log@2', 'libc@2']);
    expect(dependencies).toEqual([
      {ref: 'doorplate@1', dependsOn: ['web@1', 'libc@2']},
      {ref: 'web@1', dependsOn: ['deep@1', 'log@2']},
      {ref: 'deep@1', dependsOn: ['web@1']},
      {ref: 'log@2', dependsOn: []},
    ]);
  });

  test('is found in sources, whatever the form of the import', () => {
    const source = `import a from 'a';\nimport {type B} from '@b/c/d';\nexport * from "./e.ts";\nimport f from '../f.ts';
      import {g} from 'node:g';\nconst h = await import('h/i');\nimport 'j';`;
    expect(packagesIn(source)).toEqual(['a', '@b/c', 'h', 'j']);
  });

  test('are, here, the packages of the operator and of the page, Node.js and Debian’s libraries, and no tool', () => {
    const {components, metadata} = sbom('24.0.0', 'libc6 2.36+1 arm64\n');
    const names = new Set(components.map(({name}) => name));
    const looked = ['fastify', 'undici', 'zod', 'ajv', 'react', 'wouter', 'node', 'libc6', 'jest', 'vite', 'esbuild'];
    expect(looked.filter((name) => names.has(name))).toEqual(looked.slice(0, 8));
    expect(components.slice(-2).map(({purl}) => purl)).toEqual([
      'pkg:generic/node@24.0.0',
      'pkg:deb/debian/libc6@2.36%2B1?arch=arm64',
    ]);
    expect(metadata.component.name).toBe('doorplate');
  });
});
