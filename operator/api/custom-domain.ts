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
    hostname: text(253, 'The hostname that the record is for.'),
    type: text(
      16,
      'Type of the record: CNAME, TXT, A, AAAA, ALIAS or ANAME. At an apex it is what the DNS provider has; ALIAS where that is not known.',
    ),
    name: text(
      253,
      "Name of the record as a DNS provider's form asks for it, relative to the zone; @ is the zone itself.",
    ),
    zone: text(253, 'The zone (the domain at the provider) in which to create it.'),
    value: text(253, 'Value of the record; it must match exactly.'),
    ttl: z.int32().describe('Time to live in seconds.'),
    note: text(200, 'What the DNS provider makes of such a record at an apex.').optional(),
    state: z
      .enum(['Missing', 'Wrong', 'Conflicting', 'Found', 'Unknown'])
      .describe(
        'What was seen: Missing (no record), Wrong (another value), Conflicting (a record that must be ' +
          'deleted first), Found, Unknown (not asked yet, or no answer).',
      ),
    observed: z
      .array(text(300, 'A record that was seen, as TYPE value.'))
      .max(16)
      .optional()
      .describe('The records that were seen instead.'),
  })
  .describe('A DNS record that the customer must create.');

const zone = z
  .object({
    name: text(253, 'The zone: the hostname itself or a name above it.'),
    nameServers: z
      .array(text(253, 'Name of a name server: lower case, no trailing dot.'))
      .max(8)
      .describe('Its name servers, sorted; the first 8 of more.'),
    provider: text(
      64,
      'The DNS provider that runs them; absent where they are not of one that Doorplate knows.',
    ).optional(),
  })
  .describe(
    "The zone in which the hostname's records are made, as the DNS delegates it; absent until it was " +
      'found, and with dns.mode RecursiveOnly.',
  );

const host = z
  .object({
    hostname: text(253, 'The hostname: lower case, A-labels (RFC 5890), no trailing dot.'),
    role: z
      .enum(['Primary', 'RedirectSource', 'FormerPrimary'])
      .describe(
        'Primary serves the project, RedirectSource redirects to the primary, FormerPrimary (no longer in ' +
          'spec) is served until the new primary is Live, unless the annotation doorplate.dev/stop names it.',
      ),
    phase: z.enum(phases).describe('NotAccepted, AwaitingVerification, Verified, Live or Removing.'),
    reason: text(128, "Why it is in this phase: a word from the page Reasons of Doorplate's documentation."),
    message: text(2048, 'What was seen, what to do, and until when.'),
    since: time('Since when it has had this reason.'),
    addedAt: time(
      'When Doorplate first accepted this hostname here (first saw it, while it is not accepted); absent ' +
        "while the plan's limit holds it back.",
    ).optional(),
    verifiedAt: time('When DNS proved it.').optional(),
    verifiedBy: z
      .enum(verificationMethods)
      .optional()
      .describe(
        'The method of the newest DNS check that verified it: CNAME, TXT (with a token) or Addresses (of the edge). ' +
          "Absent while the platform's own DomainClaim alone counts as proof.",
      ),
    liveAt: time('When it was first seen served with its certificate.').optional(),
    zone: zone.optional(),
    waitingFor: z.enum(parties).describe('Whose turn it is: Customer, Platform, CertificateAuthority or Nobody.'),
    certificate: z
      .object({
        name: text(253, 'Name of the cert-manager Certificate.'),
        notAfter: time('When the certificate expires; renewed before that.').optional(),
      })
      .optional()
      .describe('Its certificate.'),
    redirect: z
      .object({
        to: text(253, 'Where it redirects to.'),
        status: z.int32().describe('HTTP status of the redirect.'),
      })
      .optional()
      .describe('The redirect that is in effect; absent until the primary is Live.'),
    servedUntil: time('Until when it is still served although it no longer qualifies.').optional(),
    refusedFrom: time(
      'End of the grace period of a refusal, such as a downgrade; a drift of DNS may end the service sooner.',
    ).optional(),
  })
  .describe('Where one hostname stands.');

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
    hostsLive: text(16, 'Hostnames that are Live, of all hostnames.').optional(),
    attachedHostnames: z
      .int32()
      .min(0)
      .optional()
      .describe(
        'The number of hostnames in spec. After an upgrade from a release without this field: absent until the status changes.',
      ),
    liveHostnames: z.int32().min(0).optional().describe('How many of the attachedHostnames are in the phase Live.'),
    dnsRecords: z.array(dnsRecord).max(2560).optional().describe('The DNS records that the customer must create.'),
    hosts: z
      .array(host)
      .max(512)
      .meta({'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['hostname']})
      .optional()
      .describe('Where each hostname stands: the primary first, then the others by name.'),
    lastHandledReconcileAt: text(
      256,
      'The value of the annotation doorplate.dev/requestedAt (or reconcile.fluxcd.io/requestedAt) that was last acted on.',
    ).optional(),
    lastHandledReissueAt: text(
      256,
      'The value of the annotation doorplate.dev/reissueRequestedAt that was last carried out: no hostname uses a ' +
        'certificate any more that was ordered before that time.',
    ).optional(),
    conditions: conditions(
      [...customDomainConditions, 'Reconciling', 'Stalled'],
      'Where the primary stands, and (Ready) all hostnames together.',
    ).optional(),
  })
  .describe('Where the domains stand; written by Doorplate only.');

export type CustomDomainStatus = z.output<typeof status>;
export type HostStatus = z.output<typeof host>;
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
