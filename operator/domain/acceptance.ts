import type {HostStatus} from '../api/custom-domain.ts';
import type {CustomDomain, Project} from '../api/foreign.ts';
import {isReserved} from '../api/hostname-rules.ts';
import type {Hostname} from './hostname.ts';
import {isPublicSuffix, normalise, within} from './hostname.ts';
import {refusalIn} from './project-limit.ts';
import type {Refusal} from './reasons.ts';
import type {Tenant} from './tenant.ts';
import {byText} from './text.ts';

export interface AcceptanceInput {
  domain: CustomDomain;
  project: Project | undefined;
  /** The first of the CustomDomains that name the same Project. */
  first: Pick<CustomDomain, 'metadata'>;
  tenant: Tenant;
}

type Check = (input: AcceptanceInput) => Refusal | undefined;

/** The older first; of two of one second, by name. The first of a Project's CustomDomains is the one that counts. */
export const older = (a: AcceptanceInput['first'], b: AcceptanceInput['first']) =>
  (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '') ||
  a.metadata.name.localeCompare(b.metadata.name);

const projectFound: Check = ({domain, project}) =>
  project === undefined
    ? {
        reason: 'ProjectNotFound',
        message: `There is no Project ${domain.spec.projectRef.name} in this namespace. Create it.`,
      }
    : undefined;

const projectAllowed: Check = ({project}) => project && refusalIn(project);

/** Of all hostnames alike: a place under a plan's limit that none of them can use yet would go from one to the next. */
const projectHasHost: Check = ({domain, project}) =>
  project !== undefined && project.status?.host === undefined
    ? {reason: 'ProjectNotFound', message: `The Project ${domain.spec.projectRef.name} has no host yet.`}
    : undefined;

const onlyOne: Check = ({domain, first}) =>
  first.metadata.uid !== domain.metadata.uid
    ? {
        reason: 'ProjectHasDomains',
        message:
          `The Project ${domain.spec.projectRef.name} already has its domains in the CustomDomain ` +
          `${first.metadata.name}. Put these hostnames there, or delete it.`,
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

/** Conditions of the whole CustomDomain, checked before its hostnames. The first failure counts. */
export const acceptWhole = (input: AcceptanceInput) =>
  refusals([projectFound, projectAllowed, projectHasHost, onlyOne], input);
/** Conditions that are checked after the hostnames. */
export const acceptRest = (input: AcceptanceInput) => refusals([allowedByPlan, deployed], input);

const refusals = (checks: readonly Check[], input: AcceptanceInput): Refusal[] =>
  checks.flatMap((check) => check(input) ?? []);

/** A hostname that is counted, and what status says of it. */
export interface CountedHostname {
  hostname: Hostname;
  role: HostStatus['role'];
  before: Pick<HostStatus, 'phase' | 'reason' | 'since' | 'addedAt'> | undefined;
}

/**
 * The reasons to refuse the newest hostnames if a plan allows fewer, by hostname. Accepted hostnames come first, so that a new hostname
 * never displaces an old one. Then follow the older hostname (of hostnames that wait for room, the one that has waited longer), the
 * primary, and the name.
 */
export function strikeNewest(hosts: readonly CountedHostname[], {plan}: Tenant): ReadonlyMap<Hostname, Refusal> {
  if ('missing' in plan || !plan.spec.customDomains.allowed) return new Map();
  const limit = plan.spec.customDomains.maxHostnamesPerProject;
  const rank = ({before}: CountedHostname) => (before !== undefined && before.phase !== 'NotAccepted' ? 0 : 1);
  // Hostnames without a first sight come last. Times of one form sort as text.
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
        message:
          `The plan ${plan.metadata.name} allows ${limit} ${limit === 1 ? 'hostname' : 'hostnames'} a project, and ` +
          `older ones have taken ${limit === 1 ? 'it' : 'them'}. Remove a hostname, or upgrade the plan.`,
      },
    ]),
  );
}

/** Whether one hostname may be attached at all: what needs knowledge that CEL does not have. Before any DNS query. */
export function acceptHostname(
  written: string,
  policy: {zone: Hostname; deniedNames: readonly Hostname[]},
): Refusal | undefined {
  const refuse = (why: string): Refusal => ({
    reason: 'HostnameNotAllowed',
    message: `${JSON.stringify(written)} cannot be attached: ${why}. Choose another hostname.`,
  });
  const name = normalise(written);
  if (name === undefined) return refuse('it is no valid internationalised domain name (UTS #46)');
  if (isReserved(name))
    return refuse(`it is ${name}, a reserved name that can have no public certificate (RFC 6761, 6762, 7686)`);
  if (isPublicSuffix(name)) return refuse('it is a public suffix, under which anybody registers names');
  if (within(name, policy.zone)) return refuse(`it belongs to the platform's own zone ${policy.zone}`);
  const denied = policy.deniedNames.find((d) => within(name, d));
  return denied === undefined ? undefined : refuse(`the platform does not allow names under ${denied}`);
}
