/** Short texts that outlive the process: each is kept under a name until its end, as a session of somebody who signed in. */
import type {RecordChange, StoredRecord} from './backend.ts';

/** Rejects where what stands behind it cannot be asked: that says nothing of whether a record is there. */
export interface RecordStore {
  get(name: string): Promise<string | undefined>;
  /** Resolves when a crash of this process no longer loses it. */
  put(record: StoredRecord, nowMs: number): Promise<void>;
  /** Stores it unless its name exists; returns the existing text, or undefined. Of concurrent claims one succeeds. */
  claim(record: StoredRecord, nowMs: number): Promise<string | undefined>;
  /** Removes a record. If several callers take the same record, here or in another replica, one of them gets it. */
  take(name: string): Promise<string | undefined>;
  /** The records of a kind that were put with this group and have not ended, in no order. */
  list(kind: string, group: string): Promise<Pick<StoredRecord, 'name' | 'text'>[]>;
}

/** The part of a record's name before its first colon. */
export const kindOf = (name: string): string => name.split(':', 1)[0] ?? '';

/** Bytes of the records of one group; beyond them, its oldest are removed. */
const mostBytesOfGroup = 256 << 10;
/** Bytes of a record beside its text, about. */
const overheadBytes = 500;

export interface HeldRecordsOptions {
  clock: {nowMs(): number};
  /** Makes changes durable; absent: nothing outlives the process. */
  write?: (changes: readonly RecordChange[]) => Promise<void>;
  /** Bytes of all records of a kind ({@link kindOf}); beyond them, the oldest are removed. 64 MiB by default. */
  mostBytes?: number;
}

/** Records in memory, where one process alone has them, and beside them where they outlive it. */
export class HeldRecords implements RecordStore {
  readonly #clock: {nowMs(): number};
  readonly #write: HeldRecordsOptions['write'];
  readonly #mostBytes: number;
  /** By kind: the part of a name before its first colon. */
  readonly #kinds = new Map<string, RecordKind>();
  /** Removals that are being written, by the record's name. */
  readonly #removals = new Map<string, Promise<void>>();
  #loaded: boolean;

  constructor({clock, write, mostBytes = 64 << 20}: HeldRecordsOptions) {
    this.#mostBytes = mostBytes;
    this.#clock = clock;
    this.#write = write;
    this.#loaded = write === undefined;
  }

  /** Takes over what was kept before; until then nothing is known of any record. */
  load(records: readonly StoredRecord[]): void {
    for (const record of records) {
      const kind = this.#ofKind(record.name);
      for (const name of kind.tooMany(record)) kind.remove(name);
      kind.set(record);
    }
    this.#loaded = true;
  }

  async get(name: string): Promise<string | undefined> {
    this.#needLoaded();
    await this.#removals.get(name);
    const record = this.#ofKind(name).records.get(name);
    return record && this.#textOf(record);
  }

  async put(record: StoredRecord): Promise<void> {
    this.#needLoaded();
    const kind = this.#ofKind(record.name);
    const tooMany = kind.tooMany(record);
    await this.#writeInPlaceOf(tooMany, record);
    for (const name of tooMany) kind.remove(name);
    kind.set(record);
  }

  async claim(record: StoredRecord): Promise<string | undefined> {
    const {name} = record;
    const there = await this.get(name);
    if (there !== undefined) return there;
    // Set before it is written, so that a concurrent claim finds it; removed again if the write fails.
    const kind = this.#ofKind(name);
    const tooMany = kind.tooMany(record);
    kind.set(record);
    try {
      await this.#writeInPlaceOf(tooMany, record);
    } catch (error) {
      kind.remove(name);
      throw error;
    }
    for (const each of tooMany) kind.remove(each);
    return undefined;
  }

  async #writeInPlaceOf(names: ReadonlySet<string>, record: StoredRecord): Promise<void> {
    await this.#write?.([...[...names].map((remove) => ({remove})), {put: record}]);
  }

  async take(name: string): Promise<string | undefined> {
    this.#needLoaded();
    const underWay = this.#removals.get(name);
    if (underWay) {
      // Another caller gets the record. If the caller's write fails, this call fails too, and the record stays.
      await underWay;
      return undefined;
    }
    const record = this.#ofKind(name).records.get(name);
    if (!record) return undefined;
    const removal = this.#remove(name).finally(() => this.#removals.delete(name));
    this.#removals.set(name, removal);
    await removal;
    return this.#textOf(record);
  }

  async list(kind: string, group: string): Promise<StoredRecord[]> {
    this.#needLoaded();
    return this.#ofKind(kind)
      .ofGroup(group)
      .filter((record) => this.#textOf(record) !== undefined);
  }

  async #remove(name: string): Promise<void> {
    await this.#write?.([{remove: name}]);
    this.#ofKind(name).remove(name);
  }

  #ofKind(name: string): RecordKind {
    const id = kindOf(name);
    let kind = this.#kinds.get(id);
    if (!kind) this.#kinds.set(id, (kind = new RecordKind(this.#mostBytes)));
    return kind;
  }

  /** Undefined after its end. */
  #textOf({text, endsSeconds}: StoredRecord): string | undefined {
    return endsSeconds * 1000 > this.#clock.nowMs() ? text : undefined;
  }

  #needLoaded(): void {
    if (!this.#loaded) throw new Error('the ledger is not loaded yet');
  }
}

interface RecordShare {
  bytes: number;
  names: Set<string>;
}

/** The records of one kind, the oldest first. */
class RecordKind {
  readonly records = new Map<string, StoredRecord>();
  readonly #shares = new Map<string, RecordShare>();
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  set(record: StoredRecord): void {
    const {name, group} = record;
    this.remove(name);
    this.records.set(name, record);
    this.#bytes += bytesOf(record);
    if (group === undefined) return;
    const {bytes, names} = this.#shares.get(group) ?? {bytes: 0, names: new Set()};
    this.#shares.set(group, {bytes: bytes + bytesOf(record), names: names.add(name)});
  }

  remove(name: string): void {
    const record = this.records.get(name);
    if (!record) return;
    this.records.delete(name);
    this.#bytes -= bytesOf(record);
    const {group = ''} = record;
    const share = this.#shares.get(group);
    if (!share) return;
    share.names.delete(name);
    share.bytes -= bytesOf(record);
    if (share.names.size === 0) this.#shares.delete(group);
  }

  ofGroup(group: string): StoredRecord[] {
    return [...(this.#shares.get(group)?.names ?? [])].map((name) => this.records.get(name)!);
  }

  /** Names of the records that are removed to make room: the oldest records of its group, and the oldest of all. */
  tooMany(record: StoredRecord): Set<string> {
    const share = this.#shares.get(record.group ?? '');
    return new Set([
      ...(share ? this.#oldest(share.names, share.bytes + bytesOf(record) - mostBytesOfGroup) : []),
      ...this.#oldest(this.records.keys(), this.#bytes + bytesOf(record) - this.#mostBytes),
    ]);
  }

  /** The first of these names whose records together have at least so many bytes. */
  #oldest(names: Iterable<string>, bytes: number): string[] {
    const found: string[] = [];
    let left = bytes;
    for (const name of names) {
      if (left <= 0) break;
      found.push(name);
      left -= bytesOf(this.records.get(name)!);
    }
    return found;
  }
}

const bytesOf = ({text}: StoredRecord): number => Buffer.byteLength(text) + overheadBytes;
