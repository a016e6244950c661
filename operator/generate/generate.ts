/**
 * Writes `crds/` and the chart's copies from the schemas, the pages of `docs/` that are made of tables in the source, and the version
 * of `package.json` into both charts: `make crds`.
 * With `--check` it writes nothing and fails when a file is out of step.
 */
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname} from 'node:path';
import {fileURLToPath} from 'node:url';
import {stringify} from 'yaml';
import {accountKind} from '../api/account.ts';
import {apiKeyKind} from '../api/api-key.ts';
import {crd, group, type CustomKind} from '../api/crd.ts';
import {customDomainKind} from '../api/custom-domain.ts';
import {domainClaimKind} from '../api/domain-claim.ts';
import {kindsPage} from './kinds-page.ts';
import {planKind} from '../api/plan.ts';
import {describeApi} from './description.ts';
import {httpApiPage} from './http-api-page.ts';
import {problemsPage} from './problems-page.ts';
import {dashboard} from './dashboard.ts';
import {metricsPage} from './metrics-page.ts';
import {projectKind} from '../api/project.ts';
import {providersPage} from './providers-page.ts';
import {reasonsPage} from './reasons-page.ts';
import {version} from '../version.ts';
import {withValues} from './values-table.ts';

// Kubernetes reads YAML 1.1, to which on, off, yes and no are booleans: write what it reads.
const kinds: CustomKind[] = [planKind, accountKind, projectKind, customDomainKind, domainClaimKind, apiKeyKind];
const check = process.argv.includes('--check');
const root = fileURLToPath(new URL('../../', import.meta.url));
const description = await describeApi();
const inChart = (file: string) => readFileSync(`${root}charts/doorplate/${file}`, 'utf8');
const files = new Map<string, string>([
  ['docs/reference/reasons.md', reasonsPage()],
  ['docs/reference/errors.md', problemsPage()],
  ['docs/reference/kinds.md', kindsPage(kinds)],
  ['docs/reference/http-api.md', httpApiPage(description)],
  ['docs/reference/openapi.json', `${JSON.stringify(description, null, 2)}\n`],
  ['docs/reference/metrics.md', metricsPage()],
  ['docs/reference/dns-providers.md', providersPage()],
  ['charts/doorplate/files/dashboard.json', dashboard()],
  ['charts/doorplate/README.md', withValues(inChart('README.md'), inChart('values.yaml'))],
]);
for (const kind of kinds) {
  const yaml = stringify(crd(kind), {lineWidth: 140, aliasDuplicateObjects: false});
  const text = `# Generated from operator/api by \`make crds\`. Do not edit.\n${yaml}`;
  for (const folder of ['crds', 'charts/doorplate-crds/templates'])
    files.set(`${folder}/${group}_${kind.plural}.yaml`, text);
}
for (const chart of ['doorplate', 'doorplate-crds']) {
  const file = `charts/${chart}/Chart.yaml`;
  files.set(file, readFileSync(root + file, 'utf8').replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`));
}
let stale = 0;
for (const [file, text] of files) {
  let before = '';
  try {
    before = readFileSync(root + file, 'utf8');
  } catch {
    /* a new file */
  }
  if (before === text) continue;
  if (check) {
    console.error(`${file} is out of step with the sources: run \`make crds\``);
    stale++;
  } else {
    mkdirSync(dirname(root + file), {recursive: true});
    writeFileSync(root + file, text);
    console.log(`wrote ${file}`);
  }
}
process.exitCode = stale > 0 ? 1 : 0;
