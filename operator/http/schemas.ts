/**
 * The shapes of the API, once: they check what comes in and what goes out, and make openapi.json. A shape with an `id` is a named
 * schema there, and its name is a type in customers' code: it never changes. Examples: openapi/examples.ts.
 */
import {z} from 'zod';
import {customerText} from './texts/schema.ts';
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
        'Type of the record: CNAME, TXT, A, AAAA, ALIAS or ANAME. At an apex: the type that the DNS provider offers, ' +
          'or ALIAS if unknown.',
      ),
    name: z
      .string()
      .describe('Its name, as in the form of a DNS provider: relative to the zone. @ is the zone itself.'),
    zone: z.string().describe('The zone (the domain at the provider) for the record.'),
    value: z.string().describe('Its value. It must match exactly.'),
    ttl: z.int32().describe('Time to live in seconds.'),
    note: z.string().optional().describe('The effect of this record at an apex with this DNS provider.'),
    state: z.enum(['Missing', 'Wrong', 'Conflicting', 'Found', 'Unknown']).describe('Result of the last DNS check.'),
    observed: z.array(z.string()).describe('Other records that DNS has at this name, as TYPE value.'),
  })
  .describe('A DNS record that the customer must create.')
  .meta({id: 'DnsRecord'});

export const hostnameRedirect = z
  .object({to: z.string().describe('Target.'), status: z.int32().describe('HTTP status.')})
  .describe('The active redirect.')
  .meta({id: 'HostnameRedirect'});

const zone = z
  .object({
    name: z.string().describe('The zone: the hostname itself or a name above it.'),
    nameServers: z.array(z.string()).describe('Its name servers, sorted, at most 8.'),
    provider: z.string().optional().describe('The DNS provider of these name servers, if Doorplate knows it.'),
  })
  .describe('The zone of its records. Absent until Doorplate finds it.')
  .meta({id: 'DnsZone'});

const version = z
  .string()
  .describe("The version of the project's domains, which changes with each change. For `If-Match`, in quotes.");

const takenOver = z
  .object({
    field: z.string().describe('`primary`, or `redirects[HOSTNAME]`.'),
    before: z.string().nullable().describe('Its hostname or redirect status before the change. Null: none.'),
    after: z.string().nullable().describe('Its hostname or redirect status after the change. Null: none.'),
  })
  .describe('A field that the support of the platform had set directly, and that a change through this API took over.')
  .meta({id: 'TakenOverField'});

export const tookOver = z
  .array(takenOver)
  .optional()
  .describe('After a change: fields that the support of the platform had set directly, and that the change took over.');

export const host = z
  .object({
    hostname: z.string().describe('The hostname: lower case, A-labels, no trailing dot.'),
    role: z.enum(['Primary', 'RedirectSource', 'FormerPrimary']).describe('Role of the hostname.'),
    phase: z.enum(phases).describe('Phase of the hostname.'),
    reason: z.string().describe('Cause of the phase: a word of the documented list.'),
    message: z.string().describe('Facts, next step and time limit.'),
    customer: customerText.optional(),
    waitingFor: z.enum(parties).describe('Party that must act next.'),
    since: time('Start of this reason.').optional(),
    addedAt: time('Time of its addition.').optional(),
    verifiedAt: time('Time of its verification through DNS.').optional(),
    verifiedBy: z
      .enum(verificationMethods)
      .optional()
      .describe('Method of the newest DNS check that verified it. Absent if only the platform has verified it.'),
    liveAt: time('Time when it was first served with its certificate.').optional(),
    servedUntil: time('End of its service, if it no longer qualifies.').optional(),
    certificateExpires: time('End of its certificate. cert-manager renews it earlier.').optional(),
    redirect: hostnameRedirect.optional(),
    zone: zone.optional(),
    records: z.array(record).describe('The required DNS records, each with the result of the last DNS check.'),
    version: version.optional(),
    tookOver,
  })
  .describe('The state of one hostname.')
  .meta({id: 'Hostname'});

const redirect = z
  .object({
    from: z.string().describe('The hostname that redirects.'),
    to: z.string().describe('Target of the redirect.'),
    status: redirectStatus,
  })
  .describe('A requested redirect.')
  .meta({id: 'Redirect'});

const requestedDomains = z
  .object({
    primary: z.string().nullable().describe('The hostname that serves the project. Null if there is none.'),
    redirects: z.array(redirect).describe('The other hostnames.'),
  })
  .describe('The requested domains.')
  .meta({id: 'RequestedDomains'});

export const domains = z
  .object({
    project: projectName,
    domains: requestedDomains,
    hosts: z.array(host).describe('The state of each hostname: the primary first, then by name.'),
    checkedFor: z.string().nullable().describe('`requestedAt` of the last complete Verify.'),
    reissuedFor: z
      .string()
      .nullable()
      .describe('`requestedAt` of the last complete Reissue: every hostname uses a newer certificate.'),
    managedBy: z
      .string()
      .nullable()
      .describe('Other manager of these domains, which the API can then only read. Null: the API can change them.'),
    version,
    tookOver,
  })
  .describe('The domains of a project.')
  .meta({id: 'Domains'});

const domainsSummary = z
  .object({
    primary: z.string().nullable().describe('The main hostname.'),
    live: z.int32().describe('Number of live hostnames.'),
    total: z.int32().describe('Number of all hostnames.'),
  })
  .describe('A summary of its domains.')
  .meta({id: 'DomainsSummary'});

export const project = z
  .object({
    name: projectName,
    host: z.string().nullable().describe('Its default hostname, and the value of CNAME records.'),
    url: z.string().nullable().describe('URL of the default hostname.'),
    deployed: z.boolean().describe('Whether it has had a successful deploy. Custom domains require one.'),
    firstDeployTime: time('Time of the first successful deploy.').optional(),
    ready: z.boolean().describe('Whether the project is served.'),
    reason: z.string().describe('Cause of this state: a word of the documented list.'),
    message: z.string().describe('Facts and next step.'),
    customer: customerText.optional(),
    domains: domainsSummary,
  })
  .describe('A project.')
  .meta({id: 'Project'});

export const limits = z
  .object(
    limitSettings(({text, begins}) => z.int32().describe(`Requests in ${text}${begins === 'AtUtc' ? ' (UTC)' : ''}.`)),
  )
  .describe('Requests per minute and day.')
  .meta({id: 'RateLimit'});

const windowUsage = z
  .object({
    limit: z.int32().describe('Requests in this window.'),
    used: z.int32().describe('Used requests of this window.'),
    remaining: z.int32().describe('Requests left.'),
    reset: unixTime('End of the window.'),
  })
  .describe('The use of a minute or a day.')
  .meta({id: 'WindowUsage'});

const usage = z
  .object(
    perWindow(({inPlans}) => (inPlans === 'Optional' ? windowUsage.optional() : windowUsage)) as PlanWindows<
      typeof windowUsage,
      z.ZodOptional<typeof windowUsage>
    >,
  )
  .describe('The use of the limits.')
  .meta({id: 'RateLimitUsage'});

const planDomains = z
  .object({
    allowed: z.boolean().describe('Whether projects may have custom domains.'),
    maxHostnamesPerProject: z.int32().describe('Maximum number of hostnames of a project.'),
  })
  .describe('The custom domains of a plan.')
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
    scopes: z.array(z.string()).describe('Permissions of the key.'),
    expires: time('End of the key. Null: never.').nullable(),
  })
  .describe('The key of the request. Null for a ServiceAccount and for the page.')
  .meta({id: 'AccountKey'});

export const account = z
  .object({
    account: z.string().nullable().describe('Name of the account. Null if the namespace belongs to none.'),
    namespace: z.string().describe('The namespace of the request.'),
    plan: z.string().nullable().describe('Name of the plan. Null if it does not exist.'),
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
  scopes: z.array(z.string()).describe('Permissions of the key.'),
  expires: time('End of the key. Null: never.').nullable(),
  rateLimit: limits.nullable().describe('Its own cap, below the limits of the account.'),
  previousTokenExpires: time('End of the previous token. Null if there is none.').nullable(),
  madeBy: z
    .string()
    .nullable()
    .describe('Creator of the key in this API: ApiKey NAME, ServiceAccount NAMESPACE/NAME, or Page.'),
  lastUsed: time('Last use of the key, to the hour.').nullable(),
  ready: z.boolean().describe('Whether the API accepts the key now.'),
  reason: z.string().describe('Cause of this state.'),
  customer: customerText.optional(),
});

export const key = keyFields.describe('An API key, without its token.').meta({id: 'ApiKey'});

const token = z
  .string()
  .nullable()
  .describe('The token, which the API shows only once. Null if the same key existed already.');
export const keyWithToken = keyFields
  .extend({token})
  .describe('An API key with its token.')
  .meta({id: 'ApiKeyWithToken'});

/** A page of a list. `id`: its name as a schema. */
export const list = <T extends z.ZodType>(id: string, item: T, what: string) =>
  z
    .object({
      items: z.array(item).describe(what),
      next: z.string().nullable().describe('Send it as `after` to read the next page. Null at the end.'),
    })
    .describe(`${what} A page of them.`)
    .meta({id});
export const projectPage = list('ProjectPage', project, 'Projects, by name.');
export const keyPage = list('ApiKeyPage', key, 'Keys, by name.');

export const page = z
  .object({
    limit: z.coerce.number().int().min(1).max(500).default(100).describe('Maximum number of items.'),
    after: z.string().max(253).optional().describe('`next` of the previous page.'),
  })
  .describe('Selects a page.');

export const newDomain = z
  .strictObject({
    hostname: z
      .string()
      .min(1)
      .max(254)
      .describe('The hostname to attach. The API converts it to lower case and A-labels.'),
    status: redirectStatus.default(301).describe('HTTP status of the redirect, if it becomes a redirect source.'),
  })
  .describe('A hostname to attach. The first becomes the primary, others redirect to it.')
  .meta({id: 'NewHostname'});
