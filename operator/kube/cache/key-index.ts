import type {Key} from '../objects.ts';

/** Keys by value. Most values have one key: a separate set for each would take more memory than the whole remaining index. */
export class KeyIndex {
  readonly #keys = new Map<string, Key | Set<Key>>();

  /** Keys of a value, in no particular order. */
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
