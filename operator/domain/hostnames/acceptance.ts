import type {HostStatus} from '../../api/custom-domain.ts';
import type {CustomDomain, Project} from '../../api/foreign.ts';
import {isReserved} from '../../api/hostname-rules.ts';
import type {Hostname} from './hostname.ts';
import {isPublicSuffix, normalise, within} from './hostname.ts';
import {refusalIn} from '../project/limit.ts';
import type {Refusal} from '../reasons/reasons.ts';
import type {Tenant} from '../tenant.ts';
import {byText} from '../text.ts';

export interface AcceptanceInput {
  domain: CustomDomain;
  project: Project | undefined;
  /** The first CustomDomain that names this Project, in the order of {@link older}. */
  first: Pick<CustomDomain, 'metadata'>;
  tenant: Tenant;
}

type Check = (input: AcceptanceInput) => Refusal | undefined;

/** Sorts CustomDomains by age, and by name within the same second. Only the first CustomDomain of a Project is accepted. */
export const older = (a: AcceptanceInput['first'], b: AcceptanceInput['first']) =>
  (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '') ||
  a.metadata.name.localeCompare(b.metadata.name);

const projectFound: Check = ({domain, project}) =>
  project === undefined
    ? {
        reason: 'ProjectNotFound',
        message: `The namespace has no Project ${domain.spec.projectRef.name}. Create it.`,
      }
    : undefined;

const projectAllowed: Check = ({project}) => project && refusalIn(project);

/** Refuses all hostnames together. Otherwise places under the plan's limit would move between hostnames that cannot use them yet. */
const projectHasHost: Check = ({domain, project}) =>
  project !== undefined && project.status?.host === undefined
    ? {reason: 'ProjectNotFound', message: `The Project ${domain.spec.projectRef.name} has no default hostname yet.`}
    : undefined;

const onlyOne: Check = ({domain, first}) =>
  first.metadata.uid !== domain.metadata.uid
    ? {
        reason: 'ProjectHasDomains',
        message:
          `The Project ${domain.spec.projectRef.name} already has its domains in the CustomDomain ` +
          `${first.metadata.name}. Add these hostnames there, or delete that CustomDomain.`,
      }
    : undefined;

const allowedByPlan: Check = ({tenant: {plan, account}}) => {
  if ('missing' in plan) return plan.missing;
  if (plan.spec.customDomains.allowed) return undefined;
  const whose = account === undefined ? 'This namespace' : `The account ${account}`;
  return {
    reason: 'PlanUpgradeRequired',
    message: `${whose} is on the plan ${plan.metadata.name}, which does not allow custom domains. Upgrade the plan.`,
  };
};

const deployed: Check = ({domain, project}) =>
  project?.status?.firstDeployTime === undefined
    ? {
        reason: 'NoSuccessfulDeploy',
        message:
          `The Project ${domain.spec.projectRef.name} has had no successful deploy: ` +
          'its Service has never had a ready endpoint. Deploy it.',
      }
    : undefined;

/** Refusals of the whole CustomDomain that count before those of single hostnames. The first refusal counts. */
export const acceptWhole = (input: AcceptanceInput) =>
  refusals([projectFound, projectAllowed, projectHasHost, onlyOne], input);
/** Refusals of the whole CustomDomain that count after those of single hostnames. */
export const acceptRest = (input: AcceptanceInput) => refusals([allowedByPlan, deployed], input);

const refusals = (checks: readonly Check[], input: AcceptanceInput): Refusal[] =>
  checks.flatMap((check) => check(input) ?? []);

/** A hostname that counts toward the plan's limit, and its published entry. */
export interface CountedHostname {
  hostname: Hostname;
  role: HostStatus['role'];
  before: Pick<HostStatus, 'phase' | 'reason' | 'since' | 'addedAt'> | undefined;
}

/**
 * Returns a refusal for each hostname beyond the plan's limit, by hostname. Accepted hostnames come before refused ones, so that a new
 * hostname never displaces an accepted one. Within both groups older hostnames come first, then the primary, then the order of names. The
 * age of a hostname that waits for a place is its waiting time.
 */
export function strikeNewest(hosts: readonly CountedHostname[], {plan}: Tenant): ReadonlyMap<Hostname, Refusal> {
  if ('missing' in plan || !plan.spec.customDomains.allowed) return new Map();
  const limit = plan.spec.customDomains.maxHostnamesPerProject;
  const rank = ({before}: CountedHostname) => (before !== undefined && before.phase !== 'NotAccepted' ? 0 : 1);
  // A hostname without a known age comes last. Times of one format sort as text.
  const age = ({before}: CountedHostname) =>
    before?.addedAt ?? (before?.reason === 'HostnameLimitReached' ? before.since : '~');
  const sorted = hosts.toSorted(
    (a, b) => rank(a) - rank(b) || byText(age(a), age(b)) || byText(a.role, b.role) || byText(a.hostname, b.hostname),
  );
  return new Map(
    sorted.slice(limit).map(({hostname}) => [
      hostname,
      {
        reason: 'HostnameLimitReached',
        details: {limit: String(limit)},
        message:
          `The plan ${plan.metadata.name} allows ${limit} ${limit === 1 ? 'hostname' : 'hostnames'} a project, and ` +
          `older hostnames use ${limit === 1 ? 'it' : 'them'}. Remove a hostname, or upgrade the plan.`,
      },
    ]),
  );
}

/**
 * Returns why a hostname must not be attached, by rules that CEL lacks the data for. Undefined if it may be attached. Runs before any DNS
 * query.
 */
export function acceptHostname(
  written: string,
  policy: {zone: Hostname; deniedNames: readonly Hostname[]},
): Refusal | undefined {
  const refuse = (cause: string, why: string): Refusal => ({
    reason: 'HostnameNotAllowed',
    details: {cause},
    message: `${JSON.stringify(written)} cannot be attached: ${why}. Choose another hostname.`,
  });
  const name = normalise(written);
  if (name === undefined) return refuse('Invalid', 'it is not a valid internationalized domain name (UTS #46)');
  if (isReserved(name))
    return refuse(
      'Reserved',
      `it is ${name}, a reserved name that can have no public certificate (RFC 6761, 6762, 7686)`,
    );
  if (isPublicSuffix(name))
    return refuse('PublicSuffix', 'it is a public suffix, under which anyone can register names');
  if (within(name, policy.zone)) return refuse('Platform', `it belongs to the platform's own zone ${policy.zone}`);
  const denied = policy.deniedNames.find((d) => within(name, d));
  return denied === undefined ? undefined : refuse('Denied', `the platform does not allow names under ${denied}`);
}
