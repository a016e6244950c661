/** Faults while `kubectl doorplate release` runs, by a fake API server; test/api/owners.test.ts has the rest, on a real one. */
import {describe, expect, test} from '@jest/globals';
import type {CustomDomain} from '../../../../operator/api/foreign.ts';
import {run} from '../../../../operator/cli/program.ts';
import type {Client} from '../../../../operator/kube/client/client.ts';
import {ApiError} from '../../../../operator/kube/errors.ts';
import type {ManagedFieldsEntry} from '../../../../operator/kube/objects.ts';

const status = (code: number, reason: string, name = 'docs'): ApiError =>
  new ApiError({status: code, body: JSON.stringify({message: reason, reason, details: {name, kind: 'customdomains'}})});
const conflict = status(409, 'Conflict');

const owner = (manager: string, fieldsV1: object = {'f:spec': {'f:primary': {}}}): ManagedFieldsEntry => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  fieldsType: 'FieldsV1',
  time: '2026-11-01T00:00:00Z',
  operation: 'Update',
  manager,
  fieldsV1,
});
const domain = (manager: string, metadata: object = {}): CustomDomain => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'CustomDomain',
  metadata: {
    name: 'docs',
    namespace: 'acme',
    uid: 'one',
    resourceVersion: '1',
    managedFields: [owner(manager)],
    ...metadata,
  } as CustomDomain['metadata'],
  spec: {projectRef: {name: 'docs'}, primary: 'docs.example.com'},
});

const mark = 'kustomize.toolkit.fluxcd.io/name';
/** An object of `kubectl apply` with Flux's mark, which another manager owns. */
const marked = (manager: string): CustomDomain => {
  const marking = owner(manager, {'f:metadata': {'f:labels': {[`f:${mark}`]: {}}}});
  return domain('x', {labels: {[mark]: 'x'}, managedFields: [owner('kubectl-client-side-apply'), marking]});
};

interface Fake {
  /** The versions of each object, one for each read; the last one stays. */
  versions?: Record<string, (CustomDomain | undefined)[]>;
  /** What each write is answered with, in order, then success. */
  refusals?: (Error | undefined)[];
  /** A file for `-f`. */
  file?: object;
}

/** A fake API server. The test chooses its answers to reads and writes. */
async function released(words: string, {versions = {}, refusals = [], file}: Fake) {
  const written: unknown[] = [];
  const left = [...refusals];
  const fake: Pick<Client, 'get' | 'patch' | 'close'> = {
    get: async <T>(_: unknown, key: string) => {
      const all = versions[key.split('/')[1]!] ?? [undefined];
      return (all.length > 1 ? all.shift() : all[0]) as T | undefined;
    },
    patch: async <T>(_: unknown, key: string, body: unknown) => {
      const refusal = left.shift();
      if (refusal) throw refusal;
      written.push([key, (body as {metadata: {resourceVersion: string}}).metadata.resourceVersion]);
      return undefined as T;
    },
    close: async () => {},
  };
  let told = '';
  const code = await run(['release', ...words.split(' '), '-n', 'acme'], {
    out: () => {},
    tell: (text) => {
      told += text;
    },
    colours: false,
    read: async () => JSON.stringify(file),
    cluster: async () => ({namespace: 'acme', client: () => fake as Client}),
    now: () => Date.parse('2026-11-02T00:00:00Z'),
    wait: async () => {},
  });
  return {code, told, written};
}
const apply = 'kubectl-client-side-apply';
const [object, other] = ['docs', 'other'].map((name) => `The CustomDomain ${name} in the namespace acme`);

describe('An object that is written while it is handed back', () => {
  test('is handed back in its newest version', async () => {
    const versions = {docs: [domain(apply), domain('kubectl-replace', {resourceVersion: '2'})]};
    expect(await released('docs', {versions, refusals: [conflict]})).toEqual({
      code: 0,
      told: `${object} is returned to the API. Former owner: kubectl-replace.\n`,
      written: [['acme/docs', '2']],
    });
  });

  test('by its status again and again is handed back all the same', async () => {
    const versions = {docs: [domain(apply)]};
    const {code, written} = await released('docs', {versions, refusals: Array<Error>(7).fill(conflict)});
    expect([code, written.length]).toEqual([0, 1]);
  });

  test.each<[string, CustomDomain | undefined, RegExp]>([
    ['another object of that name is there', domain(apply, {uid: 'two'}), /another object replaced it/],
    ['it is gone', undefined, /is not in the cluster\.$/],
    ['Argo CD wrote it', domain('argocd-controller'), /Argo CD will write it again/],
    [
      'Flux marked it',
      marked('kustomize-controller'),
      /Flux will write it again \(kustomize\.toolkit\.fluxcd\.io\/name\)/,
    ],
  ])('is left alone if then %s', async (_, newest, says) => {
    const versions = {docs: [domain(apply), newest]};
    const {code, told, written} = await released('docs', {versions, refusals: [conflict]});
    expect([code, told.trim(), written]).toEqual([1, expect.stringMatching(says), []]);
  });

  test("is not written if it is the API's then", async () => {
    const versions = {docs: [domain(apply), domain('doorplate-api')]};
    expect(await released('docs', {versions, refusals: [conflict]})).toEqual({
      code: 0,
      told: `${object} already belongs to the API.\n`,
      written: [],
    });
  });
});

test.each(['kubectl-label', 'kubectl', apply])('A mark that %s owns keeps no object', async (manager) => {
  expect(await released('docs', {versions: {docs: [marked(manager)]}})).toMatchObject({code: 0});
});

const both = () => ({docs: [domain(apply)], other: [domain(apply, {name: 'other'})]});

describe('Of several objects', () => {
  test.each<[string, Error, string]>([
    ['may not be written', status(403, 'Forbidden'), 'was not returned: refused: Forbidden'],
    ['is refused', status(422, 'Invalid'), 'was not returned: refused: Invalid'],
  ])('one that %s does not keep the next one', async (_, refusal, says) => {
    expect(await released('docs other', {versions: both(), refusals: [refusal]})).toEqual({
      code: 1,
      told: `${object} ${says}\n${other} is returned to the API. Former owner: ${apply}.\n`,
      written: [['acme/other', '1']],
    });
  });

  test('one that is gone at the write does not keep the next one', async () => {
    const all = {...both(), docs: [domain(apply), undefined]};
    const {code, told, written} = await released('docs other', {versions: all, refusals: [status(404, 'NotFound')]});
    expect([code, told.split('\n')[0], written.length]).toEqual([1, `${object} is not in the cluster.`, 1]);
  });
});

const saved = (name: string, managedFields: ManagedFieldsEntry[]): CustomDomain => domain('x', {name, managedFields});
const stays = (name: string, why: string): string =>
  `The CustomDomain ${name} in the namespace acme stays unchanged: ${why} when it was saved.\n`;

describe('Of a backup', () => {
  test('what the API did not own stays as it is, and is named', async () => {
    const items = [
      saved('docs', [owner('doorplate-api')]),
      saved('bare', []),
      saved('asked', [owner('doorplate-api', {'f:metadata': {'f:annotations': {}}})]),
      saved('git', [owner('kustomize-controller')]),
    ];
    const versions = Object.fromEntries(items.map(({metadata: {name}}) => [name, [domain(apply, {name, uid: 'new'})]]));
    expect(await released('-f owners.json', {versions, file: {kind: 'List', items}})).toEqual({
      code: 0,
      told:
        stays('bare', 'another program owned its spec') +
        stays('asked', 'another program owned its spec') +
        stays('git', 'its owner was kustomize-controller') +
        `${object} is returned to the API. Former owner: ${apply}.\n`,
      written: [['acme/docs', '1']],
    });
  });

  test('an object that is not in the cluster is named', async () => {
    const items = [saved('docs', [owner('doorplate-api')])];
    const {code, told} = await released('-f owners.json', {file: {kind: 'List', items}});
    expect([code, told]).toEqual([1, `${object} is not in the cluster.\n`]);
  });

  test('without such objects there is nothing to hand back', async () => {
    const {code, told} = await released('-f owners.json', {file: {kind: 'List', items: []}});
    expect([code, told]).toEqual([0, 'There is nothing to return.\n']);
  });
});

describe('The field manager of a GitOps tool', () => {
  test.each([
    ['argocd-controller', 'Argo CD'],
    ['argocd-application-controller', 'Argo CD'],
    ['kustomize-controller', 'Flux'],
    ['helm-controller', 'Flux'],
    ['helm', 'Helm'],
    ['kapp-server', 'kapp'],
    ['fleetagent', 'Rancher Fleet'],
    ['fleet-agent', 'Rancher Fleet'],
  ])('%s keeps an object without a mark from being handed back, until it is taken out of %s', async (manager, tool) => {
    const versions = {docs: [domain(manager)]};
    const {code, told, written} = await released('docs', {versions});
    expect([code, written]).toEqual([1, []]);
    expect(told).toContain(`${tool} will write it again (field manager ${manager}).`);
    expect(told).toContain('Then run: kubectl doorplate release customdomain/docs -n acme --from-pipeline\n');
    expect(await released('docs --from-pipeline', {versions})).toMatchObject({code: 0, written: [['acme/docs', '1']]});
  });
});
