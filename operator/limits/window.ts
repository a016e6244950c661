/** The fixed windows of a pool: when they begin and end, and how they are named in a store. */
import {hash} from 'node:crypto';
import {type CountedWindow, perWindow, shortestWindow, type WindowName, windows} from '../api/windows.ts';

export const lengthSeconds: Readonly<Record<WindowName, number>> = perWindow(({lengthMs}) => lengthMs / 1000);

/** Whether the windows of all pools end together. */
export const endsForAll: Readonly<Record<WindowName, boolean>> = perWindow(({begins}) => begins === 'AtUtc');

/** A number from 0 to `below` - 1 that follows from the text alone, spread evenly. */
export function hashBelow(text: string, below: number): number {
  return Number.parseInt(hash('sha256', text).slice(0, 8), 16) % below;
}

/**
 * The second of a window, from 0, at which a pool's window begins. It follows from the pool's id, so that the minutes of many tenants do
 * not end together, and a restart changes none of them. A day is UTC's: its phase is 0.
 */
export const phaseOf = ({name, begins}: CountedWindow, poolId: string): number =>
  begins === 'AtPhase' ? hashBelow(poolId, lengthSeconds[name]) : 0;

export const minutePhase = (poolId: string): number => hashBelow(poolId, lengthSeconds[shortestWindow]);

/** Unix seconds at which the window that holds `nowMs` (Unix ms) ends. It began `length` seconds before. */
export function windowEnd(length: number, phase: number, nowMs: number): number {
  return (Math.floor((nowMs / 1000 - phase) / length) + 1) * length + phase;
}

/** The store's name of a pool's window. No two windows share it. */
export const windowKey = (name: WindowName, endSeconds: number, poolId: string): string =>
  `${name}:${endSeconds}:${poolId}`;

const keyPattern = new RegExp(`^(${windows.map(({name}) => name).join('|')}):(\\d+):(.*)$`, 's');

/** The parts of a window's name in the store; undefined if the text is no such name. */
export function partsOfKey(key: string): {name: WindowName; endSeconds: number; poolId: string} | undefined {
  const [, name, endSeconds, poolId] = keyPattern.exec(key) ?? [];
  return poolId === undefined ? undefined : {name: name as WindowName, endSeconds: Number(endSeconds), poolId};
}

/** Whether one window is tighter than another: it has fewer requests left, or as many and ends later. */
export const isTighter = (
  remaining: number,
  endSeconds: number,
  than: {remaining: number; endSeconds: number},
): boolean => (remaining === than.remaining ? endSeconds > than.endSeconds : remaining < than.remaining);
