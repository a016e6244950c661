/**
 * What stands behind a FallbackStore: it counts windows and keeps bans for longer than a process lives, and may fail.
 */
import type {Ban, KeyUser} from './bans.ts';
import type {TimeMark} from './clock.ts';
import type {WindowRequest, WindowGrant, WindowState as WindowHeld} from './store.ts';

/** What a backend holds when it is opened. */
export interface BackendState {
  windows: (WindowHeld & {window: string; endSeconds: number})[];
  bans: Ban[];
  records: StoredRecord[];
  /** When something was written last; absent where that is not known, or does not matter. */
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

/** A ban, or that there is none any more. */
export type BanChange = {save: Ban} | {remove: KeyUser};

/** Each call rejects with what is wrong and what to do about it. */
export interface Backend {
  open(): Promise<BackendState>;
  /** The grants, by the rule of `grantAll`, once they are where a crash of this process does not reach them. */
  reserve(claims: readonly WindowRequest[], nowMs: number): Promise<WindowGrant[]>;
  changeBans(changes: readonly BanChange[]): Promise<void>;
  close(): Promise<void>;
}
