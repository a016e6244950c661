/** `kubectl doorplate release`: makes the API the owner of CustomDomains and ApiKeys again, so that customers can change them there. */
import type {Command} from 'commander';
import type {ApiKey, CustomDomain} from '../../api/foreign.ts';
import {timestamp} from '../../domain/times.ts';
import {formerOwners, handedOver, isMadeHere, otherManager, ownersOf} from '../../http/store/managers.ts';
import {ApiError, isConflict, isKindMissing, isNotFound} from '../../kube/errors.ts';
import {keyOf, type Resource} from '../../kube/objects.ts';
import {apiKeys, customDomains} from '../../resources/resources.ts';
import {objectsIn, textsOf} from '../check/subjects.ts';
import {type Act, type Call, describe} from '../command.ts';
import {CommandError, explain, UsageError} from '../errors.ts';
import {exitCodes, type ExitCode} from '../exit-code.ts';
import {fieldManager} from '../field-manager.ts';
import {connected, type Connection} from '../surroundings.ts';
import {domainsNamed} from './domains.ts';
import {writtenAgainBy} from './pipelines.ts';

interface ReleaseOptions {
  filename?: string;
  fromPipeline?: boolean;
  dryRun?: boolean;
}

type Released = CustomDomain | ApiKey;

/** Attempts per object. Each conflicting write of another manager, such as the operator's status, costs one. */
const attempts = 8;

export function addRelease(program: Command, act: Act): void {
  const command = describe(program, 'release', {
    summary:
      'return CustomDomains and API keys to the API after kubectl or a restore wrote them: customers can change them there again',
    examples: [
      'kubectl doorplate release docs -n acme --dry-run',
      'kubectl doorplate release docs apikey/ci -n acme',
      'kubectl doorplate release -f owners.json',
    ],
  })
    .argument('[names...]', 'names of CustomDomains, their hostnames, or apikey/NAME')
    .option(
      '-f, --filename <file>',
      'file with objects and their managedFields, from a backup; returns the objects that the API ' +
        'could change when the backup was created. - is stdin',
    )
    .option('--from-pipeline', 'the objects were removed from the GitOps tool that owns their fields')
    .option('--dry-run', 'show which objects would be returned');
  act<ReleaseOptions>(command, (call) => {
    const {operands, options} = call;
    if (operands.length > 0 === (options.filename !== undefined))
      throw new UsageError('name objects to return, or a file (-f)');
    return connected(options, call, async (connection) =>
      options.filename === undefined
        ? releaseAll(connection, call, await targets(connection, operands))
        : releaseAll(connection, call, await saved(options.filename, call)),
    );
  });
}

/** An object to hand back. `found`: its version in the cluster, undefined before it is read. */
interface ToRelease {
  kind: string;
  metadata: {name: string; namespace?: string};
  found?: Released;
}

/** The objects of a backup that the API could change then. Reports the objects that it skips. Throws CommandError. */
async function saved(file: string, {read, tell}: Call<ReleaseOptions>): Promise<ToRelease[]> {
  const [{text = ''} = {}] = await textsOf([file], read);
  const objects = objectsIn(file, text).filter(({kind}) => kindOf(kind) !== undefined);
  if (objects.length > 0 && objects.every((object) => ownersOf(object).length === 0)) {
    throw new CommandError(
      `${file} does not contain the owners of its objects: save them with kubectl get --show-managed-fields`,
    );
  }
  return objects.flatMap((object) => {
    const {kind, metadata} = object;
    const owners = ownersOf(object);
    const other = otherManager(owners);
    if (other === undefined && isMadeHere(owners)) return [{kind, metadata}];
    const why = other === undefined ? 'another program owned its spec' : `its owner was ${other}`;
    tell(`${nameOf(object)} stays unchanged: ${why} when it was saved.\n`);
    return [];
  });
}

const nameOf = ({kind, metadata: {name, namespace}}: ToRelease): string =>
  `The ${kind} ${name} in the namespace ${namespace}`;

const kindOf = (kind: string): Resource<Released> | undefined =>
  [customDomains, apiKeys].find((resource) => resource.kind === kind) as Resource<Released> | undefined;

/** The objects that words name. Throws CommandError for a name that nothing has. */
async function targets(connection: Connection, words: readonly string[]): Promise<ToRelease[]> {
  const found = (await Promise.all(words.map((word) => named(connection, word)))).flat();
  return found.map((object) => ({kind: object.kind, metadata: object.metadata, found: object}));
}

async function named(connection: Connection, word: string): Promise<Released[]> {
  const [, name] = /^apikeys?\/(.+)$/.exec(word) ?? [];
  if (name === undefined) return domainsNamed(connection, word.replace(/^customdomains?\//, ''));
  const key = await connection.client.get(apiKeys, `${connection.namespace}/${name}`);
  if (key) return [key];
  throw new CommandError(`there is no ApiKey ${name} in the namespace ${connection.namespace}`);
}

async function releaseAll(
  {client}: Connection,
  call: Call<ReleaseOptions>,
  objects: readonly ToRelease[],
): Promise<ExitCode> {
  const {tell, options} = call;
  let code: ExitCode = exitCodes.Done;
  for (const object of objects) {
    const {isDone, says} = await release(client, object, call).catch(refused);
    tell(`${nameOf(object)} ${says}\n`);
    if (!isDone) code = exitCodes.Failed;
  }
  if (objects.length === 0) tell('There is nothing to return.\n');
  if (options.dryRun) tell('Nothing was written.\n');
  return code;
}

/** What became of one object, after its name. */
interface ReleaseResult {
  isDone: boolean;
  says: string;
}

/** A refusal of one object, so that the next objects are handed back. Throws all other errors. */
function refused(error: unknown): ReleaseResult {
  if (!(error instanceof ApiError)) throw error;
  return {isDone: false, says: `was not returned: ${explain(error).message}`};
}

/**
 * Writes the owners alone. Labels and annotations stay with theirs. After a conflicting write, decides again by the newest version.
 * Another object of the same name, created since, is left alone.
 */
async function release(
  client: Connection['client'],
  target: ToRelease,
  {options: {dryRun = false, fromPipeline: isTakenOut = false}, now}: Call<ReleaseOptions>,
): Promise<ReleaseResult> {
  const resource = kindOf(target.kind)!;
  let uid = target.found?.metadata.uid;
  for (let attempt = 1; ; attempt++) {
    const current: Released | undefined =
      (attempt === 1 ? target.found : undefined) ?? (await client.get(resource, keyOf(target)));
    if (!current) return {isDone: false, says: 'is not in the cluster.'};
    uid ??= current.metadata.uid;
    if (current.metadata.uid !== uid)
      return {isDone: false, says: 'was not returned: another object replaced it. Check the new object.'};
    const owners = ownersOf(current);
    const former = formerOwners(owners).join(', ');
    if (former === '' && otherManager(owners) === undefined) return {isDone: true, says: 'already belongs to the API.'};
    const pipeline = writtenAgainBy(current, {isTakenOut});
    if (pipeline !== undefined) return {isDone: false, says: `was not returned: ${pipeline}`};
    if (dryRun) return {isDone: true, says: `would be returned to the API. Former owner: ${former}.`};
    const {apiVersion, metadata} = current;
    const managedFields = handedOver(owners, {apiVersion, now: timestamp(now())});
    const patch = {metadata: {uid, resourceVersion: metadata.resourceVersion, managedFields}};
    try {
      await client.patch(resource, keyOf(current), patch, {type: 'merge', fieldManager});
      return {isDone: true, says: `is returned to the API. Former owner: ${former}.`};
    } catch (error) {
      const again = isConflict(error) || (isNotFound(error) && !isKindMissing(error));
      if (!again || attempt === attempts) throw error;
    }
  }
}
