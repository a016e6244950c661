import type {CustomDomain, Project} from '../api/foreign.ts';
import {isReserved} from '../api/rules.ts';
import type {Hostname} from './hostname.ts';
import {isPublicSuffix, normalise, within} from './hostname.ts';
import type {ReasonName} from './reasons.ts';

/** Why something is not accepted. */
export interface Refusal {reason: ReasonName; message: string}

export interface AcceptanceInput {
  domain: CustomDomain;
  project: Project | undefined;
  /** Every CustomDomain that names the same Project, this one among them. */
  siblings: readonly CustomDomain[];
}

type Check = (input: AcceptanceInput) => Refusal | undefined;

/** The older first; of two of one second, by name. */
const older = (a: CustomDomain, b: CustomDomain) =>
  (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '') || a.metadata.name.localeCompare(b.metadata.name);

const projectFound: Check = ({domain, project}) => project === undefined
  ? {reason: 'ProjectNotFound', message: `There is no Project ${domain.spec.projectRef.name} in this namespace. Create it.`}
  : undefined;

const onlyOne: Check = ({domain, siblings}) => {
  const first = [...siblings].toSorted(older)[0];
  return first !== undefined && first.metadata.uid !== domain.metadata.uid
    ? {reason: 'ProjectHasDomains', message: `The Project ${domain.spec.projectRef.name} already has its domains in the CustomDomain ${first.metadata.name}. Put these hostnames there, or delete it.`}
    : undefined;
};

const deployed: Check = ({domain, project}) => project?.status?.firstDeployTime === undefined
  ? {reason: 'NoSuccessfulDeploy', message: `The Project ${domain.spec.projectRef.name} has had no successful deploy: its Service has never had a ready endpoint. Deploy it.`}
  : undefined;

/** What must hold of the whole CustomDomain before its hostnames are looked at; the first failure counts. */
export const acceptWhole = (input: AcceptanceInput) => firstRefusal([projectFound, onlyOne], input);
/** What must hold of it after they were. */
export const acceptDeploy = (input: AcceptanceInput) => firstRefusal([deployed], input);

function firstRefusal(checks: readonly Check[], input: AcceptanceInput): Refusal | undefined {
  for (const check of checks) {
    const refusal = check(input);
    if (refusal) return refusal;
  }
  return undefined;
}

/** Whether one hostname may be attached at all: what needs knowledge that CEL does not have. Before any DNS query. */
export function acceptHostname(written: string, policy: {zone: Hostname; deniedNames: readonly Hostname[]}): Refusal | undefined {
  const refuse = (why: string): Refusal => ({reason: 'HostnameNotAllowed', message: `${JSON.stringify(written)} cannot be attached: ${why}. Choose another hostname.`});
  const name = normalise(written);
  if (name === undefined) return refuse('it is no valid internationalised domain name (UTS #46)');
  if (isReserved(name)) return refuse(`it is ${name}, a reserved name that can have no public certificate (RFC 6761, 6762, 7686)`);
  if (isPublicSuffix(name)) return refuse('it is a public suffix, under which anybody registers names');
  if (within(name, policy.zone)) return refuse(`it belongs to the platform's own zone ${policy.zone}`);
  const denied = policy.deniedNames.find((d) => within(name, d));
  return denied === undefined ? undefined : refuse(`the platform does not allow names under ${denied}`);
}
