import type {Party} from '../api/custom-domain.ts';

/**
 * Every reason that a status may give, once: what it means, what to do, whose turn it is, and how kstatus and Argo CD
 * should take it. `pending` becomes the condition Reconciling, `stalled` the condition Stalled (it heals itself all the
 * same); `done` is neither. docs/reasons.md is generated from this table.
 */
export interface Reason {
  means: string;
  remedy: string;
  waitingFor: Party;
  health: 'pending' | 'stalled' | 'done';
}

const table = {
  // Acceptance, in the order in which it is checked.
  ProjectNotFound: {
    means: 'The Project that projectRef names does not exist in this namespace.',
    remedy: 'Create the Project, or correct the name in a new CustomDomain (projectRef is immutable).',
    waitingFor: 'Customer',
    health: 'pending',
  },
  ProjectHasDomains: {
    means: 'Another, older CustomDomain already belongs to this Project.',
    remedy: 'Put these hostnames into the older CustomDomain, or delete it.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  HostnameNotAllowed: {
    means:
      'The hostname can never be attached: a public suffix, a reserved name, a name of the platform, a denied name, or no valid internationalised name.',
    remedy: 'Choose another hostname.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  DuplicateHostname: {
    means: 'The same hostname is given twice, in two spellings.',
    remedy: 'Remove one of the two.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  PlanUpgradeRequired: {
    means:
      'The plan does not allow custom domains. What was proven before is served on for the grace time (graceTime).',
    remedy: 'Upgrade the plan.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  PlanNotFound: {
    means:
      'The Account that the namespace names, or the Plan that it is on, does not exist. Nothing that was proven before is taken away by that.',
    remedy: 'The platform: create it, or correct the name.',
    waitingFor: 'Platform',
    health: 'stalled',
  },
  NoSuccessfulDeploy: {
    means: 'The Project has not had a successful deploy: its Service has never had a ready endpoint.',
    remedy: 'Deploy the project.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  HostnameLimitReached: {
    means:
      'The plan allows fewer hostnames a project; the newest are refused. What was proven before is served on for the grace time (graceTime).',
    remedy: 'Remove a hostname, or upgrade the plan.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  // Verification.
  CheckPending: {
    means: 'The DNS has not been asked yet.',
    remedy: 'Nothing: the first check follows at once.',
    waitingFor: 'Nobody',
    health: 'pending',
  },
  RecordMissing: {
    means: 'There is no record at the name.',
    remedy: 'Create the CNAME record that the message names.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  TargetMismatch: {
    means: 'The CNAME has another value.',
    remedy: 'Correct its value; it must match exactly.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  IndirectCNAME: {
    means: "The CNAME reaches the project's host by way of another name, which proves nothing about who set it.",
    remedy: 'Point the CNAME straight to the host.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  ConflictingRecord: {
    means: 'There are address records at the name, which block the CNAME.',
    remedy: 'Delete them and create the CNAME.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  ProxiedOrFlattened: {
    means: "The name has the edge's own addresses and no CNAME: a proxy or a flattened record hides the proof.",
    remedy:
      'Switch the proxy or the flattening off and create a plain CNAME; or leave it and create the TXT record that the message names.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  ConflictingA: {
    means: "The apex has an A record that is not the edge's.",
    remedy: "Delete it; an ALIAS or ANAME (or the edge's addresses) and the TXT that the message names are needed.",
    waitingFor: 'Customer',
    health: 'pending',
  },
  ConflictingAAAA: {
    means:
      "The apex has an AAAA record that is not the edge's: who has IPv6 would go elsewhere, the certificate authority too.",
    remedy: 'Delete it.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  TXTMissing: {
    means: "The name has the edge's addresses, which prove no tenant, and no TXT record.",
    remedy: 'Create the TXT record that the message names.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  TXTMismatch: {
    means: 'The TXT record has another value than the token of this tenant, or there is a CNAME in its place.',
    remedy: 'Correct its value; it must match exactly. Other values may stand beside it.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  PropagationPending: {
    means: "The zone's own servers have the record, most resolvers do not see it yet.",
    remedy: 'Nothing: old answers expire from the caches.',
    waitingFor: 'Nobody',
    health: 'pending',
  },
  AuthoritativeUnreachable: {
    means: "None of the zone's own servers could be reached.",
    remedy:
      "The zone's owner: mend the name servers. The platform: allow port 53 outward, or set dns.mode: RecursiveOnly.",
    waitingFor: 'Platform',
    health: 'stalled',
  },
  AuthoritativeFailure: {
    means: "The zone's own servers answer with an error, or not for this zone.",
    remedy: 'Mend the zone at the DNS provider: its servers refuse or fail to answer for it.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  DNSSECBroken: {
    means:
      'The DNSSEC chain of the zone is broken: resolvers that validate refuse the name, and so would the certificate authority.',
    remedy: 'Correct or remove the DS record at the registrar, or have the DNS provider sign the zone anew.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  ResolverFailure: {
    means: 'The recursive resolvers gave no usable answer.',
    remedy: 'The platform: check the resolvers in dns.recursive.',
    waitingFor: 'Platform',
    health: 'pending',
  },
  HostnameClaimed: {
    means: 'The hostname is proven here and attached elsewhere on this platform; the proof that stands there decides.',
    remedy:
      'Remove the records that point to the other place, such as an older TXT record; the hostname then passes over by itself.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  VerificationExpired: {
    means: 'The record did not appear in time; automatic checks have ended.',
    remedy: 'Create the record, then ask for a check (Verify).',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  // Verified.
  CAABlocksIssuer: {
    means: 'CAA records do not allow the certificate authority to issue for the hostname; nothing is ordered.',
    remedy: 'Add the CAA record that the message names.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  CAALookupFailed: {
    means: 'The CAA records could not be read; the certificate authority would refuse, so nothing is ordered.',
    remedy: 'Mend the zone that the message names: its servers must answer questions for CAA.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  Issuing: {
    means: 'The certificate is being issued, usually within a couple of minutes.',
    remedy: 'Nothing.',
    waitingFor: 'CertificateAuthority',
    health: 'pending',
  },
  IssuanceQueued: {
    means:
      "The order waits in line: the platform's account at the certificate authority may make only so many (budgets.account).",
    remedy: 'Nothing: the message says when it is expected to be made.',
    waitingFor: 'Nobody',
    health: 'pending',
  },
  IssuanceBudgetExhausted: {
    means:
      'The hostname, or the registered domain that it belongs to, has used up what may be ordered in a time (budgets); nothing is ordered before the time that the message names.',
    remedy: 'Mend what made the attempts fail, if they did. Then it is tried again by itself.',
    waitingFor: 'CertificateAuthority',
    health: 'stalled',
  },
  IssuanceStalled: {
    means: 'The certificate is still absent long after it was ordered.',
    remedy:
      'The message says what was checked, what cert-manager says and who must act; then ask for a fresh attempt (Re-verify).',
    waitingFor: 'Platform',
    health: 'stalled',
  },
  NameTaken: {
    means: "An object that is not Doorplate's has the name of one that it must create; it is left alone.",
    remedy: 'Delete or rename that object.',
    waitingFor: 'Platform',
    health: 'stalled',
  },
  EdgeUnreachable: {
    means: 'An address of the edge does not answer.',
    remedy: 'The platform: bring the edge back, or correct edge.addresses.',
    waitingFor: 'Platform',
    health: 'pending',
  },
  EdgeNotServing: {
    means:
      'An address of the edge presents another certificate than the one that was issued, or still redirects what is to serve.',
    remedy: 'Wait; after two minutes the platform must look at its ingress controller.',
    waitingFor: 'Platform',
    health: 'pending',
  },
  EdgePending: {
    means: 'The edge has not been looked at yet.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'pending',
  },
  WaitingForPrimary: {
    means: 'The hostname is ready; it redirects as soon as the primary is Live.',
    remedy: 'See the primary.',
    waitingFor: 'Nobody',
    health: 'pending',
  },
  // Live.
  Serving: {
    means: 'It is served with its own certificate; the edge was seen to do so.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  Redirecting: {
    means: 'It redirects to the primary; the edge was seen to present its certificate.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  RenewalOverdue: {
    means:
      'It is served, but its certificate should have been renewed by now: a quarter of the time between the renewal and the expiry is over.',
    remedy: 'The message says what cert-manager says and who must act; then ask for a fresh attempt (Re-verify).',
    waitingFor: 'Platform',
    health: 'stalled',
  },
  CertificateExpired: {
    means: 'Its certificate has expired: browsers refuse it. Its routes stay.',
    remedy: 'The message says what cert-manager says and who must act; then ask for a fresh attempt (Re-verify).',
    waitingFor: 'Platform',
    health: 'stalled',
  },
  ServedUntilReplaced: {
    means: 'It was the primary; it is served as before until the new primary is Live.',
    remedy: 'See the primary.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  DNSDrifted: {
    means: 'The DNS proves it no longer, and that was confirmed. It is served on for the grace time (graceTime).',
    remedy: 'Put the record back.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  Removing: {
    means: 'It is being removed; its routes are gone.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'pending',
  },
  // Conditions that have no reason of a hostname to show.
  Accepted: {
    means: 'The hostname may be attached to this Project.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
  Proven: {means: 'DNS names the host of this Project.', remedy: 'Nothing.', waitingFor: 'Nobody', health: 'done'},
  Issued: {means: 'The certificate is there.', remedy: 'Nothing.', waitingFor: 'Nobody', health: 'done'},
  Routed: {means: 'The ingress rules are written.', remedy: 'Nothing.', waitingFor: 'Nobody', health: 'done'},
  RoutesPending: {
    means: 'The ingress rules are being written.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'pending',
  },
  // Accounts.
  PlanFound: {means: 'The Plan of the Account exists.', remedy: 'Nothing.', waitingFor: 'Nobody', health: 'done'},
  // Projects.
  ServiceNotFound: {
    means: 'The Service that serviceRef names does not exist.',
    remedy: 'Create it, or correct serviceRef.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  ServicePortNotFound: {
    means: 'The Service has no such port.',
    remedy: 'Correct serviceRef.port.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  NoReadyEndpoint: {
    means: 'The Service has never had a ready endpoint.',
    remedy: 'Deploy the project.',
    waitingFor: 'Customer',
    health: 'pending',
  },
  Deployed: {means: 'The Service has had a ready endpoint.', remedy: 'Nothing.', waitingFor: 'Nobody', health: 'done'},
  DefaultHostDisabled: {
    means: 'The default host is switched off by defaultHost: Disabled.',
    remedy: 'Nothing.',
    waitingFor: 'Nobody',
    health: 'done',
  },
} as const satisfies Record<string, Reason>;

export type ReasonName = keyof typeof table;
export const reasons: Readonly<Record<ReasonName, Reason>> = table;
