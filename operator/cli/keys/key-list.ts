/** `kubectl doorplate key list`: lists the ApiKeys of a namespace and their state. */
import type {Command} from 'commander';
import {apiKeys} from '../../resources/resources.ts';
import {keyView} from '../../http/views.ts';
import {type Act, describe} from '../command.ts';
import {type Cell, ago, json, outputOption, table} from '../output.ts';
import {connected} from '../surroundings.ts';

export function addKeyList(key: Command, act: Act): void {
  const command = describe(key, 'list', {
    summary: 'the API keys of the namespace, and whether each is accepted',
    examples: ['kubectl doorplate key list', 'kubectl doorplate key list -n acme -o json'],
  }).addOption(outputOption(['table', 'json']));
  act<{output: string}>(command, (call) =>
    connected(call.options, call, async ({client, namespace}) => {
      const keys = (await client.list(apiKeys, {namespace})).items.map(keyView);
      if (call.options.output === 'json') call.out(json(keys));
      else if (keys.length === 0) call.tell(`There is no API key in the namespace ${namespace}.\n`);
      else call.out(tableOf(keys, call.now(), call.colours));
    }),
  );
}

const tableOf = (keys: readonly ReturnType<typeof keyView>[], now: number, colours: boolean): string =>
  table(
    ['NAME', 'SCOPES', 'READY', 'REASON', 'LAST-USED', 'EXPIRES'],
    keys.map(({name, scopes, ready, reason, lastUsed, expires}): Cell[] => [
      name,
      scopes.join(','),
      {text: ready ? 'True' : 'False', style: ready ? 'green' : 'red'},
      reason,
      lastUsed === null ? '-' : `${ago(lastUsed, now)} ago`,
      expires ?? '-',
    ]),
    colours,
  );
