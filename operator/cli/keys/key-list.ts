/** `kubectl doorplate key list`: lists ApiKeys and their state. */
import type {Command} from 'commander';
import {apiKeys} from '../../resources/resources.ts';
import {keyView} from '../../http/views.ts';
import {type Act, describe} from '../command.ts';
import {addListing, listedBy, type ListingOptions, placeOf} from '../listing.ts';
import {type TableColumn, ago, forPrograms, namesOf, tableBy} from '../output.ts';
import {connected} from '../surroundings.ts';

export function addKeyList(key: Command, act: Act): void {
  const command = describe(key, 'list', {
    summary: 'list the API keys of the namespace, and whether each is accepted',
    examples: [
      'kubectl doorplate key list',
      'kubectl doorplate key list -n acme -o json',
      'kubectl doorplate key list -A',
    ],
  });
  addListing(command, ['table']);
  act<ListingOptions>(command, (call) =>
    connected(call.options, call, async (connection) => {
      const {options, out} = call;
      const found = (await connection.client.list(apiKeys, listedBy(options, connection))).items;
      const keys = found.map((one) => ({namespace: one.metadata.namespace ?? '', ...keyView(one, call.now())}));
      const data = forPrograms(options.output, keys);
      if (data !== undefined) out(data);
      else if (keys.length === 0) call.tell(`There is no API key ${placeOf(options, connection)}.\n`);
      else if (options.output === 'name') out(namesOf(keys.map(({name}) => ({kind: apiKeys.kind, name}))));
      else out(tableOf(keys, {everywhere: options.allNamespaces === true, now: call.now(), colours: call.colours}));
    }),
  );
}

type ListedKey = {namespace: string} & ReturnType<typeof keyView>;

function tableOf(
  keys: readonly ListedKey[],
  {everywhere, now, colours}: {everywhere: boolean; now: number; colours: boolean},
): string {
  const columns: TableColumn<ListedKey>[] = [
    ['NAME', ({name}) => name],
    ['SCOPES', ({scopes}) => scopes.join(',')],
    ['READY', ({ready}) => ({text: ready ? 'True' : 'False', style: ready ? 'green' : 'red'})],
    ['REASON', ({reason}) => reason],
    ['LAST-USED', ({lastUsed}) => (lastUsed === null ? '-' : `${ago(lastUsed, now)} ago`)],
    ['EXPIRES', ({expires}) => expires ?? '-'],
  ];
  if (everywhere) columns.unshift(['NAMESPACE', ({namespace}) => namespace]);
  return tableBy(columns, keys, colours);
}
