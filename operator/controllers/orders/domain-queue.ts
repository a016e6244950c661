/**
 * Orders that wait for the budget of their registered domain, by arrival. Only as many as the domain has room for enter the queue of the
 * account, so that none is granted an order that the CA would refuse, and each waits in one place alone.
 */
import type {Limit, Taken} from '../../domain/certificates/bucket.ts';
import {lastOf, leftOf} from '../../domain/certificates/bucket.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import {Heap} from '../../kube/collections/heap.ts';
import {SortedList} from '../../kube/collections/sorted-list.ts';
import {byArrival, type QueuedRequest} from './request-queue.ts';

/** A request that waits for its domain or, with the domain's room, for the account. */
export interface DomainRequest extends QueuedRequest {
  readonly registered: Hostname;
}

interface DomainLane<W> {
  waiting: SortedList<W>;
  /** Number of requests in the account's queue. */
  passed: number;
  /** When to look at it again, ms since the epoch. */
  lookAt: number;
}

export interface DomainQueueOptions {
  limits: readonly Limit[];
  /** What was taken of a registered domain's budget. */
  taken: (registered: Hostname, now: number) => Taken;
  /** A lane is looked at again after this time, ms: an order whose time is not known counts as made then. */
  lookAgainMs: number;
}

export class DomainQueue<W extends DomainRequest> {
  readonly #options: DomainQueueOptions;
  readonly #lanes = new Map<Hostname, DomainLane<W>>();
  readonly #looks = new Heap<{registered: Hostname; at: number}>((a, b) => a.at < b.at);

  constructor(options: DomainQueueOptions) {
    this.#options = options;
  }

  /** When a waiting request may pass, ms since the epoch; Infinity if none waits. */
  get nextAt(): number {
    return this.#looks.peek()?.at ?? Infinity;
  }

  /** Whether a request waits for its domain. */
  holds(request: W): boolean {
    return this.#lanes.get(request.registered)?.waiting.has(request) ?? false;
  }

  enter(request: W, now: number): void {
    const {registered} = request;
    const lane = this.#lanes.get(registered) ?? {waiting: new SortedList<W>(byArrival), passed: 0, lookAt: Infinity};
    this.#lanes.set(registered, lane);
    lane.waiting.add(request);
    this.#look(registered, lane, now);
  }

  /** A request, whether it has passed or not, is granted or no longer wanted. */
  leave(request: W, now: number): void {
    const lane = this.#lanes.get(request.registered)!;
    if (!lane.waiting.remove(request)) lane.passed--;
    if (lane.waiting.size + lane.passed === 0) this.#lanes.delete(request.registered);
    else this.changed(request.registered, now);
  }

  /** The budget of a domain may have more room. */
  changed(registered: Hostname, now: number): void {
    const lane = this.#lanes.get(registered);
    if (lane && lane.waiting.size > 0) this.#look(registered, lane, now);
  }

  /** The requests that may enter the account's queue now. */
  *passing(now: number): Iterable<W> {
    for (let look = this.#looks.peek(); look && look.at <= now; look = this.#looks.peek()) {
      this.#looks.pop();
      const {registered, at} = look;
      const lane = this.#lanes.get(registered);
      // The newest appointment counts.
      if (!lane || lane.lookAt !== at) continue;
      lane.lookAt = Infinity;
      const {limits, taken, lookAgainMs} = this.#options;
      const state = taken(registered, now);
      const room = Math.max(0, leftOf(state, limits, now) - lane.passed);
      for (const request of lane.waiting.first(room)) {
        lane.waiting.remove(request);
        lane.passed++;
        yield request;
      }
      if (lane.waiting.size === 0) continue;
      const next = lastOf(state, limits, now, () => lane.passed + 1);
      this.#look(registered, lane, Math.max(now + 1, Math.min(next, now + lookAgainMs)));
    }
  }

  /** When a waiting request may pass if each order is made as soon as there is room, ms since the epoch. */
  expectedAt(request: W, now: number): number {
    const {limits, taken} = this.#options;
    const {waiting, passed} = this.#lanes.get(request.registered)!;
    const place = passed + waiting.countBefore(request) + 1;
    return lastOf(taken(request.registered, now), limits, now, () => place);
  }

  /** When a further request may pass if each order is made as soon as there is room, ms since the epoch. */
  expectedAtEnd(registered: Hostname, now: number): number {
    const {limits, taken} = this.#options;
    const lane = this.#lanes.get(registered);
    const place = lane ? lane.passed + lane.waiting.size + 1 : 1;
    return lastOf(taken(registered, now), limits, now, () => place);
  }

  #look(registered: Hostname, lane: DomainLane<W>, at: number): void {
    if (lane.lookAt <= at) return;
    lane.lookAt = at;
    this.#looks.push({registered, at});
  }
}
