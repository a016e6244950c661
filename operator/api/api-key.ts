import {core, z} from 'zod';
import type {CustomKind} from './crd.ts';
import {rateLimit} from './plan.ts';
import {checked, conditions, observedGeneration, optional, text, time} from './rules.ts';

/** On an ApiKey: lifts the bans of its tokens, once for each new value. Only the platform sets it (admission policy). */
export const liftBanAnnotation = 'doorplate.dev/lift-ban';

/** What a key may do with Doorplate's own API; any other `word:word` is the platform's. */
export const ownScopes = ['domains:read', 'domains:write', 'keys:write', 'usage:read', 'audit:read'] as const;

/** Characters of an ApiKey's name: it stands in the token beside the namespace's, which has as many at most. */
export const longestKeyName = 63;

/** Keys that a key comes from, the one that made it first: so many at most, and the last one makes no keys. */
export const mostMakers = 8;

/** The SHA-256 of a token, in hex. */
export const hashPattern = '^[0-9a-f]{64}$';
export const scopePattern = '^[a-z][a-z0-9-]{0,30}:[a-z][a-z0-9-]{0,30}$';
// RFC 3339 in whole seconds, with days that exist. No `format`: it would let times without a zone pass.
const timePattern = core.regexes.datetime({precision: 0, offset: true}).source;

const celPattern = (pattern: string) => `self.matches('${pattern.replaceAll('\\', '\\\\')}')`;

const expireTime = (description: string) =>
  checked(z.string().min(1).max(32), [
    {
      cel: celPattern(timePattern),
      holds: (t) => new RegExp(timePattern).test(t),
      message: 'must be a time in whole seconds with its zone, such as 2027-01-31T00:00:00Z (RFC 3339)',
    },
  ]).describe(description);

const sha256 = checked(z.string().min(1).max(64), [
  {
    cel: celPattern(hashPattern),
    holds: (h) => new RegExp(hashPattern).test(h),
    message:
      'must be the SHA-256 of the whole token: 64 digits and lower-case letters a to f. Never write the token itself here',
  },
]).describe('SHA-256 of the whole token, in lower-case hex. No object contains the token.');

const scope = checked(z.string().min(1).max(63), [
  {
    cel: celPattern(scopePattern),
    holds: (s) => new RegExp(scopePattern).test(s),
    message:
      'must be two words with a colon between them, such as domains:read. Each word has at most 31 lower-case letters, digits and hyphens',
  },
]).describe(`A permission of the key: ${ownScopes.join(', ')}, or a word:word of the platform's own APIs.`);

const madeBy = z
  .object({
    by: text(600, 'Creator of the key: ApiKey NAME, ServiceAccount NAMESPACE/NAME, or Page.'),
    keys: z
      .array(
        z
          .object({
            name: text(longestKeyName, 'Name of the ApiKey.'),
            uid: text(64, 'UID of the ApiKey.'),
            rateLimit: rateLimit('The cap of that key. The requests of this key count in it too.', {
              named: false,
            }).optional(),
          })
          .describe('A key in the line of makers.'),
      )
      .max(mostMakers)
      .meta({'x-kubernetes-list-type': 'atomic'})
      .optional()
      .describe('The maker of this key first, then the maker of each maker.'),
  })
  .describe("Creator of the key in Doorplate's API. A key cannot create a key with more rights.");

const spec = z
  .object({
    hashes: checked(
      z
        .array(
          z
            .object({
              sha256,
              expireTime: optional(expireTime('End of this token. The older of two tokens must have one.')),
            })
            .describe('An accepted token.'),
        )
        .min(1)
        .max(2)
        .meta({'x-kubernetes-list-type': 'atomic'}),
      [
        {
          cel: 'self.size() < 2 || self[0].sha256 != self[1].sha256',
          holds: (hashes) => hashes.length < 2 || hashes[0]!.sha256 !== hashes[1]!.sha256,
          message: 'the two hashes are the same: remove one of them',
        },
        {
          cel: 'self.size() < 2 || has(self[1].expireTime)',
          holds: (hashes) => hashes.length < 2 || typeof hashes[1]!.expireTime === 'string',
          message: 'the second hash is of the older token and needs an expireTime: list the newer token first',
        },
      ],
    ).describe(
      'Accepted tokens: one, or two during a rotation. The newer token is first, and the older one has an expireTime.',
    ),
    scopes: checked(z.array(scope).min(1).max(32).meta({'x-kubernetes-list-type': 'set'}), [
      {
        cel: 'self.all(s, self.exists_one(t, t == s))',
        holds: (scopes) => new Set(scopes).size === scopes.length,
        message: 'a scope is listed twice: remove the repeated one',
      },
    ]).describe('Permissions of the key, in its own namespace only.'),
    expireTime: optional(expireTime('End of the key and of all its tokens. Default: never.')),
    rateLimit: optional(rateLimit('A cap for this key alone, below the limits of its tenant.', {named: false})),
    madeBy: madeBy.optional(),
  })
  .describe('The tokens, the permissions and the limits of the key.');

const status = z
  .object({
    observedGeneration,
    lastUsedTime: time('Last use of the key, in whole hours.').optional(),
    lastHandledLiftBan: text(
      256,
      `The value of the annotation ${liftBanAnnotation} that last lifted a ban.`,
    ).optional(),
    conditions: conditions(
      ['Ready', 'Stalled'],
      'Ready is True if the API accepts the key: the key has no ban and has not expired.',
    ).optional(),
  })
  .describe('The state of the key. Only Doorplate writes it.');

export type ApiKeySpec = z.output<typeof spec>;
export type ApiKeyStatus = z.output<typeof status>;

export const apiKeyKind = {
  kind: 'ApiKey',
  plural: 'apikeys',
  singular: 'apikey',
  shortNames: ['dpkey'],
  description:
    "A key to the platform's API for the Projects of its own namespace. It contains only hashes of tokens, so you can keep it in Git.",
  columns: [
    {name: 'SCOPES', jsonPath: '.spec.scopes'},
    {name: 'READY', jsonPath: '.status.conditions[?(@.type=="Ready")].status'},
    {name: 'REASON', jsonPath: '.status.conditions[?(@.type=="Ready")].reason'},
    {name: 'LAST-USED', jsonPath: '.status.lastUsedTime', type: 'date'},
    {name: 'AGE', jsonPath: '.metadata.creationTimestamp', type: 'date'},
    {name: 'EXPIRES', jsonPath: '.spec.expireTime', wide: true},
    {name: 'MESSAGE', jsonPath: '.status.conditions[?(@.type=="Ready")].message', wide: true},
  ],
  spec,
  status,
  rules: [
    {
      cel: `self.metadata.name.size() <= ${longestKeyName}`,
      message: `the name of an ApiKey has at most ${longestKeyName} characters, because the token contains it`,
    },
  ],
  examples: [`spec: {hashes: [{sha256: ${'0123456789abcdef'.repeat(4)}}], scopes: ['domains:read']}`],
} satisfies CustomKind;
