import {describe, expect, test} from '@jest/globals';
import {valueRows, withValues} from '../../../operator/generate/values-table.ts';

const yaml = `# A comment of the file.

# -- The first.
first: 1
group:
  # -- The second,
  # in two lines.
  second: {a: []}
# Not a row.
# -- The third.
third:
  below: [1]
`;

describe('The table of values', () => {
  test('has a row for each value whose comment begins with --, with what is below it', () => {
    expect(valueRows(yaml)).toEqual([
      {path: 'first', default: 1, text: 'The first.'},
      {path: 'group.second', default: {a: []}, text: 'The second, in two lines.'},
      {path: 'third', default: {below: [1]}, text: 'The third.'},
    ]);
  });

  test('refuses a value without such a comment, and names it', () => {
    expect(() => valueRows('# -- A group.\ngroup: {}\nother:\n  # none\n  deep: 1\n')).toThrow('other.deep');
  });

  test('replaces the former table, and nothing else', () => {
    const once = withValues(
      'Before\n\n<!-- begin of the values: make crds -->\n<!-- end of the values -->\nAfter\n',
      yaml,
    );
    expect(once).toContain('| `group.second` | `{"a":[]}` | The second, in two lines. |');
    expect(once).toMatch(/^Before\n[^]*\nAfter\n$/);
    expect(withValues(once, yaml)).toBe(once);
    expect(() => withValues('none', yaml)).toThrow('README.md lacks');
  });
});
