import {group} from '../api/crd.ts';
import {ApiError, NoAnswerError} from '../kube/errors.ts';

/** An error for the user of the command, without a stack: the problem and its remedy. */
export class CommandError extends Error {
  override name = 'CommandError';
}

/** The command line is invalid. */
export class UsageError extends CommandError {
  override name = 'UsageError';
}

/**
 * Explains a refusal by the API server, a missing answer, or an unreachable API server, with the action that is needed. Throws faults of
 * ours again.
 */
export function explain(error: unknown): CommandError {
  if (error instanceof NoAnswerError) {
    return new CommandError(
      `the API server does not answer (${error.message}). ` +
        'Check that the cluster runs and that the context is right: kubectl config current-context',
    );
  }
  if (error instanceof ApiError) return new CommandError(refusal(error));
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) throw error;
  // Such as a credential plugin of the kubeconfig that failed.
  return new CommandError(`the request to the API server failed: ${String(error)}`);
}

/** Whether somebody may not do what they asked for. */
export const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.status === 403;

/** The authorizer's message, such as `User "x" cannot list resource "apikeys" in API group "doorplate.dev" in the namespace "acme"`. */
const missingRight = /cannot (\w+) resource "([^"]+)"(?: in API group "([^"]*)")?(?:.* in the namespace "([^"]+)")?/;

function refusal(error: ApiError): string {
  const {status, says, reason, details} = error;
  switch (status) {
    case 401:
      return 'the API server does not know you: log in again, or choose another context (--context)';
    case 403:
      return forbidden(says);
    case 404:
      return details.kind === 'namespaces'
        ? `there is no namespace ${details.name}. Name another one (-n), or create it`
        : `the cluster does not know that kind of ${group}. Check that the chart doorplate-crds is installed in this version (${says})`;
    case 409:
      if (reason !== 'AlreadyExists') break;
      return `${says}. Choose another name, or delete that one first: kubectl delete ${details.kind} ${details.name}`;
  }
  return `refused: ${says}`;
}

function forbidden(says: string): string {
  const [, verb, plural = '', apiGroup, namespace] = missingRight.exec(says) ?? [];
  // Else an admission policy's own words, or a namespace that is going.
  if (verb === undefined) return `refused: ${says}`;
  const kind = apiGroup ? `${plural}.${apiGroup}` : plural;
  const [where, flag] = namespace === undefined ? ['', ''] : [` in the namespace ${namespace}`, ` -n ${namespace}`];
  const role = verb === 'get' || verb === 'list' || verb === 'watch' ? 'view' : 'edit';
  return (
    `you may not ${verb} ${plural}${where}. Ask for the role ${role} there. To check your rights: ` +
    `kubectl auth can-i ${verb} ${kind}${flag}`
  );
}
