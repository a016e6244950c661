/** What the chart lets somebody do, as Helm renders it; the same on a cluster, by Kubernetes' own words: test/cluster/audit.test.ts. */
import {execFile} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {beforeAll, describe, expect, test} from '@jest/globals';
import {parseAllDocuments} from 'yaml';
import {bin} from '../support/kube-server.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}
interface Role {
  kind: string;
  metadata: {name: string; labels?: Record<string, string>};
  rules: Rule[];
}

let roles: Role[];
beforeAll(async () => {
  const args = ['template', 'doorplate', `${root}charts/doorplate`, '-n', 'doorplate-system'];
  const {stdout} = await promisify(execFile)(`${bin}/helm`, [...args, '-f', `${root}examples/demo/values.yaml`], {
    maxBuffer: 16 << 20,
  });
  roles = parseAllDocuments(stdout)
    .map((document) => document.toJS() as Role | null)
    .filter((object) => object?.kind === 'ClusterRole' || object?.kind === 'Role') as Role[];
});

const isTenants = ({metadata}: Role): boolean =>
  Object.keys(metadata.labels ?? {}).some((label) => label.startsWith('rbac.authorization.k8s.io/aggregate-to-'));
const its = (): Role[] => roles.filter((role) => !isTenants(role));
const resourcesOf = (of: readonly Role[]): string[] => [
  ...new Set(of.flatMap(({rules}) => rules.flatMap(({resources}) => resources))),
];

describe('The rights that the chart gives tenants', () => {
  test("are to read and write Projects, CustomDomains and ApiKeys, and nobody's status", () => {
    const theirs = roles.filter(isTenants);
    expect(theirs.map(({metadata}) => metadata.name)).toHaveLength(2);
    expect(resourcesOf(theirs).toSorted()).toEqual(['apikeys', 'customdomains', 'projects']);
  });
});

describe('The rights that the chart gives Doorplate', () => {
  test('are none on Secrets, and have no wildcard', () => {
    expect(resourcesOf(its()).length).toBeGreaterThan(15);
    expect(resourcesOf(its())).not.toContain('secrets');
    expect(JSON.stringify(its().map(({rules}) => rules))).not.toContain('*');
  });

  test('are to write Events, and to change none', () => {
    const ofEvents = its().flatMap(({rules}) => rules.filter(({resources}) => resources.includes('events')));
    expect(ofEvents.map(({verbs}) => verbs)).toEqual([['create'], ['create']]);
  });

  test('are none on routes and certificates, for the API', () => {
    const ofApi = its().filter(({metadata}) => metadata.name.endsWith('-api'));
    expect(ofApi).toHaveLength(1);
    expect(
      resourcesOf(ofApi).filter((resource) => /ingress|certificate|secret|order|challenge/.test(resource)),
    ).toEqual([]);
  });
});
