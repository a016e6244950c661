/**
 * The language of the page: the one that the person chose in the header, or else the first of the browser's languages that the page has.
 * All languages but English are loaded when they are needed.
 */
import {useSyncExternalStore} from 'react';
import {english} from '../../operator/domain/reasons/texts/en.ts';
import type {Language} from '../../operator/domain/reasons/texts/language.ts';
import {en} from './texts/en.ts';
import type {Texts} from './texts/en.ts';

export type LanguageCode = Language['code'];

/** Each language in its own words. */
export const languages: Readonly<Record<LanguageCode, string>> = {en: 'English', de: 'Deutsch'};

interface Loaded {
  code: LanguageCode;
  /** The page's own texts. */
  texts: Texts;
  /** The texts about domains, projects and keys, which the API has too. */
  reasons: Language;
}

const load: Readonly<Record<LanguageCode, () => Promise<Loaded>>> = {
  en: async () => inEnglish,
  de: async () => {
    const {de, german} = await import('./texts/de.ts');
    return {code: 'de', texts: de, reasons: german};
  },
};
const inEnglish: Loaded = {code: 'en', texts: en, reasons: english};

let current = inEnglish;
let wanted: LanguageCode = 'en';
const listeners = new Set<() => void>();

const subscribe = (changed: () => void): (() => void) => {
  listeners.add(changed);
  return () => listeners.delete(changed);
};
export const language = (): Loaded => current;
/** The current language, for components: they render again when it changes. */
export const useLanguage = (): Loaded => useSyncExternalStore(subscribe, language);
export const useTexts = (): Texts => useLanguage().texts;

const storageKey = 'language';
const isLanguage = (code: string | null | undefined): code is LanguageCode =>
  typeof code === 'string' && Object.hasOwn(languages, code);

/** A browser that stores nothing for this page, as in some frames, throws. */
function stored(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}

/** The language to begin with. */
export function preferred(): LanguageCode {
  const chosen = stored();
  if (isLanguage(chosen)) return chosen;
  return navigator.languages.map((tag) => tag.split('-')[0]?.toLowerCase()).find(isLanguage) ?? 'en';
}

/** Shows the page in a language. If its texts cannot be loaded, the language stays as it is. */
export async function show(code: LanguageCode): Promise<void> {
  wanted = code;
  const loaded = await load[code]().catch(() => undefined);
  if (loaded === undefined || wanted !== code) return;
  current = loaded;
  document.documentElement.lang = code;
  for (const changed of listeners) changed();
}

/** As {@link show}; this browser begins with the language from now on. */
export async function choose(code: LanguageCode): Promise<void> {
  try {
    localStorage.setItem(storageKey, code);
  } catch {
    // The choice lasts until the page is closed.
  }
  await show(code);
}
