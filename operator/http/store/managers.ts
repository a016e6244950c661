import type {ManagedFieldsEntry} from '../../kube/objects.ts';

/** Under this name the API writes (server-side apply, never forced). */
export const apiFieldManager = 'doorplate-api';

/** Field managers that write on a person's behalf and keep no copy, so that they never undo a change made here. */
const ours: ReadonlySet<string | undefined> = new Set([apiFieldManager, 'kubectl-doorplate']);

/** The name of another field manager that owns fields of an object's spec; undefined if there is none. The operator owns the status. */
export function otherManager(managedFields: readonly ManagedFieldsEntry[]): string | undefined {
  const other = managedFields.find(
    ({manager, subresource, fieldsV1}) =>
      !ours.has(manager) && !subresource && fieldsV1 !== undefined && 'f:spec' in fieldsV1,
  );
  return other && (other.manager ?? 'somebody else');
}
