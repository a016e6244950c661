/**
 * Writes `crds/` and the chart's copies from the schemas: `make crds`. With `--check` it writes nothing and fails when a
 * file is out of step.
 */
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {stringify} from 'yaml';
import {crd, group} from './crd.ts';
import {customDomainKind} from './custom-domain.ts';
import {projectKind} from './project.ts';

// Kubernetes reads YAML 1.1, to which on, off, yes and no are booleans: write what it reads.
const kinds = [projectKind, customDomainKind];
const check = process.argv.includes('--check');
const root = fileURLToPath(new URL('../../', import.meta.url));
let stale = 0;
for (const kind of kinds) {
  const text = `# Generated from operator/api by \`make crds\`. Do not edit.\n${stringify(crd(kind), {lineWidth: 140, aliasDuplicateObjects: false, version: '1.1'})}`;
  for (const folder of ['crds', 'charts/doorplate-crds/templates']) {
    const file = `${root}${folder}/${group}_${kind.plural}.yaml`;
    let before = '';
    try { before = readFileSync(file, 'utf8'); } catch { /* a new file */ }
    if (before === text) continue;
    if (check) {
      console.error(`${folder}/${group}_${kind.plural}.yaml is out of step with operator/api: run \`make crds\``);
      stale++;
    } else {
      mkdirSync(`${root}${folder}`, {recursive: true});
      writeFileSync(file, text);
      console.log(`wrote ${folder}/${group}_${kind.plural}.yaml`);
    }
  }
}
process.exitCode = stale > 0 ? 1 : 0;
