/** The operator's reports while the chart's admission policy refuses less than it could. The API server enforces the policy. */
import type {Settings} from '../config.ts';
import type {EventRecord} from '../kube/writes/events.ts';

type AdmissionPolicy = Settings['admissionPolicy'];

/**
 * Whether writes of others to routes, certificates and Secrets of hostnames are refused: in Namespaces of an Account, and in all other
 * Namespaces.
 */
export function denies({enabled, mode, scope}: AdmissionPolicy): {account: boolean; other: boolean} {
  const account = enabled && mode === 'Deny';
  return {account, other: account && scope === 'All'};
}

const whatFollows = 'each user with rights on Ingress can take any hostname';

function gapOf({enabled, mode}: AdmissionPolicy): string {
  if (!enabled) return `The admission policy is off (admissionPolicy.enabled): ${whatFollows}`;
  return mode === 'Deny'
    ? `Only namespaces of an Account refuse routes of other writers (admissionPolicy.scope is Accounts): in all others ${whatFollows}`
    : `No namespace refuses routes of other writers (admissionPolicy.mode is ${mode}): ${whatFollows}`;
}

/** The Event at each start of an operator while the policy is not as strict as possible. */
export function eventOfPolicy(policy: AdmissionPolicy): Omit<EventRecord, 'regarding'> | undefined {
  if (denies(policy).other) return undefined;
  const note = `${gapOf(policy)}. To list the objects that mode Deny with scope All would refuse, run kubectl doorplate policy check.`;
  return {type: 'Warning', reason: 'OthersRoutesAllowed', action: 'Start', note};
}
