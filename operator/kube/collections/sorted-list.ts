/** Values in order, equal ones in the order in which they came. Found, counted and put in by O(log n) comparisons. */
export class SortedList<T> {
  readonly #values: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#values.length;
  }

  /** The value at an index from 0; a negative index counts from the end. */
  at(index: number): T | undefined {
    return this.#values.at(index);
  }

  add(value: T): void {
    this.#values.splice(
      this.#count((other) => this.#compare(other, value) <= 0),
      0,
      value,
    );
  }

  /** Takes out the first that is equal. Returns whether there was one. */
  remove(value: T): boolean {
    const at = this.countBefore(value);
    const found = at < this.size && this.#compare(this.#values[at]!, value) === 0;
    if (found) this.#values.splice(at, 1);
    return found;
  }

  /** The first `count` values, or fewer if the list is shorter. */
  first(count: number): T[] {
    return this.#values.slice(0, count);
  }

  /** Takes out the first ones. */
  removeFirst(count: number): void {
    this.#values.splice(0, count);
  }

  /** Whether a value is equal to one of them. */
  has(value: T): boolean {
    const at = this.countBefore(value);
    return at < this.size && this.#compare(this.#values[at]!, value) === 0;
  }

  /** How many come before a value. */
  countBefore(value: T): number {
    return this.#count((other) => this.#compare(other, value) < 0);
  }

  /** How many come after a value. */
  countAfter(value: T): number {
    return this.size - this.#count((other) => this.#compare(other, value) <= 0);
  }

  /** How many are in front of the first that is not. */
  #count(isInFront: (other: T) => boolean): number {
    let [from, to] = [0, this.size];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (isInFront(this.#values[middle]!)) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
