/**
 * A model of the rate limits of Let's Encrypt's CA (Boulder), written from its documentation (letsencrypt.org/docs/rate-limits; Boulder's
 * ratelimits/README.md): token buckets, of which a new order checks all and takes one of the account's, a certificate takes one of its
 * registered domain's and of its names', and a failed authorization takes one of the account's for the name.
 */

/** A bucket of `burst` tokens that regains `count` in `periodMs`. */
interface Bucket {
  burst: number;
  periodMs: number;
}

export interface BoulderLimits {
  newOrdersPerAccount: Bucket;
  certificatesPerDomain: Bucket;
  certificatesPerNames: Bucket;
  failedAuthorizations: Bucket;
}

/** For so long after a certificate, an order for the same names is a renewal, ms. */
const renewalMs = 120 * 86_400_000;

export class Boulder {
  readonly #limits: BoulderLimits;
  /** The tokens of each bucket at a time. Absent: full. */
  readonly #buckets = new Map<string, {tokens: number; at: number}>();
  readonly #issued = new Map<string, number>();

  constructor(limits: BoulderLimits) {
    this.#limits = limits;
  }

  /** Whether a bucket is full, and so regains nothing: `account` or `domain NAME`. */
  isFull(key: 'account' | `domain ${string}`, now: number): boolean {
    const limit = key === 'account' ? this.#limits.newOrdersPerAccount : this.#limits.certificatesPerDomain;
    return this.#tokens(key, limit, now) >= limit.burst;
  }

  isRenewal(name: string, now: number): boolean {
    return now - (this.#issued.get(name) ?? -Infinity) < renewalMs;
  }

  /** The limit that refuses a new order; undefined: the order is accepted. */
  newOrder(name: string, domain: string, now: number): string | undefined {
    const {newOrdersPerAccount, certificatesPerDomain, certificatesPerNames, failedAuthorizations} = this.#limits;
    const isRenewal = this.isRenewal(name, now);
    if (!isRenewal && this.#tokens('account', newOrdersPerAccount, now) < 1) return 'newOrdersPerAccount';
    if (this.#tokens(`failed ${name}`, failedAuthorizations, now) < 1) return 'failedAuthorizations';
    if (!isRenewal && this.#tokens(`domain ${domain}`, certificatesPerDomain, now) < 1) return 'certificatesPerDomain';
    if (this.#tokens(`names ${name}`, certificatesPerNames, now) < 1) return 'certificatesPerNames';
    if (!isRenewal) this.#take('account', newOrdersPerAccount, now);
    return undefined;
  }

  issue(name: string, domain: string, now: number): void {
    if (!this.isRenewal(name, now)) this.#take(`domain ${domain}`, this.#limits.certificatesPerDomain, now);
    this.#take(`names ${name}`, this.#limits.certificatesPerNames, now);
    this.#issued.set(name, now);
  }

  fail(name: string, now: number): void {
    this.#take(`failed ${name}`, this.#limits.failedAuthorizations, now);
  }

  #tokens(key: string, {burst, periodMs}: Bucket, now: number): number {
    const bucket = this.#buckets.get(key);
    return bucket ? Math.min(burst, bucket.tokens + ((now - bucket.at) * burst) / periodMs) + 1e-9 : burst;
  }

  /** Taking from an empty bucket takes nothing. */
  #take(key: string, limit: Bucket, now: number): void {
    const tokens = this.#tokens(key, limit, now);
    this.#buckets.set(key, {tokens: tokens >= 1 ? tokens - 1 : tokens, at: now});
  }
}
