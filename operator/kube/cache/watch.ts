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
  /** Time after which the server ends a watch. */
  timeoutSeconds?: number;
  /**
   * A stream without data for this long counts as dead, such as a half-open connection. The server sends a bookmark every minute
   * even without changes (measured on 1.36), so two bookmarks are missed by then. A false alarm costs one request.
   */
  silenceMs?: number;
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
  readonly #silenceMs: number;
  readonly #backoff: Backoff;
  #failures = 0;

  constructor(client: Client, resource: Resource<T>, sink: WatchSink<T>, options: WatcherOptions = {}) {
    this.#client = client;
    this.#resource = resource;
    this.#sink = sink;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#timeoutSeconds = options.timeoutSeconds ?? 290;
    this.#silenceMs = options.silenceMs ?? 150_000;
    this.#backoff = options.backoff ?? {baseMs: 200, capMs: 15_000};
  }

  async run(signal: AbortSignal): Promise<void> {
    let state: WatchState = {at: 'Listing', expired: 0};
    while (!signal.aborted) {
      this.#options.onState?.(state);
      state = await this.#leave(state, signal);
    }
  }

  async #leave(state: WatchState, signal: AbortSignal): Promise<WatchState> {
    switch (state.at) {
      case 'Listing':
        return this.#list(state, signal);
      case 'Watching':
        return this.#watch(state, signal);
      case 'Checking':
        return this.#check(state, signal);
      case 'Waiting':
        await sleep(state.ms, signal, this.#clock);
        return state.next;
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
    try {
      const now = await this.#client.version(this.#resource, {namespace, signal});
      if (compareResourceVersions(now, from) >= 0) return {at: 'Watching', from};
      return this.#wait(new Error(`the API server is at ${now}, before ${from}: its history was set back`), {
        at: 'Listing',
        expired: 0,
      });
    } catch (error) {
      return this.#wait(error, {at: 'Checking', from});
    }
  }

  async #watch({from}: {from: string}, signal: AbortSignal): Promise<WatchState> {
    const {namespace, labelSelector} = this.#options;
    const cut = new AbortController();
    const onAbort = (): void => cut.abort(signal.reason);
    signal.addEventListener('abort', onAbort, {once: true});
    let acceptedAt = Infinity;
    const hasLived = (): boolean => this.#clock.now() - acceptedAt >= healthyMs;
    let watchdog: unknown;
    let seen = from;
    let healthy = false;
    try {
      const feedWatchdog = (): void => {
        this.#clock.clearTimeout(watchdog);
        watchdog = this.#clock.setTimeout(
          () => cut.abort(new Error(`nothing heard for ${this.#silenceMs} ms`)),
          this.#silenceMs,
        );
      };
      feedWatchdog();
      const request = {
        namespace,
        labelSelector,
        resourceVersion: from,
        timeoutSeconds: this.#timeoutSeconds,
        signal: cut.signal,
      };
      for await (const events of this.#client.watch(this.#resource, request)) {
        feedWatchdog();
        acceptedAt = Math.min(acceptedAt, this.#clock.now());
        for (const event of events) {
          seen = this.#tell(event, seen);
          healthy = true;
        }
        if (healthy) this.#failures = 0;
      }
      if (healthy || hasLived()) {
        this.#failures = 0;
        return {at: 'Watching', from: seen};
      }
      return this.#wait('the watch ended at once', {at: 'Checking', from: seen});
    } catch (error) {
      if (hasLived()) this.#failures = 0;
      if (isGone(error)) return this.#wait(error, {at: 'Listing', expired: 0});
      return this.#wait(cut.signal.aborted ? cut.signal.reason : error, {at: 'Checking', from: seen});
    } finally {
      this.#clock.clearTimeout(watchdog);
      signal.removeEventListener('abort', onAbort);
      cut.abort();
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
