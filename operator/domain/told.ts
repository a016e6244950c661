import type {CustomDomainStatus, DnsRecordStatus, HostStatus} from '../api/custom-domain.ts';
import type {CustomDomain} from '../api/foreign.ts';
import type {Hostname} from './hostname.ts';

/** The published status of one hostname. */
export interface PublishedHost {
  entry?: HostStatus;
  records: DnsRecordStatus[];
}

const nothing: PublishedHost = {records: []};

/** Index of the status that was read last: a decision reads the entry of each hostname several times. */
let last: {status: CustomDomainStatus; byHostname: ReadonlyMap<Hostname, PublishedHost>} | undefined;

/** The published status of a CustomDomain's hostname. */
export function told({status}: CustomDomain, hostname: Hostname): PublishedHost {
  if (!status) return nothing;
  if (last?.status !== status) last = {status, byHostname: sort(status)};
  return last.byHostname.get(hostname) ?? nothing;
}

function sort({hosts = [], dnsRecords = []}: CustomDomainStatus): ReadonlyMap<Hostname, PublishedHost> {
  const all = new Map<Hostname, PublishedHost>();
  for (const entry of hosts) all.set(entry.hostname, {entry, records: []});
  for (const record of dnsRecords) {
    const of = all.get(record.hostname) ?? {records: []};
    of.records.push(record);
    all.set(record.hostname, of);
  }
  return all;
}
