/**
 * Writes what the image is made of as CycloneDX: of what `npm sbom` knows the packages that the operator and the page import, with all
 * that these need; and Node.js and Debian's libraries. `node cluster/sbom.ts NODE_VERSION < PACKAGES`, a line of PACKAGES for
 * each library: name, version, architecture.
 */
import {execFileSync} from 'node:child_process';
import {globSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

interface Component {
  'bom-ref': string;
  type: string;
  name: string;
  version: string;
  purl: string;
}
export interface Sbom {
  [field: string]: unknown;
  metadata: {[field: string]: unknown; component: Component};
  components: Component[];
  dependencies: {ref: string; dependsOn: string[]}[];
}

/** The packages that a source imports, by name: `@a/b` of `@a/b/c`. */
export const packagesIn = (source: string): string[] =>
  [...source.matchAll(/\b(?:from|import)\s*\(?\s*'((?:@[^/']+\/)?[^./'][^/']*)[^']*'/g)]
    .map(([, name]) => name!)
    .filter((name) => !name.startsWith('node:'));

/**
 * The part of an SBOM that these packages and all that they need make up; packages that are not in it are no concern. Its own
 * component depends on these, and on `more`, which is added.
 */
export function partOf(all: Sbom, names: ReadonlySet<string>, more: readonly Component[]): Sbom {
  const needs = new Map(all.dependencies.map(({ref, dependsOn}) => [ref, dependsOn]));
  const own = all.metadata.component['bom-ref'];
  const direct = all.components
    .filter(({'bom-ref': ref, name}) => names.has(name) && needs.get(own)?.includes(ref))
    .map((component) => component['bom-ref']);
  const kept = new Set(direct);
  for (const ref of kept) for (const needed of needs.get(ref) ?? []) kept.add(needed);
  return {
    ...all,
    components: [...all.components.filter((component) => kept.has(component['bom-ref'])), ...more],
    dependencies: [
      {ref: own, dependsOn: [...direct, ...more.map((component) => component['bom-ref'])]},
      ...all.dependencies.filter(({ref}) => kept.has(ref)),
    ],
  };
}

const component = (type: string, name: string, version: string, purl: string): Component => ({
  'bom-ref': purl,
  type,
  name,
  version,
  purl,
});

/** Of this checkout. `packages`: Debian's, a line each. */
export function sbom(nodeVersion: string, packages: string): Sbom {
  const all = JSON.parse(
    execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--loglevel', 'error'], {
      cwd: root,
      maxBuffer: 64 << 20,
    }).toString(),
  ) as Sbom;
  all.metadata.component.name = 'doorplate';
  const sources = globSync('{operator,dashboard/src}/**/*.{ts,tsx}', {cwd: root});
  const names = new Set(sources.flatMap((path) => packagesIn(readFileSync(`${root}${path}`, 'utf8'))));
  const libraries = packages
    .trim()
    .split('\n')
    .map((line) => line.split(' ') as [string, string, string])
    .map(([name, version, arch]) =>
      component('library', name, version, `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${arch}`),
    );
  return partOf(all, names, [
    component('platform', 'node', nodeVersion, `pkg:generic/node@${nodeVersion}`),
    ...libraries,
  ]);
}

if (import.meta.main)
  console.log(JSON.stringify(sbom(process.argv[2] ?? process.versions.node, readFileSync(0, 'utf8')), null, 2));
