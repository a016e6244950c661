import type {HostStatus} from '../api/custom-domain.ts';
import type {Condition} from '../api/rules.ts';
import type {Refusal} from './acceptance.ts';
import type {World} from './lifecycle.ts';
import type {ReasonName} from './reasons.ts';
import {reasons} from './reasons.ts';

/** RFC 3339 without fractions, as Kubernetes writes times. */
export const timestamp = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Of an RFC 3339 time, for people: `2026-03-08 13:00 UTC`. */
export const minuteOf = (time: string) => `${time.slice(0, 16).replace('T', ' ')} UTC`;

/** How long an address of the edge may be missing or wrong before that is Stalled. */
export const edgeGraceMs = 120_000;

/** Characters of a message, as the schema bounds it. */
export const longestMessage = 2048;

/** What a condition says, without its times. */
export interface Claim {
  type: string;
  status: Condition['status'];
  reason: string;
  message: string;
}

/** Conditions with their times: `lastTransitionTime` moves only when `status` does (api-conventions). */
export function withTimes(
  claims: readonly Claim[],
  previous: readonly Condition[],
  generation: number,
  now: number,
): Condition[] {
  return claims.map((claim) => {
    const before = previous.find((c) => c.type === claim.type);
    return {
      ...claim,
      message: claim.message.slice(0, longestMessage),
      observedGeneration: generation,
      lastTransitionTime: before?.status === claim.status ? before.lastTransitionTime : timestamp(now),
    };
  });
}

/** While these stand, nobody knows whether DNS names the host. */
const unknowing: ReadonlySet<string> = new Set<ReasonName>([
  'CheckPending',
  'AuthoritativeUnreachable',
  'AuthoritativeFailure',
  'DNSSECBroken',
  'ResolverFailure',
]);
const uncertified: ReadonlySet<string> = new Set<ReasonName>([
  'Issuing',
  'IssuanceQueued',
  'IssuanceBudgetExhausted',
  'CAABlocksIssuer',
  'CAALookupFailed',
  'IssuanceStalled',
  'NameTaken',
  'RenewalOverdue',
  'CertificateExpired',
]);

/** How a hostname's state is to be taken now: what is merely pending at first is stalled when it lasts. */
function healthOf(host: HostStatus, world: World): 'pending' | 'stalled' | 'done' {
  const {health} = reasons[host.reason as ReasonName];
  const waited = (since: string, limitMs: number) => world.now - Date.parse(since) >= limitMs;
  if (host.phase === 'AwaitingVerification' && waited(host.addedAt ?? host.since, world.policy.propagationTimeMs))
    return 'stalled';
  if ((host.reason === 'EdgeUnreachable' || host.reason === 'EdgeNotServing') && waited(host.since, edgeGraceMs))
    return 'stalled';
  return health;
}

/**
 * All conditions of a CustomDomain. Accepted to Live speak of the primary, so that `kubectl wait --for=condition=Live`
 * means what the page says; `refusal` is what speaks against a primary that is served on. Ready speaks of all hostnames; exactly one of Reconciling and Stalled stands while Ready is
 * not True, and Stalled wins (kstatus reads them before Ready).
 */
export function makeConditions(
  world: World,
  hosts: readonly HostStatus[],
  {routed: primaryRouted, refusal, drifted}: {routed: boolean; refusal?: Refusal; drifted: boolean},
  previous: readonly Condition[],
): Condition[] {
  const primary = hosts[0]!;
  const {phase, reason, message} = primary;
  const proven = phase === 'Verified' || phase === 'Live';
  // What is not acceptable and stands still does not say how far its certificate is.
  const stands = refusal !== undefined && phase === 'Verified' && reason === refusal.reason;
  const certified =
    proven && (stands ? world.facts.get(primary.hostname)?.certificate?.ready === true : !uncertified.has(reason));
  const routed = proven && primaryRouted;
  const claim = (
    type: string,
    holds: boolean,
    yes: ReasonName,
    yesMessage: string,
    no: Pick<Claim, 'reason' | 'message'> = {reason, message},
  ): Claim =>
    holds
      ? {type, status: 'True', reason: yes, message: yesMessage}
      : {type, status: 'False', reason: no.reason, message: no.message};

  const claims: Claim[] = [
    claim('Accepted', phase !== 'NotAccepted' && !refusal, 'Accepted', `${primary.hostname} may be attached.`, refusal),
    claim('Verified', proven && !drifted, 'Proven', `${primary.hostname} is proven to be this tenant's.`),
    claim('CertificateReady', certified, 'Issued', `${primary.hostname} has its certificate.`),
    claim(
      'RoutesReady',
      routed,
      'Routed',
      `The ingress rules of ${primary.hostname} are written.`,
      proven && reason !== 'NameTaken'
        ? {reason: 'RoutesPending', message: 'The ingress rules are being written.'}
        : {reason, message},
    ),
    claim('Live', phase === 'Live', 'Serving', `${primary.hostname} is served over TLS.`),
  ];
  if (phase === 'AwaitingVerification' && unknowing.has(reason)) claims[1]!.status = 'Unknown';

  const waiting = hosts.filter((h) => h.phase !== 'Live');
  const stalled = waiting.find((h) => healthOf(h, world) === 'stalled');
  const worst = stalled ?? waiting[0];
  if (!worst) {
    const ending = hosts.find((h) => h.servedUntil !== undefined) ?? hosts.find((h) => h.reason === 'RenewalOverdue');
    claims.push(
      ending
        ? {type: 'Ready', status: 'True', reason: ending.reason, message: ending.message}
        : {
            type: 'Ready',
            status: 'True',
            reason: 'Serving',
            message: hosts.length === 1 ? `${primary.hostname} is Live.` : `All ${hosts.length} hostnames are Live.`,
          },
    );
  } else {
    const more =
      waiting.length > 1
        ? ` (${waiting.length - 1} more of ${hosts.length} hostnames not Live yet: see status.hosts)`
        : '';
    const why = {reason: worst.reason, message: worst.message + more};
    claims.push(
      {type: 'Ready', status: 'False', ...why},
      {type: stalled ? 'Stalled' : 'Reconciling', status: 'True', ...why},
    );
  }
  return withTimes(claims, previous, world.domain.metadata.generation ?? 0, world.now);
}
