/**
 * Templates of texts for customers:
 *
 * - `{name}` is a parameter. Outside of brackets it must always exist.
 * - `[It leads to {found}.|It leads elsewhere.]` is a choice: the first alternative whose parameters all exist, or nothing. Choices are not
 *   nested.
 * - `{name=value}` is a condition in an alternative. It prints nothing, and exists only if the parameter has this value, or any value for
 *   `{name=*}`.
 */

export type Parameters = Readonly<Record<string, string>>;

const parameter = /\{(\w+)\}/g;
const condition = /\{(\w+)=(\w+|\*)\}/g;
const choice = /\[([^\]]*)\]/g;

/** The names of the parameters in a text, without those of conditions. */
export const parametersIn = (text: string): string[] => [...text.matchAll(parameter)].map(([, name = '']) => name);

const isFilled = (text: string, parameters: Parameters): boolean =>
  parametersIn(text).every((name) => Object.hasOwn(parameters, name)) &&
  [...text.matchAll(condition)].every(
    ([, name = '', value]) => Object.hasOwn(parameters, name) && (value === '*' || parameters[name] === value),
  );

/** The finished text. A parameter that is missing outside of brackets stays as `{name}`. */
export const fill = (template: string, parameters: Parameters): string =>
  template
    .replaceAll(choice, (_, choices: string) => choices.split('|').find((text) => isFilled(text, parameters)) ?? '')
    .replaceAll(condition, '')
    .replaceAll(parameter, (as, name: string) => (Object.hasOwn(parameters, name) ? parameters[name]! : as))
    .replaceAll(/ {2,}/g, ' ')
    .trim();

/**
 * The template as documentation shows it, with the names of the parameters in braces: of each choice, the first alternative without a
 * condition.
 */
export const shownTemplate = (template: string): string =>
  template
    .replaceAll(choice, (_, choices: string) => {
      const all = choices.split('|');
      return all.find((text) => text.search(condition) === -1) ?? all[0]!;
    })
    .replaceAll(condition, '')
    .trim();
