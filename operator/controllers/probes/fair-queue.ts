/**
 * Chooses the next item when many tenants wait for few slots. Pure: no clock, no timers. Each operation takes constant time.
 *
 * - Tenants take turns: while one that has less than its share waits, every other gets at most one regular seat.
 * - A tenant has at most `share` seats while another waits that has less; otherwise it may have all `seats`.
 * - No seat stays free while somebody waits.
 * - A tenant that has no seat at all gets a spare one where every regular seat is taken: others' slow work does not keep it
 *   waiting. Spare seats are counted apart, so that they take nothing from those who wait for a regular one.
 */
import {LinkedList, type ListNode} from '../../kube/collections/linked-list.ts';

export interface FairQueueOptions {
  seats: number;
  share: number;
  spare: number;
}

/** An item of a tenant, from {@link FairQueue.add} on. */
export interface Ticket<T> {
  readonly item: T;
}

interface HeldTicket<T> extends Ticket<T> {
  lane: Lane<T>;
  /** While it waits. */
  place?: ListNode<HeldTicket<T>>;
  seat?: 'Regular' | 'Spare';
}

interface Lane<T> {
  tenant: string;
  waiting: LinkedList<HeldTicket<T>>;
  seats: number;
  /** Position among the waiting tenants that have less than their share, or among the others. */
  turn?: {among: LinkedList<Lane<T>>; place: ListNode<Lane<T>>};
  /** Its turn among those that wait and have no seat. */
  seatless?: ListNode<Lane<T>>;
}

export class FairQueue<T> {
  readonly #options: FairQueueOptions;
  readonly #lanes = new Map<string, Lane<T>>();
  /** Waiting tenants, the next one first: tenants below their share, and all other tenants. */
  readonly #below = new LinkedList<Lane<T>>();
  readonly #above = new LinkedList<Lane<T>>();
  readonly #seatless = new LinkedList<Lane<T>>();
  readonly #taken = {Regular: 0, Spare: 0};

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** How many tenants have something that waits, or a seat. */
  get tenants(): number {
    return this.#lanes.size;
  }

  /** Puts an item at the end of its tenant's line. */
  add(tenant: string, item: T): Ticket<T> {
    const lane = this.#lanes.get(tenant) ?? {tenant, waiting: new LinkedList<HeldTicket<T>>(), seats: 0};
    this.#lanes.set(tenant, lane);
    const ticket: HeldTicket<T> = {item, lane};
    ticket.place = lane.waiting.push(ticket);
    this.#line(lane);
    return ticket;
  }

  /** The next item, which has a seat from now on until it is given back; undefined where none may have one. */
  take(): Ticket<T> | undefined {
    const {seats, spare} = this.#options;
    const regular = this.#taken.Regular < seats;
    const lane = regular
      ? (this.#below.first ?? this.#above.first)
      : this.#taken.Spare < spare
        ? this.#seatless.first
        : undefined;
    const ticket = lane?.waiting.first;
    if (!lane || !ticket) return undefined;
    ticket.seat = regular ? 'Regular' : 'Spare';
    this.#taken[ticket.seat]++;
    lane.seats++;
    this.#withdraw(ticket);
    // Its turn is over: it goes behind all the others.
    this.#leave(lane);
    this.#line(lane);
    return ticket;
  }

  /** Ends what an item has: its place in line, or its seat. */
  release(held: Ticket<T>): void {
    const ticket = held as HeldTicket<T>;
    const {lane, seat} = ticket;
    if (seat) {
      delete ticket.seat;
      this.#taken[seat]--;
      lane.seats--;
    }
    this.#withdraw(ticket);
    this.#line(lane);
  }

  #withdraw(ticket: HeldTicket<T>): void {
    if (ticket.place) ticket.lane.waiting.remove(ticket.place);
    delete ticket.place;
  }

  /** Moves a tenant to the list that matches its number of slots. */
  #line(lane: Lane<T>): void {
    const waits = lane.waiting.first !== undefined;
    const among = lane.seats < this.#options.share ? this.#below : this.#above;
    if (lane.turn && (!waits || lane.turn.among !== among)) this.#leave(lane);
    if (waits) lane.turn ??= {among, place: among.push(lane)};
    const isSeatless = waits && lane.seats === 0;
    if (isSeatless) lane.seatless ??= this.#seatless.push(lane);
    else if (lane.seatless) {
      this.#seatless.remove(lane.seatless);
      delete lane.seatless;
    }
    if (!waits && lane.seats === 0) this.#lanes.delete(lane.tenant);
  }

  #leave(lane: Lane<T>): void {
    if (lane.turn) lane.turn.among.remove(lane.turn.place);
    delete lane.turn;
  }
}
