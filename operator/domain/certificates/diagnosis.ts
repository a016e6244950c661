/**
 * cert-manager's messages about an issuance that does not finish, and the actor that must act. Read at intervals, and quoted in the
 * message.
 */

import type {Party} from '../../api/custom-domain.ts';
import {quote} from '../text.ts';

/** One object of the issuance: `Order docs-1-2 is invalid: ...`. */
export interface Said {
  kind: 'Order' | 'Challenge';
  name: string;
  /** State at the ACME server (RFC 8555, 7.1.6); empty before the first request to it. */
  state: string;
  reason: string;
}

/** The objects that were read about one attempt. */
export interface Diagnosis {
  /** Newest first. Challenges, which contain the cause, come before the Order. */
  said: readonly Said[];
  /** Why the objects could not be read. */
  unreadable?: string;
}

const sentence = (text: string) => text.replace(/[.:\s]*$/, '.');

/** Quotes all messages for a status message; the CertificateRequest's own message comes first. */
export function quotes(request: string | undefined, diagnosis: Diagnosis | undefined): string {
  const lines = request === undefined ? [] : [`CertificateRequest: ${sentence(quote(request))}`];
  for (const {kind, name, state, reason} of diagnosis?.said ?? []) {
    lines.push(
      sentence(
        `${kind} ${quote(name, 80)} is ${quote(state, 20) || 'new'}${reason === '' ? '' : `: ${quote(reason)}`}`,
      ),
    );
  }
  if (diagnosis?.unreadable !== undefined)
    lines.push(`The Order and the Challenge could not be read: ${sentence(quote(diagnosis.unreadable, 100))}`);
  return lines.length > 0 ? `cert-manager reports: ${lines.join(' ')}` : '';
}

/** The actor that must act on an issuance, and the action. */
export interface Culprit {
  by: Party;
  what: string;
  /** The case, if the customer must act. */
  details?: {cause: 'Dns' | 'Caa' | 'Name'};
}

/**
 * The first matching pattern is the cause. Patterns match texts of cert-manager's HTTP-01 self check and solver (pkg/issuer/acme/http),
 * and refusals of the API server. They also match the ACME error types (RFC 8555, 6.7), which cert-manager quotes in full.
 */
const causes: readonly [pattern: RegExp, by: Party, what: string, id?: 'Dns' | 'Caa' | 'Name'][] = [
  [
    /exceeded quota|forbidden: .*quota/i,
    'Platform',
    "A quota in the solver's namespace allows no Pod for the challenge. Raise the quota.",
  ],
  [
    /violates PodSecurity|admission webhook|forbidden:/i,
    'Platform',
    "The cluster's admission control refuses the solver of the challenge. Allow it.",
  ],
  [
    /acme:error:rateLimited|\b429\b/i,
    'CertificateAuthority',
    'The certificate authority limits requests. Wait until the limit ends.',
  ],
  [
    /acme:error:rejectedIdentifier/i,
    'Customer',
    'The certificate authority refuses this name. Attach another hostname.',
    'Name',
  ],
  [
    /acme:error:caa/i,
    'Customer',
    'CAA records forbid the certificate. Allow the certificate authority in them.',
    'Caa',
  ],
  [
    /acme:error:dns|no such host|NXDOMAIN|SERVFAIL/i,
    'Customer',
    'The name could not be resolved. Fix the DNS of the hostname.',
    'Dns',
  ],
  [
    /acme:error:(serverInternal|badNonce)|\b50[023] urn:ietf/i,
    'CertificateAuthority',
    'The certificate authority has an internal error. Wait until it works again.',
  ],
  [
    /acme:error:(connection|tls)/i,
    'Platform',
    'The certificate authority cannot reach the edge on port 80. Open the port to the internet.',
  ],
  [
    /acme:error:(unauthorized|incorrectResponse)/i,
    'Platform',
    'A server other than the solver answered the certificate ' +
      'authority. Look for a rule of the edge that takes /.well-known/acme-challenge/.',
  ],
  [
    // The texts of Boulder and Pebble. The CA has refused the challenge, and cert-manager has accepted it once more.
    /(unable to|cannot) update challenge\b.*pending/i,
    'Platform',
    'The certificate authority refused the challenge earlier, and cert-manager did not keep the reason. A fresh attempt shows it.',
  ],
  [
    /wrong status code '50[234]'/,
    'Platform',
    "The edge does not reach the solver's Pod. Look for a NetworkPolicy in its namespace, and check that the Pod runs.",
  ],
  [
    /wrong status code|did not get expected response/i,
    'Platform',
    'A server other than the solver answers. Look for a rule of the edge that takes /.well-known/acme-challenge/.',
  ],
  [
    /connection refused|connection reset|timeout|timed out|deadline exceeded|no route to host|EOF/i,
    'Platform',
    "The edge, or the solver behind it, does not answer. Check the edge's port 80, and look for a NetworkPolicy in the solver's namespace.",
  ],
];

/** The actor and the action, as far as the messages show them; undefined if no pattern matches. */
export function culprit(request: string | undefined, diagnosis: Diagnosis | undefined): Culprit | undefined {
  const words = [...(diagnosis?.said ?? []).map((s) => s.reason), request ?? ''];
  for (const text of words) {
    const cause = causes.find(([pattern]) => pattern.test(text));
    if (cause) return {by: cause[1], what: cause[2], ...(cause[3] && {details: {cause: cause[3]}})};
  }
  return undefined;
}
