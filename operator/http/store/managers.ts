/**
 * Owners of the fields of an object (server-side apply, KEP-555). They decide whether the API may change it: field managers that keep a
 * copy of the object elsewhere write it again, so what they own is only read here.
 */
import {stopAnnotation} from '../../api/custom-domain.ts';
import type {HasMeta, ManagedFieldsEntry} from '../../kube/objects.ts';
import {Problem} from '../problems.ts';
import {type Mark, marks, toolOf} from './marks.ts';

/** The API's field manager. */
export const apiFieldManager = 'doorplate-api';

/** Field managers that write on a person's behalf and keep no copy, so that they never undo a change made here. */
const ours: ReadonlySet<string | undefined> = new Set([apiFieldManager, 'kubectl-doorplate']);

/** Field managers of `kubectl edit` and `kubectl patch`: a person changes fields once, and keeps no copy. */
const visitors: ReadonlySet<string | undefined> = new Set(['kubectl-edit', 'kubectl-patch']);

/** Field managers of kubectl that write labels and annotations alone, once. */
const labellers: ReadonlySet<string | undefined> = new Set(['kubectl-label', 'kubectl-annotate']);

/** Whether a field manager keeps no copy of an object, so that it never writes a label or an annotation again. */
const keepsNoCopy = ({manager}: ManagedFieldsEntry): boolean =>
  ours.has(manager) || visitors.has(manager) || labellers.has(manager);

/** The field owners of an object as the API server returned it. */
export const ownersOf = ({metadata}: HasMeta): readonly ManagedFieldsEntry[] =>
  (metadata as {managedFields?: ManagedFieldsEntry[]}).managedFields ?? [];

/** A set of fields: a key `f:NAME` for each field, `k:{...}` for an entry of a map, `v:...` for one of a set, `.` for the field itself. */
interface FieldSet {
  [key: string]: FieldSet;
}

const setOf = ({fieldsV1}: ManagedFieldsEntry): FieldSet => (fieldsV1 ?? {}) as FieldSet;
/** Whether the entry owns fields of the spec. The operator owns the status, by a subresource. */
const ownsSpec = (entry: ManagedFieldsEntry): boolean => !entry.subresource && 'f:spec' in setOf(entry);
const ownsMeta = (entry: ManagedFieldsEntry, kind: 'labels' | 'annotations', name: string): boolean =>
  setOf(entry)['f:metadata']?.[`f:${kind}`]?.[`f:${name}`] !== undefined;
const ownsStop = (entry: ManagedFieldsEntry): boolean => ownsMeta(entry, 'annotations', stopAnnotation);
/** Whether the entry is of a mark's tool. */
const isOfTool = (entry: ManagedFieldsEntry, {tool, applier}: Mark): boolean =>
  applier === undefined
    ? toolOf(entry.manager ?? '') === tool
    : (entry.manager ?? '').startsWith(applier) && entry.operation === 'Apply' && ownsSpec(entry);

/**
 * Whether a mark counts because of the entry: the tool itself owns the mark or fields of the spec. A mark that a person, kubectl or a
 * restore wrote does not count.
 */
export const ownsMark = (entry: ManagedFieldsEntry, mark: Mark): boolean =>
  isOfTool(entry, mark) && (ownsMeta(entry, mark.in, mark.name) || ownsSpec(entry));

const namesOf = (entries: readonly ManagedFieldsEntry[]): string[] => [
  ...new Set(entries.map(({manager}) => manager ?? 'unknown')),
];

/** Whether the API, or a tool of Doorplate's, owns fields of the spec. */
export const isMadeHere = (managedFields: readonly ManagedFieldsEntry[]): boolean =>
  managedFields.some((entry) => ours.has(entry.manager) && ownsSpec(entry));

/**
 * The entries of people who changed the spec by `kubectl edit` or `kubectl patch` although the API, or a tool of Doorplate's, made the
 * object.
 */
export function visitsOf(managedFields: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  if (!isMadeHere(managedFields)) return [];
  return managedFields.filter(
    (entry) => visitors.has(entry.manager) && entry.operation === 'Update' && ownsSpec(entry),
  );
}

/**
 * The other field managers that own fields of an object's spec, visits excepted, and GitOps tools that own their mark on it, each once.
 * A tool that applied equal values by a merge patch owns only its mark, and writes the object again.
 */
export function otherManagers(managedFields: readonly ManagedFieldsEntry[]): string[] {
  const visits = new Set(visitsOf(managedFields));
  return namesOf(
    managedFields.filter(
      (entry) =>
        (!ours.has(entry.manager) && ownsSpec(entry) && !visits.has(entry)) ||
        marks.some((mark) => ownsMark(entry, mark)),
    ),
  );
}

/** The first of {@link otherManagers}; undefined if the API may change the spec. */
export const otherManager = (managedFields: readonly ManagedFieldsEntry[]): string | undefined =>
  otherManagers(managedFields)[0];

/** The field managers beside the API that own fields of the spec, each once: {@link handedOver} gives these fields to the API. */
export const formerOwners = (managedFields: readonly ManagedFieldsEntry[]): string[] =>
  namesOf(managedFields.filter((entry) => entry.manager !== apiFieldManager && ownsSpec(entry)));

/** The owners of the annotation `doorplate.dev/stop`: the managers beside the API, and the managers that would write it again. */
export function stopOwners(managedFields: readonly ManagedFieldsEntry[]): {
  isApis: boolean;
  others: string[];
  keepCopy: string[];
} {
  const owners = managedFields.filter(ownsStop);
  const others = owners.filter((entry) => !isOwn(entry));
  const keepCopy = others.filter((entry) => !keepsNoCopy(entry));
  return {isApis: owners.length > 0 && others.length === 0, others: namesOf(others), keepCopy: namesOf(keepCopy)};
}

/** Whether the API's next apply would change and remove all that is in the spec: its apply owns the spec, and nothing else does. */
export const isApplied = (managedFields: readonly ManagedFieldsEntry[]): boolean =>
  managedFields.every((entry) => isApis(entry) || !(ownsSpec(entry) || (isOwn(entry) && ownsStop(entry))));

/**
 * The field owners after the API has become the one owner of the spec. An owner of the spec that keeps a copy gives `doorplate.dev/stop`
 * as well. All other labels and annotations stay with their owners, because the API's next apply removes what it owns and does not name.
 * `now`: RFC 3339.
 */
export function handedOver(
  managedFields: readonly ManagedFieldsEntry[],
  {apiVersion, now}: {apiVersion: string; now: string},
): ManagedFieldsEntry[] {
  const [apis] = managedFields.filter(isApis);
  let owned = apis ? setOf(apis) : {};
  const others = managedFields.flatMap((entry) => {
    if (entry === apis) return [];
    if (entry.subresource) return [entry];
    const {taken, rest} = split(setOf(entry), isOwn(entry) || (ownsSpec(entry) && !keepsNoCopy(entry)));
    owned = union(owned, taken);
    return Object.keys(rest).length > 0 ? [{...entry, fieldsV1: rest}] : [];
  });
  const entry = {fieldsType: 'FieldsV1', manager: apiFieldManager, operation: 'Apply', apiVersion, time: now};
  return [{...entry, fieldsV1: owned}, ...others];
}

const isOwn = ({manager, subresource}: ManagedFieldsEntry): boolean => manager === apiFieldManager && !subresource;
/** The entry of the API's server-side apply. The API's merge patches have a separate entry. */
const isApis = (entry: ManagedFieldsEntry): boolean => isOwn(entry) && entry.operation === 'Apply';

/** Divides a set into the fields that the API takes over, with or without `doorplate.dev/stop`, and all others, such as labels. */
function split(set: FieldSet, withStop: boolean): {taken: FieldSet; rest: FieldSet} {
  const {'f:spec': spec, 'f:metadata': metadata, ...rest} = set;
  const {'f:annotations': annotations = {}, ...meta} = metadata ?? {};
  const {[`f:${stopAnnotation}`]: stop, ...others} = annotations;
  const taken = withStop ? stop : undefined;
  const kept = taken ? others : annotations;
  const isBare = Object.keys(kept).every((key) => key === '.');
  const restOfMeta = {...meta, ...(!isBare && {'f:annotations': kept})};
  return {
    taken: {
      ...(spec && {'f:spec': spec}),
      ...(taken && {'f:metadata': {'f:annotations': {[`f:${stopAnnotation}`]: taken}}}),
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
        'Change it in that program, or ask the platform to hand it back to this API.',
      {manager: platformConfiguration},
    );
    this.manager = manager;
  }
}
