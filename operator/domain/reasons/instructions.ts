/** "Send these instructions": plain text about one hostname for the person who manages its DNS. */
import {type Audience, customerTexts} from './customer.ts';
import type {Described} from './parameters.ts';
import {fill} from './template.ts';
import {english} from './texts/en.ts';

/** Labels of the fields of a DNS provider's form. */
export interface FieldLabels {
  type: string;
  name: string;
  value: string;
  ttl: string;
}

/** The labels that the instructions use for a record: those of `labels`, or else the usual words of the language. */
export interface InstructionAudience extends Audience {
  /** The provider's own words for a record of this type. */
  labels?: (type: string) => Partial<FieldLabels>;
}

/** Plain text: the records as a form, the next step and the time that it takes. Lines end with a line feed. */
export function instructions(described: Described & {hostname: string}, audience: InstructionAudience = {}): string {
  const {language = english, labels = () => ({})} = audience;
  const words = language.instructions;
  const {title, body, next, howLong, parameters} = customerTexts(described, audience);
  const {records = []} = described;
  const forms = records.map((record, i) => {
    const {type, name, value, ttl} = {...words, ...labels(record.type)};
    return [
      ...(records.length > 1 ? [fill(words.record, {n: String(i + 1)})] : []),
      `${type}: ${record.type}`,
      `${name}: ${record.name}`,
      `${value}: ${record.value}`,
      `${ttl}: ${fill(words.seconds, {n: String(record.ttl)})}`,
      ...(record.type === 'ALIAS' ? [words.alias] : []),
    ].join('\n');
  });
  return (
    [
      fill(words.title, parameters),
      `${title}. ${body}`,
      ...(forms.length > 0 ? [fill(words.intro, parameters), ...forms] : [words.noRecords]),
      `${words.nextSteps}: ${next}`,
      ...(howLong === '' ? [] : [`${words.howLong}: ${howLong}`]),
    ].join('\n\n') + '\n'
  );
}
