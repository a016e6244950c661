import type {HostStatus} from '../../api/custom-domain.ts';
import type {Condition} from '../../api/rules.ts';
import {edgeGraceMs} from '../routes/edge.ts';
import type {EdgeFault} from '../routes/edge-watch.ts';
import type {ReasonHealth} from './health.ts';
import {notReady} from './health.ts';
import {stopFault} from '../hostnames/stop.ts';
import {phaseRows} from './phases.ts';
import type {ReasonName, Refusal} from '../reasons/reasons.ts';
import {reasonOf, reasons} from '../reasons/reasons.ts';
import type {TimelessCondition} from '../times.ts';
import {withTimes} from '../times.ts';
import {writeErrors} from './write-error.ts';
import type {World} from '../world.ts';

/** The current health of a hostname. A state that is pending or awaited at first becomes stalled if it lasts. */
function healthOf(host: HostStatus, world: World): ReasonHealth {
  const {health, stalledAfter} = reasons[host.reason as ReasonName];
  const waited = (since: string, limitMs: number) => world.now - Date.parse(since) >= limitMs;
  if (health === 'awaited' && waited(host.addedAt ?? host.since, world.policy.propagationTimeMs)) return 'stalled';
  if (stalledAfter === 'edgeGrace' && waited(host.since, edgeGraceMs)) return 'stalled';
  return health;
}

/** One hostname of a CustomDomain as conditions describe it. */
export interface DescribedHost {
  entry: HostStatus;
  /** Its routes exist. */
  routed: boolean;
  /** The refusal of a hostname that is still served. */
  refusal?: Refusal;
  /** It is served although DNS does not verify it any more. */
  drifted: boolean;
  /** It is Live, and an address of the edge does not serve it. */
  edgeFault?: EdgeFault;
}

/**
 * All conditions of a CustomDomain. Accepted to Live describe the primary, which is the first of `described`, so that
 * `kubectl wait --for=condition=Live` agrees with the page. Ready describes all hostnames.
 */
export function makeConditions(
  world: World,
  described: readonly DescribedHost[],
  previous: readonly Condition[],
): Condition[] {
  const {entry: primary, routed: primaryRouted, refusal, drifted, edgeFault} = described[0]!;
  const {phase, reason, message} = primary;
  const says = reasonOf(reason)?.conditions;
  const {isAccepted, isVerified: proven, isLive} = phaseRows[phase];
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
    claim('Verified', proven && !drifted, 'Proven', `${primary.hostname} is verified for this tenant.`),
    claim('CertificateReady', isCertified(world, primary), 'Issued', `${primary.hostname} has its certificate.`),
    claim(
      'RoutesReady',
      routed,
      'Routed',
      `The ingress rules of ${primary.hostname} are written.`,
      proven && says?.RoutesReady === undefined
        ? {reason: 'RoutesPending', message: 'The ingress rules are being written.'}
        : {reason, message},
    ),
    claim('Live', isLive && !edgeFault, 'Serving', `${primary.hostname} is served over TLS.`, edgeFault),
  ];
  const attached = described.flatMap(({entry}) => (entry.role === 'FormerPrimary' ? [] : entry.hostname));
  const fault = stopFault(world.domain, attached);
  if (fault !== undefined) claims[0]!.message += ` ${fault}`;
  if (phase === 'AwaitingVerification' && says?.Verified === 'Unknown') claims[1]!.status = 'Unknown';

  return withTimes(
    [...claims, ...readiness(world, described)],
    previous,
    world.domain.metadata.generation ?? 0,
    world.now,
  );
}

/**
 * CertificateReady is the Ready condition of the Certificate. While only the issuer or the spec of the Certificate changes, a Live hostname
 * keeps it: its leaf is still served.
 */
function isCertified(world: World, {hostname, phase, reason}: HostStatus): boolean {
  const {isVerified, isLive} = phaseRows[phase];
  const ready = world.facts.get(hostname)?.certificate?.ready === true;
  return isVerified && (ready || (isLive && reasonOf(reason)?.conditions?.CertificateReady === undefined));
}

/** The reason why a hostname does not work now; undefined if it works. */
function whyNotWorking(
  world: World,
  {entry, edgeFault}: DescribedHost,
): Pick<HostStatus, 'reason' | 'message'> | undefined {
  const {phase, reason} = entry;
  const isLost = writeErrors.has(reason) && !isCertified(world, entry);
  if (!phaseRows[phase].isLive || isLost || reasonOf(reason)?.stalledAfter === 'edgeGrace') return entry;
  return edgeFault;
}

/** Ready and, while it is not True, exactly one of Reconciling and Stalled. Stalled wins (kstatus reads both before Ready). */
function readiness(world: World, described: readonly DescribedHost[]): TimelessCondition[] {
  const waiting = described.flatMap((host) => {
    const why = whyNotWorking(world, host);
    return why ? {...host.entry, reason: why.reason, message: why.message} : [];
  });
  const hosts = described.map(({entry}) => entry);
  const worst = waiting.find((h) => healthOf(h, world) === 'stalled') ?? waiting[0];
  if (!worst) return [{type: 'Ready', status: 'True', ...whyReady(hosts)}];
  const others = waiting.length - 1;
  const more = others > 0 ? ` (${others} more of ${hosts.length} hostnames are not Live yet: see status.hosts)` : '';
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
