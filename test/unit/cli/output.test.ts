import {stripVTControlCharacters} from 'node:util';
import {describe, expect, test} from '@jest/globals';
import {parse} from 'yaml';
import {ago, forPrograms, span, table} from '../../../operator/cli/output.ts';
import {zoneFile} from '../../../operator/cli/domains/zone-file.ts';

const minute = 60_000;

describe('A table', () => {
  const rows = [
    ['docs.example.com', {text: 'Live', style: 'green' as const}, '3d'],
    ['a.example', {text: 'NotAccepted', style: 'red' as const}, '-'],
  ];

  test('has columns as wide as their longest cell, and no blanks at the end of a line', () => {
    expect(table(['HOSTNAME', 'PHASE', 'SINCE'], rows, false)).toBe(
      [
        'HOSTNAME           PHASE         SINCE\n',
        'docs.example.com   Live          3d\n',
        'a.example          NotAccepted   -\n',
      ].join(''),
    );
  });

  test('with colours reads the same without them', () => {
    const coloured = table(['HOSTNAME', 'PHASE', 'SINCE'], rows, true);
    expect(coloured).toContain('\u001b[32mLive\u001b[39m');
    expect(stripVTControlCharacters(coloured)).toBe(table(['HOSTNAME', 'PHASE', 'SINCE'], rows, false));
  });
});

describe('A time span', () => {
  test.each([
    [-5, '0s'],
    [0, '0s'],
    [119_999, '119s'],
    [2 * minute, '2m'],
    [119 * minute, '119m'],
    [120 * minute, '2h'],
    [47 * 60 * minute, '47h'],
    [49 * 60 * minute, '2d'],
  ])('of %d ms is %s', (ms, said) => {
    expect(span(ms)).toBe(said);
  });

  test('of a time that is not there is a dash', () => {
    expect(ago(undefined, 0)).toBe('-');
  });
});

describe('A zone file', () => {
  const cname = {type: 'CNAME', name: 'docs', zone: 'example.com', value: 'x.apps.platform.test', ttl: 3600};

  test('has the records of each zone below its origin, names absolute and texts in quotes', () => {
    const txt = {...cname, type: 'TXT', name: '_doorplate-challenge.docs', value: '0123abcd'};
    const address = {...cname, zone: 'a.example', name: '@', type: 'A', value: '192.0.2.1'};
    expect(zoneFile([cname, txt, address])).toBe(`$ORIGIN a.example.
@ 3600 IN A 192.0.2.1

$ORIGIN example.com.
docs 3600 IN CNAME x.apps.platform.test.
_doorplate-challenge.docs 3600 IN TXT "0123abcd"
`);
  });

  test("says of a type that is a provider's own that it is made there", () => {
    const alias = {...cname, name: '@', type: 'ALIAS', note: 'Gandi follows it at an apex'};
    expect(zoneFile([alias])).toBe(
      '$ORIGIN example.com.\n; zone files have no such type, create it at your provider (Gandi follows it at an apex): @ 3600 IN ALIAS x.apps.platform.test.\n',
    );
  });
});

test('YAML has the same values for readers of YAML 1.1, which take `no` and `on` for booleans', () => {
  const value = {name: 'no', labels: {on: 'on', port: '012', time: '12:30'}};
  const text = forPrograms('yaml', value)!;
  for (const version of ['1.1', '1.2'] as const) expect(parse(text, {version})).toEqual(value);
});
