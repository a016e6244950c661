import {randomBytes} from 'node:crypto';
import type {Logger} from 'pino';
import type {Backoff} from './backoff.ts';
import type {Syncable} from './cache.ts';
import type {Clock} from './clock.ts';
import {isConflict, retryAfterMs, TerminalError} from './errors.ts';
import type {KitMetrics} from './metrics.ts';
import type {Key} from './objects.ts';
import {Queue} from './queue.ts';

/** When to look at the key again: after a time at the latest, or only when something changes. */
export type Result = {requeueAfterMs: number} | 'awaitChange';

export interface ReconcileContext {
  /** Aborts when the process stops or the reconcile takes too long. For waiting only: a write that has begun is finished. */
  signal: AbortSignal;
  /** Carries controller, key and traceId. */
  log: Logger;
  traceId: string;
}

export type Reconcile = (key: Key, context: ReconcileContext) => Promise<Result>;

export interface ControllerOptions {
  name: string;
  reconcile: Reconcile;
  /** Keys that are worked on at once; 10 unless told. */
  workers?: number;
  /** No reconcile starts before all of these have synced. */
  waitFor: readonly Syncable[];
  metrics: KitMetrics;
  log: Logger;
  /** `context.signal` aborts after this time; 2 minutes unless told. */
  reconcileTimeoutMs?: number;
  backoff?: Backoff;
  clock?: Clock;
}

/**
 * Calls `reconcile` for keys, never events, never twice at once for a key.
 *
 * How a reconcile ends, and what follows: 'awaitChange': nothing; `requeueAfterMs`: a run by then at the latest; a conflict (a
 * stale read): a quiet retry with back-off; `TerminalError`: an error log and no retry; anything else: an error log and a retry with
 * back-off, not before what a Retry-After said. Whatever happens, an `enqueue` during the run causes one more.
 */
export class Controller {
  readonly name: string;
  readonly #options: ControllerOptions;
  readonly #queue: Queue;
  readonly #stop = new AbortController();
  #workers: Promise<void>[] = [];

  constructor(options: ControllerOptions) {
    this.name = options.name;
    this.#options = options;
    const {metrics, name} = options;
    const labels = {name, controller: name};
    this.#queue = new Queue({
      clock: options.clock,
      backoff: options.backoff,
      observer: {
        added: () => metrics.queueAdds.inc(labels),
        depth: (waiting) => metrics.queueDepth.set(labels, waiting),
        waited: (ms) => metrics.queueDuration.observe(labels, ms / 1000),
        worked: (ms) => metrics.workDuration.observe(labels, ms / 1000),
        retried: () => metrics.queueRetries.inc(labels),
      },
    });
  }

  enqueue(key: Key): void {
    this.#queue.add(key);
  }

  enqueueAfter(key: Key, ms: number): void {
    this.#queue.addAfter(key, ms);
  }

  /** Resolves when the caches have synced and the workers run, or when it was stopped before that. */
  async start(): Promise<void> {
    const {waitFor, workers = 10, metrics} = this.#options;
    const stopped = new Promise<void>((resolve) =>
      this.#stop.signal.addEventListener('abort', () => resolve(), {once: true}),
    );
    await Promise.race([Promise.all(waitFor.map((cache) => cache.synced)), stopped]);
    if (this.#stop.signal.aborted) return;
    metrics.maxWorkers.set({controller: this.name}, workers);
    this.#workers = Array.from({length: workers}, () => this.#work());
  }

  /** Takes no more keys, aborts the signal of running reconciles, and resolves when the last has returned. */
  async stop(): Promise<void> {
    const drained = this.#queue.drain();
    this.#stop.abort(new Error(`${this.name} stops`));
    await drained;
    await Promise.all(this.#workers);
  }

  async #work(): Promise<void> {
    const active = this.#options.metrics.activeWorkers;
    for (let key = await this.#queue.get(); key !== undefined; key = await this.#queue.get()) {
      active.inc({controller: this.name});
      try {
        await this.#run(key);
      } finally {
        active.dec({controller: this.name});
        this.#queue.done(key);
      }
    }
  }

  async #run(key: Key): Promise<void> {
    const {reconcile, metrics, reconcileTimeoutMs = 120_000} = this.#options;
    const controller = this.name;
    const traceId = randomBytes(16).toString('hex');
    const log = this.#options.log.child({controller, key, traceId});
    const stopTimer = metrics.reconcileTime.startTimer({controller});
    const timeout = new AbortController();
    const timer = setTimeout(
      () => timeout.abort(new Error(`reconcile took longer than ${reconcileTimeoutMs} ms`)),
      reconcileTimeoutMs,
    );
    timer.unref();
    try {
      const result = await reconcile(key, {signal: AbortSignal.any([this.#stop.signal, timeout.signal]), log, traceId});
      this.#queue.forget(key);
      if (result !== 'awaitChange') this.#queue.addAfter(key, result.requeueAfterMs);
      metrics.reconciles.inc({controller, result: result === 'awaitChange' ? 'success' : 'requeue_after'});
    } catch (error) {
      this.#failed(key, error, log);
    } finally {
      clearTimeout(timer);
      stopTimer();
    }
  }

  #failed(key: Key, error: unknown, log: Logger): void {
    const {metrics} = this.#options;
    const controller = this.name;
    if (this.#stop.signal.aborted) {
      log.debug({err: error}, 'reconcile ended by the stop');
      return;
    }
    if (isConflict(error)) {
      metrics.reconciles.inc({controller, result: 'requeue'});
      const retryInMs = this.#queue.addBackoff(key);
      log.debug({err: error, retryInMs}, 'stale read, reconcile again');
      return;
    }
    metrics.reconciles.inc({controller, result: 'error'});
    metrics.reconcileErrors.inc({controller});
    if (error instanceof TerminalError) {
      metrics.terminalErrors.inc({controller});
      this.#queue.forget(key);
      log.error({err: error}, 'reconcile failed, no retry until a change');
      return;
    }
    const retryInMs = this.#queue.addBackoff(key, retryAfterMs(error));
    log.error({err: error, retryInMs: Math.round(retryInMs)}, 'reconcile failed');
  }
}
