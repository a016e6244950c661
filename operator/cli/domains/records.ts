/** `kubectl doorplate records`: the DNS records that the customer has to create. */
import type {Command} from 'commander';
import {type Act, describe} from '../command.ts';
import {type Attached, attachedIn, namesOfDomains, operand, operandHelp} from './domains.ts';
import {addListing, checkListing, type ListingOptions} from '../listing.ts';
import {type TableColumn, type Style, forPrograms, tableBy} from '../output.ts';
import {connected} from '../surroundings.ts';
import {zoneFile} from './zone-file.ts';

export function addRecords(program: Command, act: Act): void {
  const command = describe(program, 'records', {
    summary: 'show the DNS records to create, and their state in DNS',
    examples: [
      'kubectl doorplate records docs',
      'kubectl doorplate records docs.example.com -o zone > example.com.zone',
      'kubectl doorplate records -o json | jq \'.[] | select(.state != "Found")\'',
    ],
  }).argument(operand, operandHelp);
  addListing(command, ['table', 'zone']);
  act<ListingOptions>(command, async ({options, operands: [word], ...around}) => {
    checkListing(options, word);
    return connected(options, around, async (connection) => {
      const found = await attachedIn(connection, options, word);
      const records = found.flatMap(recordsOf);
      const data = forPrograms(options.output, records);
      if (data !== undefined) around.out(data);
      else if (records.length === 0) around.tell('No records to create yet. See: kubectl doorplate why\n');
      else if (options.output === 'name') around.out(namesOfDomains(found.filter(({host}) => host.records.length > 0)));
      else around.out(options.output === 'zone' ? zoneFile(records) : tableOf(records, options, around.colours));
    });
  });
}

export type RecordOf = {namespace: string; hostname: string} & Attached['host']['records'][number];

const recordsOf = ({namespace, host}: Attached): RecordOf[] =>
  host.records.map((record) => ({namespace, hostname: host.hostname, ...record}));

const styleOf = (state: RecordOf['state']): Style =>
  state === 'Found' ? 'green' : state === 'Unknown' ? 'yellow' : 'red';

function tableOf(records: readonly RecordOf[], {allNamespaces}: ListingOptions, colours: boolean): string {
  const columns: TableColumn<RecordOf>[] = [
    ['HOSTNAME', ({hostname}) => hostname],
    ['ZONE', ({zone}) => zone],
    ['NAME', ({name}) => name],
    ['TYPE', ({type}) => type],
    ['VALUE', ({value}) => value],
    ['TTL', ({ttl}) => String(ttl)],
    ['STATE', ({state}) => ({text: state, style: styleOf(state)})],
  ];
  if (allNamespaces) columns.unshift(['NAMESPACE', ({namespace}) => namespace]);
  return tableBy(columns, records, colours);
}
