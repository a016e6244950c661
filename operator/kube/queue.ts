import {type Backoff, backoffMs} from './backoff.ts';
import {type Clock, longestTimerMs, systemClock} from './clock.ts';
import {Heap} from './heap.ts';
import type {Key} from './objects.ts';

/** Told of everything that metrics need; times in ms. */
export interface QueueObserver {
  added?(): void;
  depth?(waiting: number): void;
  waited?(ms: number): void;
  worked?(ms: number): void;
  retried?(): void;
}

export interface QueueOptions {
  clock?: Clock;
  backoff?: Backoff;
  observer?: QueueObserver;
}

interface Appointment {
  key: Key;
  due: number;
  order: number;
}

/**
 * Keys that are due now or later, each at most once. After client-go's workqueue and kube-rs' `scheduler.rs`:
 *
 * - A key is with one worker at most, from `get` to `done`.
 * - A key has one due time: the earliest that was asked for since it was last taken. Taking it uses the due time up.
 * - What is added while its key is being worked on makes it due once more, after `done`.
 * - Keys leave in the order in which they became due.
 * - After `shutdown` nothing is added and nothing more is given out; `drain` waits for what was.
 *
 *              add                          get                      done
 *   (unknown) ------> waiting --------------------------> working ---------> (unknown), or waiting if `again`
 *        \              ^                                   |
 *         \ addAfter    | due                               | add: again; addAfter: an appointment beside the work
 *          `---> appointment <------------------------------'
 */
export class Queue {
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #observer: QueueObserver;
  /** Due keys in order, with the time since when. */
  readonly #waiting = new Map<Key, number>();
  readonly #working = new Map<Key, number>();
  readonly #again = new Set<Key>();
  /** The one valid appointment of a key; superseded ones stay in the heap until they come up. */
  readonly #appointments = new Map<Key, Appointment>();
  #heap = heapOf([]);
  readonly #failures = new Map<Key, number>();
  #takers: ((key: Key | undefined) => void)[] = [];
  #drained: (() => void)[] = [];
  #timer: {handle: unknown; due: number} | undefined;
  #order = 0;
  #stopped = false;

  constructor({clock = systemClock, backoff = {baseMs: 50, capMs: 300_000}, observer = {}}: QueueOptions = {}) {
    this.#clock = clock;
    this.#backoff = backoff;
    this.#observer = observer;
  }

  /** Keys that are due and wait for a worker. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** Due now. Cancels a later appointment of the key. */
  add(key: Key): void {
    if (this.#stopped) return;
    this.#appointments.delete(key);
    if (this.#working.has(key)) {
      this.#again.add(key);
      return;
    }
    if (this.#waiting.has(key)) return;
    this.#observer.added?.();
    const taker = this.#takers.shift();
    if (taker) {
      this.#observer.waited?.(0);
      this.#working.set(key, this.#clock.now());
      taker(key);
      return;
    }
    this.#waiting.set(key, this.#clock.now());
    this.#observer.depth?.(this.#waiting.size);
  }

  /** Due in `ms`, unless it is due earlier already. */
  addAfter(key: Key, ms: number): void {
    if (this.#stopped) return;
    if (!(ms > 0)) return this.add(key);
    if (this.#waiting.has(key) || this.#again.has(key)) return;
    const appointment = {key, due: this.#clock.now() + ms, order: this.#order++};
    const present = this.#appointments.get(key);
    if (present && present.due <= appointment.due) return;
    this.#appointments.set(key, appointment);
    this.#heap.push(appointment);
    if (this.#heap.size > 2 * this.#appointments.size + 64) this.#heap = heapOf(this.#appointments.values());
    this.#arm();
  }

  /** Due after this key's back-off, which grows with every call until `forget`; at least `atLeastMs`. Returns the wait in ms. */
  addBackoff(key: Key, atLeastMs = 0): number {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#observer.retried?.();
    const ms = Math.max(backoffMs(failures, this.#backoff), atLeastMs);
    this.addAfter(key, ms);
    return ms;
  }

  /** The key succeeded: its back-off starts anew. */
  forget(key: Key): void {
    this.#failures.delete(key);
  }

  /** The next due key, as soon as there is one; undefined once shut down. Whoever gets a key must call `done`. */
  get(): Promise<Key | undefined> {
    if (this.#stopped) return Promise.resolve(undefined);
    const next = this.#waiting.entries().next();
    if (next.done) return new Promise((resolve) => this.#takers.push(resolve));
    const [key, since] = next.value;
    const now = this.#clock.now();
    this.#waiting.delete(key);
    this.#working.set(key, now);
    this.#observer.depth?.(this.#waiting.size);
    this.#observer.waited?.(now - since);
    return Promise.resolve(key);
  }

  done(key: Key): void {
    const since = this.#working.get(key);
    if (since === undefined) return;
    this.#working.delete(key);
    this.#observer.worked?.(this.#clock.now() - since);
    if (this.#again.delete(key)) this.add(key);
    if (this.#working.size === 0) for (const resolve of this.#drained.splice(0)) resolve();
  }

  /** Ends the giving out: waiting keys and appointments are dropped, `get` answers undefined. */
  shutdown(): void {
    this.#stopped = true;
    this.#waiting.clear();
    this.#again.clear();
    this.#appointments.clear();
    this.#heap = heapOf([]);
    if (this.#timer) this.#clock.clearTimeout(this.#timer.handle);
    this.#timer = undefined;
    this.#observer.depth?.(0);
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  /** Shuts down, and resolves when no key is being worked on. */
  drain(): Promise<void> {
    this.shutdown();
    if (this.#working.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  /** One timer, for the earliest appointment. */
  #arm(): void {
    const first = this.#earliest();
    if (!first || (this.#timer && this.#timer.due <= first.due)) return;
    if (this.#timer) this.#clock.clearTimeout(this.#timer.handle);
    const ms = Math.min(Math.max(Math.ceil(first.due - this.#clock.now()), 0), longestTimerMs);
    this.#timer = {due: first.due, handle: this.#clock.setTimeout(() => this.#ring(), ms)};
  }

  #ring(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    for (let first = this.#earliest(); first && first.due <= now; first = this.#earliest()) {
      this.#heap.pop();
      this.add(first.key);
    }
    this.#arm();
  }

  #earliest(): Appointment | undefined {
    for (let first = this.#heap.peek(); first; first = this.#heap.peek()) {
      if (this.#appointments.get(first.key) === first) return first;
      this.#heap.pop();
    }
    return undefined;
  }
}

function heapOf(appointments: Iterable<Appointment>): Heap<Appointment> {
  const heap = new Heap<Appointment>((a, b) => a.due < b.due || (a.due === b.due && a.order < b.order));
  for (const appointment of appointments) heap.push(appointment);
  return heap;
}
