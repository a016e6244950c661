/**
 * The account of all orders that the platform has made, and the line of those that want one. One book per operator: only the
 * leader orders. Nothing in it is lost by a restart: orders are told by the CertificateRequests that stand and by what claims
 * remember, the line by the times in status ({@link OrderBook.enter}).
 *
 * A grant counts from the moment it is given, with no end; its window begins only when the CA is known to have the order. So
 * the CA never sees more than a budget in any span of its length, however late cert-manager asks for what was granted.
 */
import type {Budgets, Grant, Order} from '../domain/budget.ts';
import {timestamp} from '../domain/conditions.ts';
import {expectedAt, memoryMs, mergeOrders, roomAt} from '../domain/budget.ts';
import type {Hostname} from '../domain/hostname.ts';
import {registrableName} from '../domain/hostname.ts';
import type {OrderWish} from '../domain/issuance.ts';

/** An order that is known of. `madeBy`: the CA had it by then at the latest, ms since the epoch; undefined: nobody knows yet. */
interface Made {
  hostname: Hostname;
  order: Order;
  madeBy?: number;
}

interface Waiting {
  owner: string;
  tenant: string;
  wish: OrderWish;
  arrival: number;
  told: {place: number; expectedAt: number};
}

export interface OrderBookOptions {
  budgets: Budgets;
  /** After this time an order that nobody has heard of counts as made: a cert-manager that never asks holds up nobody for ever. */
  unheardAfterMs: number;
  /** Called with an owner whose answer has changed. */
  onAnswer: (owner: string) => void;
  now?: () => number;
}

export class OrderBook {
  readonly #options: OrderBookOptions;
  /** By hostname, then by the time at which the order was begun. */
  readonly #made = new Map<Hostname, Map<string, Made>>();
  readonly #byRegisteredDomain = new Map<Hostname, Set<Hostname>>();
  /** By Certificate: what has been granted and is not seen as a request yet. */
  readonly #granted = new Map<string, {owner: string; hostname: Hostname; at: number}>();
  /** By Certificate. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #exhausted = new Map<string, {owner: string; until: number}>();
  /** By owner: the Certificates of its wishes. */
  readonly #owned = new Map<string, Set<string>>();
  /** By tenant: its line, the first first. */
  readonly #lines = new Map<string, Waiting[]>();
  /** By tenant: when it had its last turn, as a number that grows. */
  readonly #turns = new Map<string, number>();
  #turn = 0;
  #timer: NodeJS.Timeout | undefined;
  #pruned = 0;
  /** Nothing is granted before the first wish of this process, nor after its stop. */
  #open = false;

  constructor(options: OrderBookOptions) {
    this.#options = options;
  }

  get #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** The orders of a hostname that a budget still counts, by time; also of those that have not ended, by when the CA had them. */
  orders(hostname: Hostname): Order[] {
    const orders = [...(this.#made.get(hostname)?.values() ?? [])].map(({order, madeBy}): Order =>
      order.endedAt === undefined && madeBy !== undefined ? {...order, endedAt: timestamp(madeBy)} : order,
    );
    return mergeOrders(orders, [], this.#options.budgets, this.#now);
  }

  /** Takes note of an order that a CertificateRequest tells of, for a Certificate (`namespace/name`). Tells it again as often as it likes. */
  observe(certificate: string, hostname: Hostname, order: Order, ordered: boolean): void {
    const now = this.#now;
    const granted = this.#granted.get(certificate);
    // Kubernetes' times have no fractions.
    if (granted && Date.parse(order.at) >= granted.at - 1000) this.#granted.delete(certificate);
    const known = this.#made.get(hostname)?.get(order.at);
    const madeBy = known?.madeBy ?? (ordered || order.outcome !== 'Pending' ? this.#latest(order) : undefined);
    this.#put({
      hostname,
      order: mergeOrders([known?.order ?? []].flat(), [order], this.#options.budgets, now)[0] ?? order,
      ...(madeBy !== undefined && {madeBy}),
    });
    if (madeBy !== known?.madeBy || granted) this.#serve();
  }

  /** Takes note of what a claim remembers. */
  recall(hostname: Hostname, orders: readonly Order[]): void {
    for (const order of orders) {
      if (!this.#made.get(hostname)?.has(order.at)) this.#put({hostname, order, madeBy: this.#latest(order)});
    }
  }

  /** What was said to a Certificate's wish. */
  grant(certificate: string): Grant | undefined {
    const now = this.#now;
    if (this.#granted.has(certificate)) return {kind: 'Granted'};
    const waiting = this.#waiting.get(certificate);
    if (waiting) {
      if (waiting.told.expectedAt <= now) waiting.told = this.#tell(waiting);
      return {kind: 'Queued', ...waiting.told};
    }
    const exhausted = this.#exhausted.get(certificate);
    return exhausted && exhausted.until > now ? {kind: 'Exhausted', until: exhausted.until} : undefined;
  }

  /** Puts somebody in line who stood there before a restart; before the first {@link keep}. */
  enter(owner: string, tenant: string, wish: OrderWish): void {
    this.#owned.set(owner, (this.#owned.get(owner) ?? new Set()).add(wish.certificate));
    this.#enter(owner, tenant, wish);
  }

  /** The wishes of an owner, all of them: others that it had are dropped. Returns whether an answer has changed. */
  keep(owner: string, tenant: string, wishes: readonly OrderWish[]): boolean {
    const before = wishes.map((w) => this.grant(w.certificate)?.kind);
    const kept = new Set(wishes.map((w) => w.certificate));
    for (const certificate of this.#owned.get(owner) ?? []) if (!kept.has(certificate)) this.#drop(certificate);
    if (kept.size > 0) this.#owned.set(owner, kept);
    else this.#owned.delete(owner);
    for (const wish of wishes) {
      const {certificate, hostname, since, state} = wish;
      if (this.#granted.has(certificate)) continue;
      // It has been made, whatever the budget says: it counts.
      if (state === 'Ordered') {
        this.#drop(certificate);
        this.#granted.set(certificate, {owner, hostname, at: since});
      }
      if (state === 'Wanted' && this.grant(certificate) === undefined) this.#enter(owner, tenant, wish);
    }
    if (wishes.length > 0) this.#open = true;
    this.#serve(owner);
    return wishes.some((w, i) => this.grant(w.certificate)?.kind !== before[i]);
  }

  /** Serves nobody any more. */
  stop(): void {
    this.#open = false;
    clearTimeout(this.#timer);
  }

  #put(made: Made): void {
    const {hostname, order} = made;
    const orders = this.#made.get(hostname) ?? new Map<string, Made>();
    this.#made.set(hostname, orders.set(order.at, made));
    const registered = registrableName(hostname);
    this.#byRegisteredDomain.set(registered, (this.#byRegisteredDomain.get(registered) ?? new Set()).add(hostname));
    this.#prune();
  }

  /** Once an hour: what no budget counts any more. */
  #prune(): void {
    const now = this.#now;
    if (now - this.#pruned < 3_600_000) return;
    this.#pruned = now;
    const oldest = now - memoryMs(this.#options.budgets);
    for (const [hostname, orders] of this.#made) {
      for (const [at, {madeBy, order}] of orders)
        if (Math.max(madeBy ?? 0, Date.parse(order.endedAt ?? order.at)) <= oldest) orders.delete(at);
      if (orders.size > 0) continue;
      this.#made.delete(hostname);
      const registered = registrableName(hostname);
      const names = this.#byRegisteredDomain.get(registered);
      names?.delete(hostname);
      if (names?.size === 0) this.#byRegisteredDomain.delete(registered);
    }
  }

  #drop(certificate: string): void {
    this.#granted.delete(certificate);
    this.#exhausted.delete(certificate);
    const waiting = this.#waiting.get(certificate);
    if (!waiting) return;
    this.#waiting.delete(certificate);
    const line = this.#lines.get(waiting.tenant)!.filter((w) => w !== waiting);
    if (line.length > 0) this.#lines.set(waiting.tenant, line);
    else this.#lines.delete(waiting.tenant);
  }

  #enter(owner: string, tenant: string, wish: OrderWish): void {
    this.#drop(wish.certificate);
    const line = this.#lines.get(tenant) ?? [];
    this.#lines.set(tenant, line);
    const waiting: Waiting = {owner, tenant, wish, arrival: wish.since, told: {place: 0, expectedAt: 0}};
    const after = line.findIndex((w) => w.arrival > waiting.arrival);
    line.splice(after < 0 ? line.length : after, 0, waiting);
    this.#waiting.set(wish.certificate, waiting);
  }

  /** Its place as of now: tenants take turns, so a short line of a tenant passes a long one of another. */
  #tell({tenant, wish}: Waiting): Waiting['told'] {
    const own = this.#lines.get(tenant)!.findIndex((w) => w.wish.certificate === wish.certificate) + 1;
    const others = [...this.#lines].reduce(
      (sum, [of, line]) => (of === tenant ? sum : sum + Math.min(line.length, own)),
      0,
    );
    const place = own + others;
    const now = this.#now;
    // Whole minutes, as messages say them, and never a time that has come.
    const expected =
      Math.ceil((expectedAt(place, this.#times(), this.#options.budgets.account, now) + 1) / 60_000) * 60_000;
    return {place, expectedAt: expected};
  }

  /** By when the CA has had an order at the latest. Kubernetes' times have no fractions. */
  #latest({at, endedAt}: Order): number {
    return Math.min(
      this.#now,
      endedAt === undefined ? Date.parse(at) + this.#options.unheardAfterMs : Date.parse(endedAt) + 1000,
    );
  }

  /** When orders were made, of all hostnames or of some. Infinity: nobody knows yet. */
  #times(only?: ReadonlySet<Hostname>): number[] {
    const {unheardAfterMs} = this.#options;
    const now = this.#now;
    const time = (begun: number) => (begun + unheardAfterMs <= now ? begun + unheardAfterMs : Infinity);
    const times: number[] = [];
    for (const hostname of only ?? this.#made.keys()) {
      for (const {madeBy, order} of this.#made.get(hostname)?.values() ?? [])
        times.push(madeBy ?? time(Date.parse(order.at)));
    }
    for (const {hostname, at} of this.#granted.values()) if (!only || only.has(hostname)) times.push(time(at));
    return times;
  }

  /** The one whose turn it is: of the first ones in line, that of the tenant whose last turn is the longest ago. */
  #next(): Waiting | undefined {
    let next: Waiting | undefined;
    const turn = (w: Waiting) => this.#turns.get(w.tenant) ?? 0;
    for (const [first] of this.#lines.values()) {
      if (first && (!next || turn(first) < turn(next) || (turn(first) === turn(next) && first.arrival < next.arrival)))
        next = first;
    }
    return next;
  }

  /** Grants what there is room for. `asking` is told by what it called. */
  #serve(asking?: string): void {
    if (!this.#open || this.#waiting.size === 0) return;
    const {budgets, onAnswer} = this.#options;
    const now = this.#now;
    const times = this.#times();
    for (let next = this.#next(); next; next = this.#next()) {
      const room = roomAt(times, budgets.account, now);
      if (room > now) {
        this.#wakeAt(Math.min(room, now + this.#options.unheardAfterMs));
        break;
      }
      const {
        owner,
        tenant,
        wish: {certificate, hostname},
      } = next;
      this.#drop(certificate);
      const registered = registrableName(hostname);
      const siblings = new Set([
        ...(this.#byRegisteredDomain.get(registered) ?? []),
        ...[...this.#granted.values()].map((g) => g.hostname).filter((h) => registrableName(h) === registered),
      ]);
      const until = roomAt(this.#times(siblings), budgets.registeredDomain, now);
      if (until > now) {
        this.#exhausted.set(certificate, {
          owner,
          until: Math.min(until, now + Math.max(...budgets.registeredDomain.map((l) => l.perMs))),
        });
      } else {
        this.#turns.set(tenant, ++this.#turn);
        this.#granted.set(certificate, {owner, hostname, at: now});
        times.push(Infinity);
      }
      if (owner !== asking) onAnswer(owner);
    }
    if (this.#waiting.size === 0) this.#turns.clear();
    for (const waiting of this.#waiting.values()) if (waiting.told.expectedAt === 0) waiting.told = this.#tell(waiting);
  }

  #wakeAt(at: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#serve(), Math.min(at - this.#now, 2 ** 31 - 1));
    this.#timer.unref();
  }
}
