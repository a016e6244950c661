/**
 * Errors with which a certificate authority (CA) refuses an order, as cert-manager reports them in a CertificateRequest. The text that the
 * CA sends may quote what a customer's server answered, so only the beginning of the message decides.
 */
import type {Order} from './budget.ts';

/** Why the CA refused an order, and the time until which it refuses the next one, ms since the epoch. */
export interface CaError {
  cause: NonNullable<Order['cause']>;
  retryAt?: number;
}

/** cert-manager: pkg/controller/certificaterequests/acme and acmeorders. The name of an Order contains no quotation mark. */
const refusal = new RegExp(
  '^Failed to wait for order resource "[^"]*" to become ready: order is in "errored" state: Failed to [A-Za-z ]+: ' +
    '\\d{3} (?:urn:ietf:params:acme:error:(?<type>\\w+))?: (?:[A-Za-z ]+ :: )?(?<detail>.*)',
  's',
);

/** The limits of Let's Encrypt, by the words of Boulder (ratelimits/limiter.go). Its web front end may put words before ` :: `. */
const limits: readonly [pattern: RegExp, cause: CaError['cause']][] = [
  [/^too many new orders \(\d+\) from this account\b/, 'AccountLimit'],
  [/^too many certificates \(\d+\) already issued for this exact set of identifiers\b/, 'CertificatesLimit'],
  [/^too many certificates \(\d+\) already issued for "/, 'RegisteredDomainLimit'],
  [/^too many failed authorizations \(\d+\) for "/, 'AuthorizationsLimit'],
];

/** The end of those messages. The time has whole seconds. */
const refusedUntil = /\bretry after (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC\b/;

/** Types of errors of the CA itself (RFC 8555, 6.7). */
const ownTypes: ReadonlySet<string> = new Set(['rateLimited', 'serverInternal', 'badNonce']);

/** Boulder (wfe2): the account may not order for this hostname until its owner unpauses it. That concerns no other hostname. */
const paused = /^Your account is temporarily prevented from requesting certificates for\b/;

/**
 * Why the CA itself refused an order: a limit was reached, or the CA had an internal error. Undefined: the failure is the hostname's, such
 * as a failed authorization.
 */
export function caErrorOf(failure: string): CaError | undefined {
  const {type, detail} = refusal.exec(failure)?.groups ?? {};
  if (detail === undefined || paused.test(detail)) return undefined;
  // An answer without a type comes from a proxy in front of the ACME server.
  if (type !== undefined && !ownTypes.has(type)) return undefined;
  const cause = limits.find(([pattern]) => pattern.test(detail))?.[1] ?? 'Authority';
  const [, day, time] = refusedUntil.exec(detail) ?? [];
  if (day !== undefined) return {cause, retryAt: Date.parse(`${day}T${time}Z`) + 1000};
  // Without a time, a limit of many hostnames would delay no order.
  return {cause: cause === 'AccountLimit' || cause === 'RegisteredDomainLimit' ? 'Authority' : cause};
}
