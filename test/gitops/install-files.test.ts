/** The files with which Flux and Argo CD install Doorplate. `make gitops` installs with them. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from '@jest/globals';
import {parseAllDocuments} from 'yaml';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const {version} = JSON.parse(read('package.json')) as {version: string};

interface Installer {
  kind?: string;
  metadata?: {name: string; namespace?: string};
  spec?: {
    chart?: {spec: {version: string}};
    source?: {targetRevision: string; helm?: {valuesObject: Values}};
    values?: Values;
    dependsOn?: object[];
  };
  dependencies?: {version: string}[];
}
interface Values {
  image: {tag: string};
}

const all = ['flux/install.yaml', 'argocd/install/crds.yaml', 'argocd/install/doorplate.yaml', 'umbrella/Chart.yaml']
  .map((file) => parseAllDocuments(read(`examples/${file}`)).map((document) => document.toJS() as Installer))
  .flat();

test('name the charts and the image of this version', () => {
  const versions = all.flatMap(({spec, dependencies = []}) => [
    ...dependencies.map((one) => one.version),
    ...[spec?.chart?.spec.version, spec?.source?.targetRevision].filter(Boolean),
    ...[spec?.values, spec?.source?.helm?.valuesObject].flatMap((values) => values?.image.tag ?? []),
  ]);
  expect(versions).toEqual(Array.from({length: 8}, () => version));
});

test('let Flux upgrade the kinds first: the version is in the HelmRelease, so that dependsOn waits for its new generation', () => {
  const releases = all.filter(({kind}) => kind === 'HelmRelease');
  expect(releases.map(({metadata, spec}) => [metadata?.name, spec?.dependsOn, spec?.chart?.spec.version])).toEqual([
    ['doorplate-crds', undefined, version],
    ['doorplate', [{name: 'doorplate-crds'}], version],
  ]);
});
