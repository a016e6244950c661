/** What `make bench` makes of its words, and of what it measured. */
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, test} from '@jest/globals';
import {AuditLog, countBySort} from '../bench/audit.ts';
import {heard, Measured} from '../bench/measured.ts';
import {placesOf} from '../bench/population.ts';
import {rows, rowsOf} from '../bench/rows.ts';
import {median, quantile} from '../bench/table.ts';

describe('The rows of a bench', () => {
  test('are all of them when none is named', () => {
    expect(rowsOf([])).toEqual(Object.keys(rows));
  });

  test('are found whatever their case and what is between them, and run in their own order', () => {
    expect(rowsOf(['p3,P1', 'kit'])).toEqual(['kit', 'P1a', 'P1b', 'P1c', 'P3']);
  });

  test('of the limiter are measured together', () => {
    expect(rowsOf(['P10,P9'])).toEqual(['limits']);
  });

  test('that do not exist are told, with those that do', () => {
    expect(() => rowsOf(['P99'])).toThrow('there is no row "P99"; there are kit, P1a, ');
  });
});

test('What a row of a long bench has come to is there when the bench goes on, with all that it printed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'doorplate-bench-'));
  try {
    const file = join(folder, '10000', 'rows.json');
    const outcome = await heard(async () => {
      console.log('P1: MISSED');
      return false;
    });
    await new Measured(file).keep('P1', outcome);
    await new Measured(file).keep('P3', {reached: true, said: []});
    const later = new Measured(file);
    expect(await later.get('P1')).toEqual({reached: false, said: ['P1: MISSED']});
    expect(await later.get('P2')).toBeUndefined();
  } finally {
    await rm(folder, {recursive: true});
  }
});

describe('A quantile', () => {
  test.each([
    [[3, 1, 2], 0.5, 2],
    [[1, 2, 3, 4], 0.5, 2.5],
    [[1, 2], 0.99, 1.99],
    [[7], 0.99, 7],
  ])('of %j at %f is %f', (numbers, share, expected) => {
    expect(quantile(numbers, share)).toBeCloseTo(expected);
  });

  test('in the middle is the median', () => {
    expect(median([5, 1, 9])).toBe(5);
  });
});

test('The places of a bench are in the namespaces of their tenants, each below a registrable domain of its own', () => {
  const places = placesOf(99, 101);
  expect(places.map(({namespace}) => namespace)).toEqual(['tenant-0', 'tenant-1']);
  expect(places.map(({hostname}) => hostname)).toEqual(['www.tenant99.test', 'www.tenant100.test']);
});

/** A line of the API server's audit log. */
const line = (user: string, code: number, subresource?: string) =>
  `${JSON.stringify({
    stage: 'ResponseComplete',
    verb: 'patch',
    user: {username: user},
    objectRef: {resource: 'customdomains', namespace: 'acme', name: 'docs', ...(subresource && {subresource})},
    responseStatus: {code},
    requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
    stageTimestamp: '2026-01-01T00:00:00.250000Z',
  })}\n`;

test('What was written is read from the audit log: by whom, from a mark on, refusals apart, and no line that is half written', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'doorplate-audit-'));
  try {
    const file = join(folder, 'audit.log');
    const log = new AuditLog(file);
    expect(await log.mark()).toBe(0);
    await writeFile(file, line('ours', 200));
    const mark = await log.mark();
    const later =
      line('ours', 200, 'status') + line('ours', 409) + line('theirs', 200) + line('ours', 200).slice(0, 40);
    await writeFile(file, later, {flag: 'a'});
    const writes = await log.since(mark, 'ours');
    expect([...countBySort(writes)]).toEqual([
      ['patch customdomains/status', 1],
      ['patch customdomains (409)', 1],
    ]);
    expect(writes[0]!.answeredAt - writes[0]!.at).toBe(250);
    expect(await log.since(mark)).toHaveLength(3);
  } finally {
    await rm(folder, {recursive: true});
  }
});
