/** Words, times and numbers for people, in the current language and the time zone of the browser. */
import {type CustomerAnswer, customerTexts} from '../../operator/domain/reasons/customer.ts';
import {instructions} from '../../operator/domain/reasons/instructions.ts';
import type {DescribedState} from '../../operator/domain/reasons/parameters.ts';
import type {Language} from '../../operator/domain/reasons/texts/language.ts';
import {language} from './language.ts';

/** The language and the time zone of the reader. `locale`: the regional form of the language that the browser prefers, such as `en-GB`. */
function reader(): {language: Language; locale: string; timeZone: string} {
  const {code, reasons} = language();
  return {
    language: reasons,
    locale: navigator.languages.find((tag) => tag.split('-')[0]?.toLowerCase() === code) ?? code,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

/** A domain, a project or a key as the API shows it. */
type Shown = Omit<DescribedState, 'details'> & {customer?: {parameters: Readonly<Record<string, string>>}};
const withDetails = <T extends Shown>(shown: T): T & DescribedState => ({
  ...shown,
  details: shown.customer?.parameters,
});

/** The texts about a domain, a project or a key. `primary`: the main domain of the project. */
export const textsOf = (described: Shown, primary?: string | null): CustomerAnswer =>
  customerTexts(withDetails(described), {...reader(), primary});

/** Plain text for the person who manages the DNS of the domain. */
export const instructionsOf = (described: Shown & {hostname: string}, primary: string | null): string =>
  instructions(withDetails(described), {...reader(), primary});

/** A formatter for the reader, made once for each locale. */
function inLanguage<T>(make: (locale: string) => T): () => T {
  const made = new Map<string, T>();
  return () => {
    const {locale} = reader();
    const formatter = made.get(locale) ?? make(locale);
    made.set(locale, formatter);
    return formatter;
  };
}

const dateAndTime = inLanguage((locale) => new Intl.DateTimeFormat(locale, {dateStyle: 'medium', timeStyle: 'short'}));
export const when = (time: string | number): string => dateAndTime().format(new Date(time));

const dateInUTC = inLanguage((locale) => new Intl.DateTimeFormat(locale, {dateStyle: 'medium', timeZone: 'UTC'}));
/** A date of UTC, YYYY-MM-DD, in words. */
export const day = (date: string): string => dateInUTC().format(new Date(date));

const timeAlone = inLanguage((locale) => new Intl.DateTimeFormat(locale, {timeStyle: 'short'}));
/** The time without its day, if the day equals the previous one. */
export const whenAfter = (time: string, before: string): string =>
  new Date(time).toDateString() === new Date(before).toDateString() ? timeAlone().format(new Date(time)) : when(time);

const number = inLanguage((locale) => new Intl.NumberFormat(locale));
export const count = (n: number): string => number().format(n);

const units = inLanguage((locale) => {
  const unit = (name: string, seconds: number) => ({
    seconds,
    format: new Intl.NumberFormat(locale, {style: 'unit', unit: name, unitDisplay: 'short'}),
  });
  return [unit('day', 86_400), unit('hour', 3600), unit('minute', 60), unit('second', 1)];
});
/** A span as its two largest units: "3 min 12 sec". */
export function span(fromTime: string, toTime: string): string {
  let rest = Math.max(0, Math.round((Date.parse(toTime) - Date.parse(fromTime)) / 1000));
  const parts: string[] = [];
  for (const {seconds, format} of units()) {
    const n = Math.floor(rest / seconds);
    rest -= n * seconds;
    if (n > 0) parts.push(format.format(n));
  }
  return parts.slice(0, 2).join(' ') || language().texts.timeline.under;
}
