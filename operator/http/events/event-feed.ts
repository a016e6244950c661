/**
 * Sends changes to many event streams. A feed reads and serialises changes once for all its streams, at most once a second.
 *
 *   change --> read once --> put to each stream --> does the caller still have access? --> one write each turn of the event loop
 *     ^            |
 *     +-- 1 s -----+  changes meanwhile are read together
 */
import type {Changed} from './event-hub.ts';
import type {EventStream, StreamEvent} from './event-stream.ts';

/** A feed reads no more often than this, ms. */
const everyMs = 1000;
/** Earlier states of a project that clients may be reading. Beyond this number, clients that read the oldest state are cut. */
const mostReplaced = 10;

/** Writes to streams: one write each turn of the event loop, however many streams there are. */
export class Delivery {
  readonly #turn: (work: () => void) => void;
  readonly #work: (() => void)[] = [];
  /** The answers to questions that were asked in this turn, by {@link EventStream.access}. */
  readonly #asked = new Map<string, Promise<boolean>>();

  /** `turn`: calls in the next turn of the event loop. */
  constructor(turn: (work: () => void) => void = setImmediate) {
    this.#turn = turn;
  }

  /** Sends a stream what waits for it if its caller still has access, and ends it otherwise. */
  async send(stream: EventStream): Promise<void> {
    if (await this.mayGoOn(stream)) this.inTurn(() => stream.flush());
    else stream.end('access-ended');
  }

  /** Whether the caller of a stream still has access. All streams of a caller that one change wakes share one question. */
  mayGoOn(stream: EventStream): Promise<boolean> {
    if (this.#asked.size === 0) queueMicrotask(() => this.#asked.clear());
    const asked = this.#asked.get(stream.access) ?? stream.mayGoOn();
    this.#asked.set(stream.access, asked);
    return asked;
  }

  /** Queues work: each turn of the event loop does one piece. */
  inTurn(work: () => void): void {
    this.#work.push(work);
    if (this.#work.length === 1) this.#turn(this.#next);
  }

  #next = (): void => {
    try {
      this.#work[0]?.();
    } finally {
      this.#work.shift();
      if (this.#work.length > 0) this.#turn(this.#next);
    }
  };
}

/** The source that a feed's streams follow. */
export interface FeedSource {
  /** Returns the events for these changes: an unchanged state returns the same array, a deleted project undefined. */
  read: (changes: readonly Changed[]) => readonly StreamEvent[] | undefined;
  /** Whether the events are the whole state, with which a new stream begins. */
  isState: boolean;
}

export class Feed {
  readonly #source: FeedSource;
  readonly #delivery: Delivery;
  readonly #streams = new Set<EventStream>();
  /** Changes since the last reading, each once. */
  readonly #changes = new Map<string, Changed>();
  #isStale: boolean;
  /** Whether a reading waits for its turn. */
  #isDue = false;
  #resting: NodeJS.Timeout | undefined;
  #state: readonly StreamEvent[] = [];
  /** Earlier states that clients are still reading, the oldest first. */
  #replaced: StreamEvent[] = [];

  constructor(source: FeedSource, delivery: Delivery) {
    this.#source = source;
    this.#delivery = delivery;
    this.#isStale = source.isState;
  }

  /** Adds a stream. It begins with the current state, or with the next state if that is out of date. */
  add(stream: EventStream): void {
    this.#streams.add(stream);
    if (this.#isStale) this.#readSoon();
    else stream.put(this.#state);
    void this.#delivery.send(stream);
  }

  /** Returns true if no stream is left. */
  remove(stream: EventStream): boolean {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return false;
    clearTimeout(this.#resting);
    return true;
  }

  changed(change?: Changed): void {
    if (change) this.#changes.set(JSON.stringify(change), change);
    this.#isStale = true;
    this.#readSoon();
  }

  /** Ends all streams because the process stops. `retry`: returns the last text for a stream. */
  close(retry: () => string): void {
    for (const stream of this.#streams) stream.end('stopping', retry());
  }

  #readSoon(): void {
    if (this.#isDue || this.#resting) return;
    this.#isDue = true;
    this.#delivery.inTurn(() => {
      this.#isDue = false;
      if (this.#streams.size === 0) return;
      this.#resting = setTimeout(() => {
        this.#resting = undefined;
        if (this.#isStale) this.#readSoon();
      }, everyMs);
      this.#read();
    });
  }

  #read(): void {
    const events = this.#source.read([...this.#changes.values()]);
    this.#changes.clear();
    this.#isStale = false;
    if (!events) {
      for (const stream of this.#streams) stream.end('project-deleted', 'event: gone\ndata: {}\n\n');
      return;
    }
    if (this.#source.isState) this.#replace(events);
    for (const stream of this.#streams) {
      stream.put(events);
      if (stream.isReady) void this.#delivery.send(stream);
    }
  }

  /** Bounds the memory that slow clients keep in use: every client may be reading a different earlier state. */
  #replace(state: readonly StreamEvent[]): void {
    if (state === this.#state) return;
    const unread = new Set([...this.#streams].map((stream) => stream.unread));
    this.#replaced = [...this.#replaced, ...this.#state].filter((event) => unread.has(event));
    this.#state = state;
    if (this.#replaced.length <= mostReplaced) return;
    const oldest = this.#replaced.shift();
    for (const stream of this.#streams) if (stream.unread === oldest) stream.cut();
  }
}
