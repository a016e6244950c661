/**
 * What stands behind a FallbackStore: it counts windows and keeps bans for longer than a process lives, and may fail.
 */
import type {Ban, KeyUser} from './bans.ts';
import type {TimeMark} from './clock.ts';
import type {WindowRequest, WindowGrant, WindowState as WindowHeld} from './store.ts';

/** The stored state when a backend is opened. */
export interface BackendState {
  windows: (WindowHeld & {window: string; endSeconds: number})[];
  bans: Ban[];
  records: StoredRecord[];
  /** Time of the last write; absent if it is unknown or irrelevant. */
  mark?: TimeMark;
}

/** A text, kept under a name until its end. */
export interface StoredRecord {
  name: string;
  text: string;
  /** Unix seconds. */
  endsSeconds: number;
  /** Records of a group can be listed, and share a bound. */
  group?: string;
}

export type RecordChange = {put: StoredRecord} | {remove: string};

/** A new ban, or the end of one. */
export type BanChange = {save: Ban} | {remove: KeyUser};

/** Each call rejects with what is wrong and what to do about it. */
export interface Backend {
  open(): Promise<BackendState>;
  /** Returns the grants, by the rule of `grantAll`, once they are stored where a crash of this process does not lose them. */
  reserve(claims: readonly WindowRequest[], nowMs: number): Promise<WindowGrant[]>;
  changeBans(changes: readonly BanChange[]): Promise<void>;
  close(): Promise<void>;
}
