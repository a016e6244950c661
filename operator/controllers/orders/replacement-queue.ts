/**
 * The queue of orders that replace a valid certificate: by another issuer, or on request. They come after all hostnames without a
 * certificate, and the certificate that ends first comes first. They are paced even if the CA counts no renewals, because each order keeps
 * cert-manager busy, and newcomers would wait behind it: a quarter of the account's budget at once, then at the account's rate.
 */
import type {Limit} from '../../domain/certificates/bucket.ts';
import {fullAfter, lastOf, roomAt} from '../../domain/certificates/bucket.ts';
import {sharesOf} from '../../domain/certificates/budget.ts';
import {SortedList} from '../../kube/collections/sorted-list.ts';
import {byArrival, type QueuedRequest} from './request-queue.ts';

export class ReplacementQueue<W extends QueuedRequest> {
  readonly #waiting = new SortedList<W>(byArrival);
  readonly #pace: readonly Limit[];
  /** When the bucket of each limit is full, ms since the epoch. */
  #full: readonly number[];

  /** `account`: the limits of the account. */
  constructor(account: readonly Limit[]) {
    const shares = sharesOf(account);
    this.#pace = account.map(({limit, perMs}, i) => ({
      limit: shares[i]!.limit,
      perMs: (perMs * shares[i]!.limit) / limit,
    }));
    this.#full = this.#pace.map(() => -Infinity);
  }

  get size(): number {
    return this.#waiting.size;
  }

  get next(): W | undefined {
    return this.#waiting.at(0);
  }

  enter(request: W): void {
    this.#waiting.add(request);
  }

  leave(request: W): void {
    this.#waiting.remove(request);
  }

  /** When the next order may be made, ms since the epoch. */
  roomAt(now: number): number {
    return roomAt({full: this.#full, unheard: 0}, this.#pace, now);
  }

  /** Notes that an order was granted. */
  served(now: number): void {
    this.#full = this.#full.map((full, i) => fullAfter(full, now, this.#pace[i]!));
  }

  /** The position of a request, from 1, and when its turn comes, ms since the epoch. */
  turnOf(request: W, now: number): [place: number, at: number] {
    const place = this.#waiting.countBefore(request) + 1;
    return [place, lastOf({full: this.#full, unheard: 0}, this.#pace, now, () => place)];
  }
}
