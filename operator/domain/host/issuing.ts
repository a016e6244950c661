/** From the order to the certificate, and its renewals. */
import type {CertificateFacts} from '../certificates/certificate.ts';
import {none} from '../routes/hand-over.ts';
import {asksOf, orderRequestOf} from './ordering.ts';
import type {Asks, Outcome} from './outcome.ts';
import {say, sayAgain} from './outcome.ts';
import {phaseOf} from './routing.ts';
import type {PlannedHost} from './stages.ts';
import {stalledAt} from './finish.ts';
import type {Party} from '../../api/custom-domain.ts';
import {reasons} from '../reasons/reasons.ts';
import {quote} from '../text.ts';
import type {IssuanceStep} from '../certificates/issuance.ts';
import {afterOrder} from '../certificates/issuance.ts';
import {expiryOf} from '../certificates/renewal.ts';
import {sameWords} from '../status/details.ts';
import {type WriteError, writeErrorRetryMs, tell} from '../status/write-error.ts';
import {timestamp} from '../times.ts';

/** A refused hostname that was never Live keeps its objects and gets no new ones. */
export function keepOnHold({onHold, refusal, facts}: PlannedHost): Outcome | undefined {
  if (!onHold || !refusal) return undefined;
  const has = facts.certificate && !facts.certificate.resting;
  return {...(!has && {routing: none}), ...say('Verified', refusal)};
}

/** Reports that a write of the hostname's objects failed. A requested fresh attempt that is due is answered when it has begun. */
export function reportWriteError(host: PlannedHost): Outcome | undefined {
  const {world, facts} = host;
  const {now} = world;
  const {writeError, certificate} = facts;
  if (!writeError) return undefined;
  return {
    wakeAt: [now + writeErrorRetryMs],
    ...(!certificate && {orderRequest: orderRequestOf(host, 'Wanted', timestamp(now))}),
    ...attemptDespite(host),
    ...say(servedDespite(writeError, host) ? 'Live' : phaseOf(host), tell(writeError)),
  };
}

/**
 * During a write error, no attempt begins. The request for an attempt that is due stays unanswered, and cert-manager's messages about the
 * last attempt stay known, so that the next decision without a write error begins it.
 */
function attemptDespite(host: PlannedHost): Pick<Asks, 'looks' | 'unanswered'> {
  const {certificate} = host.facts;
  const missing = certificate && !certificate.ready ? afterOrder(missingOf(host, certificate)) : undefined;
  const asks = [renewalOf(host).step, missing].flatMap((step) => (step ? asksOf(step, host) : []));
  return {
    looks: asks.flatMap(({looks = []}) => looks),
    ...(asks.some(({freshAttempt, unanswered}) => freshAttempt || unanswered) && {unanswered: true}),
  };
}

/**
 * Whether a Live hostname is served as before despite a write error. A refused route can stay wrong forever. A
 * failed write changes nothing, and the next one may succeed.
 */
const servedDespite = ({kind}: WriteError, host: PlannedHost): boolean =>
  host.wasLive &&
  host.facts.certificate !== undefined &&
  (kind === 'WriteFailed' || host.routing.routed) &&
  renewalOf(host).step?.reason !== 'CertificateExpired';

/** The report about the renewal of a certificate. `next`: time of the next report. */
export const renewalOf = ({issuance, facts: {certificate}}: PlannedHost) =>
  certificate ? expiryOf({...issuance, certificate}) : {};

/** A renewal that is late is looked into; a certificate that has expired is of no use. */
export function watchRenewal(host: PlannedHost): Outcome {
  const {world} = host;
  const {now, policy} = world;
  const {step, next} = renewalOf(host);
  const asks = step ? asksOf(step, host) : {};
  // A later time is covered by the next DNS check.
  const wakeAt = next !== undefined && next - now < policy.recheckIntervalMs ? [next] : [];
  return {
    ...asks,
    wakeAt: [...wakeAt, ...(asks.wakeAt ?? [])],
    ...(step?.reason === 'CertificateExpired' && say(phaseOf(host), step)),
  };
}

/** cert-manager's reasons for a Certificate that does not match its spec any more, while its leaf may still be served. */
const changingSpec: ReadonlySet<string> = new Set(['IncorrectIssuer', 'SecretMismatch', 'RequestChanged']);

/** A Live hostname whose certificate is missing or not valid. cert-manager orders another one by itself. */
export function reportLostCertificate(host: PlannedHost): Outcome | undefined {
  const {hostname, wasLive, servesStill, facts, issuance, edge, before} = host;
  const {certificate} = facts;
  if (!certificate || certificate.ready || !wasLive || servesStill) return undefined;
  const {reason = '', message = ''} = certificate.unready ?? {};
  // Only the issuer or the spec changes.
  if (changingSpec.has(reason) && !edge?.fault) return undefined;
  const step = afterOrder({...issuance, certificate});
  const isOnItsWay = step.reason === 'Issuing' && certificate.failure === undefined;
  // The report stays until cert-manager's messages and the DNS are read again, CAA records among them.
  const {diagnosis, checked} = issuance;
  const isUnread =
    (step.read && !diagnosis) ||
    (step.reason === 'IssuanceStalled' && !checked.proven) ||
    (step.reason === 'Issuing' && (facts.verdict?.kind ?? 'Unknown') === 'Unknown');
  const cause = message === '' ? '' : ` cert-manager reports: ${quote(message).replace(/\.?$/, '.')}`;
  const asks = asksOf(step, host);
  return {
    ...asks,
    wakeAt: [...(asks.wakeAt ?? []), stalledAt('CertificateLost', host)],
    ...(isOnItsWay && {passing: true}),
    ...(before?.reason === 'CertificateLost' && isUnread
      ? say('Live', {reason: 'CertificateLost', ...sameWords(before)})
      : say('Live', {
          reason: 'CertificateLost',
          message: `The certificate of ${hostname} is missing or not valid.${cause} ${step.message}`,
          details: step.details,
          waitingFor: step.waitingFor ?? (reasons[step.reason].waitingFor as Party),
        })),
  };
}

/** A former primary that still serves was Live with its former certificate. The certificate of its redirect is missing. */
const missingOf = ({issuance, wasLive, servesStill}: PlannedHost, certificate: CertificateFacts) => ({
  ...issuance,
  wasLive: wasLive && !servesStill,
  certificate,
});

/** Passes if the hostname has a certificate, or was Live with one. */
export function awaitCertificate(host: PlannedHost): Outcome | undefined {
  const {world, hostname, facts, changing, former, servesStill} = host;
  const {now, policy} = world;
  const {certificate} = facts;
  if (certificate && (certificate.ready || (host.wasLive && !servesStill))) return undefined;
  const step: IssuanceStep = certificate
    ? afterOrder(missingOf(host, certificate))
    : {
        // Its Certificate has just been written.
        reason: 'Issuing',
        message: `${hostname} is verified; its certificate is being issued, usually within a couple of minutes.`,
        orderRequest: 'Wanted',
        wakeAt: now + policy.issuanceStalledAfterMs,
      };
  return {
    ...asksOf(step, host),
    ...(step.withhold && {routing: changing ? {...former, routed: false} : none}),
    ...(servesStill ? sayHeldUp(host, step) : say('Verified', step)),
  };
}

/** For a hostname that still serves: reports the obstacle to its next certificate once it is known. */
function sayHeldUp({before, facts, issuance}: PlannedHost, step: IssuanceStep): Pick<Outcome, 'answer'> {
  if (before && step.read && !issuance.diagnosis) return sayAgain(before);
  const isOnItsWay = step.reason === 'Issuing' && facts.certificate?.failure === undefined;
  return isOnItsWay ? {} : say('Live', step);
}
