import type {Clock} from '../../operator/kube/clock.ts';

interface Timer {
  at: number;
  order: number;
  run: () => void;
}

/** A clock that stands still until a test moves it; timers ring in order, each at its own time. */
export class VirtualClock implements Clock {
  #now = 0;
  #order = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  setTimeout(run: () => void, ms: number): Timer {
    // As Node does it: such a timer would ring at once.
    if (ms > 2 ** 31 - 1) throw new RangeError(`a timer of ${ms} ms`);
    const timer = {at: this.#now + ms, order: this.#order++, run};
    this.#timers.add(timer);
    return timer;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as Timer);
  }

  get pending(): number {
    return this.#timers.size;
  }

  /** Moves on, and lets what waits for promises run before it and between two timers. */
  async advance(ms: number): Promise<void> {
    await settled();
    const end = this.#now + ms;
    for (let next = this.#next(end); next; next = this.#next(end)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
      await settled();
    }
    this.#now = end;
  }

  #next(end: number): Timer | undefined {
    return [...this.#timers].filter((timer) => timer.at <= end).toSorted((a, b) => a.at - b.at || a.order - b.order)[0];
  }
}

/** Resolves after everything that waits for resolved promises has run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
