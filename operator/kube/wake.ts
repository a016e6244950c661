/**
 * Wake tables: the changes that wake a controller. A row names a source of changes and the keys that a change concerns:
 *
 *   on(widgets, itself)
 *   on(owners, by(widgets, 'owner', ({metadata}) => [metadata.name]))      the widgets of the owner that has changed
 */
import type {Cache, Change} from './cache.ts';
import {isDeepEqual} from './equality.ts';
import {type HasMeta, type Key, keyOf, type ObjectMeta} from './objects.ts';

/** What tells of its changes: a cache (what an object is now, what it was before), or anything else that tells of keys. */
export interface ChangeSource<Told extends readonly unknown[]> {
  onChange(handler: (...told: Told) => void): void;
}

/** The keys that a change concerns. Pure: it reads what is told, and caches. */
export type KeysOf<Told extends readonly unknown[]> = (...told: Told) => readonly Key[];

/** A row: calls `enqueue` with the keys of each change from now on, with each key once a change. */
export type Wake = (enqueue: (key: Key, how?: {urgent: boolean}) => void) => void;

export const on =
  <Told extends readonly unknown[]>(source: ChangeSource<Told>, ...keysOf: KeysOf<Told>[]): Wake =>
  (enqueue) =>
    source.onChange((...told) => {
      for (const key of new Set(keysOf.flatMap((keys) => keys(...told)))) enqueue(key);
    });

/**
 * A row like `on(cache, itself)`, in which what somebody wants of the object (it is new, its spec or an annotation is another, it
 * is being deleted) passes what merely echoes a write.
 */
export const onItself =
  (cache: ChangeSource<Change<HasMeta>>): Wake =>
  (enqueue) =>
    cache.onChange((now, before) => {
      const urgent = now !== undefined && !isSameWish(now.metadata, before?.metadata);
      for (const key of new Set(itself(now, before))) enqueue(key, {urgent});
    });

const isSameWish = (now: ObjectMeta, before: ObjectMeta | undefined): boolean =>
  now.generation === before?.generation &&
  now.deletionTimestamp === before?.deletionTimestamp &&
  isDeepEqual(now.annotations, before?.annotations);

/** The reported value is the key itself, or the value of an index. */
export const asIs = (told: string): string[] => [told];

/** The keys of whatever is in a cache. */
export const all = (cache: Pick<Cache, 'list'>) => (): Key[] => cache.list().map(keyOf);

/** The keys that a changed object names, in its new and in its old state. */
export const each =
  <T>(keysOf: (one: T) => readonly Key[]): KeysOf<(T | undefined)[]> =>
  (...told) =>
    told.flatMap((one) => (one === undefined ? [] : keysOf(one)));

/** The key of what has changed. */
export const itself = each((object: HasMeta) => [keyOf(object)]);

/** The keys of what a cache's index holds under the values that what has changed has or had. */
export const by = <T>(
  cache: Pick<Cache, 'by'>,
  index: string,
  valuesOf: (one: T) => string[],
): KeysOf<(T | undefined)[]> => each((one: T) => valuesOf(one).flatMap((value) => cache.by(index, value).map(keyOf)));

/** Only where an object is new or gone; both where another has taken its name while nobody watched. */
export const whenNewOrGone =
  <P extends HasMeta>(keysOf: KeysOf<Change<P>>): KeysOf<Change<P>> =>
  (now, before) =>
    now && before && now.metadata.uid === before.metadata.uid ? [] : keysOf(now, before);

/** Only where an object is gone. */
export const whenGone =
  <P>(keysOf: KeysOf<Change<P>>): KeysOf<Change<P>> =>
  (now, before) =>
    now ? [] : keysOf(now, before);
