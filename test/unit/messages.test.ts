import {describe, expect, test} from '@jest/globals';
import {messagesOf} from '../support/messages.ts';

describe('Messages of a source', () => {
  test('are literals of at least five words', () => {
    expect(messagesOf(`const a = 'The edge presents another certificate.'; const b = 'four words are few';`)).toEqual([
      'The edge presents another certificate.',
    ]);
  });

  test('have {} in place of values, whose own texts are separate', () => {
    const source = "f(`Wait ${n} minutes for ${b ? 'the next check of its DNS' : c} to finish.`)";
    expect(messagesOf(source)).toEqual(['Wait {} minutes for {} to finish.', 'the next check of its DNS']);
  });

  test('are one text if + joins their literals', () => {
    const source =
      "g('The certificate is not issued. ' + `Try ${when} ` + (late ? why('a b c d e') : last) + 'or later.')";
    expect(messagesOf(source)).toEqual(['The certificate is not issued. Try {} {}or later.', 'a b c d e']);
  });

  test('are found in elements, too, and not in imports and comments', () => {
    const source =
      'import \'a b c d e\'; /* a b c d e */ const e = <p title="The name is too long here">a b c d e f</p>;';
    expect(messagesOf(source)).toEqual(['The name is too long here']);
  });
});
