import type {Client} from './client.ts';
import {isNotFound, isRefusal} from './errors.ts';
import {type HasMeta, type KubeObject, keyOf, type Resource} from './objects.ts';

/*
 * Finalizers are changed with a merge patch that carries the resourceVersion of the read object, so that no other finalizer is lost: a
 * stale read throws a conflict. After kube-rs' `finalizer.rs`: add the finalizer before the first object that needs cleanup is created, and
 * remove it after the last one is gone.
 */

/** In a cache's copy, in place of the finalizers that it leaves out: a name that none can have. */
const others = '...';
const mostKept = 16;

/**
 * The cached form of a list of finalizers. For a long list it records only whether this finalizer is included, and a writer must read the
 * list again.
 */
export const keptFinalizers = (finalizers: string[] | undefined, name: string): string[] | undefined =>
  finalizers === undefined || finalizers.length <= mostKept
    ? finalizers
    : [...(finalizers.includes(name) ? [name] : []), others];

/**
 * Returns the written object; undefined if the finalizer exists, or cannot be added because the object is being deleted or the API server
 * refuses it. A user who fills an object up so that no finalizer fits must not stop the rest of the reconcile.
 */
export async function ensureFinalizer<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: HasMeta,
  name: string,
): Promise<T | undefined> {
  const {finalizers = [], deletionTimestamp} = object.metadata;
  if (finalizers.includes(name) || deletionTimestamp !== undefined) return undefined;
  try {
    return await setFinalizers(client, resource, object, (all) => [...all, name]);
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

/** Returns the object as written (which may be its last state); undefined when the finalizer, or the object, is gone already. */
export async function removeFinalizer<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: HasMeta,
  name: string,
): Promise<T | undefined> {
  const {finalizers = []} = object.metadata;
  if (!finalizers.includes(name)) return undefined;
  try {
    return await setFinalizers(client, resource, object, (all) => all.filter((other) => other !== name));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function setFinalizers<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: HasMeta,
  change: (all: readonly string[]) => string[],
): Promise<T> {
  const {uid, resourceVersion, finalizers: kept = []} = object.metadata;
  // A list with another resourceVersion is harmless: the patch is refused.
  const all = kept.includes(others) ? ((await client.get(resource, keyOf(object)))?.metadata.finalizers ?? []) : kept;
  const finalizers = change(all);
  return client.patch(resource, keyOf(object), {metadata: {uid, resourceVersion, finalizers}}, {type: 'merge'});
}
