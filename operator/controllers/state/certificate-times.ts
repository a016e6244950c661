/**
 * Remembers when hostnames had a Certificate, even if the Certificate is gone: a hostname that never had one since it was claimed was never
 * served. The memory is bounded and begins with the process, so a missing entry means "unknown".
 */
import type {Hostname} from '../../domain/hostnames/hostname.ts';
import type {Caches} from './caches.ts';
import {namesOf} from '../../resources/relations.ts';

const mostRemembered = 20_000;

export class CertificateTimes {
  /** By hostname; the most recent entry is last. */
  readonly #times = new Map<Hostname, number>();
  readonly #most: number;
  readonly #now: () => number;
  #unknownUntil: number;

  /** `most`: default 20,000. */
  constructor(certificates: Pick<Caches['certificates'], 'onChange'>, {most = mostRemembered, now = Date.now} = {}) {
    [this.#most, this.#now, this.#unknownUntil] = [most, now, now()];
    certificates.onChange((after, before) => {
      for (const hostname of [after, before].flatMap((c) => (c ? namesOf(c) : []))) this.#note(hostname);
    });
  }

  /** Time since which a hostname surely has had no Certificate, ms since the epoch. An existing Certificate counts from its creation. */
  of(hostname: Hostname): number {
    return this.#times.get(hostname) ?? this.#unknownUntil;
  }

  #note(hostname: Hostname): void {
    this.#times.delete(hostname);
    this.#times.set(hostname, this.#now());
    if (this.#times.size <= this.#most) return;
    const [oldest] = this.#times;
    if (!oldest) return;
    [, this.#unknownUntil] = oldest;
    this.#times.delete(oldest[0]);
  }
}
