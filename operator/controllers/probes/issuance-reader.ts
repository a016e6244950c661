import type {AcmeChallenge, AcmeOrder} from '../../api/foreign.ts';
import type {Diagnosis, Said} from '../../domain/certificates/diagnosis.ts';
import type {Client} from '../../kube/client/client.ts';
import {ApiError} from '../../kube/errors.ts';
import type {KubeObject} from '../../kube/objects.ts';
import {ownerLabel} from '../../resources/labels.ts';
import {acmeChallenges, acmeOrders} from '../../resources/resources.ts';

/** The attempt that is asked about: the UID of its CertificateRequest, and of the owner whose label it bears. */
export interface IssuanceQuestion {
  namespace: string;
  owner: string;
  request: string;
}

/** Most Challenges that are quoted for one attempt: an attempt has one hostname, so one is usual. */
const mostSaid = 4;

interface Read {
  orders: AcmeOrder[];
  challenges: AcmeChallenge[];
}

const of = (uid: string) => (o: KubeObject) => o.metadata.ownerReferences?.some((r) => r.uid === uid) ?? false;
const said =
  (kind: Said['kind']) =>
  ({metadata, status}: AcmeOrder | AcmeChallenge): Said => ({
    kind,
    name: metadata.name,
    state: status?.state ?? '',
    reason: status?.reason ?? '',
  });

/**
 * Reads what cert-manager says of an attempt: Orders and Challenges, live, at the moment at which it is found to be stuck. They are
 * not watched: a copy of all Orders of the cluster would cost every platform memory (each holds a chain) for what is rarely needed.
 * Many attempts of one owner that are stuck at once share a read.
 */
export class IssuanceReader {
  readonly #client: Client;
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #coming = new Map<string, {read: Promise<Read>; wanted: SharedRead}>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Never what was read before the question came. Throws what the API server throws, a refusal aside. */
  async read({namespace, owner, request}: IssuanceQuestion, signal: AbortSignal): Promise<Diagnosis> {
    let read: Read;
    try {
      read = await this.#next(namespace, owner, signal);
    } catch (error) {
      if (error instanceof ApiError && [403, 404].includes(error.status)) return {said: [], unreadable: error.message};
      throw error;
    }
    const orders = read.orders.filter(of(request));
    const challenges = orders.flatMap((o) => read.challenges.filter(of(o.metadata.uid ?? '')));
    return {said: [...challenges.map(said('Challenge')), ...orders.map(said('Order'))].slice(0, mostSaid)};
  }

  /** The read that begins after the running read. All callers until then share it. It ends when none of them waits for it. */
  #next(namespace: string, owner: string, signal: AbortSignal): Promise<Read> {
    const key = `${namespace} ${owner}`;
    const coming = this.#coming.get(key);
    if (coming && !coming.wanted.signal.aborted) {
      coming.wanted.by(signal);
      return coming.read;
    }
    const wanted = new SharedRead(signal);
    const read = (this.#running.get(key) ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        if (this.#coming.get(key)?.wanted === wanted) this.#coming.delete(key);
        const run = this.#read(namespace, owner, wanted.signal);
        this.#running.set(key, run);
        void run
          .catch(() => {})
          .finally(() => {
            if (this.#running.get(key) === run) this.#running.delete(key);
          });
        return run;
      });
    this.#coming.set(key, {read, wanted});
    return read;
  }

  async #read(namespace: string, owner: string, signal: AbortSignal): Promise<Read> {
    // cert-manager copies the labels of a Certificate down to its Orders, and no further.
    const [orders, challenges] = await Promise.all([
      this.#client.list(acmeOrders, {namespace, labelSelector: `${ownerLabel}=${owner}`, signal}),
      this.#client.list(acmeChallenges, {namespace, signal}),
    ]);
    return {orders: orders.items, challenges: challenges.items};
  }
}

/** A signal that fires when all have given up who wanted the same. */
class SharedRead {
  readonly #abort = new AbortController();
  #by = 0;

  constructor(first: AbortSignal) {
    this.by(first);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  by(signal: AbortSignal): void {
    this.#by++;
    const leave = () => {
      if (--this.#by === 0) this.#abort.abort(signal.reason);
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, {once: true});
  }
}
