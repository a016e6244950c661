import {ApiError, isConflict, isInvalid, NoAnswerError, retryAfterMs} from '../kube/errors.ts';
import {Problem} from './problems.ts';

/**
 * The problem that a failure of the API server causes for a caller. Refused input is quoted in the API server's words. Otherwise the
 * problem is `kubernetes-failed` (it answered with an error) or `unavailable` (it did not answer), with `Retry-After` and without a word
 * about the cluster. Undefined for other errors.
 */
export function fromKubernetes(error: unknown): Problem | undefined {
  if (isInvalid(error)) return new Problem('refused', causesOf(error));
  const retryAfter = String(Math.max(1, Math.ceil((retryAfterMs(error) ?? 5000) / 1000)));
  const headers = {'retry-after': retryAfter};
  if (isConflict(error))
    return new Problem('unavailable', 'Another change of the same object is in progress. Try again.', {
      headers: {'retry-after': '1'},
    });
  if (error instanceof NoAnswerError)
    return new Problem('unavailable', "The platform's cluster does not answer now. Try again.", {headers});
  if (!(error instanceof ApiError)) return undefined;
  if (error.status === 429 || error.status === 503)
    return new Problem('unavailable', "The platform's cluster is busy. Try again.", {headers});
  // Of a ResourceQuota (Kubernetes: plugin/pkg/admission/resourcequota/controller.go).
  if (error.status === 403 && error.says.includes('exceeded quota:'))
    return new Problem(
      'quota-reached',
      'The quota of this namespace is used up. Delete an object that you no longer need, or ask the platform for more.',
    );
  return new Problem('kubernetes-failed', "The platform's cluster could not carry out the request. Try again.", {
    headers,
  });
}

/** Text before a rule's own message, with the value unless it is an object or a list (Kubernetes: field.Error). */
const invalidValue = /^Invalid value: (?:(?:"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*|true|false|null): )?/;

/** The messages of the violated rules, each once. */
function causesOf(error: ApiError): string {
  const messages = (error.details.causes ?? []).map(({message = ''}) => message.replace(invalidValue, ''));
  return [...new Set(messages)].filter(Boolean).join('; ') || "The platform's rules refuse the request.";
}
