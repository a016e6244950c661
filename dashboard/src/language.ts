/**
 * The language of the page: the one that the person chose in the header, or else the first of the browser's languages that the page has.
 * Only the texts of the current language are loaded.
 */
import {useSyncExternalStore} from 'react';
import type {Language} from '../../operator/domain/reasons/texts/language.ts';
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
  en: async () => {
    const {en, english} = await import('./texts/en.ts');
    return {code: 'en', texts: en, reasons: english};
  },
  de: async () => {
    const {de, german} = await import('./texts/de.ts');
    return {code: 'de', texts: de, reasons: german};
  },
};

let current: Loaded | undefined;
let wanted: LanguageCode = 'en';
const listeners = new Set<() => void>();

const subscribe = (changed: () => void): (() => void) => {
  listeners.add(changed);
  return () => listeners.delete(changed);
};
/** The preferred language, possibly before its texts are loaded. */
export const wantedLanguage = (): LanguageCode => wanted;
/** The current language. Throws before {@link begin} has loaded the first one. */
export function language(): Loaded {
  if (current === undefined) throw new Error('no language is loaded');
  return current;
}
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
function preferred(): LanguageCode {
  const chosen = stored();
  if (isLanguage(chosen)) return chosen;
  return navigator.languages.map((tag) => tag.split('-')[0]?.toLowerCase()).find(isLanguage) ?? 'en';
}

/** Shows the page in a language. Returns false, and keeps the current language, if loading the texts fails. */
async function show(code: LanguageCode): Promise<boolean> {
  wanted = code;
  const loaded = await load[code]().catch(() => undefined);
  if (loaded === undefined) return false;
  if (wanted !== code) return true;
  current = loaded;
  document.documentElement.lang = code;
  for (const changed of listeners) changed();
  return true;
}

const betweenMs = 1000;

/** Loads the first language. Tries again while the server is away: without texts there is nothing to show. */
export async function begin(): Promise<void> {
  while (!(await show(preferred()))) await new Promise((resolve) => setTimeout(resolve, betweenMs));
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
