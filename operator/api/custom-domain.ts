import {z} from 'zod';
import type {CustomKind} from './crd.ts';
import {customDomainSpec} from './custom-domain-spec.ts';
import {verificationMethods} from './domain-claim.ts';
import {conditions, observedGeneration, text, time} from './rules.ts';

/** Conditions that a CustomDomain's status always has, in this order. Reconciling or Stalled follow while true. */
export const customDomainConditions = [
  'Accepted',
  'Verified',
  'CertificateReady',
  'RoutesReady',
  'Live',
  'Ready',
] as const;

/** The lifecycle of a hostname; see the drawing in `domain/lifecycle.ts`. */
export const phases = ['NotAccepted', 'AwaitingVerification', 'Verified', 'Live', 'Removing'] as const;
export type Phase = (typeof phases)[number];

/** Whose turn it is. */
export const parties = ['Customer', 'Platform', 'CertificateAuthority', 'Nobody'] as const;
export type Party = (typeof parties)[number];

const dnsRecord = z
  .object({
    hostname: text(253, 'The hostname of the record.'),
    type: text(
      16,
      'Type of the record: CNAME, TXT, A, AAAA, ALIAS or ANAME. At an apex: the type that the DNS provider offers, or ALIAS if unknown.',
    ),
    name: text(
      253,
      'Name of the record, as in the form of a DNS provider: relative to the zone. @ is the zone itself.',
    ),
    zone: text(253, 'The zone (the domain at the provider) for the record.'),
    value: text(253, 'Value of the record; it must match exactly.'),
    ttl: z.int32().describe('Time to live in seconds.'),
    note: text(200, 'The effect of this record at an apex with this DNS provider.').optional(),
    state: z
      .enum(['Missing', 'Wrong', 'Conflicting', 'Found', 'Unknown'])
      .describe(
        'Result of the last DNS check: Missing (no record), Wrong (another value), Conflicting (delete the other ' +
          'record first), Found, Unknown (no check yet, or no answer).',
      ),
    observed: z
      .array(text(300, 'A record in DNS, as TYPE value.'))
      .max(16)
      .optional()
      .describe('Other records that DNS has at this name.'),
  })
  .describe('A DNS record that the customer must create.');

const zone = z
  .object({
    name: text(253, 'The zone: the hostname itself or a name above it.'),
    nameServers: z
      .array(text(253, 'Name of a name server: lower case, no trailing dot.'))
      .max(8)
      .describe('Its name servers, sorted, at most 8.'),
    provider: text(
      64,
      'The DNS provider of these name servers. Absent if Doorplate does not know the provider.',
    ).optional(),
  })
  .describe(
    "The zone of the hostname's records, as DNS delegates it. Absent until Doorplate has found it, and with " +
      'dns.mode RecursiveOnly.',
  );

/** Characters of each part of a message in `details`. */
export const longestDetail = 253;

const details = z
  .object({
    cause: text(
      longestDetail,
      'The case of the reason: Invalid, Reserved, PublicSuffix, Platform, Denied (HostnameNotAllowed); ZoneAppended (TargetMismatch); ' +
        'Quoted (TXTMismatch); Own, Contest (HostnameClaimed); Moved (ServedUntilReplaced); Dnssec (CAALookupFailed); Failures ' +
        '(IssuanceBudgetExhausted); Dns, Caa, Name, Failed (an attempt at a certificate).',
    ).optional(),
    endTime: time(
      'Expected time of the next step, or the time until which resolvers may repeat the old answer (PropagationPending).',
    ).optional(),
    queuedAt: time('Time since which the order waits in the order queue. It decides the position.').optional(),
    limit: text(
      longestDetail,
      'The limit that was reached: a number of hostnames, or of hours (VerificationExpired).',
    ).optional(),
    place: text(longestDetail, 'The name with the misplaced record, the DNAME record, or the CAA records.').optional(),
    wildcard: text(longestDetail, 'The wildcard record that answers for the hostname.').optional(),
    add: text(longestDetail, 'The CAA record to add, in the form of a zone file.').optional(),
    remove: text(longestDetail, 'The address records to delete, as TYPE value, separated by commas.').optional(),
    service: text(longestDetail, 'The content delivery network (CDN) that the hostname is behind.').optional(),
    servers: text(longestDetail, 'The name servers that lack the record, separated by commas.').optional(),
    types: text(longestDetail, 'The types of other records at the hostname, separated by commas.').optional(),
  })
  .describe("Parts of the message for the customer's texts (domain/reasons/texts), which programs can translate.");

const host = z
  .object({
    hostname: text(253, 'The hostname: lower case, A-labels (RFC 5890), no trailing dot.'),
    role: z
      .enum(['Primary', 'RedirectSource', 'FormerPrimary'])
      .describe(
        'Primary serves the project. RedirectSource redirects to the primary. FormerPrimary is no longer in spec, and is ' +
          'served until the new primary is Live. The annotation doorplate.dev/stop ends it earlier.',
      ),
    phase: z.enum(phases).describe('NotAccepted, AwaitingVerification, Verified, Live or Removing.'),
    reason: text(128, "Cause of the phase: a word from the page Reasons of Doorplate's documentation."),
    message: text(2048, 'Facts, next step and time limit.'),
    details: details.optional(),
    since: time('Start of this reason.'),
    addedAt: time(
      'Time when Doorplate first accepted this hostname here. Before that: time when Doorplate first read it. Absent ' +
        'while the limit of the plan refuses it.',
    ).optional(),
    verifiedAt: time('Time of the verification through DNS.').optional(),
    verifiedBy: z
      .enum(verificationMethods)
      .optional()
      .describe(
        'Method of the newest DNS check that verified the hostname: CNAME, TXT (with a token) or Addresses (of the edge). ' +
          "Absent while only the platform's own DomainClaim verifies it.",
      ),
    liveAt: time('Time when the edge first presented its certificate to Doorplate.').optional(),
    zone: zone.optional(),
    waitingFor: z.enum(parties).describe('Party that must act next.'),
    certificate: z
      .object({
        name: text(253, 'Name of the cert-manager Certificate.'),
        notAfter: time('End of the certificate. cert-manager renews it earlier.').optional(),
      })
      .optional()
      .describe('The certificate of the hostname.'),
    redirect: z
      .object({
        to: text(253, 'Target of the redirect.'),
        status: z.int32().describe('HTTP status of the redirect.'),
      })
      .optional()
      .describe('The active redirect. Absent until the primary is Live.'),
    servedUntil: time('End of the service of a hostname that no longer qualifies.').optional(),
    refusedFrom: time(
      'End of the grace period after a refusal, such as a downgrade. A drift of DNS can end the service earlier.',
    ).optional(),
  })
  .describe('The state of one hostname.');

/** Annotations whose new value asks for a check at once. */
export const requestAnnotations = ['doorplate.dev/requestedAt', 'reconcile.fluxcd.io/requestedAt'] as const;

/** Annotation with hostnames, separated by commas, whose service ends at once when the spec no longer names them. */
export const stopAnnotation = 'doorplate.dev/stop';
/** Characters of its value. */
export const longestStop = 1024;
/** Annotation with the time of a requested reissue, RFC 3339: certificates that were ordered before it are replaced. */
export const reissueAnnotation = 'doorplate.dev/reissueRequestedAt';

const status = z
  .object({
    observedGeneration,
    phase: z
      .enum(phases)
      .optional()
      .describe('Phase of the primary: NotAccepted, AwaitingVerification, Verified, Live or Removing.'),
    hostsLive: text(16, 'Number of Live hostnames, of all hostnames, such as 1/2.').optional(),
    attachedHostnames: z
      .int32()
      .min(0)
      .optional()
      .describe(
        'Number of hostnames in spec. Absent after an upgrade from a release without this field, until the status changes.',
      ),
    liveHostnames: z.int32().min(0).optional().describe('Number of attachedHostnames in the phase Live.'),
    dnsRecords: z.array(dnsRecord).max(2560).optional().describe('The DNS records that the customer must create.'),
    hosts: z
      .array(host)
      .max(512)
      .meta({'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['hostname']})
      .optional()
      .describe('The state of each hostname: the primary first, then the others by name.'),
    lastHandledReconcileAt: text(
      256,
      'The value of the annotation doorplate.dev/requestedAt (or reconcile.fluxcd.io/requestedAt) of the last requested check.',
    ).optional(),
    lastHandledReissueAt: text(
      256,
      'The value of the annotation doorplate.dev/reissueRequestedAt of the last complete reissue: all hostnames use ' +
        'certificates that were ordered after that time.',
    ).optional(),
    conditions: conditions(
      [...customDomainConditions, 'Reconciling', 'Stalled'],
      'The state of the primary. Ready is about all hostnames.',
    ).optional(),
  })
  .describe('The state of the hostnames. Only Doorplate writes it.');

export type CustomDomainStatus = z.output<typeof status>;
export type HostStatus = z.output<typeof host>;
export type HostDetails = z.output<typeof details>;
export type ZoneStatus = z.output<typeof zone>;
export type DnsRecordStatus = z.output<typeof dnsRecord>;

/** The hostnames that wait for somebody. */
const waiting = '.status.hosts[?(@.waitingFor!="Nobody")]';

export const customDomainKind = {
  kind: 'CustomDomain',
  plural: 'customdomains',
  singular: 'customdomain',
  shortNames: ['dpdom'],
  description: "A project's own domains: one primary hostname that serves it, and others that redirect to the primary.",
  columns: [
    {name: 'PRIMARY', jsonPath: '.spec.primary'},
    {name: 'PHASE', jsonPath: '.status.phase'},
    {name: 'HOSTS', jsonPath: '.status.hostsLive'},
    {name: 'READY', jsonPath: '.status.conditions[?(@.type=="Ready")].status'},
    {name: 'REASON', jsonPath: '.status.conditions[?(@.type=="Ready")].reason'},
    {name: 'AGE', jsonPath: '.metadata.creationTimestamp', type: 'date'},
    // The first hostname that waits for an action, the primary before all others: the API server shows a single value.
    {name: 'WAITING-FOR', jsonPath: `${waiting}.waitingFor`, wide: true},
    {name: 'SINCE', jsonPath: `${waiting}.since`, type: 'date', wide: true},
    {name: 'WAITING', jsonPath: `${waiting}.hostname`, wide: true},
    {name: 'TARGET', jsonPath: '.status.dnsRecords[0].value', wide: true},
    {name: 'MESSAGE', jsonPath: '.status.conditions[?(@.type=="Ready")].message', wide: true},
  ],
  // The API server compares the text of the spec: a selector in lower case does not find a primary with capitals.
  selectable: ['.spec.primary', '.spec.projectRef.name'],
  spec: customDomainSpec,
  status,
  examples: ['spec: {projectRef: {name: docs}, primary: docs.example.com, redirects: [{from: old.example.com}]}'],
} satisfies CustomKind;
