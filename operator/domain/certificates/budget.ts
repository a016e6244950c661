/**
 * How many orders the CA may receive, decided before cert-manager sees an order. Each limit is a token bucket (./bucket.ts).
 *
 *                      account      registeredDomain      certificates      failures
 *   an order begins    takes one
 *   it is issued                    takes one             takes one
 *   it fails                                                                takes one, unless the CA itself is the cause
 *
 * A renewal, an order for a name that had a certificate of the same CA within 120 days, takes none of the first two (Boulder:
 * NewOrderLimitTransactions, FQDNSetTimestampsForWindow), unless `countRenewals` is set. A pending order counts for each budget.
 */
import type {caCauses} from '../../api/domain-claim.ts';
import type {Limit} from './bucket.ts';
import {roomAt, takenAt} from './bucket.ts';

/** Budgets, grouped by what they count. docs/how-to/letsencrypt.md lists the CA's own limits (Let's Encrypt). */
export interface Budgets {
  /** Orders of the platform's ACME account. */
  account: readonly Limit[];
  /** Certificates below one registered domain (example.com for docs.example.com), of all tenants. */
  registeredDomain: readonly Limit[];
  /** Certificates of one hostname, of all tenants. The last certificate is reserved for a tenant without one. */
  certificates: readonly Limit[];
  /** Failed authorizations of one hostname, of all tenants. */
  authorizations: readonly Limit[];
  /** Failed authorizations of one hostname for one tenant. */
  failures: readonly Limit[];
  /** Whether renewals count for `account` and `registeredDomain`. */
  countRenewals: boolean;
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
  /** Why it failed, if not because of the hostname: the CA itself failed, or one of its limits was reached. */
  cause?: (typeof caCauses)[number];
  /** When the CA takes the next order, as it said with the error, RFC 3339. */
  refusedUntil?: string;
  /** The issuer's name. */
  issuer?: string;
  /** Key of the tenant for which it was made. */
  tenant?: string;
  /** Its request was deleted before the CA signed: it never becomes a certificate. */
  superseded?: boolean;
  /** The issuer has issued a certificate for the same name before. */
  renewal?: boolean;
}

/** The answer to an order request. */
export type OrderGrant =
  | {kind: 'Granted'}
  /**
   * `place` is the position at the time of the answer. `expectedAt` stays the same until it has passed. `since`: arrival in the queue; it
   * decides the position. `caFailed`: the CA gets no order until then, because of errors of its own. Times in ms since the epoch.
   */
  | {kind: 'Queued'; since: number; place: number; expectedAt: number; caFailed?: true}
  /** The budget of the registered domain is spent. `until`: when the order is expected, ms since the epoch. */
  | {kind: 'Exhausted'; since: number; until: number};

/** The part of the account's budget that a tenant may use before others go first, and that is left to tenants which used less. */
const tenantsShare = 0.25;

/** The tokens that are left to tenants which have had less than their share. */
export const reserveOf = ({limit}: Limit): number => Math.floor(limit * tenantsShare);

/** A tenant's own buckets: a quarter of the account's. */
export const sharesOf = (account: readonly Limit[]): Limit[] =>
  account.map((l) => ({limit: Math.max(1, reserveOf(l)), perMs: l.perMs}));

/** The tokens that must be there before an order of a tenant that has used its share: the last quarter is for the others. */
export const beyondShare = (limit: Limit): number => 1 + reserveOf(limit);

/**
 * Why a hostname must not be ordered until a time, ms since the epoch: a budget is spent, or the CA failed (`authority`). `limit`: the
 * limit of the budget that is spent; undefined if the CA said so.
 */
export interface SpentBudget {
  of: 'failures' | 'authorizations' | 'certificates' | 'authority';
  limit?: Limit;
  until: number;
}

const endOf = (o: Order): number => Date.parse(o.endedAt ?? o.at);

/** The wait after so many failures in a row of the CA itself: 1, 2, 4 ... minutes, at most an hour, in ms. */
export const backOffMs = (failures: number): number => Math.min(3_600_000, 60_000 * 2 ** Math.min(6, failures - 1));

/**
 * The waits of a hostname for a tenant after errors of the CA. Its limits say when they end. An error of the CA's own delays the CA's queue
 * alone, until the hostname gets several in a row: then a single hostname may be the cause.
 */
function refusedBy(orders: readonly Order[], isOwn: (o: Order) => boolean): SpentBudget[] {
  const retryAt = (o: Order) => (o.refusedUntil === undefined ? endOf(o) + backOffMs(1) : Date.parse(o.refusedUntil));
  const by = (cause: Order['cause'], of: SpentBudget['of']) =>
    orders.filter((o) => o.cause === cause).map((o): SpentBudget => ({of, until: retryAt(o)}));
  const ended = orders.filter((o) => o.outcome !== 'Pending' && isOwn(o));
  const inARow = ended.slice(ended.findLastIndex((o) => o.cause !== 'Authority') + 1);
  return [
    ...by('CertificatesLimit', 'certificates'),
    ...by('AuthorizationsLimit', 'authorizations'),
    ...inARow
      .slice(1)
      .slice(-1)
      .map((o): SpentBudget => ({of: 'authority', until: endOf(o) + backOffMs(inARow.length)})),
  ];
}

/** What blocks another order of a hostname for a tenant for the longest time; undefined if it may be ordered. */
export function spentBy(
  orders: readonly Order[],
  budgets: Budgets,
  {now, tenant}: {now: number; tenant: string},
): SpentBudget | undefined {
  const failed = orders.filter((o) => o.outcome === 'Failed' && o.cause === undefined);
  const issued = orders.filter((o) => o.outcome === 'Issued');
  const underWay = orders.filter((o) => o.outcome === 'Pending' && o.superseded === undefined);
  const since = now - memoryMs(budgets);
  const spent = (
    of: Exclude<SpentBudget['of'], 'authority'>,
    times: number[],
    tokens: (limit: Limit) => number = () => 1,
  ) =>
    budgets[of].map((limit): SpentBudget => {
      const taken = takenAt(times, [limit], since);
      return {of, limit, until: roomAt(taken, [limit], now, tokens)};
    });
  const isOwn = (o: Order) => (o.tenant ?? tenant) === tenant;
  const had = (l: Limit) => issued.some((o) => isOwn(o) && endOf(o) > now - l.perMs);
  return [
    ...spent('certificates', [...issued, ...underWay].map(endOf), (l) => (had(l) && l.limit > 1 ? 2 : 1)),
    ...spent('authorizations', failed.map(endOf)),
    ...spent('failures', failed.filter(isOwn).map(endOf)),
    ...refusedBy(orders, isOwn),
  ]
    .filter((s) => s.until > now)
    .toSorted((a, b) => b.until - a.until)[0];
}

/** Orders of a hostname within this time, ms, show a program that makes cert-manager order without the operator. */
const loopMs = 3_600_000;
/** Tolerated excess: cert-manager sometimes replaces a request in the same second in which it created the request. */
const replaced = 1;

/**
 * The budget of certificates of a hostname if more orders began within an hour than the CA issues in days: then a program makes
 * cert-manager order without the operator. `until`: when an hour has passed since so many.
 */
export function overdrawnBy(orders: readonly Order[], {certificates}: Budgets, now: number): SpentBudget | undefined {
  const begun = orders
    .filter((o) => o.outcome !== 'Failed' && Date.parse(o.at) > now - loopMs)
    .map((o) => Date.parse(o.at));
  const limit = certificates.find((l) => begun.length > l.limit + replaced);
  return limit && {of: 'certificates', limit, until: Math.max(...begun) + loopMs};
}

/** The time of which all orders are known, ms. Twice the longest time in which a bucket fills up. */
export const memoryMs = (b: Budgets): number =>
  [b.account, b.registeredDomain, b.certificates, b.authorizations, b.failures].reduce(
    (longest, limits) => limits.reduce((ms, l) => Math.max(ms, 2 * l.perMs), longest),
    0,
  );

/** An order for a name that had a certificate within this time is a renewal (Boulder: 120 days), ms. */
export const renewalMs = 120 * 86_400_000;

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
      !told(o) &&
      !unexplained(o) &&
      (['outcome', 'message', 'superseded'] as const).some((field) => known.get(o.at)?.[field] !== o[field]),
  );
  return lost ? [...orders] : undefined;
}

/** Number of orders remembered per hostname. */
const longestRecord = 32;

/**
 * Merges two lists of a hostname's orders by time. Keeps the newest orders, and drops orders that ended before the last `memory` ms, which
 * no budget counts ({@link memoryMs}). The newest
 * issued order of each issuer stays as long as it makes the next one a renewal.
 */
export function mergeOrders(one: readonly Order[], other: readonly Order[], memory: number, now: number): Order[] {
  const byTime = new Map<string, Order>();
  for (const order of [...one, ...other]) {
    const known = byTime.get(order.at);
    // A final outcome has more information than a pending order.
    if (!known || known.outcome === 'Pending' || (order.outcome !== 'Pending' && order.message !== undefined))
      byTime.set(order.at, {...known, ...order});
  }
  const sorted = [...byTime.values()].toSorted((a, b) => (a.at < b.at ? -1 : 1));
  const newestIssued = new Map(sorted.filter((o) => o.outcome === 'Issued').map((o) => [o.issuer, o]));
  const isKept = (o: Order) =>
    endOf(o) > now - (newestIssued.get(o.issuer) === o ? Math.max(renewalMs, memory) : memory);
  return sorted.filter(isKept).slice(-longestRecord);
}

/** Whether an order of an issuer that begins at a time is a renewal, as far as the hostname's orders show. */
export const isRenewal = (orders: readonly Order[], issuer: string | undefined, at: number): boolean =>
  orders.some(
    (o) =>
      o.outcome === 'Issued' &&
      (o.issuer ?? issuer) === (issuer ?? o.issuer) &&
      endOf(o) <= at &&
      endOf(o) > at - renewalMs,
  );
