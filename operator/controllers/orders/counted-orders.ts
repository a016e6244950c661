import type {OrderTimes} from '../../domain/certificates/budget.ts';
import {SortedList} from '../../kube/collections/sorted-list.ts';

/** Time at which an order counts as made, ms since the epoch. An order without a known time counts as the newest order until this time. */
export interface CountedOrder {
  at: number;
  heard: boolean;
}

const ascending = (a: number, b: number) => a - b;

/** Orders that a budget counts. All takes O(log n). */
export class CountedOrders implements OrderTimes {
  readonly #made = new SortedList<number>(ascending);
  readonly #unheard = new SortedList<number>(ascending);

  get size(): number {
    return this.#made.size + this.#unheard.size;
  }

  /** When the next that is not heard of counts as made; Infinity where there is none. */
  get unheardUntil(): number {
    return this.#unheard.at(0) ?? Infinity;
  }

  add({at, heard}: CountedOrder): void {
    (heard ? this.#made : this.#unheard).add(at);
  }

  remove({at, heard}: CountedOrder): void {
    if (heard || !this.#unheard.remove(at)) this.#made.remove(at);
  }

  /** The orders as of a time. The time must not be earlier than in previous calls. */
  asOf(now: number): OrderTimes {
    for (let at = this.unheardUntil; at <= now; at = this.unheardUntil) {
      this.#unheard.remove(at);
      this.#made.add(at);
    }
    return this;
  }

  newest(but: number): number | undefined {
    if (but < 0) return undefined;
    return but < this.#unheard.size ? Infinity : this.#made.at(this.#unheard.size - but - 1);
  }

  after(time: number): number {
    return this.#unheard.size + this.#made.countAfter(time);
  }
}
