/** Whether a hostname may be attached. */
import type {HostStatus} from '../../api/custom-domain.ts';
import type {Accepted, Host, Spared} from './stages.ts';
import type {ReasonName, Refusal} from '../reasons/reasons.ts';
import {reasonOf} from '../reasons/reasons.ts';
import {timestamp} from '../times.ts';
import type {World} from '../world.ts';

/** A hostname that may be attached, or is spared; undefined: it is refused. */
export function accept(host: Host): Accepted | undefined {
  const {world, want, before} = host;
  const {project} = world;
  const target = project?.status?.host;
  const spared = acceptance(world, before, want.refusals);
  if (spared === 'Refused' || project === undefined || target === undefined) return undefined;
  return {...host, project, target, ...(spared !== 'Accepted' && {spared})};
}

/** Why a hostname is refused: what comes first. */
export const refusalOf = ({want, world}: Host): Refusal =>
  want.refusals[0] ?? {
    reason: 'ProjectNotFound',
    message: `The Project ${world.domain.spec.projectRef.name} has no default hostname yet.`,
  };

/** Whether a refusal leaves a verified hostname in service. */
const sparing = ({reason}: {reason: string}) => reasonOf(reason)?.sparesVerified;

/**
 * Rule 8: a refusal of a verified hostname takes effect after the grace period. While the tenant's plan is unknown, it has no effect: the
 * published state stays, and nothing ends.
 */
function acceptance(
  world: World,
  before: HostStatus | undefined,
  refusals: readonly Refusal[],
): 'Accepted' | 'Refused' | Spared {
  const [first] = refusals;
  if (!first) return 'Accepted';
  if (before?.verifiedAt === undefined || refusals.some((r) => sparing(r) === undefined)) return 'Refused';
  // Earlier releases published the end of this grace period as servedUntil, like the end of a drift's grace period.
  const published = before.refusedFrom ?? (sparing(before) === undefined ? undefined : before.servedUntil);
  if (sparing(first) === 'Always') {
    if (published === undefined) return 'Accepted';
    const {reason, message, details} = sparing(before) === 'ForGraceTime' ? before : first;
    return {refusal: {reason: reason as ReasonName, message, details}, refusedFrom: published};
  }
  const refusedFrom = published ?? timestamp(world.now + world.policy.graceTimeMs);
  const ends = Date.parse(refusedFrom);
  if (world.now >= ends) return 'Refused';
  return {refusal: first, refusedFrom, ends};
}
