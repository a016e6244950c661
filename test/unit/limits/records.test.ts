/** How much is kept of records: the whole is bounded in bytes, and the share of each group. */
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {expect, test} from '@jest/globals';
import type {RecordChange, StoredRecord} from '../../../operator/limits/backend.ts';
import {HeldRecords} from '../../../operator/limits/records.ts';

const nowMs = Date.parse('2026-11-22T12:00:00Z');

const record = (name: string, group?: string, letters = 4600): StoredRecord => ({
  name: `session:${name}`,
  text: JSON.stringify({url: 'x'.repeat(letters)}),
  endsSeconds: nowMs / 1000 + 3600,
  ...(group !== undefined && {group}),
});

function make(): {records: HeldRecords; written: Map<string, StoredRecord>} {
  const written = new Map<string, StoredRecord>();
  const records = new HeldRecords({
    clock: {nowMs: () => nowMs},
    write: async (changes: readonly RecordChange[]) => {
      for (const change of changes) {
        if ('put' in change) written.set(change.put.name, change.put);
        else written.delete(change.remove);
      }
    },
  });
  records.load([]);
  return {records, written};
}

test('A group of many records loses the oldest of its own, also in the ledger; others lose none', async () => {
  const {records, written} = make();
  await records.put(record('other', 'globex'));
  for (let i = 0; i < 1000; i++) await records.put(record(`${i}`, 'acme'));
  const kept = [...written.keys()].filter((name) => name !== 'session:other');
  expect(kept.length).toBeGreaterThan(40);
  expect(kept.length).toBeLessThan(60);
  expect(kept.at(-1)).toBe('session:999');
  expect(await records.get('session:999')).toBeDefined();
  expect(await records.get('session:0')).toBeUndefined();
  expect(await records.get('session:other')).toBeDefined();
});

test('A group of small records has many, and room again when some end', async () => {
  const {records} = make();
  for (let i = 0; i < 200; i++) await records.put(record(`${i}`, 'acme', 500));
  expect(await records.get('session:0')).toBeDefined();
  for (let i = 0; i < 200; i++) await records.take(`session:${i}`);
  for (let i = 200; i < 400; i++) await records.put(record(`${i}`, 'acme', 500));
  expect(await records.get('session:200')).toBeDefined();
});

/** Bytes of the heap in use, after a garbage collection. */
const collect = (): number => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
};

/** What records hold once they are filled, in MiB. */
const mib = async (fill: (records: HeldRecords) => Promise<void>): Promise<number> => {
  const before = collect();
  const records = new HeldRecords({clock: {nowMs: () => nowMs}, write: async () => {}});
  records.load([]);
  await fill(records);
  const held = (collect() - before) / 2 ** 20;
  // The records must not be collected before the memory is measured.
  expect(await records.get('session:39999')).toBeDefined();
  return held;
};

test('40,000 records of 4.6 KB keep 64 MiB at most, of many groups or read from the ledger', async () => {
  const put = await mib(async (records) => {
    for (let i = 0; i < 40_000; i++) await records.put(record(`${i}`, `group-${i % 4000}`));
  });
  const loaded = await mib(async (records) => {
    records.load(Array.from({length: 40_000}, (_, i) => record(`${i}`)));
  });
  console.log(`${Math.round(put)} MiB, ${Math.round(loaded)} MiB`);
  expect({put: put < 72, loaded: loaded < 72}).toEqual({put: true, loaded: true});
});
