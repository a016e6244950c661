/** An open event stream (server-sent events, HTML 9.2): the events that wait for its client, and the reason of its end. */
import type {ServerResponse} from 'node:http';

/** An event, serialised once for all streams that it is written to. */
export interface StreamEvent {
  /** While an event waits for a client that does not read, a later one of the same topic replaces it. */
  topic: string;
  /** The scope that a caller needs to read it. */
  scope: string;
  /** Identifies the content: a stream is never sent the same content twice in a row. */
  id?: string;
  bytes: Buffer;
}

export type StreamEnd = 'client-left' | 'not-read' | 'access-ended' | 'project-deleted' | 'stopping';

export interface EventStreamOptions {
  raw: ServerResponse;
  /** Identifies a caller and its access: streams with the same text share one call of `mayGoOn`. */
  access: string;
  /** Whether the caller still has access. */
  mayGoOn: () => Promise<boolean>;
  hasScope: (scope: string) => boolean;
  /** The `id` of the last event that the client has. */
  lastEventId?: string;
  /** Called when the client can be sent what waits for it. */
  onReady: (stream: EventStream) => void;
  /** Called with each event that is written. */
  onSent?: () => void;
  /** Called once, when the connection is closed. */
  onEnd: (why: StreamEnd) => void;
  /** A client that has not read an event after this time is cut: 60 s by default, as for other answers. */
  readWithinMs?: number;
}

/** Events that may wait for a client that does not read, before it is cut. */
const mostWaiting = 1000;

export class EventStream {
  /** Events and bytes of events that were written. */
  readonly sent = {events: 0, bytes: 0};
  readonly #options: EventStreamOptions;
  /** By topic, the oldest first. */
  readonly #waiting = new Map<string, StreamEvent>();
  #lastId: string | undefined;
  #unread: StreamEvent | undefined;
  #cutting: NodeJS.Timeout | undefined;
  #why: StreamEnd | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#lastId = options.lastEventId;
    const {raw, onReady, onEnd} = options;
    raw.on('drain', () => {
      this.#unread = undefined;
      clearTimeout(this.#cutting);
      this.#cutting = undefined;
      if (this.isReady) onReady(this);
    });
    raw.on('close', () => {
      clearTimeout(this.#cutting);
      this.#waiting.clear();
      this.#why ??= 'client-left';
      onEnd(this.#why);
    });
  }

  get access(): string {
    return this.#options.access;
  }

  /** The last event that was written, while the client has not read it. */
  get unread(): StreamEvent | undefined {
    return this.#unread;
  }

  /** True if an event waits, and the client has read all events before it. */
  get isReady(): boolean {
    return this.#waiting.size > 0 && !this.#options.raw.writableNeedDrain && this.#why === undefined;
  }

  mayGoOn(): Promise<boolean> {
    return this.#options.mayGoOn();
  }

  /** Lets events wait for {@link flush}, as far as the caller may read them and does not have them. */
  put(events: readonly StreamEvent[]): void {
    for (const event of events) {
      if (!this.#options.hasScope(event.scope)) continue;
      this.#waiting.delete(event.topic);
      if (event.id === undefined || event.id !== this.#lastId) this.#waiting.set(event.topic, event);
    }
    if (this.#waiting.size > mostWaiting) this.cut();
  }

  /** Writes the events that wait, until the client has to read first. */
  flush(): void {
    for (const [topic, event] of this.#waiting) {
      if (!this.isReady) return;
      this.#waiting.delete(topic);
      this.#lastId = event.id;
      this.sent.events++;
      this.sent.bytes += event.bytes.length;
      this.#unread = event;
      this.write(event.bytes);
      this.#options.onSent?.();
    }
  }

  /** Writes what is no event, unless the client has to read first: it then knows that the stream lives. */
  write(bytes: Buffer | string): void {
    const {raw} = this.#options;
    if (this.#why !== undefined || raw.writableNeedDrain) return;
    if (raw.write(bytes)) this.#unread = undefined;
    else this.#cutUnlessRead();
  }

  /** Ends the stream, with a last text. */
  end(why: StreamEnd, text = ''): void {
    if (this.#why !== undefined) return;
    this.#why = why;
    this.#waiting.clear();
    this.#options.raw.end(text);
    this.#cutUnlessRead();
  }

  /** Ends the stream of a client that does not read, with what it has not read. */
  cut(): void {
    this.#why ??= 'not-read';
    this.#waiting.clear();
    this.#options.raw.destroy();
  }

  #cutUnlessRead(): void {
    this.#cutting ??= setTimeout(() => this.cut(), this.#options.readWithinMs ?? 60_000);
  }
}
