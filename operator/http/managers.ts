import type {ManagedFieldsEntry} from '../kube/objects.ts';

/** Under this name the API writes (server-side apply, never forced). */
export const apiFieldManager = 'doorplate-api';

/** Who writes on a person's behalf and keeps no copy, so that a change here undoes nothing of theirs. */
const ours: ReadonlySet<string | undefined> = new Set([apiFieldManager, 'kubectl-doorplate']);

/** Who else owns fields of an object's spec, by name; undefined where nobody does. The status is another matter: it is the operator's. */
export function otherManager(managedFields: readonly ManagedFieldsEntry[]): string | undefined {
  const other = managedFields.find(
    ({manager, subresource, fieldsV1}) =>
      !ours.has(manager) && !subresource && fieldsV1 !== undefined && 'f:spec' in fieldsV1,
  );
  return other && (other.manager ?? 'somebody else');
}
