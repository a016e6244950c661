import type {Logger} from 'pino';
import type {Backoff} from '../backoff.ts';
import type {Syncable} from '../cache/cache.ts';
import type {Clock} from '../clock.ts';
import {isConflict, isNamespaceGone, retryAfterMs, StaleReadError, TerminalError} from '../errors.ts';
import type {KitMetrics} from '../metrics.ts';
import type {Key} from '../objects.ts';
import {Queue} from './queue.ts';
import {processTurns, type Turns} from './turns.ts';
import type {Wake} from './wake.ts';
import {defaultWorkers} from '../client/workers.ts';

/** When to reconcile the key again: within a time limit, or only after a change. */
export type Result = {requeueAfterMs: number} | 'awaitChange';

/** A reconcile ends without being cancelled, because each of its requests ends. A write that has begun is finished. */
export type Reconcile = (key: Key) => Promise<Result>;

/** Reconcile the key again at once, behind the keys already due: one run was not enough for its work. */
export const again: Result = {requeueAfterMs: 0};

export interface ControllerOptions {
  name: string;
  reconcile: Reconcile;
  /** Sources that enqueue keys, besides direct calls of `enqueue`. */
  wokenBy?: readonly Wake[];
  /** Number of keys reconciled at the same time; `defaultWorkers` by default. */
  workers?: number;
  /** No reconcile starts before all these caches have synced. */
  waitFor: readonly Syncable[];
  metrics: KitMetrics;
  log: Logger;
  backoff?: Backoff;
  clock?: Clock;
  /** The process-wide `processTurns` by default. */
  turns?: Turns;
}

/**
 * Calls `reconcile` for keys, never for events, and never twice at once for a key.
 *
 * A reconcile's outcome decides the next run:
 * - 'awaitChange': no further run.
 * - `requeueAfterMs`: a run within that time.
 * - A conflict, a `StaleReadError`, a namespace that is deleted or being deleted: a quiet retry with back-off.
 * - `TerminalError`: an error log and no retry.
 * - Any other error: an error log and a retry with back-off, not before the server's Retry-After.
 *
 * In every case, an `enqueue` during the run causes one more run.
 */
export class Controller {
  readonly name: string;
  readonly #options: ControllerOptions;
  readonly #queue: Queue;
  readonly #stop = new AbortController();
  #workers: Promise<void>[] = [];
  /** Keys enqueued before the start, when no worker runs, so that their waiting time is not measured. Undefined after the start. */
  #early: Set<Key> | undefined = new Set();

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
    for (const wake of options.wokenBy ?? []) wake((key, how) => this.enqueue(key, how));
  }

  /**
   * `urgent`: a user waits for this key, so it passes keys that only follow from other changes. Keys enqueued before the start are
   * never urgent.
   */
  enqueue(key: Key, {urgent = false} = {}): void {
    if (this.#early) this.#early.add(key);
    else this.#queue.add(key, {urgent});
  }

  enqueueAfter(key: Key, ms: number): void {
    this.#queue.addAfter(key, ms);
  }

  /** Resolves when the caches have synced and the workers run, or when the controller was stopped before that. */
  async start(): Promise<void> {
    const {waitFor, workers = defaultWorkers, metrics} = this.#options;
    const stopped = new Promise<void>((resolve) =>
      this.#stop.signal.addEventListener('abort', () => resolve(), {once: true}),
    );
    await Promise.race([Promise.all(waitFor.map((cache) => cache.synced)), stopped]);
    if (this.#stop.signal.aborted) return;
    metrics.maxWorkers.set({controller: this.name}, workers);
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const key of early) this.enqueue(key);
    this.#workers = Array.from({length: workers}, () => this.#work());
  }

  /** Takes no more keys. Resolves when the last running reconcile has returned. */
  async stop(): Promise<void> {
    const drained = this.#queue.drain();
    this.#stop.abort(new Error(`${this.name} stops`));
    await drained;
    await Promise.all(this.#workers);
  }

  async #work(): Promise<void> {
    const {turns = processTurns, metrics} = this.#options;
    const active = metrics.activeWorkers;
    for (let key = await this.#queue.get(); key !== undefined; key = await this.#queue.get()) {
      active.inc({controller: this.name});
      try {
        await this.#run(key);
      } finally {
        active.dec({controller: this.name});
        this.#queue.done(key);
      }
      await turns.mine();
    }
  }

  async #run(key: Key): Promise<void> {
    const {reconcile, metrics} = this.#options;
    const controller = this.name;
    const stopTimer = metrics.reconcileTime.startTimer({controller});
    try {
      const result = await reconcile(key);
      this.#queue.forget(key);
      if (result !== 'awaitChange') this.#queue.addAfter(key, result.requeueAfterMs);
      metrics.reconciles.inc({controller, result: result === 'awaitChange' ? 'success' : 'requeue_after'});
    } catch (error) {
      this.#failed(key, error);
    } finally {
      stopTimer();
    }
  }

  #failed(key: Key, error: unknown): void {
    const {metrics} = this.#options;
    const controller = this.name;
    const log = this.#options.log.child({controller, key});
    if (this.#stop.signal.aborted) {
      log.debug({err: error}, 'the reconcile ended because the process stops');
      return;
    }
    // The watch will soon report the end of a namespace.
    if (isConflict(error) || isNamespaceGone(error) || error instanceof StaleReadError) {
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
      log.error({err: error}, 'the reconcile failed; the next change starts another one');
      return;
    }
    const retryInMs = this.#queue.addBackoff(key, retryAfterMs(error));
    log.error({err: error, retryInMs: Math.round(retryInMs)}, 'reconcile failed');
  }
}
