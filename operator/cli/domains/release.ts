/** `kubectl doorplate release`: makes the API the owner of CustomDomains and ApiKeys again, so that customers can change them there. */
import type {Command} from 'commander';
import type {ApiKey, CustomDomain} from '../../api/foreign.ts';
import {timestamp} from '../../domain/times.ts';
import {formerOwners, handedOver, otherManager, ownersOf} from '../../http/store/managers.ts';
import {isConflict} from '../../kube/errors.ts';
import {keyOf, type Resource} from '../../kube/objects.ts';
import {apiKeys, customDomains} from '../../resources/resources.ts';
import {objectsIn, textsOf} from '../check/subjects.ts';
import {type Act, type Call, describe} from '../command.ts';
import {CommandError, UsageError} from '../errors.ts';
import {exitCodes, type ExitCode} from '../exit-code.ts';
import {fieldManager} from '../field-manager.ts';
import {connected, type Connection} from '../surroundings.ts';
import {domainsNamed} from './domains.ts';
import {writtenAgainBy} from './pipelines.ts';

interface ReleaseOptions {
  filename?: string;
  dryRun?: boolean;
}

type Released = CustomDomain | ApiKey;

export function addRelease(program: Command, act: Act): void {
  const command = describe(program, 'release', {
    summary:
      'hand CustomDomains and API keys that kubectl or a restore wrote back to the API: customers can change them there again',
    examples: [
      'kubectl doorplate release docs -n acme --dry-run',
      'kubectl doorplate release docs apikey/ci -n acme',
      'kubectl doorplate release -f owners.json',
    ],
  })
    .argument('[names...]', 'of CustomDomains, hostnames of theirs, or apikey/NAME')
    .option(
      '-f, --filename <file>',
      'objects with their managedFields, from a backup; those that the API could change then are handed back. - is stdin',
    )
    .option('--dry-run', 'say what would be handed back, and write nothing');
  act<ReleaseOptions>(command, (call) => {
    const {operands, options} = call;
    if (operands.length > 0 === (options.filename !== undefined))
      throw new UsageError('name objects to hand back, or a file (-f)');
    return connected(options, call, async (connection) =>
      releaseAll(connection, call, await targets(connection, call)),
    );
  });
}

/** The objects to hand back. Throws CommandError for a name that nothing has. */
async function targets(
  connection: Connection,
  {operands, options, read, tell}: Call<ReleaseOptions>,
): Promise<Released[]> {
  if (options.filename === undefined)
    return (await Promise.all(operands.map((word) => named(connection, word)))).flat();
  const [{text = ''} = {}] = await textsOf([options.filename], read);
  const saved = objectsIn(options.filename, text).filter(({kind}) => kindOf(kind) !== undefined);
  if (saved.length > 0 && saved.every((object) => ownersOf(object).length === 0)) {
    throw new CommandError(
      `${options.filename} does not say who owned its objects: save them with kubectl get --show-managed-fields`,
    );
  }
  const found: Released[] = [];
  for (const {kind, metadata} of saved.filter((object) => otherManager(ownersOf(object)) === undefined)) {
    const object = await connection.client.get<Released>(kindOf(kind)!, keyOf({metadata}));
    if (object) found.push(object);
    else tell(`The ${kind} ${metadata.name} in the namespace ${metadata.namespace} is not in the cluster.\n`);
  }
  return found;
}

const kindOf = (kind: string): Resource<Released> | undefined =>
  [customDomains, apiKeys].find((resource) => resource.kind === kind) as Resource<Released> | undefined;

async function named(connection: Connection, word: string): Promise<Released[]> {
  const [, name] = /^apikeys?\/(.+)$/.exec(word) ?? [];
  if (name === undefined) return domainsNamed(connection, word.replace(/^customdomains?\//, ''));
  const key = await connection.client.get(apiKeys, `${connection.namespace}/${name}`);
  if (key) return [key];
  throw new CommandError(`there is no ApiKey ${name} in the namespace ${connection.namespace}`);
}

async function releaseAll(
  {client}: Connection,
  {tell, options: {dryRun = false}, now}: Call<ReleaseOptions>,
  objects: readonly Released[],
): Promise<ExitCode> {
  let code: ExitCode = exitCodes.Done;
  for (const object of objects) {
    const {kind, metadata} = object;
    const name = `The ${kind} ${metadata.name} in the namespace ${metadata.namespace}`;
    const pipeline = writtenAgainBy(object);
    const former = formerOwners(ownersOf(object)).join(', ');
    if (pipeline !== undefined) {
      tell(`${name} was not handed back: ${pipeline}\n`);
      code = exitCodes.Failed;
    } else if (former === '') {
      tell(`${name} is the API's already.\n`);
    } else {
      if (!dryRun) await release(client, object, now);
      tell(`${name} ${dryRun ? 'would be' : 'is'} the API's${dryRun ? '' : ' again'}. Former owner: ${former}.\n`);
    }
  }
  if (objects.length === 0) tell('Nothing is to be handed back.\n');
  if (dryRun) tell('Nothing was written.\n');
  return code;
}

/** Writes the owners alone. Labels and annotations stay with theirs. After a conflicting write, the newest version is handed back. */
async function release(client: Connection['client'], object: Released, now: () => number): Promise<void> {
  const resource = kindOf(object.kind)!;
  for (let attempt = 0, current: Released | undefined = object; current; attempt++) {
    const {uid, resourceVersion} = current.metadata;
    const {apiVersion} = current;
    const managedFields = handedOver(ownersOf(current), {apiVersion, now: timestamp(now())});
    const patch = {metadata: {uid, resourceVersion, managedFields}};
    try {
      await client.patch(resource, keyOf(current), patch, {type: 'merge', fieldManager});
      return;
    } catch (error) {
      if (!isConflict(error) || attempt === 3) throw error;
      current = await client.get(resource, keyOf(current));
    }
  }
}
