import type {Client} from './client.ts';
import {isTooLarge} from './errors.ts';
import {isDeepEqual} from './equality.ts';
import {type HasMeta, type KubeObject, keyOf, type Resource} from './objects.ts';

/**
 * Writes the whole status in one request, only if it differs from the read one. If the object has no room for it, writes the first of
 * `shorter` that fits (built only then): a user who pads an object must not freeze its status. Returns the written object, or undefined if
 * no write was needed. Throws a conflict if the object has changed since it was read: decide again.
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
    // RFC 6902: 'add' replaces a member that exists, and makes one that does not.
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
