import {type Backoff, backoffMs} from './backoff.ts';
import type {Client, WatchEvent} from './client.ts';
import {type Clock, sleep, systemClock} from './clock.ts';
import {ApiError, isGone, isOfAll, retryAfterMs} from './errors.ts';
import {compareResourceVersions, type KubeObject, type Resource} from './objects.ts';

/**
 * Where a watch stands. After kube-rs' `watcher.rs`.
 *
 *        Listing ------ whole list, as of R ------> Watching from R <--+ ended in order: again at once,
 *        ^  |  ^                                     |      ^     |     | from what was seen last
 *        |  |  | 410: history is gone (back-off)     |      |     +-----+
 *        |  |  +------------------------------------ |      |
 *        |  | error                   refused, cut,  |      | still R or later
 *        |  v                         silent         v      |
 *        Waiting  <---- earlier than R: history ---- Checking R (after a back-off; an error: again, after a back-off)
 *                       was set back
 *
 * Checking asks for the current resourceVersion. It detects an etcd that was restored from a backup: a watch from a version that never
 * existed is accepted, and delivers nothing until history has caught up (measured on 1.36).
 */
export type WatchState =
  | {
      at: 'Listing';
      /** How many lists in a row have become too old before their last page was read. */
      expired: number;
      /** The page that could not be read. The list continues there. */
      page?: string;
      /** How often in a row the API server had something against that page. */
      refused?: number;
    }
  | {at: 'Watching'; from: string}
  | {at: 'Checking'; from: string}
  | {at: 'Waiting'; ms: number; because: unknown; next: WatchState};

/** Receives the events of a watch. Calls come in order, never two at once. */
export interface WatchSink<T> {
  /** A part of a list as of `resourceVersion`; `first` when it begins (again). */
  page(items: T[], resourceVersion: string, first: boolean): void;
  /** The list is whole: what it did not hold no longer exists. */
  listed(resourceVersion: string): void;
  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void;
  /** Everything up to this resourceVersion has been told. */
  bookmark(resourceVersion: string): void;
}

export interface WatcherOptions {
  namespace?: string;
  labelSelector?: string;
  /** Objects a page of a list. */
  pageSize?: number;
  /** The server ends a watch after this time. */
  timeoutSeconds?: number;
  /**
   * A stream that brought nothing for this long is taken for dead, as a half-open connection is. The server sends a bookmark
   * every minute even when nothing changes (measured on 1.36), so two are missed by then; a false alarm costs one request.
   */
  silenceMs?: number;
  backoff?: Backoff;
  clock?: Clock;
  /** Told of every change of state. */
  onState?(state: WatchState): void;
}

/**
 * After this number of lists whose pages expired (410), everything is requested at once, because a single answer cannot expire. Not
 * earlier: a single long wait also expires pages, and one large answer is the heaviest request for both sides. If that answer is too large
 * to read, the list uses pages again.
 */
const mostExpired = 2;

/**
 * After so many refusals of a page the list begins anew: its token may never be good again, such as one of a history that was set
 * back.
 */
const mostRefused = 5;

/** A watch that lived this long, or brought anything, shows that the server is well: the back-off starts anew. */
const healthyMs = 5000;

/**
 * Lists, then watches, for ever: every end is handled, every request that follows a failure waits for a jittered back-off or
 * for what Retry-After says. `run` returns when the signal aborts, and never throws.
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

  /** Passes an event on, and returns the resourceVersion to go on from. Throws what an ERROR event says. */
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
