import {describe, expect, test} from '@jest/globals';
import {
  commentsOf,
  declaredTwice,
  fileLinksIn,
  forbiddenIn,
  proseOf,
  sentencesOf,
  typeNamesOf,
} from '../support/language.ts';

describe('Comments of a source', () => {
  test('are blocks and consecutive lines, without their marks', () => {
    const source = '/** One.\n * Two.\n */\nconst a = 1; // not alone\n// Three\n// four.\nconst b = 2;\n/* Five. */';
    expect(commentsOf(source)).toEqual(['One. Two.', 'Three four.', 'Five.']);
  });
});

describe('A sentence', () => {
  test('has a share of function words', () => {
    expect(sentencesOf('The operator deletes routes before it writes anything.')).toEqual([
      expect.objectContaining({share: 3 / 8, hasUnnamedSubject: false}),
    ]);
    expect(sentencesOf('What it did is what it is to do until it can.')[0]!.share).toBeGreaterThan(0.9);
  });

  test('has no named subject if it opens with a word that stands for one', () => {
    const openings = ['What the spec names is kept', 'Of two annotations the later one', 'Those that are gone return'];
    expect(openings.flatMap((text) => sentencesOf(`${text} later.`)).map((s) => s.hasUnnamedSubject)).toEqual([
      true,
      true,
      true,
    ]);
    expect(sentencesOf('Whatever the object is, the queue tries again.')[0]!.hasUnnamedSubject).toBe(false);
  });

  test('ends at a full stop, a colon or a semicolon; labels of fewer than six words do not count', () => {
    expect(sentencesOf('A label: the queue tries the object again later. Done.').map(({text}) => text)).toEqual([
      'the queue tries the object again later.',
    ]);
  });
});

describe('A page', () => {
  const page = '# Head\n\nSee [the page](x.md).\n\n```sh\nnobody\n```\n\n| nobody |\n\n- `nobody` is one\n- two\n';
  const words = [{word: 'nobody|who is', instead: 'name the actor'}];

  test('has paragraphs and items of lists, without code, tables and headings', () => {
    expect(proseOf(page).filter((text) => text !== '')).toEqual(['See the page.', '- `nobody` is one', '- two']);
  });

  test('has forbidden words in its text and its tables; code is exempt', () => {
    expect(forbiddenIn(page, words)).toEqual(['"nobody": write name the actor']);
    expect(forbiddenIn('Nobody and `nobody`; everynobody.', words)).toEqual(['"Nobody": write name the actor']);
  });

  test('has links with the names of files as their texts', () => {
    expect(fileLinksIn('[a.md](a.md) [`b/c.ts`](../b/c.ts) [The page](a.md)')).toEqual(['[a.md]', '[`b/c.ts`]']);
  });
});

describe('Type names', () => {
  test('are those of interfaces, types and classes, exported or not, outside of functions', () => {
    const source =
      'export interface A {}\ntype B = 1;\nexport class C {}\nfunction f() {\n  type D = 1;\n}\nexport const e = 1;';
    expect(typeNamesOf(source)).toEqual(['A', 'B', 'C']);
  });

  test('that several files declare are found with their files', () => {
    const declared = new Map([
      ['a.ts', ['Page', 'A']],
      ['b.ts', ['Page']],
    ]);
    expect(declaredTwice(declared)).toEqual(new Map([['Page', ['a.ts', 'b.ts']]]));
  });
});
