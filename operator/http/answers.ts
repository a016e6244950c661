import type {z} from 'zod';
import {problems, problemSchema} from './problems.ts';
import type {ProblemName} from './problems.ts';

/** Problems that every path may answer. */
const always: readonly ProblemName[] = [
  'malformed-request',
  'request-timeout',
  'rate-limited',
  'headers-too-large',
  'internal-error',
  'unavailable',
];
/**
 * Further problems of a path that needs a key: 404 if the request names a namespace that its key or token does not reach, 502 if the API
 * server cannot tell whether a ServiceAccount has the right.
 */
const withKey: readonly ProblemName[] = ['credentials-wrong', 'scope-missing', 'not-found', 'kubernetes-failed'];

/**
 * The `response` part of a route's schema: its successful answers, and its problems by name. The problems of every path are added, and
 * unless `open`, the problems of paths that need a key.
 */
export function answers(
  good: Record<number, z.ZodType>,
  errors: readonly ProblemName[] = [],
  {open = false} = {},
): Record<number, z.ZodType> {
  const names = [...always, ...(open ? [] : withKey), ...errors];
  return {...Object.fromEntries(names.map((name) => [problems[name].status, problemSchema])), ...good};
}
