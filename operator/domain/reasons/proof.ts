/** Reasons about a hostname's DNS and its owner. */
import type {Reason} from './reason.ts';

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
    means: 'The hostname has no DNS record.',
    remedy: 'Create the records that the message names.',
    waitingFor: 'Customer',
    health: 'awaited',
    isNegativeAnswer: true,
  },
  TargetMismatch: {
    means: 'The CNAME record has another value.',
    remedy: 'Correct the value. It must match exactly.',
    waitingFor: 'Customer',
    health: 'awaited',
    mayBeWildcard: true,
  },
  IndirectCNAME: {
    means:
      "The CNAME record reaches the project's default hostname through another name. Such a record does not verify the hostname.",
    remedy: 'Point the CNAME record directly to the default hostname.',
    waitingFor: 'Customer',
    health: 'awaited',
    mayBeWildcard: true,
  },
  ConflictingRecord: {
    means: 'The hostname has address records, which block the CNAME record.',
    remedy: 'Delete the address records and create the CNAME record.',
    waitingFor: 'Customer',
    health: 'awaited',
    mayBeWildcard: true,
  },
  CNAMENotPossible: {
    means: 'The hostname has records of other types, such as MX. A CNAME record cannot exist beside them.',
    remedy: 'Keep these records, and create the address records and the TXT record that the message names.',
    waitingFor: 'Customer',
    health: 'awaited',
    isNegativeAnswer: true,
  },
  SynthesizedCNAME: {
    means:
      'The CNAME record is generated for every name below a DNAME record. A generated record does not verify a hostname.',
    remedy:
      'Replace the DNAME record with records for single names, including the CNAME record that the message names.',
    waitingFor: 'Customer',
    health: 'awaited',
  },
  NameServersDisagree: {
    means: 'Some name servers of the zone have the right record, and others do not.',
    remedy:
      'Ask the DNS provider to update all name servers. At the registrar, remove the name servers of a former provider.',
    waitingFor: 'Customer',
    health: 'awaited',
  },
  ProxiedOrFlattened: {
    means:
      "The hostname has the edge's own addresses and no CNAME record: a proxy or a flattened record hides the CNAME.",
    remedy:
      'Switch the proxy or the flattening off and create a plain CNAME record, or create the TXT record that the ' +
      'message names.',
    waitingFor: 'Customer',
    health: 'awaited',
    isNegativeAnswer: true,
    mayBeWildcard: true,
  },
  BehindCDN: {
    means:
      'The hostname is behind a content delivery network (CDN). Doorplate cannot see whether the CDN leads to the ' +
      "project's default hostname.",
    remedy:
      "Create the TXT record that the message names, and set the project's default hostname as the origin at the CDN. " +
      'Or switch the CDN off for this name and create the CNAME record. A CDN that stays must connect to its origin ' +
      'over HTTPS (Cloudflare: Full (strict), not Flexible). Otherwise visitors get an endless redirect.',
    waitingFor: 'Customer',
    health: 'awaited',
    isNegativeAnswer: true,
    mayBeWildcard: true,
  },
  ConflictingA: {
    means: 'The apex has an A record with an address outside the edge.',
    remedy:
      'Delete that A record. Create the TXT record and the record that the message names: an ALIAS, an ANAME, a ' +
      "flattened CNAME, or the edge's addresses.",
    waitingFor: 'Customer',
    health: 'awaited',
  },
  ConflictingAAAA: {
    means:
      'An AAAA record of the apex leads to an address outside the edge. Visitors with IPv6 and the certificate authority ' +
      'would reach that address.',
    remedy: 'Delete that AAAA record.',
    waitingFor: 'Customer',
    health: 'awaited',
  },
  TXTMissing: {
    means: "The hostname has the edge's addresses and no TXT record. The addresses alone do not verify the tenant.",
    remedy: 'Create the TXT record that the message names.',
    waitingFor: 'Customer',
    health: 'awaited',
    isNegativeAnswer: true,
  },
  TXTMismatch: {
    means: "The TXT record does not have this tenant's token, or a CNAME record is in its place.",
    remedy: 'Correct the value. It must match exactly. Other TXT values may exist beside it.',
    waitingFor: 'Customer',
    health: 'awaited',
    mayBeWildcard: true,
  },
  PropagationPending: {
    means: "The zone's own servers have the record. Most resolvers still return older answers.",
    remedy: 'Nothing. Old answers expire from the caches.',
    waitingFor: 'Nobody',
    health: 'awaited',
  },
  AuthoritativeUnreachable: {
    means: "None of the zone's own servers could be reached.",
    remedy:
      "The zone's owner must repair the name servers. Or the platform administrator must allow outbound port 53, or set " +
      'dns.mode: RecursiveOnly.',
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {Verified: 'Unknown'},
  },
  AuthoritativeFailure: {
    means: "The zone's own servers answer with an error, or not for this zone.",
    remedy: 'Correct the zone at the DNS provider: its servers refuse or fail to answer for it.',
    waitingFor: 'Customer',
    health: 'awaited',
    conditions: {Verified: 'Unknown'},
  },
  DNSSECBroken: {
    means:
      'The DNSSEC chain of the zone is broken. Resolvers that validate refuse the name, and so does the certificate ' +
      'authority.',
    remedy: 'Correct or remove the DS record at the registrar, or have the DNS provider sign the zone again.',
    waitingFor: 'Customer',
    health: 'awaited',
    conditions: {Verified: 'Unknown'},
  },
  ResolverFailure: {
    means: 'The recursive resolvers gave no usable answer.',
    remedy: 'The platform administrator must check the resolvers in dns.recursive.',
    waitingFor: 'Platform',
    health: 'awaited',
    conditions: {Verified: 'Unknown'},
  },
  NoEdgeAddress: {
    means: 'The addresses of the edge are not known: its Service has none yet, or its hostname does not resolve.',
    remedy:
      'The platform administrator must check that the Service in edge.service has an address, or that edge.hostname ' +
      'resolves.',
    waitingFor: 'Platform',
    health: 'awaited',
    conditions: {Verified: 'Unknown'},
  },
  HostnameClaimed: {
    means:
      'The hostname is verified here, but it is attached elsewhere on this platform. The verification of that owner ' +
      'decides.',
    remedy:
      'Remove the records that point to the other place, such as an older TXT record. The hostname then moves here ' +
      'automatically.',
    waitingFor: 'Customer',
    health: 'stalled',
  },
  VerificationExpired: {
    means: 'The record did not appear in time. Automatic checks have ended.',
    remedy: 'Create the record, then request a check (Verify).',
    waitingFor: 'Customer',
    health: 'stalled',
  },
} as const satisfies Record<string, Reason>;
