import {expect, test} from '@jest/globals';
import {cut} from '../../../operator/api/rules.ts';

/** As Go reads what we send (encoding/json: half of a pair is U+FFFD), and sends it back. */
const kept = (text: string): string => Buffer.from(text, 'utf8').toString('utf8');

test.each([
  ['a short text', 'abc', 'abc'],
  ['a text as long as the field', 'abcd', 'abcd'],
  ['a longer one', 'abcdef', 'abcd'],
  ['one with a character of two units at the end', 'ab\u{1f600}', 'ab\u{1f600}'],
  ['one with a character in two halves where it is cut', 'abc\u{1f600}', 'abc\ufffd'],
  ['one that has half a character in it', 'a\ud83dc', 'a\ufffdc'],
])('%s is cut so that the API server keeps it as it is', (_, text, expected) => {
  expect(cut(text, 4)).toBe(expected);
  expect(kept(cut(text, 4))).toBe(cut(text, 4));
});
