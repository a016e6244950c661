import type {Key} from './objects.ts';

/** Keys by a value. Most values have a single key: a set for each of these would need more memory than the rest of the index. */
export class KeyIndex {
  readonly #keys = new Map<string, Key | Set<Key>>();

  /** In no particular order. */
  of(value: string): Key[] {
    const keys = this.#keys.get(value);
    if (keys === undefined) return [];
    return typeof keys === 'string' ? [keys] : [...keys];
  }

  add(value: string, key: Key): void {
    const keys = this.#keys.get(value);
    if (keys === undefined || keys === key) this.#keys.set(value, key);
    else if (typeof keys === 'string') this.#keys.set(value, new Set([keys, key]));
    else keys.add(key);
  }

  delete(value: string, key: Key): void {
    const keys = this.#keys.get(value);
    if (keys === key) this.#keys.delete(value);
    if (!(keys instanceof Set)) return;
    keys.delete(key);
    if (keys.size === 0) this.#keys.delete(value);
  }
}
