/** The path of docs/reference/api-policy.md from one version of a kind to the next, without a conversion webhook. */
import {execFile} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import {parse} from 'yaml';
import {eventually} from '../support/kube-api.ts';
import {type ApiServer, bin} from '../support/kube-server.ts';
import {readPage, root} from '../support/pages.ts';
import {Platform} from '../support/platform.ts';

/** In place of doorplate.dev, whose kinds the next borrower of the API server needs unchanged. */
const group = 'versions.test';
const kind = `customdomains.${group}`;

interface Version {
  name: string;
  served: boolean;
  storage: boolean;
}
interface Crd {
  metadata: {annotations: Record<string, string>};
  spec: {versions: Version[]; conversion?: {strategy: string}};
}

let server: ApiServer;
let folder: string;
beforeAll(async () => {
  server = await Platform.server();
  folder = mkdtempSync(join(tmpdir(), 'doorplate-versions-'));
  const [cert, key] = ['admin.crt', 'admin.key'].map((name) => join(server.dir, name));
  writeFileSync(join(folder, 'kubeconfig'), server.kubeconfig({'client-certificate': cert, 'client-key': key}));
});
afterAll(async () => {
  rmSync(folder, {recursive: true});
  await server.stop();
});

/** What a script prints. Rejects if it fails. */
async function run(script: string): Promise<string> {
  const env = {
    ...process.env,
    HOME: folder,
    PATH: `${bin}:${process.env.PATH}`,
    KUBECONFIG: join(folder, 'kubeconfig'),
  };
  return (await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {cwd: folder, env})).stdout;
}
const apply = (object: unknown, ...options: string[]): Promise<string> =>
  run(
    `kubectl apply --server-side --force-conflicts ${options.join(' ')} -f - <<'END'\n${JSON.stringify(object)}\nEND`,
  );

/** The kind with these versions, which share its one schema. */
function kindWith(...versions: Version[]): Crd {
  const text = readFileSync(join(root, 'crds/doorplate.dev_customdomains.yaml'), 'utf8');
  const crd = parse(text.replaceAll('doorplate.dev', group)) as Crd;
  const [first] = crd.spec.versions;
  crd.spec.versions = versions.map((version) => ({...first!, ...version}));
  crd.spec.conversion = {strategy: 'None'};
  return crd;
}
const old = (storage: boolean): Version => ({name: 'v1alpha1', served: true, storage});
const next = (storage: boolean): Version => ({name: 'v1beta1', served: true, storage});

const read = (version: string) =>
  run(`kubectl get customdomains.${version}.${group} docs -o jsonpath='{.apiVersion} {.spec.primary} {.status.phase}'`);
const writes = () => run(`kubectl get ${kind} docs -o jsonpath='{.metadata.resourceVersion}'`);
const stored = async () => JSON.parse(await run(`kubectl get crd ${kind} -o jsonpath='{.status.storedVersions}'`));
const isServed = (version: string) => eventually(async () => (await read(version)) !== '');

test('an object keeps its spec and its status from v1alpha1 to v1beta1, and back while both are served', async () => {
  await apply(kindWith(old(true)));
  await run(`kubectl wait crd/${kind} --for=condition=Established`);
  const spec = {projectRef: {name: 'docs'}, primary: 'docs.example.com'};
  const docs = {kind: 'CustomDomain', metadata: {name: 'docs', namespace: 'default'}};
  await eventually(() => apply({apiVersion: `${group}/v1alpha1`, ...docs, spec}));
  const status = JSON.stringify({status: {observedGeneration: 1, phase: 'Live'}});
  await run(`kubectl patch ${kind} docs --subresource=status --type=merge -p '${status}'`);

  // Version A.
  await apply(kindWith(old(true), next(false)));
  await isServed('v1beta1');
  expect(await read('v1beta1')).toBe(`${group}/v1beta1 docs.example.com Live`);
  // Version B.
  await apply(kindWith(old(false), next(true)));
  await eventually(async () => (await stored()).length === 2);
  expect(await read('v1alpha1')).toBe(`${group}/v1alpha1 docs.example.com Live`);
  // Version C, too early.
  await expect(apply(kindWith(next(true)))).rejects.toThrow('must remain in spec.versions');
  // The page's migration.
  const page = readPage('docs/reference/api-policy.md');
  const {text} = page.blocks.find((block) => block.under === 'The path to v1beta1' && block.info[0] === 'sh')!;
  const before = await writes();
  await run(text.replaceAll('doorplate.dev', group).replace(/ in .*;/, ' in customdomains;'));
  // The API server writes an unchanged object again if its stored version is not the current one.
  expect(await writes()).not.toBe(before);
  expect(await stored()).toEqual(['v1beta1']);
  // Version C.
  await apply(kindWith(next(true)));
  await isServed('v1beta1');
  expect(await read('v1beta1')).toBe(`${group}/v1beta1 docs.example.com Live`);
  await run(`kubectl delete crd ${kind}`);
});
