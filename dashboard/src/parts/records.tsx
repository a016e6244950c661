/** The records to create, as a DNS provider's form asks for them, and beside each what is seen now. */
import type {DnsRecord, Host} from '../api.ts';
import {Copy} from './copy.tsx';

/** Whatever the provider calls it, where that is not known. */
const typeOf = ({type, note}: DnsRecord): string =>
  type === 'ALIAS' && note === undefined ? 'ALIAS, ANAME or flattened CNAME' : type;

/** The place to create the records: the provider, or else the name servers that identify it. */
function atWhom(zone: Host['zone']): string {
  if (zone === undefined) return 'your DNS provider';
  const {provider, nameServers} = zone;
  const more = nameServers.length > 2 ? ` and ${nameServers.length - 2} more` : '';
  return provider ?? `your DNS provider (name servers ${nameServers.slice(0, 2).join(', ')}${more})`;
}

function Seen({record: {state, observed, type, name, value}}: {record: DnsRecord}) {
  if (state === 'Found') return <span className="seen good">As needed</span>;
  if (state === 'Unknown') return <span className="seen">Not known yet</span>;
  if (observed.length === 0) return <span className="seen bad">Nothing</span>;
  const same = observed.includes(`${type} ${value}`);
  return (
    <ul className={same ? 'seen' : 'seen bad'} aria-label={`Seen at ${name}`}>
      {observed.map((one) => (
        <li key={one}>
          <code>{one}</code>
        </li>
      ))}
    </ul>
  );
}

function Cell({label, text, what}: {label: string; text: string; what: string}) {
  return (
    <td role="cell" data-label={label}>
      <span className="value">
        <Copy text={text} what={what} />
      </span>
    </td>
  );
}

export function Records({host: {records, hostname, zone}}: {host: Host}) {
  if (records.length === 0) return null;
  return (
    <div className="records">
      <p>
        {records.length === 1 ? 'This record is needed' : 'These records are needed'} in the zone{' '}
        <b>{records[0]!.zone}</b>, at {atWhom(zone)}:
      </p>
      <table role="table" aria-label={`DNS records of ${hostname}`}>
        <thead role="rowgroup">
          <tr role="row">
            {['Type', 'Name', 'Value', 'TTL', 'Seen now'].map((h) => (
              <th key={h} role="columnheader" scope="col">
                {h}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {records.map((record) => {
            const one =
              records.filter((r) => r.type === record.type).length > 1
                ? `${record.type} record ${record.value}`
                : `${record.type} record`;
            const of = `of the ${one} of ${hostname}`;
            return (
              <tr key={record.type + record.name + record.value} role="row">
                <td role="cell" data-label="Type">
                  <span>
                    {typeOf(record)}
                    {record.note !== undefined && <small>{record.note}</small>}
                  </span>
                </td>
                <Cell label="Name" text={record.name} what={`the name ${of}`} />
                <Cell label="Value" text={record.value} what={`the value ${of}`} />
                <td role="cell" data-label="TTL">
                  {record.ttl}
                </td>
                <td role="cell" data-label="Seen now">
                  <Seen record={record} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
