/** A requested reissue of one hostname's certificate (certificates/reissue.ts). */
import type {IssuanceWorld} from '../certificates/issuance.ts';
import {beforeOrder} from '../certificates/issuance.ts';
import {
  clockSkewMs,
  isBegun,
  isReissued,
  reissueRequestOf,
  sayDelayed,
  sayFailed,
  sayOnItsWay,
  sayPlanned,
  sayUnreadable,
} from '../certificates/reissue.ts';
import {seenOnEdge} from '../routes/edge.ts';
import {timestamp} from '../times.ts';
import {asksOf, attemptAgain, caaGate, orderRequestOf} from './ordering.ts';
import type {Outcome} from './outcome.ts';
import type {Owned, PlannedHost, Reissue} from './stages.ts';

/** The requested reissue of a hostname whose certificate is valid; undefined if none is requested, or it must wait for something else. */
export function reissueOf(host: Owned, issuance: IssuanceWorld): Reissue | undefined {
  const {world, facts, drifted, upheld} = host;
  const {certificate, verdict} = facts;
  const request = reissueRequestOf(world.domain);
  if (!request || !certificate?.ready || certificate.resting) return undefined;
  const {at} = request;
  if (at === undefined) return {said: sayUnreadable, readsCaa: false};
  if (isReissued(at, certificate)) return undefined;
  if (isBegun(at, certificate)) {
    const {failure, issuing, request: newest} = certificate;
    const said = failure !== undefined && !issuing ? sayFailed(failure) : sayOnItsWay;
    // The grant counts until cert-manager has created the request.
    const isRequested = newest !== undefined && isBegun(at, {...certificate, issuing: false});
    return {said, readsCaa: false, ...(!isRequested && {step: {orderRequest: 'Ordered'}})};
  }
  const begins = at + clockSkewMs;
  if (world.now < begins) return {said: sayPlanned(at, world.now), step: {wakeAt: begins}, readsCaa: false};
  // Rule 1: no order while DNS does not verify the hostname.
  if (drifted || (verdict?.kind === 'Refuted' && !upheld)) return undefined;
  const forbidden = caaGate(host);
  const step = forbidden ?? beforeOrder(issuance);
  const unread = verdict === undefined || (upheld !== undefined && upheld.caa === undefined);
  if (!step) return {said: sayOnItsWay, begins: true, readsCaa: false};
  const said = step.reason === 'Issuing' ? sayOnItsWay : sayDelayed(step.message);
  return {said, step, readsCaa: forbidden !== undefined && unread};
}

/** Requests the order, and begins the attempt when it is granted. The present certificate is served meanwhile. */
export function reissue(host: PlannedHost): Outcome | undefined {
  const {world, facts, reissue: planned, onHold, routing} = host;
  const {certificate} = facts;
  const {at} = reissueRequestOf(world.domain) ?? {at: Infinity};
  if (!certificate || onHold) return undefined;
  if (!planned) return isDone(host, at) ? undefined : {reissuing: true};
  const {step, begins} = planned;
  if (!begins) {
    const {orderRequest, wakeAt} = step ?? {};
    const ordered = orderRequest === 'Ordered' && {
      orderRequest: orderRequestOf(host, 'Ordered', timestamp(world.now)),
    };
    return {
      ...asksOf({...(orderRequest && {orderRequest}), ...(wakeAt !== undefined && {wakeAt})}, host),
      ...ordered,
      reissuing: true,
    };
  }
  const {failure, request, ...known} = certificate;
  // The present certificate is known by its request, so only a failed request is deleted.
  const freshAttempt = attemptAgain(routing.certificates, {
    ...known,
    ...(failure !== undefined && request && {request}),
  });
  return {
    orderRequest: orderRequestOf(host, 'Ordered', timestamp(world.now)),
    ...(freshAttempt && {freshAttempt}),
    reissuing: true,
  };
}

/** Whether the hostname uses a certificate that was ordered since the request, and the edge presents it if the hostname is Live. */
function isDone({hostname, facts, wasLive}: PlannedHost, requestedAt: number | undefined): boolean {
  const {certificate, edge, edgeLookedAt = 0, edgeIncomplete} = facts;
  if (requestedAt === undefined || !certificate) return false;
  if (requestedAt === Infinity) return true;
  if (!certificate.ready || !isReissued(requestedAt, certificate)) return false;
  const isNewer = edgeLookedAt >= Date.parse(certificate.issuedAt ?? certificate.createdAt ?? '1970-01-01');
  return !wasLive || (isNewer && !edgeIncomplete && seenOnEdge(hostname, certificate, edge).kind === 'Seen');
}
