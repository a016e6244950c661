/** A value's place in a list, by which it is taken out again without a search. */
export interface ListNode<T> {
  readonly value: T;
  before: ListNode<T> | undefined;
  after: ListNode<T> | undefined;
}

/** First in, first out, and out of the middle: each in constant time. A Map skips what was taken from its front again and again. */
export class LinkedList<T> {
  #first: ListNode<T> | undefined;
  #last: ListNode<T> | undefined;

  get first(): T | undefined {
    return this.#first?.value;
  }

  /** Adds a value at the end. */
  push(value: T): ListNode<T> {
    const place: ListNode<T> = {value, before: this.#last, after: undefined};
    if (this.#last) this.#last.after = place;
    else this.#first = place;
    this.#last = place;
    return place;
  }

  /** Takes out a value that is in this list. */
  remove(place: ListNode<T>): void {
    if (place.before) place.before.after = place.after;
    else this.#first = place.after;
    if (place.after) place.after.before = place.before;
    else this.#last = place.before;
  }
}
