/** `kubectl doorplate why`: what was found, what is needed, who must act, and until when. */
import type {Command} from 'commander';
import type {CustomDomain} from '../../api/foreign.ts';
import type {Condition} from '../../api/rules.ts';
import {accounts, apiKeys, customDomains, projects} from '../../resources/resources.ts';
import type {KubeObject, Resource} from '../../kube/objects.ts';
import {type Act, describe} from '../command.ts';
import {attachedNamed, domainsNamed} from './domains.ts';
import {CommandError, UsageError} from '../errors.ts';
import {exitCodeOf, exitCodeOfAll, exitCodes} from '../exit-code.ts';
import {type Explanation, explainCondition, explainHost, sayExplanation} from './explain.ts';
import {addListing, checkListing, listedBy, type ListingOptions, placeOf} from '../listing.ts';
import {forPrograms, namesOf} from '../output.ts';
import {publishedSettings} from '../settings.ts';
import {type Connection, connected} from '../surroundings.ts';

export function addWhy(program: Command, act: Act): void {
  const command = describe(program, 'why', {
    summary: 'explain why a hostname waits: facts, next step, responsible party, time limit',
    examples: [
      'kubectl doorplate why',
      'kubectl doorplate why docs.example.com',
      'kubectl doorplate why project/docs',
      'kubectl doorplate why -A -l team=web',
    ],
    ends: ['Waiting', 'Customer', 'Platform'],
  }).argument(
    '[name]',
    'name of a CustomDomain, one of its hostnames, or project/NAME, apikey/NAME, account/NAME; ' +
      'default: everything in the namespace that is not done',
  );
  addListing(command, ['text']);
  act<ListingOptions>(command, async ({options, operands: [word], ...around}) => {
    checkListing(options, word);
    return connected(options, around, async (connection) => {
      const all = await explanations(connection, options, word);
      const told = word === undefined ? all.filter((why) => exitCodeOf(why) !== exitCodes.Done) : all;
      const data = forPrograms(options.output, told);
      if (data !== undefined) around.out(data);
      else if (told.length === 0) around.tell(`Everything is done ${placeOf(options, connection)}.\n`);
      else if (options.output === 'name') around.out(namesOf(told.map(objectOf)));
      else {
        const shown = options.allNamespaces ? told.map(withNamespace) : told;
        around.out(shown.map((why) => sayExplanation(why, {...around, now: around.now()})).join('\n'));
      }
      return exitCodeOfAll(all);
    });
  });
}

/** An explanation's object is its kind and its name: `CustomDomain docs`. */
function objectOf({object}: Explanation): {kind: string; name: string} {
  const [kind = '', name = ''] = object.split(' ');
  return {kind, name};
}

const withNamespace = (why: Explanation): Explanation => ({
  ...why,
  object: `${why.object} in the namespace ${why.namespace}`,
});

async function explanations(
  connection: Connection,
  options: ListingOptions,
  word: string | undefined,
): Promise<Explanation[]> {
  if (word === undefined) {
    const query = listedBy(options, connection);
    const [domains, others] = await Promise.all([
      connection.client.list(customDomains, query),
      explainOthers(connection, query),
    ]);
    return [...(await explainHosts(connection, domains.items)), ...others];
  }
  if (word.includes('/')) return [await explainObject(connection, word)];
  const domains = await domainsNamed(connection, word);
  return [...(await explainHosts(connection, domains, word)), ...(await explainProjects(connection, domains))];
}

/** The hostnames, with the end of their automatic checks where the platform tells it. */
export async function explainHosts(
  {client}: Connection,
  domains: readonly CustomDomain[],
  word?: string,
): Promise<Explanation[]> {
  const settings = await publishedSettings(client).catch(() => undefined);
  return attachedNamed(domains, word).map((attached) => explainHost(attached, settings?.verificationExpiresAfter));
}

type ExplainedKind = Resource<KubeObject & {status?: {conditions?: Condition[]}}>;
const kinds: Readonly<Record<string, ExplainedKind>> = {
  project: projects,
  apikey: apiKeys,
  dpkey: apiKeys,
  account: accounts,
};

async function explainObject({client, namespace}: Connection, word: string): Promise<Explanation> {
  const [kind = '', name = '', ...more] = word.split('/');
  const resource = kinds[kind.replace(/s$/, '')];
  if (!resource || name === '' || more.length > 0) {
    throw new UsageError(`${word} must be project/NAME, apikey/NAME or account/NAME`);
  }
  const object = await client.get(resource, resource.namespaced ? `${namespace}/${name}` : name);
  if (!object)
    throw new CommandError(
      `there is no ${resource.kind} ${name}${resource.namespaced ? ` in the namespace ${namespace}` : ''}`,
    );
  return explained(resource, object);
}

const unseen = {reason: 'Pending', message: 'It was created just now. Doorplate checks it next.'};

const explained = (
  {kind}: ExplainedKind,
  object: Awaited<ReturnType<Connection['client']['get']>> & {status?: {conditions?: Condition[]}},
): Explanation =>
  explainCondition({...object, kind}, object.status?.conditions?.find(({type}) => type === 'Ready') ?? unseen);

/** Projects and keys. */
async function explainOthers({client}: Connection, query: ReturnType<typeof listedBy>): Promise<Explanation[]> {
  const lists = await Promise.all(
    [projects, apiKeys].map(async (kind: ExplainedKind) =>
      (await client.list(kind, query)).items.map((o) => explained(kind, o)),
    ),
  );
  return lists.flat();
}

/** A hostname may wait for its Project, which knows why. */
async function explainProjects(
  {client, namespace}: Connection,
  domains: readonly CustomDomain[],
): Promise<Explanation[]> {
  const names = [...new Set(domains.map(({spec}) => spec.projectRef.name))];
  const found = await Promise.all(names.map((name) => client.get(projects, `${namespace}/${name}`)));
  return found
    .flatMap((project) => (project ? explained(projects as ExplainedKind, project) : []))
    .filter((why) => exitCodeOf(why) !== exitCodes.Done);
}
