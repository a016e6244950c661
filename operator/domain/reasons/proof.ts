/** Reasons about a hostname's DNS and its owner. */
import type {Reason} from './reason.ts';
import {contactSupport, foundSoon, message, nothingToDo} from './reason.ts';

export const proofReasons = {
  CheckPending: {
    means:
      'Doorplate has not checked the DNS yet, or another CustomDomain of the same account is handing the hostname over.',
    remedy: 'Nothing. Doorplate checks the DNS at once and completes the hand-over.',
    waitingFor: 'Nobody',
    health: 'awaited',
    conditions: {Verified: 'Unknown'},
    customer: {
      title: 'Waiting for a check',
      body: message,
      next: 'Create the DNS record if the text above names one.',
      howLong: 'A check usually takes less than a minute.',
    },
  },
  RecordMissing: {
    means: 'There is no record at the name.',
    remedy: 'Create the CNAME record that the message names.',
    waitingFor: 'Customer',
    health: 'awaited',
    isNegativeAnswer: true,
    customer: {
      title: 'DNS record is missing',
      body: message,
      next: 'Create the records below at your DNS provider.',
      howLong: foundSoon,
    },
  },
  TargetMismatch: {
    means: 'The CNAME has another value.',
    remedy: 'Correct its value; it must match exactly.',
    waitingFor: 'Customer',
    health: 'awaited',
    mayBeWildcard: true,
    customer: {
      title: 'DNS record has another value',
      body: message,
      next: 'Set the record of this domain to the value below at your DNS provider.',
      howLong: foundSoon,
    },
  },
  IndirectCNAME: {
    means: "The CNAME reaches the project's host by way of another name, which proves nothing about who set it.",
    remedy: 'Point the CNAME straight to the host.',
    waitingFor: 'Customer',
    health: 'awaited',
    mayBeWildcard: true,
    customer: {
      title: 'DNS record is not direct',
      body: message,
      next: 'Set the record of this domain to the value below at your DNS provider.',
      howLong: foundSoon,
    },
  },
  ConflictingRecord: {
    means: 'There are address records at the name, which block the CNAME.',
    remedy: 'Delete them and create the CNAME.',
    waitingFor: 'Customer',
    health: 'awaited',
    mayBeWildcard: true,
    customer: {
      title: 'DNS records are in conflict',
      body: message,
      next: 'Change your DNS records as described above.',
      howLong: foundSoon,
    },
  },
  CNAMENotPossible: {
    means: 'The name has records of other types, such as MX, beside which no CNAME can exist.',
    remedy: 'Leave them, and create the address records and the TXT record that the message names.',
    waitingFor: 'Customer',
    health: 'awaited',
    isNegativeAnswer: true,
    customer: {
      title: 'Other records are in the way',
      body: message,
      next: 'Create the records below at your DNS provider.',
      howLong: foundSoon,
    },
  },
  SynthesizedCNAME: {
    means:
      'The CNAME is made for every name below a DNAME record and was not created for this hostname, so it does not verify it.',
    remedy: 'Replace the DNAME record with records for single names, among them the CNAME that the message names.',
    waitingFor: 'Customer',
    health: 'awaited',
    customer: {
      title: 'DNS record covers all names',
      body: message,
      next: 'Change your DNS records as described above.',
      howLong: foundSoon,
    },
  },
  NameServersDisagree: {
    means: 'Some of the name servers of the zone have the right record, and others do not.',
    remedy:
      'Ask the DNS provider to bring all name servers up to date; remove those of a former provider at the registrar.',
    waitingFor: 'Customer',
    health: 'awaited',
    customer: {
      title: 'DNS servers do not agree',
      body: message,
      next: 'Wait some minutes. If this stays, send the text above to your DNS provider.',
      howLong: 'It usually ends within minutes.',
    },
  },
  ProxiedOrFlattened: {
    means: "The name has the edge's own addresses and no CNAME: a proxy or a flattened record hides the proof.",
    remedy:
      'Switch the proxy or the flattening off and create a plain CNAME; or leave it and create the TXT record that the message names.',
    waitingFor: 'Customer',
    health: 'awaited',
    isNegativeAnswer: true,
    mayBeWildcard: true,
    customer: {
      title: 'DNS record is hidden',
      body: message,
      next: 'Change your DNS records as described above.',
      howLong: foundSoon,
    },
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
    customer: {
      title: 'Domain is behind another service',
      body: message,
      next:
        'Change your DNS records as described above. If another service stays in front, ' +
        'let it connect to us over HTTPS (Cloudflare: Full (strict)).',
      howLong: foundSoon,
    },
  },
  ConflictingA: {
    means: "The apex has an A record that is not the edge's.",
    remedy:
      'Delete it; the record that the message names in its place (an ALIAS, an ANAME, a flattened CNAME, or the ' +
      "edge's addresses) and the TXT are needed.",
    waitingFor: 'Customer',
    health: 'awaited',
    customer: {
      title: 'Domain leads to another address',
      body: message,
      next: 'Delete the records that are named above. Create the records below.',
      howLong: foundSoon,
    },
  },
  ConflictingAAAA: {
    means:
      "The apex has an AAAA record that is not the edge's: who has IPv6 would go elsewhere, the certificate authority too.",
    remedy: 'Delete it.',
    waitingFor: 'Customer',
    health: 'awaited',
    customer: {
      title: 'Domain leads some visitors elsewhere',
      body: message,
      next: 'Delete the records that are named above. Create the records below.',
      howLong: foundSoon,
    },
  },
  TXTMissing: {
    means: "The name has the edge's addresses, which prove no tenant, and no TXT record.",
    remedy: 'Create the TXT record that the message names.',
    waitingFor: 'Customer',
    health: 'awaited',
    isNegativeAnswer: true,
    customer: {
      title: 'Confirmation record is missing',
      body: message,
      next: 'Create the records below at your DNS provider.',
      howLong: foundSoon,
    },
  },
  TXTMismatch: {
    means: 'The TXT record has another value than the token of this tenant, or there is a CNAME in its place.',
    remedy: 'Correct its value; it must match exactly. Other values may stand beside it.',
    waitingFor: 'Customer',
    health: 'awaited',
    mayBeWildcard: true,
    customer: {
      title: 'Confirmation record is wrong',
      body: message,
      next: 'Correct the record as described above. Its value must match exactly.',
      howLong: foundSoon,
    },
  },
  PropagationPending: {
    means: "The zone's own servers have the record, most resolvers do not see it yet.",
    remedy: 'Nothing: old answers expire from the caches.',
    waitingFor: 'Nobody',
    health: 'awaited',
    customer: {
      title: 'DNS change is spreading',
      body: message,
      next: nothingToDo,
      howLong: 'The change usually reaches all networks within a few hours.',
    },
  },
  AuthoritativeUnreachable: {
    means: "None of the zone's own servers could be reached.",
    remedy:
      "The zone's owner: mend the name servers. The platform: allow port 53 outward, or set dns.mode: RecursiveOnly.",
    waitingFor: 'Platform',
    health: 'stalled',
    conditions: {Verified: 'Unknown'},
    customer: {
      title: 'DNS provider does not answer',
      body: message,
      next: 'Ask your DNS provider whether its servers work. If they do, contact support.',
      howLong: '',
    },
  },
  AuthoritativeFailure: {
    means: "The zone's own servers answer with an error, or not for this zone.",
    remedy: 'Mend the zone at the DNS provider: its servers refuse or fail to answer for it.',
    waitingFor: 'Customer',
    health: 'awaited',
    conditions: {Verified: 'Unknown'},
    customer: {
      title: 'DNS provider reports an error',
      body: message,
      next: 'Ask your DNS provider to correct the DNS of this domain.',
      howLong: 'A correction is usually found within a few minutes.',
    },
  },
  DNSSECBroken: {
    means:
      'The DNSSEC chain of the zone is broken: resolvers that validate refuse the name, and so would the certificate authority.',
    remedy: 'Correct or remove the DS record at the registrar, or have the DNS provider sign the zone anew.',
    waitingFor: 'Customer',
    health: 'awaited',
    conditions: {Verified: 'Unknown'},
    customer: {
      title: 'DNS security is broken',
      body: message,
      next: 'Ask your DNS provider to correct DNSSEC for this domain, as described above.',
      howLong: 'A correction usually takes effect within a day.',
    },
  },
  ResolverFailure: {
    means: 'The recursive resolvers gave no usable answer.',
    remedy: 'The platform: check the resolvers in dns.recursive.',
    waitingFor: 'Platform',
    health: 'awaited',
    conditions: {Verified: 'Unknown'},
    customer: {
      title: 'DNS check did not work',
      body: 'This platform could not finish the check of your DNS records. Your records may be correct.',
      next: contactSupport,
      howLong: '',
    },
  },
  NoEdgeAddress: {
    means:
      "The addresses of the platform's edge are not known: its Service has none yet, or its hostname does not resolve.",
    remedy: 'The platform: see that the Service in edge.service has an address, or that edge.hostname resolves.',
    waitingFor: 'Platform',
    health: 'awaited',
    conditions: {Verified: 'Unknown'},
    customer: {
      title: 'Platform is not ready for the check',
      body: 'This platform does not know its own addresses yet, so it cannot check your DNS records.',
      next: contactSupport,
      howLong: '',
    },
  },
  HostnameClaimed: {
    means: 'The hostname is proven here and attached elsewhere on this platform; the proof that stands there decides.',
    remedy:
      'Remove the records that point to the other place, such as an older TXT record; the hostname then passes over by itself.',
    waitingFor: 'Customer',
    health: 'stalled',
    customer: {
      title: 'Domain is in use elsewhere',
      body: message,
      next: 'Follow the step above, or contact support.',
      howLong: '',
    },
  },
  VerificationExpired: {
    means: 'The record did not appear in time; automatic checks have ended.',
    remedy: 'Create the record, then ask for a check (Verify).',
    waitingFor: 'Customer',
    health: 'stalled',
    customer: {
      title: 'Automatic checks have ended',
      body: message,
      next: 'Create the records below, then press Verify.',
      howLong: 'The check usually takes less than a minute.',
    },
  },
} as const satisfies Record<string, Reason>;
