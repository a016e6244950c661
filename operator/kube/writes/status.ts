import type {Client} from '../client/client.ts';
import {isTooLarge} from '../errors.ts';
import {isDeepEqual} from '../equality.ts';
import {type HasMeta, type KubeObject, keyOf, type Resource} from '../objects.ts';

/**
 * Writes the whole status in one request, if it differs from the status that was read. If the object exceeds the size limit, writes
 * the first of the `shorter` statuses that fits. Shorter statuses are computed only in that case. A tenant that pads an object
 * therefore cannot freeze its status.
 *
 * Returns the object as written, or undefined when the status is unchanged. Throws a conflict when the object has changed since it
 * was read: decide again.
 */
export async function writeStatus<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: HasMeta & {status?: unknown},
  status: unknown,
  {fieldManager, shorter = () => []}: {fieldManager?: string; shorter?: () => readonly unknown[]} = {},
): Promise<T | undefined> {
  if (isDeepEqual(object.status, status)) return undefined;
  const patch = [
    {op: 'replace', path: '/metadata/resourceVersion', value: object.metadata.resourceVersion},
    // RFC 6902: 'add' replaces an existing member, and creates a missing one.
    {op: 'add', path: '/status', value: status},
  ];
  try {
    return await client.patch(resource, keyOf(object), patch, {type: 'json', subresource: 'status', fieldManager});
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    const [next, ...others] = shorter();
    if (next === undefined) throw error;
    return writeStatus(client, resource, object, next, {fieldManager, shorter: () => others});
  }
}
