import type {Client} from '../client/client.ts';
import {isNotFound, isRefusal} from '../errors.ts';
import {type HasMeta, type KubeObject, keyOf, type Resource} from '../objects.ts';

/*
 * Each change is one merge patch with the resourceVersion that was read, so another controller's finalizer is never lost: a stale
 * read throws a conflict. As in kube-rs' `finalizer.rs`, add the finalizer before creating anything that needs cleanup, and remove
 * it when all of that is deleted.
 */

/** Placeholder in a cache's copy for the finalizers left out. No real finalizer can have this name. */
const others = '...';
const mostKept = 16;

/**
 * The finalizers to keep in a cache's copy. A long list is reduced to our own finalizer, if present, and the placeholder. Changing
 * such a list requires a fresh read.
 */
export const keptFinalizers = (finalizers: string[] | undefined, name: string): string[] | undefined =>
  finalizers === undefined || finalizers.length <= mostKept
    ? finalizers
    : [...(finalizers.includes(name) ? [name] : []), others];

/**
 * Returns the object as written. Returns undefined if the finalizer exists or cannot be added: the object is being deleted, or the
 * API server refuses the write. A refusal does not throw, so an object padded to its size limit cannot block the other work for it.
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

/** Returns the object as written, possibly its last state. Returns undefined if the finalizer or the object is already gone. */
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
  // If the live object has another resourceVersion, the patch below is refused.
  const all = kept.includes(others) ? ((await client.get(resource, keyOf(object)))?.metadata.finalizers ?? []) : kept;
  const finalizers = change(all);
  return client.patch(resource, keyOf(object), {metadata: {uid, resourceVersion, finalizers}}, {type: 'merge'});
}
