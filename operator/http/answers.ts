import type {z} from 'zod';
import {problems, problemSchema} from './problems.ts';
import type {ProblemName} from './problems.ts';

/** What any path may answer, whatever it does. */
const always: readonly ProblemName[] = [
  'malformed-request',
  'request-timeout',
  'rate-limited',
  'headers-too-large',
  'internal-error',
  'unavailable',
];
/**
 * What a path that needs a key may answer as well: 404 if the request names a namespace that its key or token does not reach, 502 if
 * the API server cannot say what a ServiceAccount may do.
 */
const withKey: readonly ProblemName[] = ['credentials-wrong', 'scope-missing', 'not-found', 'kubernetes-failed'];

/**
 * The `response` part of a route's schema: its good answers, and the errors by name. Those that any path has are added, and
 * those of paths that need a key unless `open`.
 */
export function answers(
  good: Record<number, z.ZodType>,
  errors: readonly ProblemName[] = [],
  {open = false} = {},
): Record<number, z.ZodType> {
  const names = [...always, ...(open ? [] : withKey), ...errors];
  return {...Object.fromEntries(names.map((name) => [problems[name].status, problemSchema])), ...good};
}
