import type {IssuedRequest} from '../../domain/certificates/certificate.ts';
import type {Change} from '../../kube/cache/cache.ts';
import type {ChangeSource} from '../../kube/controller/wake.ts';
import type {Key} from '../../kube/objects.ts';
import {certificateOf} from '../../resources/relations.ts';

const withinMs = 3_600_000;
/** With the default budgets.failures, Doorplate starts at most two attempts for a hostname within an hour. */
const many = 3;

interface RepeatedRequestsOptions {
  /** Called with a Certificate at its third request within an hour. */
  report: (certificate: Key) => void;
  /** ms since the epoch. */
  now?: () => number;
}

/**
 * Counts the Certificates with three CertificateRequests within an hour. cert-manager deletes the request of a Certificate when the next
 * one is issued (`revisionHistoryLimit`). So requests are remembered for an hour, whatever becomes of them. A process does not know
 * requests that were deleted before it started.
 */
export class RepeatedRequests {
  /** By Certificate and the UID of the request: when it was created, ms since the epoch. */
  readonly #recent = new Map<Key, Map<string, number>>();
  readonly #options: RepeatedRequestsOptions;

  constructor(requests: ChangeSource<Change<IssuedRequest>>, options: RepeatedRequestsOptions) {
    this.#options = options;
    requests.onChange((now) => {
      if (now) this.#note(now);
    });
  }

  /** How many Certificates have had three requests within the last hour. Takes one step for each Certificate. */
  count(): number {
    for (const [certificate, requests] of this.#recent) {
      this.#forget(requests);
      if (requests.size === 0) this.#recent.delete(certificate);
    }
    return [...this.#recent.values()].filter(({size}) => size >= many).length;
  }

  #note({metadata}: IssuedRequest): void {
    const {uid = '', creationTimestamp = ''} = metadata;
    const at = Date.parse(creationTimestamp);
    const [certificate = ''] = certificateOf({metadata});
    const requests = this.#recent.get(certificate) ?? new Map<string, number>();
    if (certificate.endsWith('/') || requests.has(uid) || !(at > this.#since())) return;
    this.#forget(requests);
    this.#recent.set(certificate, requests.set(uid, at));
    if (requests.size === many) this.#options.report(certificate);
  }

  #since(): number {
    const {now = Date.now} = this.#options;
    return now() - withinMs;
  }

  #forget(requests: Map<string, number>): void {
    const since = this.#since();
    for (const [uid, at] of requests) if (at <= since) requests.delete(uid);
  }
}
