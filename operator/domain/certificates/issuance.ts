/**
 * The steps from a verified hostname to its certificate, decided for one hostname from its own facts.
 *
 *   verified --> IssuanceQueued ----> Issuing ----------------------------> certificate
 *      |           ^ room              | 30 min without an end: IssuanceStalled; Re-verify = another attempt
 *      |           |                   | failed: cert-manager tries again, as long as the hostname's budget has room
 *      +--> IssuanceBudgetExhausted <--+ spent, or overdrawn: its Certificate is deleted until there is room again
 *
 * Rule 1 applies first: only hostnames that are verified and allowed by CAA reach these steps.
 */

import type {HostDetails, HostStatus, Party} from '../../api/custom-domain.ts';
import type {Limit} from './bucket.ts';
import type {Budgets, OrderGrant, Order, SpentBudget} from './budget.ts';
import {overdrawnBy, spentBy} from './budget.ts';
import type {CaaVerdict} from './caa.ts';
import type {CertificateFacts} from './certificate.ts';
import type {Culprit, Diagnosis} from './diagnosis.ts';
import {culprit, quotes} from './diagnosis.ts';
import type {Hostname} from '../hostnames/hostname.ts';
import type {ReasonName} from '../reasons/reasons.ts';
import {sameWords} from '../status/details.ts';
import {quote} from '../text.ts';
import {moment, span, timestamp, wholeMinute} from '../times.ts';

/** Facts about the issuance of one hostname. */
export interface IssuanceWorld {
  now: number;
  hostname: Hostname;
  /** The tenant's key. */
  tenant: string;
  policy: {budgets: Budgets; issuanceStalledAfterMs: number};
  /** The orders of the last days, as far as they are known. */
  orders: readonly Order[];
  /** The answer to the order request; undefined before the first request. */
  grant?: OrderGrant;
  /** The objects that were read about the attempt that {@link attemptOf} names. */
  diagnosis?: Diagnosis;
  /** The published entry of the hostname. */
  before?: Pick<HostStatus, 'reason' | 'message' | 'details' | 'waitingFor' | 'since'>;
  /** The hostname was Live until now. It has a certificate, whatever happens to the next one. */
  wasLive: boolean;
  /** The result of the newest check in this process, if there was one. */
  checked: {proven: boolean; verifies: boolean; caa?: CaaVerdict};
  /** A user has requested a fresh attempt (Re-verify), and the check that follows is complete. */
  asked: boolean;
}

/** An order request. `Ordered`: its Certificate exists and has no request yet. `UnderWay`: its Certificate has a request. */
export interface OrderRequest {
  hostname: Hostname;
  /** The Certificate to order: `namespace/name`. */ certificate: string;
  /** Name of the issuer; undefined: the preferred one. */ issuer?: string | undefined;
  state: 'Wanted' | 'Ordered' | 'UnderWay';
  /** Decides its position in the order queue, ms since the epoch. */ since: number;
}

/** The next step in the issuance of one hostname. */
export interface IssuanceStep {
  reason: ReasonName;
  message: string;
  details?: HostDetails | undefined;
  waitingFor?: Party;
  orderRequest?: OrderRequest['state'];
  /** Another attempt begins now. */
  again?: true;
  /** The Certificate is deleted until its budget has room. Otherwise cert-manager would retry by itself. */
  withhold?: true;
  /** cert-manager's messages about the attempt must be read. */
  read?: true;
  /** The answer to Re-verify comes later, because the attempt waits in the queue. */
  unanswered?: true;
  wakeAt?: number;
}

/** Identifies the attempt and its progress. Messages about another attempt do not apply. */
export const attemptOf = (c: CertificateFacts): string => `${c.request?.uid ?? ''} ${c.failure ?? c.waiting ?? ''}`;

const most = ({limit, perMs}: Limit) => `${limit} in ${span(perMs)}`;

/** A limit in parentheses, if the platform set it. */
const atMost = (limit: Limit | undefined) => (limit ? ` (at most ${most(limit)})` : '');

/** Why a hostname's order must wait. */
const spentWords: Record<SpentBudget['of'], (hostname: Hostname, limit?: Limit) => string> = {
  failures: (hostname, limit) => `Too many attempts to issue the certificate of ${hostname} failed${atMost(limit)}`,
  authorizations: (hostname, limit) =>
    `The certificate authority limits failed attempts for ${hostname}, of all tenants${atMost(limit)}, and the limit is used up`,
  certificates: (hostname, limit) => `${hostname} has used its budget of certificates${atMost(limit)}`,
  authority: (hostname) => `The certificate authority could not process the last order of ${hostname}`,
};

/** The step while the hostname's own budget is spent, or the CA's error forbids another order. */
function exhausted(w: IssuanceWorld, {of, limit, until}: SpentBudget): IssuanceStep {
  const quotesFailure = of === 'failures' || of === 'authority';
  const failure = quotesFailure ? w.orders.findLast((o) => o.message !== undefined)?.message : undefined;
  const why = failure === undefined ? '' : ` The last failure: ${failure.replace(/\.?$/, '.')}`;
  return {
    reason: of === 'authority' ? 'Issuing' : 'IssuanceBudgetExhausted',
    wakeAt: until,
    details: {endTime: wholeMinute(until), ...(of === 'failures' && {cause: 'Failures'})},
    message: `${spentWords[of](w.hostname, limit)}. Doorplate tries again after ${moment(until)}.${why}`,
    ...(of === 'failures' && {waitingFor: culprit(failure, undefined)?.by ?? 'Platform'}),
    ...(of === 'authority' && {waitingFor: 'CertificateAuthority'}),
  };
}

/** The step of a hostname whose order is requested from the queue. */
const orderSoon = ({hostname}: IssuanceWorld): IssuanceStep => ({
  reason: 'Issuing',
  message: `${hostname} is verified; its certificate is about to be ordered.`,
  orderRequest: 'Wanted',
});

/** The step while the order must wait; undefined if it may be created now. */
function inLine(w: IssuanceWorld): IssuanceStep | undefined {
  const {grant, hostname, now, policy} = w;
  // Hostnames that move to another issuer are sorted by the end of their certificates, which is no arrival.
  const arrivedAt = (since: number) => since <= now && {queuedAt: timestamp(since)};
  const why =
    grant?.kind === 'Queued' && grant.caFailed
      ? 'the certificate authority has an error and gets no order now'
      : `the whole platform may order at most ${policy.budgets.account.map(most).join(', ')}`;
  switch (grant?.kind) {
    case 'Granted':
      return undefined;
    case undefined:
      return orderSoon(w);
    case 'Exhausted':
      return {
        reason: 'IssuanceBudgetExhausted',
        orderRequest: 'Wanted',
        wakeAt: grant.until,
        details: {endTime: wholeMinute(grant.until), ...arrivedAt(grant.since)},
        message:
          `The certificate authority limits the certificates of a registered domain (at most ` +
          `${policy.budgets.registeredDomain.map(most).join(', ')}), and the domain of ${hostname} has ` +
          `used this limit. Doorplate tries again after ${moment(grant.until)}.`,
      };
    case 'Queued':
      return {
        reason: 'IssuanceQueued',
        orderRequest: 'Wanted',
        wakeAt: grant.expectedAt,
        details: {endTime: wholeMinute(grant.expectedAt), ...arrivedAt(grant.since)},
        message:
          `${hostname} is verified; its order waits in the order queue at position ${grant.place} (${why}). ` +
          `Doorplate expects to order it by ${moment(grant.expectedAt)}.`,
      };
  }
}

/** The step that delays the order of a hostname without a Certificate; undefined if nothing delays it. */
export function beforeOrder(w: IssuanceWorld): IssuanceStep | undefined {
  const spent = spentBy(w.orders, w.policy.budgets, w);
  return spent ? exhausted(w, spent) : inLine(w);
}

/** The advice to ask for a fresh attempt. */
export const askAgain = (cause: Culprit | undefined) =>
  cause ? 'Then ask for a fresh attempt (Re-verify).' : 'Ask for a fresh attempt (Re-verify).';

/** The result of the newest check, for a message. */
function whatWasChecked({verifies, caa}: IssuanceWorld['checked']): string {
  const dns = verifies
    ? 'Its last DNS check still verifies it'
    : 'Its last DNS check no longer verifies it: see status.dnsRecords';
  const records =
    caa?.kind === 'Allowed'
      ? ', and its CAA records allow the certificate authority'
      : caa?.kind === 'Unknown'
        ? ', and its CAA records could not be read'
        : '';
  return `${dns}${records}.`;
}

/**
 * When the attempt began, ms since the epoch. For a moment between two attempts no request exists. Then the latest of three times counts:
 * creation of the Certificate, start of its condition Issuing, and the published start of the attempt.
 */
function begunAt({now, certificate, before, wasLive}: Attempted): number {
  const {attemptAt, createdAt = timestamp(now), issuingSince, unready} = certificate;
  // An attempt from before the certificate was lost has ended.
  const lostAt = wasLive ? Date.parse(unready?.since ?? createdAt) : -Infinity;
  if (attemptAt !== undefined) return Math.max(Date.parse(attemptAt), lostAt);
  const said = before?.reason === 'Issuing' ? before.since : undefined;
  return Math.max(lostAt, ...[createdAt, issuingSince ?? [], said ?? []].flat().map((at) => Date.parse(at)));
}

/** The step after an order that has not led to a certificate yet. */
export function afterOrder(w: Attempted): IssuanceStep {
  const {now, certificate} = w;
  const began = begunAt(w);
  const stalled = now - began >= w.policy.issuanceStalledAfterMs;
  const failed = certificate.failure !== undefined && !certificate.issuing;
  // Read once for each attempt, if a failure or delay needs an explanation.
  const read = (failed || stalled) && certificate.request !== undefined;
  return {...attempted(w, {began, stalled, failed, unread: read && !w.diagnosis}), ...(read && {read})};
}

/** The step if more was ordered than was granted. */
const overdrew = (w: IssuanceWorld, spent: SpentBudget): IssuanceStep => ({
  ...exhausted(w, spent),
  waitingFor: 'Platform',
  details: {endTime: wholeMinute(spent.until)},
  message:
    `The certificate of ${w.hostname} was ordered more often than its budget allows${atMost(spent.limit)}, ` +
    `so Doorplate deleted its Certificate. Doorplate tries again after ${moment(spent.until)}. ` +
    'The platform must find the program that deletes its CertificateRequests or the Secrets of its keys.',
});

type Attempted = IssuanceWorld & {certificate: CertificateFacts};

/** The step while the result of an attempt is not known. It answers no request for a fresh attempt. */
function notYetRead({hostname, before, asked}: Attempted, orderRequest: 'UnderWay' | 'Ordered'): IssuanceStep {
  const isSame = before?.reason === 'IssuanceStalled' || before?.reason === 'Issuing';
  const said = isSame
    ? {reason: before.reason as ReasonName, ...sameWords(before)}
    : {reason: 'Issuing' as const, message: `${hostname} is verified; its certificate is being issued.`};
  return {...said, orderRequest, ...(asked && {unanswered: true})};
}

function attempted(
  w: Attempted,
  {began, stalled, failed, unread}: {began: number; stalled: boolean; failed: boolean; unread: boolean},
): IssuanceStep {
  const {now, hostname, certificate, checked, before, policy} = w;
  const {caa} = checked;
  const overdrawn = overdrawnBy(w.orders, policy.budgets, now);
  // Without an earlier certificate, the removal of the Certificate loses nothing and avoids a useless request to the CA.
  const gives: {withhold?: true} =
    (failed || overdrawn !== undefined) && certificate.notAfter === undefined && !w.wasLive ? {withhold: true} : {};
  const orderRequest: OrderRequest['state'] = certificate.request ? 'UnderWay' : 'Ordered';

  const blocked = {reason: 'CAABlocksIssuer' as const, ...(gives.withhold ? gives : {orderRequest})};
  if (caa?.kind === 'Blocked') return {...blocked, message: caa.message, details: caa.details, waitingFor: caa.by};
  if (before?.reason === 'CAABlocksIssuer' && !checked.proven) return {...blocked, ...sameWords(before)};

  const spent = spentBy(w.orders, policy.budgets, w);
  if (overdrawn && gives.withhold) return {...overdrew(w, overdrawn), ...gives};

  const says = certificate.failure ?? (stalled ? certificate.waiting : undefined);
  if (unread) return notYetRead(w, orderRequest);
  if (spent && gives.withhold) return {...exhausted(w, spent), ...gives};
  // cert-manager would wait for an hour. The order queue knows when the CA takes the next order.
  const refused = w.orders.some((o) => o.at === certificate.attemptAt && o.cause !== undefined);
  if (refused && gives.withhold) return {...(inLine(w) ?? orderSoon(w)), ...gives};

  // A lost certificate that cert-manager does not replace.
  const idle = w.wasLive && !certificate.ready && !certificate.issuing;
  // Re-verify: the hostname was just checked again, is still verified, and no CAA record forbids it.
  const again = w.asked && checked.proven && caa?.kind !== 'Unknown' && (stalled || failed || idle);
  if (again && !spent) {
    const waits = inLine(w);
    return waits
      ? {...waits, unanswered: true}
      : {
          reason: 'Issuing',
          message: `${hostname} is verified; a fresh attempt to issue its certificate has started.`,
          again: true,
          orderRequest,
        };
  }

  return unfinished(w, {began, stalled, failed, says, spent});
}

/** The step for an attempt without a certificate, with the available explanation. */
function unfinished(
  w: Attempted,
  {
    began,
    stalled,
    failed,
    says,
    spent,
  }: {began: number; stalled: boolean; failed: boolean; says?: string; spent?: SpentBudget},
): IssuanceStep {
  const {hostname, certificate, checked, before, diagnosis, policy} = w;
  const orderRequest = certificate.request ? 'UnderWay' : 'Ordered';
  const cause = culprit(says, diagnosis);
  const said = quotes(says, diagnosis);
  const [what, words] = [cause ? ` ${cause.what}` : '', said ? ` ${said}` : ''];
  const more = spent
    ? ` A fresh attempt is possible from ${moment(spent.until)}${spent.limit ? ` (${spent.of}: at most ${most(spent.limit)})` : ''}.`
    : ` ${askAgain(cause)}`;
  if (stalled) {
    // After a restart, status still has the result of the last check. Keeping it avoids flapping.
    if (before?.reason === 'IssuanceStalled' && !checked.proven && checked.verifies)
      return {reason: 'IssuanceStalled', ...sameWords(before), orderRequest};
    return {
      reason: 'IssuanceStalled',
      orderRequest,
      ...(cause && {waitingFor: cause.by, details: cause.details}),
      message:
        `${hostname} is verified, but its certificate was ordered ${span(policy.issuanceStalledAfterMs)} ` +
        `ago and has not been issued. ${whatWasChecked(checked)}${what}${more}${words}`,
    };
  }
  const wakeAt = began + policy.issuanceStalledAfterMs;
  if (!failed) {
    const why =
      certificate.failure === undefined
        ? ''
        : ` The last attempt failed: ${quote(certificate.failure).replace(/\.?$/, '.')}`;
    return {
      reason: 'Issuing',
      orderRequest,
      wakeAt,
      message: `${hostname} is verified; its certificate is being issued, usually within a couple of minutes.${why}`,
    };
  }
  return {
    reason: 'Issuing',
    orderRequest,
    wakeAt,
    ...(cause && {waitingFor: cause.by}),
    details: cause?.details ?? {cause: 'Failed'},
    message:
      `${hostname} is verified; the last attempt to issue its certificate failed. cert-manager tries ` +
      `again later.${what}${more}${words}`,
  };
}

/** A failed attempt in the form in which it is remembered: with the message that shows its cause. */
export function failureOf({failure, attemptAt, endedAt}: CertificateFacts, diagnosis: Diagnosis): Order | undefined {
  if (failure === undefined || attemptAt === undefined) return undefined;
  return {
    at: attemptAt,
    outcome: 'Failed',
    ...(endedAt !== undefined && {endedAt}),
    message: quote(diagnosis.said.find((s) => s.reason !== '')?.reason ?? failure, 256),
  };
}
