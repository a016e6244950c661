import {randomBytes} from 'node:crypto';
import {type Reply, type DnsServer, timeLimit} from './wire.ts';

const LONGEST_MS = 10_000;

const addressOf = ({address, port}: DnsServer) => `${address} ${port}`;

/**
 * All queries about a name at one time, by a single check or by several joint checks. They share one time limit. A repeated question is
 * sent once, and a server that has only been silent is skipped.
 */
export class Inquiry {
  readonly #limit = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #asked = new Map<string, Promise<unknown>>();
  /** By address: whether it has answered anything, or has been silent. */
  readonly #heard = new Map<string, boolean>();
  readonly #given: AbortSignal | undefined;
  /** A label that no name has, the same for all queries: joint checks then ask for the same names. */
  readonly randomLabel = randomBytes(8).toString('hex');
  readonly #giveUp = (): void => this.#limit.abort(this.#given?.reason);

  /** `totalMs`: default 10,000. With `signal` it ends sooner. */
  constructor({totalMs = LONGEST_MS, signal}: {totalMs?: number; signal?: AbortSignal | undefined} = {}) {
    this.#given = signal;
    this.#timer = timeLimit(() => this.#limit.abort(new DOMException('total time', 'TimeoutError')), totalMs);
    this.#timer.unref();
    signal?.addEventListener('abort', this.#giveUp, {once: true});
    if (signal?.aborted) this.#giveUp();
  }

  /** Aborts when the time is over, with a TimeoutError or with the reason of the caller that gave up. */
  get signal(): AbortSignal {
    return this.#limit.signal;
  }

  /** Returns the earlier result for this key, answered or not; otherwise the result of `ask`. */
  once<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const before = this.#asked.get(key);
    if (before) return before as Promise<T>;
    const asked = ask();
    this.#asked.set(key, asked);
    return asked;
  }

  /** Takes note of whether a server answers. */
  hear(reply: Reply): void {
    const isSilent = reply.kind === 'Failure' && reply.failure === 'Timeout';
    const address = addressOf(reply.server);
    this.#heard.set(address, !isSilent || this.#heard.get(address) === true);
  }

  /** It was asked, with all tries, and has not answered anything. */
  isSilent(server: DnsServer): boolean {
    return this.#heard.get(addressOf(server)) === false;
  }

  /** Nothing more is asked. */
  end(): void {
    clearTimeout(this.#timer);
    this.#given?.removeEventListener('abort', this.#giveUp);
  }
}
