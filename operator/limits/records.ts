/** Short texts that outlive the process: each is kept under a name until its end, as a session of somebody who signed in. */
import type {RecordChange, StoredRecord} from './backend.ts';

/** Rejects where what stands behind it cannot be asked: that says nothing of whether a record is there. */
export interface RecordStore {
  get(name: string): Promise<string | undefined>;
  /** Resolves when a crash of this process no longer loses it. */
  put(record: StoredRecord, nowMs: number): Promise<void>;
  /** Stores it unless its name exists; returns the existing text, or undefined. Of concurrent claims one succeeds. */
  claim(record: StoredRecord, nowMs: number): Promise<string | undefined>;
  /** Removes it. Of several that take the same record, here or in another replica, one gets it. */
  take(name: string): Promise<string | undefined>;
  /** The records of a kind that were put with this group and have not ended, in no order. */
  list(kind: string, group: string): Promise<Pick<StoredRecord, 'name' | 'text'>[]>;
}

/** The part of a record's name before its first colon. */
export const kindOf = (name: string): string => name.split(':', 1)[0] ?? '';

export interface HeldRecordsOptions {
  clock: {nowMs(): number};
  /** Makes changes durable; absent: nothing outlives the process. */
  write?: (changes: readonly RecordChange[]) => Promise<void>;
  /** Most records of a kind ({@link kindOf}); beyond it, the oldest is removed. */
  atMost?: number;
}

/** Records in memory, where one process alone has them, and beside them where they outlive it. */
export class HeldRecords implements RecordStore {
  readonly #clock: {nowMs(): number};
  readonly #write: HeldRecordsOptions['write'];
  readonly #atMost: number;
  /** By kind and name. */
  readonly #records = new Map<string, Map<string, StoredRecord>>();
  /** Removals that are being written, by the record's name. */
  readonly #removals = new Map<string, Promise<void>>();
  #loaded: boolean;

  constructor({clock, write, atMost = 100_000}: HeldRecordsOptions) {
    this.#clock = clock;
    this.#write = write;
    this.#atMost = atMost;
    this.#loaded = write === undefined;
  }

  /** Takes over what was kept before; until then nothing is known of any record. */
  load(records: readonly StoredRecord[]): void {
    for (const record of records) this.#ofKind(record.name).set(record.name, record);
    this.#loaded = true;
  }

  async get(name: string): Promise<string | undefined> {
    this.#needLoaded();
    await this.#removals.get(name);
    const record = this.#ofKind(name).get(name);
    return record && this.#textOf(record);
  }

  async put(record: StoredRecord): Promise<void> {
    this.#needLoaded();
    const ofKind = this.#ofKind(record.name);
    this.#forget(ofKind);
    await this.#write?.([{put: record}]);
    ofKind.set(record.name, record);
  }

  async claim(record: StoredRecord): Promise<string | undefined> {
    const {name} = record;
    const there = await this.get(name);
    if (there !== undefined) return there;
    // Set before it is written, so that a concurrent claim finds it; removed again if the write fails.
    const ofKind = this.#ofKind(name);
    this.#forget(ofKind);
    ofKind.set(name, record);
    try {
      await this.#write?.([{put: record}]);
    } catch (error) {
      ofKind.delete(name);
      throw error;
    }
    return undefined;
  }

  async take(name: string): Promise<string | undefined> {
    this.#needLoaded();
    const underWay = this.#removals.get(name);
    if (underWay) {
      // Somebody else gets it. Where their write fails, this one has failed too: the record stands.
      await underWay;
      return undefined;
    }
    const record = this.#ofKind(name).get(name);
    if (!record) return undefined;
    const removal = this.#remove(name).finally(() => this.#removals.delete(name));
    this.#removals.set(name, removal);
    await removal;
    return this.#textOf(record);
  }

  /** Reads all records of the kind: at most {@link HeldRecordsOptions.atMost}. */
  async list(kind: string, group: string): Promise<StoredRecord[]> {
    this.#needLoaded();
    const records = [...this.#ofKind(kind).values()];
    return records.filter((record) => record.group === group && this.#textOf(record) !== undefined);
  }

  async #remove(name: string): Promise<void> {
    await this.#write?.([{remove: name}]);
    this.#ofKind(name).delete(name);
  }

  #ofKind(name: string): Map<string, StoredRecord> {
    const kind = kindOf(name);
    let records = this.#records.get(kind);
    if (!records) this.#records.set(kind, (records = new Map()));
    return records;
  }

  /** Undefined after its end. */
  #textOf({text, endsSeconds}: StoredRecord): string | undefined {
    return endsSeconds * 1000 > this.#clock.nowMs() ? text : undefined;
  }

  #needLoaded(): void {
    if (!this.#loaded) throw new Error('the ledger has not been read yet');
  }

  /** Makes room for one. */
  #forget(records: Map<string, StoredRecord>): void {
    const nowMs = this.#clock.nowMs();
    if (records.size >= this.#atMost)
      for (const [name, {endsSeconds}] of records) if (endsSeconds * 1000 <= nowMs) records.delete(name);
    while (records.size >= this.#atMost) records.delete(records.keys().next().value!);
  }
}
