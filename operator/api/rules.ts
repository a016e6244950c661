import {z} from 'zod';
import {hostnameRules} from './hostname-rules.ts';
import type {Rule} from './hostname-rules.ts';

/** Adds rules to a schema: as a zod refinement and as `x-kubernetes-validations`. */
export function checked<S extends z.ZodType>(schema: S, rules: readonly Rule<z.output<S>>[]): S {
  const refined = schema.superRefine((value, issues) => {
    for (const {holds, message, named} of rules)
      if (!holds(value)) issues.addIssue({code: 'custom', message: named?.text(value) || message});
  });
  return refined.meta({
    'x-kubernetes-validations': rules.map(({cel, message, named}) => ({
      rule: cel,
      message,
      ...(named && {messageExpression: named.cel}),
    })),
  }) as S;
}

/** A field that users may leave out. A template may write null, which means the same. */
export const optional = <S extends z.ZodType>(schema: S) => schema.nullable().optional();

/**
 * A field with a default, which the API server also writes in place of null. `substitute`: the default for `crd.ts`, since zod leaves
 * `default` out of the JSON schema of a transform.
 */
export const withDefault = <S extends z.ZodType>(schema: S, value: z.output<S>) =>
  schema
    .nullish()
    .transform((given): z.output<S> => given ?? value)
    .meta({nullable: undefined, substitute: value});

/** A hostname as a user may write it: any case, with or without one trailing dot, Unicode labels allowed (RFC 5890). */
export const hostname = (description: string) =>
  checked(z.string().min(1).max(254), hostnameRules).describe(description);

/** A Kubernetes object name: an RFC 1123 subdomain. */
export const objectName = (description: string) =>
  z
    .string()
    .min(1)
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
    .describe(description);

/** A Service's name: an RFC 1123 label; what no Ingress could name has no place in a Project. */
export const serviceName = (description: string) =>
  z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
    .describe(description);

/** A time in status, RFC 3339 in UTC. */
export const time = (description: string) => z.string().max(32).meta({format: 'date-time'}).describe(description);

const dateTime = z.iso.datetime({offset: true});
/** Whether a text is a time with a date and an offset (RFC 3339). */
export const isTime = (written: string): boolean => dateTime.safeParse(written).success;

/** A bounded text in status. */
export const text = (max: number, description: string) => z.string().max(max).describe(description);

/**
 * The beginning of a text, for such a field: at most `max` UTF-16 units. Half of a character at its end, which the API server
 * would replace, so that what it keeps is never what was meant, is replaced here.
 */
export const cut = (said: string, max: number): string => said.slice(0, max).toWellFormed();

/** The generation that a status describes as a whole. */
export const observedGeneration = z
  .int()
  .describe(
    'Generation of the spec that this status describes. -1 before the first status, and if the object has no room for a status.',
  );

/** `metav1.Condition`: a list-map by type (sig-architecture/api-conventions). */
export const conditions = (types: readonly string[], description: string) =>
  z
    .array(
      z
        .object({
          type: text(64, `Type of the condition: ${types.join(', ')}.`),
          status: z.enum(['True', 'False', 'Unknown']).describe('True, False or Unknown.'),
          observedGeneration: z.int().optional().describe('Generation of the object that this condition describes.'),
          lastTransitionTime: time('Time of the last change of status.'),
          reason: text(128, "A CamelCase word from the page Reasons of Doorplate's documentation."),
          message: text(2048, 'Facts, next step and time limit.'),
        })
        .describe('A part of the state.'),
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
