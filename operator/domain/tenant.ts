/** The tenant of a Namespace and the tenant's plan: the Account's plan, or the platform's default plan. */

import type {AccountStatus} from '../api/account.ts';
import {accountLabel} from '../api/account.ts';
import type {Account, Plan} from '../api/foreign.ts';
import type {RateLimit} from '../api/plan.ts';
import {notReady} from './health.ts';
import type {Refusal} from './reasons.ts';
import {reasons} from './reasons.ts';
import {withTimes} from './times.ts';

/** The facts about a Namespace's tenant. */
export interface Tenant {
  /** Name of the Account; undefined: the namespace is a tenant of its own, on the default plan. */
  account?: string;
  /** UID of the namespace. */
  namespaceUID: string;
  /** The Plan, or why there is none: nobody knows then what the tenant may have. */
  plan: Plan | {missing: Refusal};
  /** Requests that were agreed for the Account in place of the plan's. */
  agreed?: RateLimit;
}

/** Limits without a plan: the defaults of the plan `free`. */
const fewest: RateLimit = {requestsPerMinute: 60, requestsPerDay: 1000};

/** How many requests a tenant has: what was agreed, or what its plan says. */
export const quotaOf = ({plan, agreed}: Tenant): RateLimit =>
  agreed ?? ('missing' in plan ? fewest : plan.spec.rateLimit);

/** The Account that a namespace names by its label; an empty one names none. */
export const accountOf = (labels: Readonly<Record<string, string>> | undefined): string | undefined =>
  labels?.[accountLabel] || undefined;

const missing = (message: string): {missing: Refusal} => ({
  missing: {reason: 'PlanNotFound', message},
});

/** The key of a tenant in queues, the same for all its Namespaces. */
export const tenantKey = ({account, namespaceUID}: {account?: string; namespaceUID?: string}): string =>
  account ?? namespaceUID ?? '';

/** The tenant of a Namespace: the Account in its label, or the Namespace itself. `account` and `plan` return the objects of these names. */
export function tenantOf(
  {account: name, uid: namespaceUID}: {account?: string; uid: string},
  defaultPlan: string,
  {account, plan}: {account: (name: string) => Account | undefined; plan: (name: string) => Plan | undefined},
): Tenant {
  if (name === undefined) {
    return {
      namespaceUID,
      plan:
        plan(defaultPlan) ??
        missing(
          `The namespace belongs to no Account, and the platform's default Plan ${defaultPlan} does not exist. ` +
            'The platform must create it.',
        ),
    };
  }
  const found = account(name);
  if (!found)
    return {
      account: name,
      namespaceUID,
      plan: missing(
        `The namespace belongs to the Account ${name}, which does not exist. ` +
          `The platform must create it, or correct the label ${accountLabel}.`,
      ),
    };
  const planName = found.spec.planRef.name;
  return {
    account: name,
    namespaceUID,
    ...(found.spec.rateLimit && {agreed: found.spec.rateLimit}),
    plan:
      plan(planName) ??
      missing(
        `The Account ${name} is on the Plan ${planName}, which does not exist. The platform must create it, or correct the Account.`,
      ),
  };
}

/** Decides an Account: whether its plan exists. Pure. */
export function decideAccount(account: Account, plan: Plan | undefined, now: number): AccountStatus {
  const {generation = 0} = account.metadata;
  const {name} = account.spec.planRef;
  const claims = plan
    ? [{type: 'Ready', status: 'True' as const, reason: 'PlanFound', message: `The account is on the Plan ${name}.`}]
    : notReady(reasons.PlanNotFound.health, {
        reason: 'PlanNotFound',
        message:
          `The Plan ${name} does not exist: nothing new is accepted in the namespaces of this account. ` +
          'Create it, or correct spec.planRef.',
      });
  return {
    observedGeneration: generation,
    conditions: withTimes(claims, account.status?.conditions ?? [], generation, now),
  };
}
