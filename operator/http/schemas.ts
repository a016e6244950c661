/** The shapes of the API, once: they check what comes in and what goes out, and make openapi.json. */
import {z} from 'zod';
import {parties, phases, redirectStatuses} from '../api/custom-domain.ts';
import {hostname} from '../api/rules.ts';

const time = (description: string) => z.string().describe(`${description} RFC 3339, UTC.`);

export const projectName = z.string().min(1).max(253).describe('Name of a project.');

const redirectStatus = z.literal([...redirectStatuses]).describe('HTTP status of the redirect.');

const record = z
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
    ttl: z.int().describe('Time to live in seconds.'),
    note: z.string().optional().describe('What the DNS provider makes of such a record at an apex.'),
    state: z.enum(['Missing', 'Wrong', 'Conflicting', 'Found', 'Unknown']).describe('What was seen in the DNS.'),
    observed: z.array(z.string()).describe('The records that were seen instead, as TYPE value.'),
  })
  .describe('A DNS record that the customer must create.');

const version = z
  .string()
  .describe("The version of the project's domains: it changes with each change of them. For `If-Match`, in quotes.");

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
    liveAt: time('When it was first seen served with its certificate.').optional(),
    servedUntil: time('Until when it is still served although it no longer qualifies.').optional(),
    certificateExpires: time('When its certificate expires; it is renewed before that.').optional(),
    redirect: z
      .object({to: z.string().describe('Where to.'), status: z.int().describe('HTTP status.')})
      .optional()
      .describe('The redirect that is in effect.'),
    zone: z
      .object({
        name: z.string().describe('The zone: the hostname itself or a name above it.'),
        nameServers: z.array(z.string()).describe('Its name servers, sorted; the first 8 of more.'),
        provider: z.string().optional().describe('The DNS provider that runs them, where it is a well-known one.'),
      })
      .optional()
      .describe('The zone in which its records are made, once it was found.'),
    records: z.array(record).describe('The DNS records needed, each with what was seen.'),
    version: version.optional(),
  })
  .describe('Where one hostname stands.');

export const domains = z
  .object({
    project: projectName,
    domains: z
      .object({
        primary: z.string().nullable().describe('The hostname that serves the project; null while there is none.'),
        redirects: z
          .array(
            z.object({
              from: z.string().describe('The hostname that redirects.'),
              to: z.string().describe('Where it redirects to.'),
              status: redirectStatus,
            }),
          )
          .describe('The other hostnames.'),
      })
      .describe('What was asked for.'),
    hosts: z.array(host).describe('Where each hostname stands: the primary first, then by name.'),
    checkedFor: z.string().nullable().describe('`requestedAt` of the last Verify that was carried out.'),
    managedBy: z
      .string()
      .nullable()
      .describe('Who else owns these domains, so that they can only be read here; null where they can be changed.'),
    version,
  })
  .describe("A project's own domains.");

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
    domains: z
      .object({
        primary: z.string().nullable().describe('Its main hostname.'),
        live: z.int().describe('How many hostnames are live.'),
        total: z.int().describe('Of how many.'),
      })
      .describe('Its own domains in short.'),
  })
  .describe('A project.');

const limits = z.object({
  requestsPerMinute: z.int().describe('Requests in a minute.'),
  requestsPerDay: z.int().describe('Requests in a day (UTC).'),
});

const windowUsage = z.object({
  limit: z.int().describe('Requests in this window.'),
  used: z.int().describe('Requests made in it so far.'),
  remaining: z.int().describe('Requests left.'),
  reset: z.int().describe('When it ends: Unix time in seconds.'),
});

const planDomains = z.object({
  allowed: z.boolean().describe('Whether projects may have domains of their own.'),
  maxHostnamesPerProject: z.int().describe('How many hostnames a project may have.'),
});

export const account = z
  .object({
    account: z.string().nullable().describe('Name of the account; null where the namespace belongs to none.'),
    namespace: z.string().describe('The namespace that the caller acts in.'),
    plan: z.string().nullable().describe('Name of the plan; null where it does not exist.'),
    rateLimit: limits.describe('The limits of the account, shared by all its keys.'),
    usage: z.object({minute: windowUsage, day: windowUsage}).describe('What is used of them.'),
    customDomains: planDomains.describe('What the plan allows.'),
    key: z
      .object({
        name: z.string().describe('Name of this key.'),
        scopes: z.array(z.string()).describe('What it may do.'),
        expires: time('When it expires.').nullable(),
      })
      .nullable()
      .describe('The key that asked; null where a ServiceAccount or the page did.'),
    offeredPlans: z
      .array(
        z.object({
          name: z.string().describe('Name of the plan.'),
          rateLimit: limits.describe('Its limits.'),
          customDomains: planDomains.describe('What it allows.'),
        }),
      )
      .describe('The plans that the platform offers, the smallest first.'),
  })
  .describe('The account of the caller.');

export const key = z
  .object({
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
  })
  .describe('An API key, without its token.');

export const list = <T extends z.ZodType>(item: T, what: string) =>
  z
    .object({
      items: z.array(item).describe(what),
      next: z.string().nullable().describe('Send it as `after` to read on; null at the end.'),
    })
    .describe(`${what} A page of them.`);

export const page = z
  .object({
    limit: z.coerce.number().int().min(1).max(500).default(100).describe('How many at most.'),
    after: z.string().max(253).optional().describe('`next` of the page before.'),
  })
  .describe('Which page.');

export const newDomain = z
  .strictObject({
    hostname: hostname('The hostname to attach.'),
    status: redirectStatus.default(301).describe('HTTP status of the redirect, where it becomes a redirect source.'),
  })
  .describe('A hostname to attach: the first becomes the primary, others redirect to it.');
