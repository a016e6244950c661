/** The settings of the API and of its page, as they are written in the platform's file. */
import {z} from 'zod';
import {defaultBanRules} from './limits/bans.ts';
import {defaultJournalBounds} from './limits/journal.ts';
import {addresses, exactOrigin, hostnameOrNone, link, origin, quota, span} from './setting-values.ts';

/** The page on which customers manage their domains: whose it looks like. */
const page = z.strictObject({
  enabled: z.boolean().default(true),
  name: z.string().max(60).default(''),
  logo: z
    .string()
    .default('')
    .refine(
      (url) => url === '' || URL.parse(url)?.protocol === 'https:',
      'must be a URL such as https://www.example.com/logo.svg',
    ),
  colour: z
    .string()
    .regex(/^(#[0-9a-fA-F]{6})?$/, 'must be a color such as #2456a6')
    .default(''),
  supportUrl: link.default(''),
  offeredPlans: z.array(z.string().min(1).max(253)).default(['free', 'pro', 'business', 'enterprise']),
  frameAncestors: z.array(origin).default([]),
  // Of the platform's own pages: where links may lead back to, and which pages may sign a customer in without a question.
  returnOrigins: z.array(exactOrigin).default([]),
  linksByKeys: z.boolean().default(false),
  sessionLifetime: span('8h').refine((ms) => ms >= 300_000 && ms <= 604_800_000, 'must be between 5m and 7d'),
  strictTransportSecurity: z.boolean().default(true),
});

/** When a key is banned: see operator/limits/bans.ts. */
const bans = z
  .strictObject({
    enabled: z.boolean().default(true),
    strikes: z.int().min(1).max(60).default(defaultBanRules.strikes),
    refusedPerMinute: z.number().min(1).max(100).default(defaultBanRules.refusedPerMinute),
    firstBan: span('15m'),
    longestBan: span('24h'),
  })
  .refine((b) => b.firstBan <= b.longestBan, {path: ['longestBan'], message: 'must be at least firstBan'});

/** Records of changes: see operator/limits/journal.ts. */
const audit = z.strictObject({
  retention: span('90d'),
  recordsPerTenant: z.int().min(1).max(1_000_000).default(defaultJournalBounds.recordsPerTenant),
  megabytes: z
    .int()
    .min(1)
    .max(100_000)
    .default(defaultJournalBounds.bytes / 1_000_000),
});

/** The API, its limits for callers without a key, and where it keeps what was used. */
export const api = z
  .strictObject({
    enabled: z.boolean().default(false),
    // Empty: reached inside the cluster only.
    host: hostnameOrNone,
    trustedProxies: z
      .array(
        addresses.refine(
          (a) => !a.endsWith('/0'),
          'must not contain all addresses, because every client could then forge its address',
        ),
      )
      .default([]),
    withoutKey: z.strictObject({requestsPerMinute: z.int().min(1).default(60)}).prefault({}),
    // Of the tokens of ServiceAccounts.
    audience: z.string().min(1).max(253).default('doorplate'),
    perServiceAccount: quota({requestsPerMinute: 6000, requestsPerDay: 1_000_000}),
    // Without an Account a namespace has a free quota of its own.
    requireAccount: z.boolean().default(false),
    bans: bans.prefault({}),
    audit: audit.prefault({}),
    authorize: z
      .strictObject({enabled: z.boolean().default(false), acceptOutages: z.boolean().default(false)})
      .prefault({}),
    replicas: z.int().min(1).default(1),
    storage: z
      .strictObject({path: z.string().startsWith('/', 'must be an absolute path').default('/var/lib/doorplate')})
      .prefault({}),
    page: page.prefault({}),
  })
  .refine((a) => !a.enabled || a.host === '' || a.trustedProxies.length > 0, {
    path: ['trustedProxies'],
    message:
      'must name the addresses of the ingress controller that serves api.host: the API trusts X-Forwarded-For only from these addresses',
  });
