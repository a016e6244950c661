import {type Backoff, backoffMs} from '../backoff.ts';
import type {Client, WatchEvent} from '../client/client.ts';
import {type Clock, sleep, systemClock} from '../clock.ts';
import {ApiError, isGone, isOfAll, retryAfterMs} from '../errors.ts';
import {compareResourceVersions, type KubeObject, type Resource} from '../objects.ts';

/**
 * The states of a watch. After kube-rs' `watcher.rs`.
 *
 *        Listing ------ whole list, as of R ------> Watching from R <--+ ended in order: again at once,
 *        ^  |  ^                                     |      ^     |     | from the last version seen
 *        |  |  | 410: history is gone (back-off)     |      |     +-----+
 *        |  |  +------------------------------------ |      |
 *        |  | error                   refused, cut,  |      | still R or later
 *        |  v                         silent         v      |
 *        Waiting  <---- earlier than R: history ---- Checking R (after a back-off; an error: again, after a back-off)
 *                       was set back
 *
 * Checking reads the current resourceVersion. It detects an etcd restored from a backup. The API server accepts a watch from a
 * version that never existed, and sends nothing until history has reached that version (measured on 1.36).
 *
 * `catchUp` leads from Watching to Checking at once. Checking then also says which version is to be reached. The next watch is
 * short, because the API server sends a bookmark before the end of each watch. If the watch ends before it has reached that
 * version, Listing follows. A list is always current.
 */
export type WatchState =
  | {
      at: 'Listing';
      /** Number of lists in a row that expired before their last page was read. */
      expired: number;
      /** Token of the page that could not be read: the list continues there. */
      page?: string;
      /** Number of times in a row that the API server refused that page. */
      refused?: number;
    }
  | {at: 'Watching'; from: string}
  | {at: 'Checking'; from: string}
  | {at: 'Waiting'; ms: number; because: unknown; next: WatchState};

/** Receives the results of a watch. Calls come in order and never overlap. */
export interface WatchSink<T> {
  /** Part of a list at `resourceVersion`; `first` is true for the first page of each list. */
  page(items: T[], resourceVersion: string, first: boolean): void;
  /** The list is complete: objects missing from it no longer exist. */
  listed(resourceVersion: string): void;
  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void;
  /** All changes up to this resourceVersion have been delivered. */
  bookmark(resourceVersion: string): void;
}

export interface WatcherOptions {
  namespace?: string;
  labelSelector?: string;
  /** Objects per page of a list. */
  pageSize?: number;
  /**
   * Time after which the server ends a watch, s. A watch that has not ended {@link lateMs} after that counts as dead, such as a
   * half-open connection. So each watch shows within this time that its connection works, through any proxy. A false alarm costs
   * two requests.
   */
  timeoutSeconds?: number;
  backoff?: Backoff;
  clock?: Clock;
  /** Called on every change of state. */
  onState?(state: WatchState): void;
}

/**
 * After this many lists whose pages expired (410), all objects are requested in one answer, which cannot expire. The limit is not
 * lower, because one long wait also expires pages, and one big answer is the largest load for both sides. If the answer is too long
 * to read, the list returns to pages.
 */
const mostExpired = 2;

/**
 * After this many refusals of a page the list starts again from the first page. The page's token may be permanently invalid, for
 * example after history was set back.
 */
const mostRefused = 5;

/** A watch that lasted this long, or delivered any event, shows that the server is healthy: the back-off is reset. */
const healthyMs = 5000;

/** Time for a watch to be accepted, and after its `timeoutSeconds` for its end to arrive, ms. */
const lateMs = 4000;

/**
 * `timeoutSeconds` of a watch that catches up. The server sends bookmarks in the last 2 s of a watch (apiserver:
 * storage/cacher/cache_watcher.go, nextBookmarkTime). Measured on 1.36: 0.5 to 1.4 s after its beginning, and 1.7 to 2.2 s.
 */
const catchUpSeconds = 3;

/** The abort reason by which `catchUp` ends a watch or a wait. */
const catchesUp = new Error('the watch catches up');

/** A version that the watch is to reach. */
interface Goal {
  /** Undefined until the API server has answered. */
  version?: string;
  promise: Promise<void>;
  resolve(): void;
}

/**
 * Lists, then watches, until the signal aborts. Every end of a watch is handled. After a failure, each request waits for a jittered
 * back-off or for the server's Retry-After. `run` returns when the signal aborts, and never throws.
 */
export class Watcher<T extends KubeObject> {
  readonly #client: Client;
  readonly #resource: Resource<T>;
  readonly #sink: WatchSink<T>;
  readonly #options: WatcherOptions;
  readonly #clock: Clock;
  readonly #timeoutSeconds: number;
  readonly #backoff: Backoff;
  #failures = 0;
  #goal: Goal | undefined;
  /** Ends the running watch or wait. */
  #cut: AbortController | undefined;

  constructor(client: Client, resource: Resource<T>, sink: WatchSink<T>, options: WatcherOptions = {}) {
    this.#client = client;
    this.#resource = resource;
    this.#sink = sink;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#timeoutSeconds = options.timeoutSeconds ?? 40;
    this.#backoff = options.backoff ?? {baseMs: 200, capMs: 15_000};
  }

  async run(signal: AbortSignal): Promise<void> {
    let state: WatchState = {at: 'Listing', expired: 0};
    while (!signal.aborted) {
      this.#options.onState?.(state);
      state = await this.#leave(state, signal);
    }
  }

  /**
   * Resolves when the sink has received everything up to the API server's version at the time of the call. Takes 1 to 2 s, or a
   * list if the watch shows no such version. While the API server does not answer, tries again after each back-off.
   */
  async catchUp(): Promise<void> {
    // Another call may wait for an older version.
    while (this.#goal) await this.#goal.promise;
    const goal: Goal = Promise.withResolvers<void>();
    this.#goal = goal;
    this.#cut?.abort(catchesUp);
    await goal.promise;
  }

  /** Everything up to this version has been delivered. */
  #reached(resourceVersion: string): void {
    const goal = this.#goal;
    if (goal?.version === undefined || compareResourceVersions(resourceVersion, goal.version) < 0) return;
    this.#goal = undefined;
    goal.resolve();
  }

  async #leave(state: WatchState, signal: AbortSignal): Promise<WatchState> {
    switch (state.at) {
      case 'Listing':
        return this.#list(state, signal);
      case 'Watching':
        if (this.#goal && this.#goal.version === undefined) return {at: 'Checking', from: state.from};
        return this.#watch(state, signal);
      case 'Checking':
        return this.#check(state, signal);
      case 'Waiting':
        // A wait that the server requested is kept.
        if (retryAfterMs(state.because) !== undefined) await sleep(state.ms, signal, this.#clock);
        else await this.#cuttable(signal, (cut) => sleep(state.ms, cut.signal, this.#clock));
        return state.next;
    }
  }

  /** Runs `work` with a controller that `signal` and `catchUp` abort. */
  async #cuttable<R>(signal: AbortSignal, work: (cut: AbortController) => Promise<R>): Promise<R> {
    const cut = new AbortController();
    const onAbort = (): void => cut.abort(signal.reason);
    signal.addEventListener('abort', onAbort, {once: true});
    this.#cut = cut;
    try {
      return await work(cut);
    } finally {
      this.#cut = undefined;
      signal.removeEventListener('abort', onAbort);
      cut.abort();
    }
  }

  async #list(
    {expired, page, refused = 0}: {expired: number; page?: string; refused?: number},
    signal: AbortSignal,
  ): Promise<WatchState> {
    const {namespace, labelSelector, pageSize = this.#resource.pageSize ?? 500} = this.#options;
    const isPaged = expired < mostExpired;
    let next = page;
    try {
      let from = '';
      const options = {namespace, labelSelector, limit: isPaged ? pageSize : 0, signal};
      for await (const read of this.#client.pages(this.#resource, options, page)) {
        from = read.resourceVersion;
        this.#sink.page(read.items, from, next === undefined);
        next = read.next;
        refused = 0;
      }
      this.#sink.listed(from);
      this.#reached(from);
      return {at: 'Watching', from};
    } catch (error) {
      if (!isPaged) return this.#wait(error, {at: 'Listing', expired: 0});
      if (isGone(error)) return this.#wait(error, {at: 'Listing', expired: expired + 1});
      if (!isOfAll(error)) refused++;
      return this.#wait(error, {at: 'Listing', expired, ...(refused < mostRefused && {page: next, refused})});
    }
  }

  async #check({from}: {from: string}, signal: AbortSignal): Promise<WatchState> {
    const {namespace} = this.#options;
    const goal = this.#goal;
    try {
      const now = await this.#client.version(this.#resource, {namespace, signal});
      if (goal) goal.version = now;
      if (compareResourceVersions(now, from) === 0) this.#reached(from);
      if (compareResourceVersions(now, from) >= 0) return {at: 'Watching', from};
      return this.#wait(new Error(`the API server is at ${now}, before ${from}: its history was reset`), {
        at: 'Listing',
        expired: 0,
      });
    } catch (error) {
      return this.#wait(error, {at: 'Checking', from});
    }
  }

  async #watch({from}: {from: string}, signal: AbortSignal): Promise<WatchState> {
    const catching = this.#goal;
    const timeoutSeconds = catching ? catchUpSeconds : this.#timeoutSeconds;
    const watch = {seen: from, acceptedAt: Infinity, healthy: false};
    const hasLived = (): boolean => this.#clock.now() - watch.acceptedAt >= healthyMs;
    /** The watch ended, in order or in silence, and has not shown the version that is to be reached. */
    const isBehind = (): boolean => catching !== undefined && catching === this.#goal;
    return this.#cuttable(signal, async (cut) => {
      try {
        await this.#follow(watch, timeoutSeconds, cut);
        if (watch.healthy || hasLived()) this.#failures = 0;
        if (isBehind()) return {at: 'Listing', expired: 0};
        if (watch.healthy) return {at: 'Watching', from: watch.seen};
        // Without even a bookmark, the watch may be from a version that never existed.
        if (hasLived()) return {at: 'Checking', from: watch.seen};
        return this.#wait('the watch ended at once', {at: 'Checking', from: watch.seen});
      } catch (error) {
        if (cut.signal.reason === catchesUp) return {at: 'Checking', from: watch.seen};
        if (hasLived()) this.#failures = 0;
        if (isGone(error)) return this.#wait(error, {at: 'Listing', expired: 0});
        const because: unknown = cut.signal.aborted ? cut.signal.reason : error;
        if (because instanceof LateError && isBehind()) return this.#wait(because, {at: 'Listing', expired: 0});
        return this.#wait(because, {at: 'Checking', from: watch.seen});
      }
    });
  }

  /** One watch request, until the server ends it. Throws when it is refused, cut or late. */
  async #follow(
    watch: {seen: string; acceptedAt: number; healthy: boolean},
    timeoutSeconds: number,
    cut: AbortController,
  ): Promise<void> {
    const {namespace, labelSelector} = this.#options;
    const [ms, due] = [timeoutSeconds * 1000 + lateMs, () => cut.abort(new LateError(timeoutSeconds))];
    let deadline = this.#clock.setTimeout(due, ms);
    try {
      const {signal} = cut;
      const request = {namespace, labelSelector, resourceVersion: watch.seen, timeoutSeconds, signal};
      for await (const events of this.#client.watch(this.#resource, request)) {
        if (watch.acceptedAt === Infinity) {
          watch.acceptedAt = this.#clock.now();
          // The server counts from about now.
          this.#clock.clearTimeout(deadline);
          deadline = this.#clock.setTimeout(due, ms);
        }
        for (const event of events) {
          watch.seen = this.#tell(event, watch.seen);
          watch.healthy = true;
          this.#reached(watch.seen);
        }
        if (watch.healthy) this.#failures = 0;
      }
    } finally {
      this.#clock.clearTimeout(deadline);
    }
  }

  /** Delivers an event and returns the resourceVersion to continue from. Throws an ERROR event as an ApiError. */
  #tell(event: WatchEvent<T>, seen: string): string {
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        this.#sink.event(event.type, event.object);
        return event.object.metadata.resourceVersion ?? seen;
      case 'BOOKMARK':
        this.#sink.bookmark(event.object.metadata.resourceVersion);
        return event.object.metadata.resourceVersion;
      case 'ERROR':
        throw new ApiError({
          status: event.object.code ?? 500,
          body: JSON.stringify(event.object),
          request: `WATCH ${this.#resource.plural}`,
        });
    }
  }

  #wait(because: unknown, next: WatchState): WatchState {
    this.#failures++;
    const ms = Math.max(backoffMs(this.#failures, this.#backoff), retryAfterMs(because) ?? 0);
    return {at: 'Waiting', ms, because, next};
  }
}

/** The server has not ended a watch in time. */
class LateError extends Error {
  override readonly name = 'LateError';

  constructor(timeoutSeconds: number) {
    super(`the watch did not end after ${timeoutSeconds} s: the connection is broken`);
  }
}
