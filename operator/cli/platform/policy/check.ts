/**
 * Lists objects that their writers could no longer change if the admission policy denied. The API server cannot be asked: it decides by the
 * user, and an object names only the user's tool. The list therefore contains objects that tools other than Doorplate and cert-manager have
 * written and that the installed policies guard.
 */
import {ownerLabel} from '../../../resources/labels.ts';
import {namespaces} from '../../../resources/resources.ts';
import type {Client} from '../../../kube/client/client.ts';
import {apiVersionOf, type KubeObject} from '../../../kube/objects.ts';
import type {Call} from '../../command.ts';
import {CommandError, isForbidden} from '../../errors.ts';
import {type ExitCode, exitCodes} from '../../exit-code.ts';
import type {ListingOptions} from '../../listing.ts';
import {forPrograms, namesOf, table} from '../../output.ts';
import {accountOf} from '../../../domain/tenant.ts';
import {type Action, type Guarded, guardedBy} from './guarded.ts';

/** An object of others that a policy guards. */
interface FoundObject {
  namespace: string;
  /** Of the namespace; null where it has none. */
  account: string | null;
  apiVersion: string;
  kind: string;
  name: string;
  /** Names of tools, as their writes told them (`metadata.managedFields`). */
  writtenBy: string[];
  /** The policy's action for a change now. */
  now: Action | 'Allow';
}

export async function check(client: Client, call: Call<ListingOptions>): Promise<ExitCode> {
  const guarded = await guardedBy(client);
  const {namespace} = call.options;
  const query = {namespace, labelSelector: call.options.selector};
  const places = (await client.list(namespaces)).items.filter(
    ({metadata}) => namespace === undefined || metadata.name === namespace,
  );
  if (places.length === 0) throw new CommandError(`there is no namespace ${namespace}`);
  const found: FoundObject[] = [];
  const notChecked: string[] = [];
  for (const one of guarded) {
    const objects = await listed(client, one, query);
    if (objects) found.push(...ofOthers(objects, one, places));
    else notChecked.push(one.resource.plural);
  }
  found.sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  const open = found.filter(({now}) => now !== 'Deny');
  const data = forPrograms(call.options.output, {objects: found, notChecked});
  if (data !== undefined) call.out(data);
  else if (call.options.output === 'name') call.out(namesOf(found.map(named)));
  else tell(found, open, call);
  if (notChecked.length > 0) call.tell(`\nNot checked, because you may not list them: ${notChecked.join(', ')}.\n`);
  return open.length > 0 ? exitCodes.Platform : exitCodes.Done;
}

const named = ({apiVersion, kind, name}: FoundObject) => ({
  kind,
  name,
  apiGroup: apiVersion.includes('/') ? apiVersion.split('/')[0]! : '',
});

const textOf = ({namespace, apiVersion, kind, name}: FoundObject): string =>
  [namespace, apiVersion, kind, name].join(' ');

/** Metadata of the objects, without the contents of Secrets. Undefined if the user may not list them. */
async function listed(
  client: Client,
  {resource}: Guarded,
  query: {namespace: string | undefined; labelSelector: string | undefined},
) {
  try {
    return (await client.list(resource, {...query, metadataOnly: true})).items;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

function ofOthers(
  objects: readonly KubeObject[],
  {resource, ...guarded}: Guarded,
  places: readonly KubeObject[],
): FoundObject[] {
  const labelsOf = new Map(places.map(({metadata}) => [metadata.name, metadata.labels ?? {}]));
  return objects.flatMap((object) => {
    const {name, namespace = ''} = object.metadata;
    const labels = labelsOf.get(namespace);
    const writtenBy = writersOf(object);
    if (!labels || !guarded.isIn(labels) || !guarded.holds(object) || isDoorplates(object) || writtenBy.length === 0)
      return [];
    const now = guarded.actionIn(labels) ?? 'Allow';
    const account = accountOf(labels) ?? null;
    return [{namespace, account, apiVersion: apiVersionOf(resource), kind: resource.kind, name, writtenBy, now}];
  });
}

/** Guarded by its labels, whatever the mode is. */
const isDoorplates = ({metadata: {labels = {}}}: KubeObject): boolean =>
  ownerLabel in labels || labels['app.kubernetes.io/managed-by'] === 'doorplate';

/** Field managers that the policy never refuses. */
const isExcepted = (manager: string): boolean => manager === 'doorplate' || /^cert-manager\b/.test(manager);

/** Field managers of more than a status, except Doorplate and cert-manager. */
function writersOf({metadata: {managedFields = []}}: KubeObject): string[] {
  const managers = managedFields.filter(({subresource}) => !subresource).map(({manager}) => manager ?? 'unknown');
  const all = managers.length > 0 ? managers : ['unknown'];
  return [...new Set(all.filter((manager) => !isExcepted(manager)))].toSorted();
}

function tell(found: readonly FoundObject[], open: readonly FoundObject[], call: Call<ListingOptions>): void {
  if (found.length === 0) {
    call.tell('Doorplate and cert-manager wrote all objects that the admission policy guards.\n');
    return;
  }
  call.out(
    table(
      ['NAMESPACE', 'KIND', 'NAME', 'WRITTEN-BY', 'NOW'],
      found.map(({namespace, kind, name, writtenBy, now}) => [namespace, kind, name, writtenBy.join(','), now]),
      call.colours,
    ),
  );
  if (open.length === 0) return;
  call.tell(
    '\nWith admissionPolicy.mode Deny and scope All, only users who may update Accounts could change these objects.\n',
  );
  const [customers, others] = [true, false].map((has) => [
    ...new Set(open.filter(({account}) => (account !== null) === has).map(({namespace}) => namespace)),
  ]) as [string[], string[]];
  if (others.length > 0) call.tell(howToExcept(others));
  if (customers.length > 0) {
    call.tell(
      `These namespaces belong to an Account: ${customers.join(' ')}. Their customers attach hostnames with CustomDomains instead.\n`,
    );
  }
  call.tell(
    'This list does not show users who only create and delete objects. To find them: kubectl doorplate policy audit, or mode Warn.\n',
  );
}

const howToExcept = (
  names: readonly string[],
): string => `Before that, except the writers that must continue. Excepted writers can take any hostname:
  all writers of a namespace      kubectl label namespace ${names.join(' ')} doorplate.dev/admission=except
  a controller, a pipeline        admissionPolicy.exceptUsers, such as system:serviceaccount:NAMESPACE:NAME; exceptGroups
`;
