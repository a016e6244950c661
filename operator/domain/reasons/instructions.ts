/** "Send these instructions": plain text about one hostname for the person who manages its DNS. */
import {formOf} from '../verification/provider-forms.ts';
import {type Audience, customerTexts} from './customer.ts';
import type {DescribedState} from './parameters.ts';
import {fill} from './template.ts';

/** Plain text with line feeds: the records as a form with the provider's own labels, the next step, and the time that it takes. */
export function instructions(described: DescribedState & {hostname: string}, audience: Audience): string {
  const {language} = audience;
  const words = language.instructions;
  const {title, body, next, howLong, parameters} = customerTexts(described, audience);
  const {records = [], zone} = described;
  const forms = records.map((record, i) => {
    const {labels, name} = formOf(record, zone?.provider, language);
    return [
      ...(records.length > 1 ? [fill(words.record, {n: String(i + 1)})] : []),
      `${labels.type}: ${record.type}`,
      `${labels.name}: ${name === '' ? words.emptyName : name}`,
      `${labels.value}: ${record.value}`,
      `${labels.ttl}: ${fill(words.seconds, {n: String(record.ttl)})}`,
      ...(record.type === 'ALIAS' ? [words.alias] : []),
    ].join('\n');
  });
  const parts = [
    fill(words.title, parameters),
    `${title}. ${body}`,
    ...(forms.length > 0 ? [fill(words.intro, parameters), ...forms] : [words.noRecords]),
    `${words.nextSteps}: ${next}`,
    ...(howLong === '' ? [] : [`${words.howLong}: ${howLong}`]),
  ];
  return `${parts.join('\n\n')}\n`;
}
