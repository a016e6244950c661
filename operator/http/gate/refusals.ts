/** The problems by which the gate refuses a request. */
import type {Strikes} from '../../limits/bans.ts';
import type {QuotaRefusal} from '../../limits/verdict.ts';
import {limitIn} from '../../api/windows.ts';
import type {NotRecognised} from './auth.ts';
import {Problem, statusOf} from '../problems.ts';

export const noCredentials: NotRecognised = {
  problem: 'credentials-missing',
  detail: 'Send an API key: Authorization: Bearer dp_...',
};

export const unknown = ({problem, detail, cause}: NotRecognised): Problem =>
  new Problem(problem, detail, {
    ...(cause && {cause}),
    // RFC 9110, 15.5.2.
    ...(statusOf(problem) === 401 && {headers: {'www-authenticate': 'Bearer realm="doorplate"'}}),
  });

/** `untilSeconds`: Unix time. */
export const banned = (network: string, untilSeconds: number): Problem =>
  new Problem(
    'key-banned',
    `This key is banned from ${network} until ${new Date(untilSeconds * 1000).toISOString()}, because it continued to ` +
      'send requests although each was refused. Wait for Retry-After.',
  );

/** `what` the pool counts. `strikes`: those of a key. */
export function rateLimited(verdict: QuotaRefusal, what: string, strikes?: Strikes): Problem {
  const {exhausted: name, retryAfterSeconds} = verdict;
  return new Problem(
    'rate-limited',
    `All ${limitIn(verdict, name)} ${what} of this ${name} are used. Try again in ${retryAfterSeconds} s.` +
      (strikes && strikes.strikes > 0
        ? ` Too many requests were refused: this is strike ${strikes.strikes} of ${strikes.strikesToBan}. The last strike bans the key.`
        : ''),
    strikes,
  );
}
