import type {FastifyRequest} from 'fastify';
import {z} from 'zod';
import {Problem} from '../problems.ts';

/** The header by which a ServiceAccount, which has rights in many, names the namespace of a request. A key names its own. */
export const namespaceHeader = 'doorplate-namespace';
export const namespaceSchema = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

/** How openapi.json describes it, for every path that needs a key or a token. */
export const namespaceParameter = {
  name: namespaceHeader,
  in: 'header',
  required: false,
  schema: z.toJSONSchema(namespaceSchema, {io: 'input'}),
  description:
    'The namespace of the request. Required with the token of a ServiceAccount, optional with a key, which reaches only its own namespace.',
};

/** The namespace that a request names, undefined where it names none. Throws `invalid-input` for what is no name, whoever sent it. */
export function namespaceOf({headers}: FastifyRequest): string | undefined {
  const parsed = namespaceSchema.optional().safeParse(headers[namespaceHeader]);
  if (parsed.success) return parsed.data;
  throw invalid('must name a namespace');
}

/** The namespace that a ServiceAccount's request names. Throws `invalid-input` where it names none. */
export function namespaceNeeded(named: string | undefined): string {
  if (named !== undefined) return named;
  throw invalid('a ServiceAccount must name the namespace of the request');
}

const invalid = (message: string): Problem =>
  new Problem('invalid-input', `${namespaceHeader}: ${message}`, {
    errors: [{field: `headers.${namespaceHeader}`, message}],
  });

/** Throws where a request by a key or a session, which reach one namespace, names another one: it is not served in theirs. */
export function refuseOther(namespace: string, named: string | undefined): void {
  if (named === undefined || named === namespace) return;
  throw new Problem(
    'not-found',
    `${namespaceHeader} names ${named}, and these credentials reach the namespace ${namespace} only. Leave the header out.`,
  );
}
