/** Answers to broken requests in the words of the API: for the API server and the authorize server. */
import {randomUUID} from 'node:crypto';
import type {HeaderValues} from '../limits/headers.ts';
import type {BrokenAnswer, BrokenRequest} from '../kube/broken-requests.ts';
import {Problem} from './problems.ts';
import type {ProblemName} from './problems.ts';

const byStatus: Record<BrokenRequest['status'], ProblemName> = {
  400: 'malformed-request',
  408: 'request-timeout',
  413: 'body-too-large',
  431: 'headers-too-large',
};

/** A problem with the headers of every answer. The caller is unknown: the headers show the limit of the address. */
export function brokenProblem(
  {status, detail, address}: BrokenRequest,
  limitHeaders: (address: string) => HeaderValues,
  bodyOf = (problem: Problem): object => problem.body,
): BrokenAnswer {
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'x-request-id': randomUUID(),
      ...limitHeaders(address),
    },
    body: JSON.stringify(bodyOf(new Problem(byStatus[status], detail))),
  };
}
