/**
 * The labels of DNS providers' forms, so that instructions use the words that a customer sees. Only providers whose forms are documented
 * are listed; others have the usual words of the language. Sources: developers.cloudflare.com/dns, namecheap.com/support,
 * docs.aws.amazon.com/Route53, ionos.com/help and ionos.de/hilfe, support.squarespace.com; for GoDaddy, other services' guides to its
 * form. Checked in November 2026, except GoDaddy's labels in German and the value of a TXT record at IONOS in English.
 */
import type {Language} from '../reasons/texts/language.ts';

/** Labels of the fields of a form. */
export interface FieldLabels {
  type: string;
  name: string;
  value: string;
  ttl: string;
}

interface ProviderForm {
  labels: Partial<FieldLabels>;
  /** The label of the value by the type of the record, if it differs. */
  values?: Readonly<Record<string, string>>;
  /** The name field stays empty for the domain itself, in place of `@`. */
  emptyAtRoot?: true;
}

const ipLabels = {A: 'IPv4 address', AAAA: 'IPv6 address'};

/** By provider (providers.ts). `de`: the form in German; without it the form has English labels in each language. */
export const forms: Readonly<Record<string, {en: ProviderForm; de?: ProviderForm}>> = {
  Cloudflare: {
    en: {labels: {type: 'Type', name: 'Name', ttl: 'TTL'}, values: {...ipLabels, CNAME: 'Target', TXT: 'Content'}},
  },
  GoDaddy: {
    en: {labels: {type: 'Type', name: 'Name', value: 'Value', ttl: 'TTL'}},
    de: {labels: {type: 'Typ', name: 'Name', value: 'Wert', ttl: 'TTL'}},
  },
  Namecheap: {en: {labels: {type: 'Type', name: 'Host', value: 'Value', ttl: 'TTL'}}},
  'Route 53': {
    en: {labels: {type: 'Record type', name: 'Record name', value: 'Value', ttl: 'TTL (seconds)'}, emptyAtRoot: true},
  },
  IONOS: {
    en: {
      labels: {type: 'Type', name: 'Hostname', value: 'Points to', ttl: 'TTL'},
      values: {TXT: 'Value'},
    },
    de: {
      labels: {type: 'Typ', name: 'Hostname', value: 'Zeigt auf', ttl: 'TTL'},
      values: {TXT: 'Wert'},
    },
  },
  Squarespace: {
    en: {labels: {type: 'Type', name: 'Host', value: 'Data', ttl: 'TTL'}},
    de: {labels: {type: 'Typ', name: 'Host', value: 'Daten', ttl: 'TTL'}},
  },
};

/** A record as the provider's form has it: the labels, and what to enter as the name. `name` is empty if the field stays empty. */
export interface FormRecord {
  labels: FieldLabels;
  name: string;
}

/** `provider`: undefined if it is not known. */
export function formOf(
  {type, name}: {type: string; name: string},
  provider: string | undefined,
  {code, instructions}: Pick<Language, 'code' | 'instructions'>,
): FormRecord {
  const known = provider !== undefined && Object.hasOwn(forms, provider) ? forms[provider] : undefined;
  const form = known?.[code] ?? known?.en;
  const value = form?.values?.[type] ?? form?.labels.value ?? instructions.value;
  return {
    labels: {type: instructions.type, name: instructions.name, ttl: instructions.ttl, ...form?.labels, value},
    name: form?.emptyAtRoot && name === '@' ? '' : name,
  };
}
