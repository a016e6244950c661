import type {CustomDomain} from '../../api/foreign.ts';
import type {Cache} from '../../kube/cache/cache.ts';
import {keyOf} from '../../kube/objects.ts';
import type {Key} from '../../kube/objects.ts';
import type {OwnedDomain} from './store.ts';

const speaksOfSpec = ({metadata: {generation = 0}, status}: CustomDomain): boolean =>
  (status?.observedGeneration ?? -1) >= generation;

/** Waits for the operator to say in status what it makes of a new spec: the records to create, above all. */
export class Settling {
  readonly #cache: Cache<OwnedDomain, CustomDomain>;
  readonly #waiting = new Map<Key, Set<() => void>>();

  constructor(cache: Cache<OwnedDomain, CustomDomain>) {
    this.#cache = cache;
    cache.onChange((now, before) => {
      for (const wake of this.#waiting.get(keyOf((now ?? before)!)) ?? []) wake();
    });
  }

  /** The object once its status speaks of this spec; as it stands then where that takes longer than `withinMs`. */
  async wait(domain: CustomDomain, withinMs: number): Promise<CustomDomain> {
    const key = keyOf(domain);
    const read = (): CustomDomain => {
      const held = this.#cache.get(key);
      return held?.metadata.uid === domain.metadata.uid &&
        (held?.metadata.generation ?? 0) >= (domain.metadata.generation ?? 0)
        ? held!
        : domain;
    };
    if (speaksOfSpec(read())) return read();
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting);
    const {promise: over, resolve} = Promise.withResolvers<void>();
    const wake = (): void => {
      if (speaksOfSpec(read())) resolve();
    };
    const timer = setTimeout(resolve, withinMs);
    waiting.add(wake);
    await over;
    clearTimeout(timer);
    waiting.delete(wake);
    if (waiting.size === 0) this.#waiting.delete(key);
    return read();
  }
}
