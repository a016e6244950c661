import {type TimeMark, type TimeSources, TrustedClock} from '../../operator/limits/clock.ts';

/** Noon UTC of some day, Unix ms. */
export const noonMs = Date.UTC(2026, 10, 22, 12);

/** Time that a test moves: the wall clock can be set, the others cannot. */
export class VirtualTime implements TimeSources {
  wall = noonMs;
  monotonic = 0;
  uptime = 5_000_000;
  boot: string | undefined = 'this boot';

  wallMs(): number {
    return this.wall;
  }

  monotonicMs(): number {
    return this.monotonic;
  }

  uptimeMs(): number {
    return this.uptime;
  }

  bootId(): string | undefined {
    return this.boot;
  }

  pass(ms: number): void {
    this.wall += ms;
    this.monotonic += ms;
    this.uptime += ms;
  }

  /** Somebody sets the system's clock. */
  jump(ms: number): void {
    this.wall += ms;
  }

  /** The clock of a process that starts now, after one that left this mark. */
  restart(mark: TimeMark): TrustedClock {
    this.monotonic = 0;
    const clock = new TrustedClock(this);
    clock.goOnFrom(mark);
    return clock;
  }
}
