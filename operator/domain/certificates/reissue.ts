/**
 * Reissue: a new certificate with a new private key, requested by an annotation of the CustomDomain.
 *
 *   requested --> CAA records, budgets, queue --> Certificate marked --> issued --> seen on the edge: status.lastHandledReissueAt
 *       |                                              (once)
 *       +---- the present certificate is served until cert-manager replaces its Secret ----+
 *
 * cert-manager creates a new key for each order (privateKey.rotationPolicy Always). A certificate answers the request if its order began
 * at the requested time or later, so one request causes one attempt, whoever began it. The times are compared, and nothing is remembered:
 * a retained certificate that returns is replaced in the same way.
 */
import {reissueAnnotation} from '../../api/custom-domain.ts';
import type {CustomDomain} from '../../api/foreign.ts';
import {isTime} from '../../api/rules.ts';
import {quote} from '../text.ts';
import {moment} from '../times.ts';
import type {CertificateFacts} from './certificate.ts';

/** An attempt begins this long after the requested time, ms: the API server's clock, which dates the order, may be behind. */
export const clockSkewMs = 5_000;

/** Requests that are nearer than this are reported like those that have begun, ms. */
const soonMs = 60_000;

/** A requested reissue: its time in whole seconds, rounded up, ms since the epoch; undefined if the annotation's value is not a time. */
export interface ReissueRequest {
  at: number | undefined;
}

/** The requested reissue of a CustomDomain, if there is one. */
export function reissueRequestOf({metadata}: Pick<CustomDomain, 'metadata'>): ReissueRequest | undefined {
  const value = metadata.annotations?.[reissueAnnotation];
  if (value === undefined) return undefined;
  const at = isTime(value) ? Date.parse(value) : NaN;
  return {at: Number.isNaN(at) ? undefined : Math.ceil(at / 1000) * 1000};
}

/** Whether the order of something began at the requested time or later. Without a known time it counts as begun. */
const isSince = (requestedAt: number, begun: string | undefined): boolean =>
  begun === undefined || Date.parse(begun) >= requestedAt;

/** Whether the present certificate was ordered since the request. If its request is deleted, the Certificate's creation counts. */
export const isReissued = (requestedAt: number, {orderedAt, createdAt}: CertificateFacts): boolean =>
  isSince(requestedAt, orderedAt ?? createdAt);

/** Whether an attempt has begun since the request, or cert-manager is about to begin one. */
export const isBegun = (requestedAt: number, {issuing, attemptAt, createdAt}: CertificateFacts): boolean =>
  issuing || isSince(requestedAt, attemptAt ?? createdAt);

const requested = 'A new certificate with a new key was requested';

export const sayUnreadable =
  `The annotation ${reissueAnnotation} must be a time in RFC 3339 format, such as 2026-03-01T12:00:00Z. ` +
  'No new certificate is ordered.';

/** `requestedAt` and `now`: ms since the epoch. */
export const sayPlanned = (requestedAt: number, now: number): string =>
  requestedAt - now < soonMs
    ? sayOnItsWay
    : `${requested} for ${moment(requestedAt)}. Doorplate does not order it earlier.`;

export const sayOnItsWay = `${requested} and is on its way. The current certificate is served until then.`;

/** `obstacle`: the message of the step that delays the order. */
export const sayDelayed = (obstacle: string): string => `${requested}. ${obstacle}`;

export const sayFailed = (failure: string): string =>
  `${requested}. The last attempt failed. cert-manager tries again later. ${quote(failure).replace(/\.?$/, '.')}`;
