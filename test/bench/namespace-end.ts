/** ROW=P14: a namespace with many domains is deleted, beside the same objects where no operator runs. */
import {
  certificates,
  customDomains,
  endpointSlices,
  ingresses,
  namespaces,
  projects,
  services,
} from '../../operator/resources/resources.ts';
import type {KubeObject, Resource} from '../../operator/kube/objects.ts';
import {eventually} from '../support/kube-api.ts';
import {startControllerManager} from './daemons.ts';
import {allExist, each, type Place, placesOf} from './population.ts';
import {printTable, type Row, seconds} from './table.ts';
import {BenchWorld} from './world.ts';

const kinds: readonly Resource[] = [services, endpointSlices, projects, customDomains, certificates, ingresses];

/** From the delete until the namespace is gone, ms. */
async function endMs({client}: BenchWorld, namespace: string): Promise<number> {
  const began = performance.now();
  await client.delete(namespaces, namespace);
  await eventually(async () => (await client.get(namespaces, namespace)) === undefined, 3_600_000);
  return performance.now() - began;
}

/** What stands in a namespace: bare, as it is created in another. */
async function contentsOf(
  {client}: BenchWorld,
  namespace: string,
): Promise<{resource: Resource; object: KubeObject}[]> {
  const found = [];
  for (const resource of kinds) {
    const {items} = await client.list(resource, {namespace});
    for (const {metadata, ...rest} of items) {
      const {status: _, ...object} = rest as typeof rest & {status?: unknown};
      found.push({resource, object: {...object, metadata: {name: metadata.name, namespace: 'copy'}} as KubeObject});
    }
  }
  return found;
}

/** So many are asked for, whatever the size of the bench. */
const most = 1000;

export const run: Row = async ({say, domains: wanted}) => {
  const domains = Math.min(wanted, most);
  const world = await BenchWorld.start();
  try {
    const {client} = world;
    await world.with(startControllerManager(world.server));
    const operator = await world.operator();
    const places = placesOf(0, domains, {perTenant: domains});
    await world.publish(places);
    await world.attach(places);
    const [{namespace}] = places as [Place];
    await allExist(client, places);
    await operator.quiet();
    const contents = await contentsOf(world, namespace);
    const failed = () => operator.metric('controller_runtime_reconcile_errors_total');
    const before = await failed();
    const ours = await endMs(world, namespace);
    await operator.quiet();
    const errors = (await failed()) - before;
    await operator.stop();
    await client.create(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'copy'}});
    await each(contents, ({resource, object}) => client.create(resource, object));
    const bare = await endMs(world, 'copy');
    printTable([
      [`P14, a namespace with ${domains} domains (${contents.length} objects) is deleted`, 'reach', 'measured'],
      ['with Doorplate', '', seconds(ours)],
      ['the same objects without', '', seconds(bare)],
      ['with / without', '1.50 ×', `${(ours / bare).toFixed(2)} ×`],
      ['failed reconciles', '0', String(errors)],
    ]);
    const well = ours <= 1.5 * bare && errors === 0;
    say(`P14: ${well ? 'reached' : 'MISSED'}`);
    return well;
  } finally {
    await world.stop();
  }
};
