/**
 * Accounts for all orders of the platform, and queues the hostnames that want an order. One book per operator: only the leader orders. A
 * restart loses nothing: orders are known from existing CertificateRequests and from claims, and the queue from the times in status ({@link
 * OrderQueue.enter}).
 *
 * A grant counts from the moment it is given, with no end; its window begins only when the CA is known to have the order. So
 * the CA never sees more than a budget in any span of its length, however late cert-manager asks for what was granted.
 */
import type {OrderGrant, Limit, Order} from '../../domain/certificates/budget.ts';
import {expectedAt, roomAt} from '../../domain/certificates/budget.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import type {OrderRequest} from '../../domain/certificates/issuance.ts';
import {type LedgerOptions, OrderHistory} from './order-history.ts';
import {type QueuedRequest, RequestQueue} from './request-queue.ts';

interface WaitingOrder extends QueuedRequest {
  owner: string;
  orderRequest: OrderRequest;
  /** `expectedAt` 0: not told yet. */
  answer: {place: number; expectedAt: number};
}

export interface OrderQueueOptions extends LedgerOptions {
  now?: () => number;
}

export class OrderQueue {
  readonly #options: OrderQueueOptions;
  readonly #handlers: ((owner: string) => void)[] = [];
  readonly #ledger: OrderHistory;
  readonly #line: RequestQueue<WaitingOrder>;
  /** By Certificate. */
  readonly #waiting = new Map<string, WaitingOrder>();
  /** End of the exhausted budget by Certificate, ms since the epoch. */
  readonly #exhausted = new Map<string, number>();
  /** By owner: the Certificates of its wishes. */
  readonly #owned = new Map<string, Set<string>>();
  /** Entries whose owners do not know their position yet. */
  readonly #untold = new Set<WaitingOrder>();
  #entered = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Nothing is granted before the first wish of this process, nor after its stop. */
  #open = false;

  constructor(options: OrderQueueOptions) {
    this.#options = options;
    this.#ledger = new OrderHistory(options, (tenant) => this.#line.shareChanged(tenant));
    this.#line = new RequestQueue((tenant, now) => this.#ledger.shareOf(tenant, now));
  }

  get #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  /** Calls with each owner whose answer has changed. */
  onChange(handler: (owner: string) => void): void {
    this.#handlers.push(handler);
  }

  /** How many wait. */
  get waiting(): number {
    return this.#line.size;
  }

  /** The number of orders that count now, for each limit of the account. */
  *account(): Iterable<Limit & {used: number}> {
    const now = this.#now;
    const orders = this.#ledger.all(now);
    for (const limit of this.#options.budgets.account) yield {...limit, used: orders.after(now - limit.perMs)};
  }

  /** The orders of a hostname that some budget counts, by time. An order without an end has the time at which the CA received it. */
  orders(hostname: Hostname): Order[] {
    return this.#ledger.orders(hostname, this.#now);
  }

  /** Notes an order that a CertificateRequest of a Certificate (`namespace/name`) represents. Repeated calls change nothing. */
  observe(certificate: string, hostname: Hostname, order: Order, ordered: boolean): void {
    if (this.#ledger.observe(certificate, hostname, order, {ordered, now: this.#now})) this.#serve();
  }

  /** Takes note of what a claim remembers. */
  recall(hostname: Hostname, orders: readonly Order[]): void {
    this.#ledger.recall(hostname, orders, this.#now);
  }

  /** The claim of a hostname has changed: its orders count for the tenant that has it now. */
  pass(hostname: Hostname): void {
    this.#ledger.pass(hostname);
  }

  /** The answer to the order request of a Certificate. */
  grant(certificate: string): OrderGrant | undefined {
    const now = this.#now;
    if (this.#ledger.isGranted(certificate)) return {kind: 'Granted'};
    const waiting = this.#waiting.get(certificate);
    if (waiting) {
      if (waiting.answer.expectedAt <= now) waiting.answer = this.#answerFor(waiting);
      return {kind: 'Queued', ...waiting.answer};
    }
    const until = this.#exhausted.get(certificate);
    return until !== undefined && until > now ? {kind: 'Exhausted', until} : undefined;
  }

  /** Queues an order request from before a restart at its former position. Call it before the first {@link keep}. */
  enter(owner: string, tenant: string, orderRequest: OrderRequest): void {
    this.#owned.set(owner, (this.#owned.get(owner) ?? new Set()).add(orderRequest.certificate));
    this.#enter(owner, tenant, orderRequest);
  }

  /** Notes a grant from before a restart: its Certificate exists and no order followed. Call it before the first {@link keep}. */
  standing(owner: string, tenant: string, {certificate, hostname, since}: Omit<OrderRequest, 'state'>): void {
    this.#owned.set(owner, (this.#owned.get(owner) ?? new Set()).add(certificate));
    this.#ledger.grant(certificate, {tenant, hostname, at: since});
  }

  /** Replaces the order requests of an owner. Returns whether an answer has changed. */
  keep(owner: string, tenant: string, orderRequests: readonly OrderRequest[]): boolean {
    const before = orderRequests.map((w) => this.grant(w.certificate)?.kind);
    const kept = new Set(orderRequests.map((w) => w.certificate));
    for (const certificate of this.#owned.get(owner) ?? []) if (!kept.has(certificate)) this.#drop(certificate);
    if (kept.size > 0) this.#owned.set(owner, kept);
    else this.#owned.delete(owner);
    for (const orderRequest of orderRequests) {
      const {certificate, hostname, since, state} = orderRequest;
      if (this.#ledger.isGranted(certificate)) continue;
      // It has been made, whatever the budget says: it counts.
      if (state === 'Ordered') {
        this.#drop(certificate);
        this.#ledger.grant(certificate, {tenant, hostname, at: since});
      }
      if (state === 'Wanted' && this.grant(certificate) === undefined) this.#enter(owner, tenant, orderRequest);
    }
    if (orderRequests.length > 0) this.#open = true;
    this.#serve(owner);
    return orderRequests.some((w, i) => this.grant(w.certificate)?.kind !== before[i]);
  }

  /** Stops granting orders. */
  stop(): void {
    this.#open = false;
    clearTimeout(this.#timer);
  }

  #drop(certificate: string): void {
    this.#ledger.revoke(certificate);
    this.#exhausted.delete(certificate);
    const waiting = this.#waiting.get(certificate);
    if (!waiting) return;
    this.#waiting.delete(certificate);
    this.#untold.delete(waiting);
    this.#line.leave(waiting);
  }

  #enter(owner: string, tenant: string, orderRequest: OrderRequest): void {
    this.#drop(orderRequest.certificate);
    const answer = {place: 0, expectedAt: 0};
    const waiting = {owner, tenant, orderRequest, arrival: orderRequest.since, entered: this.#entered++, answer};
    this.#waiting.set(orderRequest.certificate, waiting);
    this.#untold.add(waiting);
    this.#line.enter(waiting);
  }

  /** Its place as of now. */
  #answerFor(waiting: WaitingOrder): WaitingOrder['answer'] {
    this.#untold.delete(waiting);
    const now = this.#now;
    const place = this.#line.place(waiting, now);
    const expected = expectedAt(place, this.#ledger.all(now), this.#options.budgets.account, now);
    // Whole minutes, as messages say them, and never a time that has come.
    return {place, expectedAt: Math.ceil((expected + 1) / 60_000) * 60_000};
  }

  /** Grants as many as there is room for. `asking`: the owner that made this call, and reads its answer itself. */
  #serve(asking?: string): void {
    if (!this.#open) return;
    const {account} = this.#options.budgets;
    const now = this.#now;
    for (let next = this.#line.next(now); next; next = this.#line.next(now)) {
      const room = roomAt(this.#ledger.all(now), account, now);
      if (room > now) {
        this.#wakeAt(Math.min(room, now + this.#options.unheardAfterMs));
        break;
      }
      this.#answer(next, now);
      if (next.owner !== asking) for (const handler of this.#handlers) handler(next.owner);
    }
    for (const waiting of this.#untold) waiting.answer = this.#answerFor(waiting);
  }

  /** Gives the first in line its order, or says that its registered domain has had its share. */
  #answer({tenant, orderRequest: {certificate, hostname}}: WaitingOrder, now: number): void {
    const {registeredDomain} = this.#options.budgets;
    this.#drop(certificate);
    const room = roomAt(this.#ledger.ofRegisteredDomain(hostname, now), registeredDomain, now);
    if (room > now) {
      this.#exhausted.set(certificate, Math.min(room, now + Math.max(...registeredDomain.map((l) => l.perMs))));
      return;
    }
    this.#ledger.grant(certificate, {tenant, hostname, at: now});
    this.#line.served(tenant);
  }

  #wakeAt(at: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#serve(), Math.min(at - this.#now, 2 ** 31 - 1));
    this.#timer.unref();
  }
}
