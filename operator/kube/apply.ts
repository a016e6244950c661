import {hash} from 'node:crypto';
import {Breaker} from './breaker.ts';
import type {Client} from './client.ts';
import {hashOf, isSubset} from './equality.ts';
import {ApiError, isConflict, isFieldManagerConflict, isInvalid} from './errors.ts';
import {apiVersionOf, type HasMeta, type KubeObject, keyOf, type Resource} from './objects.ts';

/** A field whose value we took from another manager. */
export interface FieldConflict {
  manager: string;
  field: string;
}

export type Applied<T, P> =
  /** It is as intended: nothing was sent. */
  | {outcome: 'Unchanged'; object: P; conflicts: FieldConflict[]}
  /** Written; `conflicts` are the fields that were taken from others. */
  | {outcome: 'Created' | 'Applied'; object: T; conflicts: FieldConflict[]}
  /** An object of that name exists and is somebody else's: nothing was written. */
  | {outcome: 'NotOurs'; object: KubeObject; conflicts: FieldConflict[]};

export interface ApplyOptions<T extends KubeObject, P extends HasMeta> {
  /** The cached object with the intent's key. */
  existing: P | undefined;
  /** Whether an object is ours to change, decided from its metadata. */
  isOurs(object: KubeObject): boolean;
  /** Whether a deleted object must not be created again: the apply then throws a conflict. */
  onlyExisting?: boolean;
  /** Takes note of what was written (`Cache.observe`), and says what it keeps of an object: `existing` is compared with that. */
  cache?: Keeper<T> & {observe(written: T): void};
}

/** Says what is kept of an object, see `Cache.kept`. */
interface Keeper<T> {
  kept(object: T): unknown;
}

/**
 * Never the resourceVersion of an object (etcd's first write has 2). In a server-side apply it makes a write that only creates:
 * absent, the object is created by one request with its managedFields right; present, the answer is 409. Measured on 1.36.
 */
const noResourceVersion = '1';

/** Finalizers that delay a deletion until the garbage collector has handled the dependents: a dependent that stays keeps its owner. */
const waitForDependents: ReadonlySet<string> = new Set(['foregroundDeletion', 'orphan']);

/** After so many surprises in a row (deleted, re-created, deleted, ...) the reconcile starts over. */
const attempts = 4;

/**
 * Brings intents to the API server by server-side apply, under one field manager.
 *
 * Promises: an intent that is applied already costs no request. The first write creates the object or fails: an object of the same name
 * that is not ours is never touched, whatever the race. A later write carries the uid, so it never changes a namesake that replaced the
 * object. If other managers hold our fields with other values, the write takes the fields over and reports the managers.
 *
 * Assumes that intents are deterministic and hold no resourceVersion, uid or status, and that what the cache keeps of an object
 * tells every change of a field that an intent sets.
 */
export class Applier {
  readonly #client: Client;
  readonly #fieldManager: string;
  readonly #hashAnnotation: string;
  /**
   * The applied intent by the cached copy of its object. A copy is replaced with every change of its object, so an owner of hundreds of
   * objects compares only the changed one.
   */
  readonly #seen = new WeakMap<HasMeta, string>();
  readonly #breaker = new Breaker();

  /** `hashAnnotation`: under this name an object says which intent it was last given. */
  constructor(client: Client, {fieldManager, hashAnnotation}: {fieldManager: string; hashAnnotation: string}) {
    this.#client = client;
    this.#fieldManager = fieldManager;
    this.#hashAnnotation = hashAnnotation;
  }

  /** Whether an object stands exactly as intended, so that `apply` would send nothing. */
  stands<T extends KubeObject>(intent: T, existing: HasMeta | undefined, cache?: Keeper<T>): boolean {
    if (existing === undefined) return false;
    const said = hash('sha256', JSON.stringify(intent), 'base64');
    if (this.#seen.get(existing) === said) return true;
    const stands = this.#agree(this.#withHash(intent), existing, cache);
    if (stands) this.#seen.set(existing, said);
    return stands;
  }

  /** Throws a conflict when the object keeps changing under it: start over with a fresh read. */
  async apply<T extends KubeObject, P extends HasMeta>(
    resource: Resource<T>,
    intent: T,
    options: ApplyOptions<T, P>,
  ): Promise<Applied<T, P>> {
    const {existing, isOurs, onlyExisting = false, cache} = options;
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
   * Deletes the very object that was read: a namesake that replaced it is left alone ('NotFound'). The deletion waits for no dependents,
   * even if an earlier request asked for that. If the object is being deleted and waits for no dependents, no request is sent ('Going'). A
   * request ends the wait, so each wait that a user asks for costs one request, even while other finalizers keep the object. With `isOurs`,
   * an object of another owner is left alone ('NotOurs').
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
      // Said, as without it what the finalizers say holds (apiserver: registry/generic/registry/store.go, shouldDeleteDependents).
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

/** A uid in an apply that is not the object's is refused as a change of an immutable field. */
function isOtherObject(error: unknown): boolean {
  return isInvalid(error) && (error.details.causes ?? []).some((cause) => cause.field === 'metadata.uid');
}

/** The conflicting field managers in a refused apply: `conflict with "kubectl" using v1 at ...: .spec.x`, as the API server words it. */
export function fieldConflicts(error: ApiError): FieldConflict[] {
  return (error.details.causes ?? [])
    .filter((cause) => cause.reason === 'FieldManagerConflict')
    .map(({message = '', field = ''}) => {
      const quoted = /conflict with ("(?:[^"\\]|\\.)*")/.exec(message)?.[1];
      return {manager: quoted === undefined ? 'unknown' : (JSON.parse(quoted) as string), field};
    });
}
