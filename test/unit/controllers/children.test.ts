/** That the real API server and its garbage collector answer so is shown in test/crds/kube-apply.test.ts and test/cluster/lifecycle.test.ts. */
import {expect, test} from '@jest/globals';
import {Children} from '../../../operator/controllers/children.ts';
import {Applier} from '../../../operator/kube/apply.ts';
import type {Client} from '../../../operator/kube/client.ts';

const owner = {
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'CustomDomain',
  metadata: {name: 'docs', namespace: 'acme', uid: 'owner'},
};
const cacheOf = (...objects: object[]) => ({by: () => objects}) as never;

test('a route whose deletion a tenant holds up is deleted all the same when its owner goes', async () => {
  const sent: unknown[] = [];
  const client = {
    delete: async (_: unknown, key: string, options: object) => {
      sent.push([key, options]);
      return 'Deleted';
    },
  } as unknown as Client;
  const held = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: {
      name: 'x',
      namespace: 'acme',
      uid: 'route',
      finalizers: ['foregroundDeletion'],
      deletionTimestamp: '2026-01-01T00:00:00Z',
    },
  };
  const applier = new Applier(client, {fieldManager: 'doorplate', hashAnnotation: 'doorplate.dev/intent'});
  await new Children({client, applier, certificates: cacheOf(), ingresses: cacheOf(held), requests: cacheOf()}).remove(
    owner,
  );
  expect(sent).toEqual([['acme/x', {uid: 'route', propagation: 'Background'}]]);
});
