/** The published status of a CustomDomain, by hostname. */
import type {CustomDomainStatus, DnsRecordStatus, HostStatus} from '../../api/custom-domain.ts';
import type {Hostname} from './hostname.ts';

/** The published status of one hostname. */
export interface PublishedHost {
  entry?: HostStatus;
  records: readonly DnsRecordStatus[];
}

export type PublishedHosts = ReadonlyMap<Hostname, PublishedHost>;

/** The hostnames of a published status. A decision reads the entry of each several times, so it makes this index once. */
export function publishedHosts({hosts = [], dnsRecords = []}: Partial<CustomDomainStatus> = {}): PublishedHosts {
  const records = Map.groupBy(dnsRecords, ({hostname}) => hostname);
  const entries = new Map(hosts.map((entry) => [entry.hostname, entry]));
  return new Map(
    [...new Set([...entries.keys(), ...records.keys()])].map((hostname) => {
      const entry = entries.get(hostname);
      return [hostname, {...(entry && {entry}), records: records.get(hostname) ?? []}];
    }),
  );
}
