/**
 * All known orders, and the grants that no order has followed yet, by time, tenant and registered domain. A grant without an order counts
 * as an order whose time is not known.
 */
import type {Limit, Taken} from '../../domain/certificates/bucket.ts';
import {leftOf, roomAt} from '../../domain/certificates/bucket.ts';
import type {Budgets, Order} from '../../domain/certificates/budget.ts';
import {isRenewal, memoryMs, mergeOrders, sharesOf} from '../../domain/certificates/budget.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import {registrableName} from '../../domain/hostnames/hostname.ts';
import {timestamp} from '../../domain/times.ts';
import {type CountedOrder, CountedOrders} from './counted-orders.ts';

/** By which keys, and from when, an order counts. */
interface HistoryEntry {
  /** The tenant's key; undefined: the order belongs to no tenant. */
  tenant: string | undefined;
  registered: Hostname;
  /** As an order of the account and of its tenant; undefined: not at all. */
  order?: CountedOrder;
  /** As a certificate of the registered domain; undefined: not at all. */
  certificate?: CountedOrder;
}

/** `madeBy`: latest time at which the CA can have received the order, ms since the epoch; undefined if unknown. */
interface Made {
  order: Order;
  madeBy?: number;
  entry: HistoryEntry;
}

interface Granted {
  at: number;
  entry: HistoryEntry;
}

/** The orders that a tenant may still have before others go first, and when to ask again, ms since the epoch. */
export interface OrderShare {
  left: number;
  until: number;
}

/** An order that may be made from `at` on, ms since the epoch. */
export interface GrantedOrder {
  tenant: string;
  hostname: Hostname;
  renewal: boolean;
  at: number;
}

export interface OrderHistoryOptions {
  budgets: Budgets;
  /** A grant without an order counts as made after this time, so that a cert-manager that never orders blocks no other hostname. */
  unheardAfterMs: number;
  /** The tenant's key for a hostname; its orders belong to that tenant. Undefined: they belong to no tenant. */
  tenantOf: (hostname: Hostname) => string | undefined;
}

export class OrderHistory {
  readonly #options: OrderHistoryOptions;
  /** Orders by hostname and start of the order. */
  readonly #made = new Map<Hostname, Map<string, Made>>();
  /** By Certificate. */
  readonly #granted = new Map<string, Granted>();
  readonly #all: CountedOrders;
  readonly #byTenant = new Map<string, CountedOrders>();
  readonly #byRegisteredDomain = new Map<Hostname, CountedOrders>();
  /** Told of each tenant whose share has changed. */
  readonly #onShare: (tenant: string) => void;
  /** Of the time before, nothing is known. */
  readonly #since: number;
  /** A tenant's own limits. */
  readonly #shares: readonly Limit[];
  #pruned: number;

  constructor(options: OrderHistoryOptions, {now, onShare}: {now: number; onShare: (tenant: string) => void}) {
    this.#options = options;
    this.#onShare = onShare;
    this.#since = now - memoryMs(options.budgets);
    this.#pruned = now;
    this.#shares = sharesOf(options.budgets.account);
    this.#all = new CountedOrders(options.budgets.account, this.#since);
  }

  /** Those of the account. */
  all(now: number): Taken {
    return this.#all.asOf(now);
  }

  ofRegisteredDomain(registered: Hostname, now: number): Taken {
    const {registeredDomain} = this.#options.budgets;
    const list = this.#byRegisteredDomain.get(registered) ?? new CountedOrders(registeredDomain, this.#since);
    return list.asOf(now);
  }

  shareOf(tenant: string, now: number): OrderShare {
    const shares = this.#shares;
    const orders = this.#byTenant.get(tenant) ?? new CountedOrders(shares, this.#since);
    const taken = orders.asOf(now);
    const left = leftOf(taken, shares, now);
    return {
      left,
      until: Math.min(
        roomAt(taken, shares, now, () => left + 1),
        orders.unheardUntil,
      ),
    };
  }

  /** The orders of a hostname that some budget counts, by time. An order without an end has the time at which the CA received it. */
  orders(hostname: Hostname, now: number): Order[] {
    const orders = [...(this.#made.get(hostname)?.values() ?? [])].map(({order, madeBy}): Order =>
      order.endedAt === undefined && madeBy !== undefined ? {...order, endedAt: timestamp(madeBy)} : order,
    );
    return mergeOrders(orders, [], memoryMs(this.#options.budgets), now);
  }

  isGranted(certificate: string): boolean {
    return this.#granted.has(certificate);
  }

  /** Whether an order of a hostname that begins now is a renewal. */
  isRenewal(hostname: Hostname, issuer: string | undefined, now: number): boolean {
    return isRenewal(this.#known(hostname), issuer, now);
  }

  /** A Certificate's order may be made, or is being made: it counts. */
  grant(certificate: string, {tenant, hostname, renewal, at}: GrantedOrder): void {
    this.revoke(certificate);
    const unheard = this.#unheard(at);
    const entry = {
      tenant,
      registered: registrableName(hostname),
      ...(this.#counts(renewal) && {order: unheard, certificate: unheard}),
    };
    this.#granted.set(certificate, {at, entry});
    this.#count(entry);
  }

  /** Stops counting a grant. */
  revoke(certificate: string): void {
    const granted = this.#granted.get(certificate);
    if (!granted) return;
    this.#granted.delete(certificate);
    this.#uncount(granted.entry);
  }

  /**
   * Notes an order that a CertificateRequest of a Certificate represents. Returns whether others may have room now: the time of the order
   * became known, it ended, or a grant became this order.
   */
  observe(
    certificate: string,
    hostname: Hostname,
    order: Order,
    {ordered, now}: {ordered: boolean; now: number},
  ): boolean {
    const granted = this.#granted.get(certificate);
    // Kubernetes' times have no fractions.
    if (granted && Date.parse(order.at) >= granted.at - 1000) this.revoke(certificate);
    const known = this.#made.get(hostname)?.get(order.at);
    const madeBy = known?.madeBy ?? (ordered || order.outcome !== 'Pending' ? this.#latest(order, now) : undefined);
    const merged = mergeOrders([known?.order ?? []].flat(), [order], memoryMs(this.#options.budgets), now)[0] ?? order;
    const isNew = madeBy !== known?.madeBy || merged.outcome !== known?.order.outcome;
    if (isNew) this.#put(hostname, {order: known ? merged : this.#described(hostname, merged), madeBy}, now);
    if (isNew) this.#heed(hostname, merged);
    return isNew || granted !== undefined;
  }

  /** The request of an order is gone. An order that the CA has not begun to sign is never issued. */
  supersede(hostname: Hostname, at: string, now: number): boolean {
    const known = this.#made.get(hostname)?.get(at);
    if (known?.order.outcome !== 'Pending') return false;
    this.#put(
      hostname,
      {order: {...known.order, superseded: true}, madeBy: known.madeBy ?? this.#latest(known.order, now)},
      now,
    );
    return true;
  }

  /** Takes note of what a claim remembers. */
  recall(hostname: Hostname, orders: readonly Order[], now: number): void {
    for (const order of orders) {
      if (this.#made.get(hostname)?.has(order.at)) continue;
      this.#put(hostname, {order, madeBy: this.#latest(order, now)}, now);
      this.#heed(hostname, order);
    }
  }

  /** The CA refused an order by one of its limits: it has fewer tokens than were known here. */
  #heed(hostname: Hostname, {cause, at, endedAt = at, refusedUntil}: Order): void {
    if (refusedUntil === undefined) return;
    const [said, until] = [Date.parse(endedAt), Date.parse(refusedUntil)];
    const {registeredDomain} = this.#options.budgets;
    if (cause === 'AccountLimit') this.#all.emptyUntil(said, until);
    if (cause === 'RegisteredDomainLimit')
      this.#listOf(this.#byRegisteredDomain, registrableName(hostname), registeredDomain).emptyUntil(said, until);
  }

  /** Counts the orders of a hostname that name no tenant for its current tenant. */
  pass(hostname: Hostname): void {
    for (const {order, entry} of this.#made.get(hostname)?.values() ?? []) {
      const tenant = order.tenant ?? this.#options.tenantOf(hostname);
      if (entry.tenant === tenant) continue;
      this.#uncount(entry);
      entry.tenant = tenant;
      this.#count(entry);
    }
  }

  #known(hostname: Hostname): Order[] {
    return [...(this.#made.get(hostname)?.values() ?? [])].map(({order}) => order);
  }

  /** A new order, with its tenant, and whether it is a renewal. */
  #described(hostname: Hostname, order: Order): Order {
    const known = this.#known(hostname);
    const tenant = order.tenant ?? this.#options.tenantOf(hostname);
    const {renewal = false, ...rest} = order;
    const isOne = known.some((o) => o.outcome === 'Issued')
      ? isRenewal(known, order.issuer, Date.parse(order.at))
      : renewal;
    return {...rest, ...(tenant !== undefined && {tenant}), ...(isOne && {renewal: true})};
  }

  /** Whether an order takes tokens of the account and of the registered domain. */
  #counts(renewal: boolean): boolean {
    return !renewal || this.#options.budgets.countRenewals;
  }

  /** How an order counts. */
  #countedAs(order: Order, madeBy: number | undefined): Pick<HistoryEntry, 'order' | 'certificate'> {
    const {outcome, at, endedAt, superseded, cause} = order;
    // What the CA refused at once took no token.
    if (!this.#counts(order.renewal ?? false) || (cause !== undefined && cause !== 'Authority')) return {};
    const begun = madeBy === undefined ? this.#unheard(Date.parse(at)) : {at: madeBy, heard: true};
    if (outcome === 'Issued') return {order: begun, certificate: {at: latestSecond(endedAt ?? at), heard: true}};
    return outcome === 'Failed' || superseded
      ? {order: begun}
      : {order: begun, certificate: this.#unheard(Date.parse(at))};
  }

  #put(hostname: Hostname, {order, madeBy}: {order: Order; madeBy: number | undefined}, now: number): void {
    const orders = this.#made.get(hostname) ?? new Map<string, Made>();
    const known = orders.get(order.at);
    if (known) this.#uncount(known.entry);
    const entry = {
      tenant: order.tenant ?? this.#options.tenantOf(hostname),
      registered: registrableName(hostname),
      ...this.#countedAs(order, madeBy),
    };
    this.#made.set(hostname, orders.set(order.at, {order, entry, ...(madeBy !== undefined && {madeBy})}));
    this.#count(entry);
    this.#prune(now);
  }

  /** Deletes orders that no budget counts any more, once an hour. */
  #prune(now: number): void {
    if (now - this.#pruned < 3_600_000) return;
    this.#pruned = now;
    const {budgets} = this.#options;
    for (const [hostname, orders] of this.#made) {
      const kept = new Set(mergeOrders(this.orders(hostname, now), [], memoryMs(budgets), now).map(({at}) => at));
      for (const at of orders.keys()) if (!kept.has(at)) orders.delete(at);
      if (orders.size === 0) this.#made.delete(hostname);
    }
    const oldest = now - memoryMs(budgets);
    this.#all.forget(oldest);
    for (const lists of [this.#byTenant, this.#byRegisteredDomain])
      for (const [key, list] of lists) {
        list.forget(oldest);
        if (list.isFull(now)) lists.delete(key);
      }
  }

  /** The latest time at which the CA can have received an order. Kubernetes' times have no fractions. */
  #latest({at, endedAt}: Order, now: number): number {
    return Math.min(now, endedAt === undefined ? this.#unheard(Date.parse(at)).at : latestSecond(endedAt));
  }

  #unheard = (begun: number): CountedOrder => ({at: begun + this.#options.unheardAfterMs, heard: false});

  #count({tenant, registered, order, certificate}: HistoryEntry): void {
    const {registeredDomain} = this.#options.budgets;
    if (certificate) this.#listOf(this.#byRegisteredDomain, registered, registeredDomain).add(certificate);
    if (!order) return;
    this.#all.add(order);
    if (tenant === undefined) return;
    this.#listOf(this.#byTenant, tenant, this.#shares).add(order);
    this.#onShare(tenant);
  }

  #uncount({tenant, registered, order, certificate}: HistoryEntry): void {
    if (certificate) this.#byRegisteredDomain.get(registered)?.remove(certificate);
    if (!order) return;
    this.#all.remove(order);
    if (tenant === undefined) return;
    this.#byTenant.get(tenant)?.remove(order);
    this.#onShare(tenant);
  }

  #listOf(lists: Map<string, CountedOrders>, key: string, limits: readonly Limit[]): CountedOrders {
    const list = lists.get(key) ?? new CountedOrders(limits, this.#since);
    lists.set(key, list);
    return list;
  }
}

/** Kubernetes' times have no fractions. */
const latestSecond = (time: string): number => Date.parse(time) + 1000;
