import type {CustomerTexts} from '../reason.ts';
import type {ReasonName} from '../reasons.ts';

/** `Pending`: a project before its first check. `Other`: a reason of another release. */
export type TextId = ReasonName | 'Pending' | 'Other';

/** Words around the records that a customer must create. */
export interface InstructionWords {
  /** Templates with the parameters of {@link customerParameters}. */
  title: string;
  intro: string;
  /** Labels of a provider's form; a provider's own labels replace them (verification/provider-forms.ts). */
  type: string;
  name: string;
  value: string;
  ttl: string;
  /** Template with `{n}`. */
  record: string;
  seconds: string;
  /** In place of a name if the field stays empty. */
  emptyName: string;
  /** Follows a record of the type ALIAS, which not all providers have. */
  alias: string;
  /** Instead of the records if there are none. */
  noRecords: string;
  /** The heading of the next steps, and of the time that they take. */
  nextSteps: string;
  howLong: string;
}

/** All texts of a language. */
export interface Language {
  /** Code of the language, as in Accept-Language and `lang`. */
  code: 'en' | 'de';
  texts: Readonly<Record<TextId, CustomerTexts>>;
  instructions: InstructionWords;
}
