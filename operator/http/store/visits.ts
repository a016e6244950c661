/** Reports fields of a CustomDomain that a person set by kubectl, past the API, and that a change by the API took over. */
import type {CustomDomain} from '../../api/foreign.ts';
import type {ManagedFieldsEntry} from '../../kube/objects.ts';
import {visitsOf} from './managers.ts';

/** A field and its values in words: a hostname, or the status of a redirect. Null: it does not exist. */
export interface TakenOver {
  field: string;
  before: string | null;
  after: string | null;
}

/**
 * The fields that visitors owned in `before`, as the API calls them, with their values in both versions, each once. Fields that the change
 * itself changed are first, because an audit record holds the first 32. `after`: undefined if the object was deleted.
 */
export function takenOver(
  managedFields: readonly ManagedFieldsEntry[],
  before: CustomDomain,
  after: CustomDomain | undefined,
): TakenOver[] {
  const fields = new Set(visitsOf(managedFields).flatMap(fieldsOf));
  const all = [...fields]
    .toSorted()
    .map((field) => ({field, before: valueOf(field, before), after: after ? valueOf(field, after) : null}));
  return all.toSorted((a, b) => Number(a.before === a.after) - Number(b.before === b.after));
}

/** `primary`, or `redirects[HOSTNAME]` for each entry of the list. */
function fieldsOf({fieldsV1}: ManagedFieldsEntry): string[] {
  const {'f:spec': spec = {}} = (fieldsV1 ?? {}) as {'f:spec'?: Record<string, object>};
  return Object.entries(spec).flatMap(([name, set]) =>
    name === 'f:redirects' ? Object.keys(set).flatMap(redirectOf) : name.startsWith('f:') ? [name.slice(2)] : [],
  );
}

/** The key of a list's entry is `k:` and its key fields as JSON (structured-merge-diff, fieldpath). */
function redirectOf(key: string): string[] {
  if (!key.startsWith('k:')) return [];
  return [`redirects[${(JSON.parse(key.slice(2)) as {from: string}).from}]`];
}

function valueOf(field: string, {spec}: CustomDomain): string | null {
  if (field === 'primary') return spec.primary;
  const redirect = spec.redirects?.find(({from}) => field === `redirects[${from}]`);
  return redirect ? String(redirect.status) : null;
}
