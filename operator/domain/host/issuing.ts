/** From the order to the certificate, and its renewals. */
import {none} from '../hand-over.ts';
import {asksOf, wishOf} from './ordering.ts';
import type {Outcome} from './outcome.ts';
import {say, sayAgain} from './outcome.ts';
import {phaseOf} from './routing.ts';
import type {PlannedHost} from './stages.ts';
import type {IssuanceStep} from '../issuance.ts';
import {afterOrder, expiryOf} from '../issuance.ts';
import {obstacleRetryMs, tell} from '../obstacle.ts';
import {timestamp} from '../times.ts';

/** What has never been Live and is not acceptable keeps what it has, and gets nothing new. */
export function keepOnHold({onHold, refusal, facts}: PlannedHost): Outcome | undefined {
  if (!onHold || !refusal) return undefined;
  const has = facts.certificate && !facts.certificate.resting;
  return {...(!has && {routing: none}), ...say('Verified', refusal)};
}

/** Its objects could not be written. */
export function tellObstacle(host: PlannedHost): Outcome | undefined {
  const {world, facts} = host;
  const {now} = world;
  const {obstacle, certificate} = facts;
  if (!obstacle) return undefined;
  return {
    wakeAt: [now + obstacleRetryMs],
    ...(!certificate && {wish: wishOf(host, 'Wanted', timestamp(now))}),
    ...say(phaseOf(host), tell(obstacle)),
  };
}

/** What is said of the renewal of a certificate; `next`: when there is more to say. */
export const renewalOf = ({issuance, facts: {certificate}}: PlannedHost) =>
  certificate ? expiryOf({...issuance, certificate}) : {};

/** A renewal that is late is looked into; a certificate that has expired is of no use. */
export function watchRenewal(host: PlannedHost): Outcome {
  const {world} = host;
  const {now, policy} = world;
  const {step, next} = renewalOf(host);
  const asks = step ? asksOf(step, host) : {};
  // What is farther away is met by the next check of its DNS.
  const wakeAt = next !== undefined && next - now < policy.recheckIntervalMs ? [next] : [];
  return {
    ...asks,
    wakeAt: [...wakeAt, ...(asks.wakeAt ?? [])],
    ...(step?.reason === 'CertificateExpired' && say(phaseOf(host), step)),
  };
}

/** A certificate is there, or it was Live with one. */
export function awaitCertificate(host: PlannedHost): Outcome | undefined {
  const {world, hostname, facts, issuance, changing, former, servesStill} = host;
  const {now, policy} = world;
  const {certificate} = facts;
  // What serves still was Live with another certificate than this.
  const wasLive = host.wasLive && !servesStill;
  if (certificate && (certificate.ready || wasLive)) return undefined;
  const step: IssuanceStep = certificate
    ? afterOrder({...issuance, wasLive, certificate})
    : {
        // Its Certificate has just been written.
        reason: 'Issuing',
        message: `${hostname} is verified; its certificate is being issued, usually within a couple of minutes.`,
        wish: 'Wanted',
        wakeAt: now + policy.issuanceStalledAfterMs,
      };
  return {
    ...asksOf(step, host),
    ...(step.withhold && {routing: changing ? {...former, routed: false} : none}),
    ...(servesStill ? sayHeldUp(host, step) : say('Verified', step)),
  };
}

/** Of what serves still it is told what holds its next certificate up, once that is known; else nothing. */
function sayHeldUp({before, facts, issuance}: PlannedHost, step: IssuanceStep): Pick<Outcome, 'answer'> {
  if (before && step.read && !issuance.diagnosis) return sayAgain(before);
  const isOnItsWay = step.reason === 'Issuing' && facts.certificate?.failure === undefined;
  return isOnItsWay ? {} : say('Live', step);
}
