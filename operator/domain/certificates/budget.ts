/**
 * How many orders the CA may receive, decided before cert-manager sees an order. A window is exact: any time span of `perMs` contains at
 * most `limit` orders, wherever it begins. A CA's token bucket of that size never allows fewer.
 */

/** At most `limit` orders (1 or more) in any time span of `perMs`. */
export interface Limit {
  limit: number;
  perMs: number;
}

/**
 * Budgets, grouped by what they count. docs/how-to/letsencrypt.md lists the CA's own limits (Let's Encrypt); the budgets of a hostname are
 * tighter.
 */
export interface Budgets {
  /** Orders of the platform's ACME account. */
  account: readonly Limit[];
  /** Orders below one registered domain (example.com for docs.example.com), from all tenants. */
  registeredDomain: readonly Limit[];
  /** Certificates of one hostname, including certificates on order. */
  certificates: readonly Limit[];
  /** Failed orders of one hostname. */
  failures: readonly Limit[];
}

/** An order of a hostname, as it is remembered after its CertificateRequest is deleted. */
export interface Order {
  /** Creation time of its CertificateRequest, RFC 3339. It identifies the order: a hostname never has two orders of the same second. */
  at: string;
  outcome: 'Pending' | 'Issued' | 'Failed';
  /** When the order was issued or failed, RFC 3339. While Pending: a time by which the CA had the order. */
  endedAt?: string;
  /** Error of a failed order. */
  message?: string;
}

/** The answer to an order request. */
export type OrderGrant =
  | {kind: 'Granted'}
  /** `place` is the position at the time of the answer. `expectedAt` (ms since the epoch) stays the same until it has passed. */
  | {kind: 'Queued'; place: number; expectedAt: number}
  /** The budget of the registered domain is spent until this time, ms since the epoch. */
  | {kind: 'Exhausted'; until: number};

/** Creation times of orders. Infinity: the order is created, but its time is not known yet. */
export interface OrderTimes {
  /** Time of the order with `but` newer orders; undefined if fewer orders exist. */
  newest(but: number): number | undefined;
  /** Number of orders after a time, ms since the epoch. */
  after(time: number): number;
}

export function orderTimes(times: readonly number[]): OrderTimes {
  const sorted = times.toSorted((a, b) => (a === b ? 0 : b - a));
  const later = (time: number) => sorted.findIndex((t) => t <= time);
  return {newest: (but) => sorted[but], after: (time) => (later(time) < 0 ? sorted.length : later(time))};
}

/** Number of orders within a limit's window. */
const recent = (times: OrderTimes, {perMs}: Limit, now: number) => times.after(now - perMs);

/** The first time from `now` at which one more order fits, if no order is created before. Infinity: not known yet. */
export const roomAt = (times: OrderTimes, limits: readonly Limit[], now: number): number =>
  Math.max(now, ...limits.map((l) => (recent(times, l, now) < l.limit ? now : times.newest(l.limit - 1)! + l.perMs)));

/** Expected creation time of the order at position `place` (from 1). Orders whose time is not known yet count as created now. */
export function expectedAt(place: number, times: OrderTimes, limits: readonly Limit[], now: number): number {
  return Math.max(
    now,
    ...limits.map((l) => {
      const made = Math.min(recent(times, l, now), l.limit);
      const free = l.limit - made;
      if (place <= free) return now;
      // Places become free in the order in which they were taken; each round takes a window.
      const turn = (place - free - 1) % l.limit;
      const taken = turn < made ? Math.min(times.newest(made - 1 - turn)!, now) : now;
      return taken + l.perMs * (1 + Math.floor((place - free - 1) / l.limit));
    }),
  );
}

/** The part of the account's budget that a tenant may use while others wait. A tenant that waits alone may use all of it. */
const tenantsShare = 0.25;

const shareOf = ({limit}: Limit) => Math.max(1, Math.floor(limit * tenantsShare));

/** Number of orders that a tenant may still create before other waiting tenants go first. `times`: the tenant's orders. */
export const leftOfShare = (times: OrderTimes, limits: readonly Limit[], now: number): number =>
  Math.min(...limits.map((l) => Math.max(0, shareOf(l) - recent(times, l, now))));

/** When {@link leftOfShare} must be computed again, if no order is created or reported before. Infinity: never. */
export const shareChangesAt = (times: OrderTimes, limits: readonly Limit[], now: number): number =>
  Math.min(...limits.map((l) => (times.newest(recent(times, l, now) - 1) ?? Infinity) + l.perMs));

/** A spent budget of a hostname, and the time at which it has room again, ms since the epoch. */
export interface SpentBudget {
  of: 'failures' | 'certificates';
  limit: Limit;
  until: number;
}

/** The budget that blocks another order of a hostname for the longest time; undefined if all budgets have room. */
export function spentBy(orders: readonly Order[], budgets: Budgets, now: number): SpentBudget | undefined {
  const failed = orders.filter((o) => o.outcome === 'Failed').map((o) => Date.parse(o.endedAt ?? o.at));
  const others = orders.filter((o) => o.outcome !== 'Failed').map((o) => Date.parse(o.at));
  const spent = (of: SpentBudget['of'], times: number[]) =>
    budgets[of].map((limit): SpentBudget => ({of, limit, until: roomAt(orderTimes(times), [limit], now)}));
  return [...spent('failures', failed), ...spent('certificates', others)]
    .filter((s) => s.until > now)
    .toSorted((a, b) => b.until - a.until)[0];
}

/** Tolerated excess: cert-manager sometimes replaces a request in the same second in which it created the request. */
const replaced = 1;

/** Whether a hostname has more certificate orders than were granted. Then something triggers cert-manager without the operator. */
export function isOverdrawn(orders: readonly Order[], {certificates}: Budgets, now: number): boolean {
  const times = orders.filter((o) => o.outcome !== 'Failed').map((o) => Date.parse(o.at));
  return certificates.some((l) => recent(orderTimes(times), l, now) > l.limit + replaced);
}

/** How long an order of a hostname must be remembered, ms. */
export const memoryMs = (b: Budgets) =>
  Math.max(0, ...[b.account, b.registeredDomain, b.certificates, b.failures].flat().map((l) => l.perMs));

/**
 * Returns a hostname's orders if its claim lacks one that must be recorded, else undefined. cert-manager deletes the requests of failed
 * and earlier orders, so the claim must record these. The newest order may be missing while its request exists and has not failed.
 */
export function toRemember(
  orders: readonly Order[],
  remembered: readonly Order[],
  newest: {attemptAt?: string; failure?: string} | undefined,
): Order[] | undefined {
  const known = new Map(remembered.map((o) => [o.at, o]));
  const told = (o: Order) => o.at === newest?.attemptAt && newest.failure === undefined;
  // An order is not recorded before its cause is known, so that one write records both.
  const unexplained = (o: Order) => o.at === newest?.attemptAt && o.message === undefined;
  const lost = orders.some(
    (o) =>
      !told(o) && !unexplained(o) && (known.get(o.at)?.outcome !== o.outcome || known.get(o.at)?.message !== o.message),
  );
  return lost ? [...orders] : undefined;
}

/** Number of orders remembered per hostname. No budget of a hostname permits more. */
const longestRecord = 32;

/** Merges two lists of a hostname's orders by time. Keeps the newest orders, and drops orders that no budget counts any more. */
export function mergeOrders(one: readonly Order[], other: readonly Order[], budgets: Budgets, now: number): Order[] {
  const byTime = new Map<string, Order>();
  for (const order of [...one, ...other]) {
    const known = byTime.get(order.at);
    // A final outcome has more information than a pending order.
    if (!known || known.outcome === 'Pending' || (order.outcome !== 'Pending' && order.message !== undefined))
      byTime.set(order.at, order);
  }
  const oldest = now - memoryMs(budgets);
  return [...byTime.values()]
    .filter((o) => Date.parse(o.endedAt ?? o.at) > oldest)
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .slice(-longestRecord);
}
