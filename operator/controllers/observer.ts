/**
 * Looks at the outside world for the controllers: DNS checks, probes of the edge. A reconcile never waits for one: it
 * says when the next look is due, reads the newest result, and is called again when there is one. So a dead DNS server
 * delays nothing but its own name (rule 2), and a removal is never queued behind a time-out.
 */
export interface Looked<R> {
  result: R;
  at: number;
}

interface Entry<R> {
  timer?: NodeJS.Timeout;
  dueAt?: number;
  running: boolean;
  /** The newest last; a few. */
  looked: Looked<R>[];
  /** After a look that threw: not again before this. */
  notBefore?: number;
}

/** How many results of a key are remembered. */
const mostRemembered = 16;
/** How far looks may be moved, so that many names do not stay in step. */
const jitter = 0.2;
const pauseAfterErrorMs = 5_000;

export interface ObserverOptions<Q, R> {
  /** One look. A thrown error counts as no look; the next one waits 5 s. */
  look: (question: Q, signal: AbortSignal) => Promise<R>;
  /** Called when a look has ended, with a result or without. */
  onResult: (owner: string) => void;
  onError: (error: unknown, question: Q) => void;
  /** Looks at once. */
  concurrency: number;
  now?: () => number;
}

/** Looks by owner and key: one at a time per key, a bounded number at once, the earliest due time wins. */
export class Observer<Q, R> {
  readonly #options: ObserverOptions<Q, R>;
  readonly #owners = new Map<string, Map<string, Entry<R>>>();
  readonly #waiting: {owner: string; key: string; entry: Entry<R>; question: Q}[] = [];
  readonly #stop = new AbortController();
  #running = 0;

  constructor(options: ObserverOptions<Q, R>) {
    this.#options = options;
  }

  /** The newest result for a key. */
  latest(owner: string, key: string): Looked<R> | undefined {
    return this.recent(owner, key).at(-1);
  }

  /** The last results for a key, the newest last. */
  recent(owner: string, key: string): readonly Looked<R>[] {
    return this.#owners.get(owner)?.get(key)?.looked ?? [];
  }

  /**
   * Sees to it that a look begins at `at` (ms since the epoch; past means now). A look that is already under way answers
   * for it; a later due time is replaced by an earlier one.
   */
  due(owner: string, key: string, question: Q, at: number): void {
    if (this.#stop.signal.aborted) return;
    const keys = this.#owners.get(owner) ?? new Map<string, Entry<R>>();
    this.#owners.set(owner, keys);
    const entry: Entry<R> = keys.get(key) ?? {running: false, looked: []};
    keys.set(key, entry);
    if (entry.running || (entry.dueAt !== undefined && entry.dueAt <= at)) return;
    const delay = Math.max(0, Math.max(at, entry.notBefore ?? 0) - this.#now());
    clearTimeout(entry.timer);
    entry.dueAt = at;
    // Jitter only ever shortens: a look is never later than it was promised.
    entry.timer = setTimeout(
      () => this.#begin(owner, key, question),
      Math.min(delay * (1 - jitter * Math.random()), 2 ** 31 - 1),
    );
    entry.timer.unref();
  }

  /** Drops what is known about all keys of an owner that are not among `keep`. */
  forget(owner: string, keep?: ReadonlySet<string>): void {
    const keys = this.#owners.get(owner);
    if (!keys) return;
    for (const [key, entry] of keys) {
      if (keep?.has(key)) continue;
      clearTimeout(entry.timer);
      keys.delete(key);
    }
    if (keys.size === 0) this.#owners.delete(owner);
  }

  /** Ends all timers and looks. */
  stop(): void {
    this.#stop.abort();
    for (const owner of this.#owners.keys()) this.forget(owner);
    this.#waiting.length = 0;
  }

  #now() {
    return (this.#options.now ?? Date.now)();
  }

  #begin(owner: string, key: string, question: Q): void {
    const entry = this.#owners.get(owner)?.get(key);
    if (!entry || entry.running) return;
    entry.running = true;
    this.#waiting.push({owner, key, entry, question});
    this.#next();
  }

  #next(): void {
    while (this.#running < this.#options.concurrency) {
      const next = this.#waiting.shift();
      if (!next) return;
      // Forgotten while it waited, and perhaps asked for anew.
      if (this.#owners.get(next.owner)?.get(next.key) !== next.entry) continue;
      this.#running++;
      void this.#look(next.owner, next.entry, next.question).finally(() => {
        this.#running--;
        this.#next();
      });
    }
  }

  async #look(owner: string, entry: Entry<R>, question: Q): Promise<void> {
    // The time at which it began: a record that changes while it runs may have been missed.
    const at = this.#now();
    try {
      const result = await this.#options.look(question, this.#stop.signal);
      entry.looked = [...entry.looked, {result, at}].slice(-mostRemembered);
      entry.notBefore = undefined;
    } catch (error) {
      entry.notBefore = this.#now() + pauseAfterErrorMs;
      if (!this.#stop.signal.aborted) this.#options.onError(error, question);
    }
    entry.running = false;
    entry.dueAt = undefined;
    if (!this.#stop.signal.aborted) this.#options.onResult(owner);
  }
}
