/** Before Doorplate goes: nothing may wait for it that nobody will do. */
import type {Client} from '../../kube/client/client.ts';
import {isConflict, isNotFound} from '../../kube/errors.ts';
import {removeFinalizer} from '../../kube/writes/finalizer.ts';
import {type KubeObject, keyOf, type Resource} from '../../kube/objects.ts';
import {doAll} from '../../kube/writes/side-by-side.ts';
import {finalizer} from '../../resources/projections.ts';
import {customDomains, projects} from '../../resources/resources.ts';

/** How often one object may change while its finalizer is taken off. */
const attempts = 5;

/**
 * Takes Doorplate's finalizer off every CustomDomain and Project, and nothing else: what is served stays. Resolves with how many it
 * was taken off. A kind that does not exist has none. Throws what the API server throws. Nobody may put finalizers on meanwhile.
 */
export async function removeFinalizers(client: Client): Promise<number> {
  const kinds: Resource[] = [customDomains, projects];
  const counts = await Promise.all(kinds.map((kind) => removeFinalizersOf(client, kind)));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function removeFinalizersOf(client: Client, kind: Resource): Promise<number> {
  try {
    const {items} = await client.list(kind, {metadataOnly: true});
    const freed = await doAll(items, (object) => free(client, kind, object));
    return freed.filter(Boolean).length;
  } catch (error) {
    if (isNotFound(error)) return 0;
    throw error;
  }
}

/** Whether there was anything to take off. */
async function free(client: Client, kind: Resource, object: KubeObject): Promise<boolean> {
  let read: KubeObject | undefined = object;
  for (let left = attempts; read !== undefined; left--) {
    try {
      return (await removeFinalizer(client, kind, read, finalizer)) !== undefined;
    } catch (error) {
      if (!isConflict(error) || left === 1) throw error;
      read = await client.get(kind, keyOf(object));
    }
  }
  return false;
}
