/**
 * Facts that a check takes from status, because it cannot find them itself: a plan that the user may not read, and states of objects, of
 * the edge and of the certificate authority. Pure.
 */
import type {HostStatus, Phase} from '../../api/custom-domain.ts';
import type {CustomDomain, Plan} from '../../api/foreign.ts';
import {type ReasonName, reasonOf} from '../../domain/reasons/reasons.ts';
import type {Tenant} from '../../domain/tenant.ts';
import {exitCodeOf, exitCodes, type ReportedObject} from '../exit-code.ts';

/** A plan that allows every hostname. */
export const anyPlan: Plan = {
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'Plan',
  metadata: {name: 'any'},
  spec: {
    rateLimit: {requestsPerMinute: 60, requestsPerDay: 1000},
    customDomains: {allowed: true, maxHostnamesPerProject: 500},
  },
};

/** Refusals of hostnames that do not count toward the plan's limit. */
const uncounted: ReadonlySet<string> = new Set<ReasonName>(['HostnameNotAllowed', 'DuplicateHostname']);

/** A hostname that a grace period spares can have another reason. */
const isUncounted = (host: HostStatus): boolean =>
  host.role === 'FormerPrimary' || host.refusedFrom !== undefined || isBeyond(host) || uncounted.has(host.reason);

const isBeyond = ({reason}: HostStatus): boolean => reason === ('HostnameLimitReached' satisfies ReasonName);

/**
 * The plan of a tenant, as the published refusals of its CustomDomains reveal it. A plan that refuses no hostname counts as a plan that
 * allows every hostname.
 */
export function publishedPlan({account}: Pick<Tenant, 'account'>, domains: readonly CustomDomain[]): Tenant['plan'] {
  const all = domains.map(({status}) => status?.hosts ?? []);
  for (const {reason, message, hostname} of all.flat()) {
    if (reason !== 'PlanUpgradeRequired' && reason !== 'PlanNotFound') continue;
    // While the hostname is served, its message continues with the hostname and the end of its grace period.
    const [why = message] = message.split(` ${hostname} `);
    return {missing: {reason, message: why}};
  }
  const full = all.find((hosts) => hosts.some(isBeyond));
  if (!full) return anyPlan;
  const within = full.filter((host) => !isUncounted(host));
  const name = account === undefined ? 'of this namespace' : `of the account ${account}`;
  const customDomains = {allowed: true, maxHostnamesPerProject: within.length};
  return {...anyPlan, metadata: {name}, spec: {...anyPlan.spec, customDomains}};
}

/**
 * Whether a hostname is served with no end in sight, or is verified and becomes Live by itself: its certificate exists or would be ordered.
 */
export function isClear(host: ReportedObject & {phase: Phase}): boolean {
  const code = exitCodeOf(host);
  if (host.phase === 'Live') return code === exitCodes.Done;
  const isStalled = reasonOf(host.reason)?.health === 'stalled';
  return host.phase === 'Verified' && !isStalled && (code === exitCodes.Waiting || code === exitCodes.Done);
}

/** Reasons that no check finds: they are about written objects, the edge, the certificate authority, and checks that have ended. */
const unseen: ReadonlySet<string> = new Set<ReasonName>([
  'VerificationExpired',
  'IssuanceBudgetExhausted',
  'IssuanceStalled',
  'NameTaken',
  'WriteRefused',
  'WriteFailed',
  'TooManyWaiting',
  'EdgeUnreachable',
  'EdgeNotServing',
  'RenewalOverdue',
  'CertificateExpired',
  'CertificateLost',
]);

/** Reasons that only a user who may read DomainClaims can check. */
const unseenWithoutClaims: ReadonlySet<string> = new Set<ReasonName>(['HostnameClaimed']);

/**
 * The foreseen states of hostnames. The published state stays if the check found no fault itself and cannot see whether the published fault
 * is over. A grace period that has begun ends when status says.
 */
export function withPublished(
  foreseen: readonly HostStatus[],
  published: readonly HostStatus[],
  {areClaimsRead}: {areClaimsRead: boolean},
): HostStatus[] {
  const before = new Map(published.map((host) => [host.hostname, host]));
  const isUnseen = ({reason}: HostStatus): boolean =>
    unseen.has(reason) || reasonOf(reason) === undefined || (!areClaimsRead && unseenWithoutClaims.has(reason));
  const stays = (was: HostStatus, host: HostStatus): boolean =>
    host.servedUntil !== undefined && was.servedUntil !== undefined
      ? was.reason === host.reason
      : isClear(host) && !isClear(was) && isUnseen(was);
  return foreseen.map((host) => {
    const was = before.get(host.hostname);
    return was && stays(was, host) ? {...was, role: host.role} : host;
  });
}
