/**
 * How many Projects a tenant may have, and what becomes of those that are more:
 *
 *   the oldest, as many as the plan says     as if there were no limit
 *   newer                                    ProjectLimitReached: no default host, no claim, no route, no order
 *   deployed, and no longer among them       served on until `servedUntil` (rule 8), then without routes; host and claim stay
 */
import type {DomainClaim, Project} from '../api/foreign.ts';
import {isHeldBy} from './claim.ts';
import type {Refusal} from './reasons.ts';
import type {Tenant} from './tenant.ts';
import {byText} from './text.ts';
import {timestamp} from './times.ts';

/** The order in which Projects have a place: the older first; of two of one second, by namespace and name. */
export const byAge = ({metadata: a}: Project, {metadata: b}: Project): number =>
  byText(a.creationTimestamp ?? '', b.creationTimestamp ?? '') ||
  byText(a.namespace ?? '', b.namespace ?? '') ||
  byText(a.name, b.name);

/** How many Projects the plan of a tenant allows; undefined: there is no limit, or nobody knows the plan. */
export const projectLimitOf = ({plan}: Tenant): number | undefined =>
  'missing' in plan ? undefined : plan.spec.maxProjects;

/** What a Project may have. */
export interface ProjectAllowance {
  /** Why it is none of those that the plan allows. */
  refusal?: Refusal;
  /** End of the grace period in which the Project is still served, RFC 3339, in the past or not. */
  servedUntil?: string;
  isServed: boolean;
  /** It has its default host, or may get it. */
  hasHost: boolean;
}

export interface PlaceInput {
  now: number;
  project: Project;
  tenant: Tenant;
  /** How many of its tenant's Projects have a place before it. */
  ahead: number;
  claim: DomainClaim | undefined;
  policy: {graceTimeMs: number};
}

export function placeOf({now, project, tenant, ahead, claim, policy}: PlaceInput): ProjectAllowance {
  const limit = projectLimitOf(tenant);
  if ('missing' in tenant.plan || limit === undefined || ahead < limit) return {isServed: true, hasHost: true};
  const refusal: Refusal = {
    reason: 'ProjectLimitReached',
    message:
      `The plan ${tenant.plan.metadata.name} allows ${limit} ${limit === 1 ? 'project' : 'projects'}, and older ones ` +
      `have taken ${limit === 1 ? 'it' : 'them'}. Delete a project, or upgrade the plan.`,
  };
  const hasHost = isHeldBy(claim, project);
  const {firstDeployTime, servedUntil = timestamp(now + policy.graceTimeMs)} = project.status ?? {};
  if (!hasHost || firstDeployTime === undefined) return {refusal, isServed: false, hasHost};
  return {refusal, servedUntil, isServed: now < Date.parse(servedUntil), hasHost};
}

/** The refusal in a Project's status if the tenant's plan does not allow the Project, even in a shortened status. */
export function refusalIn({metadata: {name}, status}: Project): Refusal | undefined {
  const told = status?.conditions?.find((c) => c.type === 'Accepted' && c.status === 'False');
  if (!told && status?.servedUntil === undefined) return undefined;
  return {
    reason: 'ProjectLimitReached',
    message: told?.message ?? `The plan does not allow the Project ${name}. Delete a project, or upgrade the plan.`,
  };
}
