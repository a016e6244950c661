import type {Logger} from 'pino';
import {answers} from '../../acme/directory.ts';
import type {IssuerRef} from '../../api/foreign.ts';
import type {Client} from '../../kube/client/client.ts';
import type {CaProgress} from '../orders/ca-progress.ts';
import {directoryOf, readIssuer} from './issuer.ts';

/** How often each directory is read, ms. */
const periodMs = 60_000;
/** A failure counts when a second read confirms it after this time, ms. */
const confirmMs = 10_000;

export interface AvailabilityOptions {
  client: Pick<Client, 'get'>;
  issuers: readonly IssuerRef[];
  /** Doorplate's own: where a namespaced Issuer is read. */
  namespace: string;
  /** An issuer that did not answer is used again when it has answered for this time, ms. */
  recoveryMs: number;
  progress: Pick<CaProgress, 'isStalled'>;
  log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  now?: () => number;
  /** {@link answers}, or a stand-in. */
  ask?: typeof answers;
}

interface Known {
  /** The first of the failed reads; undefined: it answers, or is used again. */
  failedAt?: number;
  isConfirmed?: true;
  /** Since when the directory answers; undefined: the last read failed, or none has finished. */
  answersAt?: number;
}

/**
 * Whether the CAs of the issuers answer, by their directories and by their orders. With a single issuer, Doorplate reads no directory,
 * because another issuer does not exist. A failure to read the issuer itself changes nothing.
 */
export class CaAvailability {
  readonly #options: AvailabilityOptions;
  readonly #known = new Map<string, Known>();
  readonly #steady = new Set<string>();
  readonly #handlers: (() => void)[] = [];
  readonly #stop = new AbortController();
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(options: AvailabilityOptions) {
    this.#options = options;
  }

  /** Since when a CA has not answered, ms since the epoch; undefined: it answers, or is not known. */
  unavailableSince(issuer: string): number | undefined {
    const {failedAt, isConfirmed} = this.#known.get(issuer) ?? {};
    return isConfirmed ? failedAt : undefined;
  }

  /** Whether a CA has answered for as long as a CA that is used again. */
  isSteady(issuer: string): boolean {
    return this.#steady.has(issuer);
  }

  /** Calls when a CA stops answering, is used again, or has become steady. */
  onChange(handler: () => void): void {
    this.#handlers.push(handler);
  }

  start(): void {
    const {issuers} = this.#options;
    if (issuers.length > 1) for (const issuer of issuers) void this.#look(issuer);
  }

  stop(): void {
    this.#stop.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  async #look(issuerRef: IssuerRef): Promise<void> {
    const {client, namespace, ask = answers, progress, now = Date.now} = this.#options;
    const {signal} = this.#stop;
    const {name} = issuerRef;
    try {
      const found = issuerRef.group === 'cert-manager.io' && (await readIssuer({client, issuerRef, namespace}, signal));
      const directory = found && directoryOf(found);
      // An issuer without a directory has no CA that could be away.
      const hasAnswered = !directory || (await ask(directory.server, {...directory, signal}));
      const silent = progress.isStalled(name) ? 'orders' : undefined;
      if (found !== undefined && !signal.aborted) this.#note(name, hasAnswered ? silent : 'directory', now());
    } catch {
      // The API server does not answer, or refuses: nothing is known about the CA.
    }
    if (signal.aborted) return;
    const {failedAt, isConfirmed} = this.#known.get(name) ?? {};
    const timer = setTimeout(
      () => void this.#look(issuerRef),
      failedAt !== undefined && !isConfirmed ? confirmMs : periodMs,
    );
    this.#timers.set(name, timer.unref());
  }

  /** `noAnswerTo`: the unanswered requests; undefined: the CA answers. */
  #note(issuer: string, noAnswerTo: 'directory' | 'orders' | undefined, now: number): void {
    const isAnswering = noAnswerTo === undefined;
    const {log, recoveryMs} = this.#options;
    const known = this.#known.get(issuer) ?? {};
    const before = this.unavailableSince(issuer);
    const {failedAt = now, isConfirmed, answersAt = now} = known;
    const isRecovering = isConfirmed && now - answersAt < recoveryMs;
    if (isAnswering) this.#known.set(issuer, isRecovering ? {failedAt, isConfirmed, answersAt} : {answersAt});
    else if (known.failedAt === undefined) this.#known.set(issuer, {...known, failedAt});
    else this.#known.set(issuer, {failedAt, isConfirmed: true});
    const after = this.unavailableSince(issuer);
    const wasSteady = this.#steady.delete(issuer);
    if (after === undefined && now - (this.#known.get(issuer)?.answersAt ?? now) >= recoveryMs)
      this.#steady.add(issuer);
    if (after === before && wasSteady === this.#steady.has(issuer)) return;
    if (after === before) log.debug({issuer}, 'certificates may move back to the issuer');
    else if (after === undefined) log.info({issuer}, 'the CA of the issuer answers again');
    else
      log.warn({issuer, noAnswerTo}, 'the CA of the issuer does not answer: other issuers take its place if they may');
    for (const handler of this.#handlers) handler();
  }
}
