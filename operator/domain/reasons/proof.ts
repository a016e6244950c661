/** Reasons about a hostname's DNS and its owner. */
import type {ReasonRow} from './reason.ts';

export const proofReasons = {
  CheckPending: {
    means:
      'Doorplate has not checked the DNS yet, or another CustomDomain of the same account is handing the hostname over.',
    remedy: 'Nothing. Doorplate checks the DNS at once and completes the hand-over.',
    waitingFor: 'Nobody',
    health: 'awaited',
    conditions: {Verified: 'Unknown'},
  },
  RecordMissing: {
    means: 'There is no record at the name.',
    remedy: 'Create the CNAME record that the message names.',
    waitingFor: 'Customer',
    health: 'awaited',
    isNegativeAnswer: true,
  },
  TargetMismatch: {
    means: 'The CNAME has another value.',
    remedy: 'Correct its value; it must match exactly.',
    waitingFor: 'Customer',
    health: 'awaited',
    mayBeWildcard: true,
  },
  IndirectCNAME: {
    means: "The CNAME reaches the project's host by way of another name, which proves nothing about who set it.",
    remedy: 'Point the CNAME straight to the host.',
    waitingFor: 'Customer',
    health: 'awaited',
    mayBeWildcard: true,
  },
  ConflictingRecord: {
    means: 'There are address records at the name, which block the CNAME.',
    remedy: 'Delete them and create the CNAME.',
    waitingFor: 'Customer',
    health: 'awaited',
    mayBeWildcard: true,
  },
  CNAMENotPossible: {
    means: 'The name has records of other types, such as MX, beside which no CNAME can exist.',
    remedy: 'Leave them, and create the address records and the TXT record that the message names.',
    waitingFor: 'Customer',
    health: 'awaited',
    isNegativeAnswer: true,
  },
  SynthesizedCNAME: {
    means:
      'The CNAME is made for every name below a DNAME record and was not created for this hostname, so it does not verify it.',
    remedy: 'Replace the DNAME record with records for single names, among them the CNAME that the message names.',
    waitingFor: 'Customer',
    health: 'awaited',
  },
  NameServersDisagree: {
    means: 'Some of the name servers of the zone have the right record, and others do not.',
    remedy:
      'Ask the DNS provider to bring all name servers up to date; remove those of a former provider at the registrar.',
    waitingFor: 'Customer',
    health: 'awaited',
  },
  ProxiedOrFlattened: {
    means: "The name has the edge's own addresses and no CNAME: a proxy or a flattened record hides the proof.",
    remedy:
      'Switch the proxy or the flattening off and create a plain CNAME; or leave it and create the TXT record that the message names.',
    waitingFor: 'Customer',
    health: 'awaited',
    isNegativeAnswer: true,
    mayBeWildcard: true,
  },
  BehindCDN: {
    means:
      "The name is behind a content delivery network (CDN), which hides whether the project's host stands behind that.",
    remedy:
      "Create the TXT record that the message names, and have the project's host as the origin at the CDN; " +
      'or switch the CDN off for this name and create the CNAME. A CDN that stays must connect to its origin over HTTPS ' +
      '(Cloudflare: Full (strict), not Flexible): otherwise visitors get an endless redirect.',
    waitingFor: 'Customer',
    health: 'awaited',
    isNegativeAnswer: true,
    mayBeWildcard: true,
  },
  ConflictingA: {
    means: "The apex has an A record that is not the edge's.",
    remedy:
      'Delete it; the record that the message names in its place (an ALIAS, an ANAME, a flattened CNAME, or the ' +
      "edge's addresses) and the TXT are needed.",
    waitingFor: 'Customer',
    health: 'awaited',
  },
  ConflictingAAAA: {
    means:
      "The apex has an AAAA record that is not the edge's: who has IPv6 would go elsewhere, the certificate authority too.",
    remedy: 'Delete it.',
    waitingFor: 'Customer',
    health: 'awaited',
  },
  TXTMissing: {
    means: "The name has the edge's addresses, which prove no tenant, and no TXT record.",
    remedy: 'Create the TXT record that the message names.',
    waitingFor: 'Customer',
    health: 'awaited',
    isNegativeAnswer: true,
  },
  TXTMismatch: {
    means: 'The TXT record has another value than the token of this tenant, or there is a CNAME in its place.',
    remedy: 'Correct its value; it must match exactly. Other values may stand beside it.',
    waitingFor: 'Customer',
    health: 'awaited',
    mayBeWildcard: true,
  },
  PropagationPending: {
    means: "The zone's own servers have the record, most resolvers do not see it yet.",
    remedy: 'Nothing: old answers expire from the caches.',
    waitingFor: 'Nobody',
    health: 'awaited',
  },
  AuthoritativeUnreachable: {
    means: "None of the zone's own servers could be reached.",
    remedy:
      "The zone's owner: mend the name servers. The platform: allow port 53 outward, or set dns.mode: RecursiveOnly.",
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {Verified: 'Unknown'},
  },
  AuthoritativeFailure: {
    means: "The zone's own servers answer with an error, or not for this zone.",
    remedy: 'Mend the zone at the DNS provider: its servers refuse or fail to answer for it.',
    waitingFor: 'Customer',
    health: 'awaited',
    conditions: {Verified: 'Unknown'},
  },
  DNSSECBroken: {
    means:
      'The DNSSEC chain of the zone is broken: resolvers that validate refuse the name, and so would the certificate authority.',
    remedy: 'Correct or remove the DS record at the registrar, or have the DNS provider sign the zone anew.',
    waitingFor: 'Customer',
    health: 'awaited',
    conditions: {Verified: 'Unknown'},
  },
  ResolverFailure: {
    means: 'The recursive resolvers gave no usable answer.',
    remedy: 'The platform: check the resolvers in dns.recursive.',
    waitingFor: 'Platform',
    health: 'awaited',
    conditions: {Verified: 'Unknown'},
  },
  NoEdgeAddress: {
    means:
      "The addresses of the platform's edge are not known: its Service has none yet, or its hostname does not resolve.",
    remedy: 'The platform: see that the Service in edge.service has an address, or that edge.hostname resolves.',
    waitingFor: 'Platform',
    health: 'awaited',
    conditions: {Verified: 'Unknown'},
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
} as const satisfies Record<string, ReasonRow>;
