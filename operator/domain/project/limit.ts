/**
 * The limit on a tenant's Projects, and the treatment of Projects beyond the limit:
 *
 *   the oldest, up to the plan's limit       no restriction
 *   newer                                    ProjectLimitReached: no default hostname, no claim, no route, no order
 *   deployed, later beyond the limit         served until `servedUntil` (rule 8), then no routes; default hostname and claim stay
 */
import type {DomainClaim, Project} from '../../api/foreign.ts';
import {isHeldBy} from '../claims/claim.ts';
import type {Refusal} from '../reasons/reasons.ts';
import type {Tenant} from '../tenant.ts';
import {byText} from '../text.ts';
import {timestamp} from '../times.ts';

/** The order in which Projects get places: oldest first; those of the same second by namespace and name. */
export const byAge = ({metadata: a}: Project, {metadata: b}: Project): number =>
  byText(a.creationTimestamp ?? '', b.creationTimestamp ?? '') ||
  byText(a.namespace ?? '', b.namespace ?? '') ||
  byText(a.name, b.name);

/** Number of Projects that a tenant's plan allows; undefined without a limit, or if the plan is not known. */
export const projectLimitOf = ({plan}: Tenant): number | undefined =>
  'missing' in plan ? undefined : (plan.spec.maxProjects ?? undefined);

/** Allowance of a Project under its tenant's plan. */
export interface ProjectAllowance {
  /** Why the plan does not allow the Project. */
  refusal?: Refusal;
  /** End of the grace period in which the Project is served, RFC 3339. The time may have passed. */
  servedUntil?: string;
  isServed: boolean;
  /** The Project has its default hostname, or may get it. */
  hasHost: boolean;
}

export interface PlaceInput {
  now: number;
  project: Project;
  tenant: Tenant;
  /** Number of the tenant's Projects that have a place before this one. */
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
      `The plan ${tenant.plan.metadata.name} allows ${limit} ${limit === 1 ? 'project' : 'projects'}, and older ` +
      `projects use ${limit === 1 ? 'it' : 'them'}. Delete a project, or upgrade the plan.`,
  };
  const hasHost = isHeldBy(claim, project);
  const {firstDeployTime, servedUntil = timestamp(now + policy.graceTimeMs)} = project.status ?? {};
  if (!hasHost || firstDeployTime === undefined) return {refusal, isServed: false, hasHost};
  return {refusal, servedUntil, isServed: now < Date.parse(servedUntil), hasHost};
}

/** Why the plan does not allow a Project, according to its status. It also works for a status that had no room for the reason. */
export function refusalIn({metadata: {name}, status}: Project): Refusal | undefined {
  const told = status?.conditions?.find((c) => c.type === 'Accepted' && c.status === 'False');
  if (!told && status?.servedUntil === undefined) return undefined;
  return {
    reason: 'ProjectLimitReached',
    message: told?.message ?? `The plan does not allow the Project ${name}. Delete a project, or upgrade the plan.`,
  };
}
