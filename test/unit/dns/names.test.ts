import {describe, expect, test} from '@jest/globals';
import {canonicalName, isAskable, isAtOrBelow, selfAndAncestors} from '../../../operator/dns/names.ts';
import {isPublicAddress} from '../../../operator/dns/public-address.ts';

describe('A canonical name', () => {
  test.each([
    ['Docs.Example.COM', 'docs.example.com'],
    ['docs.example.com.', 'docs.example.com'],
    ['.', ''],
    ['_doorplate-challenge.example.com', '_doorplate-challenge.example.com'],
    ['do\u0000cs.example.com', 'do\\000cs.example.com'],
    ['a\u001b[31mb.example.com', 'a\\027[31mb.example.com'],
    ['\u212Aiosk.example.com', '\\226\\132\\170iosk.example.com'],
    ['bücher.example.com', 'b\\195\\188cher.example.com'],
  ])('of %j is %j', (text, canonical) => {
    expect(canonicalName(text)).toBe(canonical);
  });

  test('can be asked for only when its labels have 1 to 63 octets, and it has 253', () => {
    expect(['', 'com', `${'a'.repeat(63)}.com`, Array.from({length: 126}, () => 'a').join('.')].map(isAskable)).toEqual(
      [true, true, true, true],
    );
    expect(
      [
        'a..b',
        '.a',
        `${'a'.repeat(64)}.com`,
        Array.from({length: 128}, () => 'a').join('.'),
        'a b',
        'ü.de',
        'a\\.b',
      ].map(isAskable),
    ).toEqual([false, false, false, false, false, false, false]);
  });

  test('stands below an ancestor by whole labels only', () => {
    expect(isAtOrBelow('docs.example.com', 'example.com')).toBe(true);
    expect(isAtOrBelow('example.com', 'example.com')).toBe(true);
    expect(isAtOrBelow('badexample.com', 'example.com')).toBe(false);
    expect(isAtOrBelow('anything', '')).toBe(true);
    expect(selfAndAncestors('a.b.c')).toEqual(['a.b.c', 'b.c', 'c']);
  });
});

describe('An address', () => {
  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '2001:4860:4860::8888'])(
    '%s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  test.each([
    '127.0.0.1',
    '10.96.0.10',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '192.0.2.1',
    '198.18.0.1',
    '::1',
    '::',
    'fe80::1',
    'fd00::2',
    'ff02::1',
    '::ffff:10.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    '2001:db8::1',
    'example.com',
    '',
  ])('%j is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});
