/** Field owners as the API server writes them; test/api/owners.test.ts has the same by the real kubectl. */
import {describe, expect, test} from '@jest/globals';
import {formerOwners, handedOver, otherManagers, visitsOf} from '../../../../operator/http/store/managers.ts';
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

describe('What is handed over', () => {
  const now = {apiVersion: 'doorplate.dev/v1alpha1', now: '2026-11-02T00:00:00Z'};

  test('is the spec and the annotation that stops a hostname; all else stays with its owner', () => {
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
        'f:metadata': {'f:annotations': {'f:doorplate.dev/stop': {}}},
      },
    });
    expect(after.slice(1).map(({fieldsV1}) => fieldsV1)).toEqual([
      status.fieldsV1,
      {'f:metadata': labels},
      {'f:metadata': {'f:annotations': {'.': {}, 'f:note': {}}}},
    ]);
    expect([formerOwners(entries), formerOwners(after)]).toEqual([
      ['kubectl-patch', 'kubectl-edit', 'kubectl-annotate'],
      [],
    ]);
  });

  test('is all of it where the API owned nothing', () => {
    const [only, ...others] = handedOver([entry('kubectl-client-side-apply', primary)], now);
    expect([only!.manager, only!.operation, only!.fieldsV1, others]).toEqual(['doorplate-api', 'Apply', primary, []]);
  });
});
