/** Records as a zone file has them (RFC 1035, 5), to be pasted or imported. */
import type {DnsRecordStatus} from '../../api/custom-domain.ts';

type ZoneFileRecord = Pick<DnsRecordStatus, 'type' | 'name' | 'zone' | 'value' | 'ttl' | 'note'>;

/** Types of which every name server knows. ALIAS and ANAME are the providers' own. */
const standard: ReadonlySet<string> = new Set(['CNAME', 'TXT', 'A', 'AAAA']);

/** Records by zone. Records without a form in zone files become comments. */
export function zoneFile(records: readonly ZoneFileRecord[]): string {
  const zones = [...new Set(records.map(({zone}) => zone))].toSorted();
  return zones
    .map(
      (zone) =>
        `$ORIGIN ${zone}.\n${records
          .filter((r) => r.zone === zone)
          .map(lineOf)
          .join('')}`,
    )
    .join('\n');
}

function lineOf({type, name, value, ttl, note}: ZoneFileRecord): string {
  const line = `${name} ${ttl} IN ${type} ${dataOf(type, value)}\n`;
  if (standard.has(type)) return line;
  return `; zone files have no such type, create it at your provider${note === undefined ? '' : ` (${note})`}: ${line}`;
}

function dataOf(type: string, value: string): string {
  if (type === 'TXT') return `"${value}"`;
  // Without the final dot the name would be relative to the zone.
  return type === 'A' || type === 'AAAA' ? value : `${value}.`;
}
