/**
 * The wall time that limits go by. A window must not end because somebody set the clock, so the system's clock is only
 * followed, never believed:
 *
 *   trusted time = where it began + what monotonic time has counted since + a correction towards the system's clock
 *
 * The correction is at most 1 ms for each second that has passed: NTP slews by 0.5 ms (adjtime(3)), so its work is followed, and a jump
 * makes a window at most a thousandth shorter or longer. Time during which the machine was suspended counts: the time since boot
 * (CLOCK_BOOTTIME) has gone on, the monotonic one (CLOCK_MONOTONIC) has not.
 *
 * If several processes count together, all of them use the clock of the server that counts (`follow`), in place of the system's: processes
 * with different clocks would disagree on the current minute.
 */
import {readFileSync} from 'node:fs';
import {uptime} from 'node:os';
import {performance} from 'node:perf_hooks';

/** Where time is read; tests pass their own. */
export interface TimeSources {
  /** The system's wall clock, Unix ms: the one that jumps. */
  wallMs(): number;
  /** Never goes back; may stand still while the machine is suspended. */
  monotonicMs(): number;
  /** Since boot, suspended time included. */
  uptimeMs(): number;
  /** Changes with every boot; undefined where it is not known. */
  bootId(): string | undefined;
}

/** The position of a process in time, for the next process. */
export interface TimeMark {
  /** Trusted time, Unix ms. */
  atMs: number;
  uptimeMs: number;
  bootId?: string;
}

function readBootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return undefined;
  }
}

export const systemSources: TimeSources = {
  wallMs: () => Date.now(),
  // Imported: the global `performance` is a getter, which costs each request a sixth of this call.
  monotonicMs: () => performance.now(),
  uptimeMs: () => uptime() * 1000,
  bootId: readBootId,
};

const slewPerMs = 0.001;
const lookEveryMs = 1000;
/** The time since boot is read in steps of 10 ms and not at the same instant as the monotonic one. */
const suspendedAtLeastMs = 1000;

/** If another clock differs by more than this, its time is taken over in one step. Processes that are a second apart disagree about one
 * second of each minute. */
const stepMs = 1000;

/** Trusted time. It never goes back, unless another clock that it follows is behind. */
export class TrustedClock {
  readonly #sources: TimeSources;
  readonly #bootId: string | undefined;
  /** Trusted time when the sources were last compared, and what they said. */
  #trustedMs: number;
  #monotonicMs: number;
  #uptimeMs: number;
  #lastMs = 0;
  /** How far the clock that is followed is ahead of the monotonic one; undefined: it is the system's. */
  #followedMs: number | undefined;

  constructor(sources: TimeSources = systemSources) {
    this.#sources = sources;
    this.#bootId = sources.bootId();
    this.#trustedMs = sources.wallMs();
    this.#monotonicMs = sources.monotonicMs();
    this.#uptimeMs = sources.uptimeMs();
  }

  /** Unix ms. Costs one read of the monotonic clock; once a second the sources are compared. */
  nowMs(): number {
    const elapsed = this.#sources.monotonicMs() - this.#monotonicMs;
    if (elapsed >= lookEveryMs) this.#compare(elapsed);
    const now = elapsed >= lookEveryMs ? this.#trustedMs : this.#trustedMs + elapsed;
    if (now > this.#lastMs) this.#lastMs = now;
    return this.#lastMs;
  }

  /** How far the system's clock is ahead of trusted time, in ms; negative when it is behind. */
  offsetMs(): number {
    return this.#sources.wallMs() - this.nowMs();
  }

  /** From now on another clock counts, which shows this time (Unix ms) with this uncertainty. Call it repeatedly. */
  follow(otherMs: number, uncertainMs: number): void {
    const apartMs = Math.abs(otherMs - this.nowMs());
    this.#followedMs = otherMs - this.#sources.monotonicMs();
    if (apartMs > stepMs + uncertainMs) this.#set(otherMs);
  }

  mark(): TimeMark {
    return {atMs: this.nowMs(), uptimeMs: this.#sources.uptimeMs(), bootId: this.#bootId};
  }

  /**
   * Goes on from where an earlier process was. Since the same boot, the time since boot says how much has passed, whatever the system's
   * clock was set to meanwhile. Otherwise the system's clock counts, but never before the mark.
   */
  goOnFrom(mark: TimeMark): void {
    const now = this.nowMs();
    const uptimeMs = this.#sources.uptimeMs();
    const sameBoot = mark.bootId !== undefined && mark.bootId === this.#bootId && uptimeMs >= mark.uptimeMs;
    if (!sameBoot) return this.#set(Math.max(now, mark.atMs));
    const passed = uptimeMs - mark.uptimeMs;
    const reckoned = mark.atMs + passed;
    const correction = clamp(now - reckoned, passed * slewPerMs);
    this.#set(Math.max(reckoned + correction, mark.atMs));
  }

  #set(trustedMs: number): void {
    this.#trustedMs = trustedMs;
    this.#monotonicMs = this.#sources.monotonicMs();
    this.#uptimeMs = this.#sources.uptimeMs();
    this.#lastMs = trustedMs;
  }

  #compare(elapsed: number): void {
    const uptimeMs = this.#sources.uptimeMs();
    const monotonicMs = this.#monotonicMs + elapsed;
    const suspended = uptimeMs - this.#uptimeMs - elapsed;
    const reckoned = this.#trustedMs + elapsed + (suspended >= suspendedAtLeastMs ? suspended : 0);
    const other = this.#followedMs === undefined ? this.#sources.wallMs() : this.#followedMs + monotonicMs;
    const correction = clamp(other - reckoned, elapsed * slewPerMs);
    this.#trustedMs = reckoned + correction;
    this.#monotonicMs = monotonicMs;
    this.#uptimeMs = uptimeMs;
  }
}

const clamp = (value: number, bound: number): number => Math.min(Math.max(value, -bound), bound);
