/** `kubectl doorplate records`: the DNS records that the customer has to create. */
import type {Command} from 'commander';
import {type Act, describe} from '../command.ts';
import {type Attached, attachedNamed, domainsNamed, operand, operandHelp} from './domains.ts';
import {type Cell, type Style, json, outputOption, table} from '../output.ts';
import {connected} from '../surroundings.ts';
import {zoneFile} from './zone-file.ts';

export function addRecords(program: Command, act: Act): void {
  const command = describe(program, 'records', {
    summary: 'the DNS records that must be created, and what was seen of them',
    examples: [
      'kubectl doorplate records docs',
      'kubectl doorplate records docs.example.com -o zone > example.com.zone',
      'kubectl doorplate records -o json | jq \'.[] | select(.state != "Found")\'',
    ],
  })
    .argument(operand, operandHelp)
    .addOption(outputOption(['table', 'zone', 'json']));
  act<{output: string}>(command, ({options, operands: [word], ...around}) =>
    connected(options, around, async (connection) => {
      const found = attachedNamed(await domainsNamed(connection, word), word);
      const records = found.flatMap(recordsOf);
      if (options.output === 'json') around.out(json(records));
      else if (records.length === 0) around.tell('There are no records to create yet. See: kubectl doorplate why\n');
      else around.out(options.output === 'zone' ? zoneFile(records) : tableOf(records, around.colours));
    }),
  );
}

export type RecordOf = {hostname: string} & Attached['host']['records'][number];

const recordsOf = ({host}: Attached): RecordOf[] => host.records.map((r) => ({hostname: host.hostname, ...r}));

const styleOf = (state: RecordOf['state']): Style =>
  state === 'Found' ? 'green' : state === 'Unknown' ? 'yellow' : 'red';

export const tableOf = (records: readonly RecordOf[], colours: boolean): string =>
  table(
    ['HOSTNAME', 'ZONE', 'NAME', 'TYPE', 'VALUE', 'TTL', 'STATE'],
    records.map(({hostname, zone, name, type, value, ttl, state}): Cell[] => [
      hostname,
      zone,
      name,
      type,
      value,
      String(ttl),
      {text: state, style: styleOf(state)},
    ]),
    colours,
  );
