/**
 * The operator as the image runs it (operator/main.ts), in a process that can be measured: `node --expose-gc operator-child.ts operator`. Says
 * when it has come to rest, and answers every message with its figures.
 */
import {setTimeout as wait} from 'node:timers/promises';
import {cpuMs, longestBlockMs, tellFigures} from './figures.ts';

/** It has used next to nothing for a while. */
export interface Rested {
  /** Since when, ms after the start of the process. */
  restedAfterMs: number;
  /** CPU of the process until then, ms: what others do on the machine is not in it. */
  cpuMs: number;
  /** The longest time until then that nothing else had its turn, ms. */
  longestBlockMs: number;
}

const lookMs = 50;
/** So many looks in a row without work are rest. */
const looksOfRest = 20;
/** CPU of one look that is still rest, ms. */
const restCpuMs = 5;

/** Counted from when it leads: before that it rests whenever it waits for an answer. */
async function sayWhenRested(): Promise<void> {
  let [busyUntil, quiet, before] = [performance.now(), 0, cpuMs()];
  while (quiet < looksOfRest) {
    await wait(lookMs);
    const now = cpuMs();
    if (now - before > restCpuMs) [busyUntil, quiet] = [performance.now(), 0];
    else quiet++;
    before = now;
  }
  process.send?.({restedAfterMs: busyUntil, cpuMs: before, longestBlockMs: longestBlockMs()} satisfies Rested);
}

tellFigures();
await import('../../operator/main.ts');
void sayWhenRested();
