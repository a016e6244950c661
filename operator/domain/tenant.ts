/** The tenant of a namespace, and the plan that applies: its Account's plan, or the platform's default plan. */

import type {AccountStatus} from '../api/account.ts';
import {accountLabel} from '../api/account.ts';
import type {Account, Plan} from '../api/foreign.ts';
import type {RateLimit} from '../api/plan.ts';
import {notReady} from './status/health.ts';
import type {Refusal} from './reasons/reasons.ts';
import {reasons} from './reasons/reasons.ts';
import {withTimes} from './times.ts';

/** Facts about the tenant of a namespace. */
export interface Tenant {
  /** Name of the Account; undefined if the namespace is its own tenant, on the default plan. */
  account?: string;
  /** UID of the namespace. */
  namespaceUID: string;
  /** The Plan, or why it is missing: then the tenant's limits are not known. */
  plan: Plan | {missing: Refusal};
  /** Request limit that was agreed for the Account in place of the plan's. */
  agreed?: RateLimit;
}

/** Request limit without a plan: the default values of the plan `free`. */
const fewest: RateLimit = {requestsPerMinute: 60, requestsPerDay: 1000};

/** The request limit of a tenant: the agreed limit, or its plan's. */
export const quotaOf = ({plan, agreed}: Tenant): RateLimit =>
  agreed ?? ('missing' in plan ? fewest : plan.spec.rateLimit);

/** The Account that a namespace names in its label; undefined if the label is empty or missing. */
export const accountOf = (labels: Readonly<Record<string, string>> | undefined): string | undefined =>
  labels?.[accountLabel] || undefined;

const missing = (message: string): {missing: Refusal} => ({
  missing: {reason: 'PlanNotFound', message},
});

/** The key of a tenant in the order queue, the same for all its namespaces. */
export const tenantKey = ({account, namespaceUID}: {account?: string; namespaceUID?: string}): string =>
  account ?? namespaceUID ?? '';

/**
 * The tenant of a namespace: its Account if the namespace names one, else the namespace itself. `account` and `plan` return the objects
 * with these names.
 */
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

/** Decides the status of an Account: whether its plan exists. Pure. */
export function decideAccount(account: Account, plan: Plan | undefined, now: number): AccountStatus {
  const {generation = 0} = account.metadata;
  const {name} = account.spec.planRef;
  const claims = plan
    ? [{type: 'Ready', status: 'True' as const, reason: 'PlanFound', message: `The account is on the Plan ${name}.`}]
    : notReady(reasons.PlanNotFound.health, {
        reason: 'PlanNotFound',
        message:
          `The Plan ${name} does not exist, so Doorplate accepts nothing new in the namespaces of ` +
          'this account. Create it, or correct spec.planRef.',
      });
  return {
    observedGeneration: generation,
    conditions: withTimes(claims, account.status?.conditions ?? [], generation, now),
  };
}
