/** The language of the texts for customers, as the client prefers (RFC 9110, 12.5.4). */
import Negotiator from 'negotiator';
import {german} from '../../domain/reasons/texts/de.ts';
import {english} from '../../domain/reasons/texts/en.ts';
import type {Language} from '../../domain/reasons/texts/language.ts';

const languages: ReadonlyMap<string, Language> = new Map([
  ['en', english],
  ['de', german],
  ['*', english],
]);
/** Languages of a header that count. */
const mostRanges = 32;

/** The language with the greatest weight in `Accept-Language`, of several the first in the header; English if none is offered. */
export function languageOf(header = ''): Language {
  const ranges = header.split(',', mostRanges).join(',');
  // All tags by weight: with a list of offered languages, Negotiator would rank `en;q=0.6` above `en-GB`.
  const tags = new Negotiator({headers: {'accept-language': ranges}}).languages();
  const found = tags.map((tag) => languages.get(tag.toLowerCase().split('-', 1)[0]!));
  return found.find((language) => language !== undefined) ?? english;
}
