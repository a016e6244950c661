import {expect, test} from '@jest/globals';
import {isOutput, outputOf, wrongOutput} from '../support/outputs.ts';
import {indentedBlocks, parsePage} from '../support/pages.ts';

test.each([
  ['the same', 'NAME   READY\ndocs   True', 'NAME READY\ndocs True', true],
  ['another word', 'docs True', 'docs False', false],
  ['a line more', 'one\ntwo', 'one', false],
  ['a line less', 'one', 'one\ntwo', false],
  ['left-out lines', 'one\ntwo\nthree\nfour', 'one\n...\nfour', true],
  ['left-out lines that are none', 'one\nfour', 'one\n...\nfour', true],
  ['left-out lines, and another end', 'one\ntwo', 'one\n...\nfour', false],
  ['the beginning of a line', '{"a": 1, "b": 2}x', '{"a": 1, ...', true],
  ['other ages and times', 'docs 5m12s 2026-11-28T10:00:00Z', 'docs 14s 2026-01-01T00:00:00.123Z', true],
  [
    'another hash of a default hostname',
    'docs-acme-aaaaaaaaaa.apps.platform.test',
    'docs-acme-bbbbbbbbbb.apps.example.net',
    true,
  ],
  [
    'another default hostname',
    'shop-acme-aaaaaaaaaa.apps.platform.test',
    'docs-acme-aaaaaaaaaa.apps.example.net',
    false,
  ],
  ['JSON with fields that are not shown', '{"a":1,"b":[{"c":"x","d":2}]}', '{"b": [{"c": "x"}]}', true],
  ['JSON with another value', '{"a":"x"}', '{"a": "y"}', false],
  ['JSON with the beginning of a text', '{"url":"https://a/b#cd"}', '{"url": "https://a/b#..."}', true],
  ['no JSON where JSON is shown', 'error', '{"a": 1}', false],
])('An output is compared with the page: %s', (_, real, documented, same) => {
  expect(isOutput(real, documented)).toBe(same);
});

test('An output belongs to the block of shell directly above it', () => {
  const shell = '```sh run\necho a\n```\n';
  const [near, far] = ['', 'Text.\n\n'].map((between) =>
    parsePage('x.md', `# One\n\n${shell}\n${between}\`\`\`text output\na\n\`\`\`\n`),
  );
  expect(outputOf(near!, near!.blocks[0]!)).toBe('a');
  expect(outputOf(far!, far!.blocks[0]!)).toBeUndefined();
  expect(wrongOutput(near!, near!.blocks[0]!, 'a\n')).toBeUndefined();
  expect(wrongOutput(near!, near!.blocks[0]!, 'b\n')).toContain('x.md:3 prints\nb');
});

test('A block of code by indentation is found, and no line of a list or of a fence is one', () => {
  expect(indentedBlocks('Text\n\n    code\n    more\n\n- item\n\n    of the item\n\n```\n\n    fenced\n```\n')).toEqual(
    [3],
  );
});
