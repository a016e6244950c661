/** Foresees the state of a hostname that is not attached yet, without a DNS check and without knowledge of other owners. */
import type {CustomDomain, Project} from '../api/foreign.ts';
import type {Hostname} from '../domain/hostname.ts';
import {wanted} from '../domain/hosts.ts';
import type {Refusal} from '../domain/reasons.ts';
import {reasons} from '../domain/reasons.ts';
import type {Tenant} from '../domain/tenant.ts';
import type {Policy} from '../domain/world.ts';
import type {HostView} from './views.ts';

/** The facts that decide a refusal by the project or the plan. `domain`: the CustomDomain after the change. */
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
