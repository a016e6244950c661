/**
 * Accounts for all orders of the platform, and queues the hostnames that want an order. One book per operator: only the leader orders. A
 * restart loses nothing: orders are known from existing CertificateRequests and from claims, and the queue from the times in status ({@link
 * OrderQueue.enter}).
 *
 *   wanted --> queue of the account --> granted          a renewal is granted at once, unless the CA counts renewals
 *                 ^           |
 *     has room    |           v  the registered domain's budget is spent
 *              queue of the registered domain            keeps its arrival, and with it its position
 *
 * An order that replaces a valid certificate comes after all others, renewal or not ({@link ReplacementQueue}).
 *
 * A grant counts from the moment it is given, with no end, until the CA is known to have the order. So the CA's buckets never hold less
 * than ours, however late cert-manager asks for what was granted.
 */
import type {Limit} from '../../domain/certificates/bucket.ts';
import {lastOf, leftOf, roomAt} from '../../domain/certificates/bucket.ts';
import type {OrderGrant, Order} from '../../domain/certificates/budget.ts';
import {beyondShare, reserveOf} from '../../domain/certificates/budget.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import {registrableName} from '../../domain/hostnames/hostname.ts';
import type {OrderRequest} from '../../domain/certificates/issuance.ts';
import {CaBackOff} from './ca-back-off.ts';
import {DomainQueue, type DomainRequest} from './domain-queue.ts';
import {type OrderHistoryOptions, OrderHistory} from './order-history.ts';
import {ReplacementQueue} from './replacement-queue.ts';
import {RequestQueue} from './request-queue.ts';

interface WaitingOrder extends DomainRequest {
  owner: string;
  orderRequest: OrderRequest;
  /** It replaces a valid certificate. */
  replaces: boolean;
  /** It takes no token of the account or the registered domain: a renewal. */
  isFree: boolean;
  /** `expectedAt` 0: not told yet. */
  answer: {place: number; expectedAt: number; caFailed: boolean};
}

export interface OrderQueueOptions extends OrderHistoryOptions {
  /** Name of the issuer that gets the orders. */
  issuer: string;
  now?: () => number;
}

export class OrderQueue {
  readonly #options: OrderQueueOptions;
  readonly #handlers: ((owner: string) => void)[] = [];
  readonly #history: OrderHistory;
  readonly #line: RequestQueue<WaitingOrder>;
  readonly #replacements: ReplacementQueue<WaitingOrder>;
  /** By Certificate. */
  readonly #waiting = new Map<string, WaitingOrder>();
  readonly #domains: DomainQueue<WaitingOrder>;
  readonly #backOff = new CaBackOff();
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
    this.#history = new OrderHistory(options, {now: this.#now, onShare: (tenant) => this.#line.shareChanged(tenant)});
    this.#domains = new DomainQueue({
      limits: options.budgets.registeredDomain,
      taken: (registered, now) => this.#history.ofRegisteredDomain(registered, now),
      lookAgainMs: options.unheardAfterMs,
    });
    this.#replacements = new ReplacementQueue(options.budgets.account);
    this.#line = new RequestQueue((tenant, now) => this.#history.shareOf(tenant, now));
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
    return this.#waiting.size;
  }

  /** The tokens that are taken now, for each limit of the account. */
  *account(): Iterable<Limit & {used: number}> {
    const {full, unheard} = this.#history.all(this.#now);
    for (const [i, limit] of this.#options.budgets.account.entries())
      yield {...limit, used: limit.limit - leftOf({full: [full[i]!], unheard}, [limit], this.#now)};
  }

  /** The orders of a hostname that some budget counts, by time. An order without an end has the time at which the CA received it. */
  orders(hostname: Hostname): Order[] {
    return this.#history.orders(hostname, this.#now);
  }

  /** Notes an order that a CertificateRequest of a Certificate (`namespace/name`) represents. Repeated calls change nothing. */
  observe(certificate: string, hostname: Hostname, order: Order, ordered: boolean): void {
    if (!this.#history.observe(certificate, hostname, order, {ordered, now: this.#now})) return;
    this.#backOff.observe(order);
    this.#domains.changed(registrableName(hostname), this.#now);
    this.#serve();
  }

  /** The request of an order is gone, and the order ends without a certificate. */
  supersede(hostname: Hostname, at: string): void {
    if (!this.#history.supersede(hostname, at, this.#now)) return;
    this.#domains.changed(registrableName(hostname), this.#now);
    this.#serve();
  }

  /** Takes note of what a claim remembers. */
  recall(hostname: Hostname, orders: readonly Order[]): void {
    this.#history.recall(hostname, orders, this.#now);
  }

  /** The claim of a hostname has changed: its orders count for the tenant that has it now. */
  pass(hostname: Hostname): void {
    this.#history.pass(hostname);
  }

  /** The answer to the order request of a Certificate. */
  grant(certificate: string): OrderGrant | undefined {
    const now = this.#now;
    if (this.#history.isGranted(certificate)) return {kind: 'Granted'};
    const waiting = this.#waiting.get(certificate);
    if (waiting) {
      if (waiting.answer.expectedAt <= now) waiting.answer = this.#answerFor(waiting);
      const {
        arrival: since,
        answer: {place, expectedAt, caFailed},
      } = waiting;
      return this.#domains.holds(waiting)
        ? {kind: 'Exhausted', since, until: expectedAt}
        : {kind: 'Queued', since, place, expectedAt, ...(caFailed && {caFailed})};
    }
    return undefined;
  }

  /**
   * When an order of a Certificate would be granted if it entered the queue now, or is expected to be granted if it waits, ms since the
   * epoch. A past time: at once. An order that replaces a valid certificate is not urgent, so its own wait does not count.
   */
  expectedAt(tenant: string, request: Pick<OrderRequest, 'certificate' | 'hostname'>): number {
    const {certificate, hostname} = request;
    const now = this.#now;
    if (this.#history.isGranted(certificate) || this.#isExempt(request)) return now;
    const waiting = this.#waiting.get(certificate);
    if (waiting && !waiting.replaces)
      return (waiting.answer.expectedAt > now ? waiting.answer : this.#answerFor(waiting)).expectedAt;
    const {account} = this.#options.budgets;
    const isBeyond = this.#history.shareOf(tenant, now).left === 0;
    const place = this.#line.size + 1;
    return Math.max(
      this.#backOff.until,
      this.#domains.expectedAtEnd(registrableName(hostname), now),
      lastOf(this.#history.all(now), account, now, (l) => place + (isBeyond ? reserveOf(l) : 0)),
    );
  }

  /** Queues an order request from before a restart at its former position. Call it before the first {@link keep}. */
  enter(owner: string, tenant: string, orderRequest: OrderRequest): void {
    this.#owned.set(owner, (this.#owned.get(owner) ?? new Set()).add(orderRequest.certificate));
    this.#enter(owner, tenant, orderRequest);
  }

  /** Notes a grant from before a restart: its Certificate exists and no order followed. Call it before the first {@link keep}. */
  standing(owner: string, tenant: string, {certificate, hostname, since}: Omit<OrderRequest, 'state'>): void {
    this.#owned.set(owner, (this.#owned.get(owner) ?? new Set()).add(certificate));
    this.#grant(tenant, {certificate, hostname}, since);
  }

  /** Replaces the order requests of an owner. Returns whether an answer has changed. */
  keep(owner: string, tenant: string, orderRequests: readonly OrderRequest[]): boolean {
    const before = orderRequests.map((w) => this.grant(w.certificate)?.kind);
    const kept = new Set(orderRequests.map((w) => w.certificate));
    for (const certificate of this.#owned.get(owner) ?? []) if (!kept.has(certificate)) this.#drop(certificate);
    if (kept.size > 0) this.#owned.set(owner, kept);
    else this.#owned.delete(owner);
    for (const orderRequest of orderRequests) {
      const {certificate, since, state} = orderRequest;
      if (this.#history.isGranted(certificate)) continue;
      const replaces = since > this.#now;
      // The certificate that it replaces has ended.
      if (!replaces && this.#waiting.get(certificate)?.replaces) this.#drop(certificate);
      // It has been made, whatever the budget says: it counts.
      if (state === 'Ordered') {
        this.#drop(certificate);
        this.#grant(tenant, orderRequest, since);
      }
      if (state !== 'Wanted' || this.grant(certificate) !== undefined) continue;
      if (!replaces && this.#isExempt(orderRequest)) this.#grant(tenant, orderRequest, this.#now);
      else this.#enter(owner, tenant, orderRequest);
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

  /** Whether an order is granted at once: a renewal, while the CA takes orders. */
  #isExempt({hostname}: Pick<OrderRequest, 'hostname'>): boolean {
    const now = this.#now;
    return this.#backOff.until <= now && this.#isFree(hostname, now);
  }

  /** Whether an order takes no token of the account or the registered domain. */
  #isFree(hostname: Hostname, now: number): boolean {
    const {issuer, budgets} = this.#options;
    return !budgets.countRenewals && this.#history.isRenewal(hostname, issuer, now);
  }

  #drop(certificate: string): void {
    this.#history.revoke(certificate);
    const waiting = this.#waiting.get(certificate);
    if (!waiting) return;
    this.#waiting.delete(certificate);
    this.#untold.delete(waiting);
    if (waiting.replaces) this.#replacements.leave(waiting);
    else if (!this.#domains.holds(waiting)) this.#line.leave(waiting);
    if (!waiting.isFree) this.#domains.leave(waiting, this.#now);
  }

  #enter(owner: string, tenant: string, orderRequest: OrderRequest): void {
    const {certificate, hostname, since: arrival} = orderRequest;
    const now = this.#now;
    this.#drop(certificate);
    const replaces = arrival > now;
    const waiting: WaitingOrder = {
      owner,
      tenant,
      orderRequest,
      registered: registrableName(hostname),
      arrival,
      entered: this.#entered++,
      replaces,
      isFree: replaces && this.#isFree(hostname, now),
      answer: {place: 0, expectedAt: 0, caFailed: false},
    };
    this.#waiting.set(certificate, waiting);
    if (waiting.isFree) this.#replacements.enter(waiting);
    else this.#domains.enter(waiting, now);
    this.#pass();
    this.#untold.add(waiting);
  }

  /** Those whose registered domain has room wait for the account. */
  #pass(): void {
    for (const waiting of this.#domains.passing(this.#now)) {
      (waiting.replaces ? this.#replacements : this.#line).enter(waiting);
      this.#untold.add(waiting);
    }
  }

  #grant(tenant: string, {certificate, hostname}: Pick<OrderRequest, 'certificate' | 'hostname'>, at: number): void {
    const renewal = this.#history.isRenewal(hostname, this.#options.issuer, at);
    this.#history.grant(certificate, {tenant, hostname, renewal, at});
  }

  /** Its place as of now. */
  #answerFor(waiting: WaitingOrder): WaitingOrder['answer'] {
    this.#untold.delete(waiting);
    const now = this.#now;
    const [place, expected] = this.#domains.holds(waiting)
      ? [0, this.#domains.expectedAt(waiting, now)]
      : this.#turnOf(waiting, now);
    const caFailed = this.#backOff.until > Math.max(now, expected);
    const at = caFailed ? this.#backOff.until : expected;
    // Whole minutes, as messages say them, and never a time that has come.
    return {place, expectedAt: Math.ceil((at + 1) / 60_000) * 60_000, caFailed};
  }

  /** The position in the account's queue, and when its turn comes. */
  #turnOf(waiting: WaitingOrder, now: number): [place: number, at: number] {
    const {account} = this.#options.budgets;
    if (waiting.replaces) {
      const [own, paced] = this.#replacements.turnOf(waiting, now);
      const [before, place] = [this.#line.size, this.#line.size + own];
      const tokens = (l: Limit) => (waiting.isFree ? before : place + reserveOf(l));
      return [place, Math.max(paced, lastOf(this.#history.all(now), account, now, tokens))];
    }
    const {place, beyondShare: isBeyond} = this.#line.place(waiting, now);
    return [place, lastOf(this.#history.all(now), account, now, (l) => place + (isBeyond ? reserveOf(l) : 0))];
  }

  /** Grants as many as there is room for. `asking`: the owner that made this call, and reads its answer itself. */
  #serve(asking?: string): void {
    if (!this.#open) return;
    const now = this.#now;
    this.#pass();
    let wakeAt = this.#domains.nextAt;
    const failed = this.#backOff.until > now && this.#line.size + this.#replacements.size > 0;
    if (failed) wakeAt = Math.min(wakeAt, this.#backOff.until);
    for (let next = failed ? undefined : this.#line.next(now); next; next = this.#line.next(now)) {
      const {request, beyondShare: isBeyond} = next;
      const room = this.#roomAt(now, isBeyond);
      if (room > now) {
        wakeAt = Math.min(wakeAt, room, now + this.#options.unheardAfterMs);
        break;
      }
      this.#grantWaiting(request, now, asking);
      this.#line.served(request.tenant);
    }
    if (!failed && this.#line.size === 0) wakeAt = Math.min(wakeAt, this.#serveReplacements(now, asking));
    for (const waiting of this.#untold) waiting.answer = this.#answerFor(waiting);
    if (wakeAt < Infinity) this.#wakeAt(wakeAt);
  }

  /** Returns when there is room for the next one, ms since the epoch. */
  #serveReplacements(now: number, asking: string | undefined): number {
    for (let next = this.#replacements.next; next; next = this.#replacements.next) {
      const room = Math.max(this.#replacements.roomAt(now), next.isFree ? now : this.#roomAt(now, true));
      if (room > now) return Math.min(room, now + this.#options.unheardAfterMs);
      this.#grantWaiting(next, now, asking);
      this.#replacements.served(now);
    }
    return Infinity;
  }

  /** When the account has room for an order, ms since the epoch. */
  #roomAt(now: number, isBeyond: boolean): number {
    return roomAt(this.#history.all(now), this.#options.budgets.account, now, isBeyond ? beyondShare : undefined);
  }

  #grantWaiting({owner, tenant, orderRequest}: WaitingOrder, now: number, asking: string | undefined): void {
    this.#drop(orderRequest.certificate);
    this.#grant(tenant, orderRequest, now);
    if (owner !== asking) for (const handler of this.#handlers) handler(owner);
  }

  #wakeAt(at: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#serve(), Math.min(at - this.#now, 2 ** 31 - 1));
    this.#timer.unref();
  }
}
