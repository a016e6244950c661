/** Time as an effect: monotonic milliseconds and timers. Tests pass a virtual one. */
export interface Clock {
  /** Monotonic, in ms. Compare only values of the same clock. */
  now(): number;
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** A longer setTimeout fires at once (Node: TimeoutOverflowWarning). */
export const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  setTimeout: (run, ms) => setTimeout(run, Math.min(Math.max(ms, 0), longestTimerMs)),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Resolves after `ms`, or as soon as the signal aborts; never rejects. */
export function sleep(ms: number, signal?: AbortSignal, clock: Clock = systemClock): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimeout(end, Math.min(ms, longestTimerMs));
    signal?.addEventListener('abort', end, {once: true});
  });
}
