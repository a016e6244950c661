/** Well-known DNS providers: the words of their forms, and their pages that explain how to add records. */
import {helpPages} from '../../operator/domain/verification/provider-help.ts';
import type {FieldLabels} from '../../operator/domain/reasons/instructions.ts';

/** The provider's words for the fields of a record of a type. */
export const labelsOf =
  (provider: string | undefined) =>
  (type: string): Partial<FieldLabels> => {
    void provider;
    void type;
    return {};
  };

/** The provider's page about adding DNS records; undefined if it is not known. */
export const helpOf = (provider: string | undefined): string | undefined =>
  provider !== undefined && Object.hasOwn(helpPages, provider) ? helpPages[provider] : undefined;
