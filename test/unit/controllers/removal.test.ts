/** Removal of a CustomDomain and of a Project, on fakes that record the requests. */
import {describe, expect, test} from '@jest/globals';
import {CustomDomainReconciler, type CustomDomainDeps} from '../../../operator/controllers/custom-domain.ts';
import {finalizer} from '../../../operator/resources/projections.ts';
import {ProjectReconciler, type ProjectDeps} from '../../../operator/controllers/project.ts';
import type {HasMeta} from '../../../operator/kube/objects.ts';
import {domain, enterprise, policy, project, tenantOn} from '../../support/world.ts';

interface Situation {
  deletionTimestamp?: string;
  isNamespaceGoing?: boolean;
}
interface Reconciler {
  reconcile: (key: string) => Promise<unknown>;
}

/** Reconciles an object once. Returns the requests that it sends, in order. */
async function requestsOf(
  object: HasMeta,
  make: (deps: unknown) => Reconciler,
  {deletionTimestamp, isNamespaceGoing = false}: Situation,
): Promise<string[]> {
  const requests: string[] = [];
  const cached = {...object, metadata: {...object.metadata, finalizers: [finalizer], deletionTimestamp}};
  const record = (what: string) => async () => void requests.push(what);
  const cache = {get: () => cached, observe: () => {}};
  const forgets = {keep: () => false, forget: () => {}};
  const deps = {
    client: {patch: record('finalizer')},
    policy,
    domains: cache,
    projects: cache,
    tenants: {isBeingDeleted: () => isNamespaceGoing, of: () => tenantOn(enterprise)},
    claims: {of: () => undefined},
    ownedObjects: {
      remove: record('owned objects'),
      removeRoutesOfOthers: async () => {
        requests.push('a plan is carried out');
        throw new Error('this fake carries out no plan');
      },
    },
    orders: forgets,
    waiting: forgets,
    dns: forgets,
    edge: forgets,
    issuance: forgets,
    events: {record: ({reason}: {reason: string}) => requests.push(`event ${reason}`)},
  };
  await make(deps)
    .reconcile('acme/web')
    .catch(() => {});
  return requests;
}

const kinds: [kind: string, object: HasMeta, make: (deps: unknown) => Reconciler, events: string[]][] = [
  ['CustomDomain', domain(), (deps) => new CustomDomainReconciler(deps as CustomDomainDeps), ['event Removed']],
  ['Project', project(), (deps) => new ProjectReconciler(deps as ProjectDeps), []],
];
const deletionTimestamp = '2026-01-01T00:00:00Z';

describe.each(kinds)('A %s', (_, object, make, events) => {
  test('that is deleted loses its routes and Certificates before its finalizer', async () => {
    expect(await requestsOf(object, make, {deletionTimestamp})).toEqual(['owned objects', 'finalizer', ...events]);
  });

  test('in a Namespace that is being deleted loses its routes and Certificates, and nothing is written', async () => {
    expect(await requestsOf(object, make, {isNamespaceGoing: true})).toEqual(['owned objects']);
  });
});
