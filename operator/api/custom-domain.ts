import {z} from 'zod';
import type {CustomKind} from './crd.ts';
import {verificationMethods} from './domain-claim.ts';
import {celFold, fold} from './hostname-rules.ts';
import {type Fault, more, namedEntries, type Piece, takeOver, type Value} from './named.ts';
import {
  checked,
  conditions,
  hostname,
  objectName,
  observedGeneration,
  optional,
  text,
  time,
  withDefault,
} from './rules.ts';

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

/** The redirect statuses on offer (RFC 9110, 15.4). */
export const redirectStatuses = [301, 302, 307, 308] as const;
export type RedirectStatus = (typeof redirectStatuses)[number];

const redirectStatus = z.literal([...redirectStatuses]).meta({type: 'integer'});

const projectRef = checked(z.object({name: objectName('Name of a Project in the same namespace.')}), [
  {
    cel: 'self == oldSelf',
    holds: () => true,
    message: 'is immutable: delete this CustomDomain and create one for the other project',
  },
]).describe('The project that these hostnames belong to. Immutable.');

const redirect = z
  .object({
    from: hostname('A hostname of the customer that redirects.'),
    to: optional(hostname('Where it redirects to; only the primary is allowed. Default: the primary.')),
    status: withDefault(redirectStatus, 301).describe('HTTP status of the redirect: 301 (default), 302, 307 or 308.'),
  })
  .describe('A hostname that redirects to the primary.');

const specShape = z.object({
  projectRef,
  primary: hostname('The main hostname: it serves the project.'),
  redirects: optional(
    z
      .array(redirect)
      .max(500)
      .meta({'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['from']}),
  ).describe('Further hostnames, which redirect to the primary, path and query kept.'),
});

/** How many redirects may be written otherwise than they are compared. */
const mostUnfolded = 50;

type SpecShape = z.output<typeof specShape>;
type SpecRedirect = z.output<typeof redirect>;

/** A condition about the redirect `r` in `self`, in CEL and in TypeScript. */
interface RedirectFault {
  cel: string;
  of: (r: SpecRedirect, self: SpecShape) => boolean;
}
const from: Value<{first: SpecRedirect}> = {cel: 'l[0].from', of: ({first}) => first.from};
const to: Value<{first: SpecRedirect}> = {cel: 'l[0].to', of: ({first}) => first.to!};

/** A message about redirects at fault. */
const namedRedirects = (
  fault: RedirectFault,
  pieces: readonly Piece<Fault<SpecRedirect>>[],
  lacking: Parameters<typeof takeOver>[0] = 'this entry',
  texts: readonly Value<SpecRedirect>[] = [{cel: 'r.from', of: (r) => r.from}],
) =>
  namedEntries<SpecShape, SpecRedirect>(
    {list: {cel: 'self.redirects', of: (self) => self.redirects ?? []}, fault, texts},
    [...pieces, takeOver(lacking)],
  );

const fromPrimary: RedirectFault = {
  cel: `${celFold('r.from')} == ${celFold('self.primary')}`,
  of: (r, self) => fold(r.from) === fold(self.primary),
};
const toOther: RedirectFault = {
  cel: `has(r.to) && ${celFold('r.to')} != ${celFold('self.primary')}`,
  of: (r, self) => typeof r.to === 'string' && fold(r.to) !== fold(self.primary),
};
const repeated: RedirectFault = {
  cel: `r.from != ${celFold('r.from')} && [${celFold('r.from')}].exists(a, !folded.exists_one(b, a == b))`,
  of: (r, {redirects}) =>
    fold(r.from) !== r.from && redirects!.filter((other) => fold(other.from) === fold(r.from)).length > 1,
};
const unfolded: RedirectFault = {cel: `${celFold('r.from')} != r.from`, of: (r) => fold(r.from) !== r.from};

/** The rule about repeated hostnames leaves so many names to the rule about spellings: its message would cost too much. */
const manyUnfolded = `self.redirects.filter(r, ${unfolded.cel}).size() > ${mostUnfolded}`;
const hasManyUnfolded = (s: SpecShape) => (s.redirects ?? []).filter((r) => unfolded.of(r, s)).length > mostUnfolded;

const sameHostname =
  ' and another redirect are the same hostname (case and a trailing dot make no difference): a hostname may redirect only once';
const namedRepeated = namedRedirects(repeated, ['the redirect from ', from, sameHostname], 'one of them');

const spec = checked(specShape, [
  {
    cel: `!has(self.redirects) || !self.redirects.exists(r, ${fromPrimary.cel})`,
    holds: (s) => !s.redirects?.some((r) => fromPrimary.of(r, s)),
    message: 'a redirect must not come from the primary: give another hostname, or leave the redirect out',
    named: namedRedirects(fromPrimary, [
      'the redirect from ',
      from,
      more,
      ' must not come from the primary: give another hostname, or leave the redirect out',
    ]),
  },
  {
    cel: `!has(self.redirects) || !self.redirects.exists(r, ${toOther.cel})`,
    holds: (s) => !s.redirects?.some((r) => toOther.of(r, s)),
    message: 'a redirect goes to the primary: write that hostname, or leave `to` out',
    named: namedRedirects(
      toOther,
      [
        'the redirect from ',
        from,
        more,
        ' must go to the primary, not to ',
        to,
        ': write the primary, or leave `to` out',
      ],
      'this entry',
      [
        {cel: 'r.from', of: (r) => r.from},
        {cel: 'r.to', of: (r) => r.to!},
      ],
    ),
  },
  {
    cel: `!has(self.redirects) || !(${manyUnfolded})`,
    holds: (s) => !hasManyUnfolded(s),
    message:
      `at most ${mostUnfolded} redirects may be written with capitals or with a trailing dot: write the ` +
      'others in lower case, without it',
    named: namedRedirects(unfolded, [
      `at most ${mostUnfolded} redirects may be written with capitals or with a trailing dot, and `,
      {cel: 'l.size()', of: ({count}) => count},
      ' are, such as ',
      from,
      ': write the others in lower case, without it',
    ]),
  },
  {
    // Names in normal form are distinct already, as keys of the list. Each name in another form is compared with all names: 500 x 500
    // comparisons would exceed the API server's limit (CEL's cost limit for a call), 50 x 500 do not. The folded list is bound by a list of
    // one, so that each name is folded once.
    cel:
      `!has(self.redirects) || ${manyUnfolded} || [self.redirects.map(r, ${celFold('r.from')})].all(l, ` +
      `self.redirects.all(r, r.from == ${celFold('r.from')} || [${celFold('r.from')}].all(a, l.exists_one(b, a == b))))`,
    holds: (s) =>
      hasManyUnfolded(s) || new Set(s.redirects?.map((r) => fold(r.from))).size === (s.redirects?.length ?? 0),
    message: 'a hostname may redirect only once (case and a trailing dot make no difference): remove the repeated one',
    named: {
      cel: `[self.redirects.map(r, ${celFold('r.from')})].map(folded, ${namedRepeated.cel})[0]`,
      text: namedRepeated.text,
    },
  },
]).describe("The project's own domains.");

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
    reason: text(128, 'Why it is in this phase: a word out of docs/reasons.md.'),
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

export type CustomDomainSpec = z.output<typeof spec>;
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
  shortNames: ['cdom'],
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
  spec,
  status,
  examples: ['spec: {projectRef: {name: docs}, primary: docs.example.com, redirects: [{from: old.example.com}]}'],
} satisfies CustomKind;
