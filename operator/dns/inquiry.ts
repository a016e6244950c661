import {randomBytes} from 'node:crypto';
import {type Reply, type DnsServer, timeLimit} from './wire.ts';

const LONGEST_MS = 10_000;

const addressOf = ({address, port}: DnsServer) => `${address} ${port}`;

/**
 * All questions about a name at one time, from one check or from several checks in one batch. They share one time limit. A question
 * shared by several checks is asked once. A server without any answer so far gets no further questions.
 */
export class Inquiry {
  readonly #limit = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #asked = new Map<string, Promise<unknown>>();
  /** By address: true if the server has answered anything, false if it has been silent. */
  readonly #heard = new Map<string, boolean>();
  readonly #given: AbortSignal | undefined;
  /** A label that no existing name has. All checks of an inquiry share it, so that they ask for the same names. */
  readonly randomLabel = randomBytes(8).toString('hex');
  readonly #giveUp = (): void => this.#limit.abort(this.#given?.reason);

  /** `totalMs`: default 10,000. An abort of `signal` ends the inquiry sooner. */
  constructor({totalMs = LONGEST_MS, signal}: {totalMs?: number; signal?: AbortSignal | undefined} = {}) {
    this.#given = signal;
    this.#timer = timeLimit(() => this.#limit.abort(new DOMException('total time', 'TimeoutError')), totalMs);
    this.#timer.unref();
    signal?.addEventListener('abort', this.#giveUp, {once: true});
    if (signal?.aborted) this.#giveUp();
  }

  /** Fires at the end of the time limit, with a TimeoutError; or when the caller aborts, with the caller's reason. */
  get signal(): AbortSignal {
    return this.#limit.signal;
  }

  /** The result of an earlier call with this key, finished or not; otherwise the result of `ask`. */
  once<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const before = this.#asked.get(key);
    if (before) return before as Promise<T>;
    const asked = ask();
    this.#asked.set(key, asked);
    return asked;
  }

  /** Records whether a server answers. */
  hear(reply: Reply): void {
    const isSilent = reply.kind === 'Failure' && reply.failure === 'Timeout';
    const address = addressOf(reply.server);
    this.#heard.set(address, !isSilent || this.#heard.get(address) === true);
  }

  /** Whether the server was asked, with all tries, and never answered. */
  isSilent(server: DnsServer): boolean {
    return this.#heard.get(addressOf(server)) === false;
  }

  /** Stops the time limit and the listener. Ask no further questions. */
  end(): void {
    clearTimeout(this.#timer);
    this.#given?.removeEventListener('abort', this.#giveUp);
  }
}
