/** Short texts that outlive the process: each is kept under a name until its end, as a session of somebody who signed in. */
import type {RecordChange, StoredRecord} from './backend.ts';

/** Rejects where what stands behind it cannot be asked: that says nothing of whether a record is there. */
export interface RecordStore {
  get(name: string): Promise<string | undefined>;
  /** Resolves when a crash of this process no longer loses it. */
  put(record: StoredRecord, nowMs: number): Promise<void>;
  /** Removes it. Of several that take the same record, here or in another replica, one gets it. */
  take(name: string): Promise<string | undefined>;
}

export interface HeldRecordsOptions {
  clock: {nowMs(): number};
  /** Makes changes durable; absent: nothing outlives the process. */
  write?: (changes: readonly RecordChange[]) => Promise<void>;
  /** Beyond so many, the one that was put first is forgotten. */
  atMost?: number;
}

/** Records in memory, where one process alone has them, and beside them where they outlive it. */
export class HeldRecords implements RecordStore {
  readonly #clock: {nowMs(): number};
  readonly #write: HeldRecordsOptions['write'];
  readonly #atMost: number;
  readonly #records = new Map<string, StoredRecord>();
  #loaded: boolean;

  constructor({clock, write, atMost = 100_000}: HeldRecordsOptions) {
    this.#clock = clock;
    this.#write = write;
    this.#atMost = atMost;
    this.#loaded = write === undefined;
  }

  /** Takes over what was kept before; until then nothing is known of any record. */
  load(records: readonly StoredRecord[]): void {
    for (const record of records) this.#records.set(record.name, record);
    this.#loaded = true;
  }

  async get(name: string): Promise<string | undefined> {
    this.#needLoaded();
    const record = this.#records.get(name);
    return record && this.#textOf(record);
  }

  async put(record: StoredRecord): Promise<void> {
    this.#needLoaded();
    this.#forget();
    await this.#write?.([{put: record}]);
    this.#records.set(record.name, record);
  }

  async take(name: string): Promise<string | undefined> {
    this.#needLoaded();
    const record = this.#records.get(name);
    if (!record) return undefined;
    // Before anything is waited for: whoever comes next finds nothing.
    this.#records.delete(name);
    try {
      await this.#write?.([{remove: name}]);
    } catch (error) {
      // It stands where it was kept: who is told of the failure, and tries again, must find it.
      this.#records.set(name, record);
      throw error;
    }
    return this.#textOf(record);
  }

  /** Undefined after its end. */
  #textOf({text, endsSeconds}: StoredRecord): string | undefined {
    return endsSeconds * 1000 > this.#clock.nowMs() ? text : undefined;
  }

  #needLoaded(): void {
    if (!this.#loaded) throw new Error('the ledger has not been read yet');
  }

  #forget(): void {
    const nowMs = this.#clock.nowMs();
    if (this.#records.size >= this.#atMost) {
      for (const [name, {endsSeconds}] of this.#records) if (endsSeconds * 1000 <= nowMs) this.#records.delete(name);
    }
    while (this.#records.size >= this.#atMost) this.#records.delete(this.#records.keys().next().value!);
  }
}
