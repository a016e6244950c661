/**
 * The store that a limiter uses where quota is to outlive the process: it asks a backend, and counts by itself while that cannot be
 * asked. No request waits longer than a timeout for a backend, and none fails because of it.
 *
 *   Up: each claim goes to the backend ---- it fails, or is silent ----> Down: this process grants what is its share
 *    ^                                                                     |
 *    +---- it answers again, and has been told what was granted meanwhile -+  tried every second
 */
import {type Clock, systemClock} from '../kube/clock.ts';
import {type Ban, banId, type BanStore, type KeyUser} from './bans.ts';
import type {Backend, BanChange, BackendState} from './backend.ts';
import {type WindowRequest, type WindowGrant, grantAll, type Heard, type WindowStore, type Unused} from './store.ts';

export interface FallbackOptions {
  backend: Backend;
  /** So many processes share the backend: while it is down, each grants at most this part of a limit. */
  replicas?: number;
  /** A backend that is silent for so long is down. */
  timeoutMs?: number;
  retryMs?: number;
  timers?: Clock;
  /** Called when the backend is opened, before anything is granted. */
  onOpen?: (held: BackendState) => void;
  /** Called when the backend goes down, and while it is, with each further cause. */
  onDown?: (error: Error) => void;
  onUp?: () => void;
}

/** This process's knowledge of a window. */
interface FallbackWindow {
  endSeconds: number;
  /** Taken by everybody, and given back of that, when the backend last answered. */
  known: number;
  returned: number;
  /** Granted to this process, by whomever. */
  own: number;
  /** Requests that were granted without the backend and not reported to it yet. Negative: granted requests that were not used. */
  owed: number;
  /** The same, reported but not acknowledged yet. */
  telling: number;
}

const sweepEveryMs = 60_000;
const timeoutSteps = 10;
/** Windows told at once when the backend is back. */
const tellAtOnce = 200;

const nothing = (): void => {};

export class FallbackStore implements WindowStore, BanStore {
  readonly #options: Required<FallbackOptions>;
  readonly #pages = new Map<string, FallbackWindow>();
  /** Changes of bans that the backend does not know yet; the last one of each id counts. */
  readonly #unsaved = new Map<string, BanChange>();
  #saving: Promise<void> | undefined;
  #opened = false;
  #down = true;
  /** Arguments of `onDown` since the backend was available last. */
  readonly #told = new Set<string>();
  #retry: unknown;
  #stopped = false;
  #sweptMs = 0;
  #nowMs = 0;
  /** Times that the backend went down. */
  failures = 0;

  constructor(options: FallbackOptions) {
    const callbacks = {onOpen: nothing, onDown: nothing, onUp: nothing};
    this.#options = {replicas: 1, timeoutMs: 2000, retryMs: 1000, timers: systemClock, ...callbacks, ...options};
  }

  get isDown(): boolean {
    return this.#down;
  }

  /** Opens the backend. Never rejects: a backend that cannot be opened is down, and tried again. */
  async start(): Promise<void> {
    try {
      await this.#comeUp();
    } catch (error) {
      this.#goDown(error as Error, true);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#options.timers.clearTimeout(this.#retry);
    await this.#tellOwed();
    await this.#saveBans();
    await this.#options.backend.close().catch(() => {});
  }

  taken(window: string): number {
    const page = this.#pages.get(window);
    return page ? inUse(page) : 0;
  }

  get replicas(): number {
    return this.#options.replicas;
  }

  /** Takes in a change that the backend reports from another process. Returns the new state; undefined for an unknown window. */
  hear({window, taken, returned}: Heard): Heard | undefined {
    const page = this.#pages.get(window);
    if (!page || this.#down) return undefined;
    page.known = Math.max(page.known, taken);
    page.returned = Math.max(page.returned, returned);
    return {window, taken: page.known, returned: page.returned};
  }

  /** The backend is told within a minute, and before this process ends. */
  giveBack(unused: readonly Unused[]): void {
    for (const {count, ...each} of unused) {
      const page = this.#page(each);
      page.owed -= count;
      page.own -= count;
    }
  }

  reserve(claims: readonly WindowRequest[], nowMs: number): WindowGrant[] | Promise<WindowGrant[]> {
    this.#nowMs = nowMs;
    this.#sweep(nowMs);
    return this.#down ? this.#grant(claims) : this.#ask(claims, nowMs);
  }

  saveBan(ban: Ban): void {
    this.#unsaved.set(banId(ban), {save: ban});
    void this.#saveBans();
  }

  removeBan(user: KeyUser): void {
    this.#unsaved.set(banId(user), {remove: user});
    void this.#saveBans();
  }

  /** The backend's bans, with the changes that it does not know yet. */
  withChanges(held: readonly Ban[]): Ban[] {
    const bans = new Map(held.map((ban) => [banId(ban), ban]));
    for (const [id, change] of this.#unsaved) {
      if ('save' in change) bans.set(id, change.save);
      else bans.delete(id);
    }
    return [...bans.values()];
  }

  #page({window, endSeconds}: Pick<WindowRequest, 'window' | 'endSeconds'>): FallbackWindow {
    let page = this.#pages.get(window);
    if (!page) this.#pages.set(window, (page = {endSeconds, known: 0, returned: 0, own: 0, owed: 0, telling: 0}));
    return page;
  }

  async #ask(claims: readonly WindowRequest[], nowMs: number): Promise<WindowGrant[]> {
    try {
      return await this.#tell(claims, nowMs);
    } catch (error) {
      this.#goDown(error as Error);
      return this.#grant(claims);
    }
  }

  /**
   * Asks the backend, and reports changes to it. A late answer still counts: its grants pay for requests that were granted without it.
   * After a failed call it is unknown whether the backend counted the call. Its grants are then reported again and its returns are not,
   * which admits too few requests at worst.
   */
  async #tell(claims: readonly WindowRequest[], nowMs: number): Promise<WindowGrant[]> {
    const pages = claims.map((claim) => this.#page(claim));
    const owed = pages.map((page) => page.owed);
    for (const page of pages) [page.telling, page.owed] = [page.telling + page.owed, 0];
    const told = claims.map((claim, i) => {
      const {known, returned: knownReturned} = pages[i]!;
      return {...claim, known, knownReturned, owed: owed[i]!};
    });
    let late = false;
    const answered = async (): Promise<WindowGrant[]> => {
      try {
        const grants = await this.#options.backend.reserve(told, nowMs);
        for (const [i, page] of pages.entries()) {
          page.known = Math.max(page.known, grants[i]!.taken);
          page.returned = Math.max(page.returned, grants[i]!.returned);
          if (late) page.owed -= grants[i]!.granted;
          else page.own += grants[i]!.granted;
        }
        return grants.map((grant, i) => ({...grant, taken: pages[i]!.known, returned: pages[i]!.returned}));
      } catch (error) {
        for (const [i, page] of pages.entries()) page.owed += Math.max(owed[i]!, 0);
        throw error;
      } finally {
        for (const [i, page] of pages.entries()) page.telling -= owed[i]!;
      }
    };
    return this.#inTime(answered(), () => {
      late = true;
    });
  }

  /** Grants without the backend: the share of this process, of what was left when the backend was last heard. */
  #grant(claims: readonly WindowRequest[]): WindowGrant[] {
    const pages = claims.map((claim) => this.#page(claim));
    const taken = claims.map(({limit}, i) => {
      const page = pages[i]!;
      // A single process has everything that earlier processes left.
      if (this.#options.replicas === 1) return {taken: inUse(page), returned: 0};
      const share = Math.min(limit, Math.max(1, Math.floor(limit / this.#options.replicas)));
      return {taken: Math.max(inUse(page), limit - Math.max(0, share - page.own)), returned: 0};
    });
    return grantAll(claims, taken).map((grant, i) => {
      pages[i]!.own += grant.granted;
      pages[i]!.owed += grant.granted;
      return {...grant, provisional: true};
    });
  }

  #goDown(error: Error, atStart = false): void {
    if (this.#stopped || (this.#down && !atStart)) return;
    this.#down = true;
    this.failures++;
    this.#tellWhy(error);
    this.#tryAgain();
  }

  #tellWhy(error: Error): void {
    if (this.#told.has(error.message)) return;
    this.#told.add(error.message);
    this.#options.onDown(error);
  }

  #tryAgain(): void {
    if (this.#stopped) return;
    this.#retry = this.#options.timers.setTimeout(async () => {
      try {
        await this.#comeUp();
      } catch (error) {
        this.#tellWhy(error as Error);
        this.#tryAgain();
      }
    }, this.#options.retryMs);
  }

  async #comeUp(): Promise<void> {
    const {backend, onOpen, onUp} = this.#options;
    if (!this.#opened) {
      const held = await this.#inTime(backend.open());
      this.#opened = true;
      for (const {taken, returned, ...each} of held.windows) {
        const page = this.#page(each);
        page.known = Math.max(page.known, taken);
        page.returned = Math.max(page.returned, returned);
      }
      onOpen(held);
    }
    // The backend answers in the order of the questions, so this answer shows that earlier answers have arrived.
    await this.#inTime(backend.reserve([], this.#nowMs));
    await this.#tellAllOwed();
    this.#down = false;
    this.#told.clear();
    onUp();
    void this.#saveBans();
  }

  async #tellAllOwed(): Promise<void> {
    const owing = [...this.#pages]
      .filter(([, page]) => page.owed !== 0)
      .map(([window, {endSeconds}]) => ({window, endSeconds, limit: 0, want: 0, least: 0}));
    for (let i = 0; i < owing.length; i += tellAtOnce) await this.#tell(owing.slice(i, i + tellAtOnce), this.#nowMs);
  }

  async #tellOwed(): Promise<void> {
    if (this.#down) return;
    try {
      await this.#tellAllOwed();
    } catch (error) {
      this.#goDown(error as Error);
    }
  }

  async #saveBans(): Promise<void> {
    if (this.#down || this.#unsaved.size === 0) return;
    this.#saving ??= this.#saveAll();
    await this.#saving;
  }

  async #saveAll(): Promise<void> {
    try {
      while (this.#unsaved.size > 0) {
        const changes = [...this.#unsaved];
        await this.#inTime(this.#options.backend.changeBans(changes.map(([, change]) => change)));
        for (const [id, change] of changes) if (this.#unsaved.get(id) === change) this.#unsaved.delete(id);
      }
    } catch (error) {
      this.#goDown(error as Error);
    } finally {
      this.#saving = undefined;
    }
  }

  /**
   * The answer, or an error when there is none in time. The time is counted in steps, a turn of the event loop at least between two:
   * where this process was too busy to read an answer that has come, it reads it before the next step.
   */
  async #inTime<T>(answer: Promise<T>, onSilence = nothing): Promise<T> {
    const {timers, timeoutMs} = this.#options;
    let timer: unknown;
    const silence = new Promise<never>((_, reject) => {
      const step = (left: number): void => {
        if (left === 0) {
          onSilence();
          reject(new Error(`no answer within ${timeoutMs} ms`));
        } else timer = timers.setTimeout(() => step(left - 1), timeoutMs / timeoutSteps);
      };
      step(timeoutSteps);
    });
    try {
      return await Promise.race([answer, silence]);
    } finally {
      timers.clearTimeout(timer);
    }
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptMs < sweepEveryMs) return;
    this.#sweptMs = nowMs;
    for (const [window, {endSeconds}] of this.#pages) if (endSeconds * 1000 <= nowMs) this.#pages.delete(window);
    void this.#tellOwed();
  }
}

/** The used part of a window, as far as this process knows. */
const inUse = ({known, returned, owed, telling}: FallbackWindow): number => known - returned + owed + telling;
