/**
 * The queue of order requests, tenant by tenant. Tenants take turns, so that a tenant with few requests passes a tenant with many. A tenant
 * that has used its share of the account's budget comes after all others. Each operation takes O(log n), amortized.
 *
 * A position is counted in two rounds. In the first round each tenant has as many requests as are left of its share, one at a time. In the
 * second round follow all other requests, one at a time. So `k` requests of a tenant's first round have at most `k` requests of each other
 * tenant before them. The position is a sum of numbers, each cut to `k` ({@link CutSum}).
 */
import {Heap} from '../../kube/collections/heap.ts';
import {CutSum} from '../../kube/collections/cut-sum.ts';
import type {OrderShare} from './order-history.ts';
import {SortedList} from '../../kube/collections/sorted-list.ts';

export interface QueuedRequest {
  readonly tenant: string;
  /** Time of arrival, ms since the epoch; the earlier request goes first. Requests with equal times keep their order of entry. */
  readonly arrival: number;
  readonly entered: number;
}

interface OrderLane<W> {
  tenant: string;
  order: number;
  waiting: SortedList<W>;
  /** The share as of the last time at which it was asked for. */
  share?: OrderShare;
  /** How many wait in the first round, and in the second. */
  first: number;
  second: number;
  /** When it had its last turn, as a number that grows. */
  turn: number;
}

export class RequestQueue<W extends QueuedRequest> {
  readonly #shareOf: (tenant: string, now: number) => OrderShare;
  readonly #lanes = new Map<string, OrderLane<W>>();
  /** Waiting lanes; the next one is first. */
  readonly #turns = new SortedList<OrderLane<W>>(byTurn);
  readonly #firstRound = new CutSum();
  readonly #secondRound = new CutSum();
  /** Lanes that have changed since they were sorted and summed up. None of them is in `#turns`. */
  readonly #changed = new Set<OrderLane<W>>();
  /** Times at which shares must be asked for again. */
  readonly #ends = new Heap<{tenant: string; until: number}>((a, b) => a.until < b.until);
  /** Time of each tenant's last turn, until its queue is empty. */
  readonly #lastTurns = new Map<string, number>();
  #turn = 0;
  #lanesMade = 0;
  #size = 0;

  constructor(shareOf: (tenant: string, now: number) => OrderShare) {
    this.#shareOf = shareOf;
  }

  get size(): number {
    return this.#size;
  }

  enter(one: W): void {
    const {tenant} = one;
    const known = this.#lanes.get(tenant);
    const waiting = new SortedList<W>(byArrival);
    const lane = known ?? {tenant, order: this.#lanesMade++, waiting, first: 0, second: 0, turn: 0};
    if (known) this.#change(lane);
    else this.#changed.add(lane);
    this.#lanes.set(tenant, lane);
    if (lane.waiting.size === 0) lane.turn = this.#lastTurns.get(tenant) ?? 0;
    lane.waiting.add(one);
    this.#size++;
  }

  leave(one: W): void {
    const lane = this.#lanes.get(one.tenant);
    if (!lane) return;
    this.#change(lane);
    if (lane.waiting.remove(one)) this.#size--;
    if (this.#size === 0) this.#lastTurns.clear();
  }

  /** The next request. `beyondShare`: its tenant has used its share. */
  next(now: number): {request: W; beyondShare: boolean} | undefined {
    this.#settle(now);
    const lane = this.#turns.at(0);
    return lane && {request: lane.waiting.at(0)!, beyondShare: lane.share?.left === 0};
  }

  /** Notes that a tenant has had its turn. */
  served(tenant: string): void {
    if (this.#size === 0) return;
    this.#lastTurns.set(tenant, ++this.#turn);
    const lane = this.#lanes.get(tenant);
    if (!lane) return;
    this.#change(lane);
    lane.turn = this.#turn;
  }

  /** The share of a tenant has changed. */
  shareChanged(tenant: string): void {
    const lane = this.#lanes.get(tenant);
    if (!lane) return;
    this.#change(lane);
    delete lane.share;
  }

  /** The position of a waiting request, from 1. `beyondShare`: its tenant will have used its share. */
  place(one: W, now: number): {place: number; beyondShare: boolean} {
    this.#settle(now);
    const {waiting, first} = this.#lanes.get(one.tenant)!;
    const own = waiting.countBefore(one) + 1;
    return own <= first
      ? {place: this.#firstRound.cut(own), beyondShare: false}
      : {place: this.#firstRound.sum + this.#secondRound.cut(own - first), beyondShare: true};
  }

  /** Takes a lane out before a change of its sort key. */
  #change(lane: OrderLane<W>): void {
    if (this.#changed.has(lane)) return;
    this.#turns.remove(lane);
    this.#changed.add(lane);
  }

  #settle(now: number): void {
    for (let end = this.#ends.peek(); end && end.until <= now; end = this.#ends.peek()) {
      this.#ends.pop();
      this.shareChanged(end.tenant);
    }
    for (const lane of this.#changed) this.#sum(lane, now);
    this.#changed.clear();
  }

  #sum(lane: OrderLane<W>, now: number): void {
    const {tenant, waiting} = lane;
    const {left} = (lane.share ??= this.#ask(tenant, now));
    const first = Math.min(waiting.size, left);
    const second = waiting.size - first;
    this.#firstRound.change(lane.first, first);
    this.#secondRound.change(lane.second, second);
    Object.assign(lane, {first, second});
    if (waiting.size > 0) this.#turns.add(lane);
    else this.#lanes.delete(tenant);
  }

  #ask(tenant: string, now: number): OrderShare {
    const share = this.#shareOf(tenant, now);
    if (share.until < Infinity) this.#ends.push({tenant, until: share.until});
    return share;
  }
}

export const byArrival = (a: QueuedRequest, b: QueuedRequest): number => a.arrival - b.arrival || a.entered - b.entered;

/** Order of lanes: a tenant with a share left first, then the longest time since the last turn, then the earliest arrival. */
function byTurn<W extends QueuedRequest>(a: OrderLane<W>, b: OrderLane<W>): number {
  const later = (lane: OrderLane<W>) => (lane.share?.left === 0 ? 1 : 0);
  const arrival = (lane: OrderLane<W>) => lane.waiting.at(0)!.arrival;
  return later(a) - later(b) || a.turn - b.turn || arrival(a) - arrival(b) || a.order - b.order;
}
