/** Foresees the state of a hostname that is not attached yet, without a DNS check and without knowledge of other owners. */
import type {CustomDomain, Project} from '../../api/foreign.ts';
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import {wanted} from '../../domain/hostnames/hosts.ts';
import {publishedHosts} from '../../domain/hostnames/published.ts';
import type {Refusal} from '../../domain/reasons/reasons.ts';
import {reasons} from '../../domain/reasons/reasons.ts';
import type {Tenant} from '../../domain/tenant.ts';
import type {Policy} from '../../domain/world.ts';
import type {HostView} from '../views.ts';

/** The facts that decide a refusal by the project or the plan. `domain`: the CustomDomain after the change. */
export interface Attempt {
  domain: CustomDomain;
  project: Project;
  tenant: Tenant;
}

/** Why the operator would refuse it; undefined where it would look at its DNS next. */
export function refusalOf({domain, project, tenant}: Attempt, hostname: Hostname, policy: Policy): Refusal | undefined {
  const published = publishedHosts(domain.status);
  const all = wanted({domain, project, tenant, first: domain, policy, published});
  return all.find((each) => each.hostname === hostname)?.refusals[0];
}

export const refusedView = (host: HostView, {reason, message, details}: Refusal): HostView => ({
  ...host,
  phase: 'NotAccepted',
  reason,
  message,
  details,
  waitingFor: reasons[reason].waitingFor,
  records: [],
});
