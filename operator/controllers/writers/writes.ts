import type {WriteError} from '../../domain/status/write-error.ts';
import {type ApiError, isOfOne, isRefusal} from '../../kube/errors.ts';
import {failureOf} from '../../kube/writes/side-by-side.ts';

/** The failed write of an object, for status. `object`: its kind and its key. */
export const writeErrorOf = (object: string, error: ApiError): WriteError => ({
  kind: isRefusal(error) ? 'WriteRefused' : 'WriteFailed',
  object,
  says: error.says,
});

/** Most objects of one owner that one reconcile writes. A default hostname has five. */
export const writesPerTurn = 100;

/** The outcomes of one reconcile's writes, and the answers on which they depend. */
export class Writes {
  /** Write errors of routes and Certificates, by object name. */
  readonly writeErrors = new Map<string, WriteError>();
  /** Write errors of claims, by hostname. */
  readonly claimErrors = new Map<string, WriteError>();
  /** Hostnames that another object owns according to the cache, while the claim itself could not be read. Their routes stay unchanged. */
  readonly unconfirmed = new Set<string>();
  readonly #outcomes: PromiseSettledResult<unknown>[] = [];
  readonly #isOwned: (hostname: string) => Promise<boolean>;
  readonly #owned = new Map<string, Promise<boolean>>();
  written = 0;
  /** Number of objects that were not created, because the owner does not own their hostname any longer. */
  withheld = 0;
  /** Whether writes are left for another reconcile. */
  unfinished = false;

  /** `isOwned`: whether the owner owns a hostname, according to the claim in the API server. */
  constructor(isOwned: (hostname: string) => Promise<boolean>) {
    this.#isOwned = isOwned;
  }

  /**
   * Whether the owner owns these hostnames, according to the claims in the API server. Reads each claim once. Throws errors of the API
   * server.
   */
  async owns(hostnames: readonly string[]): Promise<boolean> {
    const answers = hostnames.map((hostname) => {
      const answer = this.#owned.get(hostname) ?? this.#isOwned(hostname);
      this.#owned.set(hostname, answer);
      return answer;
    });
    return (await Promise.all(answers)).every((owned) => owned);
  }

  /**
   * Records the write error of a route or Certificate. Throws the error again, unless the API server refused the object: a refused write is
   * retried each minute, any other write with the backoff of the queue.
   */
  failed(name: string, object: string, error: unknown): void {
    if (isOfOne(error)) this.writeErrors.set(name, writeErrorOf(object, error));
    if (!isRefusal(error)) throw error;
  }

  add(outcomes: readonly PromiseSettledResult<unknown>[]): void {
    this.#outcomes.push(...outcomes);
  }

  /** The first failure that concerns a single object. Throws a failure that concerns more. */
  failure(): ApiError | undefined {
    return failureOf(this.#outcomes);
  }
}
