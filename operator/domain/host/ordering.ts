/** What stands before an order: CAA records, budgets, the line, and the DNS that is read meanwhile. */

import {checksCaa, issuerOf} from '../certificates/choose-issuer.ts';
import type {Certificate} from '../../api/foreign.ts';
import type {CertificateFacts} from '../certificates/certificate.ts';
import {isSameIssuer} from '../certificates/certificate.ts';
import {none} from '../routes/hand-over.ts';
import type {Asks, Outcome} from './outcome.ts';
import {say} from './outcome.ts';
import {objectsOf, phaseOf} from './routing.ts';
import type {Move, Owned, PlannedHost} from './stages.ts';
import {objectNameOf} from '../hostnames/hostname.ts';
import type {IssuanceStep, IssuanceWorld, OrderRequest} from '../certificates/issuance.ts';
import {attemptOf, beforeOrder} from '../certificates/issuance.ts';
import type {ReasonName} from '../reasons/reasons.ts';
import {reasonOf} from '../reasons/reasons.ts';
import {homeOf, useOf} from '../routes/routes.ts';
import {nextReading, nextRecheck, nextWaitingCheck, soonest} from '../schedule.ts';
import {timestamp} from '../times.ts';
import type {FreshAttempt, Look} from '../world.ts';

/** The obstacle to an order of a verified hostname, and the time of the next DNS check, ms since the epoch. */
type OrderGate = IssuanceStep & {nextLook: number};

const about = (reason: string) => reasonOf(reason)?.about;

/**
 * CAA records that forbid the order, could not be read, or are not read yet. For hostnames that the platform verified, the CA checks CAA
 * alone.
 */
export function caaGate({
  world: {now, policy},
  hostname,
  facts,
  before,
  ownership,
  upheld,
}: Owned): OrderGate | undefined {
  const {checkedAt} = facts;
  const caa = upheld?.caa;
  if (ownership.byPlatform || issuerOf(policy, facts).caaIdentities.length === 0 || caa?.kind === 'Allowed')
    return undefined;
  const said = before?.phase === 'Verified' ? about(before.reason) : undefined;
  const held = said === 'Caa' || (caa === undefined && said === 'Budget') ? before : undefined;
  // A verification without CAA records comes from a check while the Certificate existed.
  const nextLook =
    upheld && caa === undefined
      ? now
      : (nextWaitingCheck(policy, held ? Date.parse(held.since) : now, checkedAt, now) ??
        (checkedAt ?? now) + policy.recheckIntervalMs);
  if (caa?.kind === 'Blocked')
    return {reason: 'CAABlocksIssuer', message: caa.message, details: caa.details, waitingFor: caa.by, nextLook};
  if (caa) return {reason: 'CAALookupFailed', message: caa.message, details: caa.details, nextLook};
  // Not read by this process, or DNS could not be asked: what status said stands until they are, a place in line too.
  if (held) {
    const {reason, message, details, waitingFor} = held;
    const isQueued = details?.queuedAt !== undefined || reason === 'IssuanceQueued';
    const orderRequest = isQueued ? ({orderRequest: 'Wanted'} as const) : {};
    return {reason: reason as ReasonName, message, details, waitingFor, nextLook, ...orderRequest};
  }
  const message = `${hostname} is verified; its CAA records are read before its certificate is ordered.`;
  return {reason: 'Issuing', message, nextLook};
}

/** The budgets, and the queue for them. */
function orderGate(
  {world: {now, policy}, facts: {checkedAt = now}}: Owned,
  issuance: IssuanceWorld,
): OrderGate | undefined {
  const step = beforeOrder(issuance);
  if (!step) return undefined;
  const since = step.reason === issuance.before?.reason ? Date.parse(issuance.before.since) : now;
  return {...step, nextLook: nextWaitingCheck(policy, since, checkedAt, now) ?? checkedAt + policy.recheckIntervalMs};
}

/**
 * Another issuer means another order, with CAA checks and budgets, so hostnames move to it one after the other. Undefined: there is nothing
 * to move, or this hostname may move now.
 */
export function moveOf(host: Owned, issuance: IssuanceWorld, onHold: boolean): Move | undefined {
  const {world, facts, upheld} = host;
  const {verdict, certificate} = facts;
  const from = certificate?.issuerRef;
  if (from === undefined) return undefined;
  if (onHold) return {from, readsCaa: false};
  if (isSameIssuer(from, issuerOf(world.policy, facts).issuerRef)) return undefined;
  const forbidden = caaGate(host);
  const step = forbidden ?? beforeOrder(issuance);
  // The next regular check reads them where DNS could not be asked, or says something else.
  const unread = verdict === undefined || (upheld !== undefined && upheld.caa === undefined);
  return step && {from, step, readsCaa: forbidden !== undefined && unread};
}

/** A look at the DNS that proves it: at this time, or sooner where its proof is in doubt, or somebody asks. */
function lookAgain(host: Owned, at: number, caa: boolean): Look {
  const {world, hostname, facts, question, drifted, ownership} = host;
  const {now, policy} = world;
  const {checkedAt} = facts;
  const {claim, drift} = ownership;
  const doubted = drifted
    ? nextWaitingCheck(policy, Date.parse(claim?.status?.negativeSince ?? timestamp(now)), checkedAt, now)
    : drift?.nextLook;
  const next = soonest(Math.min(at, doubted ?? Infinity), host.asked, checkedAt, now);
  return {hostname, what: 'dns', question, at: next, owned: true, ...(caa && {caa})};
}

/** No Certificate before CAA records allow it and the budgets have room. */
export function holdOrderBack(host: PlannedHost): Outcome | undefined {
  const {facts, onHold, changing, former, liveAt, issuance} = host;
  const gate = facts.certificate || onHold ? undefined : (caaGate(host) ?? orderGate(host, issuance));
  if (!gate) return undefined;
  const routing = changing
    ? {...former, routed: false}
    : // What has been served goes on: its Certificate is gone, the Secret may still stand.
      liveAt !== undefined && !facts.occupied
      ? {...objectsOf(host), certificates: []}
      : none;
  return {
    ...asksOf(gate, host),
    looks: [lookAgain(host, gate.nextLook, true)],
    routing,
    ...say(phaseOf(host), gate),
  };
}

/**
 * The regular check of what proves it; with its CAA records where an order may follow. A certificate that is due for renewal, or is not of
 * the preferred issuer, may have to move.
 */
export function recheckDns(host: PlannedHost): Outcome {
  const {world, hostname, facts, move, reissue, onHold} = host;
  const {certificate, checkedAt} = facts;
  const {now, policy} = world;
  const another = move ?? reissue;
  const regular = nextRecheck(world, hostname, checkedAt);
  const mayMove =
    policy.issuers.length > 1 &&
    (certificate?.issuerRef?.name !== policy.issuers[0].issuerRef.name ||
      now >= Date.parse(certificate?.renewalTime ?? ''));
  const caa = checksCaa(policy) && !onHold && (another !== undefined || !certificate?.ready || mayMove);
  return {looks: [lookAgain(host, another?.readsCaa || facts.readsCaa ? now : regular, caa)]};
}

/** It moves to another issuer, when its turn has come. */
export function moveToIssuer(host: PlannedHost): Outcome | undefined {
  const {world, move, facts} = host;
  const {certificate} = facts;
  if (move?.step) return asksOf(move.step, host);
  const {askedOf, issuerRef} = certificate ?? {};
  // The hostname has moved, and cert-manager has not ordered yet: the grant counts until it does.
  return askedOf && issuerRef && !isSameIssuer(askedOf, issuerRef)
    ? {orderRequest: orderRequestOf(host, 'Ordered', timestamp(world.now))}
    : undefined;
}

/** Its Certificate stands, and cert-manager has not asked yet: what was granted counts until it does, whatever is said of it. */
export function countOrder(host: PlannedHost): Outcome | undefined {
  const {world, facts} = host;
  const {certificate} = facts;
  if (!certificate || certificate.ready || certificate.request) return undefined;
  return {orderRequest: orderRequestOf(host, 'Ordered', certificate.createdAt ?? timestamp(world.now))};
}

export function orderRequestOf(host: PlannedHost, state: OrderRequest['state'], since: string): OrderRequest {
  const {world, hostname, role, move, facts} = host;
  const {domain, policy} = world;
  const {uid = '', namespace: tenants = ''} = domain.metadata;
  const use = useOf(role);
  const name = facts.certificateNames?.[use] ?? objectNameOf(uid, hostname);
  const certificate = `${homeOf(use, tenants, policy.redirector)}/${name}`;
  const {name: issuer} = issuerOf(policy, facts).issuerRef;
  return {hostname, certificate, issuer, state: move?.step?.orderRequest ?? state, since: Date.parse(since)};
}

/** The order request, reads and checks that an issuance step asks for. */
export function asksOf(step: Omit<IssuanceStep, 'reason' | 'message'>, host: PlannedHost): Asks {
  const {world, hostname, facts, before, move, reissue} = host;
  const {certificate, diagnosis} = facts;
  const {wakeAt, orderRequest, unanswered, read, again} = step;
  const queuedAt = before?.details?.queuedAt ?? (before?.reason === 'IssuanceQueued' ? before.since : undefined);
  // Hostnames that move to another issuer, or replace their certificate, come after all hostnames without a certificate. Among them, the
  // certificate that ends first comes first.
  const arrival = move || reissue ? certificate?.notAfter : queuedAt;
  const since = (orderRequest === 'Ordered' ? certificate?.createdAt : arrival) ?? timestamp(world.now);
  const freshAttempt = again && certificate && attemptAgain(host.routing.certificates, certificate);
  const request = read && certificate?.request;
  return {
    ...(wakeAt !== undefined && {wakeAt: [wakeAt]}),
    ...(orderRequest && {orderRequest: orderRequestOf(host, orderRequest, since)}),
    ...(unanswered && {unanswered}),
    ...(request && {
      looks: [
        {
          hostname,
          what: 'issuance',
          at: diagnosis ? readAgainAt(certificate, facts.diagnosedAt ?? world.now) : world.now,
          attempt: {id: attemptOf(certificate), namespace: request.namespace, request: request.uid},
        },
      ],
    }),
    ...(freshAttempt && {freshAttempt}),
  };
}

/** No new messages are expected of an attempt that has ended. */
const readAgainAt = ({failure, issuing, attemptAt, createdAt}: CertificateFacts, lastRead: number): number =>
  failure !== undefined && !issuing
    ? Infinity
    : nextReading(Date.parse(attemptAt ?? createdAt ?? timestamp(lastRead)), lastRead);

/** Its newest request goes; where cert-manager is not at it any more, the Certificate is marked. */
export function attemptAgain(
  [made]: readonly Certificate[],
  {request, issuing}: CertificateFacts,
): FreshAttempt | undefined {
  if (!made) return undefined;
  const {namespace = '', name} = made.metadata;
  return {certificate: {namespace, name}, ...(request && {request}), mark: !issuing};
}
