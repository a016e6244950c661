/** The finished texts about a hostname, a project or an API key for a customer, in the customer's language and time zone. */
import {type DescribedState, customerParameters, timeParameters} from './parameters.ts';
import type {CustomerTexts} from './reason.ts';
import type {ReasonName} from './reasons.ts';
import {fill, type Parameters} from './template.ts';
import type {Language} from './texts/language.ts';
import {type Tone, tones} from './tones.ts';

export interface CustomerAnswer extends CustomerTexts {
  /** Names the texts in each language: a reason, or `Pending` or `Other`. */
  id: string;
  /** Code of the language of the texts. */
  language: Language['code'];
  /** The values in the texts. Times are RFC 3339. */
  parameters: Parameters;
  /** The color of the state on the page, if the phase and the actor do not determine it. */
  tone?: Tone;
}

export interface Audience {
  language: Language;
  /** IANA name of the time zone for times. */
  timeZone?: string;
  /** Locale for times (BCP 47), such as `en-GB`. Default: that of the language. */
  locale?: string;
  /** The main domain of the project. */
  primary?: string | null;
}

/** A time for people: `November 28, 2026 at 6:04 PM`. `UTC` follows if that is the time zone. A text that is no time stays. */
export function localTime(time: string, locale: string, timeZone = 'UTC'): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  const shown = new Intl.DateTimeFormat(locale, {dateStyle: 'long', timeStyle: 'short', timeZone}).format(date);
  return timeZone === 'UTC' ? `${shown} UTC` : shown;
}

const idOf = (reason: string, {texts}: Language): ReasonName | 'Pending' | 'Other' =>
  Object.hasOwn(texts, reason) ? (reason as ReasonName) : 'Other';

/** A reason of another release has the texts `Other`. The message for engineers is never part of a text. */
export function customerTexts(
  described: DescribedState,
  {language, timeZone = 'UTC', locale = language.code, primary}: Audience,
): CustomerAnswer {
  const parameters = customerParameters(described, primary);
  const id = idOf(described.reason, language);
  const shown = Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [
      name,
      timeParameters.has(name) ? localTime(value, locale, timeZone) : value,
    ]),
  );
  const {title, body, next, howLong} = language.texts[id];
  const tone = Object.hasOwn(tones, id) ? tones[id as ReasonName] : undefined;
  return {
    id,
    language: language.code,
    title: fill(title, shown),
    body: fill(body, shown),
    next: fill(next, shown),
    howLong: fill(howLong, shown),
    parameters,
    ...(tone && {tone}),
  };
}
