/**
 * Waits after errors of the CA itself, so that it gets no order while it cannot process any. Each wait is twice the former one, until an
 * order succeeds that began after the first error.
 */
import type {Order} from '../../domain/certificates/budget.ts';
import {backOffMs} from '../../domain/certificates/budget.ts';

export class CaBackOff {
  #failures = 0;
  /** When the newest error that counts was known, ms since the epoch. */
  #failedAt = -Infinity;
  #until = -Infinity;

  /** The end of the wait, ms since the epoch; a past time if there is none. */
  get until(): number {
    return this.#until;
  }

  /** Notes an order that has ended. Errors of orders that were under way during an error are the same error. */
  observe({at, outcome, cause, endedAt = at, refusedUntil}: Order): void {
    // Kubernetes' times have no fractions.
    if (Date.parse(at) + 999 < this.#failedAt) return;
    if (outcome === 'Issued') {
      this.#failures = 0;
      this.#until = -Infinity;
    }
    if (cause !== 'Authority') return;
    this.#failures++;
    this.#failedAt = Date.parse(endedAt);
    const asked = refusedUntil === undefined ? -Infinity : Date.parse(refusedUntil);
    this.#until = Math.max(asked, this.#failedAt + backOffMs(this.#failures));
  }
}
