import {hash} from 'node:crypto';
import {Breaker} from './breaker.ts';
import type {Client} from '../client/client.ts';
import {hashOf, isSubset} from '../equality.ts';
import {ApiError, isConflict, isFieldManagerConflict, isInvalid} from '../errors.ts';
import {apiVersionOf, type HasMeta, type KubeObject, keyOf, type Resource} from '../objects.ts';

/** A field whose value we took from another field manager. */
export interface FieldConflict {
  manager: string;
  field: string;
}

export type Applied<T, P> =
  /** The object already matches the intent: nothing was sent. */
  | {outcome: 'Unchanged'; object: P; conflicts: FieldConflict[]}
  /** The object was written. `conflicts` lists the fields taken from other managers. */
  | {outcome: 'Created' | 'Applied'; object: T; conflicts: FieldConflict[]}
  /** Another owner's object has that name: nothing was written. */
  | {outcome: 'NotOurs'; object: KubeObject; conflicts: FieldConflict[]}
  /** The object does not exist, and `mayCreate` has refused to create it: nothing was written. */
  | {outcome: 'Withheld'; object: T; conflicts: FieldConflict[]};

export interface ApplyOptions<T extends KubeObject, P extends HasMeta> {
  /** The cache's copy under the intent's key. */
  existing: P | undefined;
  /** Reports from an object's metadata whether we may change the object. */
  isOurs(object: KubeObject): boolean;
  /** Throws a conflict when the object was deleted since it was read, instead of creating it again. */
  onlyExisting?: boolean;
  /** Asked right before each attempt to create the object, and for no other write. Its errors are thrown. */
  mayCreate?(): Promise<boolean>;
  /** Records the written object (`Cache.observe`), and returns its projection (`Cache.kept`) to compare with `existing`. */
  cache?: Keeper<T> & {observe(written: T): void};
}

/** Projects an object as the cache does, see `Cache.kept`. */
interface Keeper<T> {
  kept(object: T): unknown;
}

/**
 * No object ever has this resourceVersion: etcd's first write has 2. A server-side apply that carries it can only create. If the
 * object is absent, one request creates it with correct managedFields. If the object exists, the API server answers 409. Measured
 * on 1.36.
 */
const noResourceVersion = '1';

/**
 * With one of these finalizers a deletion waits for the garbage collector, which waits for dependents. A dependent that stays then
 * keeps its owner.
 */
const waitForDependents: ReadonlySet<string> = new Set(['foregroundDeletion', 'orphan']);

/** Attempts per `apply`. After this many conflicts in a row (deleted, re-created, deleted, ...) the reconcile starts over. */
const attempts = 4;

/**
 * Writes intents to the API server by server-side apply, under one field manager.
 *
 * Promises:
 * - An intent that is already applied costs no request.
 * - The first write creates or fails. An object of the same name that is not ours is never touched, in any race.
 * - A later write carries the uid, so it never changes a namesake that replaced the object.
 * - If other managers own our fields with other values, we take the fields and report the managers' names.
 *
 * Assumes that intents are deterministic and contain no resourceVersion, uid or status. The cache's projection must also show every
 * change of a field that an intent sets.
 */
export class Applier {
  readonly #client: Client;
  readonly #fieldManager: string;
  readonly #hashAnnotation: string;
  /**
   * The last intent found applied, by cached copy of the object. The cache replaces the copy on every change. A reconcile with
   * hundreds of objects therefore compares only the changed ones.
   */
  readonly #seen = new WeakMap<HasMeta, string>();
  readonly #breaker = new Breaker();

  /** `hashAnnotation`: name of the annotation that records the hash of the last applied intent. */
  constructor(client: Client, {fieldManager, hashAnnotation}: {fieldManager: string; hashAnnotation: string}) {
    this.#client = client;
    this.#fieldManager = fieldManager;
    this.#hashAnnotation = hashAnnotation;
  }

  /** Whether an object matches its intent exactly, so that `apply` would send nothing. */
  stands<T extends KubeObject>(intent: T, existing: HasMeta | undefined, cache?: Keeper<T>): boolean {
    if (existing === undefined) return false;
    const said = hash('sha256', JSON.stringify(intent), 'base64');
    if (this.#seen.get(existing) === said) return true;
    const stands = this.#agree(this.#withHash(intent), existing, cache);
    if (stands) this.#seen.set(existing, said);
    return stands;
  }

  /** Throws a conflict when the object keeps changing between attempts: start over with a fresh read. */
  async apply<T extends KubeObject, P extends HasMeta>(
    resource: Resource<T>,
    intent: T,
    options: ApplyOptions<T, P>,
  ): Promise<Applied<T, P>> {
    const {existing, isOurs, onlyExisting = false, mayCreate, cache} = options;
    const asObject = (known: HasMeta): KubeObject => ({
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      ...known,
    });
    if (existing && !isOurs(asObject(existing))) return {outcome: 'NotOurs', object: asObject(existing), conflicts: []};
    if (existing && this.stands(intent, existing, cache))
      return {outcome: 'Unchanged', object: existing, conflicts: []};

    const body = this.#withHash(intent);
    let uid = existing?.metadata.uid;
    let surprise: unknown;
    const write = async () =>
      uid === undefined ? await this.#create(resource, body) : await this.#applyTo(uid, resource, body);
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (uid === undefined && (await mayCreate?.()) === false)
        return {outcome: 'Withheld', object: intent, conflicts: []};
      try {
        const written = await this.#breaker.run(resource, write);
        cache?.observe(written.object);
        return written;
      } catch (error) {
        if (!isConflict(error) && !isOtherObject(error)) throw error;
        surprise = error;
      }
      const live = await this.#client.get(resource, keyOf(intent));
      if (live && !isOurs(live)) return {outcome: 'NotOurs', object: live, conflicts: []};
      if (!live && onlyExisting) throw surprise;
      uid = live?.metadata.uid;
    }
    throw surprise;
  }

  /**
   * Deletes exactly the object that was read. A namesake that replaced the object since is left alone ('NotFound').
   *
   * The deletion waits for no dependents, even if an earlier request asked for that. The request removes such a wait. An object
   * that is being deleted without such a wait gets no second request ('Going'). So each request to wait costs one deletion request
   * here, even while other finalizers keep the object.
   *
   * With `isOurs`, an object that is not ours is left alone ('NotOurs').
   */
  async remove<T extends KubeObject>(
    resource: Resource<T>,
    existing: HasMeta,
    {isOurs}: {isOurs?(object: KubeObject): boolean} = {},
  ): Promise<'Deleted' | 'Going' | 'NotFound' | 'NotOurs'> {
    const {uid, deletionTimestamp, finalizers = []} = existing.metadata;
    if (isOurs && !isOurs({apiVersion: apiVersionOf(resource), kind: resource.kind, ...existing})) return 'NotOurs';
    if (deletionTimestamp !== undefined && !finalizers.some((name) => waitForDependents.has(name))) return 'Going';
    if (uid === undefined) throw new TypeError(`${resource.kind} ${keyOf(existing)}: no uid to delete it by`);
    try {
      // Set explicitly: without it the finalizers decide (apiserver: registry/generic/registry/store.go, shouldDeleteDependents).
      return await this.#client.delete(resource, keyOf(existing), {uid, propagation: 'Background'});
    } catch (error) {
      if (isConflict(error)) return 'NotFound';
      throw error;
    }
  }

  #withHash<T extends KubeObject>(intent: T): T {
    const annotations = {...intent.metadata.annotations, [this.#hashAnnotation]: hashOf(intent)};
    return {...intent, metadata: {...intent.metadata, annotations}};
  }

  #agree<T extends KubeObject>(body: T, existing: HasMeta, cache?: Keeper<T>): boolean {
    const intentOf = ({metadata}: HasMeta): string | undefined => metadata.annotations?.[this.#hashAnnotation];
    if (intentOf(existing) !== intentOf(body)) return false;
    const {apiVersion: _, kind: __, ...said} = (cache?.kept(body) ?? body) as Partial<KubeObject>;
    return isSubset(said, existing);
  }

  async #create<T extends KubeObject>(
    resource: Resource<T>,
    body: T,
  ): Promise<{outcome: 'Created'; object: T; conflicts: FieldConflict[]}> {
    const metadata = {...body.metadata, resourceVersion: noResourceVersion};
    const object = await this.#client.applyPatch(
      resource,
      {...body, metadata},
      {fieldManager: this.#fieldManager, force: false},
    );
    return {outcome: 'Created', object, conflicts: []};
  }

  async #applyTo<T extends KubeObject>(
    uid: string,
    resource: Resource<T>,
    body: T,
  ): Promise<{outcome: 'Applied'; object: T; conflicts: FieldConflict[]}> {
    const addressed = {...body, metadata: {...body.metadata, uid}};
    const fieldManager = this.#fieldManager;
    try {
      return {
        outcome: 'Applied',
        object: await this.#client.applyPatch(resource, addressed, {fieldManager, force: false}),
        conflicts: [],
      };
    } catch (error) {
      if (!isFieldManagerConflict(error)) throw error;
      const object = await this.#client.applyPatch(resource, addressed, {fieldManager, force: true});
      return {outcome: 'Applied', object, conflicts: fieldConflicts(error)};
    }
  }
}

/** The API server rejects an apply with a wrong uid as a change of an immutable field. */
function isOtherObject(error: unknown): boolean {
  return isInvalid(error) && (error.details.causes ?? []).some((cause) => cause.field === 'metadata.uid');
}

/** Field owners named by a refused apply. The API server's wording is `conflict with "kubectl" using v1 at ...: .spec.x`. */
export function fieldConflicts(error: ApiError): FieldConflict[] {
  return (error.details.causes ?? [])
    .filter((cause) => cause.reason === 'FieldManagerConflict')
    .map(({message = '', field = ''}) => {
      const quoted = /conflict with ("(?:[^"\\]|\\.)*")/.exec(message)?.[1];
      return {manager: quoted === undefined ? 'unknown' : (JSON.parse(quoted) as string), field};
    });
}
