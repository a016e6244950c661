/**
 * Runs the controllers' observations of the outside world: DNS checks and edge probes. A reconcile never waits for an observation: it
 * schedules the next one, reads the newest result, and is called again when there is a new result. So a dead DNS server delays only its
 * own name (rule 2), and a removal is never queued behind a time-out.
 *
 *   due() --its time, rate--> in line, by tenant (fair-queue.ts) --a seat--> under way, with all others at the same subject --> a result
 *
 * Whatever is forgotten leaves wherever it is. A look that is under way is aborted when nobody waits for it any more.
 */
import {skewMs} from '../../domain/times.ts';
import {jitter} from '../../domain/world.ts';
import {Appointments} from '../../kube/controller/appointments.ts';
import {isDeepEqual} from '../../kube/equality.ts';
import {FairQueue, type FairQueueOptions, type Ticket} from './fair-queue.ts';

export interface Looked<R> {
  result: R;
  at: number;
}

/** Who waits for a look: the key of an object, and the tenant whose turn it takes. */
export interface ProbeOwner {
  key: string;
  tenant: string;
}

interface ObserverEntry<Q, R> {
  owner: ProbeOwner;
  question: Q;
  dueAt?: number;
  /** Earliest time at which this check may run together with another check of the same subject. */
  earliest: number;
  /** It is due, and waits for the rate of its subject. */
  isHeldBack?: true;
  /** While it is in line. */
  ticket?: Ticket<ObserverEntry<Q, R>>;
  /** While it is under way. */
  turn?: Turn<ObserverEntry<Q, R>>;
  /** The newest last. */
  looked: Looked<R>[];
  /** After a look that threw: not again before this. */
  notBefore?: number;
}

/** Checks that run together, as long as at least one owner waits for them. */
interface Turn<E> {
  waitedFor: Set<E>;
  abort: AbortController;
}

/** How many results of a key are remembered where it matters how they came one after the other. */
const mostRemembered = 16;
const pauseAfterErrorMs = 5_000;

export interface ObserverOptions<Q, R> {
  /**
   * Checks one subject. Returns a result for each question, in order. A rejection counts as no check; the next one follows after 5 s. The
   * signal aborts when no owner waits any more.
   */
  look: (questions: readonly Q[], signal: AbortSignal) => Promise<R>[];
  onError: (error: unknown, question: Q) => void;
  /** Calls with each look that begins, and when; `isFirst`: nothing is known yet of what is asked. */
  onBegin?: (tenant: string, question: Q, at: number, isFirst: boolean) => void;
  /** What a question is about. */
  subject: (question: Q) => string;
  /** Whether the sequence of results matters. Otherwise only the newest result is kept. */
  remembers?: (question: Q) => boolean;
  /** Earliest time at which a tenant may check, ms since the epoch. Called once for each check, when it is due. Default: now. */
  mayBegin?: (tenant: string, question: Q, now: number) => number;
  /** Options of the queue that shares checks among tenants. */
  queue: FairQueueOptions;
  now?: () => number;
}

/** Observations by owner and key: one at a time per key, a bounded number at once, the earliest due time wins. */
export class Observer<Q, R, K extends string = string> {
  readonly #options: ObserverOptions<Q, R>;
  readonly #owners = new Map<string, Map<K, ObserverEntry<Q, R>>>();
  readonly #bySubject = new Map<string, Set<ObserverEntry<Q, R>>>();
  readonly #queue: FairQueue<ObserverEntry<Q, R>>;
  /** When looks are due, and when those that are held back may enter. */
  readonly #appointments = new Appointments<ObserverEntry<Q, R>>((entry) =>
    entry.isHeldBack ? this.#enter(entry) : this.#ask(entry),
  );
  readonly #handlers: ((owner: string) => void)[] = [];
  #stopped = false;

  constructor(options: ObserverOptions<Q, R>) {
    this.#options = options;
    this.#queue = new FairQueue(options.queue);
  }

  /** Calls the handler with the owner of each check that has ended, with or without a result. */
  onChange(handler: (owner: string) => void): void {
    this.#handlers.push(handler);
  }

  /** The newest result for a key. */
  latest(owner: string, key: K): Looked<R> | undefined {
    return this.recent(owner, key).at(-1);
  }

  /**
   * The last results for a key, the newest last: of what {@link ObserverOptions.remembers}, else the newest alone. Results from before the
   * machine's clock was set back are unknown: what follows a check would wait for as long as the clock had run ahead.
   */
  recent(owner: string, key: K): readonly Looked<R>[] {
    const looked = this.#owners.get(owner)?.get(key)?.looked ?? [];
    const latest = this.#now() + skewMs;
    return looked.some(({at}) => at > latest) ? looked.filter(({at}) => at <= latest) : looked;
  }

  /**
   * Schedules a check at `at` (ms since the epoch; a past time means now), as soon as it is its tenant's turn. A check that is queued or
   * running satisfies the request; an earlier time replaces a later one.
   */
  due(owner: ProbeOwner, key: K, question: Q, at: number): void {
    if (this.#stopped) return;
    const entry = this.#entry(owner, key, question);
    if (entry.isHeldBack || entry.ticket || entry.turn || (entry.dueAt !== undefined && entry.dueAt <= at)) return;
    const now = this.#now();
    const delay = Math.max(0, Math.max(at, entry.notBefore ?? 0) - now);
    entry.dueAt = at;
    entry.earliest = now + delay * (1 - jitter);
    // Jitter only ever shortens: a look is never later than it was promised.
    this.#appointments.set(entry, delay * (1 - jitter * Math.random()));
  }

  /** Makes checks of this number of questions due now, chosen at random among those that match. Returns the number of matches. */
  sample(count: number, matches: (question: Q) => boolean): number {
    const chosen: [owner: ProbeOwner, key: K, question: Q][] = [];
    let found = 0;
    for (const keys of this.#owners.values())
      for (const [key, {owner, question}] of keys) {
        if (!matches(question)) continue;
        // Algorithm R (Vitter 1985): every match has the same chance.
        const place = found < count ? found : Math.floor(Math.random() * (found + 1));
        if (place < count) chosen[place] = [owner, key, question];
        found++;
      }
    for (const [owner, key, question] of chosen) this.due(owner, key, question, this.#now());
    return found;
  }

  /** Keeps the results of a key without scheduling a check. A running check continues. */
  keep(owner: string, key: K): void {
    const entry = this.#owners.get(owner)?.get(key);
    if (!entry || entry.turn) return;
    this.#takeOut(entry);
    entry.dueAt = undefined;
    entry.earliest = Infinity;
    this.#next();
  }

  /** Drops what is known about all keys of an owner that are not among `keep`. */
  forget(owner: string, keep?: ReadonlySet<K>): void {
    const keys = this.#owners.get(owner);
    if (!keys) return;
    for (const [key, entry] of keys) {
      if (keep?.has(key)) continue;
      keys.delete(key);
      this.#drop(entry);
    }
    if (keys.size === 0) this.#owners.delete(owner);
    this.#next();
  }

  /** Ends all timers and looks. */
  stop(): void {
    this.#stopped = true;
    for (const owner of this.#owners.keys()) this.forget(owner);
  }

  #now() {
    return (this.#options.now ?? Date.now)();
  }

  /** The entry of a key, with its current question. */
  #entry(owner: ProbeOwner, key: K, question: Q): ObserverEntry<Q, R> {
    const keys = this.#owners.get(owner.key) ?? new Map<K, ObserverEntry<Q, R>>();
    this.#owners.set(owner.key, keys);
    const known = keys.get(key);
    if (known) return Object.assign(known, {owner, question});
    // With all members from the beginning, and none that is deleted: of such objects V8 keeps the values alone.
    const entry: ObserverEntry<Q, R> = {
      owner,
      question,
      dueAt: undefined,
      earliest: Infinity,
      isHeldBack: undefined,
      ticket: undefined,
      turn: undefined,
      looked: [],
      notBefore: undefined,
    };
    keys.set(key, entry);
    const subject = this.#options.subject(question);
    this.#bySubject.set(subject, (this.#bySubject.get(subject) ?? new Set()).add(entry));
    return entry;
  }

  /** It is due: it waits until its rate lets it in line. */
  #ask(entry: ObserverEntry<Q, R>): void {
    const now = this.#now();
    const wait = (this.#options.mayBegin?.(entry.owner.tenant, entry.question, now) ?? now) - now;
    if (wait <= 0) return this.#enter(entry);
    entry.isHeldBack = true;
    this.#appointments.set(entry, wait);
  }

  #enter(entry: ObserverEntry<Q, R>): void {
    entry.isHeldBack = undefined;
    entry.ticket = this.#queue.add(entry.owner.tenant, entry);
    this.#next();
  }

  #next(): void {
    for (let ticket = this.#stopped ? undefined : this.#queue.take(); ticket; ticket = this.#queue.take())
      void this.#take(ticket);
  }

  /** Runs the check of this ticket, together with all checks of the same subject that may run now. */
  async #take(ticket: Ticket<ObserverEntry<Q, R>>): Promise<void> {
    const at = this.#now();
    const others = [...(this.#bySubject.get(this.#options.subject(ticket.item.question)) ?? [])];
    const entries = [ticket.item, ...others.filter((e) => e !== ticket.item && !e.turn && e.earliest <= at)];
    const turn: Turn<ObserverEntry<Q, R>> = {waitedFor: new Set(entries), abort: new AbortController()};
    for (const entry of entries) {
      // The ticket of the running check holds the slot.
      if (entry === ticket.item) entry.ticket = undefined;
      this.#takeOut(entry);
      entry.turn = turn;
      this.#options.onBegin?.(entry.owner.tenant, entry.question, at, entry.looked.length === 0);
    }
    const results = this.#options.look(
      entries.map((e) => e.question),
      turn.abort.signal,
    );
    await Promise.all(entries.map((entry, i) => this.#see(entry, turn, results[i]!, at)));
    this.#queue.release(ticket);
    this.#next();
  }

  /** `at`: start of the check. Changes of a record during the check may be missed. */
  async #see(
    entry: ObserverEntry<Q, R>,
    turn: Turn<ObserverEntry<Q, R>>,
    coming: Promise<R>,
    at: number,
  ): Promise<void> {
    const {question} = entry;
    try {
      const result = await coming;
      const before = entry.looked.at(-1)?.result;
      // Equal results are stored once, however many checks returned them.
      const looked = {result: isDeepEqual(before, result) ? (before as R) : result, at};
      entry.looked = this.#options.remembers?.(question) ? [...entry.looked, looked].slice(-mostRemembered) : [looked];
      entry.notBefore = undefined;
    } catch (error) {
      entry.notBefore = this.#now() + pauseAfterErrorMs;
      if (entry.turn === turn) this.#options.onError(error, question);
    }
    if (entry.turn !== turn) return;
    entry.turn = undefined;
    entry.dueAt = undefined;
    entry.earliest = Infinity;
    for (const handler of this.#handlers) handler(entry.owner.key);
  }

  /** Takes a look out of where it waits. */
  #takeOut(entry: ObserverEntry<Q, R>): void {
    this.#appointments.delete(entry);
    if (entry.ticket) this.#queue.release(entry.ticket);
    entry.ticket = undefined;
    entry.isHeldBack = undefined;
  }

  /** Takes a look out of wherever it is. */
  #drop(entry: ObserverEntry<Q, R>): void {
    const subject = this.#options.subject(entry.question);
    const looks = this.#bySubject.get(subject);
    looks?.delete(entry);
    if (looks?.size === 0) this.#bySubject.delete(subject);
    this.#takeOut(entry);
    const {turn} = entry;
    entry.turn = undefined;
    turn?.waitedFor.delete(entry);
    if (turn?.waitedFor.size === 0) turn.abort.abort();
  }
}
