import type {Limit, Taken} from '../../domain/certificates/bucket.ts';
import {emptyAt, fullAfter, fullIfOneAt} from '../../domain/certificates/bucket.ts';
import {SortedList} from '../../kube/collections/sorted-list.ts';

/** Time at which an order counts, ms since the epoch. An order without a known time counts as the newest order until this time. */
export interface CountedOrder {
  at: number;
  heard: boolean;
}

const ascending = (a: number, b: number) => a - b;

/**
 * Orders that take tokens from the buckets of some limits. The state of the buckets is kept while orders come in the order of their times,
 * and is computed again after other orders.
 */
export class CountedOrders {
  readonly #limits: readonly Limit[];
  readonly #known = new SortedList<number>(ascending);
  readonly #unheard = new SortedList<number>(ascending);
  /** What the CA said, by time: from `at` on, the buckets are full at these times at the earliest. */
  readonly #told = new SortedList<{at: number; full: readonly number[]}>((a, b) => a.at - b.at);
  /** The state before the known orders. */
  #before: readonly number[];
  /** The state after all known orders; undefined: an order came or went before the newest. */
  #full: readonly number[] | undefined;

  /** Before `since` (ms since the epoch) nothing is known. The buckets count as empty then. */
  constructor(limits: readonly Limit[], since: number) {
    this.#limits = limits;
    this.#before = limits.map((l) => emptyAt(since, l));
    this.#full = this.#before;
  }

  get size(): number {
    return this.#known.size + this.#unheard.size;
  }

  /** When the next order without a known time counts as made; Infinity if there is none. */
  get unheardUntil(): number {
    return this.#unheard.at(0) ?? Infinity;
  }

  add({at, heard}: CountedOrder): void {
    if (heard) this.#take(at);
    else this.#unheard.add(at);
  }

  remove({at, heard}: CountedOrder): void {
    if (!heard && this.#unheard.remove(at)) return;
    if (this.#known.remove(at)) this.#full = undefined;
  }

  /** Notes that the CA said at a time that it has no token before another time, ms since the epoch. It has one then. */
  emptyUntil(at: number, until: number): void {
    this.#told.add({at, full: this.#limits.map((limit) => fullIfOneAt(until, limit))});
    this.#full = undefined;
  }

  /** The tokens that orders have taken until a time. The time must not be earlier than in previous calls. */
  asOf(now: number): Taken {
    for (let at = this.unheardUntil; at <= now; at = this.unheardUntil) {
      this.#unheard.remove(at);
      this.#take(at);
    }
    this.#full ??= this.#after(Infinity);
    return {full: this.#full, unheard: this.#unheard.size};
  }

  /** Whether every bucket is full, with nothing under way: nothing is lost if this is forgotten. */
  isFull(now: number): boolean {
    const {full, unheard} = this.asOf(now);
    return unheard === 0 && full.every((at) => at <= now);
  }

  /** Forgets the known orders up to a time, whose effect stays. */
  forget(until: number): void {
    this.#before = this.#after(until);
    this.#known.removeFirst(this.#known.size - this.#known.countAfter(until));
    this.#told.removeFirst(this.#told.size - this.#told.countAfter({at: until, full: []}));
  }

  /** The state after the known orders up to a time, and what the CA said until then. */
  #after(until: number): number[] {
    const [orders, told] = [this.#known.size, this.#told.size];
    return this.#limits.map((limit, i) => {
      let full = this.#before[i]!;
      for (let [order, say] = [0, 0]; ;) {
        const [at, said] = [this.#known.at(order) ?? Infinity, this.#told.at(say)?.at ?? Infinity];
        if (Math.min(at, said) > until || (order >= orders && say >= told)) return full;
        if (said <= at) full = Math.max(full, this.#told.at(say++)!.full[i]!);
        else full = fullAfter(full, this.#known.at(order++)!, limit);
      }
    });
  }

  #take(at: number): void {
    if (at < (this.#known.at(-1) ?? -Infinity)) this.#full = undefined;
    else this.#full = this.#full?.map((full, i) => fullAfter(full, at, this.#limits[i]!));
    this.#known.add(at);
  }
}
