/**
 * Owners of the fields of an object (server-side apply, KEP-555). They decide whether the API may change it: field managers that keep a
 * copy of the object elsewhere write it again, so what they own is only read here.
 */
import {stopAnnotation} from '../../api/custom-domain.ts';
import type {HasMeta, ManagedFieldsEntry} from '../../kube/objects.ts';
import {Problem} from '../problems.ts';

/** The API's field manager: it writes by server-side apply, never forced. */
export const apiFieldManager = 'doorplate-api';

/** Field managers that write on a person's behalf and keep no copy, so that they never undo a change made here. */
const ours: ReadonlySet<string | undefined> = new Set([apiFieldManager, 'kubectl-doorplate']);

/** Field managers of `kubectl edit` and `kubectl patch`: a person changes fields once, and keeps no copy. */
const visitors: ReadonlySet<string | undefined> = new Set(['kubectl-edit', 'kubectl-patch']);

/** The field owners of an object as the API server returned it. */
export const ownersOf = ({metadata}: HasMeta): readonly ManagedFieldsEntry[] =>
  (metadata as {managedFields?: ManagedFieldsEntry[]}).managedFields ?? [];

/** A set of fields: a key `f:NAME` for each field, `k:{...}` for each entry of a list, `.` for the field itself. */
interface FieldSet {
  [key: string]: FieldSet;
}

const setOf = ({fieldsV1}: ManagedFieldsEntry): FieldSet => (fieldsV1 ?? {}) as FieldSet;
/** Whether the entry owns fields of the spec. The operator owns the status, by a subresource. */
const ownsSpec = (entry: ManagedFieldsEntry): boolean => !entry.subresource && 'f:spec' in setOf(entry);

/**
 * The entries of people who changed the spec by `kubectl edit` or `kubectl patch` although the API, or a tool of Doorplate's, made the
 * object.
 */
export function visitsOf(managedFields: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  if (!managedFields.some((entry) => ours.has(entry.manager) && ownsSpec(entry))) return [];
  return managedFields.filter(
    (entry) => visitors.has(entry.manager) && entry.operation === 'Update' && ownsSpec(entry),
  );
}

/** The other field managers that own fields of an object's spec, visits excepted, each once. */
export function otherManagers(managedFields: readonly ManagedFieldsEntry[]): string[] {
  const visits = new Set(visitsOf(managedFields));
  const others = managedFields.filter((entry) => !ours.has(entry.manager) && ownsSpec(entry) && !visits.has(entry));
  return [...new Set(others.map(({manager}) => manager ?? 'unknown'))];
}

/** The first of {@link otherManagers}; undefined if the API may change the spec. */
export const otherManager = (managedFields: readonly ManagedFieldsEntry[]): string | undefined =>
  otherManagers(managedFields)[0];

/** The field managers whose fields {@link handedOver} gives to the API, each once. Empty if the API owns the whole spec already. */
export function formerOwners(managedFields: readonly ManagedFieldsEntry[]): string[] {
  const others = managedFields.filter(
    (entry) => entry.manager !== apiFieldManager && Object.keys(split(setOf(entry)).apis).length > 0,
  );
  return [...new Set(others.filter(({subresource}) => !subresource).map(({manager}) => manager ?? 'unknown'))];
}

/** `now`: RFC 3339. The field owners after the API has become the one owner of all that it writes: the spec and `doorplate.dev/stop`. */
export function handedOver(
  managedFields: readonly ManagedFieldsEntry[],
  {apiVersion, now}: {apiVersion: string; now: string},
): ManagedFieldsEntry[] {
  const [apis] = managedFields.filter(isApis);
  let owned = apis ? setOf(apis) : {};
  const others = managedFields.flatMap((entry) => {
    if (entry === apis) return [];
    if (entry.subresource) return [entry];
    const {apis: taken, rest} = split(setOf(entry));
    owned = union(owned, taken);
    return Object.keys(rest).length > 0 ? [{...entry, fieldsV1: rest}] : [];
  });
  const entry = {fieldsType: 'FieldsV1', manager: apiFieldManager, operation: 'Apply', apiVersion, time: now};
  return [{...entry, fieldsV1: owned}, ...others];
}

/** The entry of the API's server-side apply. Its merge patches have another one. */
const isApis = ({manager, operation, subresource}: ManagedFieldsEntry): boolean =>
  manager === apiFieldManager && operation === 'Apply' && !subresource;

/** The fields of a set that the API writes, and all others, such as labels: an owner that no longer applies a field deletes it. */
function split(set: FieldSet): {apis: FieldSet; rest: FieldSet} {
  const {'f:spec': spec, 'f:metadata': metadata, ...rest} = set;
  const {'f:annotations': annotations = {}, ...meta} = metadata ?? {};
  const {[`f:${stopAnnotation}`]: stop, ...otherAnnotations} = annotations;
  const isBare = Object.keys(otherAnnotations).every((key) => key === '.');
  const restOfMeta = {...meta, ...(!isBare && {'f:annotations': otherAnnotations})};
  return {
    apis: {
      ...(spec && {'f:spec': spec}),
      ...(stop && {'f:metadata': {'f:annotations': {[`f:${stopAnnotation}`]: stop}}}),
    },
    rest: {...rest, ...(Object.keys(restOfMeta).length > 0 && {'f:metadata': restOfMeta})},
  };
}

function union(a: FieldSet, b: FieldSet): FieldSet {
  const both = {...a};
  for (const [key, set] of Object.entries(b)) both[key] = union(a[key] ?? {}, set);
  return both;
}

/** The manager of what another program wrote, as customers read it. The name of the field manager is for the log alone. */
export const platformConfiguration = "your platform's configuration";

/** The refusal of a change that another program would undo. `what`: `The key ci`. `manager` is for the platform's log alone. */
export class ManagedElsewhere extends Problem {
  readonly manager: string;

  constructor(what: string, manager = 'unknown') {
    super(
      'managed-elsewhere',
      `${what} is managed by ${platformConfiguration}, not by this API: another program wrote it and may write it again. ` +
        'Change it where it comes from, or ask the platform to hand it back to this API.',
      {manager: platformConfiguration},
    );
    this.manager = manager;
  }
}
