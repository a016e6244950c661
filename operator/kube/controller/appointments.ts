import {type Clock, longestTimerMs, systemClock} from '../clock.ts';
import {Heap} from '../collections/heap.ts';

interface Appointment<K> {
  key: K;
  due: number;
  order: number;
}

/**
 * Calls `ring` with each key when its time comes. One timer serves all keys: thousands of timers of different lengths would take
 * too much memory. A new time replaces the previous time of its key. Keys ring in the order of their times; equal times ring in the
 * order they were set.
 */
export class Appointments<K> {
  readonly #clock: Clock;
  readonly #ring: (key: K) => void;
  /** The valid appointment of each key. Superseded appointments stay in the heap until they reach its top. */
  readonly #valid = new Map<K, Appointment<K>>();
  #heap = heapOf<K>([]);
  #timer: {handle: unknown; due: number} | undefined;
  #order = 0;

  constructor(ring: (key: K) => void, clock = systemClock) {
    this.#ring = ring;
    this.#clock = clock;
  }

  /** Time left until a key is due, ms; undefined for a key without a time. */
  left(key: K): number | undefined {
    const valid = this.#valid.get(key);
    return valid && valid.due - this.#clock.now();
  }

  /** Sets the key's time to `ms` from now, and replaces an earlier setting. */
  set(key: K, ms: number): void {
    const appointment = {key, due: this.#clock.now() + ms, order: this.#order++};
    this.#valid.set(key, appointment);
    this.#heap.push(appointment);
    if (this.#heap.size > 2 * this.#valid.size + 64) this.#heap = heapOf(this.#valid.values());
    this.#arm();
  }

  delete(key: K): void {
    this.#valid.delete(key);
    if (this.#valid.size === 0) this.clear();
  }

  clear(): void {
    this.#valid.clear();
    this.#heap = heapOf([]);
    if (this.#timer) this.#clock.clearTimeout(this.#timer.handle);
    this.#timer = undefined;
  }

  /** Sets the timer for the earliest appointment. */
  #arm(): void {
    const first = this.#earliest();
    if (!first || (this.#timer && this.#timer.due <= first.due)) return;
    if (this.#timer) this.#clock.clearTimeout(this.#timer.handle);
    const ms = Math.min(Math.max(Math.ceil(first.due - this.#clock.now()), 0), longestTimerMs);
    this.#timer = {due: first.due, handle: this.#clock.setTimeout(() => this.#come(), ms)};
  }

  #come(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    for (let first = this.#earliest(); first && first.due <= now; first = this.#earliest()) {
      this.#heap.pop();
      this.#valid.delete(first.key);
      this.#ring(first.key);
    }
    this.#arm();
  }

  #earliest(): Appointment<K> | undefined {
    for (let first = this.#heap.peek(); first; first = this.#heap.peek()) {
      if (this.#valid.get(first.key) === first) return first;
      this.#heap.pop();
    }
    return undefined;
  }
}

function heapOf<K>(appointments: Iterable<Appointment<K>>): Heap<Appointment<K>> {
  const heap = new Heap<Appointment<K>>((a, b) => a.due < b.due || (a.due === b.due && a.order < b.order));
  for (const appointment of appointments) heap.push(appointment);
  return heap;
}
