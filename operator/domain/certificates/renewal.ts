/** Whether a certificate is renewed in time. cert-manager renews; Doorplate reports a renewal that is late. */
import type {CertificateFacts} from './certificate.ts';
import {culprit, quotes} from './diagnosis.ts';
import {askAgain, beforeOrder, type IssuanceStep, type IssuanceWorld} from './issuance.ts';
import {moment} from '../times.ts';

/** A renewal is late after this share of the time between the planned renewal and the certificate's end. */
const lateness = 0.25;

/**
 * After a failed renewal, cert-manager waits for 1, 2, 4 ... 32 hours. That may be longer than a certificate of six days lives. So a fresh
 * attempt begins at the latest when this share of what was left at the failure has passed. Each failure halves what is left.
 */
const patience = 0.5;

/** When a failed renewal is attempted again, ms since the epoch; Infinity: it has not failed, or an attempt is under way. */
function retryAt({failure, issuing, endedAt}: CertificateFacts, end: number): number {
  if (failure === undefined || issuing || endedAt === undefined) return Infinity;
  const failedAt = Date.parse(endedAt);
  return failedAt + (end - failedAt) * patience;
}

/**
 * Whether a certificate should have been renewed by now (cert-manager: status.renewalTime, by percentage of the lifetime), and the step
 * to report then. `next`: time of the next change of this result, ms since the epoch. cert-manager's own renewals are never held back.
 */
export function expiryOf(w: IssuanceWorld & {certificate: CertificateFacts}): {step?: IssuanceStep; next?: number} {
  const {now, hostname, certificate, diagnosis, checked} = w;
  if (certificate.notAfter === undefined) return {};
  const end = Date.parse(certificate.notAfter);
  const due = Math.min(end, Date.parse(certificate.renewalTime ?? certificate.notAfter));
  const late = due + lateness * (end - due);
  if (now < late) return {next: late};

  const says = certificate.failure ?? certificate.waiting;
  const cause = culprit(says, diagnosis);
  const words = quotes(says, diagnosis);
  const expired = now >= end;
  const retry = retryAt(certificate, end);
  const isDue = w.asked || (now >= retry && !expired);
  const again = isDue && checked.proven && (checked.caa?.kind ?? 'Allowed') === 'Allowed' && says !== undefined;
  const held = again ? beforeOrder(w) : undefined;
  const absent = says === undefined ? ' cert-manager is not working on it: check that it runs.' : '';
  const message = expired
    ? `The certificate of ${hostname} expired on ${moment(end)}: browsers refuse it.`
    : `${hostname} is served, but its certificate was due for renewal on ${moment(due)}, has not been renewed, and ` +
      `expires on ${moment(end)}.`;
  return {
    ...(!expired && {next: now < retry ? Math.min(retry, end) : end}),
    step: {
      reason: expired ? 'CertificateExpired' : 'RenewalOverdue',
      ...(cause && {waitingFor: cause.by, details: cause.details}),
      message:
        `${message}${absent}${cause ? ` ${cause.what}` : ''} ` +
        `${held?.reason === 'IssuanceBudgetExhausted' ? held.message : askAgain(cause)}${words && ` ${words}`}`,
      ...(certificate.request && says !== undefined && {read: true}),
      ...(again && !held && {again: true}),
      ...(held?.orderRequest && {
        orderRequest: held.orderRequest,
        ...(w.asked && {unanswered: true}),
        wakeAt: held.wakeAt,
      }),
    },
  };
}
