import {randomBytes} from 'node:crypto';
import {type Reply, type DnsServer, timeLimit} from './wire.ts';

const LONGEST_MS = 10_000;

const addressOf = ({address, port}: DnsServer) => `${address} ${port}`;

/**
 * All that is asked about a name at one time, by one check of it or by several that are made together. There is one time limit for
 * everything; what several ask is asked once; a server that has only been silent is not waited for again.
 */
export class Inquiry {
  readonly #limit = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #asked = new Map<string, Promise<unknown>>();
  /** By address: whether it has answered anything, or has been silent. */
  readonly #heard = new Map<string, boolean>();
  readonly #given: AbortSignal | undefined;
  /** A label that no name has. One for all that is asked: checks that are made together ask for the same names. */
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

  /** Fires when the time is over: with a TimeoutError, or with the reason of who gave it up. */
  get signal(): AbortSignal {
    return this.#limit.signal;
  }

  /** What was asked before under this key, answered or not; else what `ask` gives. */
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
