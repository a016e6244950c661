/**
 * All known orders, and the grants that no order has followed yet, by time, tenant and registered domain. A grant without an order counts
 * from now on, with no end.
 */
import type {Budgets, Order, OrderTimes} from '../../domain/certificates/budget.ts';
import {leftOfShare, memoryMs, mergeOrders, shareChangesAt} from '../../domain/certificates/budget.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import {registrableName} from '../../domain/hostnames/hostname.ts';
import {timestamp} from '../../domain/times.ts';
import {type CountedOrder, CountedOrders} from './counted-orders.ts';

/** The key and owner by which an order is counted. `tenant` undefined: the order belongs to no tenant. */
interface LedgerEntry extends CountedOrder {
  tenant: string | undefined;
  registered: Hostname;
}

/** `madeBy`: latest time at which the CA can have received the order, ms since the epoch; undefined if unknown. */
interface Made {
  order: Order;
  madeBy?: number;
  entry: LedgerEntry;
}

interface Granted {
  at: number;
  entry: LedgerEntry;
}

/** The orders that a tenant may still have before others go first, and when to ask again, ms since the epoch. */
export interface OrderShare {
  left: number;
  until: number;
}

export interface LedgerOptions {
  budgets: Budgets;
  /** A grant without an order counts as made after this time, so that a cert-manager that never orders blocks no other hostname. */
  unheardAfterMs: number;
  /** The tenant's key for a hostname; its orders belong to that tenant. Undefined: they belong to no tenant. */
  tenantOf: (hostname: Hostname) => string | undefined;
}

export class OrderHistory {
  readonly #options: LedgerOptions;
  /** Orders by hostname and start of the order. */
  readonly #made = new Map<Hostname, Map<string, Made>>();
  /** By Certificate. */
  readonly #granted = new Map<string, Granted>();
  readonly #all = new CountedOrders();
  readonly #byTenant = new Map<string, CountedOrders>();
  readonly #byRegisteredDomain = new Map<Hostname, CountedOrders>();
  /** Told of each tenant whose share has changed. */
  readonly #onShare: (tenant: string) => void;
  #pruned = 0;

  constructor(options: LedgerOptions, onShare: (tenant: string) => void) {
    this.#options = options;
    this.#onShare = onShare;
  }

  /** Those of the account. */
  all(now: number): OrderTimes {
    return this.#all.asOf(now);
  }

  ofRegisteredDomain(hostname: Hostname, now: number): OrderTimes {
    return (this.#byRegisteredDomain.get(registrableName(hostname)) ?? new CountedOrders()).asOf(now);
  }

  shareOf(tenant: string, now: number): OrderShare {
    const {account} = this.#options.budgets;
    const orders = this.#byTenant.get(tenant) ?? new CountedOrders();
    const times = orders.asOf(now);
    return {
      left: leftOfShare(times, account, now),
      until: Math.min(shareChangesAt(times, account, now), orders.unheardUntil),
    };
  }

  /** The orders of a hostname that some budget counts, by time. An order without an end has the time at which the CA received it. */
  orders(hostname: Hostname, now: number): Order[] {
    const orders = [...(this.#made.get(hostname)?.values() ?? [])].map(({order, madeBy}): Order =>
      order.endedAt === undefined && madeBy !== undefined ? {...order, endedAt: timestamp(madeBy)} : order,
    );
    return mergeOrders(orders, [], this.#options.budgets, now);
  }

  isGranted(certificate: string): boolean {
    return this.#granted.has(certificate);
  }

  /** A Certificate's order may be made, or is being made: it counts. */
  grant(certificate: string, {tenant, hostname, at}: {tenant: string; hostname: Hostname; at: number}): void {
    this.revoke(certificate);
    const entry = {tenant, registered: registrableName(hostname), ...this.#unheard(at)};
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
   * became known, or a grant became this order.
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
    const merged = mergeOrders([known?.order ?? []].flat(), [order], this.#options.budgets, now)[0] ?? order;
    this.#put(hostname, {order: merged, madeBy}, now);
    return madeBy !== known?.madeBy || granted !== undefined;
  }

  /** Takes note of what a claim remembers. */
  recall(hostname: Hostname, orders: readonly Order[], now: number): void {
    for (const order of orders)
      if (!this.#made.get(hostname)?.has(order.at)) this.#put(hostname, {order, madeBy: this.#latest(order, now)}, now);
  }

  /** Counts the orders of a hostname for its current tenant. */
  pass(hostname: Hostname): void {
    const tenant = this.#options.tenantOf(hostname);
    for (const {entry} of this.#made.get(hostname)?.values() ?? []) {
      if (entry.tenant === tenant) continue;
      this.#uncount(entry);
      entry.tenant = tenant;
      this.#count(entry);
    }
  }

  #put(hostname: Hostname, {order, madeBy}: {order: Order; madeBy: number | undefined}, now: number): void {
    const orders = this.#made.get(hostname) ?? new Map<string, Made>();
    const known = orders.get(order.at);
    if (known) this.#uncount(known.entry);
    const entry = {
      tenant: this.#options.tenantOf(hostname),
      registered: registrableName(hostname),
      ...(madeBy === undefined ? this.#unheard(Date.parse(order.at)) : {at: madeBy, heard: true}),
    };
    this.#made.set(hostname, orders.set(order.at, {order, entry, ...(madeBy !== undefined && {madeBy})}));
    this.#count(entry);
    this.#prune(now);
  }

  /** Deletes orders that no budget counts any more, once an hour. */
  #prune(now: number): void {
    if (now - this.#pruned < 3_600_000) return;
    this.#pruned = now;
    const oldest = now - memoryMs(this.#options.budgets);
    for (const [hostname, orders] of this.#made) {
      for (const [at, {madeBy, order, entry}] of orders) {
        if (Math.max(madeBy ?? 0, Date.parse(order.endedAt ?? order.at)) > oldest) continue;
        orders.delete(at);
        this.#uncount(entry);
      }
      if (orders.size === 0) this.#made.delete(hostname);
    }
  }

  /** The latest time at which the CA can have received an order. Kubernetes' times have no fractions. */
  #latest({at, endedAt}: Order, now: number): number {
    return Math.min(now, endedAt === undefined ? this.#unheard(Date.parse(at)).at : Date.parse(endedAt) + 1000);
  }

  #unheard = (begun: number): CountedOrder => ({at: begun + this.#options.unheardAfterMs, heard: false});

  #count(entry: LedgerEntry): void {
    this.#all.add(entry);
    addTo(this.#byRegisteredDomain, entry.registered, entry);
    if (entry.tenant === undefined) return;
    addTo(this.#byTenant, entry.tenant, entry);
    this.#onShare(entry.tenant);
  }

  #uncount(entry: LedgerEntry): void {
    this.#all.remove(entry);
    removeFrom(this.#byRegisteredDomain, entry.registered, entry);
    if (entry.tenant === undefined) return;
    removeFrom(this.#byTenant, entry.tenant, entry);
    this.#onShare(entry.tenant);
  }
}

function addTo(counts: Map<string, CountedOrders>, key: string, entry: CountedOrder): void {
  const orders = counts.get(key) ?? new CountedOrders();
  counts.set(key, orders);
  orders.add(entry);
}

function removeFrom(counts: Map<string, CountedOrders>, key: string, entry: CountedOrder): void {
  const orders = counts.get(key);
  orders?.remove(entry);
  if (orders?.size === 0) counts.delete(key);
}
