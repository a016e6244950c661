/** The rates at which DNS checks begin. Both are per tenant, so that no tenant waits at the rate of another. */
import {registrableName} from '../../domain/hostnames/hostname.ts';
import {Rate} from '../../dns/rate.ts';

/** Checks of one tenant below one registrable domain, a customer's zones on a customer's servers: a Project of 50 hostnames at once. */
const ofDomain = {perSecond: 10, burst: 50};

/**
 * Checks of one tenant below all registrable domains. A check of an unknown domain asks the resolvers about 18 questions, so this rate is
 * 360 questions a second: less than a fifth of what a resolver gets from Doorplate (`perResolver`, operator/dns/rate.ts).
 *
 * - The 500 hostnames of a Project, each below a domain of its own, are all checked within 20 s.
 * - 1,000 waiting hostnames (the setting maxWaitingHostnames), one check a minute each, are 17 checks a second.
 * - 10,000 Live hostnames, one check in 6 hours each, are 1 check in 2 seconds.
 */
export const ofTenant = {perSecond: 20, burst: 100};

/** Pure: callers pass the time in ms. */
export class CheckRates {
  readonly #ofTenant = new Rate(ofTenant);
  readonly #ofDomain = new Rate(ofDomain);

  /** Reserves a check of a tenant's hostname. Returns the time at which it may begin, now or later. */
  next(tenant: string, hostname: string, now: number): number {
    const from = this.#ofTenant.next(tenant, now);
    return this.#ofDomain.next(`${tenant} ${registrableName(hostname)}`, now, from);
  }
}
