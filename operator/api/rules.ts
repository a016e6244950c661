import {z} from 'zod';

/**
 * A rule that a value must obey, said twice: once for zod (tests, the page, the API) and once in CEL, because a zod
 * refinement never reaches a CRD. `test/crds/accept-refuse.test.ts` runs one table through both.
 */
export interface Rule<T> {
  /** A CEL expression over `self` (RE2 in `matches`), as `x-kubernetes-validations` takes it. */
  readonly cel: string;
  /** The same in TypeScript. */
  readonly holds: (value: T) => boolean;
  /** What is wrong and what to write instead; shown by the API server. */
  readonly message: string;
}

/** Adds rules to a schema: as a zod refinement and as `x-kubernetes-validations`. */
export function checked<S extends z.ZodType>(schema: S, rules: readonly Rule<z.output<S>>[]): S {
  const refined = schema.superRefine((value, issues) => {
    for (const rule of rules) if (!rule.holds(value)) issues.addIssue({code: 'custom', message: rule.message});
  });
  return refined.meta({
    'x-kubernetes-validations': rules.map(({cel, message}) => ({rule: cel, message})),
  }) as S;
}

const label = String.raw`[\p{L}\p{M}\p{N}]([\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?`;
const shape = String.raw`^(${label}\.)+${label}\.?$`;
const longLabel = String.raw`[^.]{64}`;
const numericEnd = String.raw`(^|\.)[0-9]+\.?$`;
const reservedEnd = String.raw`(^|\.)(localhost|local|arpa|onion)\.?$`;
const cel = (pattern: string) => `'${pattern.replaceAll('\\', '\\\\')}'`;

/** Whether a name stands under one that is nobody's in the public DNS; again after UTS #46, which folds other letters into these. */
export const isReserved = (h: string) => new RegExp(reservedEnd, 'iu').test(h);

const hostnameRules: readonly Rule<string>[] = [
  {
    cel: `self.matches(${cel(shape)})`,
    holds: (h) => new RegExp(shape, 'u').test(h),
    message:
      'must be a hostname of at least two labels, such as docs.example.com: letters, digits and hyphens between dots; ' +
      'no scheme, port, path, blank, underscore or wildcard, and no hyphen at either end of a label',
  },
  {
    cel: `!self.matches(${cel(longLabel)})`,
    holds: (h) => !new RegExp(longLabel, 'u').test(h),
    message: 'every label (the part between two dots) has at most 63 characters (RFC 1035)',
  },
  {
    cel: `self.size() <= (self.endsWith('.') ? 254 : 253)`,
    holds: (h) => [...h].length <= (h.endsWith('.') ? 254 : 253),
    message: 'a hostname has at most 253 characters (RFC 1035)',
  },
  {
    cel: `!self.matches(${cel(numericEnd)})`,
    holds: (h) => !new RegExp(numericEnd, 'u').test(h),
    message: 'must be a hostname, not an IP address: create a DNS name for it and give that',
  },
  {
    cel: `!self.lowerAscii().matches(${cel(reservedEnd)})`,
    holds: (h) => !isReserved(h),
    message:
      'names under localhost, local, arpa and onion are reserved and can have no public certificate (RFC 6761, 6762, 7686)',
  },
];

/** A hostname as a user may write it: any case, with or without one trailing dot, Unicode labels allowed (RFC 5890). */
export const hostname = (description: string) =>
  checked(z.string().min(1).max(254), hostnameRules).describe(description);

/** CEL for the form in which hostnames are compared: no trailing dot, lower case. `domain/hostname.ts` goes on to A-labels. */
export const celFold = (expression: string) =>
  `(${expression}.endsWith('.') ? ${expression}.substring(0, ${expression}.size() - 1) : ${expression}).lowerAscii()`;

/** {@link celFold} in TypeScript. */
export const fold = (h: string) => (h.endsWith('.') ? h.slice(0, -1) : h).replace(/[A-Z]/g, (c) => c.toLowerCase());

/** A Kubernetes object name: an RFC 1123 subdomain. */
export const objectName = (description: string) =>
  z
    .string()
    .min(1)
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
    .describe(description);

/** A time in status, RFC 3339 in UTC. */
export const time = (description: string) => z.string().max(32).meta({format: 'date-time'}).describe(description);

/** A bounded text in status. */
export const text = (max: number, description: string) => z.string().max(max).describe(description);

/** `metav1.Condition`: a list-map by type (sig-architecture/api-conventions). */
export const conditions = (types: readonly string[], description: string) =>
  z
    .array(
      z
        .object({
          type: text(64, `One of ${types.join(', ')}.`),
          status: z.enum(['True', 'False', 'Unknown']).describe('True, False or Unknown.'),
          observedGeneration: z
            .int32()
            .optional()
            .describe('The generation of the object that this condition speaks of.'),
          lastTransitionTime: time('When status last changed.'),
          reason: text(128, 'A CamelCase word out of the documented list: docs/reasons.md.'),
          message: text(2048, 'What was seen, what to do, and until when.'),
        })
        .describe('One aspect of where it stands.'),
    )
    .max(16)
    .meta({'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type']})
    .describe(description);

/** `spec` and `status` of an object read from the API server, without what the server checks anyway. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  observedGeneration?: number;
  lastTransitionTime: string;
  reason: string;
  message: string;
}
