/** What would become of a hostname that nobody has added yet, as far as it is known without a look at the DNS or at who holds what. */
import type {CustomDomain, Project} from '../api/foreign.ts';
import type {Hostname} from '../domain/hostname.ts';
import {wanted} from '../domain/hosts.ts';
import type {Refusal} from '../domain/reasons.ts';
import {reasons} from '../domain/reasons.ts';
import type {Tenant} from '../domain/tenant.ts';
import type {Policy} from '../domain/world.ts';
import type {HostView} from './views.ts';

/** What a refusal by the project or by the plan is judged by. `domain`: as it would stand. */
export interface Attempt {
  domain: CustomDomain;
  project: Project;
  tenant: Tenant;
  now: number;
}

/** Why the operator would refuse it; undefined where it would look at its DNS next. */
export const refusalOf = ({domain, ...rest}: Attempt, hostname: Hostname, policy: Policy): Refusal | undefined =>
  wanted({...rest, domain, first: domain, policy, facts: new Map(), claims: new Map(), startedAt: rest.now}).find(
    (each) => each.hostname === hostname,
  )?.refusals[0];

export const refusedView = (host: HostView, {reason, message}: Refusal): HostView => ({
  ...host,
  phase: 'NotAccepted',
  reason,
  message,
  waitingFor: reasons[reason].waitingFor,
  records: [],
});
