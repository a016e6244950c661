/**
 * The limit on a tenant's hostnames that wait for verification, which are those that Doorplate checks often:
 *
 *   waiting already, or verified      no restriction, even if the limit was lowered
 *   new, within the limit             AwaitingVerification
 *   new, beyond the limit             TooManyWaiting: no DNS check; follows by itself, the oldest first
 */
import type {HostStatus} from '../../api/custom-domain.ts';
import type {ReasonName, Refusal} from '../reasons/reasons.ts';
import type {Tenant} from '../tenant.ts';
import {byText} from '../text.ts';
import type {CountedHostname} from './acceptance.ts';
import type {Hostname} from './hostname.ts';

/** The places of a tenant for hostnames that wait, as one of its CustomDomains has them. */
export interface WaitingRoom {
  /** Places of the tenant. */
  limit: number;
  /** The CustomDomain's hostnames that have a place. */
  held: ReadonlySet<Hostname>;
  /** The CustomDomain's hostnames that were refused, with the time (RFC 3339) of the refusal. */
  refused: ReadonlyMap<Hostname, string>;
  /** Free places for further hostnames of the CustomDomain. Older hostnames of the tenant have their places already. */
  free: number;
}

const tooMany = 'TooManyWaiting' satisfies ReasonName;
const expired = 'VerificationExpired' satisfies ReasonName;

/** Whether a hostname counts. An expired verification does not: nothing is checked until the tenant asks for it. */
export const isWaiting = ({phase, reason}: Pick<HostStatus, 'phase' | 'reason'>): boolean =>
  phase === 'AwaitingVerification' && reason !== expired;

/** Whether a hostname was refused, and follows when there is a free place. */
export const isRefusedToWait = ({phase, reason}: Pick<HostStatus, 'phase' | 'reason'>): boolean =>
  phase === 'NotAccepted' && reason === tooMany;

/**
 * Returns a refusal for each new hostname without a free place, by hostname. It applies only as long as the hostname is not verified.
 * Hostnames that were refused before come first, the oldest refusal first; then the primary, then the order of names.
 */
export function strikeWaiting(
  hosts: readonly CountedHostname[],
  {account}: Tenant,
  {limit, held, refused, free}: WaitingRoom,
): ReadonlyMap<Hostname, Refusal> {
  const age = ({hostname}: CountedHostname) => refused.get(hostname) ?? '~';
  const beyond = hosts
    .filter(({hostname, before}) => !held.has(hostname) && (before === undefined || before.phase === 'NotAccepted'))
    .toSorted((a, b) => byText(age(a), age(b)) || byText(a.role, b.role) || byText(a.hostname, b.hostname))
    .slice(free);
  const whose = account === undefined ? 'this namespace' : `the account ${account}`;
  const refusal: Refusal = {
    reason: tooMany,
    details: {limit: String(limit)},
    message:
      `At most ${limit} ${limit === 1 ? 'hostname' : 'hostnames'} of ${whose} can wait for verification at a time, and ` +
      `older hostnames are waiting. Verify or remove waiting hostnames. Doorplate then accepts this one automatically.`,
  };
  return new Map(beyond.map(({hostname}) => [hostname, refusal]));
}
