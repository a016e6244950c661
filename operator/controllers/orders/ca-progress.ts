/**
 * Whether the CA of an issuer works on its orders. cert-manager repeats a request to the CA that gets a server error or no answer. It waits
 * longer each time, and reports no failure (its acmeorders/sync.go). So only orders that need an answer and get none show that the CA has
 * stopped. The directory may still answer.
 */
import type {IssuedRequest} from '../../domain/certificates/certificate.ts';

/** An order without an answer for this time, ms, shows a stall. cert-manager has asked five times until then: after 0, 5, 15, 35, 75 s. */
const stalledAfterMs = 120_000;

interface AwaitedAnswer {
  issuer: string;
  signing: boolean;
  /** When this process first saw it, ms since the epoch. */
  since: number;
}

export class CaProgress {
  /** By the request's UID. */
  readonly #awaited = new Map<string, AwaitedAnswer>();
  /** When the CA of an issuer last answered for an order that had waited, ms since the epoch. */
  readonly #answeredAt = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Notes the state of a request for one of our Certificates. */
  note({metadata: {uid = ''}, issuerRef, awaitsCa, signing: isSigning}: IssuedRequest): void {
    const signing = isSigning ?? false;
    const known = this.#awaited.get(uid);
    if (awaitsCa && known?.signing === signing) return;
    if (known) this.#answeredAt.set(known.issuer, this.#now());
    if (awaitsCa) this.#awaited.set(uid, {issuer: issuerRef?.name ?? '', signing, since: this.#now()});
    else this.#awaited.delete(uid);
  }

  /** A request was deleted, without an answer of the CA. */
  forget({metadata: {uid = ''}}: Pick<IssuedRequest, 'metadata'>): void {
    this.#awaited.delete(uid);
  }

  /** Whether an order waits for the CA, and the CA has answered for no order in the meantime. Takes one step for each such order. */
  isStalled(issuer: string): boolean {
    const before = this.#now() - stalledAfterMs;
    if ((this.#answeredAt.get(issuer) ?? -Infinity) > before) return false;
    return this.#awaited.values().some((awaited) => awaited.issuer === issuer && awaited.since <= before);
  }
}
