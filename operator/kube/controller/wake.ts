/**
 * The events that wake a controller, as a table. Each row names a source of changes and the keys that a change affects:
 *
 *   on(widgets, itself)
 *   on(owners, by(widgets, 'owner', ({metadata}) => [metadata.name]))      the widgets of the changed owner
 */
import type {Cache, Change} from '../cache/cache.ts';
import {isDeepEqual} from '../equality.ts';
import {type HasMeta, type Key, keyOf, type ObjectMeta} from '../objects.ts';

/** A source of changes: a cache (the object's new and previous state), or any other source that reports keys. */
export interface ChangeSource<Told extends readonly unknown[]> {
  onChange(handler: (...told: Told) => void): void;
}

/** The keys affected by a change. Pure: reads only the reported change and caches. */
export type KeysOf<Told extends readonly unknown[]> = (...told: Told) => readonly Key[];

/** A row: calls `enqueue` with the affected keys of each later change, once per key and change. */
export type Wake = (enqueue: (key: Key, how?: {urgent: boolean}) => void) => void;

export const on =
  <Told extends readonly unknown[]>(source: ChangeSource<Told>, ...keysOf: KeysOf<Told>[]): Wake =>
  (enqueue) =>
    source.onChange((...told) => {
      for (const key of new Set(keysOf.flatMap((keys) => keys(...told)))) enqueue(key);
    });

/**
 * A row like `on(cache, itself)` that separates requests from echoes of our own writes. A new object, a new spec, a changed
 * annotation or a deletion is urgent.
 */
export const onItself =
  (cache: ChangeSource<Change<HasMeta>>): Wake =>
  (enqueue) =>
    cache.onChange((now, before) => {
      const urgent = now !== undefined && !isSameOrderRequest(now.metadata, before?.metadata);
      for (const key of new Set(itself(now, before))) enqueue(key, {urgent});
    });

const isSameOrderRequest = (now: ObjectMeta, before: ObjectMeta | undefined): boolean =>
  now.generation === before?.generation &&
  now.deletionTimestamp === before?.deletionTimestamp &&
  isDeepEqual(now.annotations, before?.annotations);

/** The reported value itself, as a key or as an index value. */
export const asIs = (told: string): string[] => [told];

/** The keys of all objects in a cache. */
export const all = (cache: Pick<Cache, 'list'>) => (): Key[] => cache.list().map(keyOf);

/** The keys named by an object's new state and by its previous state. */
export const each =
  <T>(keysOf: (one: T) => readonly Key[]): KeysOf<(T | undefined)[]> =>
  (...told) =>
    told.flatMap((one) => (one === undefined ? [] : keysOf(one)));

/** The key of the changed object. */
export const itself = each((object: HasMeta) => [keyOf(object)]);

/** The keys of the objects in a cache's index under the changed object's new and previous values. */
export const by = <T>(
  cache: Pick<Cache, 'by'>,
  index: string,
  valuesOf: (one: T) => string[],
): KeysOf<(T | undefined)[]> => each((one: T) => valuesOf(one).flatMap((value) => cache.by(index, value).map(keyOf)));

/** Only for new and deleted objects. A namesake that replaced the object while no watch was running counts as both. */
export const whenNewOrGone =
  <P extends HasMeta>(keysOf: KeysOf<Change<P>>): KeysOf<Change<P>> =>
  (now, before) =>
    now && before && now.metadata.uid === before.metadata.uid ? [] : keysOf(now, before);

/** Only for new objects, deleted objects, and changes of the spec. */
export const whenSpecChanges =
  <P extends HasMeta>(keysOf: KeysOf<Change<P>>): KeysOf<Change<P>> =>
  (now, before) =>
    now && before && now.metadata.uid === before.metadata.uid && now.metadata.generation === before.metadata.generation
      ? []
      : keysOf(now, before);
