/**
 * One {@link OrderQueue} for each issuer, because each CA has limits of its own. An order request without an issuer belongs to the
 * preferred issuer, and so does an order from before orders had an issuer. Orders of issuers that the platform has removed are remembered,
 * and no budget counts them.
 */
import type {Limit} from '../../domain/certificates/bucket.ts';
import type {Budgets, Order, OrderGrant} from '../../domain/certificates/budget.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import type {OrderRequest} from '../../domain/certificates/issuance.ts';
import {OrderQueue, type OrderQueueOptions} from './order-queue.ts';

export interface OrderQueuesOptions extends Omit<OrderQueueOptions, 'issuer' | 'budgets'> {
  /** The preferred issuer first. */
  issuers: readonly {name: string; budgets: Budgets}[];
}

/** For issuers that are removed: nothing is ordered from them. */
const former = '';

export class OrderQueues {
  readonly #queues: ReadonlyMap<string, OrderQueue>;
  readonly #first: string;
  /** The issuers of each owner's order requests. */
  readonly #owned = new Map<string, ReadonlySet<string>>();

  constructor({issuers, ...options}: OrderQueuesOptions) {
    const [{name: first, budgets}] = issuers as [OrderQueuesOptions['issuers'][number]];
    this.#first = first;
    this.#queues = new Map(
      [...issuers, {name: former, budgets}].map((issuer) => [
        issuer.name,
        new OrderQueue({...options, issuer: issuer.name, budgets: issuer.budgets}),
      ]),
    );
  }

  onChange(handler: (owner: string) => void): void {
    for (const queue of this.#queues.values()) queue.onChange(handler);
  }

  /** How many wait, by issuer. */
  *waiting(): Iterable<{issuer: string; waiting: number}> {
    for (const [issuer, {waiting}] of this.#queues) if (issuer !== former) yield {issuer, waiting};
  }

  /** The tokens that are taken now, for each limit of each account. */
  *account(): Iterable<Limit & {used: number; issuer: string}> {
    for (const [issuer, queue] of this.#queues) {
      if (issuer !== former) for (const limit of queue.account()) yield {...limit, issuer};
    }
  }

  /** The orders of a hostname that some budget counts, by time. */
  orders(hostname: Hostname): Order[] {
    return [...this.#queues.values()]
      .flatMap((queue) => queue.orders(hostname))
      .toSorted((a, b) => (a.at < b.at ? -1 : 1));
  }

  observe(certificate: string, hostname: Hostname, order: Order, ordered: boolean): void {
    const {renewal, ...rest} = order;
    const isOfAnother = renewal === true && this.#wasIssuedByOthers(hostname, order);
    this.#of(order).observe(certificate, hostname, isOfAnother ? rest : order, ordered);
  }

  /** Whether only other issuers have issued for a hostname. cert-manager counts the certificates of all issuers together. */
  #wasIssuedByOthers(hostname: Hostname, order: Order): boolean {
    const isIssued = (queue: OrderQueue) =>
      queue.orders(hostname).some(({outcome, at}) => outcome === 'Issued' && at < order.at);
    const own = this.#of(order);
    return !isIssued(own) && [...this.#queues.values()].some((queue) => queue !== own && isIssued(queue));
  }

  supersede(hostname: Hostname, at: string): void {
    for (const queue of this.#queues.values()) queue.supersede(hostname, at);
  }

  recall(hostname: Hostname, orders: readonly Order[]): void {
    for (const [queue, its] of Map.groupBy(orders, (order) => this.#of(order))) queue.recall(hostname, its);
  }

  pass(hostname: Hostname): void {
    for (const queue of this.#queues.values()) queue.pass(hostname);
  }

  /** The answer of an issuer to the order request of a Certificate; of any issuer if none is named. */
  grant(certificate: string, issuer?: string): OrderGrant | undefined {
    if (issuer !== undefined) return this.#queues.get(issuer)?.grant(certificate);
    for (const queue of this.#queues.values()) {
      const grant = queue.grant(certificate);
      if (grant) return grant;
    }
    return undefined;
  }

  /** When an issuer would take an order of a Certificate, ms since the epoch: {@link OrderQueue.expectedAt}. */
  expectedAt(issuer: string, tenant: string, request: Pick<OrderRequest, 'certificate' | 'hostname'>): number {
    return this.#queues.get(issuer)?.expectedAt(tenant, request) ?? Infinity;
  }

  enter(owner: string, tenant: string, request: OrderRequest): void {
    this.#note(owner, request);
    this.#of(request).enter(owner, tenant, request);
  }

  standing(owner: string, tenant: string, request: Omit<OrderRequest, 'state'>): void {
    this.#note(owner, request);
    this.#of(request).standing(owner, tenant, request);
  }

  /** Replaces the order requests of an owner, at all issuers. Returns whether an answer has changed. */
  keep(owner: string, tenant: string, requests: readonly OrderRequest[]): boolean {
    const before = this.#owned.get(owner) ?? new Set();
    const issuers = new Set(requests.map((request) => this.#nameOf(request)));
    if (issuers.size > 0) this.#owned.set(owner, issuers);
    else this.#owned.delete(owner);
    // Every queue gets its requests, also if an earlier answer has changed.
    return [...new Set([...before, ...issuers])]
      .map((name) => {
        const its = requests.filter((request) => this.#nameOf(request) === name);
        return this.#queues.get(name)!.keep(owner, tenant, its);
      })
      .some((hasChanged) => hasChanged);
  }

  stop(): void {
    for (const queue of this.#queues.values()) queue.stop();
  }

  #note(owner: string, request: {issuer?: string | undefined}): void {
    this.#owned.set(owner, new Set([...(this.#owned.get(owner) ?? []), this.#nameOf(request)]));
  }

  #nameOf = ({issuer = this.#first}: {issuer?: string | undefined}): string =>
    this.#queues.has(issuer) ? issuer : former;

  #of = (one: {issuer?: string | undefined}): OrderQueue => this.#queues.get(this.#nameOf(one))!;
}
