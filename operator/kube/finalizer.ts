import type {Client} from './client.ts';
import {isNotFound, isRefusal} from './errors.ts';
import {type HasMeta, type KubeObject, keyOf, type Resource} from './objects.ts';

/*
 * One merge patch that carries the resourceVersion read, so nobody else's finalizer is lost: a stale read throws a conflict.
 * After kube-rs' `finalizer.rs`: put the finalizer on before the first thing that needs cleaning up is made, take it off after
 * the last is gone.
 */

/** In a cache's copy, in place of the finalizers that it leaves out: a name that none can have. */
const others = '...';
const mostKept = 16;

/** What a cache keeps of a list of finalizers: of a long one only whether this one is in it. Whoever changes that reads it anew. */
export const keptFinalizers = (finalizers: string[] | undefined, name: string): string[] | undefined =>
  finalizers === undefined || finalizers.length <= mostKept
    ? finalizers
    : [...(finalizers.includes(name) ? [name] : []), others];

/**
 * Returns the object as written; undefined when the finalizer is there, or can't be added: the object is being deleted, or the API server
 * refuses it. Whoever fills an object up so that no finalizer has room in it shall not keep up what else is to be done for it.
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
  // As of another resourceVersion it does not count: the patch is refused.
  const all = kept.includes(others) ? ((await client.get(resource, keyOf(object)))?.metadata.finalizers ?? []) : kept;
  const finalizers = change(all);
  return client.patch(resource, keyOf(object), {metadata: {uid, resourceVersion, finalizers}}, {type: 'merge'});
}
