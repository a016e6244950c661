/** The model of two tenants and one hostname (test/support/rivals.ts), its claims kept by a real API server. */
import {afterAll, beforeAll, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {crd} from '../../operator/api/crd.ts';
import {domainClaimKind} from '../../operator/api/domain-claim.ts';
import type {Client} from '../../operator/kube/client.ts';
import type {KubeObject, Resource} from '../../operator/kube/objects.ts';
import {adminClient, apply, eventually, kubectl} from '../../cluster/cluster.ts';
import type {ClaimApi} from '../support/rivals.ts';
import {historyOfRivals, play, Town} from '../support/rivals.ts';

// The kind as it is, in a group of its own: the operator that runs in the cluster would release claims of tenants that it does not know.
const group = 'rivals.doorplate.dev';
const name = `rivalclaims.${group}`;
let client: Client;
beforeAll(async () => {
  client = adminClient();
  const kind = crd(domainClaimKind) as {spec: {names: object}};
  // Known by its full name alone: `kubectl get domainclaims` stays what it is.
  await apply([
    {
      ...kind,
      metadata: {name},
      spec: {
        ...kind.spec,
        group,
        names: {
          ...kind.spec.names,
          kind: 'RivalClaim',
          listKind: 'RivalClaimList',
          plural: 'rivalclaims',
          singular: 'rivalclaim',
          shortNames: [],
          categories: [],
        },
      },
    },
  ]);
  await kubectl(['wait', 'crd', name, '--for=condition=Established', '--timeout=300s']);
  await eventually(
    'the kind is served',
    async () =>
      (
        await client.list(
          there({group: '', version: 'v1alpha1', plural: 'rivalclaims', kind: 'RivalClaim', namespaced: false}),
        )
      ).items.length === 0,
  );
});
afterAll(async () => {
  await kubectl(['delete', 'crd', name]);
  await client?.close();
});

const there = <T extends KubeObject>(resource: Resource<T>): Resource<T> => ({
  ...resource,
  group,
  plural: 'rivalclaims',
  kind: 'RivalClaim',
});
const api: ClaimApi = {
  create: (resource, object, options) =>
    client.create(there(resource), {...object, apiVersion: `${group}/v1alpha1`, kind: 'RivalClaim'}, options),
  patch: (resource, key, body, options) => client.patch(there(resource), key, body, options),
  get: (resource, key, options) => client.get(there(resource), key, options),
  delete: (resource, key, options) => client.delete(there(resource), key, options),
};

test('no tenant is routed without proof, never two at once, and its owner gets it back within the confirmations: on a real API server', async () => {
  const runs = 50;
  let ends = 0;
  let town = 0;
  await fc.assert(
    fc.asyncProperty(historyOfRivals, async (history) => {
      await play(new Town(api, `town${town++}.example`), history);
      ends++;
    }),
    {numRuns: runs},
  );
  expect(ends).toBe(runs);
});
