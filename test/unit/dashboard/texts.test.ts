/** The page's own texts in each language. */
import {readFileSync} from 'node:fs';
import {describe, expect, test} from '@jest/globals';
import {parse} from 'yaml';
import {de} from '../../../dashboard/src/texts/de.ts';
import {en} from '../../../dashboard/src/texts/en.ts';
import {hostnameRules} from '../../../operator/api/hostname-rules.ts';
import {ownScopes} from '../../../operator/api/api-key.ts';
import {helpPages} from '../../../dashboard/src/help-pages.ts';
import {providers} from '../../../operator/domain/verification/providers.ts';
import {problemCauses} from '../../../operator/http/causes.ts';
import {isProblem} from '../../../operator/http/problems.ts';
import {forbiddenIn, type ForbiddenWord, sentencesOf} from '../../support/language.ts';

const words = parse(readFileSync(new URL('../../../docs/words.yaml', import.meta.url), 'utf8')) as {
  page: ForbiddenWord[];
};
/** Plurals too. */
const forbidden = words.page.map(({word, instead}) => ({word: `${word}s?`, instead}));

/** All texts by their path. A text with values has the number 2 in place of each. */
const textsIn = (value: unknown, path = ''): [string, string][] => {
  if (typeof value === 'string') return value === '' ? [] : [[path, value]];
  if (typeof value === 'function') return textsIn((value as (...of: number[]) => unknown)(2, 2, 2), path);
  return Object.entries(value as object).flatMap(([name, each]) => textsIn(each, `${path}.${name}`));
};
const catalogs = {en: textsIn(en), de: textsIn(de)};

describe.each(Object.entries(catalogs))('The texts in %s', (_, texts) => {
  test('have no word that only an engineer knows', () => {
    expect(texts.flatMap(([path, text]) => forbiddenIn(text, forbidden).map((each) => `${path}: ${each}`))).toEqual([]);
  });

  test('have sentences of at most 25 words', () => {
    const long = texts.flatMap(([path, text]) =>
      sentencesOf(text)
        .filter((sentence) => sentence.text.split(' ').length > 25)
        .map((sentence) => `${path}: ${sentence.text}`),
    );
    expect(long).toEqual([]);
  });
});

test('The German texts have the paths of the English texts, and words of their own', () => {
  expect(catalogs.de.map(([path]) => path)).toEqual(catalogs.en.map(([path]) => path));
  const english = new Map(catalogs.en);
  const same = catalogs.de.filter(([path, text]) => text.includes(' ') && english.get(path) === text);
  expect(same).toEqual([]);
});

test('Each rule for hostnames has a text', () => {
  expect([en.hostnameRules.length, de.hostnameRules.length]).toEqual([hostnameRules.length, hostnameRules.length]);
});

test('Each permission has words', () => {
  expect(Object.keys(en.keyList.permissions).toSorted()).toEqual(ownScopes.toSorted());
});

test('Texts about problems name problems of the API', () => {
  expect(Object.keys(en.problems).filter((name) => !isProblem(name))).toEqual([]);
});

test('Each cause of a problem has a text, and belongs to a problem of the API', () => {
  const known = new Set(Object.values(problemCauses).flat());
  expect(Object.keys(en.causes).toSorted()).toEqual([...known].toSorted());
  expect(Object.keys(problemCauses).filter((name) => !isProblem(name))).toEqual([]);
});

test('Help pages belong to providers that Doorplate knows', () => {
  const names = providers.map(({name}) => name);
  expect(Object.keys(helpPages).filter((name) => !names.includes(name))).toEqual([]);
});
