/** A pool's window in this process: its reservation, and the size of the next reservation. */
import type {WindowRequest} from './store.ts';
import type {WindowName} from '../api/windows.ts';

/** At most so much of a window is reserved and not yet used: what a crash loses. */
export const blockShare = 0.05;
/** With several processes, this share of a window, and at least four requests for each process, is granted one by one. */
const singlyShare = 0.1;
/** `replicas`: processes that count. All their blocks together are at most as large as the part that is granted singly. */
export const blockOf = (limit: number, replicas = 1): number =>
  Math.max(1, Math.floor(limit * Math.min(blockShare, singlyShare / replicas)));
export const singlyOf = (limit: number, replicas: number): number =>
  replicas > 1 ? Math.max(Math.ceil(limit * singlyShare), 4 * replicas) : 0;

/**
 * How much of a window other processes may have reserved since this process last heard: one block each. All blocks together are at most
 * as large as what was taken before, and do not reach into the part that is granted singly.
 */
export function unheardOf(taken: number, limit: number, replicas: number): number {
  const others = replicas - 1;
  const blocks = Math.min(others * (blockOf(limit, replicas) - 1), taken, limit - taken - singlyOf(limit, replicas));
  return Math.max(0, blocks) + others;
}

/** A reservation takes at most this share of the rest of the window, so that other processes get some. */
const shareOfRest = 0.25;
/** A block of so many is followed by the next one before it is used up, so that requests rarely wait. */
const ahead = 4;

export interface Counter {
  name: WindowName;
  /** See `phaseOf`. */
  phase: number;
  endSeconds: number;
  key: string;
  /** Used or reserved by all processes. */
  taken: number;
  /** Reserved by this process and not used yet. */
  left: number;
  /** How many were reserved last; 0: none yet. */
  block: number;
  provisional: boolean;
  /** Several processes count, and little of the window is left: nothing is reserved ahead, the store is asked for each request. */
  low: boolean;
  /** See `unheardOf`. */
  unheard: number;
  /** The limit when the store last answered. */
  limit: number;
  /** So many processes count. */
  replicas: number;
  /** The limit in the quota of the last request. */
  quota: number;
  /** The counter of the pool's next longer window. */
  next: Counter | undefined;
}

export function standing(counter: Counter, limit: number, asked: boolean): 'HasRoom' | 'MustAsk' | 'Spent' {
  // While requests are granted singly, a kept request belongs to a caller that waits. Other callers ask: messages of replicas can be late.
  const hasLeft = counter.left > 0 && (asked || !counter.low);
  // An invalid limit admits nothing.
  if (counter.taken - counter.left < limit) return hasLeft ? 'HasRoom' : 'MustAsk';
  return counter.provisional && !asked ? 'MustAsk' : 'Spent';
}

export const remainingOf = ({taken, left, unheard}: Counter, limit: number): number =>
  Math.max(0, limit - (taken - left) - unheard);

/** How many are reserved next: a block twice as large as the last one, as far as the window has room for it. */
const nextBlock = ({block, taken, low, replicas}: Counter, limit: number): number =>
  low ? 1 : Math.max(1, Math.min(2 * block, blockOf(limit, replicas), Math.floor((limit - taken) * shareOfRest)));

const hasMore = ({taken, provisional}: Counter, limit: number): boolean => taken < limit || provisional;

/** Whether a large block is followed by the next one when half of it is used. A small block is used up first. */
export const runsLowEarly = (counter: Counter, limit: number): boolean =>
  counter.block >= ahead && 2 * counter.left <= counter.block && hasMore(counter, limit);

export function claimOf(counter: Counter, limit: number): WindowRequest | undefined {
  const {key: window, endSeconds, left} = counter;
  const want = nextBlock(counter, limit) - left;
  if (want <= 0 || left > counter.block / 2 || !hasMore(counter, limit)) return undefined;
  return {window, endSeconds, limit, want, least: left === 0 ? 1 : 0, singly: singlyOf(limit, counter.replicas)};
}
