/**
 * The shapes of the API, once: they check what comes in and what goes out, and make openapi.json. A shape with an `id` is a named
 * schema there, and its name is a type in customers' code: it never changes. Examples: openapi/examples.ts.
 */
import {z} from 'zod';
import {parties, phases} from '../api/custom-domain.ts';
import {redirectStatuses} from '../api/custom-domain-spec.ts';
import {verificationMethods} from '../api/domain-claim.ts';
import {limitSettings} from '../api/plan.ts';
import {perWindow, type PlanWindows} from '../api/windows.ts';

export const time = (description: string) =>
  z.string().meta({format: 'date-time'}).describe(`${description} RFC 3339, UTC.`);
const unixTime = (description: string) => z.int().describe(`${description} Unix time in seconds.`);

export const projectName = z.string().min(1).max(253).meta({example: 'docs'}).describe('Name of a project.');

const redirectStatus = z.literal([...redirectStatuses]).describe('HTTP status of the redirect.');

export const record = z
  .object({
    type: z
      .string()
      .describe(
        'Type of the record: CNAME, TXT, A, AAAA, ALIAS or ANAME. At an apex it is what the DNS provider has; ' +
          'ALIAS where that is not known.',
      ),
    name: z
      .string()
      .describe("Its name as a DNS provider's form asks for it, relative to the zone; @ is the zone itself."),
    zone: z.string().describe('The zone (the domain at the provider) in which to create it.'),
    value: z.string().describe('Its value; it must match exactly.'),
    ttl: z.int32().describe('Time to live in seconds.'),
    note: z.string().optional().describe('What the DNS provider makes of such a record at an apex.'),
    state: z.enum(['Missing', 'Wrong', 'Conflicting', 'Found', 'Unknown']).describe('What was seen in the DNS.'),
    observed: z.array(z.string()).describe('The records that were seen instead, as TYPE value.'),
  })
  .describe('A DNS record that the customer must create.')
  .meta({id: 'DnsRecord'});

const hostnameRedirect = z
  .object({to: z.string().describe('Where to.'), status: z.int32().describe('HTTP status.')})
  .describe('The redirect that is in effect.')
  .meta({id: 'HostnameRedirect'});

const zone = z
  .object({
    name: z.string().describe('The zone: the hostname itself or a name above it.'),
    nameServers: z.array(z.string()).describe('Its name servers, sorted; the first 8 of more.'),
    provider: z.string().optional().describe('The DNS provider that runs them, where it is a well-known one.'),
  })
  .describe('The zone in which its records are made, once it was found.')
  .meta({id: 'DnsZone'});

const version = z
  .string()
  .describe("The version of the project's domains: it changes with each change of them. For `If-Match`, in quotes.");

const takenOver = z
  .object({
    field: z.string().describe('`primary`, or `redirects[HOSTNAME]`.'),
    before: z.string().nullable().describe('Its hostname or redirect status before the change; null: none.'),
    after: z.string().nullable().describe('The same after the change.'),
  })
  .describe('A field that the support of the platform had set directly, and that a change through this API took over.')
  .meta({id: 'TakenOverField'});

const tookOver = z
  .array(takenOver)
  .optional()
  .describe('Of a change: fields that the support of the platform had set directly, and that the change took over.');

export const host = z
  .object({
    hostname: z.string().describe('The hostname: lower case, A-labels, no trailing dot.'),
    role: z.enum(['Primary', 'RedirectSource', 'FormerPrimary']).describe('What it is for.'),
    phase: z.enum(phases).describe('Where it stands.'),
    reason: z.string().describe('Why: a word out of the documented list.'),
    message: z.string().describe('What was seen, what to do, and until when.'),
    waitingFor: z.enum(parties).describe('Who must act.'),
    since: time('Since when it has had this reason.').optional(),
    addedAt: time('When it was added.').optional(),
    verifiedAt: time('When DNS proved it.').optional(),
    verifiedBy: z
      .enum(verificationMethods)
      .optional()
      .describe('The method of the newest DNS check that verified it; absent while only the platform has.'),
    liveAt: time('When it was first seen served with its certificate.').optional(),
    servedUntil: time('Until when it is still served although it no longer qualifies.').optional(),
    certificateExpires: time('When its certificate expires; it is renewed before that.').optional(),
    redirect: hostnameRedirect.optional(),
    zone: zone.optional(),
    records: z.array(record).describe('The DNS records needed, each with what was seen.'),
    version: version.optional(),
    tookOver,
  })
  .describe('Where one hostname stands.')
  .meta({id: 'Hostname'});

const redirect = z
  .object({
    from: z.string().describe('The hostname that redirects.'),
    to: z.string().describe('Where it redirects to.'),
    status: redirectStatus,
  })
  .describe('A redirect that was asked for.')
  .meta({id: 'Redirect'});

const requestedDomains = z
  .object({
    primary: z.string().nullable().describe('The hostname that serves the project; null while there is none.'),
    redirects: z.array(redirect).describe('The other hostnames.'),
  })
  .describe('What was asked for.')
  .meta({id: 'RequestedDomains'});

export const domains = z
  .object({
    project: projectName,
    domains: requestedDomains,
    hosts: z.array(host).describe('Where each hostname stands: the primary first, then by name.'),
    checkedFor: z.string().nullable().describe('`requestedAt` of the last Verify that was carried out.'),
    reissuedFor: z
      .string()
      .nullable()
      .describe('`requestedAt` of the last Reissue that is complete: every hostname uses a newer certificate.'),
    managedBy: z
      .string()
      .nullable()
      .describe('Who else manages these domains, so that they can only be read here; null where they can be changed.'),
    version,
    tookOver,
  })
  .describe("A project's own domains.")
  .meta({id: 'Domains'});

const domainsSummary = z
  .object({
    primary: z.string().nullable().describe('Its main hostname.'),
    live: z.int32().describe('How many hostnames are live.'),
    total: z.int32().describe('Of how many.'),
  })
  .describe('Its own domains in short.')
  .meta({id: 'DomainsSummary'});

export const project = z
  .object({
    name: projectName,
    host: z.string().nullable().describe('Its default host, and the value of CNAME records; null until it has one.'),
    url: z.string().nullable().describe('Where it is served by default.'),
    deployed: z.boolean().describe('Whether it has had a successful deploy, which own domains need.'),
    firstDeployTime: time('When that was.').optional(),
    ready: z.boolean().describe('Whether it is served.'),
    reason: z.string().describe('Why it is, or is not: a word out of the documented list.'),
    message: z.string().describe('What to do.'),
    domains: domainsSummary,
  })
  .describe('A project.')
  .meta({id: 'Project'});

const limits = z
  .object(
    limitSettings(({text, begins}) => z.int32().describe(`Requests in ${text}${begins === 'AtUtc' ? ' (UTC)' : ''}.`)),
  )
  .describe('Requests per minute and day.')
  .meta({id: 'RateLimit'});

const windowUsage = z
  .object({
    limit: z.int32().describe('Requests in this window.'),
    used: z.int32().describe('Requests made in it so far.'),
    remaining: z.int32().describe('Requests left.'),
    reset: unixTime('When it ends.'),
  })
  .describe('What is used of a minute or a day.')
  .meta({id: 'WindowUsage'});

const usage = z
  .object(
    perWindow(({inPlans}) => (inPlans === 'Optional' ? windowUsage.optional() : windowUsage)) as PlanWindows<
      typeof windowUsage,
      z.ZodOptional<typeof windowUsage>
    >,
  )
  .describe('What is used of them.')
  .meta({id: 'RateLimitUsage'});

const planDomains = z
  .object({
    allowed: z.boolean().describe('Whether projects may have domains of their own.'),
    maxHostnamesPerProject: z.int32().describe('How many hostnames a project may have.'),
  })
  .describe('What a plan allows.')
  .meta({id: 'PlanDomains'});

const plan = z
  .object({
    name: z.string().describe('Name of the plan.'),
    rateLimit: limits,
    customDomains: planDomains,
  })
  .describe('A plan that the platform offers.')
  .meta({id: 'Plan'});

const accountKey = z
  .object({
    name: z.string().describe('Name of this key.'),
    scopes: z.array(z.string()).describe('What it may do.'),
    expires: time('When it expires.').nullable(),
  })
  .describe('The key that asked; null where a ServiceAccount or the page did.')
  .meta({id: 'AccountKey'});

export const account = z
  .object({
    account: z.string().nullable().describe('Name of the account; null where the namespace belongs to none.'),
    namespace: z.string().describe('The namespace that the caller acts in.'),
    plan: z.string().nullable().describe('Name of the plan; null where it does not exist.'),
    rateLimit: limits.describe('The limits of the account, shared by all its keys.'),
    usage,
    customDomains: planDomains,
    key: accountKey.nullable(),
    offeredPlans: z.array(plan).describe('The plans that the platform offers, the smallest first.'),
  })
  .describe('The account of the caller.')
  .meta({id: 'Account'});

const keyFields = z.object({
  name: z.string().describe('Name of the key.'),
  scopes: z.array(z.string()).describe('What it may do.'),
  expires: time('When it expires.').nullable(),
  rateLimit: limits.nullable().describe('A cap of its own, below that of the account.'),
  previousTokenExpires: time(
    'Until when the token before the newest one is accepted; null where there is none.',
  ).nullable(),
  madeBy: z
    .string()
    .nullable()
    .describe('Who made it through this API: ApiKey NAME, ServiceAccount NAMESPACE/NAME, or Page.'),
  lastUsed: time('When it was last used, to the hour.').nullable(),
  ready: z.boolean().describe('Whether it can be used now.'),
  reason: z.string().describe('Why not.'),
});

export const key = keyFields.describe('An API key, without its token.').meta({id: 'ApiKey'});

const token = z
  .string()
  .nullable()
  .describe('The key itself: shown now, and never again. Null where the very same key was there already.');
export const keyWithToken = keyFields.extend({token}).describe('A key, and its token.').meta({id: 'ApiKeyWithToken'});

/** A page of a list. `id`: its name as a schema. */
export const list = <T extends z.ZodType>(id: string, item: T, what: string) =>
  z
    .object({
      items: z.array(item).describe(what),
      next: z.string().nullable().describe('Send it as `after` to read on; null at the end.'),
    })
    .describe(`${what} A page of them.`)
    .meta({id});
export const projectPage = list('ProjectPage', project, 'Projects, by name.');
export const keyPage = list('ApiKeyPage', key, 'Keys, by name.');

export const page = z
  .object({
    limit: z.coerce.number().int().min(1).max(500).default(100).describe('How many at most.'),
    after: z.string().max(253).optional().describe('`next` of the page before.'),
  })
  .describe('Which page.');

export const newDomain = z
  .strictObject({
    hostname: z
      .string()
      .min(1)
      .max(254)
      .describe('The hostname to attach. It is converted to lower case and A-labels.'),
    status: redirectStatus.default(301).describe('HTTP status of the redirect, where it becomes a redirect source.'),
  })
  .describe('A hostname to attach: the first becomes the primary, others redirect to it.')
  .meta({id: 'NewHostname'});

const state = z
  .object({
    role: z.enum(['Primary', 'RedirectSource', 'FormerPrimary']).optional().describe('Of a hostname: what it is for.'),
    redirect: hostnameRedirect.optional().describe('Of a hostname that redirects.'),
    scopes: z.array(z.string()).optional().describe('Of a key, a link or a session: what it may do.'),
    expires: time('Of a key: when it expires; null: never.').nullable().optional(),
    rateLimit: limits.nullable().optional().describe('Of a key: a cap of its own.'),
    previousTokenExpires: time('Of a key: until when the token before the newest one is accepted.')
      .nullable()
      .optional(),
    subject: z.string().nullable().optional().describe('Of a link or a session: for whom it is.'),
  })
  .describe('What was changed, before or after the change.')
  .meta({id: 'AuditState'})
  .nullable();

export const auditRecord = z
  .object({
    time: z.string().meta({format: 'date-time'}).describe('When. RFC 3339 with milliseconds, UTC.'),
    action: z
      .enum([
        'hostname.add',
        'hostname.put',
        'hostname.remove',
        'hostname.make-primary',
        'hostname.verify',
        'hostname.reissue',
        'key.create',
        'key.rotate',
        'key.revoke',
        'link.create',
        'session.start',
        'session.end',
      ])
      .describe('What was done.'),
    actor: z
      .object({
        kind: z.enum(['ApiKey', 'ServiceAccount', 'Page']).describe('What sent the request.'),
        name: z
          .string()
          .nullable()
          .describe(
            'Name of the key, NAMESPACE/NAME of the ServiceAccount, or the key that the session of the page ends with.',
          ),
        subject: z
          .string()
          .nullable()
          .describe('The person whose session of the page it was, if the platform named one.'),
      })
      .describe('Who did it.')
      .meta({id: 'AuditActor'}),
    address: z.string().nullable().describe("The client's address; null for ServiceAccounts."),
    requestId: z.string().describe('`X-Request-Id` of the answer.'),
    namespace: z.string().describe('The namespace.'),
    project: projectName.nullable().describe('The project, if the change is of one.'),
    hostname: z.string().nullable().describe('The hostname, if the change is of one.'),
    key: z.string().nullable().describe('Name of the key that was changed.'),
    before: state.describe('As it was; null if it did not exist.'),
    after: state.describe('As it is since; null if it does not exist.'),
    tookOver,
  })
  .describe(
    'A change. In all texts, control characters and marks that turn the direction of text are written as \\u{HEX}.',
  )
  .meta({id: 'AuditRecord'});
