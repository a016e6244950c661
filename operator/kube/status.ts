import type {Client} from './client.ts';
import {isTooLarge} from './errors.ts';
import {isDeepEqual} from './equality.ts';
import {type HasMeta, type KubeObject, keyOf, type Resource} from './objects.ts';

/**
 * Writes the whole status, in one request, only when it differs from the one that was read. Where the object has no room for
 * it, the first of `shorter` that fits is written in its place (made only then): whoever pads an object must not freeze what is
 * said of it. Returns the object as written, or undefined when nothing had to be. Throws a conflict when the object has changed
 * since it was read: decide again.
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
