/** The property `customer` of answers: texts for people who are not engineers. */
import {z} from 'zod';

const text = (description: string) => z.string().describe(`${description} Times are in UTC.`);

export const customerText = z
  .object({
    id: z.string().describe('Names the texts in each language: a reason, or `Pending` or `Other`.'),
    language: z.string().describe('Language of the texts, `en` or `de`, as `Accept-Language` prefers.'),
    title: z.string().describe('The state in a few words.'),
    body: text('The meaning of the state.'),
    next: text('The next step, or that no step is needed.'),
    howLong: text('The usual time until the state ends; empty if no usual time is known.'),
    parameters: z
      .record(z.string(), z.string())
      .describe('The values in the texts, by name, for your own translation. Times are RFC 3339, UTC.'),
  })
  .describe('The state for customers, who are not engineers. Absent in answers of earlier releases.')
  .meta({id: 'CustomerText'});
