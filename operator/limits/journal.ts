/**
 * The journal: an append-only list of short texts for each tenant, newest first, kept where quota is kept. Records are deleted after
 * the retention. A tenant has so many records at most, and the journal so many bytes: then the oldest records of the tenant with the
 * most bytes are deleted, so no tenant deletes the records of a smaller one.
 */

export interface JournalRecord {
  /** See `tenantKey`. */
  tenant: string;
  /** UID of the namespace that the record is of. */
  namespace: string;
  project?: string;
  text: string;
}

export interface JournalQuery {
  tenant: string;
  namespace: string;
  project?: string;
  /** Unix ms, inclusive. */
  sinceMs?: number;
  /** Unix ms, exclusive. */
  untilMs?: number;
  /** `next` of the page before. */
  after?: string;
  /** Most records of the page. */
  limit: number;
}

export interface JournalPage {
  /** Newest first. `atMs`: when the record was appended, Unix ms. */
  records: {atMs: number; text: string}[];
  /**
   * Undefined at the end. A page reads through {@link mostScanned} records of the tenant at most, so it can be short, or empty, and
   * have a next page.
   */
  next?: string;
}

export interface JournalBounds {
  retentionMs: number;
  recordsPerTenant: number;
  bytes: number;
}

/** Rejects if the store cannot be asked. */
export interface Journal {
  /** Resolves when a crash of this process no longer loses the records. Without records it deletes what is past the retention. */
  append(records: readonly JournalRecord[], nowMs: number): Promise<void>;
  read(query: JournalQuery, nowMs: number): Promise<JournalPage>;
}

export const defaultJournalBounds: JournalBounds = {
  retentionMs: 90 * 86_400_000,
  recordsPerTenant: 10_000,
  bytes: 200_000_000,
};

/** Records of a tenant that one page reads through at most. */
export const mostScanned = 1000;
/** Records that one append deletes at most because of bounds: after a bound was lowered, the next ones delete more. */
export const mostDeleted = 2000;

/** Bytes that a store needs for a record besides its texts: indexes, ids. */
const overheadBytes = 200;

/** Size of a record as counted in {@link JournalBounds.bytes}. */
export const bytesOf = ({tenant, namespace, project = '', text}: JournalRecord): number =>
  overheadBytes + Buffer.byteLength(tenant + namespace + project + text);

/** Records that wait for the store at most, and that one append writes at most. */
const mostWaiting = 1000;
const mostAtOnce = 200;
const sweepEveryMs = 3_600_000;

export interface BackgroundJournalOptions {
  journal: Journal;
  /** Unix ms. */
  now: () => number;
  /** Records could not be written. */
  onLost: (records: readonly JournalRecord[], error: Error) => void;
}

/** Writes records in the background: no caller waits, or fails, because of the journal. */
export class BackgroundJournal {
  readonly #options: BackgroundJournalOptions;
  readonly #sweep: NodeJS.Timeout;
  #waiting: JournalRecord[] = [];
  #stopped = false;
  #writing: Promise<void> | undefined;
  written = 0;
  lost = 0;

  constructor(options: BackgroundJournalOptions) {
    this.#options = options;
    const {journal, now} = options;
    // A failure needs no report: the next append reports it.
    this.#sweep = setInterval(() => void journal.append([], now()).catch(() => {}), sweepEveryMs).unref();
  }

  add(record: JournalRecord): void {
    if (this.#waiting.length >= mostWaiting)
      return this.#lose([record], new Error('too many records wait to be written'));
    this.#waiting.push(record);
    this.#writing ??= this.#writeAll();
  }

  read(query: JournalQuery): Promise<JournalPage> {
    return this.#options.journal.read(query, this.#options.now());
  }

  /** Resolves when all records are written, or one append has failed. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#sweep);
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, mostAtOnce);
      try {
        await this.#options.journal.append(group, this.#options.now());
        this.written += group.length;
      } catch (error) {
        this.#lose([...group, ...(this.#stopped ? this.#waiting.splice(0) : [])], error as Error);
      }
    }
    this.#writing = undefined;
  }

  #lose(records: readonly JournalRecord[], error: Error): void {
    this.lost += records.length;
    this.#options.onLost(records, error);
  }
}
