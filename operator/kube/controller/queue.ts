import {Appointments} from './appointments.ts';
import {type Backoff, backoffMs} from '../backoff.ts';
import {type Clock, systemClock} from '../clock.ts';
import {Fifo} from '../collections/fifo.ts';
import type {Key} from '../objects.ts';

/** Callbacks for the queue's metrics; times in ms. */
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

/** At most this many keys in a row pass a key that waits in the second lane. */
const mostPasses = 7;

/**
 * Keys that are due now or later, each at most once. After client-go's workqueue and kube-rs' `scheduler.rs`:
 *
 * - A key has at most one worker, from `get` to `done`.
 * - A key has one due time: the earliest requested since it was last taken. Taking the key clears the due time.
 * - Adding a key during its work makes the key due once more, after `done`.
 * - Keys leave in the order they became due. Urgent keys pass the others, but every eighth key comes from the others while any
 *   waits. A key stays urgent until it is taken, and through its back-off if that run fails.
 * - After `shutdown` no key is added or returned. `drain` waits for the keys in progress.
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
  /** Due keys in order, in two lanes. The value is the time since which the key is due. */
  readonly #first = new Fifo<Key, number>();
  readonly #second = new Fifo<Key, number>();
  readonly #urgent = new Set<Key>();
  readonly #working = new Map<Key, {since: number; urgent: boolean}>();
  /** Number of keys in a row that passed the second lane. */
  #passes = 0;
  readonly #again = new Set<Key>();
  readonly #appointments: Appointments<Key>;
  readonly #failures = new Map<Key, number>();
  #takers: ((key: Key | undefined) => void)[] = [];
  #drained: (() => void)[] = [];
  #stopped = false;

  constructor({clock = systemClock, backoff = {baseMs: 50, capMs: 300_000}, observer = {}}: QueueOptions = {}) {
    this.#clock = clock;
    this.#appointments = new Appointments((key) => this.add(key), clock);
    this.#backoff = backoff;
    this.#observer = observer;
  }

  /** Number of due keys that wait for a worker. */
  get depth(): number {
    return this.#first.size + this.#second.size;
  }

  /** Makes the key due now. Cancels a later appointment of the key. `urgent`: a user waits for this key. */
  add(key: Key, {urgent = false} = {}): void {
    if (this.#stopped) return;
    this.#appointments.delete(key);
    if (urgent) this.#hurry(key);
    if (this.#working.has(key)) {
      this.#again.add(key);
      return;
    }
    if (this.#isWaiting(key)) return;
    this.#observer.added?.();
    const taker = this.#takers.shift();
    if (taker) {
      this.#observer.waited?.(0);
      this.#begin(key);
      taker(key);
      return;
    }
    (this.#urgent.has(key) ? this.#first : this.#second).push(key, this.#clock.now());
    this.#observer.depth?.(this.depth);
  }

  #isWaiting(key: Key): boolean {
    return this.#first.has(key) || this.#second.has(key);
  }

  #hurry(key: Key): void {
    this.#urgent.add(key);
    const since = this.#second.take(key);
    if (since !== undefined) this.#first.push(key, since);
  }

  #begin(key: Key): number {
    const now = this.#clock.now();
    this.#working.set(key, {since: now, urgent: this.#urgent.delete(key)});
    return now;
  }

  /** Makes the key due in `ms`, unless it is due earlier already. */
  addAfter(key: Key, ms: number): void {
    if (this.#stopped) return;
    if (!(ms > 0)) return this.add(key);
    if (this.#isWaiting(key) || this.#again.has(key)) return;
    if ((this.#appointments.left(key) ?? Infinity) > ms) this.#appointments.set(key, ms);
  }

  /**
   * Makes the key due after its back-off, but not before `atLeastMs`. The back-off grows with every call until `forget`. Returns
   * the wait in ms.
   */
  addBackoff(key: Key, atLeastMs = 0): number {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    if (this.#working.get(key)?.urgent) this.#hurry(key);
    this.#observer.retried?.();
    const ms = Math.max(backoffMs(failures, this.#backoff), atLeastMs);
    this.addAfter(key, ms);
    return ms;
  }

  /** Resets the key's back-off after a success. */
  forget(key: Key): void {
    this.#failures.delete(key);
  }

  /** Resolves with the next due key; with undefined after shutdown. The worker must call `done` for the key. */
  get(): Promise<Key | undefined> {
    if (this.#stopped) return Promise.resolve(undefined);
    const next = this.#nextLane().shift();
    if (!next) return new Promise((resolve) => this.#takers.push(resolve));
    const [key, since] = next;
    const now = this.#begin(key);
    this.#observer.depth?.(this.depth);
    this.#observer.waited?.(now - since);
    return Promise.resolve(key);
  }

  #nextLane(): Fifo<Key, number> {
    const passes = this.#first.size > 0 && this.#second.size > 0 && this.#passes < mostPasses;
    this.#passes = passes ? this.#passes + 1 : 0;
    return passes || this.#second.size === 0 ? this.#first : this.#second;
  }

  done(key: Key): void {
    const work = this.#working.get(key);
    if (work === undefined) return;
    this.#working.delete(key);
    this.#observer.worked?.(this.#clock.now() - work.since);
    if (this.#again.delete(key)) this.add(key);
    if (this.#working.size === 0) for (const resolve of this.#drained.splice(0)) resolve();
  }

  /** Stops the queue: waiting keys and appointments are dropped, and `get` returns undefined. */
  shutdown(): void {
    this.#stopped = true;
    this.#first.clear();
    this.#second.clear();
    this.#urgent.clear();
    this.#again.clear();
    this.#appointments.clear();
    this.#observer.depth?.(0);
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  /** Shuts down. Resolves when no key is being worked on. */
  drain(): Promise<void> {
    this.shutdown();
    if (this.#working.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }
}
