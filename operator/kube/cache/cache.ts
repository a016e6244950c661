import type {Logger} from 'pino';
import type {Client} from '../client/client.ts';
import {isKindMissing} from '../errors.ts';
import {KeyIndex} from './key-index.ts';
import {
  compareResourceVersions,
  type HasMeta,
  type Key,
  type KubeObject,
  keyOf,
  type ManagedFieldsEntry,
  type ObjectMeta,
  type Resource,
} from '../objects.ts';
import {Watcher, type WatcherOptions, type WatchSink, type WatchState} from './watch.ts';

/** A change of an object: `before` is undefined for a new object, `now` for a deleted one. */
export type Change<P> = [now: P | undefined, before: P | undefined];

export interface CacheOptions<P extends HasMeta, T extends KubeObject> {
  labelSelector?: string;
  namespace?: string;
  /**
   * The part of an object to keep; the whole object by default. The result must keep `metadata` with name, namespace, uid and
   * resourceVersion. `object` comes without managedFields, which take two thirds of an object's memory. They are passed as a
   * separate argument, because few projections use them.
   */
  project?(object: T, managedFields: readonly ManagedFieldsEntry[]): P;
  /** By index name: the values under which the index lists a projection. */
  indexes?: Record<string, (projection: P) => string[]>;
  log?: Logger;
  /**
   * The kind may not exist, because other software installs it. If so, the cache has synced and is empty. It lists again with back-off, and
   * reports the objects once the kind exists.
   */
  mayBeAbsent?: boolean;
  /** For tests and tuning: times, page size, clock. */
  watcher?: Omit<WatcherOptions, 'labelSelector' | 'namespace' | 'onState'>;
}

/** The part of a cache that `waitFor` uses, independent of the cache's content. */
export interface Syncable {
  readonly synced: Promise<void>;
  readonly isSynced: boolean;
}

/**
 * A local copy of one resource, kept current by list and watch. Returned objects are shared: read them, never change them.
 *
 * Promises:
 * - `synced` resolves when the first list is complete, or when the kind does not exist and `mayBeAbsent` is set.
 * - Handlers are called once for each change, in order for each object, after the store and the indexes are updated.
 * - An object is never replaced by an older version, unless history was set back.
 * - Objects missing from a relist are reported as deleted.
 * - A handler's error is logged and affects no other handler.
 * - If `project` or an index throws, the object is logged, counted (`unreadable`) and skipped. Its last readable copy stays, and
 *   other objects are unaffected.
 *
 * Caveat: between a change and its event the copy is stale, for up to 45 s if the connection is dead without notice. `observe`
 * closes that gap for our own writes, and `catchUp` closes it when it matters.
 */
export class Cache<P extends HasMeta = HasMeta, T extends KubeObject = KubeObject> implements Syncable {
  readonly resource: Resource<T>;
  readonly synced: Promise<void>;
  readonly #client: Client;
  readonly #options: CacheOptions<P, T>;
  readonly #store = new Map<Key, P>();
  readonly #indexes = new Map<string, KeyIndex>();
  /** Keys of objects whose current version `project` or an index cannot read. */
  readonly #unreadable = new Set<Key>();
  readonly #handlers: ((...change: Change<P>) => void)[] = [];
  #resolveSynced: () => void = () => {};
  #isSynced = false;
  /** The watch has delivered all changes up to this resourceVersion. */
  #seen: string | undefined;
  /**
   * The list in progress is older than the store. So etcd was restored from a backup, and our versions no longer belong to its
   * history. Listed objects replace stored ones. The others stay until the list is complete, because half a list is worse than an
   * old list. `#isNews` detects a restore whose versions are above all earlier ones.
   */
  #setBack = false;
  /** Keys seen so far in the current list. */
  #listed = new Set<Key>();
  #watcher: Watcher<T> | undefined;
  #running: Promise<void> | undefined;
  #state: WatchState | undefined;

  constructor(client: Client, resource: Resource<T>, options: CacheOptions<P, T> = {}) {
    this.#client = client;
    this.resource = resource;
    this.#options = options;
    for (const name of Object.keys(options.indexes ?? {})) this.#indexes.set(name, new KeyIndex());
    this.synced = new Promise((resolve) => (this.#resolveSynced = resolve));
  }

  /** Lists and watches until the signal aborts. */
  start(signal: AbortSignal): void {
    if (this.#running) throw new Error(`the cache of ${this.resource.plural} has been started already`);
    const {labelSelector, namespace, watcher} = this.#options;
    const sink: WatchSink<T> = {
      page: (items, resourceVersion, first) => this.#page(items, resourceVersion, first),
      listed: (resourceVersion) => this.#whole(resourceVersion),
      event: (type, object) => this.#event(type, object),
      bookmark: (resourceVersion) => this.#advance(resourceVersion),
    };
    const onState = (state: WatchState): void => this.#entered(state);
    const options = {...watcher, labelSelector, namespace, onState};
    this.#watcher = new Watcher(this.#client, this.resource, sink, options);
    this.#running = this.#watcher.run(signal);
  }

  /**
   * Resolves when the copy contains every change that the API server had stored before the call, even if the watch has been dead
   * without notice. See `Watcher.catchUp`. A kind that does not exist has nothing to catch up with. Never resolves after the signal of
   * `start` has aborted.
   */
  async catchUp(): Promise<void> {
    const isAbsent = this.#options.mayBeAbsent && !(await this.#client.serves(this.resource).catch(() => true));
    if (!isAbsent) await this.#watcher?.catchUp();
  }

  /** Resolves when the watch has ended after its signal; immediately for a cache that was never started. */
  async stopped(): Promise<void> {
    await this.#running;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** The state of the watch; undefined before `start`. */
  get state(): WatchState | undefined {
    return this.#state;
  }

  get size(): number {
    return this.#store.size;
  }

  /** Number of objects skipped because `project` or an index threw. */
  get unreadable(): number {
    return this.#unreadable.size;
  }

  get(key: Key): P | undefined {
    return this.#store.get(key);
  }

  /** All objects, in no particular order. */
  list(): P[] {
    return [...this.#store.values()];
  }

  /** Objects with this value in the index, in no particular order. Throws when the index does not exist. */
  by(index: string, value: string): P[] {
    return this.#index(index)
      .of(value)
      .map((key) => this.#store.get(key)!);
  }

  /** The projection that the cache keeps of an object. */
  kept(object: T): P {
    const {managedFields = [], ...metadata} = object.metadata as ObjectMeta & {managedFields?: ManagedFieldsEntry[]};
    const whole: T = {...object, metadata};
    return this.#options.project ? this.#options.project(whole, managedFields) : (whole as unknown as P);
  }

  /** Calls the handler for every later change. */
  onChange(handler: (...change: Change<P>) => void): void {
    this.#handlers.push(handler);
  }

  /**
   * Read your own writes: stores the object that our write returned. Does nothing if the watch has already passed that version,
   * because the object may be deleted since. Pass only objects that match the cache's selector: the watch would never report the
   * deletion of others. An object of another namespace is ignored.
   */
  observe(written: T): void {
    const {namespace} = this.#options;
    if (namespace !== undefined && written.metadata.namespace !== namespace) return;
    if (compareResourceVersions(written.metadata.resourceVersion, this.#seen) <= 0) return;
    if (this.#setBack) this.#listed.add(keyOf(written));
    this.#put(written);
  }

  #page(items: T[], resourceVersion: string, first: boolean): void {
    if (first) this.#listed = new Set();
    if (first && compareResourceVersions(resourceVersion, this.#seen) < 0) {
      this.#setBack = true;
      this.#seen = undefined;
    }
    for (const item of items) {
      this.#listed.add(keyOf(item));
      this.#put(item, resourceVersion);
    }
  }

  #whole(resourceVersion: string): void {
    for (const key of this.#unreadable) if (!this.#listed.has(key)) this.#read(key);
    for (const [key, held] of this.#store) {
      const older = compareResourceVersions(held.metadata.resourceVersion, resourceVersion) <= 0;
      if ((older || this.#setBack) && !this.#listed.has(key)) this.#remove(key);
    }
    this.#listed = new Set();
    this.#setBack = false;
    this.#advance(resourceVersion);
    this.#sync();
  }

  #sync(): void {
    this.#isSynced = true;
    this.#resolveSynced();
  }

  /** Only discovery decides that a kind does not exist. A cache that has synced keeps its objects, whatever follows. */
  async #lookForKind(): Promise<void> {
    const isServed = await this.#client.serves(this.resource).catch(() => true);
    if (isServed || this.#isSynced) return;
    this.#options.log?.warn({resource: this.resource.plural}, 'the kind does not exist, so the cache stays empty');
    this.#sync();
  }

  #event(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    if (type === 'DELETED') {
      const key = keyOf(object);
      this.#read(key);
      const held = this.#store.get(key);
      if (held && compareResourceVersions(held.metadata.resourceVersion, object.metadata.resourceVersion) <= 0)
        this.#remove(key);
    } else {
      this.#put(object);
    }
    this.#advance(object.metadata.resourceVersion);
  }

  #advance(resourceVersion: string | undefined): void {
    if (compareResourceVersions(resourceVersion, this.#seen) > 0) this.#seen = resourceVersion;
  }

  /** `listed`: the resourceVersion of the list that contains the object. */
  #put(object: T, listed?: string): void {
    const key = keyOf(object);
    const before = this.#store.get(key);
    if (before && !this.#isNews(object.metadata, before.metadata, listed)) return;
    let now: P;
    let found: [KeyIndex, string[]][];
    try {
      now = this.kept(object);
      found = [...this.#indexes].map(([name, values]) => [values, this.#options.indexes![name]!(now)]);
    } catch (error) {
      this.#options.log?.error(
        {err: error, resource: this.resource.plural, key},
        'an object has an unexpected form and is ignored',
      );
      this.#unreadable.add(key);
      this.#client.metrics?.unreadableObjects.set({resource: this.resource.plural}, this.unreadable);
      return;
    }
    this.#read(key);
    if (before) this.#unindex(key, before);
    this.#store.set(key, now);
    for (const [values, at] of found) for (const value of at) values.add(value, key);
    this.#tell(now, before);
  }

  /**
   * A newer version replaces the held one, and any version does while `#setBack` is set. Otherwise an older version replaces the
   * held one only if it comes from a list at least as new as the held one. In that case history was set back, and continues above
   * all earlier versions (`etcdutl snapshot restore --bump-revision`).
   */
  #isNews(object: ObjectMeta, held: ObjectMeta, listed: string | undefined): boolean {
    const order = compareResourceVersions(object.resourceVersion, held.resourceVersion);
    if (order > 0 || this.#setBack) return true;
    return order < 0 && listed !== undefined && compareResourceVersions(held.resourceVersion, listed) <= 0;
  }

  /** Removes a key from `#unreadable`: the object was deleted or became readable. */
  #read(key: Key): void {
    if (this.#unreadable.delete(key))
      this.#client.metrics?.unreadableObjects.set({resource: this.resource.plural}, this.unreadable);
  }

  #remove(key: Key): void {
    const before = this.#store.get(key)!;
    this.#store.delete(key);
    this.#unindex(key, before);
    this.#tell(undefined, before);
  }

  #unindex(key: Key, held: P): void {
    for (const [name, values] of this.#indexes) {
      for (const value of this.#options.indexes![name]!(held)) values.delete(value, key);
    }
  }

  #index(name: string): KeyIndex {
    const index = this.#indexes.get(name);
    if (!index) throw new TypeError(`the cache of ${this.resource.plural} has no index '${name}'`);
    return index;
  }

  #tell(now: P | undefined, before: P | undefined): void {
    for (const handler of this.#handlers) {
      try {
        handler(now, before);
      } catch (error) {
        this.#options.log?.error({err: error, resource: this.resource.plural}, 'a change handler failed');
      }
    }
  }

  #entered(state: WatchState): void {
    this.#state = state;
    if (state.at !== 'Waiting') return;
    if (this.#options.mayBeAbsent && isKindMissing(state.because)) return void this.#lookForKind();
    this.#options.log?.warn(
      {resource: this.resource.plural, err: state.because, waitMs: Math.round(state.ms), next: state.next.at},
      'watch interrupted',
    );
  }
}
