import type {HostStatus} from '../../api/custom-domain.ts';
import type {Condition} from '../../api/rules.ts';
import {edgeGraceMs} from '../routes/edge.ts';
import type {ReasonHealth} from './health.ts';
import {notReady} from './health.ts';
import {phaseRows} from './phases.ts';
import type {ReasonName, Refusal} from '../reasons/reasons.ts';
import {reasonOf, reasons} from '../reasons/reasons.ts';
import type {TimelessCondition} from '../times.ts';
import {withTimes} from '../times.ts';
import type {World} from '../world.ts';

/** The current health of a hostname. A state that is pending or awaited at first becomes stalled if it lasts. */
function healthOf(host: HostStatus, world: World): ReasonHealth {
  const {health, stalledAfter} = reasons[host.reason as ReasonName];
  const waited = (since: string, limitMs: number) => world.now - Date.parse(since) >= limitMs;
  if (health === 'awaited' && waited(host.addedAt ?? host.since, world.policy.propagationTimeMs)) return 'stalled';
  if (stalledAfter === 'edgeGrace' && waited(host.since, edgeGraceMs)) return 'stalled';
  return health;
}

/**
 * All conditions of a CustomDomain. Accepted to Live describe the primary, so that `kubectl wait --for=condition=Live` agrees with the
 * page. `refusal`: the refusal of a primary that is still served. Ready describes all hostnames.
 */
export function makeConditions(
  world: World,
  hosts: readonly HostStatus[],
  {routed: primaryRouted, refusal, drifted}: {routed: boolean; refusal?: Refusal; drifted: boolean},
  previous: readonly Condition[],
): Condition[] {
  const primary = hosts[0]!;
  const {phase, reason, message} = primary;
  const says = reasonOf(reason)?.conditions;
  const {isAccepted, isVerified: proven, isLive} = phaseRows[phase];
  // A refusal replaces the reason of a primary that stays Verified, so the reason does not show the certificate's progress.
  const stands = refusal !== undefined && phase === 'Verified' && reason === refusal.reason;
  const certified =
    proven &&
    (stands ? world.facts.get(primary.hostname)?.certificate?.ready === true : says?.CertificateReady === undefined);
  const routed = proven && primaryRouted;
  const claim = (
    type: string,
    holds: boolean,
    yes: ReasonName,
    yesMessage: string,
    no: Pick<TimelessCondition, 'reason' | 'message'> = {reason, message},
  ): TimelessCondition =>
    holds
      ? {type, status: 'True', reason: yes, message: yesMessage}
      : {type, status: 'False', reason: no.reason, message: no.message};

  const claims: TimelessCondition[] = [
    claim('Accepted', isAccepted && !refusal, 'Accepted', `${primary.hostname} may be attached.`, refusal),
    claim('Verified', proven && !drifted, 'Proven', `${primary.hostname} is proven to be this tenant's.`),
    claim('CertificateReady', certified, 'Issued', `${primary.hostname} has its certificate.`),
    claim(
      'RoutesReady',
      routed,
      'Routed',
      `The ingress rules of ${primary.hostname} are written.`,
      proven && says?.RoutesReady === undefined
        ? {reason: 'RoutesPending', message: 'The ingress rules are being written.'}
        : {reason, message},
    ),
    claim('Live', isLive, 'Serving', `${primary.hostname} is served over TLS.`),
  ];
  if (phase === 'AwaitingVerification' && says?.Verified === 'Unknown') claims[1]!.status = 'Unknown';

  return withTimes([...claims, ...readiness(world, hosts)], previous, world.domain.metadata.generation ?? 0, world.now);
}

/** Ready and, while it is not True, exactly one of Reconciling and Stalled. Stalled wins (kstatus reads both before Ready). */
function readiness(world: World, hosts: readonly HostStatus[]): TimelessCondition[] {
  const waiting = hosts.filter((h) => !phaseRows[h.phase].isLive);
  const worst = waiting.find((h) => healthOf(h, world) === 'stalled') ?? waiting[0];
  if (!worst) return [{type: 'Ready', status: 'True', ...whyReady(hosts)}];
  const others = waiting.length - 1;
  const more = others > 0 ? ` (${others} more of ${hosts.length} hostnames not Live yet: see status.hosts)` : '';
  return notReady(healthOf(worst, world), {reason: worst.reason, message: worst.message + more});
}

/** Why a CustomDomain with only Live hostnames is Ready. A hostname whose service ends, or that is stalled, gives reason and message. */
function whyReady(hosts: readonly HostStatus[]): Pick<TimelessCondition, 'reason' | 'message'> {
  const ending =
    hosts.find((h) => h.servedUntil !== undefined) ?? hosts.find((h) => reasonOf(h.reason)?.health === 'stalled');
  if (ending) return {reason: ending.reason, message: ending.message};
  const message = hosts.length === 1 ? `${hosts[0]!.hostname} is Live.` : `All ${hosts.length} hostnames are Live.`;
  return {reason: 'Serving', message};
}
