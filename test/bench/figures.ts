/** What a measured process tells of itself to the one that started it. */
import {monitorEventLoopDelay} from 'node:perf_hooks';

export interface Figures {
  /** Bytes, after the garbage is gone. */
  heapUsed: number;
  rss: number;
  /** CPU time of the process so far, ms. */
  cpuMs: number;
  /** The longest time since the last message that nothing else had its turn, ms. */
  longestBlockMs: number;
}

const sampleMs = 5;
const delay = monitorEventLoopDelay({resolution: sampleMs});

export const longestBlockMs = (): number => Math.max(0, delay.max / 1e6 - sampleMs);

export const cpuMs = (): number => {
  const {user, system} = process.cpuUsage();
  return (user + system) / 1000;
};

/** From now on every message of the parent is answered with {@link Figures}. Needs `--expose-gc`. */
export function tellFigures(): void {
  delay.enable();
  process.on('message', () => {
    const block = longestBlockMs();
    // Twice: what finalizers let go is collected by the second.
    for (let i = 0; i < 2; i++) (globalThis as {gc?: () => void}).gc?.();
    const {heapUsed, rss} = process.memoryUsage();
    process.send?.({heapUsed, rss, cpuMs: cpuMs(), longestBlockMs: block} satisfies Figures);
    delay.reset();
  });
}
