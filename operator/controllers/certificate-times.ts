/**
 * When hostnames have had a Certificate, whatever has become of it: one that had none since it was claimed was never served. Bounded in
 * number; of what is forgotten, and of what was before this process, nothing is known.
 */
import type {Hostname} from '../domain/hostname.ts';
import type {Caches} from './caches.ts';
import {namesOf} from './relations.ts';

const mostRemembered = 20_000;

export class CertificateTimes {
  /** By hostname, those that had one last at the end. */
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

  /** Since when a hostname has surely had none, ms since the epoch. One that stands unchanged had it when it was made. */
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
