import type {Logger} from 'pino';
import type {Syncable} from './cache/cache.ts';
import type {Client} from './client/client.ts';
import {sleep} from './clock.ts';
import type {Controller} from './controller/controller.ts';
import type {EventRecorder} from './writes/events.ts';
import type {Elector} from './leader/leader.ts';

/** A listening server, such as metrics, health or an API. */
export interface ManagedServer {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface Runnable extends Syncable {
  readonly resource: {plural: string};
  start(signal: AbortSignal): void;
  /** Resolves when the copy contains every change before the call. Required in processes with an elector. */
  catchUp?(): Promise<void>;
  stopped(): Promise<void>;
}

export interface ProcessHealth {
  /** The event loop is running. If false, the process must be restarted. */
  live: boolean;
  /**
   * All caches have synced, every `whenSynced` check has passed, and the process is not stopping. The cache of a kind that may be absent
   * has synced without the kind, too.
   */
  ready: boolean;
  /** Resources whose caches have not synced yet. */
  waitingFor: string[];
}

const heartbeatMs = 1000;
const deadAfterMs = 10_000;
const releaseWithinMs = 3000;

/**
 * Starts and stops the parts of a process in a fixed order.
 *
 *   start: servers, caches -> all caches synced -> checks -> ready -> this process leads -> caches have caught up -> beginnings
 *          -> controllers
 *   stop:  controllers take no more keys and drain within the grace time -> ends, if this process led -> events
 *          written -> leadership released -> servers -> caches -> client
 *
 * A candidate's caches are complete, but their age is unknown: a watch may be dead without notice. So a new leader first lets them
 * catch up, which takes 1 to 2 s. With an elector the client refuses every write of a
 * process that does not lead. Losing leadership ends the process immediately with exit code 1: no reconcile is drained and the
 * lease is not released. The lease is released only when no reconcile is running.
 */
export class Manager {
  readonly #client: Client;
  readonly #log: Logger;
  readonly #graceMs: number;
  readonly #events: EventRecorder | undefined;
  readonly #elector: Elector | undefined;
  readonly #caches: Runnable[] = [];
  readonly #controllers: Controller[] = [];
  readonly #servers: ManagedServer[] = [];
  readonly #checks: (() => void)[] = [];
  readonly #beginnings: (() => void)[] = [];
  readonly #ends: (() => Promise<void>)[] = [];
  readonly #stop = new AbortController();
  /** Aborts as soon as `stop` is called, which ends the election campaign. */
  readonly #asked = new AbortController();
  #campaign: Promise<boolean> | undefined;
  #passed = false;
  #began = false;
  #heartbeat: NodeJS.Timeout | undefined;
  #beatAt = performance.now();
  #stopping: Promise<void> | undefined;

  /** `graceMs`: time limit for controllers to finish running reconciles. 20 s by default, because a Pod is killed after 30 s. */
  constructor({
    client,
    log,
    graceMs = 20_000,
    events,
    elector,
    exit = (code) => process.exit(code),
  }: {
    client: Client;
    log: Logger;
    graceMs?: number;
    events?: EventRecorder;
    elector?: Elector;
    /** Ends the process; `process.exit` by default. */
    exit?: (code: number) => void;
  }) {
    this.#client = client;
    this.#log = log;
    this.#graceMs = graceMs;
    this.#events = events;
    this.#elector = elector;
    if (!elector) return;
    client.guardWrites(() => elector.assertLeading());
    void this.#endWhenLost(elector, exit);
  }

  /** Aborts when the process starts to stop its caches. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  addCache(...caches: Runnable[]): this {
    this.#caches.push(...caches);
    return this;
  }

  addController(...controllers: Controller[]): this {
    this.#controllers.push(...controllers);
    return this;
  }

  addServer(...servers: ManagedServer[]): this {
    this.#servers.push(...servers);
    return this;
  }

  /**
   * Calls `check` when all caches have synced, before this process becomes ready or a candidate. An error from the check ends the
   * start.
   */
  whenSynced(check: () => void): this {
    this.#checks.push(check);
    return this;
  }

  /** Calls `begin` when this process leads or has no elector. All caches are current, and no key has been reconciled yet. */
  whenLeading(begin: () => void): this {
    this.#beginnings.push(begin);
    return this;
  }

  /**
   * Calls `end` during an orderly stop of a process that leads or has no elector. No reconcile is running, and writes are still
   * allowed.
   */
  whenEnding(end: () => Promise<void>): this {
    this.#ends.push(end);
    return this;
  }

  /**
   * Resolves when all caches have synced, this process leads and all controllers run, or when it was stopped before. Throws when a
   * server cannot start, and passes on errors from `whenSynced` checks.
   */
  async start(): Promise<void> {
    this.#beatAt = performance.now();
    this.#heartbeat = setInterval(() => (this.#beatAt = performance.now()), heartbeatMs).unref();
    await Promise.all(this.#servers.map((server) => server.start()));
    for (const cache of this.#caches) cache.start(this.#stop.signal);
    const startedAt = performance.now();
    await this.#unlessStopped(Promise.all(this.#caches.map((cache) => cache.synced)));
    if (this.#stopping) return;
    this.#log.info({caches: this.#caches.length, ms: Math.round(performance.now() - startedAt)}, 'caches synced');
    for (const check of this.#checks) check();
    this.#passed = true;
    this.#campaign = this.#elector?.campaign(this.#asked.signal);
    if (await this.#campaign) await this.#catchUp();
    if (this.#stopping) return;
    this.#began = true;
    for (const begin of this.#beginnings) begin();
    await Promise.all(this.#controllers.map((controller) => controller.start()));
  }

  /** Stops all parts in order; a second call waits for the first. Never throws: errors are logged. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  health(): ProcessHealth {
    const waitingFor = this.#caches.filter((cache) => !cache.isSynced).map((cache) => cache.resource.plural);
    return {
      live: performance.now() - this.#beatAt < deadAfterMs,
      ready: this.#passed && this.#stopping === undefined,
      waitingFor,
    };
  }

  async #stopAll(): Promise<void> {
    this.#asked.abort(new Error('the process stops'));
    const endsAt = performance.now() + this.#graceMs;
    const drained = await this.#within(
      this.#graceMs,
      Promise.all(this.#controllers.map((controller) => controller.stop())),
    );
    if (!drained) this.#log.error({graceMs: this.#graceMs}, 'reconciles still run after the grace period');
    if (drained && this.#began) {
      const ends = this.#ends.map((end) => this.#attempt('the end', end()));
      await this.#within(Math.max(0, endsAt - performance.now()), Promise.all(ends));
    }
    if (this.#events) await this.#attempt('events', this.#events.flush(2000));
    if (this.#elector) await this.#release(this.#elector, drained);
    for (const server of this.#servers) await this.#attempt('server', server.stop());
    this.#stop.abort(new Error('the process stops'));
    await this.#within(2000, Promise.all(this.#caches.map((cache) => cache.stopped())));
    await this.#within(2000, this.#attempt('client', this.#client.close()));
    clearInterval(this.#heartbeat);
  }

  /** Keeps the lease while a reconcile may still write: the next leader then waits until the lease expires. */
  async #release(elector: Elector, drained: boolean): Promise<void> {
    if (!drained) return;
    await this.#within(
      releaseWithinMs,
      Promise.resolve(this.#campaign).then(() => elector.release()),
    );
  }

  /** Resolves when no cache is older than this process's leadership, or on a stop. */
  async #catchUp(): Promise<void> {
    const from = performance.now();
    await this.#unlessStopped(Promise.all(this.#caches.map((cache) => cache.catchUp?.())));
    if (!this.#stopping) this.#log.info({ms: Math.round(performance.now() - from)}, 'caches are current');
  }

  async #endWhenLost(elector: Elector, exit: (code: number) => void): Promise<void> {
    const reason = await elector.lost;
    this.#log.fatal({err: reason}, 'the process ends');
    exit(1);
  }

  async #unlessStopped(work: Promise<unknown>): Promise<void> {
    const stopped = new Promise<void>((resolve) =>
      this.#asked.signal.addEventListener('abort', () => resolve(), {once: true}),
    );
    await Promise.race([work, stopped]);
  }

  async #attempt(what: string, work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#log.error({err: error, what}, 'stopping failed');
    }
  }

  /** Returns whether the work ended in time. */
  async #within(ms: number, work: Promise<unknown>): Promise<boolean> {
    const over = new AbortController();
    try {
      return await Promise.race([work.then(() => true), sleep(ms, over.signal).then(() => false)]);
    } finally {
      over.abort();
    }
  }
}
