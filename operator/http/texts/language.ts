/** The language of the texts for customers, as the client prefers (RFC 9110, 12.5.4). */
import {german} from '../../domain/reasons/texts/de.ts';
import {english} from '../../domain/reasons/texts/en.ts';
import type {Language} from '../../domain/reasons/texts/language.ts';

const languages: readonly Language[] = [english, german];
/** Languages of a header that count. */
const mostRanges = 32;

/** `de-AT;q=0.8` as the language `de` with its weight, from 0 to 1. A weight that cannot be read is 0. */
function rangeOf(written: string): {code: string; weight: number} {
  const [tag = '', ...parameters] = written.split(';').map((part) => part.trim().toLowerCase());
  const q = parameters.find((parameter) => parameter.startsWith('q='));
  const weight = q === undefined ? 1 : Number(q.slice(2));
  return {code: tag.split('-')[0]!, weight: weight >= 0 && weight <= 1 ? weight : 0};
}

/** The language with the greatest weight in `Accept-Language`, of several the first in the header; English if none is offered. */
export function languageOf(header: string | undefined): Language {
  const ranges = (header ?? '').split(',').slice(0, mostRanges).map(rangeOf);
  const wanted = ranges.filter(({weight}) => weight > 0).toSorted((a, b) => b.weight - a.weight);
  for (const {code} of wanted) {
    const found = code === '*' ? english : languages.find((language) => language.code === code);
    if (found) return found;
  }
  return english;
}
