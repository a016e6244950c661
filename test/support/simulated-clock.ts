/** A clock for simulations of months: timers in a heap, where jest's fake timers look through all of them for each. */
import {Heap} from '../../operator/kube/collections/heap.ts';

interface Timer {
  at: number;
  id: number;
  run: () => void;
}

export class SimulatedClock {
  now: number;
  readonly #timers = new Heap<Timer>((a, b) => a.at < b.at || (a.at === b.at && a.id < b.id));
  readonly #cleared = new Set<number>();
  #ids = 0;
  readonly #before = {now: Date.now, setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout};

  /** Takes the place of the process's clock and timers until `stop`. Jest's spies would record each of millions of calls. */
  constructor(now: number) {
    this.now = now;
    Date.now = () => this.now;
    globalThis.setTimeout = ((run: () => void, ms = 0) => {
      const id = ++this.#ids;
      this.after(ms, run, id);
      return {id, unref: () => {}} as unknown as NodeJS.Timeout;
    }) as typeof setTimeout;
    globalThis.clearTimeout = ((timer?: {id: number}) => {
      if (timer) this.#cleared.add(timer.id);
    }) as typeof clearTimeout;
  }

  after(ms: number, run: () => void, id = ++this.#ids): void {
    this.#timers.push({at: this.now + Math.max(0, ms), id, run});
  }

  pass(ms: number): void {
    const until = this.now + ms;
    for (let next = this.#timers.peek(); next && next.at <= until; next = this.#timers.peek()) {
      this.#timers.pop();
      if (this.#cleared.delete(next.id)) continue;
      this.now = next.at;
      next.run();
    }
    this.now = until;
  }

  stop(): void {
    const {now, ...timers} = this.#before;
    Date.now = now;
    Object.assign(globalThis, timers);
  }
}
