/** Field owners as the API server writes them; test/api/owners.test.ts has the same by the real kubectl. */
import {describe, expect, test} from '@jest/globals';
import {
  formerOwners,
  handedOver,
  isApplied,
  otherManagers,
  stopOwners,
  visitsOf,
} from '../../../../operator/http/store/managers.ts';
import type {ManagedFieldsEntry} from '../../../../operator/kube/objects.ts';

type Owned = Pick<ManagedFieldsEntry, 'operation' | 'subresource'>;
const entry = (manager: string, fieldsV1: object, more: Owned = {operation: 'Update'}): ManagedFieldsEntry => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  fieldsType: 'FieldsV1',
  time: '2026-11-01T00:00:00Z',
  manager,
  fieldsV1,
  ...more,
});
const primary = {'f:spec': {'f:primary': {}}};
const api = entry('doorplate-api', {'f:spec': {'f:projectRef': {'f:name': {}}}}, {operation: 'Apply'});
const names = (entries: readonly ManagedFieldsEntry[]): (string | undefined)[] => entries.map(({manager}) => manager);

describe('A visit', () => {
  test.each(['kubectl-edit', 'kubectl-patch'])('is a change by %s of what the API made', (manager) => {
    const entries = [api, entry(manager, primary)];
    expect([names(visitsOf(entries)), otherManagers(entries)]).toEqual([[manager], []]);
  });

  test('is none on what only visitors own: the API did not make it', () => {
    const entries = [entry('kubectl-edit', primary), entry('doorplate-api', {'f:metadata': {'f:annotations': {}}})];
    expect([visitsOf(entries), otherManagers(entries)]).toEqual([[], ['kubectl-edit']]);
  });

  test.each<[string, ManagedFieldsEntry]>([
    ['by server-side apply under that name', entry('kubectl-patch', primary, {operation: 'Apply'})],
    ...['kubectl-client-side-apply', 'kubectl', 'kubectl-create', 'kubectl-replace', 'argocd-controller', 'helm'].map(
      (manager): [string, ManagedFieldsEntry] => [`by ${manager}`, entry(manager, primary)],
    ),
  ])('is none %s', (_, other) => {
    expect([visitsOf([api, other]), otherManagers([api, other])]).toEqual([[], [other.manager]]);
  });

  test.each<[string, ManagedFieldsEntry]>([
    ['labels alone', entry('kubectl-label', {'f:metadata': {'f:labels': {'f:team': {}}}})],
    ['a status', entry('kubectl-patch', {'f:status': {}}, {operation: 'Update', subresource: 'status'})],
  ])('is none of %s, which locks nothing', (_, other) => {
    expect([visitsOf([api, other]), otherManagers([api, other]), formerOwners([api, other])]).toEqual([[], [], []]);
  });
});

const marked = (manager: string, name: string): ManagedFieldsEntry =>
  entry(manager, {'f:metadata': {'f:labels': {[`f:${name}`]: {}}}});

describe('A mark of a GitOps tool', () => {
  test.each([
    ['argocd-controller', 'argocd.argoproj.io/instance'],
    ['argocd-controller', 'app.kubernetes.io/instance'],
    ['kustomize-controller', 'kustomize.toolkit.fluxcd.io/name'],
    ['helm-controller', 'helm.toolkit.fluxcd.io/name'],
  ])('that %s owns, %s, is an owner', (manager, name) => {
    expect(otherManagers([api, marked(manager, name)])).toEqual([manager]);
  });

  test.each([
    ['kubectl-label', 'argocd.argoproj.io/instance'],
    ['kubectl-edit', 'kustomize.toolkit.fluxcd.io/name'],
    ['kubectl-client-side-apply', 'helm.toolkit.fluxcd.io/name'],
    ['kubectl', 'kustomize.toolkit.fluxcd.io/name'],
    ['kubectl', 'applyset.kubernetes.io/part-of'],
    ['helm', 'app.kubernetes.io/instance'],
    ['kustomize-controller', 'team'],
  ])('that %s owns, %s, is none', (manager, name) => {
    expect(otherManagers([api, marked(manager, name)])).toEqual([]);
  });
});

const stop = {'f:doorplate.dev/stop': {}};
const noted = (manager: string, spec: object = {}): ManagedFieldsEntry =>
  entry(manager, {...spec, 'f:metadata': {'f:annotations': stop}});

describe('The annotation that stops a hostname', () => {
  const now = {apiVersion: 'doorplate.dev/v1alpha1', now: '2026-11-02T00:00:00Z'};

  test('has owners that write it again, and people', () => {
    expect(stopOwners([api, noted('kubectl-annotate'), noted('kustomize-controller')])).toEqual({
      isApis: false,
      others: ['kubectl-annotate', 'kustomize-controller'],
      keepCopy: ['kustomize-controller'],
    });
    expect([stopOwners([noted('doorplate-api')]).isApis, stopOwners([api]).isApis]).toEqual([true, false]);
  });

  test.each([
    ['kubectl-annotate', {}],
    ['kubectl-edit', primary],
    ['kustomize-controller', {}],
  ])('stays with %s when the spec is handed over', (manager, spec) => {
    const after = handedOver([api, noted(manager, spec)], now);
    expect(after[1]).toEqual(noted(manager));
    expect(JSON.stringify(after[0])).not.toContain('stop');
  });

  test.each(['kubectl-client-side-apply', 'doorplate-api'])('goes with the spec of %s', (manager) => {
    const after = handedOver([api, noted(manager, primary)], now);
    expect([names(after), stopOwners(after).isApis]).toEqual([['doorplate-api'], true]);
  });
});

describe("The API's apply", () => {
  const own = entry('doorplate-api', primary);
  test.each<[string, ManagedFieldsEntry[], boolean]>([
    ['alone', [api], true],
    ['and labels of others', [api, entry('kubectl-label', {'f:metadata': {}}), noted('kubectl-annotate')], true],
    ['and a merge patch of its own', [api, own], false],
    ['and a merge patch of its own that stops a hostname', [api, noted('doorplate-api')], false],
    ['and a visit', [api, entry('kubectl-patch', primary)], false],
  ])('%s: whether it owns all that the API writes', (_, entries, is) => {
    expect(isApplied(entries)).toBe(is);
  });
});

describe('What is handed over', () => {
  const now = {apiVersion: 'doorplate.dev/v1alpha1', now: '2026-11-02T00:00:00Z'};

  test('is the spec; all else stays with its owner', () => {
    const item = 'k:{"from":"old.example.com"}';
    const annotations = {'.': {}, 'f:doorplate.dev/stop': {}, 'f:note': {}};
    const labels = {'f:labels': {'f:team': {}}};
    const status = entry('doorplate', {'f:status': {}}, {operation: 'Update', subresource: 'status'});
    const entries = [
      status,
      api,
      entry('kubectl-patch', {'f:spec': {'f:redirects': {[item]: {'f:status': {}}}}, 'f:metadata': labels}),
      entry('kubectl-edit', {'f:spec': {'f:redirects': {[item]: {'.': {}, 'f:from': {}}}}}),
      entry('kubectl-annotate', {'f:metadata': {'f:annotations': annotations}}),
    ];
    const after = handedOver(entries, now);
    expect(names(after)).toEqual(['doorplate-api', 'doorplate', 'kubectl-patch', 'kubectl-annotate']);
    expect(after[0]).toEqual({
      ...api,
      time: now.now,
      fieldsV1: {
        'f:spec': {
          'f:projectRef': {'f:name': {}},
          'f:redirects': {[item]: {'.': {}, 'f:from': {}, 'f:status': {}}},
        },
      },
    });
    expect(after.slice(1).map(({fieldsV1}) => fieldsV1)).toEqual([
      status.fieldsV1,
      {'f:metadata': labels},
      {'f:metadata': {'f:annotations': annotations}},
    ]);
    expect([formerOwners(entries), formerOwners(after)]).toEqual([['kubectl-patch', 'kubectl-edit'], []]);
  });

  test('is all of it where the API owned nothing', () => {
    const [only, ...others] = handedOver([entry('kubectl-client-side-apply', primary)], now);
    expect([only!.manager, only!.operation, only!.fieldsV1, others]).toEqual(['doorplate-api', 'Apply', primary, []]);
  });
});
