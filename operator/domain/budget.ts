/**
 * How many orders the CA may be asked for, decided before cert-manager sees one. A window is exact: at most `limit` orders in
 * any time span of `perMs`, wherever it begins, which is never more than a CA's token bucket of that size allows.
 */

/** At most `limit` (1 or more) in any time span of `perMs`. */
export interface Limit {
  limit: number;
  perMs: number;
}

/** By what they count. The CA's own limits are in FIGURES (Let's Encrypt); those of a hostname are tighter. */
export interface Budgets {
  /** Orders of the platform's ACME account. */
  account: readonly Limit[];
  /** Orders below one registered domain (example.com of docs.example.com), whoever attaches them. */
  registeredDomain: readonly Limit[];
  /** Certificates of one hostname, those that are being ordered among them. */
  certificates: readonly Limit[];
  /** Failed orders of one hostname. */
  failures: readonly Limit[];
}

/** An order of a hostname. It is remembered after its CertificateRequest is gone. */
export interface Order {
  /** When its CertificateRequest was created, RFC 3339: the same hostname has no two of one second. */
  at: string;
  outcome: 'Pending' | 'Issued' | 'Failed';
  /** When it was issued or failed, or (while Pending) by when the CA had it, RFC 3339. */
  endedAt?: string;
  /** What it failed with. */
  message?: string;
}

/** The answer to who wants an order. */
export type OrderGrant =
  | {kind: 'Granted'}
  /** `place`: the position when it was published. `expectedAt` (ms since the epoch) stays published until it has passed. */
  | {kind: 'Queued'; place: number; expectedAt: number}
  /** The registered domain has had its share; ms since the epoch. */
  | {kind: 'Exhausted'; until: number};

/** When orders were made. Infinity: made, but nobody knows when yet. */
export interface OrderTimes {
  /** The time of the newest order but `but`; undefined if there are fewer orders. */
  newest(but: number): number | undefined;
  /** How many are later than a time, ms since the epoch. */
  after(time: number): number;
}

export function orderTimes(times: readonly number[]): OrderTimes {
  const sorted = times.toSorted((a, b) => (a === b ? 0 : b - a));
  const later = (time: number) => sorted.findIndex((t) => t <= time);
  return {newest: (but) => sorted[but], after: (time) => (later(time) < 0 ? sorted.length : later(time))};
}

/** How many have been made within a limit's window. */
const recent = (times: OrderTimes, {perMs}: Limit, now: number) => times.after(now - perMs);

/** The first time from `now` on at which one more may be made, if none is made until then. Infinity: nobody knows yet. */
export const roomAt = (times: OrderTimes, limits: readonly Limit[], now: number): number =>
  Math.max(now, ...limits.map((l) => (recent(times, l, now) < l.limit ? now : times.newest(l.limit - 1)! + l.perMs)));

/** The expected time of the order at position `place` in the queue (from 1). An order with an unknown time counts as made now. */
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

/** Largest part of the account's budget that a tenant may use while others wait. A tenant without competitors may use all of it. */
const tenantsShare = 0.25;

const shareOf = ({limit}: Limit) => Math.max(1, Math.floor(limit * tenantsShare));

/** How many more orders a tenant may have made before others that wait go first. `times`: those of its orders. */
export const leftOfShare = (times: OrderTimes, limits: readonly Limit[], now: number): number =>
  Math.min(...limits.map((l) => Math.max(0, shareOf(l) - recent(times, l, now))));

/** When that is to be counted anew, if no order is made and none is heard of until then. Infinity: never. */
export const shareChangesAt = (times: OrderTimes, limits: readonly Limit[], now: number): number =>
  Math.min(...limits.map((l) => (times.newest(recent(times, l, now) - 1) ?? Infinity) + l.perMs));

/** A budget of a hostname that is spent, and when it no longer is, ms since the epoch. */
export interface SpentBudget {
  of: 'failures' | 'certificates';
  limit: Limit;
  until: number;
}

/** The budget that keeps a hostname from another order for the longest time; undefined: there is room. */
export function spentBy(orders: readonly Order[], budgets: Budgets, now: number): SpentBudget | undefined {
  const failed = orders.filter((o) => o.outcome === 'Failed').map((o) => Date.parse(o.endedAt ?? o.at));
  const others = orders.filter((o) => o.outcome !== 'Failed').map((o) => Date.parse(o.at));
  const spent = (of: SpentBudget['of'], times: number[]) =>
    budgets[of].map((limit): SpentBudget => ({of, limit, until: roomAt(orderTimes(times), [limit], now)}));
  return [...spent('failures', failed), ...spent('certificates', others)]
    .filter((s) => s.until > now)
    .toSorted((a, b) => b.until - a.until)[0];
}

/** cert-manager now and then replaces a request in the second in which it made it. */
const replaced = 1;

/** Whether more certificates of a hostname were asked for than were granted: somebody makes cert-manager ask past the operator. */
export function isOverdrawn(orders: readonly Order[], {certificates}: Budgets, now: number): boolean {
  const times = orders.filter((o) => o.outcome !== 'Failed').map((o) => Date.parse(o.at));
  return certificates.some((l) => recent(orderTimes(times), l, now) > l.limit + replaced);
}

/** How long an order of a hostname has to be remembered, ms. */
export const memoryMs = (b: Budgets) =>
  Math.max(0, ...[b.account, b.registeredDomain, b.certificates, b.failures].flat().map((l) => l.perMs));

/**
 * The orders of a hostname that its claim must remember, or undefined if the claim is complete. The newest order is left out while its
 * CertificateRequest exists and has not failed: cert-manager deletes the requests of failed and of earlier orders.
 */
export function toRemember(
  orders: readonly Order[],
  remembered: readonly Order[],
  newest: {attemptAt?: string; failure?: string} | undefined,
): Order[] | undefined {
  const known = new Map(remembered.map((o) => [o.at, o]));
  const told = (o: Order) => o.at === newest?.attemptAt && newest.failure === undefined;
  // Not before its cause is known: one write for both.
  const unexplained = (o: Order) => o.at === newest?.attemptAt && o.message === undefined;
  const lost = orders.some(
    (o) =>
      !told(o) && !unexplained(o) && (known.get(o.at)?.outcome !== o.outcome || known.get(o.at)?.message !== o.message),
  );
  return lost ? [...orders] : undefined;
}

/** So many are remembered of one hostname: more than any budget of it lets through. */
const longestRecord = 32;

/** Two accounts of the orders of a hostname made one: by time, the newest kept, without what no budget counts any more. */
export function mergeOrders(one: readonly Order[], other: readonly Order[], budgets: Budgets, now: number): Order[] {
  const byTime = new Map<string, Order>();
  for (const order of [...one, ...other]) {
    const known = byTime.get(order.at);
    // How it ended says more than that it was begun.
    if (!known || known.outcome === 'Pending' || (order.outcome !== 'Pending' && order.message !== undefined))
      byTime.set(order.at, order);
  }
  const oldest = now - memoryMs(budgets);
  return [...byTime.values()]
    .filter((o) => Date.parse(o.endedAt ?? o.at) > oldest)
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .slice(-longestRecord);
}
