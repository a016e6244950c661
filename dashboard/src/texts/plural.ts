/** The form of a text that a number needs in the language (CLDR plural rules). `other` is the form if the language needs no special one. */
export function pluralsOf(
  language: string,
): (n: number, forms: {one: string; other: string} & Partial<Record<Intl.LDMLPluralRule, string>>) => string {
  const rules = new Intl.PluralRules(language);
  return (n, forms) => forms[rules.select(n)] ?? forms.other;
}
