/** The shapes shared by all Kubernetes objects, and their keys. All times are RFC 3339 strings, as the API server sends them. */

import type {V1ManagedFieldsEntry, V1ObjectMeta, V1OwnerReference} from '@kubernetes/client-node';

export type Json = string | number | boolean | null | Json[] | {[key: string]: Json | undefined};

/** A client-node type in the API server's JSON form: times are strings, in watches and in lists. */
type AsSent<T> = T extends Date ? string : T extends object ? {[K in keyof T]: AsSent<T[K]>} : T;

export type OwnerReference = AsSent<V1OwnerReference>;
export type ObjectMeta = AsSent<V1ObjectMeta> & {name: string};
/** Field ownership (server-side apply, KEP-555). `fieldsV1` has a key `f:NAME` for each field. */
export type ManagedFieldsEntry = AsSent<V1ManagedFieldsEntry>;

/** Any value with metadata: an object, or a cache's projection. */
export interface HasMeta {
  metadata: ObjectMeta;
}

export interface KubeObject extends HasMeta {
  apiVersion: string;
  kind: string;
}

/**
 * A built-in Kubernetes kind, derived from client-node's type. `spec` is required, because the API server rejects these kinds
 * without it.
 */
export type NativeKind<T> = KubeObject &
  AsSent<Omit<T, keyof KubeObject | 'spec'>> &
  (T extends {spec?: infer Spec} ? {spec: AsSent<NonNullable<Spec>>} : unknown);

/** API location of the objects of type `T`. Created by `defineResource`. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** '' for the core group. */
  group: string;
  version: string;
  plural: string;
  kind: string;
  namespaced: boolean;
  /** Objects per page of a list, for large objects; 500 by default. */
  pageSize?: number;
  /** Never set: carries `T` for the compiler. */
  __type?: T;
}

export function defineResource<T extends KubeObject>(resource: Omit<Resource<T>, '__type'>): Resource<T> {
  return resource;
}

export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** 'namespace/name', or 'name' for a cluster-scoped object. */
export type Key = string;

export function keyOf(object: HasMeta): Key {
  const {namespace, name} = object.metadata;
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

export function splitKey(key: Key): {namespace?: string; name: string} {
  const slash = key.indexOf('/');
  return slash < 0 ? {name: key} : {namespace: key.slice(0, slash), name: key.slice(slash + 1)};
}

/** Formats a metav1.MicroTime: RFC 3339 in UTC with six fractional digits, as Events and Leases require. */
export function microTime(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}

/**
 * A reference for a dependent's `metadata.ownerReferences`. Throws when the owner has no uid, so was never read from the API
 * server.
 */
export function ownerReference(
  owner: KubeObject,
  flags: {controller?: boolean; blockOwnerDeletion?: boolean} = {},
): OwnerReference {
  const {name, uid} = owner.metadata;
  if (uid === undefined) throw new TypeError(`${owner.kind} ${name} has no uid, so it cannot own objects yet`);
  return {apiVersion: owner.apiVersion, kind: owner.kind, name, uid, ...flags};
}

/** The URL path of a collection (no name), an object or a subresource. */
export function pathOf(resource: Resource, at: {namespace?: string; name?: string; subresource?: string}): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const parts = [root];
  if (resource.namespaced && at.namespace !== undefined) parts.push('namespaces', encodeURIComponent(at.namespace));
  parts.push(resource.plural);
  if (at.name !== undefined) parts.push(encodeURIComponent(at.name));
  if (at.subresource !== undefined) parts.push(at.subresource);
  return parts.join('/');
}

/**
 * Compares two resourceVersions of one resource: negative if `a` is older, 0 if equal, positive if `a` is newer. Since Kubernetes
 * 1.35 they are decimal integers without leading zeros (KEP-5504), so the longer string is the greater. A missing version is older
 * than any other.
 */
export function compareResourceVersions(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}
