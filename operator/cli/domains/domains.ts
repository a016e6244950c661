/** The CustomDomains that a command is about, and their hostnames. */
import type {CustomDomain} from '../../api/foreign.ts';
import {customDomains} from '../../resources/resources.ts';
import {normalise} from '../../domain/hostnames/hostname.ts';
import {type HostView, hostsOf} from '../../http/views.ts';
import {CommandError} from '../errors.ts';
import {listedBy, type ListingOptions} from '../listing.ts';
import {namesOf} from '../output.ts';
import type {Connection} from '../surroundings.ts';

/** A hostname and the object that attaches it. */
export interface Attached {
  namespace: string;
  customDomain: string;
  host: HostView;
}

/** As --help calls it. */
export const operand = '[name]';
export const operandHelp = 'name of a CustomDomain, or one of its hostnames; default: all of the namespace';

/** The hostnames that the options or the word of a listing select. Throws CommandError if the word names none. */
export const attachedIn = async (
  connection: Connection,
  options: ListingOptions,
  word: string | undefined,
): Promise<Attached[]> =>
  word === undefined
    ? (await connection.client.list(customDomains, listedBy(options, connection))).items.flatMap(attachedBy)
    : attachedNamed(await domainsNamed(connection, word), word);

/** The names of the CustomDomains that attach these hostnames. */
export const namesOfDomains = (attached: readonly Attached[]): string =>
  namesOf(attached.map(({customDomain}) => ({kind: customDomains.kind, name: customDomain})));

/**
 * The CustomDomains of a namespace that a word names: by their name, or by a hostname of theirs. Throws CommandError where there
 * is none.
 */
export async function domainsNamed({client, namespace}: Connection, word: string): Promise<CustomDomain[]> {
  const named = await client.get(customDomains, `${namespace}/${word}`).catch(notFoundIfNoName(word));
  if (named) return [named];
  const hostname = normalise(word);
  const having = (await client.list(customDomains, {namespace})).items.filter((domain) =>
    hostsOf(domain).some((host) => host.hostname === hostname),
  );
  if (having.length > 0) return having;
  throw new CommandError(
    `there is no CustomDomain ${word} in the namespace ${namespace}, and none with that hostname. To ` +
      `list them: kubectl doorplate status -n ${namespace}`,
  );
}

/** The API server refuses what can be no name, such as a hostname in capitals. */
const notFoundIfNoName =
  (word: string) =>
  (error: unknown): undefined => {
    if (/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(word)) throw error;
    return undefined;
  };

export const attachedBy = (domain: CustomDomain): Attached[] =>
  hostsOf(domain).map((host) => ({
    namespace: domain.metadata.namespace ?? '',
    customDomain: domain.metadata.name,
    host,
  }));

/** For a hostname as argument: only the matching hostname of the CustomDomain. */
export function attachedNamed(domains: readonly CustomDomain[], word?: string): Attached[] {
  const all = domains.flatMap(attachedBy);
  const one = word === undefined ? [] : all.filter(({host}) => host.hostname === normalise(word));
  return one.length > 0 ? one : all;
}
