/**
 * Writes the tests of the checks of Argo CD, in the form in which its repository has them, from the states of the design:
 * `make crds`.
 */
import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import {dirname} from 'node:path';
import {fileURLToPath} from 'node:url';
import {stringify} from 'yaml';
import type {CustomDomainStatus} from '../../operator/api/custom-domain.ts';
import {type Row, table} from './table.ts';

export const checksFolder = fileURLToPath(
  new URL('../../examples/argocd/resource_customizations/doorplate.dev/', import.meta.url),
);

/** `RecordMissing for 48 hours` -> `testdata/record-missing-for-48-hours.yaml`. */
const fileOf = (name: string): string =>
  `testdata/${name
    .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll(/\W+/g, '-')
    .toLowerCase()}.yaml`;

/** What a check says of an object: what Ready says, or that there is nothing to go by yet. */
function messageOf({situation: {object}}: Row): string {
  const {observedGeneration, conditions = []} = (object as {status?: Partial<CustomDomainStatus>}).status ?? {};
  const ready = observedGeneration === object.metadata.generation && conditions.find((c) => c.type === 'Ready');
  return ready ? ready.message : 'Doorplate has not processed this version yet';
}

/** All files, by path below {@link checksFolder}. */
export function testdata(): Map<string, string> {
  const files = new Map<string, string>();
  const tests = new Map<string, object[]>();
  for (const row of table) {
    const [kind = '', name = ''] = row.state.split(', ');
    files.set(`${kind}/${fileOf(name)}`, stringify(row.situation.object, {aliasDuplicateObjects: false}));
    const test = {healthStatus: {status: row.argoCD, message: messageOf(row)}, inputPath: fileOf(name)};
    tests.set(kind, [...(tests.get(kind) ?? []), test]);
  }
  for (const [kind, all] of tests) files.set(`${kind}/health_test.yaml`, stringify({tests: all}));
  return files;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = testdata();
  for (const folder of new Set([...files.keys()].map(dirname)))
    if (folder.endsWith('testdata')) rmSync(checksFolder + folder, {recursive: true, force: true});
  for (const [file, text] of files) {
    mkdirSync(dirname(checksFolder + file), {recursive: true});
    writeFileSync(checksFolder + file, text);
  }
}
