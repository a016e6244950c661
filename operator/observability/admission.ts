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

const whatFollows = 'whoever may write an Ingress can have any hostname';

function gapOf({enabled, mode}: AdmissionPolicy): string {
  if (!enabled) return `The admission policy is off (admissionPolicy.enabled): ${whatFollows}`;
  return mode === 'Deny'
    ? `Others' routes are refused in namespaces of an Account alone (admissionPolicy.scope is Accounts): in all others ${whatFollows}`
    : `Others' routes are refused nowhere (admissionPolicy.mode is ${mode}): ${whatFollows}`;
}

/** The Event at each start of an operator while the policy is not as strict as possible. */
export function eventOfPolicy(policy: AdmissionPolicy): Omit<EventRecord, 'regarding'> | undefined {
  if (denies(policy).other) return undefined;
  const note = `${gapOf(policy)}. What mode Deny with scope All would refuse of what stands: kubectl doorplate policy check.`;
  return {type: 'Warning', reason: 'OthersRoutesAllowed', action: 'Start', note};
}
