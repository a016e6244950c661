/**
 * The sum of some whole numbers, each of which is cut to a limit. A number that changes by one, and a question, each take
 * O(log n); n: the largest number.
 *
 * A Fenwick tree (P. Fenwick, 1994) of how many numbers are `i` or more: of these the first so many make up the sum.
 */
export class CutSum {
  #tree = new Int32Array(2);
  #sum = 0;

  /** The sum of all, uncut. */
  get sum(): number {
    return this.#sum;
  }

  /** Replaces one number by another. `from` is 0 for a new number, `to` is 0 for a removed number. */
  change(from: number, to: number): void {
    while (this.#tree.length <= Math.max(from, to)) this.#grow();
    for (let i = from + 1; i <= to; i++) this.#add(i, 1);
    for (let i = from; i > to; i--) this.#add(i, -1);
    this.#sum += to - from;
  }

  /** The sum of all numbers, each cut to a limit. */
  cut(limit: number): number {
    let sum = 0;
    for (let i = Math.min(limit, this.#tree.length - 1); i > 0; i -= i & -i) sum += this.#tree[i]!;
    return sum;
  }

  #add(at: number, count: number): void {
    for (let i = at; i < this.#tree.length; i += i & -i) this.#tree[i]! += count;
  }

  /** To twice the length, a power of 2: what is new there holds nothing, but for the last, which holds all. */
  #grow(): void {
    const {length} = this.#tree;
    const tree = new Int32Array(2 * length);
    tree.set(this.#tree);
    tree[length] = this.#sum;
    this.#tree = tree;
  }
}
